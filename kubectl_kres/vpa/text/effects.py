"""What a vertical autoscaler makes of pods, as text."""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_kres.provenance.journal import Set
from kubectl_kres.render.changes.eviction import evicted, eviction_lines
from kubectl_kres.render.text.line import Line, Tone, draw, tone_lines, wrap_text
from kubectl_kres.render.verdict.remedy import remedy_lines
from kubectl_kres.vpa.reports.effects import VpaEffects
from kubectl_kres.vpa.text.bounded import bounded_sentence


def effects_lines(effects: VpaEffects, *, color: bool, width: int) -> Iterator[str]:
    for line in lines(effects, width):
        yield draw(line, color=color)


def summary(effects: VpaEffects, *, color: bool) -> str:
    """Return one line for each of several."""
    tone, text = evicted(effects.eviction) if effects.eviction is not None else ("quiet", "its controller is not known")
    return draw(
        [("strong", str(effects.object)), ("", f"  {effects.target}  {effects.mode}  "), (tone, text)], color=color
    )


def lines(effects: VpaEffects, width: int) -> Iterator[Line]:
    """Whose pods it scales, what the next one gets, and what comes of it if the updater runs now."""
    yield [("strong", str(effects.object)), ("", f"  {effects.target}, updateMode {effects.mode or '-'}")]
    yield from _wrap_text(*webhook_words(effects), width)
    if effects.fault:
        yield from _wrap_text("bad", f"the admission controller changes nothing: {effects.fault}", width)
    if not effects.recommends:
        yield from _wrap_text("warn", "there is no recommendation yet", width)
    yield from _values(effects, width)
    if effects.allowed is False:
        yield from _wrap_text("bad", f"the next pod is refused: {effects.message}", width)
    if effects.eviction is not None:
        yield from eviction_lines(effects.eviction, width)
    yield from remedy_lines(effects.remedies, "", width)
    for unseen in effects.unseen:
        if unseen.required:
            yield [("warn", f"not read: {unseen.kind}: {unseen.message or unseen.state}")]


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
