"""What the events of a pod say of claims that could not be made for it: of an ephemeral volume, of a template for
devices.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.model.pod import Pod
from kubectl_kres.model.workload import Event
from kubectl_kres.quantity import Quantity, parse
from kubectl_kres.reports.common.explanation import Reason, RunState

#: By the reason of the event: the reason why the pod waits, what could not be made, and how the message begins.
#: Source: pkg/controller/volume/ephemeral/controller.go syncHandler, pkg/controller/resourceclaim/controller.go
#: syncPod.
_EVENTS: Mapping[str, tuple[Reason, str, re.Pattern[str]]] = {
    "FailedBinding": (
        "MissingVolumeClaim", "PersistentVolumeClaim", re.compile(r"ephemeral volume \S+: create PVC ([^\s:]+): ")
    ),
    "FailedResourceClaimCreation": (
        "MissingResourceClaim", "ResourceClaim", re.compile(r"PodResourceClaim ([^\s:]+): (?:create ResourceClaim : )?")
    ),
}  # fmt: skip
_EXCEEDED = re.compile(r"exceeded quota: ([^\s,]+), requested: (\S+), used: (\S+), limited: (\S+)")


def claim_not_made(pod: Pod, events: Sequence[Event]) -> RunState | None:
    """Return the state of a pod without a node that waits for a claim, from the newest event that says why the claim is
    not made; None where no event does.

    ``by``: the quota that has no room for it; empty for another reason, which ``message`` then says.
    """
    about = [event for event in events if event.reason in _EVENTS]
    if not about:
        return None
    event = max(about, key=last_time)
    reason, kind, pattern = _EVENTS[event.reason]
    match = pattern.search(event.message)
    if match is None:
        return None
    message = event.message[match.end() :]
    quota, lacking = _shortage(message)
    of_volume = kind == "PersistentVolumeClaim"
    what = f"{kind} {match[1]}" if of_volume else f"the {kind} for {match[1]}"
    # What a ResourceClaim would be called nobody knows: its name is made anew with each try.
    missing = ObjectRef(kind, match[1], pod.metadata.namespace) if of_volume else None
    why = f"quota {quota} is short by {lacking}" if lacking else f"quota {quota} is full" if quota else ""
    return RunState(
        "waits",
        reason,
        pod.metadata.creation_timestamp or "",
        object=missing,
        by=quota,
        message=message,
        detail=f"{what} is not made{f': {why}' if why else ''}",
    )


def _shortage(message: str) -> tuple[str, str]:
    """Return the quota that is exceeded, and what it is short by: ``1Gi of requests.storage``; empty where a sentence
    does not say.
    """
    match = _EXCEEDED.search(message)
    if match is None:
        return "", ""
    asked, used, hard = (dict(_amounts(text)) for text in match.groups()[1:])
    lacking = {
        name: Quantity(asked[name].nano + used[name].nano - hard[name].nano, hard[name].format)
        for name in asked.keys() & used.keys() & hard.keys()
    }
    texts = (f"{amount} of {name}" for name, amount in sorted(lacking.items()) if amount.nano > 0)
    return match[1], " and ".join(texts)


def _amounts(text: str) -> Iterator[tuple[str, Quantity]]:
    """Yield names and amounts of ``name=amount,name=amount``; the last one may be cut."""
    for part in text.split(","):
        name, _, amount = part.partition("=")
        try:
            yield name, parse(amount)
        except ValueError:
            continue


def last_time(event: Event) -> str:
    """Return when an event was last seen; empty where it does not say."""
    observed = event.series.last_observed_time if event.series else None
    return observed or event.last_timestamp or event.event_time or ""
