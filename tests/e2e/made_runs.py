"""Policies about objects that controllers make, and ControllerRevisions under simulate: foretold, and seen."""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from cli.made_policies import MADE, policy, workload
from controlplane import ControlPlane
from e2e.account_runs import _items, _path, _post
from reports.stored import store_of

from kubectl_kres.admission.base.server import Server
from kubectl_kres.model.kinds import BY_KIND
from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.render.text.sentences import sentence_text
from kubectl_kres.reports.changes.compare import report
from kubectl_kres.reports.common.explanation import EvaluationOptions, Subject
from kubectl_kres.reports.explain.explain import explain
from kubectl_kres.simulate.change import Apply, PlacedStep
from kubectl_kres.simulate.cluster import simulate_steps
from kubectl_kres.store.store import READ, ReadRequest, Store

Raw = dict[str, Any]
_POLICIES = ("ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding")
_READ = (
    "Deployment", "ReplicaSet", "StatefulSet", "ControllerRevision", "CronJob", "Job", "Pod", "ResourceQuota",
    "PersistentVolumeClaim", "ResourceClaim", "ResourceClaimTemplate", "LimitRange",
)  # fmt: skip
#: Seconds until a policy counts, until a CronJob has made a Job, and until controllers are still.
_COUNTS, _MINUTE, _REST = 4.0, 70.0, 8.0
_SERVER = Server(version=(1, 36))
_COUNTED = "count/controllerrevisions.apps"


def faults_of_policies(plane: ControlPlane) -> Iterator[str]:
    """What was foretold otherwise, of each kind of object with a policy that refuses it, and without one."""
    cases = [(kind, policed) for kind in MADE for policed in (True, False)]
    with ThreadPoolExecutor(len(cases)) as pool:
        for found in pool.map(lambda case: list(_of_policy(plane, *case)), cases):
            yield from found


def _of_policy(plane: ControlPlane, kind: str, policed: bool) -> Iterator[str]:
    space = f"made-{kind.lower()}-{'no' if policed else 'yes'}"
    _namespace(plane, space)
    request = {"name": "r", "exactly": {"deviceClassName": "accel.example.org", "count": 2}}
    template = {"metadata": {"name": "two"}, "spec": {"spec": {"devices": {"requests": [request]}}}}
    _post(plane, "ResourceClaimTemplate", space, template)
    if policed:
        for item in policy(kind, space=space):
            _post(plane, item["kind"], "", item)
        time.sleep(_COUNTS)
    raw = workload(kind, space)
    ref = ObjectRef(raw["kind"], "web", space)
    before = explain(_store(plane, space), Subject(ref, BY_KIND[ref.kind], raw, "f.yaml"), EvaluationOptions(_SERVER))
    change = simulate_steps(_store(plane, space), [PlacedStep(Apply(raw, kept=True), space)], _SERVER, [space])
    _post(plane, raw["kind"], space, raw)
    time.sleep(_MINUTE if kind == "Job" else _REST)
    came = _came(plane, kind, space)
    after = explain(_store(plane, space), Subject(ref, BY_KIND[ref.kind]), EvaluationOptions(_SERVER))
    if came == policed:
        yield f"{space}: it came: {came}"
    for face, word in (("file", before.verdict.outcome), ("live", after.verdict.outcome)):
        refused = word in {"refused", "partly"}
        if refused == came:
            yield f"{space} {face}: {word}, it came: {came}: {before.verdict.message}"
    worse = report(change).outcome == "worse"
    if worse == came:
        yield f"{space} simulate: worse: {worse}, it came: {came}"


def _came(plane: ControlPlane, kind: str, space: str) -> bool:
    """Whether the pod came and has all that is made for it."""
    if kind == "Job":
        return bool(_items(plane, "Job", space))
    pods = _items(plane, "Pod", space)
    if kind == "EphemeralClaim":
        return bool(pods) and bool(_items(plane, "PersistentVolumeClaim", space))
    if kind == "ResourceClaim":
        return bool(pods) and bool(pods[0]["status"].get("resourceClaimStatuses"))
    return bool(pods)


def faults_of_revisions(plane: ControlPlane) -> Iterator[str]:
    """What ``simulate`` foretold otherwise of a StatefulSet whose ControllerRevision a quota refuses, or lets in."""
    cases = [(hard, replicas, policing) for hard in (1, 2) for replicas in (1, 3) for policing in ("", "Parallel")]
    with ThreadPoolExecutor(len(cases)) as pool:
        for found in pool.map(lambda case: list(_of_revision(plane, *case)), cases):
            yield from found


def _of_revision(plane: ControlPlane, hard: int, replicas: int, management: str) -> Iterator[str]:
    space = f"revised-{hard}-{replicas}-{management.lower() or 'ordered'}"
    _namespace(plane, space)
    _post(plane, "ResourceQuota", space, {"metadata": {"name": "q"}, "spec": {"hard": {_COUNTED: str(hard)}}})
    raw = workload("ControllerRevision", space)
    raw["spec"]["replicas"] = replicas
    if management:
        raw["spec"]["podManagementPolicy"] = management
    _post(plane, "StatefulSet", space, raw)
    for _ in range(60):
        pods = _items(plane, "Pod", space)
        for pod in pods:
            _run(plane, space, pod["metadata"]["name"])
        if len(pods) == replicas and all(pod["status"]["phase"] == "Running" for pod in pods):
            break
        time.sleep(0.5)
    time.sleep(2)
    raw["spec"]["template"]["spec"]["containers"][0]["image"] = "img:2"
    change = simulate_steps(_store(plane, space), [PlacedStep(Apply(raw, kept=True), space)], _SERVER, [space])
    [end] = list(change.after.final_states(space))
    [foretold] = end.workloads
    used = end.quotas[0].used[_COUNTED]
    path = f"{_path('StatefulSet', space)}/web"
    patch = {"spec": {"template": raw["spec"]["template"]}}
    status, answer = plane.request("PATCH", path, patch, content_type="application/merge-patch+json")
    assert status == 200, answer
    began = time.monotonic()
    while time.monotonic() - began < 3 * _REST:
        pods = _items(plane, "Pod", space)
        for pod in pods:
            _run(plane, space, pod["metadata"]["name"])
        time.sleep(0.5)
    updated = sum(pod["spec"]["containers"][0]["image"] == "img:2" for pod in _items(plane, "Pod", space))
    counted = _items(plane, "ResourceQuota", space)[0]["status"]["used"][_COUNTED]
    if (foretold.updated, used) != (updated, counted):
        yield f"{space}: {foretold.updated} updated, {used} used foretold; {updated} and {counted} seen"


def faults_of_history(plane: ControlPlane) -> Iterator[str]:
    """What came otherwise of a StatefulSet, the third of whose ControllerRevisions a quota refuses, once its history
    limit is as low as the remedy has it.
    """
    space = "revised-history"
    _namespace(plane, space)
    _post(plane, "ResourceQuota", space, {"metadata": {"name": "q"}, "spec": {"hard": {_COUNTED: "2"}}})
    # A quota that was not counted yet refuses nothing.
    for _ in range(int(_MINUTE)):
        if any((quota.get("status") or {}).get("used") for quota in _items(plane, "ResourceQuota", space)):
            break
        time.sleep(1)
    raw = workload("ControllerRevision", space)
    _post(plane, "StatefulSet", space, raw)
    path = f"{_path('StatefulSet', space)}/web"
    for image in ("img:1", "img:2", "img:3"):
        raw["spec"]["template"]["spec"]["containers"][0]["image"] = image
        patch = {"spec": {"template": raw["spec"]["template"]}}
        plane.request("PATCH", path, patch, content_type="application/merge-patch+json")
        _run_all(plane, space, image, _REST if image == "img:3" else _MINUTE)
    found = explain(
        _store(plane, space),
        Subject(ObjectRef("StatefulSet", "web", space), BY_KIND["StatefulSet"]),
        EvaluationOptions(_SERVER),
    )
    limits = [edit for way in found.fixes for edit in way.edits if edit.field == "spec.revisionHistoryLimit"]
    if [edit.to for edit in limits] != [0]:
        yield f"{space}: {[sentence_text(way.text) for way in found.fixes]}"
        return
    patch = {"spec": {"revisionHistoryLimit": limits[0].to}}
    plane.request("PATCH", path, patch, content_type="application/merge-patch+json")
    if not _run_all(plane, space, "img:3", _MINUTE):
        yield f"{space}: the limit of 0 brought no pod of the third template"


def _run_all(plane: ControlPlane, space: str, image: str, seconds: float) -> bool:
    """Let pods run until one of a template is there; whether it came."""
    for _ in range(int(seconds)):
        for pod in _items(plane, "Pod", space):
            _run(plane, space, pod["metadata"]["name"])
            if pod["spec"]["containers"][0]["image"] == image and pod["status"].get("phase") == "Running":
                return True
        time.sleep(1)
    return False


def _run(plane: ControlPlane, space: str, name: str) -> None:
    """No kubelet is there: the pod is bound to no node, and is said to run."""
    ready = [{"type": "Ready", "status": "True"}]
    patch = {"status": {"phase": "Running", "conditions": ready}}
    path = f"{_path('Pod', space)}/{name}/status"
    plane.request("PATCH", path, patch, content_type="application/strategic-merge-patch+json")


def _namespace(plane: ControlPlane, space: str) -> None:
    status, answer = plane.request("POST", "/api/v1/namespaces", {"metadata": {"name": space}})
    assert status == 201, answer


def _store(plane: ControlPlane, space: str) -> Store:
    wide = ("DeviceClass", *_POLICIES)
    objects = [{**it, "kind": kind, "apiVersion": BY_KIND[kind].api_version}
               for kind in (*_READ, *wide) for it in _items(plane, kind, space)]  # fmt: skip
    status, own = plane.request("GET", f"/api/v1/namespaces/{space}")
    assert status == 200, own
    store = store_of(*objects, {**own, "kind": "Namespace", "apiVersion": "v1"})
    for kind in (*_READ, *wide):
        store.cover(ReadRequest(kind, space if BY_KIND[kind].namespaced else ""), READ)
    return store
