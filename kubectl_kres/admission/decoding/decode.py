"""Where the server's decoder stops: the first text, in the order that kubectl sends fields, that is no quantity.

What the server answers to fields that it does not know where it is reported to be strict, as kubectl tells it.

Fields of a pod as sent that a server drops because it knows their feature not yet, or has it switched off.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from kubectl_kres.admission.base.draft import Unparsable
from kubectl_kres.admission.base.outcome import Finding, Refusal, Server
from kubectl_kres.errors import QuantityError
from kubectl_kres.model.objects import Raw, items, mapping, pointer, text
from kubectl_kres.quantity import from_json

#: Where quantities are: fields of an object, ``[each item of a list]``, a resource list or a single quantity.
_Tree = Mapping[str, Any] | list[Any] | str

_LIST, _ONE = "list", "one"
_SIDES = {"limits": _LIST, "requests": _LIST}
_DIVISOR = {"resourceFieldRef": {"divisor": _ONE}}
_CONTAINERS = [{"env": [{"valueFrom": _DIVISOR}], "resources": _SIDES}]
_FILES = {"items": [_DIVISOR]}
_VOLUMES = [
    {
        "downwardAPI": _FILES,
        "emptyDir": {"sizeLimit": _ONE},
        "ephemeral": {"volumeClaimTemplate": {"spec": {"resources": _SIDES}}},
        "projected": {"sources": [{"downwardAPI": _FILES}]},
    }
]
_ITEM_FIELDS = ("default", "defaultRequest", "max", "maxLimitRequestRatio", "min")

_POD: _Tree = {
    "spec": {
        **dict.fromkeys(("containers", "ephemeralContainers", "initContainers"), _CONTAINERS),
        "overhead": _LIST,
        "resources": _SIDES,
        "volumes": _VOLUMES,
    }
}
_TEMPLATE: _Tree = {"spec": {"template": _POD}}

_TREES: Mapping[str, _Tree] = {
    "Pod": _POD,
    **dict.fromkeys(("Deployment", "ReplicaSet", "DaemonSet", "Job", "ReplicationController"), _TEMPLATE),
    "StatefulSet": {"spec": {"template": _POD, "volumeClaimTemplates": [{"spec": {"resources": _SIDES}}]}},
    "CronJob": {"spec": {"jobTemplate": _TEMPLATE}},
    "PodTemplate": {"template": _POD},
    "LimitRange": {"spec": {"limits": [dict.fromkeys(_ITEM_FIELDS, _LIST)]}},
    "ResourceQuota": {"spec": {"hard": _LIST}, "status": {"hard": _LIST, "used": _LIST}},
    "PersistentVolumeClaim": {
        "spec": {"resources": _SIDES},
        "status": {"allocatedResources": _LIST, "capacity": _LIST},
    },
}


def first_unparsable(raw: Mapping[str, Any], kind: str) -> Unparsable | None:
    """Return what the server names in its 400; None if every quantity of the object parses.

    Other clients may send fields in another order than sorted. Source: json decoding into apis/core/v1 types, which
    ends at the first error.
    """
    tree = _TREES.get(kind)
    return None if tree is None else next(_faults(raw, tree, ""), None)


def _faults(value: Any, tree: _Tree, path: str) -> Iterator[Unparsable]:
    if tree == _ONE:
        yield from _fault(value, path)
    elif isinstance(tree, list):
        for index, item in enumerate(value if isinstance(value, list | tuple) else ()):
            yield from _faults(item, tree[0], f"{path}[{index}]")
    elif isinstance(value, Mapping):
        for key in sorted(value):
            if tree == _LIST:
                yield from _fault(value[key], f"{path}[{key}]")
            elif isinstance(tree, Mapping) and key in tree:
                yield from _faults(value[key], tree[key], f"{path}.{key}" if path else key)


def _fault(value: Any, path: str) -> Iterator[Unparsable]:
    try:
        from_json(value)
    except QuantityError as error:
        yield Unparsable(path, error)


_DIGITS = re.compile(r"(\d+)")


def strict_refusal(raw: Mapping[str, Any], kind: str, unknown: Sequence[str]) -> Refusal:
    """400 of kubectl's default ``--validate=strict``; ``unknown``: the texts of ``unknown_fields``, at least one.

    Source: apiserver endpoints/handlers/create.go.
    """
    texts = sorted(unknown, key=_order)
    message = f"strict decoding error: {', '.join(texts)}"
    findings = tuple(Finding(text, "kubectl/unknown-field", _path(text), resource=kind) for text in texts)
    text = f'{kind} in version "{version_of(raw)}" cannot be handled as a {kind}: {message}'
    return Refusal(400, "BadRequest", text, findings)


def version_of(raw: Mapping[str, Any]) -> str:
    """``v1`` of ``apps/v1``."""
    return str(raw.get("apiVersion", "v1")).rpartition("/")[2]


def _order(path: str) -> tuple[tuple[bool, int, str], ...]:
    """By name, and by number where they are numbers: kubectl sends fields in the order of their names."""
    parts = _DIGITS.split(path)
    return tuple((part.isdigit(), int(part) if part.isdigit() else 0, part) for part in parts)


def _path(text: str) -> str:
    return text.removeprefix("unknown field ").strip('"')


#: Sources of a projected volume, and the change of ``admission.base.versions`` without which the server drops them.
GATED_SOURCES: Mapping[str, str] = {
    "clusterTrustBundle": "volume/cluster-trust-bundle",
    "podCertificate": "volume/pod-certificate",
}


def without_gated(raw: Raw, server: Server) -> Raw:
    """Return the pod without claims, container restart policies and volumes of images that the server has not.

    The very same where the server knows all. Source: api/pod/util.go dropDisabledFields.
    """
    raw = with_known_volumes(raw, server)
    claims, rules = server.is_enabled("DynamicResourceAllocation"), server.is_enabled("ContainerRestartRules")
    if claims and rules:
        return raw
    kept = dict(mapping(raw, "spec"))
    if not claims:
        kept.pop("resourceClaims", None)
    for key in ("containers", "initContainers"):
        if isinstance(kept.get(key), list):
            kept[key] = [_kept_raw(item, claims=claims, rules=rules, init=key != "containers") for item in kept[key]]
    return {**raw, "spec": kept}


def _kept_raw(raw: Raw, *, claims: bool, rules: bool, init: bool) -> Raw:
    kept = dict(raw)
    if not claims and "claims" in mapping(raw, "resources"):
        kept["resources"] = {key: value for key, value in mapping(raw, "resources").items() if key != "claims"}
    if not rules:
        kept.pop("restartPolicyRules", None)
        if not (init and raw.get("restartPolicy") == "Always"):
            kept.pop("restartPolicy", None)
    return kept


def with_known_volumes(raw: Raw, server: Server) -> Raw:
    """Return a pod or template as sent, without volumes of images, what mounts them, and projected sources that are
    gated.

    Source: api/pod/util.go dropImageVolumes, dropDisabledClusterTrustBundleProjection.
    """
    raw = _with_known_sources(raw, server)
    spec = mapping(raw, "spec")
    names = {text(item, "name") for item in items(spec, "volumes") if pointer(item, "image") is not None}
    if server.is_enabled("ImageVolume") or not names:
        return raw
    kept = {**spec, "volumes": [item for item in items(spec, "volumes") if pointer(item, "image") is None]}
    for key in ("containers", "initContainers", "ephemeralContainers"):
        if isinstance(spec.get(key), list):
            kept[key] = [
                {
                    **item,
                    "volumeMounts": [
                        mount for mount in items(item, "volumeMounts") if text(mount, "name") not in names
                    ],
                }
                for item in items(spec, key)
            ]
    return {**raw, "spec": kept}


def _with_known_sources(raw: Raw, server: Server) -> Raw:
    spec = mapping(raw, "spec")
    unknown = {key for key, change in GATED_SOURCES.items() if not server.has_change(change)}
    sources = [part for volume in items(spec, "volumes") for part in items(mapping(volume, "projected"), "sources")]
    if not any(unknown & part.keys() for part in sources):
        return raw
    return {**raw, "spec": {**spec, "volumes": [_with_sources(item, unknown) for item in items(spec, "volumes")]}}


def _with_sources(volume: Raw, unknown: set[str]) -> Raw:
    projected = mapping(volume, "projected")
    if not projected:
        return volume
    kept = [{key: value for key, value in part.items() if key not in unknown} for part in items(projected, "sources")]
    return {**volume, "projected": {**projected, "sources": kept}}


def with_known_strategy(raw: Raw, server: Server) -> Raw:
    """Return a StatefulSet as sent without maxUnavailable where the server drops it; anything else as it is.

    Source: registry/apps/statefulset/strategy.go dropStatefulSetDisabledFields.
    """
    rolling = mapping(mapping(mapping(raw, "spec"), "updateStrategy"), "rollingUpdate")
    if (
        raw.get("kind") != "StatefulSet"
        or "maxUnavailable" not in rolling
        or server.has_change("statefulset/max-unavailable")
    ):
        return raw
    spec = mapping(raw, "spec")
    kept = {key: value for key, value in rolling.items() if key != "maxUnavailable"}
    return {**raw, "spec": {**spec, "updateStrategy": {**mapping(spec, "updateStrategy"), "rollingUpdate": kept}}}
