"""Field managers of objects that go into a snapshot: their trees are two thirds of what a server sends, and hardly any
of them is kept. They are read as text, and decoded where something in it may be kept.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import Any

import msgspec
from msgspec import Raw, structs

from kubectl_kres.model.meta import ManagedFields, ManagedMetadata

#: Keys of ``fieldsV1`` that resource values stand under: of pods and what was applied as such, policy, Tekton, Capsule;
#: and those that say which pool a claim is for, and which namespaces a pool.
FIELDS = frozenset(
    {
        "f:claim",
        "f:computeResources",
        "f:default",
        "f:defaultRequest",
        "f:defaults",
        "f:hard",
        "f:kubectl.kubernetes.io/last-applied-configuration",
        "f:limits",
        "f:max",
        "f:maxLimitRequestRatio",
        "f:min",
        "f:overhead",
        "f:pool",
        "f:quota",
        "f:requests",
        "f:resourceQuotas",
        "f:resources",
        "f:scopeSelector",
        "f:scopes",
        "f:selectors",
    }
)
#: What stands in the text of a tree that has one of them, unless it is written with escapes.
_ANY = re.compile(f'"f:(?:{"|".join(re.escape(key.removeprefix("f:")) for key in sorted(FIELDS))})"'.encode())
_ESCAPE = b"\\u"
_ENCODER = msgspec.json.Encoder(order="deterministic")


class ManagerText(ManagedFields, frozen=True):
    """A manager whose tree is the text that was sent, empty if there is none."""

    fields_v1: Raw = Raw()


class ManagersText(ManagedMetadata, frozen=True):
    """Metadata with the managers as text."""

    managed_fields: tuple[ManagerText, ...] | None = None


@cache
def with_text(struct: Any) -> Any:
    """The same struct with its managers as text, where it has any."""
    metadata = next((field.type for field in structs.fields(struct) if field.name == "metadata"), None)
    if metadata is not ManagedMetadata:
        return struct
    own = ("metadata", ManagersText, ManagersText())
    return msgspec.defstruct(struct.__name__, [own], bases=(struct,), frozen=True)


def kept(entry: ManagedFields) -> Any:
    """The part of an entry's tree that a snapshot keeps; None: nothing."""
    tree = entry.fields_v1
    if isinstance(tree, Raw):
        text = bytes(tree)
        return _kept_text(text) if _ANY.search(text) or _ESCAPE in text else None
    return _resource_fields(tree) or None


@lru_cache(1000)
def _kept_text(text: bytes) -> Raw | None:
    """As text. Pods of a workload come one after the other, and their trees are equal."""
    result = _resource_fields(msgspec.json.decode(text))
    return Raw(_ENCODER.encode(result)) if result else None


def _resource_fields(tree: Any) -> dict[str, Any]:
    result: dict[str, Any] = {}
    # Most of it are leaves, which are empty.
    for key, below in tree.items() if isinstance(tree, dict) else ():
        if key in FIELDS:
            result[key] = below
        elif below and (part := _resource_fields(below)):
            result[key] = part
    return result
