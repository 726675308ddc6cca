"""What a resize changes in the containers that run, and which of them restart for it."""

from __future__ import annotations

from msgspec import Struct

from kubectl_kres.admission.base.draft import SIDES, Draft, Quantities, Side
from kubectl_kres.admission.base.outcome import Outcome
from kubectl_kres.admission.base.server import Server
from kubectl_kres.admission.pod.defaulting import decoded_draft
from kubectl_kres.admission.resize.resize_rules import RESIZABLE
from kubectl_kres.model.pod import Pod
from kubectl_kres.quantity import Quantity


class Change(Struct, frozen=True, omit_defaults=True, rename="camel"):
    """One request or limit that a resize changes. ``before``, ``after`` absent: there is none.

    ``restart``: the container's resizePolicy wants a restart for it. A container without a limit of its own has the pod
    level's.
    """

    path: str
    container: str
    resource: str
    side: Side
    before: str | None = None
    after: str | None = None
    restart: bool = False


def changes(old: Pod, outcome: Outcome, server: Server) -> tuple[Change, ...]:
    """What an outcome of ``resize`` changes in the containers that run, and which changes restart them.

    Source: kuberuntime_manager.go computePodResizeAction.
    """
    before, after = decoded_draft(old, server), outcome.draft
    policies = {
        (raw.name, resize_policy.resource_name): resize_policy.restart_policy == "RestartContainer"
        for raw in (*(old.spec.containers or ()), *(old.spec.init_containers or ()))
        for resize_policy in raw.resize_policy or ()
    }
    slots = zip((*before.containers, *before.inits), (*after.containers, *after.inits), strict=False)
    return tuple(
        Change(is_.at(side, resource), is_.name, resource, side, _shown(values[0]), _shown(values[1]),
               policies.get((is_.name, resource), False))
        for was, is_ in slots for resource in RESIZABLE for side in reversed(SIDES)
        for values in [(_effective(before, was.side(side), side, resource),
                        _effective(after, is_.side(side), side, resource))]
        if values[0] != values[1]
    )  # fmt: skip


def _effective(draft: Draft, values: Quantities, side: Side, resource: str) -> Quantity | None:
    own = values.get(resource)
    if side == "limits" and not own and draft.pod is not None:
        return draft.pod.limits.get(resource)
    return own


def _shown(quantity: Quantity | None) -> str | None:
    return None if quantity is None else str(quantity)
