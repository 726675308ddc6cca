"""A PipelineRun as text: the verdict, a line for each task, and what they ask for together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kubectl_kres.render.pod.explain import explanation_lines, fact_lines
from kubectl_kres.render.tekton.taskrun import time_text
from kubectl_kres.render.text.line import Line, Tone, clipped, draw, padded, size, toned, wrapped
from kubectl_kres.render.text.remarks import remarks
from kubectl_kres.render.verdict.brief import Brief, with_remedies
from kubectl_kres.render.verdict.listed import Row
from kubectl_kres.render.verdict.remedy import remedy_lines
from kubectl_kres.render.verdict.words import message_of, verdict_word
from kubectl_kres.reports.tekton.pipeline import AtOnce, PipelineExplanation, PlannedTask, of_task
from kubectl_kres.tekton.pipeline.refused_runs import RUNS

_NAME, _CELL = 30, 18
_RACE = "; which task is first is a race"
_HEADS = ("TASK", "RUNS", "CPU", "MEMORY", "ANSWER")


def lines(
    found: PipelineExplanation, *, steps: bool = False, task: str = "", color: bool = False, width: int = 80
) -> Iterator[str]:
    """Every line of the answer. ``steps``: each task in full; ``task``: only this one, in full.

    Raises UsageError where there is no task of that name.
    """
    if task:
        shown = _task_in_full(found, task, steps=steps, width=width)
    else:
        shown = pipeline_lines(found, steps=steps, width=width)
    for line in shown:
        yield draw(line, color=color)


def row_of(found: PipelineExplanation) -> Row:
    """The row of one of many objects."""
    tone: Tone = "" if found.ended else verdict_word(found.verdict)[1]
    text = f"{len(found.tasks)} task{'s' * (len(found.tasks) != 1)}"
    told = found.verdict.allowed is not True or (found.ended and bool(found.remedies))
    rest = found.remedies[0].text if told and found.remedies else _tight(found).removeprefix(", ")
    because = "; ".join(filter(None, (text, rest)))
    return Row(found.subject, "ended" if found.ended else found.verdict.outcome, tone, because)


def brief(found: PipelineExplanation, more: str) -> Brief:
    """In few words. ``more``: the command that gives the whole answer."""
    row = row_of(found)
    said = verdict_word(found.verdict)[0] if not found.ended else row.outcome
    tasks = f"{len(found.tasks)} task{'s' * (len(found.tasks) != 1)}{_tight(found)}"
    because = message_of(found.verdict) if found.verdict.allowed is not True else tasks
    return with_remedies(Brief(row.tone, said, f": {found.subject.full}: {because}", next=more), found.remedies)


def pipeline_lines(found: PipelineExplanation, *, steps: bool, width: int) -> Iterator[Line]:
    """The same as ``lines``, not drawn yet."""
    yield from verdict_lines(found, width)
    yield [("", "")]
    last = sum(one.is_finally for one in found.tasks)
    count = len(found.tasks) - last
    head = f"{found.subject} in {found.subject.namespace}, from {found.start}"
    if found.tasks:
        head += f": {count} task{'s' * (count != 1)}{f', then {last} in finally' if last else ''}"
    yield from toned("quiet", wrapped(head, width, rest="  "))
    yield from _tasks(found.tasks, width)
    yield from _at_once(found, width)
    yield from _assistants(found, width)
    if steps:
        for one in found.tasks:
            yield from _in_full(one, width, steps=True)
    yield from fact_lines(found.facts, width)
    yield from remarks((("warn", "or: ", found.verdict.others),), found.assumptions, found.unseen, width)


def verdict_lines(found: PipelineExplanation, width: int) -> Iterator[Line]:
    """What Tekton says of the run, what to change, and what of its timeout is left."""
    if found.ended and not found.verdict.message:
        yield [("strong", "ended"), ("", f": {found.subject.full}; nothing of it is made any more")]
    else:
        word, tone = verdict_word(found.verdict)
        told = message_of(found.verdict) or f"{found.subject.full}{_tight(found)}"
        yield [(tone, word), ("", f": {told}")]
    yield from remedy_lines(found.remedies, "", width)
    problem = found.problem
    if problem is not None:
        stored = problem.stage not in {"object", "validation"}
        text = f"Succeeded={problem.status}, {problem.reason}" if stored else f"the {problem.object} is not stored"
        yield from toned("", wrapped(f"{text}, so nothing runs", width, first="status: ", rest=" " * 8))
    if found.ended and found.verdict.message:
        text = "the run has ended: nothing of it is made any more"
        yield from toned("", wrapped(text, width, first="ended:  ", rest=" " * 8))
    if found.seconds_left is not None:
        text = f"{found.subject} {time_text(found.seconds_left)}; that goes on while tasks wait for a quota"
        yield from toned("", wrapped(text, width, first="time:   ", rest=" " * 8))


def _tight(found: PipelineExplanation) -> str:
    """That not all fits at once."""
    names = dict.fromkeys(f"{one.resource} of quota {one.quota}" for one in found.at_once if one.exceeded)
    return f", but not all at once: {', '.join(names)}" if names else ""


def _tasks(tasks: Sequence[PlannedTask], width: int) -> Iterator[Line]:
    if not tasks:
        return
    rows = [[clipped(cell, _NAME if at == 0 else _CELL) for at, cell in enumerate(_cells(one))] for one in tasks]
    widths = [max(size(head), *(size(row[at]) for row in rows)) for at, head in enumerate(_HEADS[:-1])]
    yield [("", "")]
    yield [("quiet", "  ".join((*map(padded, _HEADS[:-1], widths), _HEADS[-1])))]
    for one, row in zip(tasks, rows, strict=True):
        tone, answer = _answer(one)
        text = "  ".join(map(padded, row, widths))
        after = f"  after {', '.join(one.after)}" if one.after else "  finally" if one.is_finally else ""
        fits = size(text) + 2 + size(answer) + size(after) <= width
        yield [("", f"{text}  "), (tone, answer), ("quiet", after if fits else "")]
        if after and not fits:
            yield from toned("quiet", wrapped(after.strip(), width, first="    ", rest="      "))
        if one.gap is not None:
            yield from toned("warn", wrapped(str(one.gap), width, first="    ", rest="      "))


def _cells(one: PlannedTask) -> tuple[str, ...]:
    totals = one.explanation.totals if one.explanation is not None else ()
    held = {(total.side, total.resource): total.value for total in totals}

    def pair(name: str) -> str:
        return f"{held.get(('requests', name), '-')} / {held.get(('limits', name), '-')}"

    runs = "?" if one.runs is None else str(one.runs)
    return (one.name, runs, pair("cpu"), pair("memory")) if totals else (one.name, runs, "-", "-")


def _answer(one: PlannedTask) -> tuple[Tone, str]:
    if one.state in {"done", "failed", "skipped"}:
        return ("quiet", one.state)
    if one.explanation is None:
        return ("warn", "not known")
    verdict, part = one.explanation.verdict, one.explanation.tekton
    word, tone = verdict_word(verdict)
    reason = part.problem.reason if part is not None and part.problem is not None else ""
    state = f", {one.state}" if one.state else ""
    return tone, f"{word}{state}{f': {reason}' if reason and verdict.allowed is not True else ''}"


def _at_once(found: PipelineExplanation, width: int) -> Iterator[Line]:
    groups: dict[str, list[AtOnce]] = {}
    for one in found.at_once:
        groups.setdefault(one.quota, []).append(one)
    for quota, group in groups.items():
        yield [("", "")]
        yield from _group(quota, group, width)
        for text in _too_much([one for one in group if one.exceeded]):
            yield from toned("warn", wrapped(text, width, first="  ", rest="  "))
    unknown = [one.name for one in found.tasks if one.gap is not None and not one.state]
    if unknown and found.at_once:
        yield from toned("warn", wrapped(f"without {', '.join(unknown)}: not known", width, first="  ", rest="  "))


def _too_much(group: Sequence[AtOnce]) -> Iterator[str]:
    """What comes of it: a pod waits, a TaskRun is not even made."""
    pods = [one for one in group if one.resource != RUNS]
    if pods:
        helped = any(one.assistants for one in pods)
        race = helped or any(len(one.tasks) > 1 for one in pods)
        first = "; which pod is first, a task's or an affinity assistant's, is a race" if helped else _RACE * race
        yield f"what does not fit waits, tried again every minute{first}"
    if len(pods) < len(group):
        yield "a TaskRun too many is refused and tried again and again; the PipelineRun says nothing of it"


def _group(quota: str, group: Sequence[AtOnce], width: int) -> Iterator[Line]:
    title = f"at once, quota {quota}" if quota else "at once, no quota limits it"
    heads = ("ASK", "USED", "HARD", "AFTER") if quota else ("ASK",)
    rows = [
        [clipped(cell, _CELL) for cell in (_amount(one), one.used, one.hard, one.after)[: len(heads)]] for one in group
    ]
    widths = [max(size(head), *(size(row[at]) for row in rows)) for at, head in enumerate(heads)]
    labels = [f"  {one.resource}{' (finally)' if one.is_finally else ''}" for one in group]
    column = min(40, max(size(title), *map(size, labels)))
    head: Line = [
        ("strong", padded(clipped(title, column), column)),
        ("quiet", "  " + "  ".join(map(padded, heads, widths))),
    ]
    yield head
    for one, label, row, then in zip(group, labels, rows, (*group[1:], None), strict=True):
        tone: Tone = "bad" if one.exceeded else ""
        text = f"{padded(clipped(label, column), column)}  {'  '.join(map(padded, row, widths))}"
        yield [(tone, f"{text}{'  too much' if one.exceeded else ''}")]
        if then is None or _by(then) != _by(one):
            yield from toned("quiet", wrapped(_by(one), width, first="    ", rest="      "))


def _amount(one: AtOnce) -> str:
    return f"{one.amount}{'+' if one.at_least else ''}"


def _by(one: AtOnce) -> str:
    parts = [f"by {', '.join(one.tasks)}"]
    if one.counted:
        parts.append(f"of which {one.counted} is in used already")
    if one.assistants:
        parts.append(f"affinity assistants {one.assistants} beside")
    if one.at_least:
        parts.append("at least: a matrix depends on a result")
    return "; ".join(parts)


def _assistants(found: PipelineExplanation, width: int) -> Iterator[Line]:
    if found.assistants:
        yield [("", "")]
    for one in found.assistants:
        whose = f" of workspace {one.workspace}" if one.workspace else ""
        text = f"affinity assistant{whose}: StatefulSet/{one.name}, a pod with 50m cpu and 100Mi memory"
        yield from toned("", wrapped(text, width, rest="  "))
        for event in one.refused:
            yield from toned("bad", wrapped(f"FailedCreate: {event}", width, first="  ", rest="    "))
        if one.refused:
            text = "no status of a run says so; its tasks' pods are made and may find no node"
            yield from toned("warn", wrapped(text, width, first="  ", rest="    "))


def _task_in_full(found: PipelineExplanation, name: str, *, steps: bool, width: int) -> Iterator[Line]:
    yield from _in_full(of_task(found, name).tasks[0], width, steps=steps)


def _in_full(one: PlannedTask, width: int, *, steps: bool) -> Iterator[Line]:
    yield [("", "")]
    yield [("strong", f"task {one.name}")]
    if one.explanation is not None:
        yield from explanation_lines(one.explanation, steps=steps, width=width)
    elif one.gap is not None:
        yield from toned("warn", wrapped(str(one.gap), width, first="  ", rest="    "))
