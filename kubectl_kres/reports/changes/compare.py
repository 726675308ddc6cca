"""The comparison of the objects before and after a change, the worst first."""

from __future__ import annotations

from collections.abc import Collection, Container, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from msgspec.structs import replace

from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.quantity import Quantity, parse
from kubectl_kres.record import Wording
from kubectl_kres.reports.changes.created_pods import PodsOfChange, SideOfSpace, merged_pods, pods_of_space
from kubectl_kres.reports.changes.notes import RandomChoice, UnreadRollout
from kubectl_kres.reports.changes.report import (
    ChangeReport,
    Count,
    Effect,
    NextPod,
    NextRollout,
    QuotaChange,
    Resized,
    StepResult,
    WorkloadChange,
)
from kubectl_kres.reports.changes.system import claim_changes, step_parts
from kubectl_kres.reports.common.explanation import Autoscaled, Shortfall
from kubectl_kres.reports.common.system_parts import hold
from kubectl_kres.simulate import next_rollout
from kubectl_kres.simulate.change import Apply, PlacedStep, key_of_step
from kubectl_kres.simulate.cluster import ChangeOutcome, ClusterChange, ClusterStates, SentStep, Worlds
from kubectl_kres.simulate.final_states import FinalState, FinalWorkload
from kubectl_kres.simulate.moves import State
from kubectl_kres.simulate.simulation import NamespaceSimulation
from kubectl_kres.simulate.state import Key

_ORDER = {"worse": 0, "better": 1, "other": 2}


class _Workload(NamedTuple):
    """A workload on one side, over all ends. ``counted`` False: only its next pod is evaluated."""

    pods: Count
    next: next_rollout.NextPodAnswer | None
    refusals: tuple[str, ...]
    stalled: bool
    maximum: next_rollout.Maximum | None = None
    rollout: next_rollout.StalledRollout | None = None
    counted: bool = True

    @property
    def completes_rollouts(self) -> bool:
        """Return whether it has its pods, none of an older template, and would complete a rollout, as far as that was
        evaluated.
        """
        is_complete = not self.stalled and not _count_missing_pods(self.pods)
        return is_complete and not (self.next and self.next.messages) and self.rollout is None


class Rollouts(NamedTuple):
    """How many rollouts are tried at once on each side of a comparison; 0: none is."""

    before: int = 1
    after: int = 1


_ONE = Rollouts()
_NOTHING: Mapping[str, Collection[Key]] = {}


class ChangeWithPods(NamedTuple):
    """What a change does, and the pods that nodes have to take for it."""

    report: ChangeReport
    pods: PodsOfChange


def report(outcome: ChangeOutcome, rollouts: Rollouts = _ONE) -> ChangeReport:
    """Return the report of the steps of a change."""
    return report_with_pods(outcome, (), rollouts).report


def report_with_pods(outcome: ChangeOutcome, steps: Iterable[PlacedStep], rollouts: Rollouts = _ONE) -> ChangeWithPods:
    """Return the report with the pods that are created and deleted. ``steps``: their rollouts count as well."""
    before, after = outcome.before, outcome.after
    sides = ((space, before, after) for space in sorted({*before.spaces, *after.spaces}))
    change = _build_change_report(sides, before.worlds, after.worlds, rollouts, touched=_objects_of(steps))
    notes = _random_notes(outcome.choices)
    return _with_steps(
        change, outcome.sent, [*notes, *outcome.gaps, *outcome.expected_values], computed=not outcome.gaps
    )


def report_of(course: ClusterChange, rollouts: Rollouts = _ONE) -> ChangeWithPods:
    """Return what the steps of a change do, found namespace by namespace, so that one is held at a time."""
    objects = _objects_of(course.steps, Apply), _objects_of(course.steps)
    change = _build_change_report(course, course.worlds_before, course.worlds, rollouts, *objects)
    notes = [*_random_notes(course.choices), *change.report.notes, *course.gaps, *course.expected_values]
    return _with_steps(change, course.sent_steps, notes, computed=not course.gaps)


def _random_notes(choices: Mapping[str, int]) -> list[RandomChoice]:
    return [RandomChoice(title, ways) for title, ways in choices.items() if ways > 1]


def _with_steps(
    change: ChangeWithPods, sent: Iterable[SentStep], notes: Iterable[Wording], *, computed: bool
) -> ChangeWithPods:
    """Return the change with what became of its steps. It is worse where pods are lost by one of a system's own."""
    steps = _with_messages(map(_step, sent), change.report.workloads)
    change_report = replace(change.report, steps=steps, notes=tuple(notes), computed=computed)
    if any(part.is_worse for step in steps for part in step.parts.values()):
        change_report = replace(change_report, outcome="worse")
    return change._replace(report=change_report)


def compare_sides(before: ClusterStates, after: ClusterStates, rollouts: Rollouts = _ONE) -> ChangeReport:
    """Return the report of the differences between two sides."""
    spaces = sorted({*before.spaces, *after.spaces})
    return _build_change_report(
        ((space, before, after) for space in spaces), before.worlds, after.worlds, rollouts
    ).report


def _objects_of(steps: Iterable[PlacedStep], of_kind: type[Any] = object) -> dict[str, set[Key]]:
    """Return the objects of steps by namespace; ``of_kind``: of those alone."""
    result: dict[str, set[Key]] = {}
    for placed_step in steps:
        if isinstance(placed_step.step, of_kind):
            result.setdefault(placed_step.namespace, set()).add(key_of_step(placed_step.step))
    return result


def _build_change_report(
    sides: Iterable[tuple[str, ClusterStates, ClusterStates]],
    worlds_before: Worlds,
    worlds: Worlds,
    rollouts: Rollouts,
    rolled: Mapping[str, Collection[Key]] = _NOTHING,
    touched: Mapping[str, Collection[Key]] = _NOTHING,
) -> ChangeWithPods:
    """``rolled``: objects of files by namespace; ``touched``: all objects that steps are about."""
    workloads: list[WorkloadChange] = []
    pods: list[PodsOfChange] = []
    quotas: list[QuotaChange] = []
    notes: list[Wording] = []
    final_states, exhaustive = 1, True
    for space, before, after in sides:
        same = space in after.spaces and before.spaces.get(space) == after.spaces[space]
        if same and rollouts.before == rollouts.after:
            # No step was about it.
            final_states *= max(1, after.spaces[space][1].usual)
            exhaustive = exhaustive and after.spaces[space][1].complete
            continue
        states = before.states(space), after.states(space)
        old, new = before.words(space, states[0]), after.words(space, states[1])
        if space in after.spaces:
            final_states *= max(1, after.spaces[space][1].usual)
            exhaustive = exhaustive and after.spaces[space][1].complete
        was, now = _workloads_of_side(before, space, states[0], old), _workloads_of_side(after, space, states[1], new)
        _ask_rollouts(space, (before, after), states, (was, now), rollouts, rolled.get(space, ()))
        changed = list(_workloads(space, was, now))
        notes += _unseen_rollouts(space, now, rolled.get(space, ()), {change.subject for change in changed})
        first_states = _first_side(before, space, states[0]), _first_side(after, space, states[1])
        stored = {
            key: workload.next.stored[0] for key, workload in now.items() if workload.next and workload.next.stored
        }
        pods.append(pods_of_space(space, changed, first_states, stored, touched.get(space, ())))
        unasked = after.spaces[space][0].tables.unasked if space in after.spaces else set()
        workloads += (_downgrade_effect(change, unasked) for change in changed)
        quotas += _quotas(space, old, new)
    claims = tuple(claim_changes(worlds_before, worlds))
    workloads.sort(key=_change_sort_key)
    quotas.sort(key=lambda change: change.quota.namespace)
    effects: set[Effect] = {item.effect for item in workloads}
    effects |= {item.effect for item in quotas} | {item.effect for item in claims}
    outcome: Any = next((word for word in ("worse", "better", "other") if word in effects), "none")
    change_report = ChangeReport(
        outcome,
        (),
        tuple(workloads),
        tuple(quotas),
        claims,
        ends=final_states if workloads or quotas else 1,
        exhaustive=exhaustive,
        notes=tuple(notes),
    )
    return ChangeWithPods(change_report, merged_pods(pods))


def _first_side(side: ClusterStates, space: str, states: Sequence[State]) -> SideOfSpace:
    """Return a namespace in the first of its states; None where there is none."""
    return (side.spaces[space][0], states[0]) if space in side.spaces and states else None


def _with_messages(steps: Iterable[StepResult], workloads: Iterable[WorkloadChange]) -> tuple[StepResult, ...]:
    """Return the steps, with the server's message to pods that are missing after them."""
    by_name = {(str(change.subject), change.subject.namespace): change for change in workloads}
    return tuple(_with_message(step, by_name.get((step.target, step.subject.namespace))) for step in steps)


def _with_message(step: StepResult, change: WorkloadChange | None) -> StepResult:
    if not step.parts or change is None:
        return step
    texts = change.refusals or ((change.next_after.message,) if change.next_after is not None else ())
    message = next(iter(texts), "")
    return replace(step, parts={key: part.with_refusal(message) for key, part in step.parts.items()})


def _step(sent_step: SentStep) -> StepResult:
    refused = [answer for answer in sent_step.answers if not answer.allowed]
    first = (refused or list(sent_step.answers))[0]
    others = tuple(dict.fromkeys(answer.message for answer in refused[1:]))
    ref = ObjectRef(sent_step.kind, sent_step.name, sent_step.namespace)
    return StepResult(
        sent_step.number, sent_step.what, ref, first.allowed, first.code, first.message, others, first.warnings,
        sent_step.label, next((done.target for done in first.passes), ""), hold(*step_parts(sent_step.answers)),
    )  # fmt: skip


def _change_sort_key(change: WorkloadChange) -> tuple[int, int, str, str, str]:
    missing_count = _count_missing_pods(change.after) - _count_missing_pods(change.before)
    pods = change.after.pods if change.after is not None else 0
    ref = change.subject
    return _ORDER[change.effect], -max(missing_count, 0) * 10_000 - pods, ref.namespace, ref.kind, ref.name


def _count_missing_pods(count: Count | None) -> int:
    return max(0, count.wanted - count.pods) if count is not None else 0


def _workloads_of_side(
    side: ClusterStates, space: str, states: Iterable[State], final_states: Iterable[FinalState]
) -> dict[Key, _Workload]:
    """Return the workloads of one side, without their next rollouts."""
    if space not in side.spaces:
        return {}
    namespace, _ = side.spaces[space]
    next_answer: dict[Key, next_rollout.NextPodAnswer] = {}
    reach: dict[Key, next_rollout.Maximum] = {}
    for state in states:
        for key, maximum in next_rollout.autoscaler_maxima(namespace, state).items():
            reach[key] = min(maximum, reach.get(key, maximum), key=lambda maximum: maximum.fits)
        # Of several ends that in which it is refused.
        for next_pod in next_rollout.next_pods(
            namespace, state, {key for key, known in next_answer.items() if known.messages}
        ):
            if next_pod.key not in next_answer or next_pod.messages:
                next_answer[next_pod.key] = next_pod
    workloads: dict[Key, list[FinalWorkload]] = {}
    for final_state in final_states:
        for workload in final_state.workloads:
            workloads.setdefault(workload.key, []).append(workload)
    shown = {key: _over_ends(every, next_answer.get(key), reach.get(key)) for key, every in workloads.items()}
    for key, next_pod in next_answer.items():
        if key not in shown:
            count = Count(next_pod.wanted, next_pod.pods, next_pod.pods)
            shown[key] = _Workload(count, next_pod, (), stalled=False, counted=False)
    return shown


def _over_ends(
    every: list[FinalWorkload], next_answer: next_rollout.NextPodAnswer | None, maximum: next_rollout.Maximum | None
) -> _Workload:
    worst = min(every, key=lambda end: end.pods)
    upper_limit = max(final_workload.pods for final_workload in every)
    texts = dict.fromkeys(text for refused in worst.refused for text in refused.messages)
    stalled = any(final_workload.behind for final_workload in every)
    wanted_count = worst.wanted
    if worst.kind == "Job":
        wanted_count = worst.pods + len(worst.refused)
        wanted_count = worst.at_once if wanted_count > worst.pods else worst.pods
    return _Workload(Count(wanted_count, worst.pods, upper_limit), next_answer, tuple(texts), stalled, maximum)


def _ask_rollouts(
    space: str,
    sides: tuple[ClusterStates, ClusterStates],
    states: tuple[Sequence[State], Sequence[State]],
    workloads: tuple[dict[Key, _Workload], dict[Key, _Workload]],
    rollouts: Rollouts,
    rolled: Collection[Key],
) -> None:
    """Find out which next rollouts stall, of workloads for which the sides can differ, and of those of files."""
    able = [{key for key, workload in side.items() if workload.completes_rollouts} for side in workloads]
    new = able[1] - workloads[0].keys()
    both = able[0] & able[1]
    namespaces = [side.spaces[space][0] if space in side.spaces else None for side in sides]
    present = namespaces[1]
    if present is not None and namespaces[0] is present and rollouts.before == rollouts.after == 1:
        was, now = (_circumstances(present, of_side, both) for of_side in states)
        both = {key for key in both if key in rolled or was.get(key) != now.get(key)}
    asked = (both, {*both, *new, *(able[1].intersection(rolled))})
    for namespace, of_side, shown, keys, at_once in zip(namespaces, states, workloads, asked, rollouts, strict=True):
        if namespace is not None and keys:
            for key, rollout in next_rollout.stalled_rollouts(namespace, of_side, at_once, keys).items():
                shown[key] = shown[key]._replace(rollout=rollout)


def _circumstances(
    namespace: NamespaceSimulation, states: Iterable[State], keys: Collection[Key]
) -> dict[Key, set[Hashable]]:
    """Return, for each workload, all that decides about its next rollout, over all ends."""
    result: dict[Key, set[Hashable]] = {}
    for state in next_rollout.extreme_states(states):
        for key, decides in next_rollout.circumstances(namespace, state, keys):
            result.setdefault(key, set()).add(decides)
    return result


def _unseen_rollouts(
    space: str, workloads: Mapping[Key, _Workload], rolled: Iterable[Key], texts: Container[ObjectRef]
) -> Iterator[UnreadRollout]:
    """Yield what is said of workloads of files that look unchanged: what is not read of a template, as its environment,
    may roll them out.
    """
    for key in sorted(rolled):
        ref = ObjectRef(*key, space)
        rollout = _rollout(ref, workloads[key]) if key in workloads and ref not in texts else None
        if rollout is not None:
            yield UnreadRollout(str(ref), space, rollout.updated, rollout.wanted)


def _workloads(space: str, old: Mapping[Key, _Workload], new: Mapping[Key, _Workload]) -> Iterator[WorkloadChange]:
    for key in sorted({*old, *new}):
        ref = ObjectRef(*key, space)
        before, after = old.get(key), new.get(key)
        if after is None and before is not None:
            yield WorkloadChange(ref, "other", before.pods)
        elif before is None and after is not None:
            yield _build_added_change(ref, after)
        elif before is not None and after is not None:
            change = _find_workload_change(ref, before, after)
            if change is not None:
                yield change


def _build_added_change(ref: ObjectRef, after: _Workload) -> WorkloadChange:
    refused = after.next is not None and bool(after.next.messages)
    effect: Effect = "worse" if _count_missing_pods(after.pods) or (refused and not after.pods.pods) else "other"
    return WorkloadChange(
        ref, effect, None, after.pods, None, shown_pod(after.next), refusals=after.refusals, stalled=after.stalled,
        rollout_after=_rollout(ref, after), autoscaled_after=_build_autoscaled(after.maximum),
        uncounted=not after.counted,
    )  # fmt: skip


def _find_workload_change(ref: ObjectRef, before: _Workload, after: _Workload) -> WorkloadChange | None:
    resized = tuple(resized_values(before.next, after.next))
    next_before, next_after = shown_pod(before.next), shown_pod(after.next)
    more = _count_missing_pods(after.pods) - _count_missing_pods(before.pods)
    refused = bool(next_after and not next_after.admitted) - bool(next_before and not next_before.admitted)
    stalls = after.stalled - before.stalled
    qos = next_before is not None and next_after is not None and next_before.qos != next_after.qos
    scaled = before.maximum != after.maximum
    rolls = _rollout_sign(before, after)
    signs = (more, refused, stalls, _short(after.maximum) - _short(before.maximum), rolls)
    if not any(signs) and before.pods == after.pods and not resized and not qos and not scaled:
        return None
    effect: Effect = "other"
    if any(direction > 0 for direction in signs):
        effect = "worse"
    elif any(direction < 0 for direction in signs):
        effect = "better"
    return WorkloadChange(
        ref,
        effect,
        before.pods,
        after.pods,
        next_before,
        next_after,
        resized if not refused else (),
        after.refusals if more > 0 or stalls > 0 else (),
        stalled=stalls > 0,
        rollout_before=_rollout(ref, before) if rolls else None,
        rollout_after=_rollout(ref, after) if rolls else None,
        autoscaled_before=_build_autoscaled(before.maximum) if scaled else None,
        autoscaled_after=_build_autoscaled(after.maximum) if scaled else None,
        uncounted=not after.counted,
    )


def _rollout_sign(before: _Workload, after: _Workload) -> int:
    """Return a number above 0 where the next rollout gets less far than before, below 0 where it gets further;
    else 0.
    """
    was, now = before.rollout, after.rollout
    if was is not None and now is not None:
        return was.updated * now.wanted - now.updated * was.wanted
    return (now is not None and before.completes_rollouts) - (was is not None and after.completes_rollouts)


def _rollout(ref: ObjectRef, workload: _Workload) -> NextRollout | None:
    """Return where the next rollout ends that does not complete; not what lacks pods or gets none anyway."""
    stalled = workload.rollout
    texts = _count_missing_pods(workload.pods) or (workload.next is not None and workload.next.messages)
    if stalled is None or texts:
        return None
    beside = tuple(ObjectRef(*key, ref.namespace) for key in stalled.beside)
    return NextRollout(stalled.updated, stalled.most, stalled.wanted, beside, (*stalled.tell(), "")[0])


def _downgrade_effect(change: WorkloadChange, unasked: Container[Key]) -> WorkloadChange:
    """Return the change without "better" where it is not known whether what rejected the workload rejects it again."""
    if change.effect == "better" and (change.subject.kind, change.subject.name) in unasked:
        return replace(change, effect="other")
    return change


def _short(maximum: next_rollout.Maximum | None) -> int:
    """Return the pods that an autoscaler may ask for and that there is no room for."""
    return maximum.most - maximum.fits if maximum is not None else 0


def _build_autoscaled(maximum: next_rollout.Maximum | None) -> Autoscaled | None:
    if maximum is None:
        return None
    return Autoscaled(maximum.autoscaler, maximum.most, maximum.fits, tuple(Shortfall(*lack) for lack in maximum.lacks))


def shown_pod(value: next_rollout.NextPodAnswer | None) -> NextPod | None:
    if value is None:
        return None
    if value.messages:
        return NextPod(admitted=False, message=value.messages[0])
    stored = value.stored[0] if value.stored else {}
    return NextPod(admitted=True, qos=str(stored.get("qosClass", "")), values=_values(stored))


def _values(stored: Mapping[str, Any]) -> dict[str, str]:
    """Return requests and limits by ``container.side.resource``."""
    result: dict[str, str] = {}
    for key in ("containers", "initContainers"):
        for container in stored.get(key) or ():
            for side in ("requests", "limits"):
                for resource, amount in (container["resources"].get(side) or {}).items():
                    result[f"{container['name']}.{side}.{resource}"] = amount
    for side in ("requests", "limits"):
        for resource, amount in ((stored.get("resources") or {}).get(side) or {}).items():
            result[f"pod.{side}.{resource}"] = amount
    return result


def resized_values(
    before: next_rollout.NextPodAnswer | None, after: next_rollout.NextPodAnswer | None
) -> Iterator[Resized]:
    if before is None or after is None or not before.stored or not after.stored:
        return
    old, new = _values(before.stored[0]), _values(after.stored[0])
    for path in sorted({*old, *new}):
        before_text, after_text = old.get(path), new.get(path)
        if before_text == after_text:
            continue
        if before_text is None or after_text is None or parse(before_text) != parse(after_text):
            yield Resized(path, old.get(path), new.get(path))


class _Amount(NamedTuple):
    hard: Quantity | None
    used: Quantity | None
    most: Quantity | None


def _amounts(final_states: Iterable[FinalState]) -> dict[tuple[str, str], _Amount]:
    """Return what each resource of each quota is held against, with the least and the most that is used of it."""
    result: dict[tuple[str, str], _Amount] = {}
    for final_state in final_states:
        for quota in final_state.quotas:
            for resource, text in quota.hard.items():
                used = parse(quota.used[resource]) if resource in quota.used else None
                amount = result.get((quota.name, resource), _Amount(None, used, used))
                every = [amount for amount in (used, amount.used, amount.most) if amount is not None]
                minimum, maximum = (min(every), max(every)) if every else (None, None)
                result[quota.name, resource] = _Amount(parse(text), minimum, maximum)
    return result


def _quotas(space: str, old: Iterable[FinalState], new: Iterable[FinalState]) -> Iterator[QuotaChange]:
    before, after = _amounts(old), _amounts(new)
    for key in sorted({*before, *after}):
        was, now = before.get(key), after.get(key)
        if was == now:
            continue
        over_before, over_after = _find_excess(was), _find_excess(now)
        effect: Effect = "other"
        if over_after is not None and (over_before is None or over_before < over_after):
            effect = "worse"
        elif over_before is not None and (over_after is None or over_after < over_before):
            effect = "better"
        yield QuotaChange(
            ObjectRef("ResourceQuota", key[0], space),
            key[1],
            effect,
            _text(was.hard if was else None),
            _text(now.hard if now else None),
            _range(was),
            _range(now),
            _text(over_after) if over_after is not None else "",
        )


def _find_excess(amount: _Amount | None) -> Quantity | None:
    if amount is None or amount.hard is None or amount.most is None or not amount.hard < amount.most:
        return None
    return amount.most - amount.hard


def _text(quantity: Quantity | None) -> str:
    return "" if quantity is None else str(quantity)


def _range(amount: _Amount | None) -> str:
    if amount is None or amount.used is None:
        return ""
    return str(amount.used) if amount.used == amount.most else f"{amount.used} to {amount.most}"
