"""What others run of ours: each file is read as they read it, and its commands run."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from cli.apiserver import Api, deployment

ROOT = Path(__file__).parents[2]
K9S = yaml.safe_load((ROOT / "integrations" / "k9s" / "plugins.yaml").read_text())
HOLMES = yaml.safe_load((ROOT / "integrations" / "holmesgpt" / "toolset.yaml").read_text())
ACTION = yaml.safe_load((ROOT / "action.yml").read_text())
HOOK, CHECK_HOOK = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
NGINX = ROOT / "docs" / "examples" / "nginx.yaml"
DEMO = ROOT / "kubectl_kres" / "demo" / "shop.kres"
TEAM = {
    "apiVersion": "v1",
    "kind": "ResourceQuota",
    "metadata": {"name": "team", "namespace": "shop"},
    "spec": {"hard": {"requests.memory": "1Gi"}},
    "status": {"hard": {"requests.memory": "1Gi"}, "used": {"requests.memory": "900Mi"}},
}


@pytest.fixture
def programs(tmp_path: Path) -> dict[str, str]:
    """An environment with kubectl, which finds our plugin, the plugin itself, and a pager that shows all."""
    folder = tmp_path / "programs"
    folder.mkdir()
    scripts = {
        "kubectl-kres": f'exec {sys.executable} -c "{PROGRAM}" "$@"',
        "kubectl": 'shift; exec kubectl-kres "$@"',
        "less": "exec cat",
        "python": f'exec {sys.executable} "$@"',
    }
    for name, text in scripts.items():
        (folder / name).write_text(f"#!/bin/sh\n{text}\n")
        (folder / name).chmod(0o755)
    return {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT)}


PROGRAM = (
    "import sys; sys.argv[0] = '/usr/bin/kubectl-kres'; from kubectl_kres.cli.main import entry; sys.exit(entry())"
)


def ran(words: list[str], env: dict[str, str], folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(words, env=env, cwd=folder, capture_output=True, text=True, check=False, timeout=120)


def context(env: dict[str, str]) -> str:
    return yaml.safe_load(Path(env["KUBECONFIG"]).read_text())["current-context"]


def test_k9s_reads_the_file():
    """Source: k9s internal/config/json/schemas/plugins.json."""
    assert set(K9S) == {"plugins"}
    known = {"shortCut", "override", "description", "confirm", "dangerous", "scopes", "command", "background"}
    for plugin in K9S["plugins"].values():
        assert {"shortCut", "description", "scopes", "command"} <= set(plugin) <= {*known, "overwriteOutput", "args"}
        assert all(isinstance(word, str) for word in (*plugin["args"], *plugin["scopes"]))
    keys = [plugin["shortCut"] for plugin in K9S["plugins"].values()]
    assert len(keys) == len(set(keys))


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    ("name", "resource", "row", "shown"),
    [
        ("kres-explain", "deployments", "web", "maximum memory usage per Container is 1Gi"),
        ("kres-fit", "deployments", "web", "web"),
        ("kres-quota", "resourcequotas", "team", "quota team"),
        ("kres-denied", "namespaces", "shop", "of 1 workload"),
    ],
)
def test_k9s_keys(api: Api, programs: dict[str, str], tmp_path: Path, name: str, resource: str, row: str, shown: str):
    api.objects += [deployment("web", "2Gi"), TEAM]
    plugin = K9S["plugins"][name]
    assert resource in plugin["scopes"]
    values = {"RESOURCE_NAME": resource, "NAME": row, "NAMESPACE": "shop", "CONTEXT": context(programs)}
    words = [re.sub(r"\$(\w+)", lambda match: values[match[1]], word) for word in plugin["args"]]
    done = ran([plugin["command"], *words], programs, tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert shown in re.sub(r"\s+", " ", re.sub(r"\x1b\[[0-9;]*m", "", done.stdout))


def test_holmes_reads_the_file():
    (toolset,) = HOLMES["toolsets"].values()
    assert set(toolset) == {"description", "tags", "prerequisites", "additional_instructions", "tools"}
    for tool in toolset["tools"]:
        assert set(tool) == {"name", "description", "command"}
        assert tool["command"].startswith("kubectl kres ")


@pytest.mark.thorough
def test_holmes_tools(api: Api, programs: dict[str, str], tmp_path: Path):
    api.objects += [deployment("web", "2Gi"), TEAM, {"kind": "Namespace", "metadata": {"name": "shop"}}]
    (toolset,) = HOLMES["toolsets"].values()
    values = {"kind": "deploy", "name": "web", "namespace": "shop"}
    commands = [toolset["prerequisites"][0]["command"], *(tool["command"] for tool in toolset["tools"])]
    for command in commands:
        text = re.sub(r"\{\{ (\w+) \}\}", lambda match: values[match[1]], command)
        done = ran(["sh", "-c", text], programs, tmp_path)
        assert done.returncode == 0, (text, done.stderr)
        assert "{{" not in text


def gate(env: dict[str, str], folder: Path, **inputs: str) -> tuple[int, str, dict[str, str]]:
    """The last step of the action with some inputs: exit code, text and outputs."""
    step = ACTION["runs"]["steps"][-1]
    given = {
        name: inputs.get(name.replace("-", "_"), value.get("default", "")) for name, value in ACTION["inputs"].items()
    }
    settings = {
        key: re.sub(r"\$\{\{ (inputs|github)\.([\w-]+) \}\}", lambda m: given.get(m[2], str(ROOT)), value)
        for key, value in step["env"].items()
    }
    (folder / "kres" / "bin").mkdir(parents=True, exist_ok=True)
    program = folder / "kres" / "bin" / "kubectl-kres"
    program.write_text('#!/bin/sh\nexec kubectl-kres "$@"\n')
    program.chmod(0o755)
    out = folder / "outputs"
    out.write_text("")
    done = ran(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
        {**env, **settings, "RUNNER_TEMP": str(folder), "GITHUB_OUTPUT": str(out)},
        ROOT,
    )
    pairs = (line.split("=", 1) for line in out.read_text().splitlines())
    return done.returncode, done.stdout + done.stderr, dict(pairs)


def test_the_action_lets_in_what_is_admitted(programs: dict[str, str], tmp_path: Path):
    code, text, outputs = gate(programs, tmp_path, files="docs/examples/nginx.yaml")
    assert (code, outputs) == (0, {"refused": "0"}), text


def test_the_action_refuses_what_the_snapshot_would_not_admit(programs: dict[str, str], tmp_path: Path):
    place = str(DEMO.relative_to(ROOT))
    code, text, outputs = gate(programs, tmp_path, files="docs/examples/nginx.yaml", snapshot=place, namespace="shop")
    assert (code, outputs) == (1, {"refused": "1"}), text
    assert "::error::1 object would not be admitted" in text
    assert "nginx.yaml:1:1: error KRES101" in text


def test_the_action_fails_at_what_check_finds(programs: dict[str, str], tmp_path: Path):
    bare = {"containers": [{"name": "app", "image": "app"}]}
    (tmp_path / "b.yaml").write_text(
        yaml.safe_dump({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "bare"}, "spec": bare})
    )
    file = str(tmp_path / "b.yaml")
    assert gate(programs, tmp_path, files=file)[0] == 0
    code, text, outputs = gate(programs, tmp_path, files=file, fail_on="warning")
    assert (code, outputs) == (1, {"refused": "0"}), text
    assert "warning KRES401" in text and "::error::kubectl kres check found" in text


def test_the_action_asks_once(programs: dict[str, str], tmp_path: Path):
    calls = tmp_path / "calls"
    program = tmp_path / "programs" / "kubectl-kres"
    program.write_text(f'#!/bin/sh\necho "$1" >> {calls}\n' + program.read_text().partition("\n")[2])
    gate(programs, tmp_path, files="docs/examples/nginx.yaml", sarif=str(tmp_path / "kres.sarif"))
    assert calls.read_text().split() == ["explain", "check"]


@pytest.mark.thorough
def test_the_action_writes_findings_for_code_hosts(programs: dict[str, str], tmp_path: Path):
    place, file = str(DEMO.relative_to(ROOT)), tmp_path / "kres.sarif"
    code, text, _ = gate(
        programs, tmp_path, files="docs/examples/nginx.yaml", snapshot=place, namespace="shop", sarif=str(file)
    )
    assert code == 1, text
    (run,) = json.loads(file.read_text())["runs"]
    found = {
        (one["ruleId"], one["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]) for one in run["results"]
    }
    assert ("KRES101", "docs/examples/nginx.yaml") in found


def test_the_action_fails_on_what_is_no_manifest(programs: dict[str, str], tmp_path: Path):
    code, text, _ = gate(programs, tmp_path, files="none.yaml")
    assert code == 2 and "does not exist" in text


def test_the_hook(programs: dict[str, str], tmp_path: Path):
    assert re.search(HOOK["files"], "deploy/web.yaml") and not re.search(HOOK["files"], "web.py")
    (tmp_path / "a.yaml").write_text(NGINX.read_text())
    words = [*shlex.split(HOOK["entry"]), *HOOK["args"], "a.yaml"]
    assert ran(words, programs, tmp_path).returncode == 0
    words = [*shlex.split(HOOK["entry"]), "--snapshot", str(DEMO), "-n", "shop", "a.yaml"]
    assert ran(words, programs, tmp_path).returncode == 1


@pytest.mark.thorough
def test_the_hook_that_checks(programs: dict[str, str], tmp_path: Path):
    assert CHECK_HOOK["files"] == HOOK["files"]
    (tmp_path / "a.yaml").write_text(NGINX.read_text())
    entry = shlex.split(CHECK_HOOK["entry"])
    assert ran([*entry, *CHECK_HOOK["args"], "a.yaml"], programs, tmp_path).returncode == 0
    refused = ran([*entry, "--snapshot", str(DEMO), "-n", "shop", "a.yaml"], programs, tmp_path)
    assert refused.returncode == 1 and "a.yaml:1:1: error KRES101" in refused.stdout
    bare = {"containers": [{"name": "app", "image": "app"}]}
    (tmp_path / "b.yaml").write_text(
        yaml.safe_dump({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "bare"}, "spec": bare})
    )
    warned = ran([*entry, "--offline", "--fail-on", "warning", "b.yaml"], programs, tmp_path)
    assert warned.returncode == 1 and "KRES401" in warned.stdout


def recipe(heading: str) -> str:
    """The shell script of the recipe that docs/ci.md has under a heading."""
    text = (ROOT / "docs" / "ci.md").read_text().partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    (block,) = re.findall(r"```yaml\n(.*?)```", text, re.DOTALL)
    document = yaml.safe_load(block)
    if document.get("kind") == "Task":
        (step,) = document["spec"]["steps"]
        return step["script"]
    ((_, job),) = document.items()
    return "\n".join(job["script"])


@pytest.mark.parametrize("heading", ["GitLab CI", "Tekton"])
def test_the_recipes_gate(programs: dict[str, str], tmp_path: Path, heading: str):
    """As the runners do it: a line that fails ends the job."""
    (tmp_path / "programs" / "pip").write_text("#!/bin/sh\n[ \"$*\" = 'install kubectl-kres' ]\n")
    (tmp_path / "programs" / "pip").chmod(0o755)
    (tmp_path / "prod.kres").write_bytes(DEMO.read_bytes())
    (tmp_path / "deploy").mkdir()
    job = ["sh", "-ec", recipe(heading)]
    container = {"name": "app", "image": "app", "resources": {"limits": {"cpu": "100m", "memory": "16Mi"}}}
    small = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "small"}, "spec": {"containers": [container]}}
    (tmp_path / "deploy" / "small.yaml").write_text(yaml.safe_dump(small))
    assert ran(job, programs, tmp_path).returncode == 0
    (tmp_path / "deploy" / "nginx.yaml").write_text(NGINX.read_text())
    refused = ran(job, programs, tmp_path)
    assert refused.returncode == 1 and "KRES101" in refused.stdout


def test_the_table_names_files_that_exist():
    folder = ROOT / "integrations"
    links = re.findall(r"\]\(([^)#]+)\)", (folder / "README.md").read_text())
    assert [link for link in links if not (folder / link).exists()] == []
