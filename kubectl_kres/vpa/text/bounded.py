"""Recommendations that bounds changed, as lines: what was recommended, and what each bound made of it."""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_kres.provenance.journal import Set, by_path
from kubectl_kres.render.text.line import Line, tone_lines, wrap_text
from kubectl_kres.reports.common.explanation import Explanation

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
    own = [step for step in steps if step.rule.startswith("vpa/")]
    if not own or not any(step.rule in BOUNDED for step in own):
        return ""
    parts = []
    for step in own:
        if step.rule in BOUNDED:
            by = f" by {step.source}" if step.source is not None and step.rule != "vpa/container-limit" else ""
            parts.append(f"{BOUNDED[step.rule]} to {step.after}{by}")
        elif step.source is not None:
            parts.append(f"{step.source.ref} recommends {step.after}")
    return f"{what}: {', '.join(parts)}"
