"""What the vertical autoscaler adds to the texts about pods, quotas and namespaces."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from kubectl_kres.render.text.system import RenderSystem
from kubectl_kres.reports.common.system_parts import part_of
from kubectl_kres.vpa.model import KIND

if TYPE_CHECKING:
    from kubectl_kres.render.text.line import Line
    from kubectl_kres.reports.changes.report import StepResult
    from kubectl_kres.reports.common.explanation import Explanation

#: What it means that the server has no autoscalers.
NO_VPA = "the vertical autoscaler is not installed"


class VpaText(RenderSystem):
    """What becomes of recommendations on their way into a pod."""

    absent: Mapping[str, str] = {KIND: NO_VPA}

    def outcome_lines(self, explanation: Explanation, width: int, now: str = "") -> Iterator[Line]:
        del now
        if any(getattr(entry, "rule", "").startswith("vpa/") for entry in explanation.journal):
            from kubectl_kres.vpa.text.effects import bounded_lines

            yield from bounded_lines(explanation, width)

    def step_lines(self, step: StepResult, width: int) -> Iterator[Line]:
        if step.parts:
            from kubectl_kres.vpa.reports.updater_run import Eviction
            from kubectl_kres.vpa.text.eviction import step_lines

            if (eviction := part_of(step.parts, Eviction)) is not None:
                yield from step_lines(step, eviction, width)

    def step_sentence(self, step: StepResult) -> str:
        if step.parts:
            from kubectl_kres.vpa.reports.updater_run import Eviction
            from kubectl_kres.vpa.text.eviction import eviction_sentence

            if (eviction := part_of(step.parts, Eviction)) is not None:
                return eviction_sentence(eviction)[1]
        return ""


SYSTEM = VpaText()
