"""What a vertical autoscaler makes of pods, as text: recommendations within bounds, and what its updater evicts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from kubectl_kres.provenance.journal import Set, by_path
from kubectl_kres.render.text.line import Line, Tone, draw, tone_lines, wrap_text
from kubectl_kres.render.text.sentences import sentence_text
from kubectl_kres.render.verdict.remedy import remedy_lines
from kubectl_kres.reports.common.explanation import Explanation


def effects_lines(effects: VpaEffects, *, color: bool, width: int) -> Iterator[str]:
    for line in lines(effects, width):
        yield draw(line, color=color)


def summary(effects: VpaEffects, *, color: bool) -> str:
    """Return one line for each of several."""
    from kubectl_kres.vpa.text.eviction import eviction_sentence  # noqa: PLC0415, workloads need none

    eviction = effects.eviction
    tone, text = eviction_sentence(eviction) if eviction is not None else ("quiet", "its controller is not known")
    return draw(
        [("strong", str(effects.object)), ("", f"  {effects.target}  {effects.mode}  "), (tone, text)], color=color
    )


def lines(effects: VpaEffects, width: int) -> Iterator[Line]:
    """Whose pods it scales, what comes of it if the updater runs now, what to change, and what the next pod gets."""
    from kubectl_kres.vpa.text.eviction import eviction_lines  # noqa: PLC0415, workloads need none

    yield [("strong", str(effects.object)), ("", f"  {effects.target}, updateMode {effects.mode or '-'}")]
    if effects.registered is False:
        yield from _wrap_text(*webhook_words(effects), width)
    if effects.fault:
        yield from _wrap_text("bad", f"the admission controller changes nothing: {sentence_text(effects.fault)}", width)
    if not effects.recommends:
        yield from _wrap_text("warn", "there is no recommendation yet", width)
    if effects.allowed is False:
        yield from _wrap_text("bad", f"the next pod is refused: {effects.message}", width)
    if effects.eviction is not None:
        yield from eviction_lines(effects.eviction, width)
    yield from remedy_lines(effects.fixes, width)
    tone, words = webhook_words(effects)
    if values := list(_values(effects, width)):
        head = "the next pod gets" if effects.registered is False else f"the next pod gets ({words})"
        yield []
        yield from tone_lines("", wrap_text(head, width, rest="  "))
        yield from values
    elif effects.registered is not False:
        yield from _wrap_text(tone, words, width)
    for failed_read in effects.unread:
        if failed_read.required:
            yield [("warn", f"not read: {failed_read.kind}: {sentence_text(failed_read.message) or failed_read.state}")]


def _wrap_text(tone: Tone, text: str, width: int) -> Iterator[Line]:
    yield from tone_lines(tone, wrap_text(text, width, first="  ", rest="    "))


def webhook_words(effects: VpaEffects) -> tuple[Tone, str]:
    """Return which pod comes while the webhook is away."""
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


if TYPE_CHECKING:
    from kubectl_kres.vpa.reports.effects import VpaEffects


#: What a bound does to a recommendation, by rule.
BOUNDED = {
    "vpa/min-allowed": "raised",
    "vpa/max-allowed": "cut",
    "vpa/container-limit": "cut to the limit",
    "vpa/limit-range-max": "cut",
    "vpa/limit-range-min": "raised",
    "vpa/pod-limit-range-max": "cut",
    "vpa/pod-limit-range-min": "raised",
    "vpa/startup-boost": "boosted",
}


def bounded_lines(explanation: Explanation, width: int) -> Iterator[Line]:
    """Yield one sentence for each recommendation that is not written as it stands."""
    first = True
    for container in explanation.containers:
        for value in container.values:
            steps = [entry for entry in by_path(value.steps).get(value.path, ()) if isinstance(entry, Set)]
            text = bounded_sentence(f"{container.name} {value.resource} {value.side[:-1]}", steps)
            if text:
                label = "vpa     " if first else " " * 8
                yield from tone_lines("", wrap_text(text, width, first=label, rest=" " * 8))
                first = False


def bounded_sentence(what: str, steps: list[Set]) -> str:
    """``web cpu request: VerticalPodAutoscaler/v recommends 2, cut to 500m by LimitRange/l``; empty: as recommended."""
    vpa_steps = [step for step in steps if step.rule.startswith("vpa/")]
    if not vpa_steps or not any(step.rule in BOUNDED for step in vpa_steps):
        return ""
    parts, recommends = [], None
    for step in vpa_steps:
        if step.rule in BOUNDED:
            by = ""
            if step.source is not None and step.rule != "vpa/container-limit":
                own = step.source.ref == recommends
                by = f" by its {step.source.field}" if own else f" by {step.source}"
            parts.append(f"{BOUNDED[step.rule]} to {step.after}{by}")
        elif step.source is not None:
            recommends = step.source.ref
            parts.append(f"{step.source.ref} recommends {step.after}")
    return f"{what}: {', '.join(parts)}"
