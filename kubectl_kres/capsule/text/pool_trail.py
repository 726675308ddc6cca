"""The way from a quota that Capsule keeps to the claims that it adds up, as text."""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_kres.capsule.reports.pool.pool_trail import waiting_words
from kubectl_kres.capsule.text.claims import TONES, asks_words
from kubectl_kres.render.text.line import Line, clipped, padded, size, toned, wrapped
from kubectl_kres.reports.common.system_parts import PoolTrail

#: Claims that are listed.
_SHOWN = 10
_UNKNOWN = "whether the pool has that much left is not known: it could not be read"


def trail_lines(trail: PoolTrail, width: int) -> Iterator[Line]:
    """The pool, what to claim, and the namespace's claims on it."""
    yield [("", "")]
    lacks = ", ".join(f"{name} {amount}" for name, amount in trail.lacks.items())
    kept = f"quota {trail.quota} is kept by Capsule for pool {trail.pool}"
    text = f"{kept}: it is what claims add up to; it lacks {lacks}"
    yield from toned("", wrapped(text, width, rest="  "))
    if trail.grow is not None:
        amounts = asks_words(trail.grow.amounts)
        text = f"claim {trail.grow.subject.name} is unused: if it asks for {amounts}, it gets that at once"
        yield from toned("", wrapped(text, width, first="  ", rest="    "))
        # Something to type is not broken.
        yield [("strong", f"    {trail.grow.command}")]
    words = waiting_words(trail)
    if words:
        yield from toned("warn", wrapped(words, width, first="  ", rest="    "))
    if not trail.known:
        yield from toned("quiet", wrapped(_UNKNOWN, width, first="  ", rest="    "))
    later = (
        "once that is claimed, the workload's controller tries again by itself, with growing pauses of up to minutes"
    )
    yield from toned("quiet", wrapped(later, width, first="  ", rest="    "))
    if trail.claims is None:
        yield [("quiet", "  the claims of the namespace could not be read")]
        return
    if not trail.claims:
        yield [("warn", "  the namespace has no claim on it yet")]
        return
    names = [clipped(claim.subject.name, 40) for claim in trail.claims[:_SHOWN]]
    label = max(map(size, names))
    for claim, name in zip(trail.claims, names, strict=False):
        head = f"  {padded(claim.state, 10)}  {padded(name, label)}  "
        first, *rest = wrapped(asks_words(claim.asks), width, first=head, rest=" " * size(head))
        yield [("", "  "), (TONES[claim.state], padded(claim.state, 10)), ("", first[12:])]
        yield from toned("", rest)
    if len(trail.claims) > _SHOWN:
        space = trail.claims[0].subject.namespace
        command = f"kubectl kres claims --pool {trail.pool} -n {space}"
        yield [("quiet", f"  and {len(trail.claims) - _SHOWN} more: {command}")]
