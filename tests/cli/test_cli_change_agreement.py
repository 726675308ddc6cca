"""A file that changes a workload: whichever face is asked, none is calmer about it than another."""

from __future__ import annotations

import copy
import json
import os
import random
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from cli.apiserver import Api
from cli.faces import by_ref, calmer_faces
from cli.running import Kres

from kubectl_kres import api as python_api
from kubectl_kres.mcp.tools import answer_tool

Raw = dict[str, Any]
SPACE, TIME = "shop", "2026-11-26T09:00:00Z"
#: KRES_AGREE=2000 asks about so many changes.
_WORLDS = int(os.environ.get("KRES_AGREE", "200"))
_CHUNK = min(10, _WORLDS)
_NEGATIVE = ("refused", "partly", "blocked", "depends", "no-answer")


class Change(NamedTuple):
    """What is there: a workload with all its pods, and quotas. ``written``: the file that changes it."""

    objects: list[Raw]
    written: Raw


def _metadata(name: str, owner: tuple[str, str] | None = None, **more: Any) -> Raw:
    found: Raw = {"name": name, "namespace": SPACE, "uid": f"u-{name}", "creationTimestamp": TIME, **more}
    if owner is not None:
        kind, by = owner
        reference = {"apiVersion": "apps/v1", "kind": kind, "name": by, "uid": f"u-{by}", "controller": True}
        found["ownerReferences"] = [reference]
    return found


def _template(cpu: int, image: str) -> Raw:
    container = {"name": "c", "image": image, "resources": {"requests": {"cpu": f"{cpu}m"}}}
    return {"metadata": {"labels": {"a": "web"}}, "spec": {"containers": [container]}}


def _running(name: str, template: Raw, owner: tuple[str, str], labels: Raw) -> Raw:
    started = {"running": {"startedAt": TIME}}
    return {
        "apiVersion": "v1", "kind": "Pod",
        "metadata": _metadata(name, owner, labels={"a": "web", **labels}, generation=1),
        "spec": {**template["spec"], "nodeName": "n0", "serviceAccountName": "default"},
        "status": {
            "phase": "Running", "qosClass": "Burstable", "conditions": [{"type": "Ready", "status": "True"}],
            "containerStatuses": [{"name": "c", "image": "i", "ready": True, "state": started}],
        },
    }  # fmt: skip


def _spec(draw: random.Random, kind: str, replicas: int, template: Raw) -> Raw:
    spec: Raw = {"selector": {"matchLabels": {"a": "web"}}, "template": template}
    surge, unavailable = draw.choice(((1, 0), (0, 1), (0, 2), ("50%", 0)))
    if kind == "Deployment":
        strategy = {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": surge, "maxUnavailable": unavailable}}
        return {**spec, "replicas": replicas, "strategy": strategy if draw.random() < 0.8 else {"type": "Recreate"}}
    if kind == "StatefulSet":
        policy = draw.choice(("OrderedReady", "Parallel"))
        return {**spec, "replicas": replicas, "serviceName": "web", "podManagementPolicy": policy}
    rolling = {"maxSurge": surge, "maxUnavailable": unavailable}
    return {**spec, "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": rolling}}


def change(seed: int) -> Change:
    """Of one seed always the same."""
    draw = random.Random(f"change/{seed}")
    kind, replicas = draw.choice(("Deployment", "StatefulSet", "DaemonSet")), draw.randint(1, 4)
    cpu = draw.choice((100, 200, 500))
    template = _template(cpu, "i:1")
    spec = _spec(draw, kind, replicas, template)
    status: Raw = {"observedGeneration": 1, "replicas": replicas, "readyReplicas": replicas}
    status |= {"updatedReplicas": replicas, "availableReplicas": replicas}
    objects: list[Raw] = [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": SPACE}, "status": {"phase": "Active"}},
        {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": _metadata("default")},
    ]
    owner, labels = (kind, "web"), {"controller-revision-hash": "web-r1" if kind == "StatefulSet" else "r1"}
    if kind == "Deployment":
        owner, labels = ("ReplicaSet", "web-1"), {"pod-template-hash": "1"}
        hashed = {**template, "metadata": {"labels": {"a": "web", **labels}}}
        made = {"replicas": replicas, "selector": {"matchLabels": {"a": "web", **labels}}, "template": hashed}
        notes = {"deployment.kubernetes.io/revision": "1"}
        metadata = _metadata("web-1", (kind, "web"), labels={"a": "web", **labels}, annotations=notes)
        objects.append({"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": metadata, "spec": made,
                        "status": status})  # fmt: skip
    else:
        metadata = _metadata("web-r1", (kind, "web"), labels={"a": "web"})
        objects.append({"apiVersion": "apps/v1", "kind": "ControllerRevision", "metadata": metadata, "revision": 1,
                        "data": {"spec": {"template": template}}})  # fmt: skip
        status |= {"currentRevision": "web-r1", "updateRevision": "web-r1", "currentReplicas": replicas}
    if kind == "DaemonSet":
        counted = ("desiredNumberScheduled", "currentNumberScheduled", "updatedNumberScheduled", "numberReady")
        status = {"observedGeneration": 1, **dict.fromkeys(counted, replicas)}
    objects.append({"apiVersion": "apps/v1", "kind": kind, "metadata": _metadata("web", generation=1), "spec": spec,
                    "status": status})  # fmt: skip
    names = [f"web-{number}" for number in range(replicas)]
    objects += [_running(name, template, owner, labels) for name in names]
    if draw.random() < 0.3:
        proxy = {"name": "proxy", "image": "p:1", "resources": {"requests": {"cpu": "100m"}}}
        for item in objects:
            if item["kind"] == "Pod":
                item["spec"] = {**item["spec"], "containers": [*item["spec"]["containers"], proxy]}
        rule = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}
        version, hooks = "admissionregistration.k8s.io/v1", [{"name": "mesh.test", "rules": [rule]}]
        configuration = {"apiVersion": version, "kind": "MutatingWebhookConfiguration", "metadata": {"name": "mesh"}}
        objects.append({**configuration, "webhooks": hooks})
        cpu += 100
    used = {"requests.cpu": replicas * cpu, "pods": replicas}
    name = draw.choice(sorted(used))
    more = draw.choice((0, 0, 50, 100, 300)) if name != "pods" else draw.choice((0, 1, 2))
    unit = "m" if name != "pods" else ""
    hard = {name: f"{used[name] + more}{unit}"}
    objects.append({"apiVersion": "v1", "kind": "ResourceQuota", "metadata": _metadata("team"), "spec": {"hard": hard},
                    "status": {"hard": hard, "used": {name: f"{used[name]}{unit}"}}})  # fmt: skip
    return Change(objects, _changed(draw, kind, spec))


def _changed(draw: random.Random, kind: str, spec: Raw) -> Raw:
    """The workload as a file has it, with one or two of its fields changed, or none."""
    spec = copy.deepcopy(spec)
    [container] = spec["template"]["spec"]["containers"]
    for what in draw.sample(("cpu", "image", "replicas", "account", "nothing"), draw.randint(1, 2)):
        if what == "cpu":
            container["resources"]["requests"]["cpu"] = f"{draw.choice((50, 100, 300, 700))}m"
        elif what == "image":
            container["image"] = "i:2"
        elif what == "replicas" and kind != "DaemonSet":
            spec["replicas"] = draw.randint(1, 6)
        elif what == "account" and draw.random() < 0.5:
            spec["template"]["spec"]["serviceAccountName"] = "robot"
    return {"apiVersion": "apps/v1", "kind": kind, "metadata": {"name": "web", "namespace": SPACE}, "spec": spec}


def _ask_everywhere(kres: Kres, api: Api, seed: int, folder: Path) -> list[str]:
    """The faces that call the change good where explain -f refuses it, or bad where that admits it."""
    objects, written = change(seed)
    api.objects[:] = objects
    path = folder / f"{seed}.json"
    path.write_text(json.dumps(written), encoding="utf-8")
    key = (written["kind"], "web")
    explained = by_ref(kres("explain", "-f", str(path), "-o", "json").out)[key]
    outcome = explained["verdict"]["outcome"]
    negative = outcome.startswith(_NEGATIVE)
    checked = kres("check", "-f", str(path), "-o", "json")
    simulated = json.loads(kres("simulate", "-f", str(path), "-o", "json").out)["items"][0]
    cluster = python_api.open_cluster(namespace=SPACE)
    asked = {"context": "there", "namespace": SPACE, "manifest": json.dumps(written)}
    faces = {
        "check -f": any(item["code"] == "KRES101" for item in json.loads(checked.out)["items"]),
        "simulate": simulated["outcome"] == "worse",
        "MCP simulate": answer_tool("simulate", asked, lambda _: cluster, ["there"])["outcome"] == "worse",
        "MCP explain": answer_tool("explain", asked, lambda _: cluster, ["there"])["verdict"]["outcome"].startswith(
            _NEGATIVE
        ),
    }
    said = [f"{face}: {found}" for face, found in faces.items() if found != negative]
    return [f"{seed} {key[0]}: {outcome}, {it}" for it in (*said, *calmer_faces(kres, f"-f {path}", explained))]


@pytest.mark.one_in(10)
@pytest.mark.parametrize("start", range(1, 1 + _WORLDS, _CHUNK))
def test_no_face_is_calmer_about_a_change(kres: Kres, api: Api, tmp_path: Path, start: int) -> None:
    api.version = {"gitVersion": "v1.36.3"}
    found = [it for seed in range(start, start + _CHUNK) for it in _ask_everywhere(kres, api, seed, tmp_path)]
    assert not found, "\n".join(found)
