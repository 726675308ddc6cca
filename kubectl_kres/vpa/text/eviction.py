"""What comes of it if the updater of a vertical autoscaler runs now, in a sentence and as lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from kubectl_kres.render.text.line import Line, Tone, tone_lines, wrap_text
from kubectl_kres.reports.changes.report import StepResult
from kubectl_kres.vpa.reports.updater_run import Eviction, OutsideValue

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
_MOST_OUTSIDE = 4


def eviction_sentence(eviction: Eviction) -> tuple[Tone, str]:
    """Return what comes of it, as a sentence."""
    count, start = eviction.pods, f"if the updater runs now, it evicts {eviction.evicted} of {eviction.pods} pods"
    match eviction.result:
        case "refused":
            kept = f", {eviction.kept} are let alone" if eviction.kept else ""
            come = f"{eviction.recreated} {'comes' if eviction.recreated == 1 else 'come'} back"
            return "bad", f"{start}; {come}, {eviction.missing} {'does' if eviction.missing == 1 else 'do'} not{kept}"
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
    return "quiet", f"nothing is evicted{_why_kept(eviction)}"


def _why_kept(eviction: Eviction) -> str:
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
    tone, text = eviction_sentence(eviction)
    yield from _wrapped_lines(tone, f"{name}: {text}" if name else text, width)
    outside = _join_pods(eviction.outside)
    for value in outside[:_MOST_OUTSIDE]:
        yield from tone_lines("quiet", wrap_text(outside_text(value), width, first="    ", rest="      "))
    if len(outside) > _MOST_OUTSIDE:
        yield [("quiet", f"    and {len(outside) - _MOST_OUTSIDE} more (-o json names all)")]
    if eviction.in_place:
        which = "the resize of further pods in place" if eviction.resized else "the resize in place"
        yield from _wrapped_lines("warn", f"{which} is refused: {eviction.in_place}", width)
    if eviction.message:
        subject = "the pods that are missing are" if eviction.missing else "each eviction is"
        yield from _wrapped_lines(
            "bad" if eviction.missing else "quiet", f"{subject} refused: {eviction.message}", width
        )
    for value in eviction.again[:_MOST_OUTSIDE]:
        yield from tone_lines("quiet", wrap_text(outside_text(value), width, first="    ", rest="      "))


def step_lines(step: StepResult, eviction: Eviction, width: int) -> Iterator[Line]:
    """Yield what came of a step, and where it says what to change."""
    name = f"{step.subject.namespace}  {step.subject}" if step.subject.namespace else str(step.subject)
    yield from eviction_lines(eviction, width, name)
    if eviction.is_worse:
        yield [("quiet", f"  explain vpa/{step.subject.name} says what to change")]


def _wrapped_lines(tone: Tone, text: str, width: int) -> Iterator[Line]:
    yield from tone_lines(tone, wrap_text(text, width, first="  ", rest="    "))


def _join_pods(values: Sequence[OutsideValue]) -> list[OutsideValue]:
    """Return the values, those that differ in the pod alone as one, with the number of pods in place of a name."""
    pods: dict[OutsideValue, list[str]] = {}
    for value in values:
        pods.setdefault(replace(value, pod=""), []).append(value.pod)
    return [replace(value, pod=names[0] if len(names) == 1 else f"{len(names)} pods:") for value, names in pods.items()]


def outside_text(value: OutsideValue) -> str:
    """Return a request that is outside, with the bounds, as a sentence."""
    container = f"{value.pod} {value.container}".strip()
    bounds = f"{value.lower or 'no lower bound'} to {value.upper or 'no upper bound'}"
    return f"{container} {value.resource} request {value.request or 'none'}, recommended {bounds}"
