"""What a vertical autoscaler makes of pods, as text."""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_kres.provenance.journal import Set
from kubectl_kres.render.text.line import Line, Tone, draw, tone_lines, wrap_text
from kubectl_kres.vpa.reports.effects import Eviction, OutsideValue, VpaEffects
from kubectl_kres.vpa.text.bounded import bounded_sentence

#: Requests outside of the recommendation that are named.
_SHOWN = 4


def effects_lines(effects: VpaEffects, *, color: bool, width: int) -> Iterator[str]:
    for line in lines(effects, width):
        yield draw(line, color=color)


def summary(effects: VpaEffects, *, color: bool) -> str:
    """Return one line for each of several."""
    tone, text = (
        _format_eviction(effects.eviction) if effects.eviction is not None else ("quiet", "its controller is not known")
    )
    return draw(
        [("strong", str(effects.object)), ("", f"  {effects.target}  {effects.mode}  "), (tone, text)], color=color
    )


def lines(effects: VpaEffects, width: int) -> Iterator[Line]:
    """Whose pods it scales, what the next one gets, and what comes of it if the updater runs now."""
    yield [("strong", str(effects.object)), ("", f"  {effects.target}, updateMode {effects.mode or '-'}")]
    yield from _wrap_text(*_webhook(effects), width)
    if effects.fault:
        yield from _wrap_text("bad", f"the admission controller changes nothing: {effects.fault}", width)
    if not effects.recommends:
        yield from _wrap_text("warn", "there is no recommendation yet", width)
    yield from _values(effects, width)
    if effects.allowed is False:
        yield from _wrap_text("bad", f"the next pod is refused: {effects.message}", width)
    if effects.eviction is not None:
        yield from _eviction_lines(effects.eviction, width)
    for unseen in effects.unseen:
        if unseen.required:
            yield [("warn", f"not read: {unseen.kind}: {unseen.message or unseen.state}")]


def _wrap_text(tone: Tone, text: str, width: int) -> Iterator[Line]:
    yield from tone_lines(tone, wrap_text(text, width, first="  ", rest="    "))


def _webhook(effects: VpaEffects) -> tuple[Tone, str]:
    if effects.registered is False:
        return "warn", "its webhook vpa.k8s.io is not registered: pods come as their template says"
    if effects.registered is None:
        return "quiet", "its webhook vpa.k8s.io is taken as registered"
    if effects.failure_policy == "Ignore":
        return "quiet", "while its webhook does not answer (failurePolicy Ignore), pods come as their template says"
    return "quiet", f"while its webhook does not answer (failurePolicy {effects.failure_policy}), no pod comes"


def _values(effects: VpaEffects, width: int) -> Iterator[Line]:
    """Yield the values of the next pod that it sets."""
    for container in effects.containers:
        for value in container.values:
            if value.rule.startswith("vpa/"):
                what = f"{container.name} {value.resource} {value.side[:-1]}"
                before = value.written or "-"
                sentence = bounded_sentence(what, [step for step in value.steps if isinstance(step, Set)])
                yield from _wrap_text("", f"{what}: {before} -> {value.value or '-'}  {value.rule}", width)
                if sentence:
                    yield from tone_lines("quiet", wrap_text(sentence, width, first="    ", rest="      "))


def _eviction_lines(eviction: Eviction, width: int) -> Iterator[Line]:
    yield from _wrap_text(*_format_eviction(eviction), width)
    for value in eviction.outside[:_SHOWN]:
        yield from tone_lines("quiet", wrap_text(_format_outside_value(value), width, first="    ", rest="      "))
    if len(eviction.outside) > _SHOWN:
        yield [("quiet", f"    and {len(eviction.outside) - _SHOWN} more (-o json names all)")]
    if eviction.in_place:
        yield from _wrap_text("warn", f"the resize in place is refused: {eviction.in_place}", width)
    if eviction.message:
        yield from _wrap_text("bad", f"the pods that are missing are refused: {eviction.message}", width)
    for value in eviction.again[:_SHOWN]:
        yield from tone_lines("quiet", wrap_text(_format_outside_value(value), width, first="    ", rest="      "))
    for text in eviction.ends:
        yield from _wrap_text("", f"what helps: {text}", width)


def _format_outside_value(value: OutsideValue) -> str:
    who = f"{value.pod} {value.container}".strip()
    bounds = f"{value.lower or 'no lower bound'} to {value.upper or 'no upper bound'}"
    return f"{who} {value.resource} request {value.request or 'none'}, recommended {bounds}"


def _format_eviction(eviction: Eviction) -> tuple[Tone, str]:
    """Return what comes of it if the updater runs now, as a sentence."""
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
        case "too-few":
            return "quiet", f"nothing is evicted: {count} running are fewer than minReplicas"
        case "refused":
            return "bad", (
                f"if the updater runs now, it evicts {eviction.evicted} of {count} pods; "
                f"{eviction.come} come back, {eviction.missing} do not, {eviction.kept} are let alone"
            )
        case "again":
            return "bad", (
                f"if the updater runs now, it evicts {eviction.evicted} of {count} pods, and evicts those that come "
                "back again, without an end: they are outside of what it recommends, too"
            )
        case _:
            if eviction.resized:
                return "good", "if the updater runs now, it resizes pods in place; the API server lets it"
            return "good", f"if the updater runs now, it evicts {eviction.evicted} of {count} pods, and all come back"
