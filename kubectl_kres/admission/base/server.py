"""The API server that admission is computed for: its version, feature gates and plugins."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from kubectl_kres.admission.base.versions import CHANGES, GATES, NEWEST, Version
from kubectl_kres.model.objects import ScopedRequirement

#: Gates that can no longer be switched off, from this minor version on.
LOCKED: Mapping[str, int] = {name: gate.locked for name, gate in GATES.items() if gate.locked is not None}


class LimitedResource(Struct, frozen=True, rename="camel"):
    """An entry of ``limitedResources`` in the ResourceQuota plugin's configuration."""

    resource: str
    api_group: str = ""
    match_contains: tuple[str, ...] = ()
    match_scopes: tuple[ScopedRequirement, ...] = ()


class Server(Struct, frozen=True):
    """Version and configuration. Gates that are not named have the version's default.

    ``binary``: the version of the program where it emulates another one, which is ``version``. ``disabled_changes``:
    changes of ``admission.base.versions`` that it is to do without, so that the cause of a difference can be found.
    """

    version: Version = NEWEST
    gates: Mapping[str, bool] = {}
    limited_resources: tuple[LimitedResource, ...] = ()
    disabled_plugins: frozenset[str] = frozenset()
    binary: Version | None = None
    disabled_changes: frozenset[str] = frozenset()

    def is_enabled(self, gate: str) -> bool:
        """Return whether a gate is on: as configured if the version knows it, else the version's default."""
        known, minor = GATES[gate], self.version[1]
        if minor < known.exists or not all(self.is_enabled(other) for other in known.requires):
            return False
        if known.locked is not None and minor >= known.locked:
            return True
        return self.gates.get(gate, known.on is not None and minor >= known.on)

    def has_change(self, change: str) -> bool:
        """Return whether it does what ``CHANGES`` of ``admission.base.versions`` names: by its gate, else by its
        version.
        """
        known = CHANGES[change]
        if change in self.disabled_changes:
            return False
        if known.gate:
            return self.is_enabled(known.gate)
        return (self.version if known.emulated else self.binary or self.version)[1] >= known.minor
