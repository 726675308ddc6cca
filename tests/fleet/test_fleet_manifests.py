"""The manifests of docs/fleet run what the program understands, would be admitted, and leave out no shard."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from fleet.conftest import Fleet, documented

from kubectl_kres import __version__
from kubectl_kres.cli.program import Program

ROOT = Path(__file__).parents[2]
FILES = sorted((ROOT / "docs" / "fleet").glob("*.yaml"))
#: What the systems put in the place of variables.
FILLED = {
    "$(JOB_COMPLETION_INDEX)": "7",
    "$(params.report)": "quota",
    "$(params.shard)": "3/4",
    "$(workspaces.snapshots.path)": "/snapshots",
    "$(workspaces.report.path)": "/report",
    "{{inputs.parameters.part}}": "--shard=7/20",
}


def documents(file: Path) -> list[dict[str, Any]]:
    return [one for one in yaml.safe_load_all(file.read_text()) if one]


def containers(found: Any) -> Iterator[dict[str, Any]]:
    """Whatever runs an image."""
    if isinstance(found, dict):
        if "image" in found:
            yield found
        for value in found.values():
            yield from containers(value)
    elif isinstance(found, list):
        for value in found:
            yield from containers(value)


RUN = [(file, one) for file in FILES for document in documents(file) for one in containers(document)]


def test_there_are_manifests_for_each_system():
    kinds = {document["kind"] for file in FILES for document in documents(file)}
    assert kinds >= {"CronJob", "Job", "Workflow", "Task", "Pipeline"}
    assert len(RUN) == 6
    assert {one["image"] for _, one in RUN if "kres" in one["image"]} == {
        f"registry.example/kubectl-kres:{__version__}"
    }


@pytest.mark.parametrize(("file", "container"), [pytest.param(*one, id=one[0].stem) for one in RUN])
def test_containers_are_confined_and_run_what_is_understood(file: Path, container: dict[str, Any]):
    assert container["securityContext"]["allowPrivilegeEscalation"] is False
    assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}
    resources = container.get("resources") or container["computeResources"]
    assert {"cpu", "memory"} <= resources["requests"].keys()
    assert "memory" in resources["limits"]
    if "kres" not in container["image"]:
        return
    words = list(container["args"])
    for variable, value in FILLED.items():
        words = [word.replace(variable, value) for word in words]
    assert not [word for word in words if "{{" in word or re.search(r"\$\((?!CLUSTER\))", word)]
    name, *rest = words
    program = Program()
    with program.make_context("kubectl-kres", [name, *rest]) as context:
        found, command, arguments = program.resolve_command(context, words)
        assert found is not None and command is not None
        inner = command.make_context(found, arguments, parent=context)
        assert inner.params["out"]
        assert name == "snapshot" or inner.params["resume"]


def test_shards_of_each_manifest_are_all_there_are():
    by_kind = {one["kind"]: one for file in FILES for one in documents(file)}
    job = by_kind["Job"]["spec"]
    assert "--shard=$(JOB_COMPLETION_INDEX)/20" in job["template"]["spec"]["containers"][0]["args"]
    assert job["completions"] == 20
    (shards,), (table,) = by_kind["Workflow"]["spec"]["templates"][0]["steps"]
    assert shards["withSequence"] == {"count": "20"}
    assert shards["arguments"]["parameters"][0]["value"] == "--shard={{item}}/20"
    assert table["arguments"]["parameters"][0]["value"] == "--shard=0/1"
    pipeline = by_kind["Pipeline"]["spec"]["tasks"]
    assert pipeline[0]["matrix"]["params"][0]["value"] == [f"{index}/4" for index in range(4)]
    assert {"name": "shard", "value": "0/1"} in pipeline[1]["params"]


@pytest.mark.parametrize("name", ["collector-cronjob", "collector-object-storage", "indexed-job", "tekton-pipeline"])
def test_their_pods_would_be_admitted(name: str, kres: Fleet, tmp_path: Path):
    """Where Pod Security enforces what is restricted; Tekton's own containers need its flag, as the manifest says."""
    labels = {"pod-security.kubernetes.io/enforce": "restricted"}
    space = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "kres", "labels": labels}}
    flags = {"apiVersion": "v1", "kind": "ConfigMap", "data": {"set-security-context": "true"}}
    flags["metadata"] = {"name": "feature-flags", "namespace": "tekton-pipelines"}
    (tmp_path / "kres.yaml").write_text(yaml.safe_dump_all([space, flags]))
    path = ROOT / "docs" / "fleet" / f"{name}.yaml"
    result = kres("explain --offline --exit-code -n kres -f kres.yaml -f", str(path))
    assert result.code == 0, result.out + result.err


def test_shards_then_the_whole_as_the_manifests_do_it(kres: Fleet, snapshots: Any):
    snapshots("a", "b", "c", "d")
    words = "fleet quota --snapshots snapshots --out report --resume --allow-partial -o json"
    parts = [documented(kres(f"{words} --shard={index}/4")) for index in range(4)]
    assert sorted(name for part in parts for name in part) == ["a", "b", "c", "d"]
    whole = documented(kres(f"{words} --shard=0/1"))
    assert whole == {name: one for part in parts for name, one in part.items()}
