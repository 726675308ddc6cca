"""Workloads on a real control plane with all that controllers make beside pods: what is foretold, and what comes."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

from controlplane import ControlPlane
from reports.stored import store_of

from kubectl_kres.admission.base.server import Server
from kubectl_kres.model.kinds import BY_KIND
from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.reports.common.explanation import EvaluationOptions, Explanation, Subject
from kubectl_kres.reports.explain.explain import explain
from kubectl_kres.store.store import READ, ReadRequest, Store

Raw = dict[str, Any]
CLASS, EXTENDED = "accel.example.org", "example.org/accel"
_READ = (
    "Deployment", "ReplicaSet", "StatefulSet", "ControllerRevision", "Job", "Pod", "ResourceQuota",
    "PersistentVolumeClaim", "ResourceClaim", "ResourceClaimTemplate", "Event",
)  # fmt: skip
_DEVICES = (
    f"requests.{EXTENDED}", f"requests.deviceclass.resource.kubernetes.io/{CLASS}",
    f"{CLASS}.deviceclass.resource.k8s.io/devices", "count/resourceclaims.resource.k8s.io",
)  # fmt: skip
_STORAGE = ("requests.storage", "persistentvolumeclaims", "count/persistentvolumeclaims")
_REVISION = {"Deployment": "count/replicasets.apps", "StatefulSet": "count/controllerrevisions.apps"}
_MERGE = {"content_type": "application/merge-patch+json"}
#: Seconds: how long nothing may change for a rest, and how long one is waited for.
_STILL, _LONGEST = 4.0, 60.0


class Case(NamedTuple):
    """A workload of so many pods under one name of a quota; ``makes``: volume, device or nothing."""

    space: str
    kind: str
    replicas: int
    makes: str
    name: str
    hard: int
    count: int


class Seen(NamedTuple):
    """What was foretold from the file and of what exists, and what came."""

    case: Case
    file: Explanation
    live: Explanation
    complete: int
    #: After a change of the template: whether it is refused, as foretold and as the controller says.
    changed: tuple[str, bool] | None


def cases(seed: int, count: int) -> Iterator[Case]:
    draw = random.Random(seed)
    for number in range(count):
        kind = draw.choice(("Deployment", "StatefulSet", "Job"))
        makes = draw.choice(("volume", "device", "nothing"))
        devices = draw.choice((1, 2))
        if makes == "nothing":
            name, hard = _REVISION.get(kind, "pods"), draw.choice((0, 1, 1, 2))
        elif makes == "volume":
            name = draw.choice(_STORAGE)
            hard = draw.choice((1, 2, 3, 5, 6))
        else:
            name, hard = draw.choice(_DEVICES), draw.choice((1, 2, 3, 4, 6))
        yield Case(f"acc-{seed}-{number}", kind, draw.randint(1, 3), makes, name, hard, devices)


def watched(plane: ControlPlane, seed: int, count: int) -> list[Seen]:
    """All cases side by side, each in a namespace of its own."""
    spec = {"extendedResourceName": EXTENDED}
    _post(plane, "DeviceClass", "", {"metadata": {"name": CLASS}, "spec": spec})
    with ThreadPoolExecutor(16) as pool:
        return list(pool.map(lambda case: _tried(plane, case), cases(seed, count)))


def _tried(plane: ControlPlane, case: Case) -> Seen:
    status, answer = plane.request("POST", "/api/v1/namespaces", {"metadata": {"name": case.space}})
    assert status == 201, answer
    hard = f"{case.hard}Gi" if case.name == "requests.storage" else str(case.hard)
    _post(plane, "ResourceQuota", case.space, {"metadata": {"name": "q"}, "spec": {"hard": {case.name: hard}}})
    request = {"name": "r", "exactly": {"deviceClassName": CLASS, "count": case.count}}
    template = {"spec": {"devices": {"requests": [request]}}}
    _post(plane, "ResourceClaimTemplate", case.space, {"metadata": {"name": "two"}, "spec": template})
    _until(lambda: _items(plane, "ResourceQuota", case.space)[0].get("status", {}).get("used"))
    raw = _workload(case)
    file = explain(_store(plane, case), _subject(case, raw), EvaluationOptions(Server(version=(1, 36))))
    _post(plane, case.kind, case.space, raw)
    _rest(plane, case)
    live = explain(_store(plane, case), _subject(case), EvaluationOptions(Server(version=(1, 36))))
    complete = _complete(plane, case)
    return Seen(case, file, live, complete, _changed(plane, case))


def _changed(plane: ControlPlane, case: Case) -> tuple[str, bool] | None:
    """What a change of the template comes to, where a quota counts what is made for it."""
    if _REVISION.get(case.kind) != case.name or not case.hard:
        return None
    path = f"{_path(case.kind, case.space)}/web"
    patch = {"spec": {"template": {"metadata": {"annotations": {"restarted": "now"}}}}}
    status, answer = plane.request("PATCH", path, patch, **_MERGE)
    assert status == 200, answer
    _rest(plane, case)
    word = explain(_store(plane, case), _subject(case), EvaluationOptions(Server(version=(1, 36)))).verdict.outcome
    item = plane.request("GET", path)[1]
    return word, item["status"].get("observedGeneration", 0) < item["metadata"]["generation"]


def wrong(seen: Seen) -> Iterator[str]:
    """What was foretold otherwise."""
    case, wanted = seen.case, seen.case.replicas
    foretold = _number(seen.file, wanted)
    if foretold != seen.complete:
        yield f"{case}: {foretold} of {wanted} foretold ({seen.file.verdict.outcome}), {seen.complete} came"
    missing = seen.live.verdict.missing
    if missing != wanted - seen.complete:
        yield f"{case}: {missing} said to be missing, {wanted - seen.complete} are ({seen.live.verdict.outcome})"
    if seen.changed is not None and (seen.changed[0] == "refused") != seen.changed[1]:
        yield f"{case}: changed: {seen.changed}"


def _number(explanation: Explanation, wanted: int) -> int:
    verdict = explanation.verdict
    return wanted if verdict.outcome in {"admitted", "full"} else verdict.fits or 0


def _workload(case: Case) -> Raw:
    spec: Raw = {"containers": [{"name": "c", "image": "img:1"}]}
    if case.makes == "volume":
        size = "1Gi" if case.count == 1 else "2Gi"
        claim = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": size}}}
        spec["volumes"] = [{"name": "w", "ephemeral": {"volumeClaimTemplate": {"spec": claim}}}]
    if case.makes == "device":
        spec["resourceClaims"] = [{"name": "d", "resourceClaimTemplateName": "two"}]
    template = {"metadata": {"labels": {"a": "web"}}, "spec": spec}
    kind = BY_KIND[case.kind]
    head = {"apiVersion": kind.api_version, "kind": case.kind}
    head["metadata"] = {"name": "web", "namespace": case.space}
    if case.kind == "Job":
        spec["restartPolicy"] = "Never"
        return {**head, "spec": {"parallelism": case.replicas, "completions": case.replicas, "template": template}}
    more = {"serviceName": "web", "podManagementPolicy": "Parallel"} if case.kind == "StatefulSet" else {}
    selector = {"matchLabels": {"a": "web"}}
    return {**head, "spec": {"replicas": case.replicas, "selector": selector, "template": template, **more}}


def _subject(case: Case, raw: Raw | None = None) -> Subject:
    return Subject(ObjectRef(case.kind, "web", case.space), BY_KIND[case.kind], raw, "f.yaml" if raw else "")


def _complete(plane: ControlPlane, case: Case) -> int:
    """The pods that have all that is made for them."""
    claims = {item["metadata"]["name"] for item in _items(plane, "PersistentVolumeClaim", case.space)}
    pods = _items(plane, "Pod", case.space)
    if case.makes == "volume":
        return sum(f"{pod['metadata']['name']}-w" in claims for pod in pods)
    if case.makes == "device":
        return sum(bool(pod["status"].get("resourceClaimStatuses")) for pod in pods)
    return len(pods)


def _rest(plane: ControlPlane, case: Case) -> None:
    """Until nothing changes for a while, and the quota says what there is."""
    began = still = time.monotonic()
    last: object = None
    while time.monotonic() - began < _LONGEST and time.monotonic() - still < _STILL:
        used = _items(plane, "ResourceQuota", case.space)[0]["status"]
        now = (_complete(plane, case), len(_items(plane, "Pod", case.space)), str(used))
        if now != last:
            last, still = now, time.monotonic()
        time.sleep(0.5)


def _store(plane: ControlPlane, case: Case) -> Store:
    objects = [{**it, "kind": kind, "apiVersion": BY_KIND[kind].api_version}
               for kind in (*_READ, "DeviceClass") for it in _items(plane, kind, case.space)]  # fmt: skip
    store = store_of(*objects)
    for kind in (*_READ, "LimitRange", "DeviceClass"):
        store.cover(ReadRequest(kind, case.space if BY_KIND[kind].namespaced else ""), READ)
    return store


def _path(kind: str, space: str) -> str:
    known = BY_KIND[kind]
    where = f"/namespaces/{space}" if known.namespaced else ""
    return f"{known.root}{where}/{known.plural}"


def _items(plane: ControlPlane, kind: str, space: str) -> list[Raw]:
    status, answer = plane.request("GET", _path(kind, space))
    assert status == 200, answer
    items: list[Raw] = answer["items"]
    return items


def _post(plane: ControlPlane, kind: str, space: str, raw: Raw) -> None:
    known = BY_KIND[kind]
    status, answer = plane.request("POST", _path(kind, space), {**raw, "apiVersion": known.api_version, "kind": kind})
    assert status in {201, 403, 409}, answer


def _until(there: Any) -> None:
    for _ in range(120):
        if there():
            return
        time.sleep(0.25)
    raise AssertionError("it did not come")
