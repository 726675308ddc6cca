"""Changes between versions of Capsule, as far as answers depend on them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, Literal, NamedTuple

Area = Literal["rules", "classes", "shared quotas", "tenant quotas", "pools"]
Version = tuple[int, int, int]


class CapsuleChange(NamedTuple):
    """What a version brought. ``read``: in the source, with recorded answers; else by its release notes alone.

    ``text`` empty: that it changed something there is known, and what was not read.
    """

    version: Version
    area: Area
    text: str
    read: bool = True


#: The version that the rules here follow.
PINNED: Final[Version] = (0, 14, 0)
#: The newest version whose changes are known.
NEWEST: Final[Version] = (0, 15, 1)
#: Resource rules do not refuse from this version on, by its release notes.
SETS_ONLY: Final[Version] = (0, 14, 2)
CHANGES: Final = (
    CapsuleChange((0, 10, 0), "pools", "ResourcePool and ResourcePoolClaim appear, with one status.condition"),
    CapsuleChange((0, 11, 0), "pools", "a claim in use can no longer be deleted"),
    CapsuleChange(
        (0, 13, 0), "pools", "status.conditions tell allocated from in use; unused claims can be edited and deleted"
    ),
    CapsuleChange((0, 13, 6), "pools", "the release annotation works on claims in use"),
    CapsuleChange((0, 13, 8), "pools", "a changed claim is held against its pool again"),
    CapsuleChange((0, 14, 0), "rules", "rules set and refuse requests and limits of pods"),
    CapsuleChange((0, 14, 0), "shared quotas", "GlobalResourceQuota appears"),
    CapsuleChange((0, 14, 1), "tenant quotas", "a controller of their own keeps the quotas of Tenants", read=False),
    CapsuleChange((0, 14, 2), "rules", "rules set requests and limits, and no longer refuse any", read=False),
    CapsuleChange((0, 15, 0), "rules", "what is labelled as managed by Capsule no longer skips rules", read=False),
    CapsuleChange((0, 15, 0), "classes", "a pattern that does not compile no longer refuses everything", read=False),
    CapsuleChange((0, 15, 0), "shared quotas", "", read=False),
    CapsuleChange((0, 15, 0), "pools", "", read=False),
    CapsuleChange((0, 15, 0), "tenant quotas", "", read=False),
)

_VERSION = re.compile(r"v?([0-9]{1,6})\.([0-9]{1,6})(?:\.([0-9]{1,6}))?(?:[-+].*)?")


def parse_version(text: str) -> Version | None:
    """Return the version that a label or a tag of an image says; None where it says none."""
    match = _VERSION.fullmatch(text.strip())
    return (int(match[1]), int(match[2]), int(match[3] or 0)) if match else None


def version_text(version: Version) -> str:
    """Return a version as people write it."""
    return ".".join(map(str, version))


def remarks(version: Version | None, area: Area) -> Iterator[str]:
    """Yield what may be otherwise than answered in an area; nothing where the version is the one that is followed."""
    if version is None:
        later = _format_changes(change for change in CHANGES if change.version > PINNED and change.area == area)
        more = f"; {later}" if later else ""
        yield f"Capsule's version could not be read: its {area} are taken as {version_text(PINNED)} has them{more}"
        return
    if version > NEWEST:
        yield (
            f"Capsule {version_text(version)} is newer than {version_text(NEWEST)}, the newest whose changes are "
            f"known: its {area} are taken as {version_text(PINNED)} has them"
        )
    since = [change for change in CHANGES if PINNED < change.version <= version and change.area == area]
    if since and version <= NEWEST:
        later = _format_changes(iter(since)) or f"what {version_text(since[-1].version)} changed there was not read"
        yield f"Capsule is {version_text(version)}, its {area} are taken as {version_text(PINNED)} has them; {later}"
    missing = _format_changes(
        change for change in CHANGES if version < change.version <= PINNED and change.area == area
    )
    if missing:
        yield f"Capsule is {version_text(version)}, and newer ones are followed here; {missing}"


def _format_changes(changes: Iterator[CapsuleChange]) -> str:
    return "; ".join(
        f"since {version_text(change.version)}: {change.text}{'' if change.read else ' (by its release notes)'}"
        for change in changes
        if change.text
    )
