"""The workflows build what the manifest names, and the documents say what the files say."""

from __future__ import annotations

import re

import pytest
import yaml

from release import names

WORKFLOWS = names.ROOT / ".github" / "workflows"
RELEASE = yaml.safe_load((WORKFLOWS / "release.yml").read_text())


def test_the_matrix_is_what_there_are_archives_for():
    matrix = RELEASE["jobs"]["build"]["strategy"]["matrix"]["include"]
    assert [names.Platform(one["os"], one["arch"]) for one in matrix] == list(names.PLATFORMS)


def test_nothing_is_released_untested():
    jobs = RELEASE["jobs"]
    assert {name: job.get("needs") for name, job in jobs.items()} == {
        "test": None,
        "build": "test",
        "publish": "build",
        "wheel": "publish",
    }
    assert any(step.get("run") == ".ci/run" for step in _steps("ci", "test"))
    assert any(step.get("run") == "make dist" for step in _steps("release", "build"))


def _steps(workflow: str, job: str) -> list[dict[str, object]]:
    steps: list[dict[str, object]] = yaml.safe_load((WORKFLOWS / f"{workflow}.yml").read_text())["jobs"][job]["steps"]
    return steps


@pytest.mark.parametrize("workflow", ["ci", "release"])
def test_rights_are_given_one_by_one(workflow: str):
    assert yaml.safe_load((WORKFLOWS / f"{workflow}.yml").read_text())["permissions"] == {"contents": "read"}


def test_tools_are_pinned():
    lines = [line for line in (names.ROOT / "release" / "tools.txt").read_text().splitlines() if line[0] != "#"]
    assert lines
    assert [line for line in lines if not re.fullmatch(r"[a-z0-9-]+==[0-9.]+(; sys_platform == \"\w+\")?", line)] == []


def test_documents_name_files_that_exist():
    for page in ("installing.md", "releasing.md"):
        text = (names.ROOT / "docs" / page).read_text()
        named = re.findall(r"`((?:release|tests|krew|kubectl_kres|docs|\.github)/[\w./-]+)`", text)
        assert [name for name in named if not (names.ROOT / name).exists()] == []
