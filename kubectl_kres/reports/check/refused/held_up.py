"""KRES111: what is admitted and wanted waits or fails; one finding for each reason."""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_kres.model.meta import ObjectRef
from kubectl_kres.model.pod import Pod
from kubectl_kres.reports.check.finding import Broken
from kubectl_kres.reports.check.rule import Rule
from kubectl_kres.reports.check.scene import Scene
from kubectl_kres.reports.common.explanation import RunState, is_held_up
from kubectl_kres.reports.explain.all_states import all_states, states_in_store
from kubectl_kres.reports.pod.verdict import is_negative
from kubectl_kres.store.coverage import Need

#: So many workloads are named; the rest is counted.
_NAMED = 10


def find(scene: Scene) -> Iterator[Broken]:
    """What is held up by something else than a refusal: one finding for each reason, with all that it holds up."""
    if scene.of_files:
        return
    pods = states_in_store(scene.store, scene.namespace, scene.ask.now)
    judged = {judged.ref: judged for judged in scene.judged}
    reasons: dict[tuple[str, str], list[tuple[ObjectRef, RunState]]] = {}
    for ref, state in all_states(scene.store, scene.namespace, pods):
        if not is_held_up(state) or state.reason == "Quota":
            continue
        if ref in judged and is_negative(scene.verdict(judged[ref])):
            continue
        reasons.setdefault((state.word, state.reason), []).append((ref, state))
    for (word, reason), members in reasons.items():
        yield _broken(scene, word, reason, members)


def _broken(scene: Scene, word: str, reason: str, members: list[tuple[ObjectRef, RunState]]) -> Broken:
    (first, state), *_ = members
    names = ", ".join(str(ref) for ref, _ in members[:_NAMED])
    more = f" and {len(members) - _NAMED} more" if len(members) > _NAMED else ""
    values = {
        "word": word,
        "reason": reason,
        "count": str(len(members)),
        "workloads": f"{names}{more}",
        "why": f"{state.message or state.detail or reason}{_nearest(scene, first, state)}",
    }
    return Broken(first, values, remedy=state.next)


def _nearest(scene: Scene, ref: ObjectRef, state: RunState) -> str:
    """What the nearest node lacks, where nodes are at hand as the scheduler sees them: they are read for no list."""
    store = scene.store
    if state.reason != "NoNode" or not store.covered(Need("Node.of/scheduler")).known:
        return ""
    pod = store.get("Pod", state.pod or ref.name, ref.namespace)
    if not isinstance(pod, Pod):
        return ""
    from kubectl_kres.reports.scheduling.report import report_nodes  # noqa: PLC0415 - only where a pod waits for a node

    reported = report_nodes(store, pod, scene.ask.server.version[1])
    near = reported[0].nearest if reported is not None else None
    if near is None:
        return ""
    short = " and ".join(f"{shortage.resource} {shortage.lacking}" for shortage in near.shortages)
    lacks = "; ".join(filter(None, (short and f"lacks {short}", *near.obstacles)))
    return f" (nearest: {near.node}: {lacks})"


RULE = Rule(
    code="KRES111",
    title="admitted, and does not run",
    severity="error",
    reason="Nothing refuses these pods, and still they do not work: they wait, or end again and again.",
    remedy="The explanation of each says what it waits for and what to do next.",
    message="{count} {word} ({reason}): {workloads}: {why}",
    find=find,
    failing="""
apiVersion: v1
kind: Pod
metadata: {name: web-1, namespace: shop, uid: pod-1, creationTimestamp: '2026-01-01T00:00:00Z'}
spec:
  schedulingGates: [{name: kueue.x-k8s.io/admission}]
  containers:
  - {name: app, image: app, resources: {requests: {cpu: '1', memory: 64Mi}, limits: {memory: 64Mi}}}
status:
  phase: Pending
  conditions:
  - {type: PodScheduled, status: 'False', reason: SchedulingGated, message: Scheduling is blocked}
""",
    passing="""
apiVersion: v1
kind: Pod
metadata: {name: web-1, namespace: shop, uid: pod-1, creationTimestamp: '2026-01-01T00:00:00Z'}
spec:
  nodeName: n1
  containers:
  - {name: app, image: app, resources: {requests: {cpu: '1', memory: 64Mi}, limits: {memory: 64Mi}}}
status:
  phase: Running
  containerStatuses: [{name: app, ready: true, state: {running: {}}}]
""",
)
