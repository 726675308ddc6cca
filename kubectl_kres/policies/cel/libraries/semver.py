"""Semantic versions with the errors of github.com/blang/semver."""

from __future__ import annotations

from msgspec import Struct

from kubectl_kres.policies.cel.libraries.strings import go_quoted

_ALPHANUMERIC = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-")


class BadVersion(ValueError):
    """No semantic version; the text is the library's."""


class Version(Struct, frozen=True):
    """``build`` plays no part in the order."""

    major: int
    minor: int
    patch: int
    pre: tuple[str, ...] = ()

    def precedence(self) -> tuple[object, ...]:
        """Compares as versions do."""
        parts = tuple((0, int(part), "") if part.isdigit() else (1, 0, part) for part in self.pre)
        return (self.major, self.minor, self.patch, not self.pre, parts)


def _digits(text: str) -> bool:
    return text.isascii() and (not text or text.isdigit())


def _number(text: str, name: str) -> int:
    if not _digits(text):
        raise BadVersion(f"Invalid character(s) found in {name} number {go_quoted(text)}")
    if len(text) > 1 and text[0] == "0":
        raise BadVersion(f"{name.capitalize()} number must not contain leading zeroes {go_quoted(text)}")
    if not text:
        raise BadVersion('strconv.ParseUint: parsing "": invalid syntax')
    if int(text) >= 2**64:
        raise BadVersion(f"strconv.ParseUint: parsing {go_quoted(text)}: value out of range")
    return int(text)


def parse_version(text: str) -> Version:
    """Raises BadVersion."""
    if not text:
        raise BadVersion("Version string empty")
    parts = text.split(".", 2)
    if len(parts) != 3:
        raise BadVersion("No Major.Minor.Patch elements found")
    major, minor = _number(parts[0], "major"), _number(parts[1], "minor")
    rest, plus, build = parts[2].partition("+")
    number, dash, pre = rest.partition("-")
    patch = _number(number, "patch")
    released = tuple(pre.split(".")) if dash else ()
    for part in released:
        _check_pre(part)
    for part in build.split(".") if plus else ():
        if not part:
            raise BadVersion("Build meta data is empty")
        if not set(part) <= _ALPHANUMERIC:
            raise BadVersion(f"Invalid character(s) found in build meta data {go_quoted(part)}")
    return Version(major, minor, patch, released)


def _check_pre(part: str) -> None:
    if not part:
        raise BadVersion("Prerelease is empty")
    if _digits(part):
        if len(part) > 1 and part[0] == "0":
            raise BadVersion(f"Numeric PreRelease version must not contain leading zeroes {go_quoted(part)}")
    elif not set(part) <= _ALPHANUMERIC:
        raise BadVersion(f"Invalid character(s) found in prerelease {go_quoted(part)}")


def relaxed(text: str) -> Version:
    """With a ``v`` in front, short versions and leading zeros. Raises BadVersion."""
    parts = text.removeprefix("v").split(".", 2)
    for index, part in enumerate(parts):
        if len(part) > 1:
            stripped = part.lstrip("0")
            parts[index] = stripped if stripped[:1].isdigit() else "0" + stripped
    if len(parts) < 3 and any(char in parts[-1] for char in "+-"):
        raise BadVersion("short version cannot contain PreRelease/Build meta data")
    return parse_version(".".join([*parts, "0", "0"][:3] if len(parts) < 3 else parts))
