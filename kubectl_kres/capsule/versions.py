"""Changes between versions of Capsule, as far as answers depend on them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, Literal, NamedTuple

from kubectl_kres.model.objects import Metadata

Area = Literal["rules", "classes", "devices", "shared quotas", "tenant quotas", "pools"]
Version = tuple[int, int, int]


#: Changes that the rules here follow, each by the version that runs.
Rule = Literal[
    "device-classes", "volume-selectors", "qos-rules", "resource-rules", "resource-rules-only-set",
    "device-requests-all",
]  # fmt: skip


class CapsuleChange(NamedTuple):
    """What a version brought. ``read``: in the source; else by its release notes alone.

    ``text`` empty: that it changed something there is known, and what was not read. ``followed_as``: its name where
    the rules follow it, so that nothing is left to remark where it was read; ``before``: what older versions do.
    """

    version: Version
    area: Area
    text: str
    read: bool = True
    followed_as: Rule | None = None
    before: str = ""


#: The version that the rules here follow, where none is known.
PINNED: Final[Version] = (0, 14, 0)
#: The newest version whose changes are known.
NEWEST: Final[Version] = (0, 15, 1)
#: In the order of versions. Source: tags of projectcapsule/capsule, and release notes from 0.14.1 on.
CHANGES: Final = (
    CapsuleChange((0, 10, 0), "pools", "ResourcePool and ResourcePoolClaim appear, with one status.condition"),
    CapsuleChange((0, 11, 0), "pools", "a claim in use can no longer be deleted"),
    # internal/webhook/dra.
    CapsuleChange(
        (0, 12, 0),
        "devices",
        "deviceClasses",
        followed_as="device-classes",
        before="claims on devices are not looked at",
    ),
    CapsuleChange(
        (0, 13, 0), "pools", "status.conditions tell allocated from in use; unused claims can be edited and deleted"
    ),
    # internal/webhook/pvc/pvc_mutating_volume.go, pv.go before.
    CapsuleChange(
        (0, 13, 0),
        "classes",
        "a claim that names or selects volumes gets the selector of its Tenant",
        followed_as="volume-selectors",
        before="a claim with a selector is refused",
    ),
    CapsuleChange((0, 13, 6), "pools", "the release annotation works on claims in use"),
    # internal/webhook/rules/pods/validation/qos.go.
    CapsuleChange(
        (0, 13, 7), "rules", "rules allow QoS classes", followed_as="qos-rules", before="there are no such rules"
    ),
    CapsuleChange((0, 13, 8), "pools", "a changed claim is held against its pool again"),
    # internal/webhook/rules/generic/mutation/workload_resources.go.
    CapsuleChange(
        (0, 14, 0),
        "rules",
        "rules set and refuse requests and limits of pods",
        followed_as="resource-rules",
        before="there are no such rules",
    ),
    CapsuleChange((0, 14, 0), "shared quotas", "GlobalResourceQuota appears"),
    CapsuleChange((0, 14, 1), "tenant quotas", "a controller of their own keeps the quotas of Tenants", read=False),
    CapsuleChange(
        (0, 14, 2),
        "rules",
        "rules set requests and limits, and no longer refuse any",
        read=False,
        followed_as="resource-rules-only-set",
        before="they refuse, too",
    ),
    CapsuleChange((0, 15, 0), "rules", "what is labelled as managed by Capsule no longer skips rules", read=False),
    CapsuleChange((0, 15, 0), "classes", "a pattern that does not compile no longer refuses everything", read=False),
    CapsuleChange(
        (0, 15, 0),
        "devices",
        "all requests of a claim on devices are looked at",
        read=False,
        followed_as="device-requests-all",
        before="the first one alone is",
    ),
    CapsuleChange((0, 15, 0), "shared quotas", "", read=False),
    CapsuleChange((0, 15, 0), "pools", "", read=False),
    CapsuleChange((0, 15, 0), "tenant quotas", "", read=False),
)

_BY_RULE = {change.followed_as: change for change in CHANGES if change.followed_as is not None}


def has_change(rule: Rule, version: Version | None) -> bool:
    """Return whether a version has a change; one that is not known is taken as that which the rules follow."""
    return (version or PINNED) >= _BY_RULE[rule].version


def unknown_text(rule: Rule, version: Version | None) -> str:
    """Return a sentence where a version does not have a change yet; empty: it has."""
    if has_change(rule, version):
        return ""
    change = _BY_RULE[rule]
    own, since = version_text(version or PINNED), version_text(change.version)
    return f"Capsule is {own}: {change.before}; since {since}: {change.text}"


_VERSION = re.compile(r"v?([0-9]{1,6})\.([0-9]{1,6})(?:\.([0-9]{1,6}))?(?:[-+].*)?")


def parse_version(text: str) -> Version | None:
    """Return the version that a label or a tag of an image says; None where it says none."""
    match = _VERSION.fullmatch(text.strip())
    return (int(match[1]), int(match[2]), int(match[3] or 0)) if match else None


_LABEL, _CHART = "app.kubernetes.io/version", "helm.sh/chart"


def version_in(metadata: Metadata) -> Version | None:
    """Return the version that labels or annotations of something of Capsule's chart say; None where none does."""
    labels = {**(metadata.annotations or {}), **(metadata.labels or {})}
    texts = labels.get(_LABEL, ""), labels.get(_CHART, "").removeprefix("capsule-")
    return next((version for text in texts if (version := parse_version(text)) is not None), None)


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
    left = [
        change for change in CHANGES if change.area == area and not (change.followed_as is not None and change.read)
    ]
    since = [change for change in left if PINNED < change.version <= version]
    if since and version <= NEWEST:
        later = _format_changes(iter(since)) or f"what {version_text(since[-1].version)} changed there was not read"
        yield f"Capsule is {version_text(version)}, its {area} are taken as {version_text(PINNED)} has them; {later}"
    missing = _format_changes(change for change in left if version < change.version <= PINNED)
    if missing:
        yield f"Capsule is {version_text(version)}, and newer ones are followed here; {missing}"


def _format_changes(changes: Iterator[CapsuleChange]) -> str:
    return "; ".join(
        f"since {version_text(change.version)}: {change.text}{'' if change.read else ' (by its release notes)'}"
        for change in changes
        if change.text
    )
