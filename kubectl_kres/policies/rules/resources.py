"""A pod's quantities between the whole object and the draft that the engine of LimitRanges and quotas works on."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

from kubectl_kres.admission.base.draft import Draft, Slot, draft_pod
from kubectl_kres.admission.base.server import Server
from kubectl_kres.admission.decoding.decode import first_unparsable
from kubectl_kres.admission.decoding.gated_fields import with_known_strategy
from kubectl_kres.admission.decoding.mistyped import first_mistyped
from kubectl_kres.admission.limitrange.limitrange_admission import ANNOTATION
from kubectl_kres.admission.pod.defaulting import default_pod
from kubectl_kres.model.meta import ObjectRef
from kubectl_kres.model.pod import Pod
from kubectl_kres.model.raw import decoded
from kubectl_kres.policies.rules.objects import defaulted, template_of
from kubectl_kres.policies.rules.received import received
from kubectl_kres.quantity import stored

Raw = dict[str, Any]


def draft_of(pod: Mapping[str, Any], server: Server) -> Draft:
    """The pod's quantities as decoded, without further defaults. Raises Unparsable."""
    return draft_pod(decoded(pod, Pod), server)


def settled(raw: Mapping[str, Any], server: Server) -> Raw:
    """The object as the server has it once it is decoded: every default, quantities in its notation.

    Raises Unparsable.
    """
    whole = defaulted(received(raw))
    if whole.get("kind") != "Pod":
        _canonical_template(whole)
        return dict(with_known_strategy(whole, server))
    draft = draft_of(whole, server)
    default_pod(draft, ObjectRef("Pod", ""), None)
    return with_draft(whole, draft)


def undecodable(raw: Mapping[str, Any]) -> str | None:
    """What the decoder says of the object, which it then does not take; None: it does."""
    kind = str(raw.get("kind", ""))
    fault = first_unparsable(raw, kind)
    if fault is not None:
        return fault.error.message
    wrong = first_mistyped(raw, kind)
    return None if wrong is None else wrong.text


def with_draft(whole: Mapping[str, Any], draft: Draft) -> Raw:
    """A copy of the whole pod with the draft's quantities, annotation and priority class."""
    pod: Raw = copy.deepcopy(dict(whole))
    spec = pod.setdefault("spec", {})
    for key, slots in (("containers", draft.containers), ("initContainers", draft.inits)):
        for container, slot in zip(spec.get(key) or (), slots, strict=True):
            container["resources"] = _shown(slot, container.get("resources") or {})
    if draft.pod is not None:
        spec["resources"] = _shown(draft.pod, spec.get("resources") or {})
    else:
        spec.pop("resources", None)
    if draft.overhead:
        spec["overhead"] = {name: str(quantity) for name, quantity in draft.overhead.items()}
    if draft.annotation is not None:
        metadata = pod.setdefault("metadata", {})
        metadata["annotations"] = {**(metadata.get("annotations") or {}), ANNOTATION: draft.annotation}
    if draft.priority_class:
        spec["priorityClassName"] = draft.priority_class
    return pod


def _shown(slot: Slot, before: Mapping[str, Any]) -> Raw:
    out: Raw = {"claims": before["claims"]} if before.get("claims") else {}
    for side, values in (("limits", slot.limits), ("requests", slot.requests)):
        if values:
            out[side] = {name: str(quantity.rounded()) for name, quantity in values.items()}
    return out


def _canonical_template(whole: Raw) -> None:
    template = template_of(whole)
    spec: Any = (template or {}).get("spec") or {}
    places = [
        container.get("resources") for key in ("containers", "initContainers") for container in spec.get(key) or ()
    ]
    own = whole.get("spec") or {}
    if whole.get("kind") == "PersistentVolumeClaim":
        places.append(own.get("resources"))
    if whole.get("kind") == "ResourceQuota":
        places.append({"hard": own.get("hard")})
    places.extend((claim.get("spec") or {}).get("resources") for claim in own.get("volumeClaimTemplates") or ())
    for place in places:
        for side in ("limits", "requests", "hard"):
            for name, value in ((place or {}).get(side) or {}).items():
                place[side][name] = str(stored(value))
