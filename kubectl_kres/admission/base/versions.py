"""The Kubernetes versions whose rules are known, and the one to use for a given server."""

from __future__ import annotations

import re

from kubectl_kres.versions.changes import AREAS
from kubectl_kres.versions.changes import Version as Version  # noqa: PLC0414, passed on

OLDEST: Version = (1, 27)
NEWEST: Version = (1, 37)

_VERSION = re.compile(r"v?(\d{1,4})\.(\d{1,4})(?:\D.*)?")
_EMULATED = re.compile(r".* \(emulates (\d{1,4}\.\d{1,4})\)")


def parse(text: str) -> Version | None:
    """Major and minor of a ``gitVersion`` such as ``v1.33.2-gke.100``, or of ``1.33``; None if it is neither.

    Of a server that emulates another version the rules are those of that one.
    """
    emulated = _EMULATED.fullmatch(text)
    match = _VERSION.fullmatch(emulated[1] if emulated else text)
    return (int(match[1]), int(match[2])) if match else None


def nearest(text: str) -> tuple[Version, str]:
    """The version whose rules are used for a server's ``gitVersion``, and what that supposes; empty if nothing."""
    asked = parse(text)
    if asked is None:
        return NEWEST, f"the server's version is not known: the rules of Kubernetes {shown(NEWEST)} are used"
    return max(OLDEST, min(NEWEST, asked)), beyond_rules(text)


def beyond_rules(text: str) -> str:
    """What is said of answers for a server older or newer than the rules; empty for any other one."""
    asked = parse(text)
    if asked is None or OLDEST <= asked <= NEWEST:
        return ""
    age, used = ("older", OLDEST) if asked < OLDEST else ("newer", NEWEST)
    text = f"Kubernetes {shown(asked)} is {age} than the rules known here: those of {shown(used)} are used"
    return f"{text}; answers may differ in {', '.join(AREAS[:-1])} and {AREAS[-1]}"


def binary(text: str) -> Version | None:
    """Of a server that emulates another version its own, as far as rules of it are known; None for any other one."""
    emulated, own = _EMULATED.fullmatch(text), _VERSION.fullmatch(text.partition(" ")[0])
    return min(NEWEST, (int(own[1]), int(own[2]))) if emulated and own else None


def emulating(git_version: str, major: str, minor: str) -> str:
    """A ``gitVersion`` with what the server says that it emulates, if that is another version."""
    numbers = f"{major}.{minor}"
    other = parse(git_version) is not None and parse(numbers) not in {None, parse(git_version)}
    return f"{git_version} (emulates {numbers})" if other else git_version


def shown(version: Version) -> str:
    """``1.36``."""
    return f"{version[0]}.{version[1]}"
