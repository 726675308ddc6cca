"""A settled Deployment is explained without its ReplicaSets as with them: the same answer, byte for byte."""

from __future__ import annotations

from typing import Any

import msgspec
from hypothesis import event, given
from hypothesis import strategies as st
from properties.generated import FEW
from reports.stored import box, limits, made, owned_by, store_of, subject, template

from kubectl_kres.reports.common.explanation import EvaluationOptions
from kubectl_kres.reports.common.replicas import newest_set_name
from kubectl_kres.reports.explain.explain import explain
from kubectl_kres.reports.pod.needs import list_read_requests

Raw = dict[str, Any]
LABELS = {"app": "web"}
AMOUNTS = st.dictionaries(st.sampled_from(["cpu", "memory"]), st.sampled_from(["1", "2", "300"]), max_size=2)
ADDED = st.sampled_from([None, {"name": "proxy", "resources": {"limits": {"memory": "64"}}}])
STATES = st.sampled_from(
    [{}, {"lastState": {"terminated": {"reason": "OOMKilled", "finishedAt": "2026-01-01T00:00:00Z"}}}]
)


def pod(name: str, spec: Raw, added: Raw | None, state: Raw, revision: str = "new", **status: Any) -> Raw:
    metadata = {
        "labels": {**LABELS, "pod-template-hash": revision},
        "generation": 1,
        **owned_by("ReplicaSet", f"web-{revision}"),
    }
    containers = [*spec["containers"], *([added] if added else [])]
    statuses = [{"name": "app", "ready": True, "restartCount": 1, **state}]
    status = {"phase": "Running", "containerStatuses": statuses, **status}
    return made("Pod", name, spec={**spec, "containers": containers}, status=status, **metadata)


@st.composite
def settled(draw: st.DrawFn) -> tuple[list[Raw], list[Raw]]:
    """The Deployment, its pods and policies; and its ReplicaSets."""
    inner = template(box(requests=draw(AMOUNTS), limits=draw(AMOUNTS)))
    count, generation = draw(st.integers(1, 4)), draw(st.integers(1, 3))
    counts = dict.fromkeys(("replicas", "updatedReplicas", "readyReplicas", "availableReplicas"), count)
    spec = {"replicas": count, "selector": {"matchLabels": LABELS}, **inner}
    web = made(
        "Deployment", "web", spec=spec, status={**counts, "observedGeneration": generation}, generation=generation
    )
    own = inner["template"]["spec"]
    pods = [pod(f"web-new-{at}", own, draw(ADDED), draw(STATES)) for at in range(count)]
    if draw(st.booleans()):
        pods.append(pod("web-old-1", own, None, {}, "old", phase="Succeeded"))
    policies = [
        *([limits("l", max=draw(AMOUNTS), default=draw(AMOUNTS))] if draw(st.booleans()) else ()),
        *([quota(draw(AMOUNTS), draw(AMOUNTS))] if draw(st.booleans()) else ()),
    ]
    made_by = owned_by("Deployment", "web")
    sets = [
        replica_set("new", inner, count, "7", made_by),
        *([replica_set("old", template(box(limits={"cpu": "5"})), 0, "6", made_by)] if draw(st.booleans()) else ()),
    ]
    return [web, *pods, *policies], sets


def quota(hard: Raw, used: Raw) -> Raw:
    hard = {f"requests.{name}": text for name, text in hard.items()} | {"pods": "5"}
    used = dict.fromkeys(hard, "0") | {
        f"requests.{name}": text for name, text in used.items() if f"requests.{name}" in hard
    }
    return made("ResourceQuota", "q", spec={"hard": hard}, status={"hard": hard, "used": used})


def replica_set(revision: str, inner: Raw, count: int, number: str, metadata: Raw) -> Raw:
    spec = {"replicas": count, "selector": {"matchLabels": {**LABELS, "pod-template-hash": revision}}, **inner}
    annotations = {"deployment.kubernetes.io/revision": number}
    status = {"replicas": count, "readyReplicas": count}
    return made("ReplicaSet", f"web-{revision}", spec=spec, status=status, annotations=annotations, **metadata)


@FEW
@given(settled())
def test_the_answer_is_the_same_with_and_without_replica_sets(objects: tuple[list[Raw], list[Raw]]):
    own, sets = objects
    without, about = store_of(*own, unread=("ReplicaSet",)), subject("Deployment/web")
    whole = store_of(*own, *sets)
    assert "ReplicaSet" not in {need.kind for need in list_read_requests(without, about)}
    web = without.get("Deployment", "web", "ns")
    assert newest_set_name(without, web) == newest_set_name(whole, web) == "web-new"
    fast, slow = explain(without, about, EvaluationOptions()), explain(whole, about, EvaluationOptions())
    event(fast.verdict.outcome)
    assert msgspec.json.encode(fast) == msgspec.json.encode(slow)
