"""The state of a workload: from its pods where they were read, else from the counts of its status.

It also has the conditions of ``--until``: all wanted pods exist, and they are ready.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import structs

from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.model.pod import Pod
from kubectl_kres.model.workload import Workload, template_of
from kubectl_kres.model.workload_kinds import LASTING, RETRIED, SCALED
from kubectl_kres.reports.common.explanation import Reason, RunState, Verdict
from kubectl_kres.reports.common.last_editor import last_edit
from kubectl_kres.reports.common.owners import controller
from kubectl_kres.reports.common.replicas import Replicas
from kubectl_kres.reports.pod.verdict import is_negative
from kubectl_kres.reports.run_state.containers import troubles
from kubectl_kres.reports.run_state.details import NowhereToRun, TurnedOff
from kubectl_kres.reports.run_state.grace import is_new, rank, worst_state
from kubectl_kres.reports.run_state.next_steps import AskSuspender, MatchNode, with_next_step
from kubectl_kres.reports.run_state.scheduling import kueue_queue


def off_state(kind: str, workload: Workload) -> RunState | None:
    """Return the state of a workload that was turned off, or that a queue has not started; None where it is on."""
    spec, namespace = workload.spec, workload.metadata.namespace
    if spec.suspend and kind in {"Job", "CronJob"} and not _ended_state(kind, workload):
        return with_next_step(_suspended_state(kind, workload), namespace)
    if kind in SCALED and spec.replicas == 0:
        return with_next_step(
            _off_state(workload, "ScaledToZero", "spec.replicas", TurnedOff("scaled to 0")), namespace
        )
    if kind == "DaemonSet" and workload.status.observed_generation and not workload.status.desired_number_scheduled:
        return _NOWHERE
    if kind == "Deployment" and spec.paused and _pause_shows(workload):
        return with_next_step(_off_state(workload, "Paused", "spec.paused", TurnedOff("paused")), namespace)
    return None


#: A DaemonSet wants a pod on each node that its template lets in, so that none is missing where there is no such node.
_NOWHERE = RunState(
    "off",
    "NoNode",
    detail=NowhereToRun(),
    next=MatchNode(),
)


def _pause_shows(workload: Workload) -> bool:
    """Return whether a paused Deployment would otherwise change its pods."""
    wanted_count = 1 if workload.spec.replicas is None else workload.spec.replicas
    status = workload.status
    return not status.replicas or status.updated_replicas < min(wanted_count, status.replicas)


def _off_state(workload: Workload, reason: Reason, path: str, detail: TurnedOff) -> RunState:
    edit = last_edit(workload.metadata.managed_fields, path)
    by = edit.manager if edit is not None else ""
    return RunState("off", reason, edit.time if edit is not None else "", by=by, detail=detail)


def _suspended_state(kind: str, workload: Workload) -> RunState:
    """Return the state of a suspended Job. One with a queue is wanted: the queue's controller starts it."""
    template = template_of(workload)[1]
    labels = workload.metadata.labels
    queue = kueue_queue(labels) or kueue_queue(template.metadata.labels if template is not None else None)
    since = next(
        (item.last_transition_time or "" for item in workload.status.conditions or () if item.type == "Suspended"),
        workload.metadata.creation_timestamp or "",
    )
    owner = controller(workload)
    if queue and kind == "Job":
        return RunState("waits", "Queue", since, by="Kueue", detail=TurnedOff("suspended", *owner, queue))
    if owner[0] and kind == "Job":
        ref = ObjectRef(*owner, workload.metadata.namespace)
        detail, step = TurnedOff("suspended", *owner), AskSuspender(*owner)
        return RunState("off", "Suspended", since, object=ref, by=str(ref), detail=detail, next=step)
    return _off_state(workload, "Suspended", "spec.suspend", TurnedOff("suspended"))


def _ended_state(kind: str, workload: Workload) -> RunState | None:
    """Return the state of a Job that makes no more pods, else None."""
    for condition in (workload.status.conditions or ()) if kind == "Job" else ():
        if condition.status != "True":
            continue
        if condition.type in {"Complete", "SuccessCriteriaMet"}:
            return RunState("ended")
        if condition.type in {"Failed", "FailureTarget"}:
            since, detail = condition.last_transition_time or "", condition.reason
            return RunState("fails", "JobFailed", since, message=condition.message, detail=detail)
    return None


def workload_state(
    kind: str,
    workload: Workload,
    replicas: Replicas | None,
    pods: Iterable[tuple[Pod, RunState]] | None,
    now: str,
    running: int = 0,
) -> RunState | None:
    """Return the state; None for a workload that wants no pods by itself, as a CronJob between two runs, and where
    nothing is known.

    ``pods``: those that it has of the newest template, each with its state; None: they were not read. ``running``: how
    many more there are that run as usual.
    """
    ended = _ended_state(kind, workload)
    states = [(pod, state) for pod, state in pods or () if state.state != "ended"]
    if ended is not None:
        return with_next_step(_with_pods(ended, pods or ()), workload.metadata.namespace)
    off = off_state(kind, workload)
    if off is not None:
        return off
    if replicas is None:
        return worst_state(state for _, state in states)
    state = _worst_pod_state(states, replicas) if pods is not None else None
    known = running + sum(state.state == "runs" for _, state in states)
    counted = _by_counts(kind, workload, replicas, now, known)
    if state is None or (counted is not None and rank(counted) < rank(state)):
        state = counted
    if state is None:
        return None
    ready = max(ready_pods(kind, workload, states), min(known, replicas.wanted))
    state = structs.replace(state, wanted=replicas.wanted, ready=ready)
    return with_next_step(state, workload.metadata.namespace)


def _with_pods(ended: RunState, pods: Iterable[tuple[Pod, RunState]]) -> RunState:
    """Return the state of a failed Job with what killed its pods, where that was memory."""
    if ended.state != "fails":
        return ended
    killed = (trouble for pod, _ in pods for trouble in troubles(pod, "") if trouble.reason == "OOMKilled")
    first = next(killed, None)
    return structs.replace(first, message=ended.message) if first is not None else ended


def ready_pods(kind: str, workload: Workload, states: Sequence[tuple[Pod, RunState]] = ()) -> int:
    """Return how many pods are ready, as the status counts them."""
    status = workload.status
    if kind == "DaemonSet":
        return status.number_ready
    if kind == "Job":
        return status.ready or sum(state.state == "runs" for _, state in states)
    return status.ready_replicas


def _worst_pod_state(states: Sequence[tuple[Pod, RunState]], replicas: Replicas) -> RunState | None:
    """Return the worst state of its pods, with the number of pods in it."""
    # One that says why a pod was killed stands for those that run and say nothing, and what the cluster says for those
    # of which it says nothing.
    sorted_states = sorted(
        (state for _, state in states), key=lambda state: (not state.reason, state.reason == "NoScheduler")
    )
    state = worst_state(sorted_states)
    if state is None:
        return None
    alike = sum((other.state, other.reason) == (state.state, state.reason) for _, other in states)
    return structs.replace(state, pods=min(alike, max(replicas.wanted, 1)))


def _by_counts(kind: str, workload: Workload, replicas: Replicas, now: str, known: int) -> RunState | None:
    """Return the state from the counts of the status: missing pods, and pods that are not ready.

    ``known``: how many pods are known to run, which a status may not count yet.
    """
    since = _last_transition_time(workload)
    if replicas.missing_pods and not replicas.idle_reason:
        if is_new(since, now):
            return RunState("starting", since=since, pods=replicas.missing_pods)
        return RunState("waits", "NotCreated", since, pods=replicas.missing_pods)
    if kind == "Job" and replicas.wanted:
        return RunState("runs") if not replicas.missing_pods else None
    if kind not in LASTING or not replicas.wanted:
        return None
    lacks = replicas.wanted - max(known, ready_pods(kind, workload))
    if lacks <= 0:
        return RunState("runs")
    if is_new(since, now):
        return RunState("starting", since=since, pods=lacks)
    return RunState("waits", "NotReady", since, pods=lacks)


def _last_transition_time(workload: Workload) -> str:
    """Return the time of the last transition of its status, else of its creation."""
    times = [item.last_transition_time or "" for item in workload.status.conditions or () if item.type != "Progressing"]
    return max([*times, workload.metadata.creation_timestamp or ""])


def is_calm(kind: str, workload: Workload, replicas: Replicas | None) -> bool:
    """Return whether its status alone says that all that it wants runs, or that it is off, so that its pods need not be
    read.
    """
    if off_state(kind, workload) is not None or _ended_state(kind, workload) is not None:
        return True
    if kind == "CronJob":
        return not workload.status.active
    if replicas is None or kind not in RETRIED:
        return True
    # While old pods run those of the newest template may wait, although as many are ready as are wanted.
    replacing = replicas.old_pods > replicas.kept
    return not replacing and not replicas.missing_pods and ready_pods(kind, workload) >= replicas.wanted


def is_there(verdict: Verdict, state: RunState | None, replicas: Replicas | None) -> bool:
    """Return whether all wanted pods of the newest template exist; for a pod or a run, that it exists."""
    if is_negative(verdict) or state is None or state.state == "off":
        return False
    return not replicas.missing_pods if replicas is not None else state.reason not in _WITHOUT_POD


def is_ready(verdict: Verdict, state: RunState | None, replicas: Replicas | None) -> bool:
    """Return whether they also are ready, or have ended well."""
    return is_there(verdict, state, replicas) and state is not None and state.state in {"runs", "ended"}


#: Of a run, what it waits for before it has a pod.
_WITHOUT_POD = frozenset({"Quota", "Queue", "NotCreated", "TaskRunPending", "PipelineRunPending", "Refused"})
