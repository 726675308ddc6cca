"""What a state is about, in words."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from kubectl_kres.reports.run_state.details import (
    ClaimNotMade,
    ContainerCrash,
    ContainerImage,
    ContainerKilled,
    ContainerSays,
    NodeChosen,
    NoResourceClaim,
    NotReady,
    NotStarted,
    NowhereToRun,
    PendingResize,
    SchedulingGates,
    SilentScheduler,
    TurnedOff,
    UnboundClaim,
)


def _killed(killed: ContainerKilled) -> str:
    under = f" under its memory limit {killed.memory_limit}" if killed.memory_limit else ""
    return f"{killed.container} was killed for memory{under}{_restarts(killed.restarts)}"


def _crash(crash: ContainerCrash) -> str:
    if not crash.reason:
        return f"{crash.container} crashes{_restarts(crash.restarts)}"
    limit = f": killed, as for memory under its limit {crash.memory_limit}" if crash.memory_limit else ""
    code = f"{crash.reason}, exit code {crash.exit_code}{limit}"
    return f"{crash.container} ended with {code}{_restarts(crash.restarts)}"


def _restarts(count: int) -> str:
    return f", {count} restart{'s' * (count != 1)} so far" if count else ""


def _not_ready(unready: NotReady) -> str:
    if not unready.containers:
        return "a readiness gate is not met"
    return f"container{'s' * (len(unready.containers) > 1)} {', '.join(unready.containers)} not ready"


def _resize(resize: PendingResize) -> str:
    left = f"{resize.node} has {resize.resource} {resize.left} left" if resize.resource else resize.message
    return f"resize {resize.kind}: {left}"


def _claim_not_made(claim: ClaimNotMade) -> str:
    what = f"the {claim.kind} for {claim.name}" if claim.kind == "ResourceClaim" else f"{claim.kind} {claim.name}"
    short_by = " and ".join(f"{amount} of {name}" for name, amount in claim.short_by)
    why = f"quota {claim.quota} is {f'short by {short_by}' if short_by else 'full'}" if claim.quota else ""
    return f"{what} is not made{f': {why}' if why else ''}"


def _unbound_claim(claim: UnboundClaim) -> str:
    match claim.cause:
        case "no pod":
            return "it is bound once a pod that uses it has a node"
        case "no default class":
            return "no StorageClass is the default and the claim names none"
        case "no such class":
            return f"StorageClass {claim.storage_class} does not exist"
        case "no volume":
            return "no volume was found or made for it"


def _no_resource_claim(missing: NoResourceClaim) -> str:
    if missing.template:
        return f"no ResourceClaim is made yet for {missing.claim} of ResourceClaimTemplate {missing.template}"
    return f"the scheduler does not take up the pod, for which a ResourceClaim ({missing.claim}) is missing"


def _gates(held: SchedulingGates) -> str:
    gates = f"gate{'s' * (len(held.gates) > 1)} {', '.join(held.gates)}" if held.gates else "a scheduling gate"
    return f"{gates}, queue {held.queue}" if held.queue else gates


def _turned_off(off: TurnedOff) -> str:
    owner = f" of {off.kind} {off.name}" if off.kind else ""
    return f"{off.how}{owner}{f' until queue {off.queue} admits it' if off.queue else ''}"


WORDS: Mapping[type, Callable[[Any], str]] = {
    ClaimNotMade: _claim_not_made,
    ContainerCrash: _crash,
    ContainerImage: lambda of: f"image {of.image} of {of.container}" if of.image else f"the image of {of.container}",
    ContainerKilled: _killed,
    ContainerSays: lambda says: f"{says.container}: {says.reason}" if says.reason else f"{says.container} needs it",
    NoResourceClaim: _no_resource_claim,
    NodeChosen: lambda chosen: (
        f"the scheduler has chosen node {chosen.node} and waits until the pod's {chosen.waits_for} are bound to it"
    ),
    NotReady: _not_ready,
    NotStarted: lambda late: f"node {late.node} has not started its containers within {late.minutes}m",
    NowhereToRun: lambda _: "no node is one that its nodeSelector, affinity and tolerations let in",
    PendingResize: _resize,
    SchedulingGates: _gates,
    SilentScheduler: lambda silent: f"no scheduler called {silent.scheduler} has answered within {silent.seconds}s",
    TurnedOff: _turned_off,
    UnboundClaim: _unbound_claim,
}
