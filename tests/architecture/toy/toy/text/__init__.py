"""What the toy adds to texts."""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_kres.render.text.line import Line
from kubectl_kres.render.text.system import RenderSystem
from kubectl_kres.reports.common.explanation import Explanation


class ToyText(RenderSystem):
    def outcome_lines(self, explanation: Explanation, width: int, now: str = "") -> Iterator[Line]:
        if any(one.rule == "toy/team" for one in explanation.verdict.findings):
            yield [("quiet", "toy: its budget decides")]


SYSTEM = ToyText()
