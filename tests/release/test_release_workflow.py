"""The workflows build what the manifest names, and the documents say what the files say."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import pytest
import yaml

from release import names
from release.notes import notes

WORKFLOWS = names.ROOT / ".github" / "workflows"
#: Whatever uses actions of others.
USING = sorted(
    {*WORKFLOWS.glob("*.yml"), *names.ROOT.glob("**/action.yml")} - set(names.ROOT.glob(".venv/**/action.yml"))
)
RELEASE = yaml.safe_load((WORKFLOWS / "release.yml").read_text())


def test_the_matrix_is_what_there_are_archives_for():
    matrix = RELEASE["jobs"]["build"]["strategy"]["matrix"]["include"]
    assert [names.Platform(one["os"], one["arch"]) for one in matrix] == list(names.PLATFORMS)


def test_nothing_is_released_untested():
    jobs = RELEASE["jobs"]
    assert {name: job.get("needs") for name, job in jobs.items()} == {
        "named": None,
        "test": "named",
        "build": "test",
        "manifest": "build",
        "publish": "manifest",
        "wheel": "publish",
    }
    assert any(step.get("run") == "make test" for step in _steps("ci", "test"))
    assert any(step.get("run") == ".ci/run" for step in _steps("ci", "test-all"))
    assert any(step.get("run") == "make dist DIST_ARGS=--release" for step in _steps("release", "build"))


def test_nothing_is_built_without_tag_and_address():
    (step,) = [step["run"] for step in _steps("release", "named") if "run" in step]
    assert step == 'python3 -m release.names "$GITHUB_REF_NAME" --home "$GITHUB_SERVER_URL/$GITHUB_REPOSITORY"'


#: Retired labels, and what stands in their place: actions/runner-images.
RETIRED = {"ubuntu-20.04", "macos-12", "macos-13", "macos-14", "windows-2019", "windows-2022"}


def test_runners_are_there():
    found = {one["runner"] for one in RELEASE["jobs"]["build"]["strategy"]["matrix"]["include"]}
    found |= {job["runs-on"] for job in RELEASE["jobs"].values() if "$" not in job.get("runs-on", "$")}
    assert found and not found & RETIRED
    assert "macos-15-intel" in found


def test_a_zip_is_unpacked_by_what_reads_zips():
    (run,) = [step["run"] for step in _steps("release", "build") if step.get("name") == "build and try"]
    assert "python -m zipfile -e dist/kubectl-kres_*.zip bundle" in run and "tar " not in run


def test_each_python_that_is_promised_is_tested():
    metadata = tomllib.loads((names.ROOT / "pyproject.toml").read_text())["project"]
    promised = [one.rpartition(" ")[2] for one in metadata["classifiers"] if "Python :: 3." in one]
    jobs = yaml.safe_load((WORKFLOWS / "ci.yml").read_text())["jobs"]
    assert ["3.11", *jobs["pythons"]["strategy"]["matrix"]["python"]] == promised
    (tested,) = [step["with"] for step in jobs["test"]["steps"] if "setup-python" in step.get("uses", "")]
    assert tested["python-version"] == promised[0]
    assert "3.11.2" in jobs["dist"]["strategy"]["matrix"]["python"]
    assert {one.partition("-")[0] for one in jobs["elsewhere"]["strategy"]["matrix"]["runner"]} == {"macos", "windows"}
    folders = (names.ROOT / ".ci" / "elsewhere").read_text().split()
    assert [folder for folder in folders if not (names.ROOT / folder).is_dir()] == []


@pytest.mark.parametrize("path", USING, ids=lambda path: path.name)
def test_actions_are_pinned_by_digest(path: Path):
    used = re.findall(r"^\s*(?:- )?uses: (\S+)(.*)$", path.read_text(), re.MULTILINE)
    ours = ("./", "kubectl-kres/")
    loose = [name for name, _ in used if not name.startswith(ours) and not re.search(r"@[0-9a-f]{40}$", name)]
    assert loose == []
    assert [name for name, rest in used if "@" in name and not re.fullmatch(r" # v\d+\.\d+\.\d+", rest)] == []


def test_one_digest_an_action():
    text = "\n".join(path.read_text() for path in USING)
    pairs = set(re.findall(r"uses: (\S+)@([0-9a-f]{40} # v\S+)", text))
    assert len(pairs) == len({name for name, _ in pairs}) > 5


def test_nothing_is_downloaded_unchecked():
    for path in WORKFLOWS.glob("*.yml"):
        assert not re.search(r"\b(curl|wget)\b", path.read_text()), path
    for workflow in ("ci", "release"):
        for job in yaml.safe_load((WORKFLOWS / f"{workflow}.yml").read_text())["jobs"]:
            for step in _steps(workflow, job):
                if str(step.get("uses", "")).startswith("actions/checkout@"):
                    assert step["with"] == {"persist-credentials": False}


def test_every_file_of_a_release_is_attested():
    subjects = [
        step["with"]["subject-path"]
        for job in ("build", "manifest")
        for step in _steps("release", job)
        if str(step.get("uses", "")).startswith("actions/attest-build-provenance@")
    ]
    patterns = " ".join(subjects).split()
    assert patterns == ["dist/kubectl-kres_*", "dist/kubectl_kres-*", "dist/kres.yaml", "dist/SHA256SUMS"]
    made = [names.archive("v1.2.3", names.PLATFORMS[0]), "kubectl_kres-1.2.3-py3-none-any.whl", "kres.yaml"]
    made += ["kubectl_kres-1.2.3.tar.gz", "SHA256SUMS", *map(names.bill, made[:2])]
    assert [name for name in made if not any(fnmatch(f"dist/{name}", one) for one in patterns)] == []


def test_zizmor_finds_nothing():
    program = str(Path(sys.executable).with_name("zizmor"))
    command = [program, "--offline", "--no-progress", "--quiet", *map(str, USING)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr


def test_notes_are_those_of_the_version():
    text = "# Changelog\n\n## 1.2.4\n\n- new\n\n## 1.2.3\n\n- old\n"
    assert notes(text, "1.2.4") == "- new" and notes(text, "1.2.3") == "- old"
    for missing in ("1.2.5", "1.2"):
        with pytest.raises(SystemExit, match="says nothing about"):
            notes(text, missing)
    assert notes((names.ROOT / "CHANGELOG.md").read_text(), names.version())


def _steps(workflow: str, job: str) -> list[dict[str, Any]]:
    steps: list[dict[str, Any]] = yaml.safe_load((WORKFLOWS / f"{workflow}.yml").read_text())["jobs"][job].get(
        "steps", []
    )
    return steps


@pytest.mark.parametrize("workflow", ["ci", "release"])
def test_rights_are_given_one_by_one(workflow: str):
    assert yaml.safe_load((WORKFLOWS / f"{workflow}.yml").read_text())["permissions"] == {"contents": "read"}


LOCKED = ("constraints.txt", *(f"release/{name}.txt" for name in ("runtime", "backend", "tools", "fleet", "uv")))
_REQUIREMENT = re.compile(r"[A-Za-z0-9._-]+==[0-9][0-9a-z.]*( ; [^\\]+)?((?: --hash=sha256:[0-9a-f]{64})+)")


def requirements(name: str) -> list[str]:
    """The requirements of a list, each on one line with its digests."""
    text = "".join(line for line in (names.ROOT / name).read_text().splitlines(keepends=True) if line[0] != "#")
    return [re.sub(r"\s*\\\n\s*", " ", line) for line in re.split(r"(?<!\\)\n", text.strip())]


@pytest.mark.parametrize("name", LOCKED)
def test_every_requirement_has_a_version_and_digests(name: str):
    lines = requirements(name)
    assert lines
    assert [line[:80] for line in lines if not _REQUIREMENT.fullmatch(line)] == []


@pytest.mark.parametrize("name", ["release/runtime.txt", "release/backend.txt", "release/fleet.txt"])
def test_a_version_is_the_same_in_all_lists(name: str):
    def versions(of: str) -> dict[str, set[str]]:
        result: dict[str, set[str]] = {}
        for line in requirements(of):
            package, _, version = line.split(" ")[0].partition("==")
            result.setdefault(package, set()).add(version)
        return result

    ours = versions("constraints.txt")
    assert {package: found for package, found in versions(name).items() if found != ours.get(package, found)} == {}


def test_nothing_is_installed_without_digests():
    """Of every pip that we start: digests, or no dependency at all."""
    places = [names.ROOT / place for place in ("action.yml", "Makefile", "scripts/venv", "release/environment.py")]
    lines = [line for place in (*places, *WORKFLOWS.glob("*.yml")) for line in place.read_text().splitlines()]
    installs = [
        line.strip() for line in lines if re.search(r"\bpip\"?,? \"?install\b", line) and "pre-commit" not in line
    ]
    assert len(installs) >= 12
    assert [line for line in installs if not re.search("--require-hashes|--no-deps|wheels", line)] == []


def test_documents_name_files_that_exist():
    for page in ("installing.md", "releasing.md"):
        text = (names.ROOT / "docs" / page).read_text()
        named = re.findall(r"`((?:release|tests|krew|kubectl_kres|docs|\.github)/[\w./-]+)`", text)
        assert [name for name in named if not (names.ROOT / name).exists()] == []
