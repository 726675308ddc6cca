"""What comes of it if the updater of a vertical autoscaler runs now, in a sentence and as lines."""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_kres.render.text.line import Line, Tone, tone_lines, wrap_text
from kubectl_kres.vpa.reports.eviction import Eviction, OutsideValue

#: What comes of it, in a word or two.
WORDS = {
    "off": "nothing",
    "no-recommendation": "no recommendation",
    "no-pods": "no pods",
    "as-recommended": "as recommended",
    "held": "held",
    "budget": "disruption budget",
    "too-few": "too few pods",
    "comes-back": "comes back",
    "refused": "refused",
    "again": "again and again",
}
#: Requests outside of the recommendation that are named.
_SHOWN = 4


def evicted(eviction: Eviction) -> tuple[Tone, str]:
    """Return what comes of it, as a sentence."""
    count, start = eviction.pods, f"if the updater runs now, it evicts {eviction.evicted} of {eviction.pods} pods"
    match eviction.result:
        case "refused":
            kept = f", {eviction.kept} are let alone" if eviction.kept else ""
            return "bad", f"{start}; {eviction.come} come back, {eviction.missing} do not{kept}"
        case "again":
            end = "without an end: they are outside of what it recommends, too"
            return "bad", f"{start}, and evicts those that come back again, {end}"
        case "comes-back" if not eviction.evicted:
            return "good", "if the updater runs now, it resizes pods in place; the API server lets it"
        case "comes-back":
            kept = f", {eviction.kept} are let alone" if eviction.kept else ""
            return "good", f"{start}, and all come back{kept}"
        case "as-recommended":
            return "good", f"nothing is evicted: {count} of {count} pods are within what it recommends"
    return "quiet", f"nothing is evicted{_why(eviction)}"


def _why(eviction: Eviction) -> str:
    match eviction.result:
        case "off":
            return " in this updateMode"
        case "no-recommendation":
            return ": there is no recommendation"
        case "no-pods":
            return ": no pod runs"
        case "held":
            return f": evictionRequirements keep {eviction.held} of {eviction.pods} pods"
        case "budget":
            names = ", ".join(f"PodDisruptionBudget/{name}" for name in eviction.budgets)
            return f": {names} wants {eviction.healthy} of {eviction.pods} pods to run"
    return f": {eviction.pods} running are fewer than minReplicas"


def eviction_lines(eviction: Eviction, width: int, name: str = "") -> Iterator[Line]:
    """Yield the sentence, the requests that are outside, and the refusals. ``name``: of the autoscaler, before it."""
    tone, text = evicted(eviction)
    yield from _wrapped(tone, f"{name}: {text}" if name else text, width)
    for value in eviction.outside[:_SHOWN]:
        yield from tone_lines("quiet", wrap_text(outside_text(value), width, first="    ", rest="      "))
    if len(eviction.outside) > _SHOWN:
        yield [("quiet", f"    and {len(eviction.outside) - _SHOWN} more (-o json names all)")]
    if eviction.in_place:
        which = "the resize of further pods in place" if eviction.resized else "the resize in place"
        yield from _wrapped("warn", f"{which} is refused: {eviction.in_place}", width)
    if eviction.message:
        who = "the pods that are missing are" if eviction.missing else "each eviction is"
        yield from _wrapped("bad" if eviction.missing else "quiet", f"{who} refused: {eviction.message}", width)
    for value in eviction.again[:_SHOWN]:
        yield from tone_lines("quiet", wrap_text(outside_text(value), width, first="    ", rest="      "))


def _wrapped(tone: Tone, text: str, width: int) -> Iterator[Line]:
    yield from tone_lines(tone, wrap_text(text, width, first="  ", rest="    "))


def outside_text(value: OutsideValue) -> str:
    """Return a request that is outside, with the bounds, as a sentence."""
    who = f"{value.pod} {value.container}".strip()
    bounds = f"{value.lower or 'no lower bound'} to {value.upper or 'no upper bound'}"
    return f"{who} {value.resource} request {value.request or 'none'}, recommended {bounds}"
