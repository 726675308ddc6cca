"""Tekton in words: a run's condition, retries and division of requests, and what Tekton makes of a namespace's
LimitRanges.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kubectl_kres.provenance.journal import QuotaShortfall
from kubectl_kres.render.text.line import Line, age_text, columns, duration_text, labelled_lines, tone_lines, wrap_text
from kubectl_kres.reports.common.explanation import Verdict
from kubectl_kres.reports.pod.verdict import is_negative
from kubectl_kres.tekton.reports.part import (
    KilledContainer,
    MergedLimit,
    OversizedAddition,
    SummedSteps,
    TektonPart,
    WaitingRun,
)
from kubectl_kres.tekton.rules.base.problem import Problem
from kubectl_kres.wording import join_words

#: Where the run itself is refused.
_UNSTORED = frozenset({"object", "validation"})


def condition_lines(part: TektonPart, verdict: Verdict, width: int, now: str = "") -> Iterator[Line]:
    """Yield what becomes of the run, below verdict and fixes. ``now`` (RFC 3339): times are ages."""
    if part.about_another:
        text = f"Succeeded={part.status}, {part.reason}: the run has ended; the answer is about a new one"
        yield from labelled_lines("ended", text, width, tone="warn" if part.failed else "")
    if part.left_running:
        yield from labelled_lines("goes on", left_text(part), width, tone="warn")
    for killed in part.killed:
        yield from labelled_lines("killed", killed_text(killed), width, tone="bad")
    for outweighed in part.outweighed:
        yield from labelled_lines("why", _format_outweighed(outweighed), width, tone="warn")
    for summed in part.summed:
        yield from labelled_lines("steps", summed_text(summed), width, tone="warn")
    if part.throttled:
        yield from labelled_lines("slow", _format_throttled(part), width, tone="warn")
    for too_much in part.never_fits:
        yield from labelled_lines("never", never_text(too_much), width, tone="bad")
    if part.problem is not None:
        # A Task has no condition, nor has a run that no controller has seen.
        would = "" if part.status or part.problem.stage in _UNSTORED else "would become "
        yield from labelled_lines("status", f"{would}{_condition(part, part.problem)}", width)
    if part.waiting is not None:
        for text in waiting_texts(part.waiting, now, fits=not is_negative(verdict)):
            yield from labelled_lines("waits", text, width, tone="warn")


def headline_remarks(part: TektonPart, *, admitted: bool) -> Iterator[str]:
    """Yield that a run is held back, and of an admitted one the first container that was killed for memory."""
    if part.held_by:
        yield held_text(part.held_by)
    for killed in part.killed[:1] if admitted else ():
        limit = f" at its limit {killed.limit}" if killed.limit else ""
        yield f"{killed.name} was killed for memory{limit}{', and would be again' if killed.again else ''}"


def held_text(status: str) -> str:
    """Return the sentence that a run waits until somebody lets it go."""
    return f"held back: spec.status is {status}, nothing of it is made until that is taken out"


def killed_text(killed: KilledContainer) -> str:
    """Return which container, under which limit, and who set it."""
    additions = ", which Tekton adds," if killed.added else ""
    limit = f" at its memory limit {killed.limit}" if killed.limit else ""
    source = f" ({killed.source.ref} {killed.source.field})" if killed.source is not None else ""
    again = "; a new run dies the same way" if killed.again else "; a new run has another limit"
    return f"{killed.name}{additions} was killed for memory{limit}{source}{again}"


def _format_outweighed(outweighed: OversizedAddition) -> str:
    names = " and ".join(outweighed.containers)
    name = ", each in its turn" if len(outweighed.containers) > 1 else ""
    return (
        f"{outweighed.side}.{outweighed.resource} {outweighed.amount} is that of {names}, which Tekton adds{name}; "
        f"steps and sidecars have {outweighed.steps}"
    )


def _format_throttled(part: TektonPart) -> str:
    limits = ", ".join(f"{name} {amount}" for name, amount in part.throttled.items())
    return (
        f"Tekton {part.version} limits the cpu of containers that it adds ({limits}), which throttles them; 1.13.1 has "
        "no such values, an entry in config-defaults overrides them"
    )


def _condition(part: TektonPart, problem: Problem) -> str:
    if problem.stage in _UNSTORED:
        return f"the {problem.object} is not stored ({problem.code} {problem.reason}), so nothing runs"
    whose = "a new run gets " if part.about_another else ""
    return f"{whose}Succeeded={problem.status}, {problem.reason}: {_format_next_step(part, problem)}"


def _format_next_step(part: TektonPart, problem: Problem) -> str:
    if part.failed and not part.about_another:
        return "failed for good; start a new run after the change"
    if problem.reason == "ExceededResourceQuota":
        whose = f"that of PipelineRun/{part.pipeline_run}" if part.pipeline_run else "a PipelineRun's"
        return f"Tekton retries every {problem.requeue_seconds}s without end; its timeout is paused, {whose} is not"
    if not problem.final:
        return f"Tekton tries again after {problem.requeue_seconds}s"
    if problem.stage == "create" and part.retries:
        return f"Tekton tries again {part.retries} time{'s' * (part.retries > 1)} (retries), then the run has failed"
    if problem.status == "False":
        return "fails for good; start a new run after the change"
    return "nothing is tried again by itself"


def waiting_texts(waiting: WaitingRun, now: str = "", *, fits: bool) -> Iterator[str]:
    """Yield since when and until when a run waits. ``now`` (RFC 3339): in ages."""
    prefix = duration_text(waiting.since, now) if waiting.since else "for a quota"
    ahead = age_text(now, waiting.next_try)
    next_try = f"in {ahead}" if ahead else f"about {waiting.next_try}"
    tried = f"; next try {next_try}" if waiting.next_try else ""
    yield f"{prefix}{tried}{', which finds room now' if fits else ''}"
    if waiting.pipeline_run and waiting.seconds_left is not None:
        yield f"PipelineRun/{waiting.pipeline_run} {time_text(waiting.seconds_left)}"


def left_text(part: TektonPart) -> str:
    """Return that containers go on although the run has ended, and what that costs."""
    names, several = join_words(list(part.left_running)), len(part.left_running) > 1
    return (
        f"{names} still run{'' if several else 's'} although the run has ended: its pod counts in quotas and on its "
        "node until it is deleted"
    )


def summed_text(summed: SummedSteps) -> str:
    """Return that steps are summed up although they run one after another, and what bounds them together."""
    return (
        f"{summed.resource} {summed.total} is the sum of {summed.steps} steps, which run one after another: "
        f"computeResources.requests.{summed.resource} {summed.largest} of a new run (in a PipelineRun in taskRunSpecs) "
        "asks for that much in total, divided among them"
    )


def never_text(too_much: QuotaShortfall) -> str:
    """Return the sentence that a pod cannot fit, whoever else goes."""
    return (
        f"it asks for {too_much.requested} of {too_much.resource}, more than the {too_much.hard} that quota "
        f"{too_much.quota} has in total"
    )


def time_text(seconds: int) -> str:
    """Return what is left of a timeout."""
    if seconds <= 0:
        return f"has been over its timeout for {_duration(-seconds)}"
    return f"times out in {_duration(seconds)}"


def _duration(seconds: int) -> str:
    hours, rest = divmod(seconds, 3600)
    minutes, left = divmod(rest, 60)
    parts = (f"{hours}h" * bool(hours), f"{minutes}m" * bool(minutes), f"{left}s" * bool(left and not hours))
    return "".join(parts) or "0s"


def task_lines(part: TektonPart, width: int) -> Iterator[Line]:
    """Return how many steps there are, what Tekton adds, and what the division by steps did."""
    if part.task is None or not part.steps:
        return
    beside = f" and {part.sidecars} sidecar{'s' * (part.sidecars != 1)}" if part.sidecars else ""
    additions = f"; Tekton adds {', '.join(part.added)}" if part.added else ""
    text = f"{part.steps} step{'s' * (part.steps != 1)}{beside}{additions}"
    yield from tone_lines("quiet", wrap_text(text, width, first="  ", rest="    "))
    if part.task_level:
        yield from tone_lines("quiet", wrap_text(_division(part), width, first="  ", rest="    "))


def _division(part: TektonPart) -> str:
    lost = ", ".join(f"{name} {amount}" for name, amount in part.lost.items())
    rest = f"; the division loses {lost}" if lost else ""
    if part.steps == 1:
        return f"task level: replaces what the step asks for{rest}"
    return f"task level: each of {part.steps} steps gets the request / {part.steps} and the limit in full{rest}"


def merged_lines(merged_limits: Sequence[MergedLimit], width: int) -> Iterator[Line]:
    """Yield what Tekton makes of the LimitRanges for its steps, as a table."""
    if not merged_limits:
        return
    yield [("", "")]
    yield [("strong", "what Tekton's steps get from all LimitRanges together")]
    heads = ("RESOURCE", "REQUEST OF ALL STEPS", "AT LEAST FOR EACH", "FROM")
    rows = [
        (
            merged_limit.resource,
            merged_limit.default_request or "-",
            merged_limit.minimum or "-",
            ", ".join(
                dict.fromkeys(
                    f"{field_source.kind}/{field_source.name}"
                    for field_source in (merged_limit.default_source, merged_limit.minimum_source)
                    if field_source
                )
            )
            or "-",
        )
        for merged_limit in merged_limits
    ]
    for line in columns([heads, *rows]):
        yield [("", f"  {line}")]
    others = max(merged_limit.others for merged_limit in merged_limits)
    text = "the request is divided by the number of steps that state none"
    if others:
        text += f"; the order in which Tekton lists LimitRanges has {others} other result{'s' * (others > 1)}"
    yield from tone_lines("quiet", wrap_text(text, width, first="  ", rest="    "))
