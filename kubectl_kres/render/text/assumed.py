"""What was supposed where something could not be known, in words."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from kubectl_kres.provenance.journal import (
    ClaimsTakenAsNew,
    ExistsAlready,
    GateState,
    GivenStorageClass,
    LiveStart,
    NeedsScopedQuota,
    OmittedObject,
    TakenAsNew,
    UncheckedFile,
    UncountedQuota,
    UnreadClasses,
    UnusedQuota,
    WithoutWebhooks,
)

#: What becomes of a pod's fields without a feature gate.
_WITHOUT: Mapping[str, str] = {
    "PodLevelResources": "spec.resources is dropped",
    "SidecarContainers": "sidecars count as plain init containers",
    "InPlacePodVerticalScaling": "there is no resize",
    "InPlacePodLevelResourcesVerticalScaling": "pods with pod-level resources are not resized",
    "InPlacePodVerticalScalingInitContainers": "plain init containers are not resized",
}


def _left_out(left: OmittedObject) -> str:
    what = "counts without overhead" if left.overhead else "is left out"
    return f"{left.ref} {what}: {left.path or 'the server does not store it'}: {left.why}"


def _unused_quota(quota: UnusedQuota) -> str:
    beside = f" but {' and '.join(quota.but)}, which every namespace has" if quota.but else ""
    return f"{quota.ref} comes from a file: taken as enforced, with nothing used yet{beside}"


def _live_start(start: LiveStart) -> str:
    reason = "nothing says what was applied"
    if start.maker:
        state = "could not be read" if start.unread else "was not found"
        reason = f"its template is not known ({start.maker} {state})"
    if start.filled:
        reason += "; the values that its limit-ranger annotation names are taken as not written"
    return f"admission starts from the live pod: {reason}"


def _gate_state(gate: GateState) -> str:
    without = _WITHOUT[gate.gate]
    if gate.state == "absent":
        return f"Kubernetes {gate.version} has no feature gate {gate.gate}: {without}"
    taken = f"feature gate {gate.gate} is taken as {gate.state}, the default in Kubernetes {gate.version}"
    return f"{taken}; without it {without}" if gate.state == "on" else f"{taken}: {without}"


def _taken_as_new(taken: TakenAsNew) -> str:
    if not taken.counted:
        return f"{taken.ref} could not be looked up: it is taken as new"
    never = taken.ref.startswith("Secret/")
    return f"{taken.ref} is taken as new: {'Secrets are never read' if never else 'it could not be looked up'}"


def _exists_already(existing: ExistsAlready) -> str:
    if not existing.resource:
        return f"{existing.ref} exists: changing it costs no quota anything"
    name = existing.ref.partition("/")[2]
    answer = f'409 {existing.resource} "{name}" already exists'
    return f"{existing.ref} exists: creating it is answered with {answer}; this is the answer to applying the file"


def _given_class(given: GivenStorageClass) -> str:
    named = given.named
    names = "it names no storage class" if named is None else f"it names the cluster's default storage class, {named}"
    gives = f"{given.source} gives it {given.given}" if given.source else f"it gets the default one, {given.given}"
    return f"{names}: {gives}"


WORDS: Mapping[type, Callable[[Any], str]] = {
    ClaimsTakenAsNew: lambda _: "PersistentVolumeClaims could not be read: those of the next pod are taken as new",
    ExistsAlready: _exists_already,
    GateState: _gate_state,
    GivenStorageClass: _given_class,
    OmittedObject: _left_out,
    LiveStart: _live_start,
    NeedsScopedQuota: lambda needs: (
        f"GKE admits pods of {needs.priority_class} outside of kube-system only under a ResourceQuota with scope "
        "PriorityClass"
    ),
    TakenAsNew: _taken_as_new,
    UncheckedFile: lambda _: (
        "time zones, addresses of Services, options for Windows and volumes of drivers in the file are valid; all else "
        "is checked as the API server checks it"
    ),
    UncountedQuota: lambda quota: (
        f"{quota.ref} has no status yet, so it enforces nothing; the quota controller may be slow or off"
    ),
    UnreadClasses: lambda classes: f"{classes.kind} objects could not be read: a named class is taken to exist",
    UnusedQuota: _unused_quota,
    WithoutWebhooks: lambda without: (
        f"the figures for today leave out what webhooks add to new pods: {', '.join(without.containers)}"
    ),
}
