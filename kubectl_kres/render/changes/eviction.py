"""What comes of it if the updater of a vertical autoscaler runs now, in a sentence and as lines."""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_kres.render.text.line import Line, Tone, toned, wrapped
from kubectl_kres.vpa.reports.eviction import Eviction, OutsideValue

#: What comes of it, in a word or two.
WORDS = {
    "off": "nothing",
    "no-recommendation": "no recommendation",
    "no-pods": "no pods",
    "as-recommended": "as recommended",
    "held": "held",
    "too-few": "too few pods",
    "comes-back": "comes back",
    "refused": "refused",
    "again": "again and again",
}
#: Requests outside of the recommendation that are named.
_SHOWN = 4


def evicted(eviction: Eviction) -> tuple[Tone, str]:
    """Return what comes of it, as a sentence."""
    count = eviction.pods
    match eviction.result:
        case "off":
            return "quiet", "nothing is evicted in this updateMode"
        case "no-recommendation":
            return "quiet", "nothing is evicted: there is no recommendation"
        case "no-pods":
            return "quiet", "nothing is evicted: no pod runs"
        case "as-recommended":
            return "good", f"nothing is evicted: {count} of {count} pods are within what it recommends"
        case "held":
            return "quiet", f"nothing is evicted: evictionRequirements keep {eviction.held} of {count} pods"
        case "too-few":
            return "quiet", f"nothing is evicted: {count} running are fewer than minReplicas"
        case "refused":
            return "bad", (
                f"if the updater runs now, it evicts {eviction.evicted} of {count} pods; "
                f"{eviction.come} come back, {eviction.missing} do not"
                f"{f', {eviction.kept} are let alone' if eviction.kept else ''}"
            )
        case "again":
            return "bad", (
                f"if the updater runs now, it evicts {eviction.evicted} of {count} pods, and evicts those that come "
                "back again, without an end: they are outside of what it recommends, too"
            )
        case _:
            if not eviction.evicted:
                return "good", "if the updater runs now, it resizes pods in place; the API server lets it"
            return "good", f"if the updater runs now, it evicts {eviction.evicted} of {count} pods, and all come back"


def eviction_lines(eviction: Eviction, width: int, name: str = "") -> Iterator[Line]:
    """Yield the sentence, the requests that are outside, and the refusals. ``name``: of the autoscaler, before it."""
    tone, text = evicted(eviction)
    yield from _wrapped(tone, f"{name}: {text}" if name else text, width)
    for value in eviction.outside[:_SHOWN]:
        yield from toned("quiet", wrapped(outside_text(value), width, first="    ", rest="      "))
    if len(eviction.outside) > _SHOWN:
        yield [("quiet", f"    and {len(eviction.outside) - _SHOWN} more (-o json names all)")]
    if eviction.in_place:
        which = "the resize of further pods in place" if eviction.resized else "the resize in place"
        yield from _wrapped("warn", f"{which} is refused: {eviction.in_place}", width)
    if eviction.message:
        yield from _wrapped("bad", f"the pods that are missing are refused: {eviction.message}", width)
    for value in eviction.again[:_SHOWN]:
        yield from toned("quiet", wrapped(outside_text(value), width, first="    ", rest="      "))


def _wrapped(tone: Tone, text: str, width: int) -> Iterator[Line]:
    yield from toned(tone, wrapped(text, width, first="  ", rest="    "))


def outside_text(value: OutsideValue) -> str:
    """Return a request that is outside, with the bounds, as a sentence."""
    who = f"{value.pod} {value.container}".strip()
    bounds = f"{value.lower or 'no lower bound'} to {value.upper or 'no upper bound'}"
    return f"{who} {value.resource} request {value.request or 'none'}, recommended {bounds}"
