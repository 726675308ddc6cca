"""What Kueue adds to the texts about pods."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from kubectl_kres.kueue.model import KINDS
from kubectl_kres.render.text.system import RenderSystem

if TYPE_CHECKING:
    from kubectl_kres.render.text.line import Line
    from kubectl_kres.reports.common.explanation import Explanation
    from kubectl_kres.reports.common.system_parts import Parts

#: What it means that the server has none of its kinds.
NO_KUEUE = "Kueue is not installed"


class KueueText(RenderSystem):
    """Queues, charges and flavors."""

    absent: Mapping[str, str] = dict.fromkeys((kind.kind for kind in KINDS), NO_KUEUE)
    sentences: Mapping[str, str] = {
        "kubectl_kres.kueue.reports.fixes": "kubectl_kres.kueue.text.fixes",
        "kubectl_kres.kueue.reports.record": "kubectl_kres.kueue.text.causes",
    }

    def turn_lines(self, parts: Parts, width: int, *, refused: bool, later: str = "") -> Iterator[Line]:
        if "queue" in parts:
            from kubectl_kres.kueue.text.account import account_lines, part_in

            if (account := part_in(parts)) is not None:
                yield from account_lines(account, width, refused=refused, later=later)

    def quota_lines(self, explanation: Explanation, width: int) -> Iterator[Line]:
        if "queue" in explanation.pod_parts:
            from kubectl_kres.kueue.text.account import detail_lines, part_in

            if (account := part_in(explanation.pod_parts)) is not None:
                yield from detail_lines(account, width)


SYSTEM = KueueText()
