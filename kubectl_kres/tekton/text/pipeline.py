"""A PipelineRun as text, whole and as a short page: the verdict, a line for each task, what they ask for together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kubectl_kres.quantity import parse
from kubectl_kres.render.pod.explain import explanation_lines, fact_lines
from kubectl_kres.render.text.line import (
    Line,
    Tone,
    age_text,
    clip_text,
    draw,
    duration_text,
    labelled_lines,
    led_lines,
    more_line,
    pad_text,
    size,
    tone_lines,
    wrap_text,
)
from kubectl_kres.render.text.remarks import remarks
from kubectl_kres.render.text.sentences import decisive_texts, sentence_text
from kubectl_kres.render.text.system import systems
from kubectl_kres.render.text.unread import unseen_texts
from kubectl_kres.render.verdict.brief import Brief, with_remedies
from kubectl_kres.render.verdict.headline import cause, code_line, one_line_message, verdict_word
from kubectl_kres.render.verdict.object_list import Row
from kubectl_kres.render.verdict.remedy import first_fix_lines, remedy_lines
from kubectl_kres.render.verdict.run_state import short, state_sentence, state_suffix
from kubectl_kres.reports.common.analysis import AccountStep
from kubectl_kres.reports.common.explanation import merge_facts, waits_or_fails
from kubectl_kres.reports.common.system_parts import part_of
from kubectl_kres.tekton.reports.part import TektonPart
from kubectl_kres.tekton.reports.pipeline import AssistantPod, AtOnce, PipelineExplanation, PlannedTask, narrow_to_task
from kubectl_kres.tekton.rules.pipeline.pipeline_run import RUNS
from kubectl_kres.tekton.text.taskrun import held_text, time_text

_NAME, _CELL = 30, 18
_RACE = "; which task is first is chance"
_HEADS = ("TASK", "RUNS", "CPU", "MEMORY", "ANSWER")


def lines(
    run: PipelineExplanation,
    *,
    steps: bool = False,
    task: str = "",
    now: str = "",
    color: bool = False,
    width: int = 80,
) -> Iterator[str]:
    """Yield every line of the answer. ``steps``: each task in full; ``task``: only this one, in full. ``now``: times
    are ages as of then (RFC 3339).

    Raises UsageError where there is no task of that name.
    """
    if task:
        shown = _task_in_full(run, task, steps=steps, width=width, now=now)
    else:
        shown = pipeline_lines(run, steps=steps, width=width, now=now)
    for line in shown:
        yield draw(line, color=color)


def row_of(run: PipelineExplanation, now: str = "") -> Row:
    """Return the row of one of many objects."""
    tone: Tone = "" if run.ended else verdict_word(run.verdict)[1]
    text = f"{len(run.tasks)} task{'s' * (len(run.tasks) != 1)}"
    texts = run.verdict.allowed is not True or (run.ended and bool(run.fixes))
    rest = sentence_text(run.fixes[0].text) if texts and run.fixes else _format_shortage(run).removeprefix(", ")
    state = run.run_state
    held_up = state_sentence(state, now) if state is not None and waits_or_fails(state) else ""
    if run.held_by and not held_up:
        held_up = f"held back by spec.status {run.held_by}"
    reason = "; ".join(filter(None, (text, held_up, rest)))
    word, state_tone = short(state)
    return Row(
        run.subject,
        "ended" if run.ended else run.verdict.outcome,
        tone,
        reason,
        state=word,
        state_tone=state_tone,
    )


def brief(run: PipelineExplanation, more: str, now: str = "") -> Brief:
    """In few words. ``more``: the command that gives the whole answer."""
    row = row_of(run, now)
    text = verdict_word(run.verdict)[0] if not run.ended else row.outcome
    count = len(run.tasks)
    tasks = f"{count} task{'s' * (count != 1)}{_format_shortage(run)}"
    reason = one_line_message(run.verdict) if run.verdict.allowed is not True else tasks
    state = run.run_state if not run.ended else None
    if state is not None and waits_or_fails(state):
        reason += f"; {state_sentence(state, now)}"
    else:
        reason += _format_blocked_run(run)
    warning = "; ".join(f"assumed: {each}" for each in decisive_texts(run.assumptions))
    return with_remedies(
        Brief(row.tone, text, f"{state_suffix(state)}: {run.subject.full_name}: {reason}", warning=warning, next=more),
        run.fixes,
    )


def pipeline_lines(run: PipelineExplanation, *, steps: bool, width: int, now: str = "") -> Iterator[Line]:
    """Yield the same as ``lines``, not drawn yet."""
    yield from verdict_lines(run, width, now)
    yield [("", "")]
    last = sum(task.is_finally for task in run.tasks)
    count = len(run.tasks) - last
    head = f"{run.subject} in {run.subject.namespace}, from {run.start}"
    if run.tasks:
        head += f": {count} task{'s' * (count != 1)}{f', then {last} in finally' if last else ''}"
    yield from tone_lines("quiet", wrap_text(head, width, rest="  "))
    yield from task_lines(run.tasks, width)
    yield from _at_once(run, width)
    yield from _claims(run.claims, width)
    yield from _assistants(run, width)
    if steps:
        for task in run.tasks:
            yield from _in_full(task, width, steps=True, now=now)
    yield from fact_lines(run.facts, width, now)
    yield from remarks(
        (("warn", "or", run.verdict.others),),
        run.assumptions,
        run.unread,
        width,
    )


def verdict_lines(run: PipelineExplanation, width: int, now: str = "") -> Iterator[Line]:
    """Yield what becomes of the run and why, what to change, what of its timeout is left, and what Tekton says.

    ``now`` (RFC 3339): times are ages.
    """
    tone, word, texts = _state_words(run)
    message = one_line_message(run.verdict)
    reason = _format_reason(run, now) if message else ""
    yield from led_lines(tone, word, f": {reason or texts}", width)
    yield from _state(run, width, now)
    if run.fixes:
        yield [("", "")]
    yield from remedy_lines(run.fixes, width)
    yield from _goes_on(run, width)
    for system in systems():
        yield from system.turn_lines(run.pod_parts, width, refused=run.verdict.allowed is False)
    if message and message not in reason:
        yield from labelled_lines("server", message, width, tone="quiet")


def _format_reason(run: PipelineExplanation, now: str) -> str:
    """Return the run, the first task that is refused, the cause in our words where they are known, and since when."""
    verdict, state = run.verdict, run.run_state
    message = one_line_message(verdict)
    known = cause(verdict.findings)
    task, colon, _ = message.partition(": ") if message.startswith("task ") else ("", "", "")
    text = f"{task}{colon}{known}" if known else message
    prefix = state.since if state is not None and not run.ended else ""
    age = f" ({duration_text(prefix, now)})" if prefix else ""
    return f"{run.subject.full_name}: {text}{age}{_format_blocked_run(run)}"


def head_lines(run: PipelineExplanation, width: int) -> Iterator[Line]:
    """Yield the same at the head of a screen: what is to be done stands before what Tekton says."""
    tone, word, texts = _state_words(run)
    name = run.subject.full_name
    shown = name if run.fixes else texts
    yield from led_lines(tone, word, f": {shown}", width)
    yield from _state(run, width)
    if shown != texts:
        yield from first_fix_lines(run.fixes, width)
        yield from tone_lines("quiet", wrap_text(texts, width, rest="  "))
    yield from _goes_on(run, width)


def _state(run: PipelineExplanation, width: int, now: str = "") -> Iterator[Line]:
    """Yield the sentence that it waits or fails, why, and what to do next."""
    state = run.run_state
    shown = not (run.ended or run.verdict.allowed is not True)
    if state is None or not waits_or_fails(state) or not shown:
        return
    yield from tone_lines("bad", wrap_text(f"{state.state}: {state_sentence(state, now)}", width, rest="  "))
    if state.next and not run.fixes:
        yield from labelled_lines("next", sentence_text(state.next), width)


def _state_words(run: PipelineExplanation) -> tuple[Tone, str, str]:
    """Return a word for what becomes of it, with its tone; and what Tekton says, or the name."""
    name = run.subject.full_name
    if run.ended and not run.verdict.message:
        state = run.run_state
        if state is not None and waits_or_fails(state):
            return "bad", "failed", f"{name}: {state_sentence(state)}"
        return "strong", "ended", f"{name}; nothing of it is made any more"
    word, tone = verdict_word(run.verdict)
    text = one_line_message(run.verdict) or f"{name}{_format_shortage(run)}"
    return tone, word, f"{text}{_format_blocked_run(run)}"


def _format_blocked_run(run: PipelineExplanation) -> str:
    return f"; {held_text(run.held_by)}" if run.held_by else ""


def _goes_on(run: PipelineExplanation, width: int) -> Iterator[Line]:
    """Yield what is written of the run, and what of its timeout is left."""
    problem = run.problem
    if problem is not None:
        stored = problem.stage not in {"object", "validation"}
        text = f"Succeeded={problem.status}, {problem.reason}" if stored else f"the {problem.object} is not stored"
        consequence = (
            "; tried again with back-off, while the timeout of the run goes on"
            if problem.again
            else "; it fails for good; start a new run after the change"
            if problem.stage == "create"
            else ""
        )
        yield from labelled_lines("status", f"{text}, so nothing runs{consequence}", width, tone="")
    if run.ended and run.verdict.message:
        text = "the run has ended: nothing of it is made any more"
        yield from labelled_lines("ended", text, width, tone="")
    if run.seconds_left is not None:
        left = time_text(run.seconds_left)
        text = f"{run.subject} {left}; the time runs on while tasks wait for a quota"
        yield from labelled_lines("time", text, width, tone="")


def _format_shortage(run: PipelineExplanation) -> str:
    """Return the sentence that not all fits at once."""
    names = dict.fromkeys(f"{at_once.resource} of quota {at_once.quota}" for at_once in run.at_once if at_once.exceeded)
    return f", but not all at once: {', '.join(names)}" if names else ""


def task_lines(tasks: Sequence[PlannedTask], width: int) -> Iterator[Line]:
    """Yield an empty line and a table of the tasks; nothing without tasks."""
    if not tasks:
        return
    rows = [
        [clip_text(cell, _NAME if index == 0 else _CELL) for index, cell in enumerate(_cells(task))] for task in tasks
    ]
    widths = [max(size(head), *(size(row[index]) for row in rows)) for index, head in enumerate(_HEADS[:-1])]
    yield [("", "")]
    yield [("quiet", "request / limit of the pod of each task")]
    yield [("quiet", "  ".join((*map(pad_text, _HEADS[:-1], widths), _HEADS[-1])))]
    for task, row in zip(tasks, rows, strict=True):
        tone, answer = _answer(task)
        text = "  ".join(map(pad_text, row, widths))
        after = f"  after {', '.join(task.after)}" if task.after else "  finally" if task.is_finally else ""
        fits = size(text) + 2 + size(answer) + size(after) <= width
        yield [("", f"{text}  "), (tone, answer), ("quiet", after if fits else "")]
        if after and not fits:
            yield from tone_lines("quiet", wrap_text(after.strip(), width, first="    ", rest="      "))
        if task.missing is not None:
            yield from tone_lines("warn", wrap_text(str(task.missing), width, first="    ", rest="      "))


def _cells(planned_task: PlannedTask) -> tuple[str, ...]:
    totals = planned_task.explanation.totals if planned_task.explanation is not None else ()
    result = {(total.side, total.resource): total.value for total in totals}

    def pair(name: str) -> str:
        return f"{result.get(('requests', name), '-')} / {result.get(('limits', name), '-')}"

    runs = "?" if planned_task.runs is None else str(planned_task.runs)
    return (planned_task.name, runs, pair("cpu"), pair("memory")) if totals else (planned_task.name, runs, "-", "-")


def _answer(planned_task: PlannedTask) -> tuple[Tone, str]:
    if planned_task.state in {"done", "failed", "skipped"}:
        return ("quiet", planned_task.state)
    if planned_task.explanation is None:
        return ("warn", "not known")
    verdict = planned_task.explanation.verdict
    part = part_of(planned_task.explanation.pod_parts, TektonPart)
    word, tone = verdict_word(verdict)
    reason = part.problem.reason if part is not None and part.problem is not None else ""
    state = f", {planned_task.state}" if planned_task.state else ""
    return tone, f"{word}{state}{f': {reason}' if reason and verdict.allowed is not True else ''}"


def _at_once(run: PipelineExplanation, width: int) -> Iterator[Line]:
    groups: dict[str, list[AtOnce]] = {}
    for at_once in run.at_once:
        groups.setdefault(at_once.quota, []).append(at_once)
    for quota, group in groups.items():
        yield [("", "")]
        yield from _group(quota, group, width)
        for text in shortfall_texts([at_once for at_once in group if at_once.exceeded]):
            yield from tone_lines("warn", wrap_text(text, width, first="  ", rest="  "))
    unknown = [task.name for task in run.tasks if task.missing is not None and not task.state]
    if unknown and run.at_once:
        yield from tone_lines(
            "warn", wrap_text(f"without {', '.join(unknown)}: not known", width, first="  ", rest="  ")
        )


def shortfall_texts(group: Sequence[AtOnce]) -> Iterator[str]:
    """Yield what comes of what exceeds a quota: a pod waits, a TaskRun is not even made. Nothing of nothing."""
    pods = [at_once for at_once in group if at_once.resource != RUNS]
    if pods:
        helped = any(pod.assistants for pod in pods)
        race = helped or any(len(pod.tasks) > 1 for pod in pods)
        first = "; whether a task's pod or an affinity assistant's is first is chance" if helped else _RACE * race
        yield f"what does not fit waits, and Tekton retries every 60s{first}"
    if len(pods) < len(group):
        yield "a TaskRun too many is refused and retried without end; the PipelineRun says nothing of it"


def _group(quota: str, group: Sequence[AtOnce], width: int) -> Iterator[Line]:
    title = f"at once, quota {quota}" if quota else "at once, no quota limits it"
    heads = ("ASK", "USED", "HARD", "AFTER") if quota else ("ASK",)
    rows = [
        [clip_text(cell, _CELL) for cell in (_amount(at_once), at_once.used, at_once.hard, at_once.after)[: len(heads)]]
        for at_once in group
    ]
    widths = [max(size(head), *(size(row[index]) for row in rows)) for index, head in enumerate(heads)]
    labels = [f"  {at_once.resource}{' (finally)' if at_once.is_finally else ''}" for at_once in group]
    column = min(40, max(size(title), *map(size, labels)))
    head: Line = [
        ("strong", pad_text(clip_text(title, column), column)),
        ("quiet", "  " + "  ".join(map(pad_text, heads, widths))),
    ]
    yield head
    for at_once, label, row, then in zip(group, labels, rows, (*group[1:], None), strict=True):
        tone: Tone = "bad" if at_once.exceeded else ""
        text = f"{pad_text(clip_text(label, column), column)}  {'  '.join(map(pad_text, row, widths))}"
        yield [(tone, f"{text}{'  too much' if at_once.exceeded else ''}")]
        if then is None or _format_users(then) != _format_users(at_once):
            yield from tone_lines("quiet", wrap_text(_format_users(at_once), width, first="    ", rest="      "))


def _amount(at_once: AtOnce) -> str:
    return f"{at_once.amount}{'+' if at_once.at_least else ''}"


def _format_users(at_once: AtOnce) -> str:
    parts = [f"by {', '.join(at_once.tasks)}"]
    if at_once.counted:
        parts.append(f"of which {at_once.counted} is in used already")
    if at_once.assistants:
        parts.append(f"and {at_once.assistants} for affinity assistants")
    if at_once.at_least:
        parts.append("at least: a matrix depends on a result")
    return "; ".join(parts)


def _assistants(run: PipelineExplanation, width: int) -> Iterator[Line]:
    if run.assistants:
        yield [("", "")]
    for assistant in run.assistants:
        whose = f" of workspace {assistant.workspace}" if assistant.workspace else ""
        text = f"affinity assistant{whose}: StatefulSet/{assistant.name}, a pod with 50m cpu and 100Mi memory"
        yield from tone_lines("", wrap_text(text, width, rest="  "))
        for event in assistant.refused:
            yield from tone_lines("bad", wrap_text(f"FailedCreate: {event}", width, first="  ", rest="    "))
        if assistant.refused:
            text = f"no status of a run says so; {_format_missing_assistant(assistant)}"
            yield from tone_lines("warn", wrap_text(text, width, first="  ", rest="    "))
        for text in pinned_task_texts(assistant):
            tone: Tone = "warn" if assistant.not_fitting else "quiet"
            yield from tone_lines(tone, wrap_text(text, width, first="  ", rest="    "))


def pinned_task_texts(assistant: AssistantPod) -> Iterator[str]:
    """Yield which of the tasks to come fit on the assistant's node, and what the others lack there; nothing where it is
    on none, or none is to come.
    """
    if assistant.unread_node:
        yield f"on node {assistant.node}; what is left there for tasks to come could not be read"
    for task in assistant.not_fitting:
        lacks = ", ".join(
            f"{short.short_by} of {short.resource} (asks {short.pod_request}; it has {short.allocatable}, "
            f"{short.requested} requested then)"
            for short in task.shortages
        )
        pinned = f"task {task.name} does not fit on node {assistant.node}, to which the assistant pins it"
        yield f"{pinned}: short by {lacks}"
    if assistant.fitting:
        whose = f"task{'s' * (len(assistant.fitting) > 1)} {', '.join(assistant.fitting)}"
        yield f"on node {assistant.node}; {whose} to come {'fit' if len(assistant.fitting) > 1 else 'fits'} there"


def _format_missing_assistant(assistant: AssistantPod) -> str:
    """Return what it means for the tasks, whose affinity to its pod is required."""
    tasks = assistant.tasks
    if not tasks:
        return "no task needs it"
    whose = f"task{'s' * (len(tasks) > 1)} {', '.join(tasks)}"
    return f"the pods of {whose} are made and find no node, until the run times out"


def _claims(claims: Sequence[AccountStep], width: int) -> Iterator[Line]:
    """Yield the claims of workspaces, and what they cost quotas."""
    new = [claim for claim in claims if claim.state != "there"]
    if new:
        yield [("", "")]
    for claim in new:
        by = "" if claim.maker.kind == "PipelineRun" else f", made by {claim.maker}"
        state = ", not tried" if claim.state == "none" else ""
        text = f"claim of workspace {claim.workspace}: {claim.object}, {claim.storage or 'no'} storage{by}{state}"
        yield from tone_lines("bad" if claim.state == "refused" else "", wrap_text(text, width, rest="  "))
        for charge in claim.charges:
            for name, asked in charge.requested.items():
                over = parse(charge.after[name]) > parse(charge.hard[name])
                text = f"quota {charge.quota}: {name} {asked}, used {charge.used[name]} of {charge.hard[name]}"
                tone: Tone = "bad" if over else "quiet"
                yield from tone_lines(tone, wrap_text(f"{text}{', too much' * over}", width, first="  ", rest="    "))


def _task_in_full(run: PipelineExplanation, name: str, *, steps: bool, width: int, now: str) -> Iterator[Line]:
    yield from _in_full(narrow_to_task(run, name).tasks[0], width, steps=steps, now=now)


def _in_full(planned_task: PlannedTask, width: int, *, steps: bool, now: str) -> Iterator[Line]:
    yield [("", "")]
    yield [("strong", f"task {planned_task.name}")]
    if planned_task.explanation is not None:
        yield from explanation_lines(planned_task.explanation, steps=steps, width=width, now=now)
    elif planned_task.missing is not None:
        yield from tone_lines("warn", wrap_text(str(planned_task.missing), width, first="  ", rest="    "))


#: Tasks, events and assumptions that are shown; the rest is counted.
_TASKS, _FACTS, _ASSUMED = 8, 1, 2
#: Cells of an event's text.
_FACT = 240


def page(run: PipelineExplanation, *, now: str, color: bool = False, width: int = 80) -> Iterator[str]:
    """Yield the answer as a page of its own. ``now`` (RFC 3339) turns times into ages."""
    for line in _page_lines(run, now, width):
        yield draw(line, color=color)


def _page_lines(run: PipelineExplanation, now: str, width: int) -> Iterator[Line]:
    yield from verdict_lines(run, width, now)
    tasks = run.tasks
    yield from task_lines(tasks[:_TASKS], width)
    if len(tasks) > _TASKS:
        yield [("quiet", f"and {len(tasks) - _TASKS} more tasks")]
    yield [("", "")]
    limited = [at_once for at_once in run.at_once if at_once.quota]
    for quota in dict.fromkeys(at_once.quota for at_once in limited):
        group = [at_once for at_once in limited if at_once.quota == quota]
        text = f"at once, quota {quota}: {'; '.join(map(_at_once_text, group))}"
        exceeded = [at_once for at_once in group if at_once.exceeded]
        yield from labelled_lines("asks", text, width, tone="bad" if exceeded else "")
        for sentence in shortfall_texts(exceeded):
            yield from labelled_lines("", sentence, width, tone="warn")
    for claim in run.claims:
        if claim.state == "refused":
            yield from labelled_lines(
                "claim", f"{claim.object} of workspace {claim.workspace} is refused", width, tone="bad"
            )
    sentences = (one_line_message(run.verdict), *run.verdict.others)
    for assistant in run.assistants:
        if assistant.refused and not _is_mentioned(assistant.refused[0], sentences):
            text = f"the affinity assistant StatefulSet/{assistant.name} gets no pod: {assistant.refused[0]}"
            yield from labelled_lines("", text, width, tone="bad")
        for text in pinned_task_texts(assistant) if assistant.not_fitting else ():
            yield from labelled_lines("pinned", text, width, tone="warn")
    yield from _page_remarks(run, now, width)
    yield from code_line(run.verdict)
    yield from more_line(["all that is asked for at once", "claims and assistants", "-c TASK: a task in full"], width)


def _is_mentioned(text: str, sentences: Sequence[str]) -> bool:
    """Return whether one of the sentences contains the refusal."""
    return any(text.partition(" is forbidden: ")[2] in sentence for sentence in sentences) and " is forbidden: " in text


def _page_remarks(run: PipelineExplanation, now: str, width: int) -> Iterator[Line]:
    for fact in merge_facts(run.facts)[:_FACTS]:
        ago = age_text(fact.time, now)
        often = f" ({fact.count}x)" if fact.count > 1 else ""
        last = f", last {ago} ago" if ago else ""
        text = f"{fact.reason}{often}{last}: {clip_text(fact.text, _FACT)}"
        yield from labelled_lines("seen", text, width, tone="quiet")
    for text in run.verdict.others:
        yield from labelled_lines("or", text, width, tone="warn")
    for text in unseen_texts(run.unread):
        yield from labelled_lines("unread", text, width, tone="bad")
    for assumption in run.assumptions[:_ASSUMED]:
        yield from labelled_lines("assumed", sentence_text(assumption.text), width, tone="quiet")


def _at_once_text(at_once: AtOnce) -> str:
    """Return the amount that open tasks request of one resource of a quota, and whether it fits."""
    least = "+" if at_once.at_least else ""
    last = " in finally" if at_once.is_finally else ""
    too_much = f" is too much, by {', '.join(at_once.tasks)}" if at_once.exceeded else ""
    return f"{at_once.resource} {at_once.after}{least} of {at_once.hard}{last}{too_much}"
