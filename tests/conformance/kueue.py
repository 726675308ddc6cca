"""The recorded worlds of Kueue: how they are read, and in what an answer differs from what was recorded."""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from msgspec import structs

from kubectl_kres.admission import limitrange
from kubectl_kres.kueue import model
from kubectl_kres.kueue.rules.charge import to_units
from kubectl_kres.kueue.rules.world import QueueVerdict, QueueWorld, holds_quota, is_pending, key_of
from kubectl_kres.model.objects import LimitRange, Namespace, RuntimeClass, decode_object
from kubectl_kres.quantity import stored_quantity

_STRUCTS: Mapping[str, Any] = {
    **{kind.kind: kind.struct for kind in model.KINDS},
    **{struct.__name__: struct for struct in (LimitRange, Namespace, RuntimeClass)},
}
#: Sentences of a Workload that its turn has not come, or not again, so that they say nothing about itself.
_NOT_LOOKED_AT = (
    "Workload is pending evaluation in the scheduling queue",
    "Bypassed scheduling evaluation because an equivalent workload recently failed",
)
_REASON = re.compile(r", (?=insufficient |untolerated |flavor |resource )")


class Moment(NamedTuple):
    """A world as it was stored after a step; ``before``: the moment before it, of the same world."""

    id: str
    state: Mapping[str, Any]
    group: str
    before: Mapping[str, Any] | None


def moments(folder: Path) -> Iterator[Moment]:
    """Every moment of every file; none where there is no such folder."""
    for path in sorted((*folder.glob("*.jsonl"), *folder.glob("*.jsonl.gz"))):
        content = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        for number, line in enumerate(content.splitlines()):
            if not line.strip():
                continue
            world = msgspec.json.decode(line)
            states = [world["state"], *(step["state"] for step in world.get("steps", ()))]
            name = world.get("case", f"{path.stem}-{number}")
            group = world.get("configuration", {}).get("group", "default")
            for index, state in enumerate(states):
                yield Moment(f"{name}/{index}", state, group, states[index - 1] if index else None)


def world_of(state: Mapping[str, Any]) -> QueueWorld:
    """What the rules take, of the objects of a moment."""
    objects: dict[str, list[Any]] = {}
    for raw in state["objects"]:
        if raw["kind"] in _STRUCTS:
            objects.setdefault(raw["kind"], []).append(decode_object(raw, _STRUCTS[raw["kind"]]))

    def named(kind: str) -> dict[str, Any]:
        return {each.metadata.name: each for each in objects.get(kind, ())}

    limits: dict[str, list[limitrange.Limits]] = {}
    for each in objects.get("LimitRange", ()):
        limits.setdefault(each.metadata.namespace, []).append(limitrange.parse(each))
    return QueueWorld(
        named(model.CLUSTER_QUEUE),
        {key_of(each): each for each in objects.get(model.LOCAL_QUEUE, ())},
        named(model.FLAVOR) or None,
        tuple(objects.get(model.COHORT, ())),
        named(model.CHECK),
        {key_of(each): each for each in objects.get(model.WORKLOAD, ())},
        named("Namespace"),
        limits,
        tuple(objects.get("RuntimeClass", ())),
    )


def _amounts(usage: Mapping[str, Any] | None) -> dict[str, int]:
    units = {name: to_units(name, stored_quantity(value)) for name, value in (usage or {}).items() if name != "pods"}
    return {name: amount for name, amount in units.items() if amount}


def charge_fault(world: QueueWorld, workload: model.KueueWorkload) -> str:
    """In what the charge of a reservation differs from every charge that the rules allow; empty: in nothing."""
    admission = workload.status.admission
    assigned = {each.name: each for each in (admission.pod_set_assignments if admission else None) or ()}
    for pod_set, allowed in zip(workload.spec.pod_sets or (), world.charges(workload), strict=True):
        each = assigned[pod_set.name]
        count = each.count if each.count is not None else pod_set.count
        found = [{name: units * count for name, units in charge.amounts.items() if units} for charge in allowed]
        if _amounts(each.resource_usage) not in found:
            return f"{workload.metadata.name}: charged {each.resource_usage}, computed {found}"
    return ""


def flavor_fault(world: QueueWorld, workload: model.KueueWorkload) -> str:
    """In what the flavors of a reservation differ from those that it gets where nothing else is reserved after it.

    ``world``: with what was reserved before it.
    """
    admission = workload.status.admission
    asking = structs.replace(workload, status=model.KueueWorkloadStatus())
    answer = world.evaluate(asking)
    found = answer.decision.pod_sets if answer.decision is not None else ()
    expected = {
        each.name: (each.count, dict(each.flavors or {}))
        for each in (admission.pod_set_assignments if admission is not None else None) or ()
    }
    computed = {each.name: (each.pods, dict(each.flavors)) for each in found}
    if answer.cause == "fits" and computed == expected:
        return ""
    return f"{workload.metadata.name}: given {expected}, computed {answer.cause} {computed}"


def preempts(world: QueueWorld) -> bool:
    """Whether any queue may preempt, which is not computed."""
    policies = (
        policy
        for queue in world.queues.values()
        for policy in (queue.spec.preemption.within_cluster_queue, queue.spec.preemption.reclaim_within_cohort)
    )
    return any(policy not in {"", "Never"} for policy in policies)


def replay_faults(world: QueueWorld) -> list[str]:
    """In what reservations differ, each made after those of an earlier second, from what the rules give them."""
    waiting = sorted((each for each in world.workloads.values() if holds_quota(each)), key=_reserved_at)
    now, faults = structs.replace(world, workloads={}), list[str]()
    while waiting:
        tied = [each for each in waiting if _reserved_at(each) == _reserved_at(waiting[0])]
        tried = {key_of(each): flavor_fault(now, each) for each in tied}
        chosen = next((each for each in tied if not tried[key_of(each)]), tied[0])
        faults += filter(None, [tried[key_of(chosen)]])
        waiting.remove(chosen)
        now = now.with_workload(chosen)
    return faults


def _reserved_at(workload: model.KueueWorkload) -> str:
    condition = model.condition_of(workload.status.conditions, model.RESERVED)
    return (condition.last_transition_time if condition is not None else "") or ""


def verdict_fault(answer: QueueVerdict, workload: model.KueueWorkload, told: Sequence[str], *, reasons: bool) -> str:
    """In what the answer about a Workload that waits differs from its condition; empty: in nothing.

    ``told``: what events said of it, which may stand for a sentence that changes from try to try. ``reasons``: Kueue
    names the reasons of KEP-10852.
    """
    condition = model.condition_of(workload.status.conditions, model.RESERVED)
    evicted = model.condition_of(workload.status.conditions, model.EVICTED)
    if answer.cause in {"deactivated", "backoff"}:
        # It may still say what it did before.
        return "" if evicted is not None or workload.spec.active is False else f"not evicted: {workload}"
    if answer.cause == "behind":
        # The sentence, if there is any, is that of an earlier moment.
        return ""
    if condition is None:
        # One like it was just refused.
        return "" if answer.decision is not None and not answer.decision.fits else f"nothing said, {answer}"
    message = condition.message
    if message in _NOT_LOOKED_AT:
        return "" if answer.cause != "fits" else f"it waits, computed {answer}"
    if answer.decision is None:
        return "" if answer.text in {message, *told} else f"{message!r}, computed {answer.text!r}"
    if not message.startswith("couldn't assign flavors"):
        return f"{message!r}, computed {answer.text!r}"
    computed = {(each.name, fault.text) for each in answer.decision.pod_sets for fault in each.faults}
    missing = set(_recorded_reasons(message)) - computed
    if missing:
        return f"recorded {sorted(missing)}, computed {sorted(computed)}"
    if reasons and condition.reason != answer.cause:
        return f"reason {condition.reason}, computed {answer.cause}"
    return ""


def _recorded_reasons(message: str) -> Iterator[tuple[str, str]]:
    for part in message.split("; couldn't assign flavors to pod set "):
        name, _, reasons = part.removeprefix("couldn't assign flavors to pod set ").partition(": ")
        yield from ((name, reason) for reason in _REASON.split(reasons))


def pending(world: QueueWorld) -> list[model.KueueWorkload]:
    """Who waits."""
    return [each for each in world.workloads.values() if is_pending(each)]
