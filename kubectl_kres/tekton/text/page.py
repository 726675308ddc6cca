"""The short page of a PipelineRun or Pipeline; ``pipeline`` has the whole answer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kubectl_kres.render.text.line import Line, age_text, clip_text, draw, labelled_lines, more_line
from kubectl_kres.render.text.remarks import unseen_text
from kubectl_kres.render.verdict.headline import code_line, one_line_message
from kubectl_kres.reports.common.explanation import merge_facts
from kubectl_kres.tekton.reports.pipeline import AtOnce, PipelineExplanation
from kubectl_kres.tekton.text.pipeline import pinned_task_texts, shortfall_texts, task_lines, verdict_lines

#: Tasks, events and assumptions that are shown; the rest is counted.
_TASKS, _FACTS, _ASSUMED = 8, 1, 2
#: Cells of an event's text.
_FACT = 240


def page(pipeline_explanation: PipelineExplanation, *, now: str, color: bool = False, width: int = 80) -> Iterator[str]:
    """Yield the answer as a page of its own. ``now`` (RFC 3339) turns times into ages."""
    for line in _lines(pipeline_explanation, now, width):
        yield draw(line, color=color)


def _lines(pipeline_explanation: PipelineExplanation, now: str, width: int) -> Iterator[Line]:
    yield from verdict_lines(pipeline_explanation, width, now)
    tasks = pipeline_explanation.tasks
    yield from task_lines(tasks[:_TASKS], width)
    if len(tasks) > _TASKS:
        yield [("quiet", f"and {len(tasks) - _TASKS} more tasks")]
    yield [("", "")]
    limited = [at_once for at_once in pipeline_explanation.at_once if at_once.quota]
    for quota in dict.fromkeys(at_once.quota for at_once in limited):
        group = [at_once for at_once in limited if at_once.quota == quota]
        text = f"at once, quota {quota}: {'; '.join(map(_amount, group))}"
        exceeded = [at_once for at_once in group if at_once.exceeded]
        yield from labelled_lines("asks", text, width, tone="bad" if exceeded else "")
        for sentence in shortfall_texts(exceeded):
            yield from labelled_lines("", sentence, width, tone="warn")
    for claim in pipeline_explanation.claims:
        if claim.state == "refused":
            yield from labelled_lines(
                "claim", f"{claim.object} of workspace {claim.workspace} is refused", width, tone="bad"
            )
    sentences = (one_line_message(pipeline_explanation.verdict), *pipeline_explanation.verdict.others)
    for assistant in pipeline_explanation.assistants:
        if assistant.refused and not _is_mentioned(assistant.refused[0], sentences):
            text = f"the affinity assistant StatefulSet/{assistant.name} gets no pod: {assistant.refused[0]}"
            yield from labelled_lines("", text, width, tone="bad")
        for text in pinned_task_texts(assistant) if assistant.lacking else ():
            yield from labelled_lines("pinned", text, width, tone="warn")
    yield from _remarks(pipeline_explanation, now, width)
    yield from code_line(pipeline_explanation.verdict)
    yield from more_line(["all that is asked for at once", "claims and assistants", "-c TASK: a task in full"], width)


def _is_mentioned(text: str, sentences: Sequence[str]) -> bool:
    """Return whether one of the sentences contains the refusal."""
    return any(text.partition(" is forbidden: ")[2] in sentence for sentence in sentences) and " is forbidden: " in text


def _remarks(pipeline_explanation: PipelineExplanation, now: str, width: int) -> Iterator[Line]:
    for fact in merge_facts(pipeline_explanation.facts)[:_FACTS]:
        ago = age_text(fact.time, now)
        often = f" ({fact.count}x)" if fact.count > 1 else ""
        last = f", last {ago} ago" if ago else ""
        text = f"{fact.reason}{often}{last}: {clip_text(fact.text, _FACT)}"
        yield from labelled_lines("seen", text, width, tone="quiet")
    for text in pipeline_explanation.verdict.others:
        yield from labelled_lines("or", text, width, tone="warn")
    for failed_read in pipeline_explanation.unseen:
        yield from labelled_lines("unread", unseen_text(failed_read), width, tone="bad")
    for assumption in pipeline_explanation.assumptions[:_ASSUMED]:
        yield from labelled_lines("assumed", assumption.text, width, tone="quiet")


def _amount(at_once: AtOnce) -> str:
    """Return the amount that open tasks request of one resource of a quota, and whether it fits."""
    least = "+" if at_once.at_least else ""
    last = " in finally" if at_once.is_finally else ""
    too_much = f" is too much, by {', '.join(at_once.tasks)}" if at_once.exceeded else ""
    return f"{at_once.resource} {at_once.after}{least} of {at_once.hard}{last}{too_much}"
