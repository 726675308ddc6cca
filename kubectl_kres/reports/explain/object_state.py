"""The state of any object: a pod, a workload, an object of a system; the reasons in its verdict come first."""

# ruff: noqa: PLC0415 - of what plainly runs no state is looked for
from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Any

from msgspec import structs

from kubectl_kres.errors import UsageError
from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.model.pod import ContainerState, Pod
from kubectl_kres.model.workload import Event, Workload, selector_text, template_of
from kubectl_kres.model.workload_kinds import POD_MAKERS, SCALED
from kubectl_kres.reports.common.explanation import Fact, RunState, Subject, Verdict
from kubectl_kres.reports.common.nodes import waits_for_node
from kubectl_kres.reports.common.owners import controller, events_about, owned_by
from kubectl_kres.reports.common.replicas import newest_set, pods_of
from kubectl_kres.reports.common.system import AboutHeld, reads_for, state_of_object, state_while_held
from kubectl_kres.reports.pod.events import refusal_start_text
from kubectl_kres.reports.pod.verdict import is_negative
from kubectl_kres.store.store import ReadRequest, Store


def object_state(
    store: Store, ref: ObjectRef, now: str, verdict: Verdict | None = None, facts: Sequence[Fact] = ()
) -> RunState | None:
    """Return the state; None for an object that does not exist, makes no pods by itself, or is not known.

    ``verdict``: of the same object: pods that are refused are waited for. ``facts``: what the cluster says of it.
    """
    item = store.get(ref.kind, ref.name, ref.namespace)
    if item is None:
        return None
    refused = verdict is not None and is_negative(verdict) and not isinstance(item, Pod)
    if verdict is not None and refused and isinstance(item, Workload) and ref.kind != "CronJob":
        return _build_refused_state(store, item, verdict, facts, ref)
    state = state_of_item(store, ref.kind, item, now)
    if verdict is None or not refused or state is None or state.state in {"fails", "off", "ended"}:
        return state
    return _build_refused_state(store, item, verdict, facts, ref)


def state_of_item(store: Store, kind: str, item: Any, now: str) -> RunState | None:
    """Return the state of an object without its verdict."""
    if isinstance(item, Pod):
        return RunState("runs") if is_plain(item) else state_of_pod(store, item, now)
    if isinstance(item, Workload):
        state = _state_of_workload(store, kind, item, now)
    else:
        state = state_of_object(store, item, now)
    return state_of_turn(store, kind, item, state) if state is not None else None


def state_of_turn(store: Store, kind: str, item: Any, state: RunState) -> RunState:
    """Return the state of an object, which who decides about its turn says, where it waits for that."""
    return state_while_held(store, kind, item, state) if state.reason in _HELD else state


#: Reasons with which an object waits for somebody to let it go.
_HELD = frozenset({"Queue", "SchedulingGate", "TaskRunPending", "PipelineRunPending"})


def is_plain(pod: Pod) -> bool:
    """Return whether all of its containers run, are ready and have not been started before."""
    statuses = pod.status.container_statuses
    return (
        bool(statuses)
        and pod.status.phase == "Running"
        and not (pod.status.conditions or pod.metadata.deletion_timestamp)
        and all(
            status.ready is not False
            and status.last_state in _NO_STATE
            and status.state is not None
            and status.state.running
            for status in statuses or ()
        )
    )


_NO_STATE = (None, ContainerState())


def state_of_pod(store: Store, pod: Pod, now: str) -> RunState:
    """Return the state of a pod with the events about it, as far as they were read."""
    from kubectl_kres.reports.run_state.containers import pod_state
    from kubectl_kres.reports.run_state.next_steps import FollowPod

    namespace = pod.metadata.namespace
    state = pod_state(pod, now, events_about(store, namespace, ("Pod", pod.metadata.name)))
    if state.reason == "SchedulingGate":
        return state_of_turn(store, "Pod", pod, state)
    if state.reason == "UnboundVolumeClaim" and state.object is None:
        return _add_unbound_claim(store, pod, state)
    partner = _waiting_partner(store, pod) if state.reason == "NoNode" else None
    if partner is None:
        return state
    return structs.replace(state, object=partner, next=FollowPod(partner.name, partner.namespace))


def _waiting_partner(store: Store, pod: Pod) -> ObjectRef | None:
    """Return the pod beside which a pod has to run and which waits for a node, too; None: there is none, or another
    that has one.
    """
    affinity = pod.spec.affinity.pod_affinity if pod.spec.affinity is not None else None
    terms = affinity.required_during_scheduling_ignored_during_execution if affinity is not None else None
    if not terms:
        return None
    from kubectl_kres.scheduling.selectors import matches

    namespace = pod.metadata.namespace
    for term in terms:
        beside = [
            other
            for other in store.all("Pod", namespace)
            if other.metadata.name != pod.metadata.name and matches(term.label_selector, other.metadata.labels or {})
        ]
        if beside and all(map(waits_for_node, beside)):
            return ObjectRef("Pod", beside[0].metadata.name, namespace)
    return None


def _state_of_workload(store: Store, kind: str, workload: Workload, now: str) -> RunState | None:
    if kind == "CronJob":
        return _state_of_cron_job(store, workload, now)
    try:
        replicas = pods_of(store, kind, workload)
    except UsageError:
        return None
    pods, ready = _pods(store, kind, workload), workload.status.ready_replicas
    if kind in SCALED and replicas is not None and replicas.wanted and ready >= replicas.wanted:
        usual = not (replicas.missing_pods or replicas.failing or workload.spec.paused) and all(
            map(is_plain, pods or ())
        )
        if usual:
            return RunState("runs", wanted=replicas.wanted, ready=ready)
    from kubectl_kres.reports.run_state.workload_state import workload_state

    states = [(pod, state_of_pod(store, pod, now)) for pod in pods] if pods is not None else None
    return workload_state(kind, workload, replicas, states, now)


def _state_of_cron_job(store: Store, workload: Workload, now: str) -> RunState | None:
    """Return the state of a CronJob: suspended, else the worst of its running Jobs; None between two of them."""
    from kubectl_kres.reports.run_state.grace import worst_state
    from kubectl_kres.reports.run_state.workload_state import workload_state

    namespace, name = workload.metadata.namespace, workload.metadata.name
    off = workload_state("CronJob", workload, None, None, now)
    if off is not None:
        return off
    active = {item.name for item in workload.status.active} if isinstance(workload.status.active, tuple) else set()
    jobs = [job for job in owned_by(store, "Job", namespace, ("CronJob", name)) if job.metadata.name in active]
    return worst_state(state for job in jobs if (state := _state_of_workload(store, "Job", job, now)) is not None)


def _pods(store: Store, kind: str, workload: Workload) -> list[Pod] | None:
    """Return the pods of a workload, of a Deployment those of the newest template where that is known; None: they were
    not read.
    """
    namespace, name = workload.metadata.namespace, workload.metadata.name
    # The pods of a CronJob's Jobs are read all together, by the label that they carry.
    selectors = (selector_text(workload.spec.selector), "", *(("job-name",) if kind == "Job" else ()))
    reads = (ReadRequest("Pod", namespace, label_selector=selector, required=False) for selector in selectors)
    if not any(store.covered(read).is_known for read in reads):
        return None
    if kind != "Deployment":
        return list(owned_by(store, "Pod", namespace, (kind, name)))
    newest = newest_set(store, workload)
    if newest is not None:
        return list(owned_by(store, "Pod", namespace, ("ReplicaSet", newest.metadata.name)))
    return [pod for pod in store.all("Pod", namespace) if _is_of(pod, name)]


def _is_of(pod: Pod, deployment: str) -> bool:
    """Return whether a pod belongs to a Deployment whose ReplicaSets were not read: their name is its name and a
    hash.
    """
    kind, owner = controller(pod)
    return kind == "ReplicaSet" and owner.rpartition("-")[0] == deployment


def _build_refused_state(store: Store, item: Any, verdict: Verdict, facts: Sequence[Fact], ref: ObjectRef) -> RunState:
    """Return the state of a workload whose missing pods are refused."""
    container_count, ready = 0, 0
    if isinstance(item, Workload):
        with suppress(UsageError):
            replicas = pods_of(store, ref.kind, item)
            container_count = replicas.wanted if replicas is not None else 0
        ready = item.status.ready_replicas or item.status.number_ready
    since = refusal_start_text(facts) or (verdict.blocked.last if verdict.blocked is not None else "")
    message = verdict.blocked.message if verdict.blocked is not None else verdict.message
    from kubectl_kres.reports.run_state.next_steps import SeeFix, with_next_step

    if "not found" in message:
        from kubectl_kres.reports.run_state.containers import missing_object

        reason, missing = missing_object(message, ref.namespace)
        if reason:
            waits = RunState(
                "waits", reason, since, verdict.missing, container_count, ready, object=missing, message=message
            )
            return with_next_step(waits, ref.namespace)
    rules = {finding.rule for finding in verdict.findings}
    by_quota = bool(rules) and all(rule.startswith("quota/") for rule in rules)
    source = next((finding.source for finding in verdict.findings if finding.source is not None), None)
    by = verdict.blocked.by if verdict.blocked is not None else str(source.ref) if source is not None else ""
    return RunState(
        "waits",
        "Quota" if by_quota or (not rules and verdict.blocked is None) else "Refused",
        since,
        verdict.missing,
        container_count,
        ready,
        object=source.ref if source is not None else None,
        by=by,
        message=message,
        next=SeeFix(),
    )


def _add_unbound_claim(store: Store, pod: Pod, state: RunState) -> RunState:
    """Return the state with the claim that cannot bind, where its events or the template of the pod name it."""
    from kubectl_kres.reports.run_state.next_steps import with_next_step
    from kubectl_kres.reports.run_state.scheduling import last_time

    namespace = pod.metadata.namespace
    names = list(_claims(store, pod))
    events = [(name, event) for name in names for event in events_about(store, namespace, (_CLAIM, name))]
    if not names:
        events = [(event.involved_object.name, event) for event in _about_claims(store, namespace)]
        names = list(dict.fromkeys(name for name, _ in events))
    if not names:
        return state
    name, event = max(events, key=lambda pair: last_time(pair[1]), default=(names[0], None))
    if event is None and len(names) > 1:
        return state
    message = f"{state.message}; {event.message}" if event is not None else state.message
    named = structs.replace(state, object=ObjectRef(_CLAIM, name, namespace), message=message, next="")
    return with_next_step(named, namespace)


_CLAIM = "PersistentVolumeClaim"


def _about_claims(store: Store, namespace: str) -> Iterator[Event]:
    return (event for event in store.all("Event", namespace) if event.involved_object.kind == _CLAIM)


def _claims(store: Store, pod: Pod) -> Iterator[str]:
    """Yield the claims of a pod as the template says that made it."""
    namespace, (kind, name) = pod.metadata.namespace, controller(pod)
    owner = store.get(kind, name, namespace) if kind else None
    if not isinstance(owner, Workload):
        return
    if kind == "StatefulSet":
        for claim in owner.spec.volume_claim_templates or ():
            yield f"{claim.metadata.name}-{pod.metadata.name}"
    template = template_of(owner)[1]
    for volume in getattr(template.spec, "volumes", None) or () if template is not None else ():
        claim_name = (volume.get(_VOLUME) or {}).get("claimName")
        if claim_name:
            yield str(claim_name)


_VOLUME = "persistentVolumeClaim"


def reads_of_run(store: Store, item: Any) -> tuple[ReadRequest, ...]:
    """Return the reads for the state of a listed object of a system: its pod, where that may say more."""
    state = state_of_object(store, item)
    if state is None or state.state not in {"starting", "waits"} or state.reason not in {"", "NoNode", "NotStarted"}:
        return ()
    namespace = item.metadata.namespace
    events = ReadRequest("Event", namespace, field_selector="type=Warning", required=False)
    return ReadRequest("Pod", namespace, required=False), events


def reads_of_list(store: Store, kind: str, workload: Workload) -> tuple[ReadRequest, ...]:
    """Return the reads for the state of a listed workload whose status alone does not say that all is well."""
    from kubectl_kres.reports.run_state.workload_state import is_calm

    namespace = workload.metadata.namespace
    if kind not in POD_MAKERS:
        return ()
    try:
        calm = is_calm(kind, workload, pods_of(store, kind, workload))
    except UsageError:
        return ()
    if calm:
        return ()
    jobs = (ReadRequest("Job", namespace, required=False),) if kind == "CronJob" else ()
    events = ReadRequest("Event", namespace, field_selector="type=Warning", required=False)
    return (*jobs, ReadRequest("Pod", namespace, required=False), events)


#: So many namespaces are read one by one; more of them at once.
_SEVERAL = 20


def state_needs(store: Store, subjects: Iterable[Subject]) -> tuple[ReadRequest, ...]:
    """Return what tells how listed workloads fare of which the status does not say that all is well; none if all is."""
    reads: dict[ReadRequest, None] = {}
    for subject in subjects:
        item = store.get(subject.ref.kind, subject.ref.name, subject.ref.namespace) if subject.raw is None else None
        if isinstance(item, Workload):
            reads |= dict.fromkeys(reads_of_list(store, subject.ref.kind, item))
        elif item is not None and not isinstance(item, Pod):
            reads |= dict.fromkeys(reads_of_run(store, item))
        if item is not None:
            reads |= dict.fromkeys(reads_for(store, AboutHeld(subject, listed=True)))
    if len({read.namespace for read in reads}) > _SEVERAL:
        reads = {ReadRequest(read.kind, "", field_selector=read.field_selector, required=False): None for read in reads}
    return tuple(read for read in reads if store.should_read(read))
