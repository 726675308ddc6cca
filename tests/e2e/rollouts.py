"""Rollouts on a real control plane: what ``quota --fit`` foretells, and where the controllers come to rest."""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

from controlplane import ControlPlane
from reports.stored import store_of

from kubectl_kres.admission.base.server import Server
from kubectl_kres.model.kinds import BY_KIND
from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.reports.common.explanation import EvaluationOptions, Subject
from kubectl_kres.reports.explain.explain import explain
from kubectl_kres.reports.quota.fit import Fit, fit

_READ = {
    "Deployment": "/apis/apps/v1", "ReplicaSet": "/apis/apps/v1", "StatefulSet": "/apis/apps/v1",
    "Pod": "/api/v1", "ResourceQuota": "/api/v1", "LimitRange": "/api/v1", "Event": "/api/v1",
}  # fmt: skip
_READY = {"status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}}
_MERGE = {"content_type": "application/merge-patch+json"}
#: Seconds: a rollout that is foretold to end may take so long; one that is foretold to stall is watched so long.
_LONGEST, _WATCHED = 300, 40
#: Seconds without a change after which what waits out a back-off, which may take minutes, is made to look again.
_WAITS = 5
_STRATEGIES = ((1, 0), (0, 1), (1, 1), ("25%", "25%"), (2, 0), (0, 2), ("50%", 0), ("10%", "10%"), None)


class Case(NamedTuple):
    """A workload under a quota that is changed: ``cpu`` before and after in thousandths, ``room`` in pods beside it.

    ``cut``: the hard is lowered by so much before the change. ``bound``: a LimitRange of the second template's time.
    """

    name: str
    kind: str
    replicas: int
    strategy: tuple[Any, Any] | None
    cpu: int
    after: int
    room: int
    cut: int
    bound: int


class NotSettledError(Exception):
    """The quota does not say what there is: its controller is late, and nothing can be foretold from it."""


class Seen(NamedTuple):
    """What came of it: pods of the newest template, of older ones, and what was foretold before and on the way."""

    case: Case
    before: Fit
    on_the_way: Fit | None
    rest: Fit
    outcome: str
    updated: int
    old: int


def cases(seed: int, count: int) -> Iterator[Case]:
    draw = random.Random(seed)
    for number in range(count):
        cpu = draw.choice((100, 200, 300))
        same = draw.random() < 0.5
        cut = draw.choice((0, 0, 0, 150, 300, 500)) if same else 0
        yield Case(
            f"roll-{seed}-{number}", draw.choice(("Deployment", "Deployment", "Deployment", "StatefulSet")),
            draw.randint(1, 6), draw.choice(_STRATEGIES), cpu, cpu if same else draw.choice((50, 150, 250, 400, 600)),
            draw.choice((0, 0, 1, 2)), cut, draw.choice((0, 0, 0, 0, 500)) if not same else 0,
        )  # fmt: skip


def watched(plane: ControlPlane, seed: int, count: int) -> list[Seen]:
    """All cases side by side, each in a namespace of its own; those left out whose quota was never counted again."""
    with ThreadPoolExecutor(16) as pool:
        found = pool.map(lambda case: _tried(plane, case), cases(seed, count))
        return [seen for seen in found if seen is not None]


def _tried(plane: ControlPlane, case: Case) -> Seen | None:
    try:
        return _watched(plane, case)
    except NotSettledError:
        return None


def _watched(plane: ControlPlane, case: Case) -> Seen:
    asked = plane.request("POST", "/api/v1/namespaces", {"metadata": {"name": case.name}})
    assert asked[0] == 201, asked
    total = case.replicas * case.cpu + case.room * case.cpu
    _made(plane, case, "/api/v1", "resourcequotas", {"metadata": {"name": "q"}, "spec": _hard(total)})
    _until(lambda: _one(plane, case, "/api/v1", "resourcequotas", "q").get("status", {}).get("used"))
    _made(plane, case, "/apis/apps/v1", _plural(case), _workload(case))
    _until(lambda: _ready(plane, case) == case.replicas)
    _until(lambda: _used(plane, case) == case.replicas * case.cpu)
    if case.cut:
        _patched(plane, case, "/api/v1", "resourcequotas", "q", {"spec": _hard(max(0, total - case.cut))})
        wanted = f"{max(0, total - case.cut)}m"
        _until(lambda: _same(_one(plane, case, "/api/v1", "resourcequotas", "q")["status"]["hard"], wanted))
    if case.bound:
        item = {"type": "Container", "max": {"cpu": f"{case.bound}m"}}
        _made(plane, case, "/api/v1", "limitranges", {"metadata": {"name": "lr"}, "spec": {"limits": [item]}})
    _until(lambda: _settled(plane, case))
    before = _fit(plane, case)
    template: dict[str, Any] = {"metadata": {"annotations": {"restarted": "now"}}}
    if case.after != case.cpu:
        template["spec"] = {"containers": [_container(case.after)]}
    _patched(plane, case, "/apis/apps/v1", _plural(case), "web", {"spec": {"template": template}})
    on_the_way: Fit | None = None
    began, still, last = time.monotonic(), time.monotonic(), (-1, -1)
    while time.monotonic() - began < _LONGEST:
        _ready(plane, case)
        now = _counts(plane, case)
        if now != last:
            still, last = time.monotonic(), now
        # While pods go the quota says more than there is, as long as its controller has not counted again.
        if on_the_way is None:
            objects = _objects(plane, case)
            found = fit(store_of(*objects), _subject(case), EvaluationOptions(Server())) if _agree(objects) else None
            on_the_way = found if found is not None and found.rollout is not None else None
        if now == (case.replicas, 0):
            break
        # As long as the quota counts pods that are gone, what it refuses is no rest.
        if time.monotonic() - still > _WATCHED and _settled(plane, case) and not _admits(plane, case):
            break
        if time.monotonic() - still > _WAITS:
            _wake(plane, case)
        time.sleep(0.5)
    _until(lambda: _settled(plane, case))
    store = _store(plane, case)
    outcome = explain(store, _subject(case), EvaluationOptions(Server())).verdict.outcome
    return Seen(case, before, on_the_way, _fit(plane, case), outcome, *_counts(plane, case))


def wrong(seen: Seen) -> list[str]:
    """What was foretold and is not so."""
    case, found = seen.case, []
    complete = (seen.updated, seen.old) == (case.replicas, 0)
    end = seen.before.next_rollout_end
    if case.after == case.cpu and end is not None and (end.updated, end.old) != (seen.updated, seen.old):
        found.append(
            f"would {seen.before.next_rollout} at {end.updated}, {end.old} old: {seen.updated}, {seen.old} old"
        )
    if seen.on_the_way is not None and seen.on_the_way.rollout is not None:
        going = seen.on_the_way.rollout
        if (going.updated, going.old) != (seen.updated, seen.old) or (going.state == "moving") != complete:
            found.append(f"is {going.state} at {going.updated}, {going.old} old: {seen.updated}, {seen.old} old")
    # With no old pod left it is no rollout any more: pods are missing.
    if not complete and seen.old and (seen.rest.rollout is None or seen.rest.rollout.state != "stuck"):
        found.append(f"at rest, and not told so: {seen.rest.rollout}")
    if (seen.outcome in {"refused", "partly"}) == complete:
        found.append(f"{seen.outcome} with {seen.updated} of {case.replicas} updated")
    return [f"{case}: {text}" for text in found]


def _hard(total: int) -> dict[str, Any]:
    return {"hard": {"requests.cpu": f"{total}m"}}


def _plural(case: Case) -> str:
    return f"{case.kind.lower()}s"


def _container(cpu: int) -> dict[str, Any]:
    return {"name": "c", "image": "example.test/x", "resources": {"requests": {"cpu": f"{cpu}m"}}}


def _workload(case: Case) -> dict[str, Any]:
    spec: dict[str, Any] = {
        "replicas": case.replicas,
        "selector": {"matchLabels": {"app": "web"}},
        "template": {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [_container(case.cpu)]}},
    }
    if case.kind == "StatefulSet":
        spec |= {"serviceName": "web", "podManagementPolicy": "OrderedReady" if case.replicas % 2 else "Parallel"}
    elif case.strategy is None:
        spec["strategy"] = {"type": "Recreate"}
    else:
        rolling = {"maxSurge": case.strategy[0], "maxUnavailable": case.strategy[1]}
        spec["strategy"] = {"type": "RollingUpdate", "rollingUpdate": rolling}
    return {"apiVersion": "apps/v1", "kind": case.kind, "metadata": {"name": "web"}, "spec": spec}


def _path(case: Case, group: str, plural: str, name: str = "") -> str:
    return f"{group}/namespaces/{case.name}/{plural}{f'/{name}' if name else ''}"


def _made(plane: ControlPlane, case: Case, group: str, plural: str, body: Any) -> None:
    status, answer = plane.request("POST", _path(case, group, plural), body)
    assert status == 201, answer


def _patched(plane: ControlPlane, case: Case, group: str, plural: str, name: str, body: Any) -> None:
    status, answer = plane.request("PATCH", _path(case, group, plural, name), body, **_MERGE)
    assert status == 200, answer


def _one(plane: ControlPlane, case: Case, group: str, plural: str, name: str) -> Any:
    return plane.request("GET", _path(case, group, plural, name))[1]


def _listed(plane: ControlPlane, case: Case, group: str, plural: str) -> list[Any]:
    return list(plane.request("GET", _path(case, group, plural))[1]["items"])


def _ready(plane: ControlPlane, case: Case) -> int:
    """Marks new pods as a kubelet would; how many are ready."""
    pods = _listed(plane, case, "/api/v1", "pods")
    for pod in pods:
        if (pod.get("status") or {}).get("phase") != "Running":
            plane.request(
                "PATCH", f"{_path(case, '/api/v1', 'pods', pod['metadata']['name'])}/status", _READY, **_MERGE
            )
    return len(pods)


def _same(hard: Any, wanted: str) -> bool:
    return _milli(hard.get("requests.cpu", "0")) == _milli(wanted)


def _milli(text: str) -> int:
    return int(text[:-1]) if text.endswith("m") else int(text) * 1000


def _used(plane: ControlPlane, case: Case) -> int:
    used = (_one(plane, case, "/api/v1", "resourcequotas", "q").get("status") or {}).get("used") or {}
    return _milli(used.get("requests.cpu", "0"))


def _settled(plane: ControlPlane, case: Case) -> bool:
    """Whether the quota and the workload say what there is."""
    pods = _listed(plane, case, "/api/v1", "pods")
    asked = sum(_milli(pod["spec"]["containers"][0]["resources"]["requests"]["cpu"]) for pod in pods)
    workload = _one(plane, case, "/apis/apps/v1", _plural(case), "web")
    status = workload["status"]
    seen = status.get("observedGeneration", 0) >= workload["metadata"]["generation"]
    return seen and asked == _used(plane, case) and status.get("replicas", 0) == len(pods)


def _wake(plane: ControlPlane, case: Case) -> None:
    now = {"metadata": {"annotations": {"rollouts/woken": str(time.time())}}}
    for plural in ("replicasets", "statefulsets"):
        for one in _listed(plane, case, "/apis/apps/v1", plural):
            _patched(plane, case, "/apis/apps/v1", plural, one["metadata"]["name"], now)


def _counts(plane: ControlPlane, case: Case) -> tuple[int, int]:
    """Pods of the newest template, and of older ones."""
    workload = _one(plane, case, "/apis/apps/v1", _plural(case), "web")
    status = workload["status"]
    if status.get("observedGeneration", 0) < workload["metadata"]["generation"]:
        return -1, -1
    total, updated = status.get("replicas", 0), status.get("updatedReplicas", 0)
    if case.kind == "StatefulSet" and status.get("currentRevision") == status.get("updateRevision"):
        updated = total
    return updated, total - updated


def _objects(plane: ControlPlane, case: Case) -> list[Any]:
    return [
        {**item, "kind": kind}
        for kind, group in _READ.items()
        for item in _listed(plane, case, group, f"{kind.lower()}s")
    ]


def _store(plane: ControlPlane, case: Case) -> Any:
    return store_of(*_objects(plane, case))


def _agree(objects: list[Any]) -> bool:
    """Whether pods, ReplicaSets and quota are of one moment: they are read one after the other."""
    pods = [item for item in objects if item["kind"] == "Pod"]
    asked = sum(_milli(pod["spec"]["containers"][0]["resources"]["requests"]["cpu"]) for pod in pods)
    used = sum(_milli(item["status"]["used"]["requests.cpu"]) for item in objects if item["kind"] == "ResourceQuota")
    owned = Counter(pod["metadata"]["ownerReferences"][0]["name"] for pod in pods)
    sets = [item for item in objects if item["kind"] == "ReplicaSet"]
    counted = all(item["status"].get("replicas", 0) == owned[item["metadata"]["name"]] for item in sets)
    workloads = [item for item in objects if item["kind"] in {"Deployment", "StatefulSet"}]
    told = all(item["status"].get("replicas", 0) == len(pods) for item in workloads)
    seen = all(item["status"].get("observedGeneration", 0) >= item["metadata"]["generation"] for item in workloads)
    return asked == used and told and seen and counted


def _admits(plane: ControlPlane, case: Case) -> bool:
    """Whether the server would take a new pod now: the controller only waits for its next try."""
    pod = {"metadata": {"generateName": "try-"}, "spec": {"containers": [_container(case.after)]}}
    return plane.request("POST", f"{_path(case, '/api/v1', 'pods')}?dryRun=All", pod)[0] == 201


def _subject(case: Case) -> Subject:
    return Subject(ObjectRef(case.kind, "web", case.name), BY_KIND[case.kind])


def _fit(plane: ControlPlane, case: Case) -> Fit:
    return fit(_store(plane, case), _subject(case), EvaluationOptions(Server()))


def _until(holds: Any, seconds: float = 150) -> None:
    end = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > end:
            raise NotSettledError
        time.sleep(0.3)
