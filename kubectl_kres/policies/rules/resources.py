"""The two forms of an object for plugins: whole, as expressions see it once decoded, and the draft that LimitRanges and
quotas work on.

Expressions see it so: ``has(object.spec.hostNetwork)`` is false for a pod that says false. Source: the tags of
k8s.io/api types; apimachinery pkg/runtime/converter.go, which fills in what expressions see.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

from kubectl_kres.admission.base.draft import Draft, Slot, draft_pod
from kubectl_kres.admission.base.server import Server
from kubectl_kres.admission.decoding import first_mistyped, first_unparsable, table, with_known_strategy
from kubectl_kres.admission.limitrange import ANNOTATION
from kubectl_kres.admission.pod.defaulting import default_pod
from kubectl_kres.errors import QuantityError
from kubectl_kres.model.kinds import BY_KIND
from kubectl_kres.model.objects import ObjectRef, decode_object
from kubectl_kres.model.pod import Pod
from kubectl_kres.policies.rules.objects import host_ports, template_of, with_defaults
from kubectl_kres.quantity import stored_quantity

#: Fields besides resources that hold a quantity; they are written in its own notation, too.
_AMOUNTS = frozenset({"sizeLimit", "divisor"})


def decoded_copy(raw: Mapping[str, Any]) -> dict[str, Any]:
    """Return a copy. Of a kind or version that is in no table only what is null goes."""
    kind = str(raw.get("kind", ""))
    known_kind, fields = BY_KIND.get(kind), table().types.get(kind, {})
    # A type of that name that is no object, as ResourceClaim in the resources of containers, is another one.
    if (
        known_kind is None
        or "metadata" not in fields
        or raw.get("apiVersion", known_kind.api_version) != known_kind.api_version
    ):
        return {key: _copy_value(value) for key, value in raw.items() if value is not None}
    canonical: dict[str, Any] = _struct(raw, kind)
    return canonical


def _struct(value: Mapping[str, Any], name: str) -> dict[str, Any]:
    fields, omitted, leaves = table().types[name], table().omitted.get(name, ()), table().leaves.get(name, {})
    out: dict[str, Any] = {}
    for key, item in value.items():
        inner = fields.get(key)
        if inner is None or item is None:
            continue
        if key in _AMOUNTS and not inner:
            out[key] = _amount(item)
        elif leaves.get(key) == "map[string]string" and isinstance(item, Mapping):
            out[key] = {entry: "" if text is None else text for entry, text in item.items()}
        elif inner.startswith("[]") and isinstance(item, list | tuple):
            out[key] = [_item(item, inner[2:]) for item in item]
        else:
            out[key] = _item(item, inner)
        if key in omitted and not out[key]:
            del out[key]
    return out


def _item(value: Any, name: str) -> Any:
    return _struct(value, name) if name and isinstance(value, Mapping) else _copy_value(value)


def _amount(value: Any) -> Any:
    """Return the quantity as stored; one that does not parse as it is, since it was reported before."""
    try:
        return str(stored_quantity(value))
    except QuantityError:
        return value


def _copy_value(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _copy_value(item) for key, item in value.items()}
    return [_copy_value(item) for item in value] if isinstance(value, list | tuple) else value


Raw = dict[str, Any]


def draft_of(pod: Mapping[str, Any], server: Server) -> Draft:
    """Return the pod's quantities as decoded, without further defaults. Raises Unparsable."""
    return draft_pod(decode_object(pod, Pod), server)


#: From here on templates keep their ports as written: those of the host's network are filled in in pods.
_PORTS_OF_PODS_ALONE = 28


def canonical_object(raw: Mapping[str, Any], server: Server) -> Raw:
    """Return the object as the server has it once it is decoded: every default, quantities in its notation.

    Raises Unparsable.
    """
    canonical = with_defaults(decoded_copy(raw))
    if canonical.get("kind") != "Pod":
        _canonical_template(canonical)
        if server.version[1] < _PORTS_OF_PODS_ALONE and (template := template_of(canonical)) is not None:
            host_ports(dict(template.get("spec") or {}))
        return dict(with_known_strategy(canonical, server))
    draft = draft_of(canonical, server)
    default_pod(draft, ObjectRef("Pod", ""), None)
    return with_draft(canonical, draft)


def undecodable(raw: Mapping[str, Any]) -> str | None:
    """Return what the decoder says of the object, which it then does not take; None: it does."""
    kind = str(raw.get("kind", ""))
    fault = first_unparsable(raw, kind)
    if fault is not None:
        return fault.error.message
    wrong = first_mistyped(raw, kind)
    return None if wrong is None else wrong.text


def with_draft(canonical: Mapping[str, Any], draft: Draft) -> Raw:
    """Return a copy of the whole pod with the draft's quantities, annotation and priority class."""
    pod: Raw = copy.deepcopy(dict(canonical))
    spec = pod.setdefault("spec", {})
    for key, slots in (("containers", draft.containers), ("initContainers", draft.inits)):
        for container, slot in zip(spec.get(key) or (), slots, strict=True):
            container["resources"] = _format_resources(slot, container.get("resources") or {})
    if draft.pod is not None:
        spec["resources"] = _format_resources(draft.pod, spec.get("resources") or {})
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


def _format_resources(slot: Slot, before: Mapping[str, Any]) -> Raw:
    out: Raw = {"claims": before["claims"]} if before.get("claims") else {}
    for side, values in (("limits", slot.limits), ("requests", slot.requests)):
        if values:
            out[side] = {name: str(quantity.round_up()) for name, quantity in values.items()}
    return out


def _canonical_template(canonical: Raw) -> None:
    template = template_of(canonical)
    spec: Any = (template or {}).get("spec") or {}
    holders = [
        container.get("resources") for key in ("containers", "initContainers") for container in spec.get(key) or ()
    ]
    own_spec = canonical.get("spec") or {}
    if canonical.get("kind") == "PersistentVolumeClaim":
        holders.append(own_spec.get("resources"))
    if canonical.get("kind") == "ResourceQuota":
        holders.append({"hard": own_spec.get("hard")})
    holders.extend((claim.get("spec") or {}).get("resources") for claim in own_spec.get("volumeClaimTemplates") or ())
    for holder in holders:
        for side in ("limits", "requests", "hard"):
            for name, value in ((holder or {}).get(side) or {}).items():
                holder[side][name] = str(stored_quantity(value))
