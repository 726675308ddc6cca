"""Where the server's decoder stops: the first text, in the order that kubectl sends fields, that is no quantity."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from kubectl_kres.admission.base.draft import Unparsable
from kubectl_kres.errors import QuantityError
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
    """What the server names in its 400; None if every quantity of the object parses.

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
