"""What a system adds to the reading of manifests: other versions of its kinds, and what its webhooks would say."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, cast

from kubectl_kres.systems import registered_systems

#: A manifest, decoded.
Raw = Mapping[str, Any]


class ManifestSystem:
    """The hooks of a system; each adds nothing unless a subclass says otherwise."""

    #: Kinds whose objects make pods.
    makes_pods: frozenset[str] = frozenset()
    #: Names of the ConfigMaps that configure it.
    configuration: frozenset[str] = frozenset()
    #: The API group of its kinds, whose objects are kept as they were written, too.
    group = ""

    def to_stored_version(self, raw: Raw) -> Raw:
        """Return the object in the version that is stored."""
        return raw

    def misnamed_fields(self, raw: Raw) -> Iterator[tuple[tuple[str | int, ...], str]]:
        """Fields of another version, each with its path and its name in this one."""
        yield from ()

    def empty_items(self, raw: Any) -> Any:
        """Return the object with empty values for nulls in lists, where its decoder takes them as such."""
        return raw

    def fault(self, raw: Raw, field: str) -> str:
        """Return what its webhook would say of an object whose ``field`` is of a wrong type; empty: nothing."""
        return ""


def systems() -> tuple[ManifestSystem, ...]:
    """Return all of them, in the order of registration."""
    return cast("tuple[ManifestSystem, ...]", registered_systems("manifests"))


def system_of(raw: Raw) -> ManifestSystem:
    """Return the system whose kinds the object is of; one without hooks for any other."""
    group = str(raw.get("apiVersion", "")).partition("/")[0]
    return next((system for system in systems() if system.group == group), _NONE)


_NONE = ManifestSystem()
