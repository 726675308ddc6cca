"""A PipelineRun or a Pipeline: each task's pod or refusal, and what can run at once against the quotas."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial

from kubectl_kres.model.meta import ObjectRef
from kubectl_kres.render.pod.explain import explanation_lines
from kubectl_kres.render.tekton.pipeline import pipeline_lines, verdict_lines
from kubectl_kres.render.text.line import Line, Tone, toned, wrapped
from kubectl_kres.render.verdict.words import verdict_word
from kubectl_kres.reports.common.explanation import Fact
from kubectl_kres.reports.tekton.explain_pipeline import explain_pipeline
from kubectl_kres.reports.tekton.pipeline import AssistantPod, AtOnce, PipelineExplanation, PlannedTask
from kubectl_kres.reports.tekton.pipeline_needs import pipeline_needs
from kubectl_kres.reports.tekton.pipeline_verdict import ENDED
from kubectl_kres.store.coverage import Need
from kubectl_kres.tui.location import Location
from kubectl_kres.tui.screens.outline import OutlinePane
from kubectl_kres.tui.widgets.items import OutlineItem, Sections, said_item, warning_item


class PipelineRunPane(OutlinePane):
    """Everything shown comes from the report of ``explain pipelinerun/x``."""

    HEAD = "TASK"
    found: PipelineExplanation | None

    def wanted(self) -> Iterable[Need]:
        return pipeline_needs(self.session.store, self.subject)

    def ask(self) -> PipelineExplanation:
        return explain_pipeline(self.session.store, self.subject, self.session.ask)

    def head(self, width: int) -> Iterator[Line]:
        assert self.found is not None
        for line in verdict_lines(self.found, width):
            text = "".join(part for _, part in line)
            tone = line[0][0] if line else ""
            first, *rest = wrapped(text, width, rest="  ")
            yield [(tone, first)]
            yield from toned(tone, rest)

    def rows(self) -> Iterator[OutlineItem]:
        assert self.found is not None
        found, sections = self.found, Sections()
        main = [one for one in found.tasks if not one.is_finally]
        last = [one for one in found.tasks if one.is_finally]
        heads = ("RUNS", "CPU REQ", "MEM REQ")
        yield from sections.section("tasks", map(self._planned, main), heads)
        yield from sections.section("finally", map(self._planned, last), heads)
        for quota in dict.fromkeys(one.quota for one in found.at_once):
            group = [one for one in found.at_once if one.quota == quota]
            title = f"at once, quota {quota}" if quota else "at once, no quota limits it"
            yield from sections.section(
                title, map(self._at_once, group), ("ASK", "USED", "HARD") if quota else ("ASK",)
            )
        yield from sections.section("affinity assistants", map(_assistant, found.assistants))
        yield from sections.section("or", map(warning_item, found.verdict.others))
        yield from sections.section("seen in the cluster", map(_fact, found.facts))
        yield from sections.section("assumed", (said_item(one.text) for one in found.assumptions))

    def _planned(self, one: PlannedTask) -> OutlineItem:
        totals = (
            {(total.side, total.resource): total.value for total in one.explanation.totals} if one.explanation else {}
        )
        runs = "?" if one.runs is None else str(one.runs)
        cells = (runs, totals.get(("requests", "cpu"), "-"), totals.get(("requests", "memory"), "-"))
        after = f"  after {', '.join(one.after)}" if one.after else ""
        sign, tone, said = _answer(one)
        made = ObjectRef("TaskRun", one.names[0], self.ref.namespace) if one.names else None
        there = made is not None and self.session.get(made) is not None
        return OutlineItem((), one.name, cells, f"{said}{after}", sign, tone, partial(_task_lines, one),
                    Location("object", ref=made) if there else None, ref=made)  # fmt: skip

    def _at_once(self, one: AtOnce) -> OutlineItem:
        amount = f"{one.amount}{'+' * one.at_least}"
        cells = (amount, one.used or "-", one.hard or "-") if one.quota else (amount,)
        said = f"too much: {one.after} after" if one.exceeded else f"by {', '.join(one.tasks)}"
        place = Location("quota", ref=ObjectRef("ResourceQuota", one.quota, self.ref.namespace)) if one.quota else None
        return OutlineItem(
            (),
            f"{one.resource}{' (finally)' * one.is_finally}",
            cells,
            said,
            "x" if one.exceeded else "",
            "bad" if one.exceeded else "",
            partial(_at_once_lines, one),
            place,
        )

    def text(self, width: int) -> Iterable[Line]:
        assert self.found is not None
        return pipeline_lines(self.found, steps=self.steps, width=width)

    def status(self) -> Line:
        if self.found is None:
            return [("warn", "not known")]
        ended = sum(one.state in ENDED for one in self.found.tasks)
        partly = "" if self.found.complete else "  incomplete: not all could be read"
        return [("", f"{len(self.found.tasks)} tasks, {ended} ended"), ("warn", partly)]


def _answer(one: PlannedTask) -> tuple[str, Tone, str]:
    """Mark, tone and words for what becomes of a task."""
    if one.state in ENDED:
        return ("x", "bad", "failed") if one.state == "failed" else ("", "quiet", one.state)
    if one.explanation is None:
        return "?", "warn", "not known"
    verdict = one.explanation.verdict
    state = f", {one.state}" if one.state else ""
    word, tone = verdict_word(verdict)
    if tone == "good":
        return "", "", f"{word}{state}"
    part = one.explanation.tekton
    reason = f": {part.problem.reason}" if part is not None and part.problem is not None else ""
    return "!" if tone == "warn" else "x", tone, f"{word}{state}{reason}"


def _task_lines(one: PlannedTask, width: int) -> Iterator[Line]:
    yield [("strong", f"task {one.name}"), ("quiet", f"  {', '.join(one.names)}")]
    if one.explanation is not None:
        yield from explanation_lines(one.explanation, steps=False, width=width)
    elif one.gap is not None:
        yield from toned("warn", wrapped(str(one.gap), width, rest="  "))


def _at_once_lines(one: AtOnce, width: int) -> Iterator[Line]:
    yield [("strong", one.resource), ("", f" {one.amount} at once{' in finally' * one.is_finally}")]
    parts = [f"by {', '.join(one.tasks)}"]
    parts += [f"of which {one.counted} is in used already"] if one.counted else []
    parts += [f"affinity assistants {one.assistants} beside"] if one.assistants else []
    parts += ["at least: a matrix depends on a result"] if one.at_least else []
    for part in parts:
        yield from toned("", wrapped(part, width, first="  ", rest="    "))
    if one.quota:
        text = f"quota {one.quota}: {one.used} of {one.hard} used, {one.after} with all of it"
        yield from toned("bad" if one.exceeded else "", wrapped(text, width, first="  ", rest="    "))
    if one.exceeded:
        text = "what does not fit waits and is tried again every minute; which task comes first is a race"
        yield from toned("warn", wrapped(text, width, first="  ", rest="    "))


def _assistant(one: AssistantPod) -> OutlineItem:
    refused = "; ".join(one.refused)
    tone: Tone = "bad" if refused else ""
    return OutlineItem(
        (),
        f"StatefulSet/{one.name}",
        said=refused or f"workspace {one.workspace or 'of the whole run'}",
        sign="x" if refused else "",
        tone=tone,
    )


def _fact(one: Fact) -> OutlineItem:
    text = f"{one.reason}: {one.text}"
    return OutlineItem(
        (), text, about=lambda width: toned("", wrapped(f"{text}{f' ({one.time})' * bool(one.time)}", width))
    )
