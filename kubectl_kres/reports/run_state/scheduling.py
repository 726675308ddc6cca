"""Reasons why a pod has no node yet: a gate, an unbound claim, the scheduler's message, or no answer at all."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from kubectl_kres.admission.sentences import read_exceeded_quota
from kubectl_kres.model.objects import Condition, ObjectRef
from kubectl_kres.model.pod import NamedClaim, Pod, PodAffinityTerm
from kubectl_kres.model.workload import Event
from kubectl_kres.quantity import Quantity, parse
from kubectl_kres.reports.common.explanation import Reason, RunState
from kubectl_kres.reports.common.nodes import unscheduled_condition
from kubectl_kres.reports.run_state.details import (
    ClaimNotMade,
    NodeChosen,
    NoResourceClaim,
    SchedulingGates,
    SilentScheduler,
)
from kubectl_kres.reports.run_state.grace import GRACE, is_new

#: The scheduler of pods that name none.
_DEFAULT_SCHEDULER = "default-scheduler"
#: Gates and label prefixes of well-known controllers.
#: Source: kueue pkg/controller/jobs/pod/constants; application-aware-quota pkg/util AAQGate.
_GATES: Mapping[str, str] = {"kueue.x-k8s.io": "Kueue", "ApplicationAwareQuotaGate": "AAQ"}
_QUEUE_LABEL = "kueue.x-k8s.io/queue-name"
#: How Tekton calls the StatefulSets whose pod it keeps the pods of a PipelineRun beside, by their instance label.
#: Source: tekton pkg/reconciler/pipelinerun/affinity_assistant.go.
_ASSISTANT = "affinity-assistant"

#: The scheduler's sentences about an object that holds the pod up.
#: Source: scheduler plugins volumebinding, dynamicresources, volumezone (1.27 to 1.37).
_SENTENCES: tuple[tuple[re.Pattern[str], Reason, str], ...] = (
    (re.compile(r'persistentvolumeclaim "([^"]+)" not found'), "MissingVolumeClaim", "PersistentVolumeClaim"),
    (
        re.compile(r'persistentvolumeclaim "([^"]+)" (?:bound to non-existent|is being deleted)'),
        "UnboundVolumeClaim",
        "PersistentVolumeClaim",
    ),
    (re.compile(r"unbound (?:immediate )?PersistentVolumeClaims"), "UnboundVolumeClaim", ""),
    (re.compile(r"(?:did not find available|didn't find available) persistent volumes"), "UnboundVolumeClaim", ""),
    (re.compile(r'storageclass(?:\.storage\.k8s\.io)? "([^"]+)" not found'), "UnboundVolumeClaim", "StorageClass"),
    (re.compile(r'resourceclaim(?:\.resource\.k8s\.io)? "([^"]+)" not found'), "MissingResourceClaim", "ResourceClaim"),
    (
        re.compile(r'resourceclaimtemplate(?:\.resource\.k8s\.io)? "([^"]+)" not found'),
        "MissingResourceClaim",
        "ResourceClaimTemplate",
    ),
    (re.compile(r"waiting for (?:dynamic )?resource ?claim|resourceclaim.* (?:to be|has not been) created"),
     "MissingResourceClaim", ""),
    (re.compile(r"cannot allocate all claims|resourceclaim (?:in use|cannot be allocated)"),
     "ResourceClaimNotAllocated", ""),
)  # fmt: skip

#: By the reason of the event: the reason why the pod waits, what could not be made, and how the message begins.
#: Source: pkg/controller/volume/ephemeral/controller.go syncHandler, pkg/controller/resourceclaim/controller.go
#: syncPod.
_CLAIM_EVENTS: Mapping[str, tuple[Reason, str, re.Pattern[str]]] = {
    "FailedBinding": (
        "MissingVolumeClaim", "PersistentVolumeClaim", re.compile(r"ephemeral volume \S+: create PVC ([^\s:]+): ")
    ),
    "FailedResourceClaimCreation": (
        "MissingResourceClaim", "ResourceClaim", re.compile(r"PodResourceClaim ([^\s:]+): (?:create ResourceClaim : )?")
    ),
}  # fmt: skip


def kueue_queue(labels: Mapping[str, str] | None) -> str:
    """Return the queue of Kueue that labels name; empty if they name none."""
    return (labels or {}).get(_QUEUE_LABEL, "")


#: How the scheduler says that it waits until a claim is made for the pod.
#: Source: scheduler plugins volumebinding, dynamicresources.
_CLAIM_TO_COME = re.compile(
    r"waiting for ephemeral volume controller to create|waiting for (?:dynamic )?resource ?claim"
)


def without_node(pod: Pod, now: str, events: Sequence[Event] = ()) -> RunState:
    """Return the state of a pod without a node. ``events``: those about it, where they were read."""
    gates = pod.spec.scheduling_gates
    condition = unscheduled_condition(pod)
    if gates or (condition is not None and condition.reason == "SchedulingGated"):
        return _gated_state(pod, condition)
    if condition is None or _CLAIM_TO_COME.search(condition.message):
        not_made = _claim_not_made(pod, events)
        if not_made is not None:
            return not_made
    if condition is not None:
        return _unschedulable(pod, condition)
    since = pod.metadata.creation_timestamp or ""
    if is_new(since, now):
        return RunState("starting", since=since)
    scheduler = pod.spec.scheduler_name or _DEFAULT_SCHEDULER
    if pod.status.nominated_node_name:
        return _before_binding(pod, since)
    absent = _claim_not_there(pod)
    if absent is not None and scheduler == _DEFAULT_SCHEDULER:
        return _without_claim(absent, pod.metadata.namespace, since)
    return RunState("waits", "NoScheduler", since, by=scheduler, detail=SilentScheduler(scheduler, GRACE))


def _claim_not_made(pod: Pod, events: Sequence[Event]) -> RunState | None:
    """Return the state of a pod without a node that waits for a claim, from the newest event that says why the claim is
    not made; None where no event does.

    ``by``: the quota that has no room for it; empty for another reason, which ``message`` then says.
    """
    about = [event for event in events if event.reason in _CLAIM_EVENTS]
    if not about:
        return None
    event = max(about, key=last_time)
    reason, kind, pattern = _CLAIM_EVENTS[event.reason]
    match = pattern.search(event.message)
    if match is None:
        return None
    message = event.message[match.end() :]
    quota, short_by = _shortage(message)
    of_volume = kind == "PersistentVolumeClaim"
    # What a ResourceClaim would be called nobody knows: its name is made anew with each try.
    missing = ObjectRef(kind, match[1], pod.metadata.namespace) if of_volume else None
    return RunState(
        "waits",
        reason,
        pod.metadata.creation_timestamp or "",
        object=missing,
        by=quota,
        message=message,
        detail=ClaimNotMade(kind, match[1], quota, short_by),
    )


def _shortage(message: str) -> tuple[str, tuple[tuple[str, str], ...]]:
    """Return the quota that is exceeded, and what it is short by: amounts by name; empty where a sentence does not
    say.
    """
    exceeded = read_exceeded_quota(message)
    if exceeded is None or not exceeded.requested:
        return "", ()
    requested, used, hard = (dict(_amounts(stated)) for stated in (exceeded.requested, exceeded.used, exceeded.limited))
    lacking = {
        name: Quantity(requested[name].nano + used[name].nano - hard[name].nano, hard[name].format)
        for name in requested.keys() & used.keys() & hard.keys()
    }
    return exceeded.quota, tuple((name, str(amount)) for name, amount in sorted(lacking.items()) if amount.nano > 0)


def _amounts(stated: Mapping[str, str]) -> Iterator[tuple[str, Quantity]]:
    """Yield the amounts that can be read; the last one of a sentence may be cut."""
    for name, amount in stated.items():
        try:
            yield name, parse(amount)
        except ValueError:
            continue


def last_time(event: Event) -> str:
    """Return when an event was last seen; empty where it does not say."""
    observed = event.series.last_observed_time if event.series else None
    return observed or event.last_timestamp or event.event_time or ""


def _before_binding(pod: Pod, since: str) -> RunState:
    """Return the state of a pod whose node is chosen: the scheduler says nothing while it waits for what has to be
    bound first.

    Source: scheduler/schedule_one.go bindingCycle, WaitOnPermit and PreBind (NominatedNodeNameForExpectation, 1.35).
    """
    node = pod.status.nominated_node_name
    detail = NodeChosen(node, "ResourceClaims" if pod.spec.resource_claims else "volumes")
    reason: Reason = "ResourceClaimNotAllocated" if pod.spec.resource_claims else "UnboundVolumeClaim"
    return RunState("waits", reason, since, by=node, detail=detail)


def _claim_not_there(pod: Pod) -> NamedClaim | None:
    """Return the first claim that may be what keeps a silent scheduler from the pod; None where each is of a template
    and the status names what was made of it, and where what it is of was not kept.
    """
    generated_names = {status.name for status in pod.status.resource_claim_statuses or ()}
    return next(
        (
            claim
            for claim in pod.spec.resource_claims or ()
            if claim.resource_claim_name or (claim.resource_claim_template_name and claim.name not in generated_names)
        ),
        None,
    )


def _without_claim(claim: NamedClaim, namespace: str, since: str) -> RunState:
    """Return the state of a pod whose ResourceClaim does not exist: the scheduler does not look at it, and says
    nothing. Why none was made of a template is not known here: the template may well be there.

    Source: scheduler/framework/plugins/dynamicresources PreEnqueue.
    """
    if claim.resource_claim_name:
        missing = ObjectRef("ResourceClaim", claim.resource_claim_name, namespace)
        detail = NoResourceClaim(claim.name)
        return RunState("waits", "MissingResourceClaim", since, object=missing, detail=detail)
    detail = NoResourceClaim(claim.name, claim.resource_claim_template_name or "")
    return RunState("waits", "MissingResourceClaim", since, detail=detail)


def _gated_state(pod: Pod, condition: Condition | None) -> RunState:
    names = [gate.name for gate in pod.spec.scheduling_gates or ()]
    owners = list(dict.fromkeys(_owner_of_gate(name) for name in names))
    queue = kueue_queue(pod.metadata.labels)
    detail = SchedulingGates(tuple(names), queue if "Kueue" in owners else "")
    since = (condition.last_transition_time if condition is not None else "") or pod.metadata.creation_timestamp or ""
    message = condition.message if condition is not None else ""
    return RunState("waits", "SchedulingGate", since, by=" and ".join(owners), message=message, detail=detail)


def _owner_of_gate(name: str) -> str:
    prefix = name.partition("/")[0]
    return _GATES.get(prefix, prefix)


def _unschedulable(pod: Pod, condition: Condition) -> RunState:
    message, since = condition.message, condition.last_transition_time or pod.metadata.creation_timestamp or ""
    reason, missing = named_object(message, pod.metadata.namespace)
    if reason == "NoNode" and (assistant := assistant_of(pod)) and "affinity" in message:
        missing = ObjectRef("StatefulSet", assistant, pod.metadata.namespace)
        return RunState("waits", "AffinityAssistant", since, object=missing, message=message)
    return RunState("waits", reason, since, object=missing, message=message)


def named_object(message: str, namespace: str) -> tuple[Reason, ObjectRef | None]:
    """Return the reason in a sentence of the scheduler, with the object that it names."""
    for pattern, reason, kind in _SENTENCES:
        match = pattern.search(message)
        if match is not None:
            namespace_or_none = "" if kind == "StorageClass" else namespace
            return reason, ObjectRef(kind, match[1], namespace_or_none) if kind else None
    return "NoNode", None


def assistant_of(pod: Pod) -> str:
    """Return the StatefulSet of Tekton whose pod must be on the same node; empty if there is none."""
    affinity = pod.spec.affinity.pod_affinity if pod.spec.affinity is not None else None
    terms = affinity.required_during_scheduling_ignored_during_execution if affinity is not None else None
    return next((name for term in terms or () if (name := _instance(term)).startswith(_ASSISTANT)), "")


def _instance(term: PodAffinityTerm) -> str:
    labels = term.label_selector.match_labels if term.label_selector is not None else None
    return (labels or {}).get("app.kubernetes.io/instance", "")
