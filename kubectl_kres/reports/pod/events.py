"""The cluster's own facts about a pod or workload: events, conditions, container states."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec import structs

from kubectl_kres.model.objects import Condition
from kubectl_kres.model.pod import RESIZES, SCHEDULED, ContainerState, ContainerStatus, Pod
from kubectl_kres.model.workload import Event, Workload, selector_text
from kubectl_kres.model.workload_kinds import MADE_BY, SCALED
from kubectl_kres.provenance.journal import Source
from kubectl_kres.reports.common.explanation import Fact, RunState, normalize_message
from kubectl_kres.reports.common.nodes import unscheduled_condition, waits_for_node
from kubectl_kres.reports.common.owners import controller, events_about, owned_by
from kubectl_kres.store.store import ReadRequest, Store

#: Conditions that say why no pods are created.
_STUCK = {
    ("ReplicaFailure", "True"),
    ("Progressing", "False"),
    ("Available", "False"),
    ("FailureTarget", "True"),
    ("Failed", "True"),
}
_EVENTS = {"FailedCreate", "FailedScheduling", "Evicted", "OOMKilling", "FailedDaemonPod", "ResizeDeferred"}
_MOST = 20


def pod_facts(pod: Pod) -> Iterator[Fact]:
    """Yield evictions, scheduling, deferred resizes and out-of-memory ends of one pod."""
    source = Source("Pod", pod.metadata.name, pod.metadata.namespace)
    if pod.status.reason:
        yield Fact(pod.status.reason, pod.status.message or f"the pod is {pod.status.phase}", source)
    for condition in pod.status.conditions or ():
        unschedulable = condition.type == SCHEDULED and condition.status == "False"
        resizing = condition.type in RESIZES and condition.status == "True"
        if unschedulable or resizing:
            yield _of_condition(condition, source)
    for status in (*(pod.status.init_container_statuses or ()), *(pod.status.container_statuses or ())):
        yield from _terminations(status, source)


def _terminations(status: ContainerStatus, source: Source) -> Iterator[Fact]:
    for state in (status.state, status.last_state):
        ended = state.terminated if state else None
        if ended is not None and ended.reason == "OOMKilled":
            limit = (status.resources.limits or {}).get("memory") if status.resources else None
            under = f" under its memory limit {limit}" if limit else ""
            since = f", restarted {status.restart_count} times so far" if status.restart_count > 1 else ""
            text = f"container {status.name} was killed for memory{under}{since}"
            yield Fact("OOMKilled", text, source, ended.finished_at or "", container=status.name)
            return


def _of_condition(condition: Condition, source: Source) -> Fact:
    text = condition.message or f"{condition.type} is {condition.status}"
    field_source = source.at_path(f"status.conditions[{condition.type}]")
    return Fact(condition.reason or condition.type, text, field_source, condition.last_transition_time or "")


def workload_facts(store: Store, kind: str, workload: Workload) -> tuple[Fact, ...]:
    """Return the facts about a workload: failed creations, then conditions, then the states of its pods, each newest
    first.
    """
    namespace = workload.metadata.namespace
    family = _family(store, kind, workload)
    texts = [event for names in family for event in events_about(store, namespace, names) if event.reason in _EVENTS]
    facts = [_of_event(event) for event in sorted(texts, key=lambda event: event.metadata.name)]
    for owner_kind, owner in ((kind, workload), *_owned_workloads(store, family, namespace)):
        facts += stuck_facts(owner_kind, owner)
    for child, name in sorted(family):
        if child == "Pod" and isinstance(pod := store.get(child, name, namespace), Pod):
            facts += pod_facts(pod)
    return _merge_facts(facts)


def stuck_facts(kind: str, workload: Workload) -> Iterator[Fact]:
    """Yield the conditions of a workload that say why it does not get more pods."""
    source = Source(kind, workload.metadata.name, workload.metadata.namespace)
    for condition in workload.status.conditions or ():
        if (condition.type, condition.status) in _STUCK:
            yield _of_condition(condition, source)


def event_facts(store: Store, namespace: str) -> Iterator[Fact]:
    """Yield the events of a namespace (empty: of all) that are about resources."""
    return (_of_event(event) for event in store.all("Event", namespace or None) if event.reason in _EVENTS)


def _owned_workloads(store: Store, family: set[tuple[str, str]], namespace: str) -> Iterator[tuple[str, Workload]]:
    for kind, name in sorted(family):
        if kind in MADE_BY and isinstance(result := store.get(kind, name, namespace), Workload):
            yield kind, result


def _family(store: Store, kind: str, workload: Workload) -> set[tuple[str, str]]:
    """Return the workload, the ReplicaSets or Jobs that it controls, and their pods, by kind and name."""
    namespace = workload.metadata.namespace
    family = {(kind, workload.metadata.name)}
    if kind == "Deployment" and _sets_unread(store, workload):
        family |= _replica_sets(store, workload)
    for child in MADE_BY:
        if child != kind:
            family |= {(child, name) for name in _children(store, child, namespace, family)}
    return family | {("Pod", name) for name in _children(store, "Pod", namespace, family)}


def waiting_pod(store: Store, kind: str, workload: Workload) -> Pod | None:
    """Return the first of its pods that waits for a node, before all one that was read as the scheduler sees it."""
    namespace = workload.metadata.namespace
    names = (name for child, name in sorted(_family(store, kind, workload)) if child == "Pod")
    found = (store.get("Pod", name, namespace) for name in names)
    pods = [pod for pod in found if isinstance(pod, Pod) and waits_for_node(pod)]
    if len(pods) < 2:
        return next(iter(pods), None)
    from kubectl_kres.model import scheduling  # noqa: PLC0415 - only where several pods wait for a node

    seen = (pod for pod in pods if store.get(scheduling.POD, pod.metadata.name, namespace) is not None)
    return next(seen, pods[0])


def _children(store: Store, kind: str, namespace: str, owners: Iterable[tuple[str, str]]) -> set[str]:
    return {item.metadata.name for owner in owners for item in owned_by(store, kind, namespace, owner)}


def _sets_unread(store: Store, deployment: Workload) -> bool:
    """Return whether the store holds no ReplicaSets of a Deployment because nobody asked for them."""
    metadata = deployment.metadata
    if owned_by(store, "ReplicaSet", metadata.namespace, ("Deployment", metadata.name)):
        return False
    selector = selector_text(deployment.spec.selector)
    own_read = ReadRequest("ReplicaSet", metadata.namespace, label_selector=selector)
    return not any(store.keys("ReplicaSet", metadata.namespace)) or store.should_read(own_read)


def _replica_sets(store: Store, deployment: Workload) -> set[tuple[str, str]]:
    """ReplicaSets that were not read, by the name that a Deployment gives them: its own and a hash."""
    namespace, head = deployment.metadata.namespace, f"{deployment.metadata.name}-"
    named = {(event.involved_object.kind, event.involved_object.name) for event in store.all("Event", namespace)}
    named |= {controller(pod) for pod in store.all("Pod", namespace)}
    return {
        (kind, name)
        for kind, name in named
        if kind == "ReplicaSet" and name.startswith(head) and "-" not in name.removeprefix(head)
    }


def last_time(event: Event) -> str:
    """Return when it was said last, as RFC 3339; empty where it does not say so."""
    times = (event.series.last_observed_time if event.series else None, event.last_timestamp, event.event_time)
    return next((time for time in times if time), "")


def _of_event(event: Event) -> Fact:
    about = event.involved_object
    count = event.series.count if event.series else event.count
    time = last_time(event)
    source, first = Source(about.kind, about.name, about.namespace), event.first_timestamp or event.event_time or ""
    return Fact(event.reason, event.message, source, time, count or 1, first if first < time else "")


def _of_status(fact: Fact) -> bool:
    return fact.source.field.startswith("status.")


def _merge_facts(facts: Iterable[Fact]) -> tuple[Fact, ...]:
    """Return the facts, equal ones merged with counts added, newest first; a condition that repeats an event is
    dropped.
    """
    result: dict[tuple[str, str], Fact] = {}
    for fact in sorted(facts, key=_of_status):
        key = (fact.reason, normalize_message(fact.text))
        have = result.get(key)
        if have is None:
            result[key] = fact
        elif fact.source.kind == "Pod" or not _of_status(fact):
            latest, first = max(have, fact, key=lambda fact: fact.time), _find_first_time(have, fact)
            result[key] = Fact(fact.reason, latest.text, latest.source, latest.time, have.count + fact.count, first)
        else:
            result[key] = structs.replace(have, first=_find_first_time(have, fact))
    ranked = sorted(result.values(), key=lambda fact: fact.time, reverse=True)
    ranked.sort(key=lambda fact: fact.reason != "FailedCreate")
    return tuple(ranked[:_MOST])


def _find_first_time(*facts: Fact) -> str:
    """Return since when the merged facts hold; empty where that is not before they were last reported."""
    times = [time for fact in facts if (time := fact.first or fact.time)]
    first = min(times, default="")
    return first if first < max((fact.time for fact in facts), default="") else ""


def refusal_start_text(facts: Iterable[Fact]) -> str:
    """Return since when pods are refused, as far as it is recorded; empty where nothing is."""
    times = [time for fact in facts if fact.reason == "FailedCreate" and (time := fact.first or fact.time)]
    return min(times, default="")


#: Reasons of containers that have ended or wait and that nobody has to look into.
_USUAL = {"Completed", "ContainerCreating", "PodInitializing"}


def ready_text(kind: str, value: object, run_state: RunState | None = None) -> str:
    """Return ``2/3`` as kubectl get prints it; empty for objects without pods of their own. ``run_state``: what its
    pods say, which counts where its controller has not written a status for this generation yet.
    """
    if isinstance(value, Pod):
        ready = sum(_is_ready(status) for status in value.status.container_statuses or ())
        return f"{ready}/{len(value.spec.containers or ())}"
    if not isinstance(value, Workload):
        return ""
    written = _ready_of_workload(kind, value)
    behind = value.status.observed_generation < value.metadata.generation
    if written and kind != "Job" and behind and run_state is not None and run_state.wanted:
        return f"{run_state.ready}/{run_state.wanted}"
    return written


def _is_ready(status: ContainerStatus) -> bool:
    """Return whether a pod is ready. Old snapshots only say that it runs."""
    if status.ready is not None:
        return status.ready
    return status.state is not None and status.state.running is not None


def _ready_of_workload(kind: str, workload: Workload) -> str:
    spec, status = workload.spec, workload.status
    match kind:
        case _ if kind in SCALED:
            return f"{status.ready_replicas}/{1 if spec.replicas is None else spec.replicas}"
        case "DaemonSet":
            return f"{status.number_ready}/{status.desired_number_scheduled}"
        case "Job":
            return f"{status.succeeded}/{1 if spec.completions is None else spec.completions}"
    return ""


def not_running_reason(kind: str, value: object) -> str:
    """Return why it does not run, or that it is suspended or paused; empty where all is as usual."""
    if isinstance(value, Pod):
        return _pod_reason(value)
    return _workload_reason(kind, value) if isinstance(value, Workload) else ""


def _workload_reason(kind: str, workload: Workload) -> str:
    if workload.spec.suspend:
        return "suspended (spec.suspend)"
    if kind == "Deployment" and workload.spec.paused:
        return "paused (spec.paused): changes of its template wait"
    status = workload.status
    wanted_count = 1 if workload.spec.replicas is None else workload.spec.replicas
    ordered = kind == "StatefulSet" and workload.spec.pod_management_policy != "Parallel"
    if ordered and status.ready_replicas < status.replicas < wanted_count:
        return "waits until the pods that exist are Ready (podManagementPolicy OrderedReady)"
    for condition in workload.status.conditions or ():
        if kind == "Job" and condition.status == "True" and condition.type in {"Complete", "Failed"}:
            return condition.type.lower() + (f" ({condition.reason})" if condition.type == "Failed" else "")
    return ""


def _pod_reason(pod: Pod) -> str:
    """Return the STATUS of kubectl get; empty for a usual one. Source: kubectl printers/internalversion printPod."""
    status = pod.status
    if status.reason:
        return status.reason
    if pod.metadata.deletion_timestamp:
        return "Terminating"
    unscheduled = unscheduled_condition(pod)
    if unscheduled is not None:
        return unscheduled.reason or "not scheduled"
    for prefix, statuses in (("Init:", status.init_container_statuses or ()), ("", status.container_statuses or ())):
        worst = next((text for status in statuses if (text := _format_container_state(status))), "")
        if worst:
            return f"{prefix}{worst}"
    if status.phase in {"", "Running"}:
        return ""
    if status.phase == "Pending" and not pod.spec.node_name:
        return "Pending: no node yet"
    return status.phase


def _format_container_state(status: ContainerStatus) -> str:
    """Return OOMKilled, ImagePullBackOff, CrashLoopBackOff or Error, with the restarts so far."""
    state, before = status.state or ContainerState(), status.last_state or ContainerState()
    ended = before.terminated.reason if before.terminated is not None else ""
    reason = ""
    if state.waiting is not None:
        reason = ended if ended == "OOMKilled" and state.waiting.reason == "CrashLoopBackOff" else state.waiting.reason
    elif state.terminated is not None:
        reason = state.terminated.reason
    elif ended == "OOMKilled":
        reason = ended
    if not reason or reason in _USUAL:
        return ""
    restarts = f", {status.restart_count} restart{'s' * (status.restart_count != 1)}" if status.restart_count else ""
    return f"{reason} (container {status.name}{restarts})"
