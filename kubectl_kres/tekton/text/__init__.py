"""What Tekton adds to the texts about pods, quotas and namespaces."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from kubectl_kres.render.text.system import RenderSystem

if TYPE_CHECKING:
    from kubectl_kres.render.text.line import Line
    from kubectl_kres.reports.common.explanation import Explanation
    from kubectl_kres.reports.namespace.policy_explanation import PolicyExplanation
    from kubectl_kres.reports.quota.denied import Denied

#: What it means that the server has no runs.
NO_TEKTON = "Tekton is not installed, or too old for tekton.dev/v1"


class TektonText(RenderSystem):
    """Runs, their conditions, and the LimitRange that Tekton makes of all."""

    absent: Mapping[str, str] = dict.fromkeys(("TaskRun", "PipelineRun"), NO_TEKTON)

    def start_lines(self, explanation: Explanation, width: int) -> Iterator[Line]:
        if explanation.tekton is not None:
            from kubectl_kres.tekton.text.taskrun import task_lines

            yield from task_lines(explanation.tekton, width)

    def outcome_lines(self, explanation: Explanation, width: int, now: str = "") -> Iterator[Line]:
        if explanation.tekton is not None:
            from kubectl_kres.tekton.text.taskrun import condition_lines

            yield from condition_lines(explanation.tekton, explanation.verdict, width, now)

    def namespace_lines(self, policy_explanation: PolicyExplanation, width: int) -> Iterator[Line]:
        if policy_explanation.tekton:
            from kubectl_kres.tekton.text.taskrun import merged_lines

            yield from merged_lines(policy_explanation.tekton, width)

    def refusal_texts(self, denied: Denied, now: str) -> Iterator[tuple[str, str]]:
        if denied.tekton is None:
            return
        from kubectl_kres.tekton.text.taskrun import never_text, waiting_texts

        yield from (("never", never_text(too_much)) for too_much in denied.tekton.never)
        if denied.tekton.waiting is not None:
            fits = denied.verdict.allowed is True
            yield from (("waits", text) for text in waiting_texts(denied.tekton.waiting, now, fits=fits))


SYSTEM = TektonText()
