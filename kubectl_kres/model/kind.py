"""A resource type of the API."""

from __future__ import annotations

from typing import Any

from msgspec import Struct


class Kind(Struct, frozen=True):
    """A resource type of the API. ``names`` are the plural first, then the singular, then the short names.

    ``struct`` decodes lists; ``whole``, where it is given, decodes one object and what snapshots keep. Not ``listed``:
    objects are only ever read by name.
    """

    kind: str
    names: tuple[str, ...]
    group: str = ""
    version: str = "v1"
    namespaced: bool = True
    struct: Any = None
    whole: Any = None
    listed: bool = True

    @property
    def built_in(self) -> bool:
        """Whether every API server serves it: groups without a dot are its own."""
        return "." not in self.group

    @property
    def detail(self) -> Any:
        """The struct that also knows the object's field managers."""
        return self.whole or self.struct

    @property
    def plural(self) -> str:
        return self.names[0]

    @property
    def qualified(self) -> str:
        """``deployments.apps``; ``pods`` for the core group."""
        return f"{self.plural}.{self.group}" if self.group else self.plural

    @property
    def api_version(self) -> str:
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def root(self) -> str:
        """Path of the group and version: ``/api/v1`` or ``/apis/apps/v1``."""
        return f"/apis/{self.group}/{self.version}" if self.group else f"/api/{self.version}"

    def path(self, namespace: str = "", name: str = "") -> str:
        """Path to list the kind, in one namespace if given, or to get one object of it."""
        parts = [self.root]
        if self.namespaced and namespace:
            parts.append(f"namespaces/{namespace}")
        parts.append(self.plural)
        if name:
            parts.append(name)
        return "/".join(parts)
