"""What a change comes to, as text, worst first: a simulation, objects of files together, an upgrade of Kubernetes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from kubectl_kres.admission.base.versions import CHANGES
from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.render.scheduling import no_node_lines
from kubectl_kres.render.text.line import Line, Tone, clip_text, columns, draw, led_lines, tone_lines, wrap_text
from kubectl_kres.render.text.sentences import sentence_text
from kubectl_kres.render.text.system import systems
from kubectl_kres.render.verdict.brief import Brief
from kubectl_kres.render.verdict.headline import at_maximum
from kubectl_kres.reports.changes.combined_answer import CombinedAnswer, ReachablePods
from kubectl_kres.reports.changes.report import (
    ChangeReport,
    ClaimChange,
    Count,
    NextRollout,
    NodesForChange,
    QuotaChange,
    StepResult,
    WorkloadChange,
)
from kubectl_kres.reports.changes.upgrade import UpgradeChange, UpgradeReport
from kubectl_kres.reports.pod.verdict import AS_FAR_AS_SEEN

_TONES: dict[str, Tone] = {"worse": "bad", "better": "good", "other": "warn"}
_HEADS = {"worse": "Worse", "better": "Better", "other": "Different"}


def lines(report: ChangeReport, *, color: bool, width: int) -> Iterator[str]:
    """Yield the steps that the server refuses, then what changes."""
    yield from _draw_lines(change_lines(report, width), color=color)


def brief(report: ChangeReport, again: Callable[[ObjectRef], str]) -> Brief:
    """In few words: a step that is refused, or the worst of the workloads. ``again``: the command that explains one."""
    refused = next((step for step in report.steps if not step.allowed), None)
    if refused is not None:
        return Brief("bad", "refused", f": step {refused.number}: {refused.step} {refused.subject}: {refused.message}")
    tones: dict[str, Tone] = {**_TONES, "none": "good"}
    words = {"worse": "worse", "better": "better", "other": "different", "none": "no change"}
    sentences = [text for step in report.steps for system in systems() if (text := system.step_sentence(step))]
    first = next((workload for effect in _HEADS for workload in report.workloads if workload.effect == effect), None)
    lacking = next(iter(lacking_nodes(report)), None)
    if lacking is not None and (first is None or first.effect != "worse"):
        text = f"{lacking.subject.full_name}: {nodes_text(lacking)}"
        return Brief(tones[report.outcome], words[report.outcome], f": {_format_effect_counts(report)}; {text}")
    if first is None:
        text = sentences[0] if sentences else _format_effect_counts(report)
        return Brief(tones[report.outcome], words[report.outcome], f": {text}")
    texts = [*first.refusals[:1], *([first.next_after.message] if first.next_after is not None else [])]
    texts = [text for text in texts if text]
    if not texts and first.rollout_after is not None:
        texts = [f"its next rollout {_format_stall(first.rollout_after)}"]
    text = f"{first.subject.full_name}: {_pods(first)}{f': {texts[0]}' if texts else ''}"
    return Brief(
        tones[report.outcome],
        words[report.outcome],
        f": {_format_effect_counts(report)}; {text}",
        next=again(first.subject),
    )


def _draw_lines(value: Iterator[Line], *, color: bool) -> Iterator[str]:
    for line in value:
        yield draw(line, color=color)


def change_lines(report: ChangeReport, width: int) -> Iterator[Line]:
    """Yield the same, not drawn yet."""
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
    yield from _steps_of_systems(report, width)
    for effect, head in _HEADS.items():
        result = [
            *(_workload(item, width) for item in report.workloads if item.effect == effect),
            *(_on_nodes(item, width) for item in report.nodes if item.effect == effect and item.unplaced),
            *(_quota(item, width) for item in report.quotas if item.effect == effect),
            *(_claim(item) for item in report.claims if item.effect == effect),
        ]
        if result:
            yield [(_TONES[effect], f"{head}:")]
            for entry in result:
                yield from entry
            yield []
    yield [("strong", _format_effect_counts(report))]
    for text in _remarks(report):
        yield from tone_lines("quiet", wrap_text(text, width))


def _steps_of_systems(report: ChangeReport, width: int) -> Iterator[Line]:
    """Yield what systems say of steps of their own."""
    for step in report.steps:
        texts = [line for system in systems() for line in system.step_lines(step, width)]
        yield from (*texts, []) if texts else ()


def _format_effect_counts(report: ChangeReport) -> str:
    if report.outcome != "none" and not (report.workloads or report.quotas or report.claims):
        return "Nothing else changes."
    if report.outcome == "none":
        return "Nothing changes." if report.complete and report.computed else "Nothing changes as far as seen."
    counts = dict.fromkeys(_HEADS, 0)
    for group in (report.workloads, lacking_nodes(report), report.quotas, report.claims):
        for item in group:
            counts[item.effect] += 1
    words = {"worse": "worse", "better": "better", "other": "different"}
    return ", ".join(f"{number} {words[effect]}" for effect, number in counts.items() if number)


def lacking_nodes(report: ChangeReport) -> list[NodesForChange]:
    """Return the workloads of whose new pods some find no node."""
    return [item for item in report.nodes if item.unplaced]


def _remarks(report: ChangeReport) -> Iterator[str]:
    if report.nodes and all(item.fits is not None and not item.unplaced for item in report.nodes):
        new = sum(item.new for item in report.nodes)
        gaps = dict.fromkeys(gap for item in report.nodes for gap in item.not_computed)
        seen = f" as far as seen (not computed: {', '.join(gaps)})" if gaps else ""
        yield f"Nodes take the {new} new pods{seen}." if new > 1 else f"A node takes the new pod{seen}."
    elif any(item.fits is None for item in report.nodes):
        yield "How many new pods find a node is not known."
    if report.ends > 1:
        yield f"{report.ends} outcomes are possible, as controllers race for the room that is left: from worst to best."
    if not report.exhaustive:
        yield "There are more orders than were tried."
    yield from map(sentence_text, report.notes)


def _format_ref(ref: ObjectRef) -> str:
    return f"{ref.namespace}  {ref}" if ref.namespace else str(ref)


def _step(step: StepResult, width: int) -> Iterator[Line]:
    label_text = f" ({step.label})" if step.label else ""
    namespace_text = f" in {step.subject.namespace}" if step.subject.namespace else ""
    verb, to, number = step.step.partition(" to ")
    head = f"  step {step.number}{label_text}: {verb} {step.subject}{namespace_text}{to}{number}"
    yield [("", head)]
    for text in (step.message, *step.others) if not step.allowed else step.warnings:
        yield from tone_lines("", wrap_text(text, width, first="    ", rest="    "))


def _workload(change: WorkloadChange, width: int) -> Iterator[Line]:
    tone = _TONES[change.effect]
    yield [(tone, f"  {_format_ref(change.subject)}"), ("", f"  {_pods(change)}")]
    texts = list(change.refusals)
    next_answer = change.next_after
    if next_answer is not None and not next_answer.admitted and not texts:
        texts = [next_answer.message]
    for text in texts:
        yield from tone_lines("", wrap_text(text, width, first="    ", rest="    "))
    rollout = change.rollout_after
    if rollout is not None:
        yield from tone_lines(
            "", wrap_text(f"its next rollout {_format_stall(rollout)}", width, first="    ", rest="      ")
        )
        yield from tone_lines("", wrap_text(rollout.message, width, first="    ", rest="    "))
    elif change.rollout_before is not None:
        yield [("", "    its next rollout would complete")]
    reach, earlier = change.autoscaled_after, change.autoscaled_before
    if reach is not None and (earlier is not None or reach.fits < reach.max_replicas):
        previous = f", {earlier.fits} of {earlier.max_replicas} before" if earlier is not None else ""
        yield from tone_lines("", wrap_text(f"{at_maximum(reach)}{previous}", width, first="    ", rest="      "))
    before = change.next_before
    if before is not None and next_answer is not None and before.admitted and next_answer.admitted:
        if before.qos != next_answer.qos:
            yield [("", f"    next pods: QoS class {before.qos} -> {next_answer.qos}")]
        for item in change.resized:
            yield [("", f"    next pods: {item.path} {item.before or 'unset'} -> {item.after or 'unset'}")]


def _on_nodes(item: NodesForChange, width: int) -> Iterator[Line]:
    """Yield how many new pods find a node, what the first that does not lacks, and who may add some."""
    yield [(_TONES[item.effect], f"  {_format_ref(item.subject)}"), ("", f"  {nodes_text(item)}")]
    report = item.first
    if report is None:
        return
    for text in no_node_lines(report):
        yield from tone_lines("", wrap_text(text, width, first="    ", rest="      "))
    if report.preempts:
        text = f"less important pods could go for it on {', '.join(report.preempts)}"
        yield from tone_lines("", wrap_text(text, width, first="    ", rest="      "))
    gaps = (*report.not_computed, *(f"{kind} (not read)" for kind in report.not_read))
    if gaps:
        yield from tone_lines(
            "quiet", wrap_text(f"not computed: {', '.join(gaps)}", width, first="    ", rest="      ")
        )
    autoscaler = item.autoscaler or "an autoscaler"
    text = f"nodes that {autoscaler} may add are not counted"
    yield from tone_lines("quiet", wrap_text(text, width, first="    ", rest="      "))


def nodes_text(item: NodesForChange) -> str:
    """``admitted, but 2 of 3 new pods fit no node``."""
    if item.stalls:
        return "admitted, but its rollout stalls: a new pod fits no node, and no old one may end first"
    which = "pods of its rollout" if item.rollout else "new pods"
    if item.new == 1:
        return f"admitted, but {'the pod of its rollout' if item.rollout else 'the new pod'} fits no node"
    if not item.fits:
        return f"admitted, but none of {item.new} {which} fits a node"
    verb = "fits" if item.unplaced == 1 else "fit"
    return f"admitted, but {item.unplaced} of {item.new} {which} {verb} no node"


def _format_stall(rollout: NextRollout) -> str:
    beside = f", beside {', '.join(map(str, rollout.concurrent))}" if rollout.concurrent else ""
    verb = "would" if rollout.best == rollout.updated else "may"
    return f"{verb} stall at {rollout.updated} of {rollout.wanted} updated{beside}"


def _pods(change: WorkloadChange) -> str:
    before, after = change.before, change.after
    if before is None and after is None:
        return ", ".join(["next run", *_next_pod_words(change)])
    if before is None and after is not None:
        return f"new: {_first_pod(change) or _count(after)}"
    if after is None or before is None:
        return "is gone"
    parts = [_count(after)] if before == after else [f"{_count(before)} -> {_count(after)}"]
    if change.stalled:
        parts.append("its rollout stalls")
    next_answer = _next_pod_words(change, "the next one ")
    return ", ".join([*parts, *next_answer])


def _first_pod(change: WorkloadChange) -> str:
    """Return what becomes of the first pod of a new object whose pods are not counted; empty of another one."""
    next_answer = change.next_after
    if not change.uncounted or next_answer is None:
        return ""
    return f"its first pod is {'admitted' if next_answer.admitted else 'refused'}"


def _next_pod_words(change: WorkloadChange, which: str = "") -> list[str]:
    next_answer, before = change.next_after, change.next_before
    if (
        next_answer is not None
        and not next_answer.admitted
        and not change.refusals
        and (before is None or before.admitted)
    ):
        return [f"{which}is refused"]
    if next_answer is not None and next_answer.admitted and before is not None and not before.admitted:
        return [f"{which}is admitted"]
    return []


def _count(count: Count) -> str:
    if not count.wanted and not count.best:
        return "no pods"
    pods = str(count.pods) if count.pods == count.best else f"{count.pods} to {count.best}"
    return f"{pods} of {count.wanted} {'pod' if count.wanted == 1 else 'pods'}"


def _quota(change: QuotaChange, width: int) -> Iterator[Line]:
    del width
    before = f"used {change.used_before or '?'} of {change.hard_before}" if change.hard_before else "no limit"
    after = f"used {change.used_after or '?'} of {change.hard_after}" if change.hard_after else "no limit"
    over = f", over by {change.over_by}" if change.over_by else ""
    yield [
        (_TONES[change.effect], f"  {_format_ref(change.quota)}"),
        ("", f"  {change.resource}: {before} -> {after}{over}"),
    ]


def _claim(change: ClaimChange) -> Iterator[Line]:
    pool = f" in pool {change.pool}" if change.pool else ""
    before, after = (sentence_text(side) if side else "absent" for side in (change.before, change.after))
    yield [(_TONES[change.effect], f"  {_format_ref(change.subject)}"), ("", f"  {before} -> {after}{pool}")]


def difference(report: ChangeReport) -> Iterator[str]:
    """Yield the same as lines that begin with - (before) and + (after), as of a patch."""
    for change in report.workloads:
        yield from _count_change_lines(_format_ref(change.subject), change.before, change.after)
        for item in change.resized:
            yield from _pair(f"{_format_ref(change.subject)} next {item.path}", item.before, item.after)
        reaches = [
            None if autoscaled is None else f"{autoscaled.fits} of {autoscaled.max_replicas}"
            for autoscaled in (change.autoscaled_before, change.autoscaled_after)
        ]
        if reaches[0] != reaches[1]:
            yield from _pair(f"{_format_ref(change.subject)} at the autoscaler's maximum", *reaches)
        previous, now = change.next_before, change.next_after
        if previous is not None and now is not None and previous.admitted != now.admitted:
            words = [next_pod.message or "admitted" for next_pod in (previous, now)]
            yield from _pair(f"{_format_ref(change.subject)} next pod", words[0], words[1])
        rollouts = change.rollout_before, change.rollout_after
        if any(rollouts):
            texts = ["would complete" if rollout is None else _format_stall(rollout) for rollout in rollouts]
            yield from _pair(
                f"{_format_ref(change.subject)} next rollout", None if change.before is None else texts[0], texts[1]
            )
    for lacking in lacking_nodes(report):
        yield from _pair(f"{_format_ref(lacking.subject)} nodes", None, nodes_text(lacking))
    for quota in report.quotas:
        name = f"{_format_ref(quota.quota)} {quota.resource}"
        before = f"{quota.used_before or '?'} of {quota.hard_before}" if quota.hard_before else None
        after = f"{quota.used_after or '?'} of {quota.hard_after}" if quota.hard_after else None
        yield from _pair(name, before, after)
    for claim in report.claims:
        before, after = (sentence_text(side) or None for side in (claim.before, claim.after))
        yield from _pair(_format_ref(claim.subject), before, after)


def _count_change_lines(name: str, before: Count | None, after: Count | None) -> Iterator[str]:
    if before != after:
        texts: Sequence[str | None] = [None if count is None else _count(count) for count in (before, after)]
        yield from _pair(name, texts[0], texts[1])


def _pair(name: str, before: str | None, after: str | None) -> Iterator[str]:
    if before is not None:
        yield draw([("", f"- {name}: {before}")], color=False)
    if after is not None:
        yield draw([("", f"+ {name}: {after}")], color=False)


#: Workloads that are named one by one.
_FEW = 8


def altered_lines(combined: CombinedAnswer, *, color: bool, width: int) -> Iterator[str]:
    """Yield the word, how far each workload gets, what quotas lack."""
    for line in _lines(combined, width):
        yield draw(line, color=color)


def _lines(combined: CombinedAnswer, width: int) -> Iterator[Line]:
    tone: Tone = "bad" if combined.negative else "good"
    word = combined.outcome.removesuffix(AS_FAR_AS_SEEN)
    seen = " as far as seen" if combined.outcome != word else ""
    head = {"admitted": "all of it fits", "partly": "not all of it fits", "refused": "none of it comes"}[word]
    if combined.unchanged:
        yield [(tone, "nothing changes")]
    else:
        yield [(tone, f"together: {head}{seen}")]
    yield from _reach_lines(combined.workloads, width)
    for lack in combined.shortfalls:
        text = f"quota {lack.quota.name} is short by {lack.amount} of {lack.resource}"
        yield from tone_lines("warn", wrap_text(text, width, first="  ", rest="    "))
    for refused in combined.refused:
        text = f"refused: {refused.subject}: {refused.message}"
        yield from tone_lines("bad", wrap_text(text, width, first="  ", rest="    "))
    if combined.ends > 1:
        lucky = combined.in_some_order
        which = "all fits if they come in the right order" if lucky else "counted in the order of the files"
        number = f"{'' if combined.exhaustive else 'at least '}{combined.ends}"
        text = f"{which}; {number} outcomes are possible, as controllers race for room"
        yield from tone_lines("quiet", wrap_text(text, width, first="  ", rest="    "))


def _reach_lines(workloads: Sequence[ReachablePods], width: int) -> Iterator[Line]:
    """Yield a row for each workload with how many of its pods fit; of many only those that lack pods."""
    lacking = [reach for reach in workloads if reach.short]
    shown = list(workloads) if len(workloads) <= _FEW else lacking[:_FEW]
    if shown:
        kinds: dict[str, set[str]] = {}
        for reach in workloads:
            kinds.setdefault(reach.subject.name, set()).add(reach.subject.kind)
        names = [
            str(each_reach.subject) if len(kinds[each_reach.subject.name]) > 1 else each_reach.subject.name
            for each_reach in shown
        ]
        cells = ((f"  {name}", _format_reach(reach)) for name, reach in zip(names, shown, strict=True))
        head, *rows = columns([("  NAME", "FITS"), *cells])
        yield [("quiet", head)]
        for reach, row in zip(shown, rows, strict=True):
            yield [("bad" if reach.short else "", clip_text(row, width))]
    if len(workloads) <= _FEW:
        return
    if len(lacking) > _FEW:
        yield [("bad", f"  {len(lacking) - _FEW} more lack pods")]
    whole = len(workloads) - len(lacking)
    if whole:
        yield [("", f"  {whole}{' others' if lacking else ''} get all their pods")]


def _format_objects(count: int) -> str:
    return f"{count} object{'s' * (count != 1)}"


def _format_reach(reach: ReachablePods) -> str:
    if reach.waits:
        return f"{reach.pods} of {reach.wanted}, the next once its pods are ready"
    stays = f" updated, {reach.old} old pod{'s' if reach.old > 1 else ''} stay{'' if reach.old > 1 else 's'}"
    return f"{reach.pods} of {reach.wanted}{stays if reach.old else ''}"


_UPGRADE_TONES: dict[str, Tone] = {"refused": "bad", "admitted": "good"}
_WORDS = {
    "refused": "refused then", "admitted": "admitted then", "class": "another QoS class", "values": "other values",
    "quota": "counts otherwise", "message": "another message",
}  # fmt: skip


def upgrade_lines(report: UpgradeReport, *, color: bool, width: int, wide: bool = False) -> Iterator[str]:
    """Yield the lines of the answer; ``wide``: with what changes and touches nothing here."""
    for line in _upgrade_lines(report, width, wide=wide):
        yield draw(line, color=color)


def _upgrade_lines(report: UpgradeReport, width: int, *, wide: bool) -> Iterator[Line]:
    parts = [
        _format_change_count(report.workloads, "workload", "gets another answer", "get another answer"),
        _format_change_count(report.quotas, "quota", "counts otherwise", "count otherwise"),
        _format_change_count(report.policies, "policy", "decides otherwise", "decide otherwise", "policies"),
    ]
    summary = ", ".join(part for part in parts if part) or f"nothing changes for {_format_objects(report.objects)}"
    step = f"Kubernetes {report.before} -> {report.after}"
    step = f"already Kubernetes {report.after}" if report.before == report.after else step
    yield from tone_lines("", wrap_text(f"{step}: {summary}", width, rest="  "))
    for change in (*report.workloads, *report.quotas, *report.policies):
        yield []
        yield from _change(change, width)
    yield []
    if report.elsewhere and wide:
        yield from tone_lines("quiet", ["also changed, without an effect on what was looked at:"])
        for name in report.elsewhere:
            text = f"{CHANGES[name].area}: {CHANGES[name].text}"
            yield from tone_lines("quiet", wrap_text(text, width, first="  ", rest="    "))
    elif report.elsewhere:
        text = f"{len(report.elsewhere)} other changes touch nothing here; -o wide names them"
        yield from tone_lines("quiet", wrap_text(text, width))
    for note in report.notes:
        yield from tone_lines("quiet", wrap_text(f"assumed: {note}", width, rest="  "))


def _format_change_count(changes: Sequence[UpgradeChange], noun: str, verb: str, verbs: str, many: str = "") -> str:
    if not changes:
        return ""
    return f"1 {noun} {verb}" if len(changes) == 1 else f"{len(changes)} {many or f'{noun}s'} {verbs}"


def _change(change: UpgradeChange, width: int) -> Iterator[Line]:
    word = _WORDS[change.effect]
    tone = _UPGRADE_TONES.get(change.effect, "warn")
    yield from led_lines(tone, word, f": {change.subject.full_name}", width)
    if change.before != change.after:
        for label, text in (("before", change.before), ("after", change.after)):
            yield from tone_lines("", wrap_text(f"{label}: {text}", width, first="  ", rest="    "))
    for path, old, new in change.values:
        yield from tone_lines("", wrap_text(f"{path}: {old} -> {new}", width, first="  ", rest="    "))
    for name in change.reasons:
        yield from tone_lines("quiet", wrap_text(f"why: {CHANGES[name].text}", width, first="  ", rest="    "))
