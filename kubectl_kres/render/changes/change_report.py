"""What a change does, as text: worst first, and nothing that stays as it is."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from kubectl_kres.model.meta import ObjectRef
from kubectl_kres.render.text.line import Line, Tone, draw, toned, wrapped
from kubectl_kres.render.verdict.brief import Brief
from kubectl_kres.render.verdict.headline import at_maximum
from kubectl_kres.reports.changes.report import (
    ChangeReport,
    ClaimChange,
    Count,
    NextRollout,
    QuotaChange,
    StepResult,
    WorkloadChange,
)

_TONES: dict[str, Tone] = {"worse": "bad", "better": "good", "other": "warn"}
_HEADS = {"worse": "Worse", "better": "Better", "other": "Different"}


def lines(report: ChangeReport, *, color: bool, width: int) -> Iterator[str]:
    """The steps that the server refuses, then what changes."""
    yield from _drawn(change_lines(report, width), color=color)


def brief(report: ChangeReport, again: Callable[[ObjectRef], str]) -> Brief:
    """In few words: a step that is refused, or the worst of the workloads. ``again``: the command that explains one."""
    refused = next((step for step in report.steps if not step.allowed), None)
    if refused is not None:
        return Brief("bad", "refused", f": step {refused.number}: {refused.step} {refused.subject}: {refused.message}")
    tones: dict[str, Tone] = {**_TONES, "none": "good"}
    words = {"worse": "worse", "better": "better", "other": "different", "none": "no change"}
    first = next((workload for effect in _HEADS for workload in report.workloads if workload.effect == effect), None)
    if first is None:
        return Brief(tones[report.outcome], words[report.outcome], f": {_sum(report)}")
    texts = [*first.refusals[:1], *([first.next_after.message] if first.next_after is not None else [])]
    texts = [text for text in texts if text]
    if not texts and first.rollout_after is not None:
        texts = [f"its next rollout {_stalls(first.rollout_after)}"]
    text = f"{first.subject.full}: {_pods(first)}{f': {texts[0]}' if texts else ''}"
    return Brief(tones[report.outcome], words[report.outcome], f": {_sum(report)}; {text}", next=again(first.subject))


def _drawn(value: Iterator[Line], *, color: bool) -> Iterator[str]:
    for line in value:
        yield draw(line, color=color)


def change_lines(report: ChangeReport, width: int) -> Iterator[Line]:
    """The same, not drawn yet."""
    refused = [step for step in report.steps if not step.allowed]
    if refused:
        yield [("bad", "Refused steps; the ones after them go on from the state without them:")]
        for step in refused:
            yield from _step(step, width)
        yield []
    warned = [step for step in report.steps if step.allowed and step.warnings]
    if warned:
        yield [("warn", "The server warns of:")]
        for step in warned:
            yield from _step(step, width)
        yield []
    for effect, head in _HEADS.items():
        result = [
            *(_workload(item, width) for item in report.workloads if item.effect == effect),
            *(_quota(item, width) for item in report.quotas if item.effect == effect),
            *(_claim(item) for item in report.claims if item.effect == effect),
        ]
        if result:
            yield [(_TONES[effect], f"{head}:")]
            for entry in result:
                yield from entry
            yield []
    yield [("strong", _sum(report))]
    for text in _remarks(report):
        yield from toned("quiet", wrapped(text, width))


def _sum(report: ChangeReport) -> str:
    if report.outcome == "none":
        return "Nothing changes." if report.complete and report.computed else "Nothing changes as far as seen."
    counts = dict.fromkeys(_HEADS, 0)
    for group in (report.workloads, report.quotas, report.claims):
        for item in group:
            counts[item.effect] += 1
    words = {"worse": "worse", "better": "better", "other": "different"}
    return ", ".join(f"{number} {words[effect]}" for effect, number in counts.items() if number)


def _remarks(report: ChangeReport) -> Iterator[str]:
    if report.ends > 1:
        yield f"{report.ends} ends are possible, since controllers race for the room that is left: from worst to best."
    if not report.exhaustive:
        yield "There are more orders than were tried."
    yield from report.notes


def _where(ref: ObjectRef) -> str:
    return f"{ref.namespace}  {ref}" if ref.namespace else str(ref)


def _step(step: StepResult, width: int) -> Iterator[Line]:
    place = f" ({step.label})" if step.label else ""
    where = f" in {step.subject.namespace}" if step.subject.namespace else ""
    verb, to, number = step.step.partition(" to ")
    head = f"  step {step.number}{place}: {verb} {step.subject}{where}{to}{number}"
    yield [("", head)]
    for text in (step.message, *step.others) if not step.allowed else step.warnings:
        yield from toned("", wrapped(text, width, first="    ", rest="    "))


def _workload(change: WorkloadChange, width: int) -> Iterator[Line]:
    tone = _TONES[change.effect]
    yield [(tone, f"  {_where(change.subject)}"), ("", f"  {_pods(change)}")]
    texts = list(change.refusals)
    following = change.next_after
    if following is not None and not following.admitted and not texts:
        texts = [following.message]
    for text in texts:
        yield from toned("", wrapped(text, width, first="    ", rest="    "))
    rollout = change.rollout_after
    if rollout is not None:
        yield from toned("", wrapped(f"its next rollout {_stalls(rollout)}", width, first="    ", rest="      "))
        yield from toned("", wrapped(rollout.message, width, first="    ", rest="    "))
    elif change.rollout_before is not None:
        yield [("", "    its next rollout would complete")]
    reach, earlier = change.autoscaled_after, change.autoscaled_before
    if reach is not None and (earlier is not None or reach.fits < reach.most):
        was = f", {earlier.fits} of {earlier.most} before" if earlier is not None else ""
        yield from toned("", wrapped(f"{at_maximum(reach)}{was}", width, first="    ", rest="      "))
    before = change.next_before
    if before is not None and following is not None and before.admitted and following.admitted:
        if before.qos != following.qos:
            yield [("", f"    next pods: QoS class {before.qos} -> {following.qos}")]
        for item in change.resized:
            yield [("", f"    next pods: {item.path} {item.before or 'unset'} -> {item.after or 'unset'}")]


def _stalls(rollout: NextRollout) -> str:
    beside = f", beside {', '.join(map(str, rollout.beside))}" if rollout.beside else ""
    verb = "would" if rollout.most == rollout.updated else "may"
    return f"{verb} stall at {rollout.updated} of {rollout.of} updated{beside}"


def _pods(change: WorkloadChange) -> str:
    before, after = change.before, change.after
    if before is None and after is None:
        return ", ".join(["next run", *_following(change)])
    if before is None and after is not None:
        return f"new: {_first_pod(change) or _count(after)}"
    if after is None or before is None:
        return "is gone"
    parts = [_count(after)] if before == after else [f"{_count(before)} -> {_count(after)}"]
    if change.stalled:
        parts.append("its rollout stalls")
    following = _following(change, "the next one ")
    return ", ".join([*parts, *following])


def _first_pod(change: WorkloadChange) -> str:
    """What becomes of the first pod of a new object whose pods are not counted; empty of another one."""
    following = change.next_after
    if not change.uncounted or following is None:
        return ""
    return f"its first pod is {'admitted' if following.admitted else 'refused'}"


def _following(change: WorkloadChange, which: str = "") -> list[str]:
    following, was = change.next_after, change.next_before
    if following is not None and not following.admitted and not change.refusals and (was is None or was.admitted):
        return [f"{which}is refused"]
    if following is not None and following.admitted and was is not None and not was.admitted:
        return [f"{which}is admitted"]
    return []


def _count(count: Count) -> str:
    if not count.wanted and not count.most:
        return "no pods"
    pods = str(count.pods) if count.pods == count.most else f"{count.pods} to {count.most}"
    return f"{pods} of {count.wanted} {'pod' if count.wanted == 1 else 'pods'}"


def _quota(change: QuotaChange, width: int) -> Iterator[Line]:
    del width
    before = f"used {change.used_before or '?'} of {change.hard_before}" if change.hard_before else "no limit"
    after = f"used {change.used_after or '?'} of {change.hard_after}" if change.hard_after else "no limit"
    over = f", over by {change.over}" if change.over else ""
    yield [
        (_TONES[change.effect], f"  {_where(change.quota)}"),
        ("", f"  {change.resource}: {before} -> {after}{over}"),
    ]


def _claim(change: ClaimChange) -> Iterator[Line]:
    pool = f" in pool {change.pool}" if change.pool else ""
    before, after = change.before or "absent", change.after or "absent"
    yield [(_TONES[change.effect], f"  {_where(change.subject)}"), ("", f"  {before} -> {after}{pool}")]


def difference(report: ChangeReport) -> Iterator[str]:
    """The same as lines that begin with - (before) and + (after), as of a patch."""
    for change in report.workloads:
        yield from _sides(_where(change.subject), change.before, change.after)
        for item in change.resized:
            yield from _pair(f"{_where(change.subject)} next {item.path}", item.before, item.after)
        reaches = [
            None if autoscaled is None else f"{autoscaled.fits} of {autoscaled.most}"
            for autoscaled in (change.autoscaled_before, change.autoscaled_after)
        ]
        if reaches[0] != reaches[1]:
            yield from _pair(f"{_where(change.subject)} at the autoscaler's maximum", *reaches)
        was, now = change.next_before, change.next_after
        if was is not None and now is not None and was.admitted != now.admitted:
            words = [next_pod.message or "admitted" for next_pod in (was, now)]
            yield from _pair(f"{_where(change.subject)} next pod", words[0], words[1])
        rollouts = change.rollout_before, change.rollout_after
        if any(rollouts):
            texts = ["would complete" if rollout is None else _stalls(rollout) for rollout in rollouts]
            yield from _pair(
                f"{_where(change.subject)} next rollout", None if change.before is None else texts[0], texts[1]
            )
    for quota in report.quotas:
        name = f"{_where(quota.quota)} {quota.resource}"
        before = f"{quota.used_before or '?'} of {quota.hard_before}" if quota.hard_before else None
        after = f"{quota.used_after or '?'} of {quota.hard_after}" if quota.hard_after else None
        yield from _pair(name, before, after)
    for claim in report.claims:
        yield from _pair(_where(claim.subject), claim.before or None, claim.after or None)


def _sides(name: str, before: Count | None, after: Count | None) -> Iterator[str]:
    if before != after:
        texts: Sequence[str | None] = [None if count is None else _count(count) for count in (before, after)]
        yield from _pair(name, texts[0], texts[1])


def _pair(name: str, before: str | None, after: str | None) -> Iterator[str]:
    if before is not None:
        yield draw([("", f"- {name}: {before}")], color=False)
    if after is not None:
        yield draw([("", f"+ {name}: {after}")], color=False)
