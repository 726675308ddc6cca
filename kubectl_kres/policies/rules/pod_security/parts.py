"""What the checks of the Pod Security Standards are made of."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from kubectl_kres.policies.rules.objects import containers_of

Raw = Mapping[str, Any]


class Violation(Struct, frozen=True):
    """``path``: a field to look at; ``wanted``: what it has to be, empty where there are several ways out."""

    reason: str
    detail: str
    path: str = ""
    wanted: str = ""


Version = Callable[[Raw, Raw], Violation | None]


class StandardCheck(Struct, frozen=True):
    """``versions``: minor version from which each form holds. ``overrides``: baseline checks that it replaces."""

    name: str
    restricted: bool
    versions: tuple[tuple[int, Version], ...]
    overrides: tuple[str, ...] = ()

    def at(self, minor: int) -> Version | None:
        """The form for a minor version; None: there is none yet."""
        result = None
        for since, version in self.versions:
            if since <= minor:
                result = version
        return result


def quoted(names: Sequence[str]) -> str:
    return ", ".join(f'"{name}"' for name in names)


def plural(word: str, count: int, several: str = "") -> str:
    return word if count == 1 else several or f"{word}s"


def containers(names: Sequence[str]) -> str:
    return f"{plural('container', len(names))} {quoted(names)}"


def context(container: Raw) -> Raw:
    return container.get("securityContext") or {}


def named(spec: Raw, bad: Callable[[Raw], bool]) -> list[str]:
    return [str(container.get("name", "")) for container in containers_of(spec) if bad(container)]


def setters_of(names: Sequence[str], *, pod: bool) -> str:
    """``pod and containers "a", "b"``."""
    return " and ".join([*(["pod"] if pod else []), *([containers(names)] if names else [])])


def _windows(spec: Raw) -> bool:
    return (spec.get("os") or {}).get("name") == "windows"


def unless_windows(check: Version) -> Version:
    return lambda metadata, spec: None if _windows(spec) else check(metadata, spec)


def user_namespace(check: Version) -> Version:
    return lambda metadata, spec: None if spec.get("hostUsers") is False else check(metadata, spec)
