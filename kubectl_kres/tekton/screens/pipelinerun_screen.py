"""A PipelineRun or a Pipeline: each task's pod or refusal, and what can run at once against the quotas."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial

from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.render.pod.explain import explanation_lines
from kubectl_kres.render.text.line import Line, Tone, tone_lines, wrap_text
from kubectl_kres.render.text.sentences import sentence_text
from kubectl_kres.render.verdict.headline import verdict_word
from kubectl_kres.reports.common.explanation import Fact
from kubectl_kres.reports.common.system_parts import part_of
from kubectl_kres.store.store import ReadRequest
from kubectl_kres.tekton.reports.explain_pipeline import ENDED, explain_pipeline
from kubectl_kres.tekton.reports.needs import pipeline_needs
from kubectl_kres.tekton.reports.part import TektonPart
from kubectl_kres.tekton.reports.pipeline import AssistantPod, AtOnce, PipelineExplanation, PlannedTask
from kubectl_kres.tekton.text.pipeline import head_lines, pinned_task_texts, pipeline_lines
from kubectl_kres.tui.location import Location
from kubectl_kres.tui.screens.outline import OutlinePane
from kubectl_kres.tui.widgets.items import OutlineItem, Sections, text_item, warning_item


class PipelineRunPane(OutlinePane):
    """Everything shown comes from the report of ``explain pipelinerun/x``."""

    HEAD = "TASK"
    answer: PipelineExplanation | None

    def answer_reads(self) -> Iterable[ReadRequest]:
        return pipeline_needs(self.session.store, self.subject)

    def compute_answer(self) -> PipelineExplanation:
        return explain_pipeline(self.session.store, self.subject, self.session.evaluation_options)

    def head(self, width: int) -> Iterator[Line]:
        assert self.answer is not None
        return head_lines(self.answer, width)

    def rows(self) -> Iterator[OutlineItem]:
        assert self.answer is not None
        run, sections = self.answer, Sections()
        main = [task for task in run.tasks if not task.is_finally]
        last = [task for task in run.tasks if task.is_finally]
        heads = ("RUNS", "CPU REQ", "MEM REQ")
        yield from sections.section("tasks", map(self._task_row, main), heads)
        yield from sections.section("finally", map(self._task_row, last), heads)
        for quota in dict.fromkeys(at_once.quota for at_once in run.at_once):
            group = [at_once for at_once in run.at_once if at_once.quota == quota]
            title = f"at once, quota {quota}" if quota else "at once, no quota limits it"
            yield from sections.section(
                title, map(self._at_once, group), ("ASK", "USED", "HARD") if quota else ("ASK",)
            )
        yield from sections.section("affinity assistants", map(_assistant, run.assistants))
        yield from sections.section("or", map(warning_item, run.verdict.others))
        yield from sections.section("seen in the cluster", map(_fact, run.facts))
        texts = (sentence_text(assumption.text) for assumption in run.assumptions)
        yield from sections.section("assumed", map(text_item, texts))

    def _task_row(self, planned_task: PlannedTask) -> OutlineItem:
        totals = (
            {(total.side, total.resource): total.value for total in planned_task.explanation.totals}
            if planned_task.explanation
            else {}
        )
        runs = "?" if planned_task.runs is None else str(planned_task.runs)
        cells = (runs, totals.get(("requests", "cpu"), "-"), totals.get(("requests", "memory"), "-"))
        after = f"  after {', '.join(planned_task.after)}" if planned_task.after else ""
        mark, tone, text = _answer(planned_task)
        task_run = ObjectRef("TaskRun", planned_task.names[0], self.ref.namespace) if planned_task.names else None
        exists = task_run is not None and self.session.get(task_run) is not None
        return OutlineItem(
            (),
            planned_task.name,
            cells,
            f"{text}{after}",
            mark,
            tone,
            partial(_task_lines, planned_task),
            Location("object", ref=task_run) if exists else None,
            ref=task_run,
        )

    def _at_once(self, at_once: AtOnce) -> OutlineItem:
        amount = f"{at_once.amount}{'+' * at_once.at_least}"
        cells = (amount, at_once.used or "-", at_once.hard or "-") if at_once.quota else (amount,)
        text = f"too much: {at_once.after} after" if at_once.exceeded else f"by {', '.join(at_once.tasks)}"
        location = (
            Location("quota", ref=ObjectRef("ResourceQuota", at_once.quota, self.ref.namespace))
            if at_once.quota
            else None
        )
        return OutlineItem(
            (),
            f"{at_once.resource}{' (finally)' * at_once.is_finally}",
            cells,
            text,
            "x" if at_once.exceeded else "",
            "bad" if at_once.exceeded else "",
            partial(_at_once_lines, at_once),
            location,
        )

    def text(self, width: int) -> Iterable[Line]:
        assert self.answer is not None
        return pipeline_lines(self.answer, steps=self.steps, width=width, now=self.session.setting.now())

    def status(self) -> Line:
        if self.answer is None:
            return [("warn", "not known")]
        ended = sum(task.state in ENDED for task in self.answer.tasks)
        partly = "" if self.answer.complete else "  incomplete: not all could be read"
        return [("", f"{len(self.answer.tasks)} tasks, {ended} ended"), ("warn", partly)]


def _answer(planned_task: PlannedTask) -> tuple[str, Tone, str]:
    """Mark, tone and words for what becomes of a task."""
    if planned_task.state in ENDED:
        return ("x", "bad", "failed") if planned_task.state == "failed" else ("", "quiet", planned_task.state)
    if planned_task.explanation is None:
        return "?", "warn", "not known"
    verdict = planned_task.explanation.verdict
    state = f", {planned_task.state}" if planned_task.state else ""
    word, tone = verdict_word(verdict)
    if tone == "good":
        return "", "", f"{word}{state}"
    part = part_of(planned_task.explanation.pod_parts, TektonPart)
    reason = f": {part.problem.reason}" if part is not None and part.problem is not None else ""
    return "!" if tone == "warn" else "x", tone, f"{word}{state}{reason}"


def _task_lines(planned_task: PlannedTask, width: int) -> Iterator[Line]:
    yield [("strong", f"task {planned_task.name}"), ("quiet", f"  {', '.join(planned_task.names)}")]
    if planned_task.explanation is not None:
        yield from explanation_lines(planned_task.explanation, steps=False, width=width)
    elif planned_task.missing is not None:
        yield from tone_lines("warn", wrap_text(str(planned_task.missing), width, rest="  "))


def _at_once_lines(at_once: AtOnce, width: int) -> Iterator[Line]:
    yield [("strong", at_once.resource), ("", f" {at_once.amount} at once{' in finally' * at_once.is_finally}")]
    parts = [f"by {', '.join(at_once.tasks)}"]
    parts += [f"of which {at_once.counted} is in used already"] if at_once.counted else []
    parts += [f"affinity assistants {at_once.assistants} beside"] if at_once.assistants else []
    parts += ["at least: a matrix depends on a result"] if at_once.at_least else []
    for part in parts:
        yield from tone_lines("", wrap_text(part, width, first="  ", rest="    "))
    if at_once.quota:
        text = f"quota {at_once.quota}: {at_once.used} of {at_once.hard} used, {at_once.after} with all of it"
        yield from tone_lines("bad" if at_once.exceeded else "", wrap_text(text, width, first="  ", rest="    "))
    if at_once.exceeded:
        text = "what does not fit waits and is tried again every minute; which task comes first is a race"
        yield from tone_lines("warn", wrap_text(text, width, first="  ", rest="    "))


def _assistant(assistant_pod: AssistantPod) -> OutlineItem:
    refused = "; ".join(assistant_pod.refused)
    pinned = "; ".join(pinned_task_texts(assistant_pod))
    tone: Tone = "bad" if refused else "warn" if assistant_pod.not_fitting else ""
    return OutlineItem(
        (),
        f"StatefulSet/{assistant_pod.name}",
        note=refused or pinned or f"workspace {assistant_pod.workspace or 'of the whole run'}",
        mark="x" if refused else "",
        tone=tone,
    )


def _fact(fact: Fact) -> OutlineItem:
    text = f"{fact.reason}: {fact.text}"
    return OutlineItem(
        (), text, about=lambda width: tone_lines("", wrap_text(f"{text}{f' ({fact.time})' * bool(fact.time)}", width))
    )
