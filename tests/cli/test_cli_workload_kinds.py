"""No answer forgets a kind of workload: each kind alone in a namespace, asked about in every way there is."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import reduce
from pathlib import Path
from time import monotonic
from typing import Any

import pytest
from cli.apiserver import Api
from cli.running import Kres

from kubectl_kres import api as python_api
from kubectl_kres.cli import complete
from kubectl_kres.model.kinds import BY_KIND
from kubectl_kres.model.scheduling import view_of
from kubectl_kres.model.workload_kinds import MADE_BY, PLACED, POD_MAKERS, RETRIED, SCALED, WORKLOADS
from kubectl_kres.snapshot.read import read
from kubectl_kres.tui.palette import name_requests

Raw = dict[str, Any]
NAME, SPACE = "grind", "mill"
#: What is refused, and what would not be.
LARGE, SMALL = "512Mi", "64Mi"
REFUSED = "maximum memory usage per Container is 256Mi, but limit is 512Mi"
BOUND: Raw = {
    "apiVersion": "v1",
    "kind": "LimitRange",
    "metadata": {"name": "bound"},
    "spec": {"limits": [{"type": "Container", "max": {"memory": "256Mi"}}]},
}
NODE: Raw = {
    "apiVersion": "v1",
    "kind": "Node",
    "metadata": {"name": "n1"},
    "status": {"allocatable": {"cpu": "4", "memory": "128Mi", "pods": "110"}},
}


def workload(kind: str, memory: str = LARGE) -> Raw:
    """An object of the kind that wants a pod and has none."""
    labels, batch = {"app": NAME}, WORKLOADS[kind].group == "batch"
    box = {"name": "app", "image": "app", "resources": {"limits": {"memory": memory}}}
    spec = {"containers": [box], **({"restartPolicy": "Never"} if batch else {})}
    template = {"metadata": {"labels": labels}, "spec": spec}
    raw: Raw = {
        "apiVersion": BY_KIND[kind].api_version,
        "kind": kind,
        "metadata": {"name": NAME, "namespace": SPACE, "uid": "u-1", "generation": 1},
        **reduce(lambda inner, key: {key: inner}, reversed(WORKLOADS[kind].template), template),
    }
    if kind == "CronJob":
        raw["spec"] |= {"schedule": "@hourly", "successfulJobsHistoryLimit": 0, "failedJobsHistoryLimit": 0}
    elif kind == "ReplicationController":
        raw["spec"] |= {"replicas": 1, "selector": labels}
    elif kind in RETRIED:
        raw["spec"] |= {"selector": {"matchLabels": labels}, **({"replicas": 1} if kind in SCALED else {})}
    if kind in RETRIED:
        raw["status"] = {"observedGeneration": 1, **({"desiredNumberScheduled": 1} if kind == "DaemonSet" else {})}
    return raw


def event(kind: str) -> Raw:
    return {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": f"{NAME}.1", "namespace": SPACE},
        "involvedObject": {"kind": kind, "name": NAME, "namespace": SPACE},
        "type": "Warning",
        "reason": "FailedCreate",
        "message": f'Error creating: pods "{NAME}-x" is forbidden: {REFUSED}',
        "lastTimestamp": "2026-11-26T09:00:00Z",
    }


def _plural(kind: str) -> str:
    return BY_KIND[kind].plural


def _snapshot(kres: Kres, path: Path) -> Path:
    assert kres(f"snapshot -A --out {path}").code == 0
    return path


def _explain(kres: Kres, _api: Api, kind: str, _folder: Path) -> str:
    return kres(f"explain {_plural(kind)}/{NAME} -n {SPACE}").out


def _explain_by_name(kres: Kres, _api: Api, _kind: str, _folder: Path) -> str:
    return kres(f"explain {NAME} -n {SPACE}").out


def _list(kres: Kres, _api: Api, kind: str, _folder: Path) -> str:
    return kres(f"explain {_plural(kind)} -A -o wide").out


def _snapshot_answer(kres: Kres, _api: Api, kind: str, folder: Path) -> str:
    return kres(f"explain {_plural(kind)} -A -o wide --snapshot {_snapshot(kres, folder / 'x.kres')}").out


def _file(kres: Kres, _api: Api, kind: str, folder: Path) -> str:
    path = folder / "file.json"
    given = {key: value for key, value in workload(kind).items() if key != "status"}
    bound = {**BOUND, "metadata": {"name": "bound", "namespace": SPACE}}
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": [bound, given]}))
    return kres(f"explain -f {path} --offline").out


def _denied(kres: Kres, _api: Api, _kind: str, _folder: Path) -> str:
    return kres("quota --denied -A").out


def _overview(kres: Kres, _api: Api, _kind: str, _folder: Path) -> str:
    return kres("overview -A -o json").out


def _check(kres: Kres, _api: Api, _kind: str, _folder: Path) -> str:
    return kres("check -A").out


def _python(_kres: Kres, _api: Api, _kind: str, _folder: Path) -> str:
    denials = python_api.denied(python_api.open_cluster(), all_namespaces=True)
    return json.dumps([denial.to_dict() for denial in denials])


FACES: dict[str, Callable[[Kres, Api, str, Path], str]] = {
    "explain": _explain,
    "explain by its name": _explain_by_name,
    "a list": _list,
    "a snapshot": _snapshot_answer,
    "a file": _file,
    "quota --denied": _denied,
    "overview": _overview,
    "check": _check,
    "the Python interface": _python,
}


@pytest.fixture
def mill(api: Api, monkeypatch: pytest.MonkeyPatch) -> Api:
    """A cluster whose only namespace will have one workload."""
    monkeypatch.setattr(complete, "LIMIT", 60.0)
    api.objects = [{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": SPACE}}]
    return api


@pytest.mark.parametrize("kind", POD_MAKERS)
@pytest.mark.parametrize("face", FACES)
def test_its_refused_pod_is_told(kres: Kres, mill: Api, tmp_path: Path, face: str, kind: str):
    bound = {**BOUND, "metadata": {"name": "bound", "namespace": SPACE}}
    mill.objects += [bound, workload(kind), *([event(kind)] if kind in RETRIED else [])]
    told = FACES[face](kres, mill, kind, tmp_path)
    assert NAME in told
    assert "256Mi" in told


@pytest.mark.parametrize("kind", POD_MAKERS)
def test_a_change_in_all_namespaces_hurts_it(kres: Kres, mill: Api, tmp_path: Path, kind: str):
    """A namespace with nothing but the workload is one of all namespaces."""
    mill.objects.append(workload(kind))
    path = tmp_path / "bound.json"
    path.write_text(json.dumps(BOUND))
    code, out, _ = kres(f"simulate -A -f {path} --exit-code")
    assert code == 1
    assert REFUSED in " ".join(out.split())
    flags = (f"-n {SPACE}", "-A")
    [alone, every] = (json.loads(kres(f"simulate {flag} -f {path} -o json").out)["items"] for flag in flags)
    assert alone == every


@pytest.mark.parametrize("kind", POD_MAKERS)
def test_two_snapshots_differ_in_it(kres: Kres, mill: Api, tmp_path: Path, kind: str):
    mill.objects.append(workload(kind))
    before = _snapshot(kres, tmp_path / "before.kres")
    mill.objects[-1] = workload(kind, SMALL)
    after = _snapshot(kres, tmp_path / "after.kres")
    out = kres(f"simulate --from {before} --to {after}").out
    assert f"{kind}/{NAME}" in out
    assert f"{LARGE} -> {SMALL}" in out


@pytest.mark.parametrize("kind", RETRIED)
def test_the_timeline_tells_of_its_refusals(kres: Kres, mill: Api, kind: str):
    mill.objects += [workload(kind), event(kind)]
    assert f"{kind}/{NAME}" in kres("timeline -A").out


@pytest.mark.parametrize("kind", [kind for kind in PLACED if kind in POD_MAKERS])
def test_nodes_for_its_next_pod_are_looked_at_live_and_in_a_snapshot(kres: Kres, mill: Api, tmp_path: Path, kind: str):
    mill.objects += [NODE, workload(kind)]
    path = _snapshot(kres, tmp_path / "x.kres")
    assert next(read(str(path)).all(view_of(kind)), None) is not None
    for source in ("", f"--snapshot {path}"):
        out = kres(f"quota --fit {_plural(kind)}/{NAME} -n {SPACE} {source}").out
        assert "no node" in out, source


@pytest.mark.parametrize("kind", WORKLOADS)
def test_it_is_offered_and_kept(kres: Kres, mill: Api, tmp_path: Path, kind: str):
    mill.objects.append(workload(kind))
    [kept] = read(str(_snapshot(kres, tmp_path / "x.kres"))).all(kind)
    assert kept.metadata.name == NAME
    assert f"{_plural(kind)}/{NAME}" in complete.answer(["explain", "-n", SPACE, f"{_plural(kind)}/"], monotonic())
    assert kind not in POD_MAKERS or kind in {request.kind for request in name_requests(SPACE)}


@pytest.mark.parametrize("command", ["explain", "quota", "qos", "check", "overview", "simulate", "snapshot"])
def test_rights_name_every_kind(kres: Kres, command: str):
    out = kres(f"version --rbac {command}").out
    assert [kind for kind in POD_MAKERS if _plural(kind) not in out] == []


def test_who_makes_whom():
    assert MADE_BY == {"ReplicaSet": "Deployment", "Job": "CronJob"}
