"""What Tekton adds to the texts about pods, quotas and namespaces."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from kubectl_kres.render.text.system import RenderSystem
from kubectl_kres.reports.common.system_parts import Parts, part_of, parts_of
from kubectl_kres.reports.pod.verdict import is_negative

if TYPE_CHECKING:
    from kubectl_kres.render.text.line import Line
    from kubectl_kres.reports.common.explanation import Explanation
    from kubectl_kres.reports.namespace.policy_explanation import PolicyExplanation
    from kubectl_kres.reports.quota.denied import Denied
    from kubectl_kres.tekton.reports.part import TektonPart

#: What it means that the server has no runs.
NO_TEKTON = "Tekton is not installed, or too old for tekton.dev/v1"


class TektonText(RenderSystem):
    """Runs, their conditions, and the LimitRange that Tekton makes of all."""

    sentences: Mapping[str, str] = {
        "kubectl_kres.tekton.reports.new_run": "kubectl_kres.tekton.text.new_run",
        "kubectl_kres.tekton.reports.refusal_fixes": "kubectl_kres.tekton.text.refusal_fixes",
        "kubectl_kres.tekton.reports.remedies.claim_remedies": "kubectl_kres.tekton.text.fixes",
    }
    absent: Mapping[str, str] = dict.fromkeys(("TaskRun", "PipelineRun"), NO_TEKTON)

    def start_lines(self, explanation: Explanation, width: int) -> Iterator[Line]:
        if (part := _part_of(explanation.pod_parts)) is not None:
            from kubectl_kres.tekton.text.taskrun import task_lines

            yield from task_lines(part, width)

    def headline_remarks(self, explanation: Explanation, *, admitted: bool) -> Iterator[str]:
        if (part := _part_of(explanation.pod_parts)) is not None:
            from kubectl_kres.tekton.text.taskrun import headline_remarks

            yield from headline_remarks(part, admitted=admitted)

    def outcome_lines(self, explanation: Explanation, width: int, now: str = "") -> Iterator[Line]:
        if (part := _part_of(explanation.pod_parts)) is not None:
            from kubectl_kres.tekton.text.taskrun import condition_lines

            yield from condition_lines(part, explanation.verdict, width, now)

    def namespace_lines(self, policy_explanation: PolicyExplanation, width: int) -> Iterator[Line]:
        if not policy_explanation.namespace_parts:
            return
        from kubectl_kres.tekton.reports.part import MergedLimit

        if limits := parts_of(policy_explanation.namespace_parts, MergedLimit):
            from kubectl_kres.tekton.text.taskrun import merged_lines

            yield from merged_lines(limits, width)

    def refusal_texts(self, denied: Denied, now: str) -> Iterator[tuple[str, str]]:
        part = _part_of(denied.pod_parts)
        if part is None:
            return
        from kubectl_kres.tekton.text.taskrun import never_text, waiting_texts

        yield from (("never", never_text(too_much)) for too_much in part.never_fits)
        if part.waiting is not None:
            fits = not is_negative(denied.verdict)
            yield from (("waits", text) for text in waiting_texts(part.waiting, now, fits=fits))


def _part_of(parts: Parts) -> TektonPart | None:
    if not parts:
        return None
    from kubectl_kres.tekton.reports.part import TektonPart

    return part_of(parts, TektonPart)


SYSTEM = TektonText()
