"""The next step for a state, in words."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from shlex import quote
from typing import Any

from kubectl_kres.render.text.sentences import sentence_text
from kubectl_kres.reports.common.explanation import Reason
from kubectl_kres.reports.run_state.next_steps import AskSuspender, BindClaim, FollowPod, MatchNode, NextStep, SeeFix

#: Who removes the scheduling gates and suspensions of these, and how to see what it thinks.
_QUEUES: Mapping[str, str] = {
    "Kueue": "Kueue lets it go on when its queue admits it: kubectl get workloads.kueue.x-k8s.io -n {namespace} says "
    "why it does not yet",
    "AAQ": "the Application Aware Quota controller removes the gate when an ApplicationAwareResourceQuota has room: "
    "kubectl get applicationawareresourcequotas -n {namespace}",
}


def _create(step: NextStep) -> str:
    if step.by:
        see = f"kubectl describe quota {step.by} -n {step.namespace}"
        return f"make room in quota {step.by}, and the claim is made: {see}"
    if step.reason == "MissingResourceClaim" and step.object is None:
        see = f"kubectl describe pod/{step.pod} -n {step.namespace} says why"
        return f"it is made when the ResourceClaimTemplate is there and its quotas have room; {see}"
    missing = f"{step.object.kind} {step.object.name}" if step.object is not None else "what is missing"
    return f"create {missing} in namespace {step.namespace}, or correct the name in the pod"


def _bind_claim(step: NextStep) -> str:
    claim = f"PersistentVolumeClaim {step.object.name}" if step.object is not None else "its PersistentVolumeClaims"
    name = f"/{step.object.name}" if step.object is not None else ""
    see = f"kubectl describe pvc{name} -n {step.namespace}"
    if step.storage_class:
        return f"create StorageClass {step.storage_class}, or make {claim} anew with a class that is there ({see})"
    return f"give {claim} a StorageClass, or create a matching PersistentVolume ({see})"


def _gate(step: NextStep) -> str:
    known = _QUEUES.get(step.by)
    if known is not None:
        return known.format(namespace=step.namespace)
    return f"ask the owner of the gate ({step.by}): the scheduler waits until the gate is removed from the pod"


def _raise_memory(step: NextStep) -> str:
    whose = f" of container {step.container}" if step.container else ""
    above = f" above {step.memory_limit}" if step.memory_limit else ""
    return f"raise the memory limit{whose}{above}, or make the program use less"


def _resize(step: NextStep) -> str:
    left = f"{step.by} has {step.resource} {step.left} left for it" if step.resource else f"{step.by} has no room"
    pod = f"kubectl kres explain pod/{step.pod} -n {step.namespace} --resize"
    if step.reason == "ResizeInfeasible":
        return f"{left}, and never more: resize it to less ({pod} tries a patch), or let it start anew on a larger node"
    return f"{left}: resize it to that ({pod} tries a patch), or free room there; the kubelet tries again by itself"


def _crash(step: NextStep) -> str:
    which = f"-c {step.container}" if step.ended and step.container else "--previous"
    logs = f"kubectl logs {step.pod} -n {step.namespace} {which}"
    if step.memory_limit:
        return f"raise its memory limit above {step.memory_limit}, if that killed it; {logs} shows what it did last"
    return f"{logs} says why"


def _not_ready(step: NextStep) -> str:
    if not step.pod:
        return f"kubectl get pods -n {step.namespace} shows which pods are not ready"
    pod = f"kubectl describe pod/{step.pod} -n {step.namespace}, kubectl logs {step.pod}"
    return f"look at its readiness probe: {pod}"


def _look_at_pod(step: NextStep) -> str:
    if step.pod:
        return f"kubectl describe pod/{step.pod} -n {step.namespace}"
    return f"kubectl get events -n {step.namespace}"


def _fixed(text: str) -> Callable[[NextStep], str]:
    return lambda _: text


_STEPS: Mapping[Reason, Callable[[NextStep], str]] = {
    "NoNode": _fixed("its explanation says what lets a node take it, tried on each node"),
    "SchedulingGate": _gate,
    "NoScheduler": lambda step: f"start the scheduler {step.by}, or set spec.schedulerName to one that runs",
    "MissingVolumeClaim": _create,
    "UnboundVolumeClaim": _bind_claim,
    "MissingResourceClaim": _create,
    "ResourceClaimNotAllocated": _fixed(
        "free a device, or let the ResourceClaim ask for one that a node has (kubectl get resourceslices)"
    ),
    "MissingVolume": _look_at_pod,
    "MissingConfigMap": _create,
    "MissingSecret": _create,
    "MissingServiceAccount": _create,
    "AffinityAssistant": _fixed(
        "the pod has to run beside its affinity assistant: let that StatefulSet's pod come, or set the coschedule flag "
        "of Tekton's feature-flags to disabled"
    ),
    "NotCreated": _fixed("wait for its controller; kubectl describe shows its last try"),
    "NotReady": _not_ready,
    "NotStarted": _look_at_pod,
    "ResizeDeferred": _resize,
    "ResizeInfeasible": _resize,
    "NodeLost": _fixed("look at its node (kubectl describe node): it does not report any more"),
    "Queue": _gate,
    "TaskRunPending": _fixed("it starts when spec.status TaskRunPending is removed"),
    "PipelineRunPending": _fixed("it starts when spec.status PipelineRunPending is removed"),
    "Image": lambda step: (
        f"correct {sentence_text(step.image) or 'the image'}, or the pull secret and registry that it comes from"
    ),
    "OOMKilled": _raise_memory,
    "CrashLoop": _crash,
    "ContainerError": _look_at_pod,
    "Evicted": _look_at_pod,
    "JobFailed": _fixed("fix what its pods failed for, and create the Job anew"),
    "RunFailed": _fixed("fix what it failed for, and start a new run"),
    "ScaledToZero": _fixed("if it is to run: set spec.replicas above 0"),
    "Suspended": _fixed("if it is to run: set spec.suspend to false"),
    "Paused": _fixed("if it is to run: set spec.paused to false (kubectl rollout resume)"),
}


def _follow_pod(step: FollowPod) -> str:
    page = f"kubectl kres explain pod/{quote(step.pod)} -n {quote(step.namespace)}"
    return f"it has to run beside pod {step.pod}, which finds no node itself: {page} says why"


def _ask_suspender(step: AskSuspender) -> str:
    get = f"kubectl get {step.kind.lower()} {step.name} -o yaml"
    return f"it is {step.kind} {step.name} that suspends it: {get} shows why"


def _volume(step: BindClaim) -> str:
    volume = "create a PersistentVolume that fits it"
    if step.cause == "no default class":
        return f"set spec.storageClassName to a StorageClass, mark one as the default, or {volume}"
    return f"create StorageClass {step.storage_class}, or {volume}" if step.storage_class else volume


WORDS: Mapping[type, Callable[[Any], str]] = {
    AskSuspender: _ask_suspender,
    BindClaim: _volume,
    FollowPod: _follow_pod,
    MatchNode: lambda _: (
        "if it is to run: label a node so that it matches, or change nodeSelector, affinity or tolerations"
    ),
    NextStep: lambda step: _STEPS[step.reason](step),
    SeeFix: lambda _: "see its fix: kubectl kres explain",
}
