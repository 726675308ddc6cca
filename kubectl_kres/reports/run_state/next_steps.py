"""The next step for a state, by its reason."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from msgspec import structs

from kubectl_kres.admission.sentences import read_node_room
from kubectl_kres.reports.common.explanation import RunState

#: What a list says of a pod that waits for a node: its explanation says more.
LOOK_AT_NODES = "its explanation says what lets a node take it, tried on each node"
#: Who removes the scheduling gates and suspensions of these, and how to see what it thinks.
_QUEUES: Mapping[str, str] = {
    "Kueue": "Kueue lets it go on when its queue admits it: kubectl get workloads.kueue.x-k8s.io -n {namespace} says "
    "why it does not yet",
    "AAQ": "the Application Aware Quota controller removes the gate when an ApplicationAwareResourceQuota has room: "
    "kubectl get applicationawareresourcequotas -n {namespace}",
}


def with_next_step(state: RunState, namespace: str) -> RunState:
    """Return the state with its next step; unchanged where there is nothing to do."""
    step = _STEPS.get(state.reason)
    if step is None or state.next:
        return state
    return structs.replace(state, next=step(state, namespace))


def _create(state: RunState, namespace: str) -> str:
    if state.by:
        return f"make room in quota {state.by}, and the claim is made: kubectl describe quota {state.by} -n {namespace}"
    if state.reason == "MissingResourceClaim" and state.object is None:
        see = f"kubectl describe pod/{state.pod} -n {namespace} says why"
        return f"it is made when the ResourceClaimTemplate is there and its quotas have room; {see}"
    missing = f"{state.object.kind} {state.object.name}" if state.object is not None else "what is missing"
    return f"create {missing} in namespace {namespace}, or correct the name in the pod"


#: The binder's words for a claim whose class is not there.
_LACKING_CLASS = re.compile(r'storageclass\.storage\.k8s\.io "([^"\s]+)" not found')


def _bind_claim_step(state: RunState, namespace: str) -> str:
    claim = f"PersistentVolumeClaim {state.object.name}" if state.object is not None else "its PersistentVolumeClaims"
    name = f"/{state.object.name}" if state.object is not None else ""
    see = f"kubectl describe pvc{name} -n {namespace}"
    lacking = _LACKING_CLASS.search(f"{state.message} {state.detail}")
    if lacking is not None:
        return f"create StorageClass {lacking[1]}, or make {claim} anew with a class that is there ({see})"
    return f"give {claim} a StorageClass, or create a matching PersistentVolume ({see})"


def _gate(state: RunState, namespace: str) -> str:
    known = _QUEUES.get(state.by)
    if known is not None:
        return known.format(namespace=namespace)
    return f"ask the owner of the gate ({state.by}): the scheduler waits until the gate is removed from the pod"


def _scheduler(state: RunState, namespace: str) -> str:
    del namespace
    return f"start the scheduler {state.by}, or set spec.schedulerName to one that runs"


def _image(state: RunState, namespace: str) -> str:
    del namespace
    return f"correct {state.detail or 'the image'}, or the pull secret and registry that it comes from"


def _raise_memory_step(state: RunState, namespace: str) -> str:
    del namespace
    whose = f" of container {state.container}" if state.container else ""
    above = f" above {state.memory_limit}" if state.memory_limit else ""
    return f"raise the memory limit{whose}{above}, or make the program use less"


def _resize_step(state: RunState, namespace: str) -> str:
    room = read_node_room(state.message)
    left = f"{state.by} has {room.resource} {room.left} left for it" if room is not None else f"{state.by} has no room"
    pod = f"kubectl kres explain pod/{state.pod} -n {namespace} --resize"
    if state.reason == "ResizeInfeasible":
        return f"{left}, and never more: resize it to less ({pod} tries a patch), or let it start anew on a larger node"
    return f"{left}: resize it to that ({pod} tries a patch), or free room there; the kubelet tries again by itself"


def _crash(state: RunState, namespace: str) -> str:
    which = f"-c {state.container}" if state.ended and state.container else "--previous"
    logs = f"kubectl logs {state.pod} -n {namespace} {which}"
    if state.memory_limit:
        return f"raise its memory limit above {state.memory_limit}, if that killed it; {logs} shows what it did last"
    return f"{logs} says why"


def _not_ready(state: RunState, namespace: str) -> str:
    if not state.pod:
        return f"kubectl get pods -n {namespace} shows which pods are not ready"
    return f"look at its readiness probe: kubectl describe pod/{state.pod} -n {namespace}, kubectl logs {state.pod}"


def _look_at_pod(state: RunState, namespace: str) -> str:
    return f"kubectl describe pod/{state.pod} -n {namespace}" if state.pod else f"kubectl get events -n {namespace}"


def _resume_step(state: RunState, namespace: str) -> str:
    del namespace
    fields = {
        "ScaledToZero": "set spec.replicas above 0",
        "Suspended": "set spec.suspend to false",
        "Paused": "set spec.paused to false (kubectl rollout resume)",
    }
    return f"if it is to run: {fields[state.reason]}"


def _build_fixed_step(text: str) -> Callable[[RunState, str], str]:
    return lambda _state, _namespace: text


_STEPS: Mapping[str, Callable[[RunState, str], str]] = {
    "NoNode": _build_fixed_step(LOOK_AT_NODES),
    "SchedulingGate": _gate,
    "NoScheduler": _scheduler,
    "MissingVolumeClaim": _create,
    "UnboundVolumeClaim": _bind_claim_step,
    "MissingResourceClaim": _create,
    "ResourceClaimNotAllocated": _build_fixed_step(
        "free a device, or let the ResourceClaim ask for one that a node has (kubectl get resourceslices)"
    ),
    "MissingVolume": _look_at_pod,
    "MissingConfigMap": _create,
    "MissingSecret": _create,
    "MissingServiceAccount": _create,
    "AffinityAssistant": _build_fixed_step(
        "the pod has to run beside its affinity assistant: let that StatefulSet's pod come, or set the coschedule flag "
        "of Tekton's feature-flags to disabled"
    ),
    "NotCreated": _build_fixed_step("wait for its controller; kubectl describe shows its last try"),
    "NotReady": _not_ready,
    "NotStarted": _look_at_pod,
    "ResizeDeferred": _resize_step,
    "ResizeInfeasible": _resize_step,
    "NodeLost": _build_fixed_step("look at its node (kubectl describe node): it does not report any more"),
    "Queue": _gate,
    "TaskRunPending": _build_fixed_step("it starts when spec.status TaskRunPending is removed"),
    "PipelineRunPending": _build_fixed_step("it starts when spec.status PipelineRunPending is removed"),
    "Image": _image,
    "OOMKilled": _raise_memory_step,
    "CrashLoop": _crash,
    "ContainerError": _look_at_pod,
    "Evicted": _look_at_pod,
    "JobFailed": _build_fixed_step("fix what its pods failed for, and create the Job anew"),
    "RunFailed": _build_fixed_step("fix what it failed for, and start a new run"),
    "ScaledToZero": _resume_step,
    "Suspended": _resume_step,
    "Paused": _resume_step,
}
