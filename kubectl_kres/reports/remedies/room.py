"""How far quotas must be raised, or values of a template lowered, so that all wanted pods are admitted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct, structs

from kubectl_kres.admission.base.draft import Draft, Side
from kubectl_kres.admission.base.server import Server
from kubectl_kres.admission.quota.quota_admission import Key, amounts
from kubectl_kres.admission.request.new_pod import Policies
from kubectl_kres.model.pod import Pod
from kubectl_kres.quantity import ZERO, Quantity, parse
from kubectl_kres.reports.common.remedy import RaiseQuota
from kubectl_kres.reports.remedies.plans import NEW, build_rollout_plan
from kubectl_kres.reports.remedies.pods import OwnedPods, PodFaults
from kubectl_kres.reports.remedies.shape import ResourceField, scale_down, units, write_values, written_value
from kubectl_kres.simulate.rollout import RolloutPlan, SettledRollout, settle_rollout

#: So often room is made for one more pod beside those that others take, and so many of them are tried as the first.
_ROUNDS_OF_RIVALS, _MOST_ORDERS = 200, 5
_COUNTS = ("pods", "persistentvolumeclaims")
#: Less than this of a resource is no proposal: nothing runs with it.
LEAST = {"cpu": 10**6, "memory": 2**20 * 10**9, "ephemeral-storage": 2**20 * 10**9}


def starves(resource: str, before: str | None, to: str) -> bool:
    """Return whether memory is cut to less than half of what was written: what a program uses stays the same."""
    return resource == "memory" and before is not None and 2 * parse(to).nano < parse(before).nano


class RaisedHard(Struct, frozen=True):
    """The ``hard`` that all pods need; ``first``: for the next pod alone. Empty: the quotas have room."""

    hard: Mapping[Key, int]
    first: Mapping[Key, int]
    complete: bool
    rest: SettledRollout


def raised_for(plan: RolloutPlan, used: Mapping[Key, int], hard: Mapping[Key, int]) -> RaisedHard:
    now = worst_outcome(plan, used, hard)
    if now.complete:
        return RaisedHard({}, {}, complete=True, rest=now)
    rest, without_rivals = now, plan.without_rivals()
    for order in reversed(plan.orders):
        rest = settle_rollout(without_rivals, used, rest.hard, order, raising=True)
    if plan.rivals:
        rest = settle_rollout(plan, used, rest.hard, raising=True)
    for _ in range(_ROUNDS_OF_RIVALS):
        if not rest.complete or not plan.rivals:
            break
        # Raised step by step others get less of it than of the same room at once: it is tried anew.
        lacking = next((order for order in _orders(plan) if not _after_rivals(order, used, rest.hard).complete), None)
        if lacking is None:
            break
        rest = settle_rollout(lacking, used, rest.hard, raising=True, rivals_first=True)
    if not rest.complete or (plan.rivals and not worst_outcome(plan, used, rest.hard).complete):
        return RaisedHard({}, {}, complete=False, rest=now)
    most = {key: rest.hard[key] for key in rest.hard if rest.hard[key] > hard[key]}
    least = _find_smallest_hard(plan, used, hard, most)
    # Who gets the room of one pod is not known where others want it, too.
    first = {} if plan.rivals else settle_rollout(plan, used, hard, raising=True).first
    return RaisedHard(least, first, complete=True, rest=now)


def worst_outcome(plan: RolloutPlan, used: Mapping[Key, int], hard: Mapping[Key, int]) -> SettledRollout:
    """Return the worst final state over the orders of rivals; pods of others that end free nothing here."""
    without_rivals = plan.without_rivals()
    rest = settle_rollout(plan, used, hard)
    for order in plan.orders[0 if plan.rivals else 1 :]:
        if not rest.complete:
            return rest
        rest = settle_rollout(without_rivals, used, hard, order)
    for first in _orders(plan) if rest.complete else ():
        rest = _after_rivals(first, used, hard)
        if not rest.complete:
            break
    return rest


def _orders(plan: RolloutPlan) -> Iterator[RolloutPlan]:
    """Yield the plan with each rival as the first, for the first few rivals."""
    for index in range(min(len(plan.rivals), _MOST_ORDERS)):
        yield structs.replace(plan, rivals=(*plan.rivals[index:], *plan.rivals[:index]))


def _after_rivals(plan: RolloutPlan, used: Mapping[Key, int], hard: Mapping[Key, int]) -> SettledRollout:
    return settle_rollout(plan, used, hard, rivals_first=True)


def _find_smallest_hard(
    plan: RolloutPlan, used: Mapping[Key, int], hard: Mapping[Key, int], most: Mapping[Key, int]
) -> dict[Key, int]:
    """Return the smallest hard of each quota: one unit less of any would not be enough."""
    result = dict(most)
    for key in most:
        step = units(key[1].rpartition(".")[2], None if "cpu" in key[1] else Quantity(1))

        def is_enough(amount: int, key: Key = key) -> bool:
            return worst_outcome(plan, used, {**hard, **result, key: amount}).complete

        low, high = hard[key], result[key]
        if not is_enough(high - min(step, high - low)):
            continue
        while high - low > step:
            middle = low + (high - low) // 2 // step * step
            if middle in {low, high}:
                break
            low, high = (low, middle) if is_enough(middle) else (middle, high)
        result[key] = high
    return {key: amount for key, amount in result.items() if amount > hard[key]}


def measured_resource(name: str) -> tuple[Side, str] | None:
    """Return the side and resource of a pod that a quota's name measures; None: a number of objects."""
    if name in _COUNTS or name.startswith("count/") or name.endswith(("storage", "persistentvolumeclaims")):
        return (
            ("requests", "ephemeral-storage")
            if name.endswith("ephemeral-storage") and "limits" not in name
            else (("limits", "ephemeral-storage") if name == "limits.ephemeral-storage" else None)
        )
    if name.startswith("limits."):
        return "limits", name.removeprefix("limits.")
    return "requests", name.removeprefix("requests.")


def smaller_values(
    owned_pods: OwnedPods, pod: Pod, evaluated: PodFaults, short: Iterable[Key], policies: Policies, server: Server
) -> dict[ResourceField, str] | None:
    """Return values with which the first resource that is short is lowered to what there is room for; None: a number of
    objects is short, or so little is left that nothing runs with it. Raises Unparsable.
    """
    sides = {measured_resource(name) for _, name in short}
    if None in sides:
        return None
    side, name = min(side for side in sides if side is not None)
    draft: Draft | None = evaluated.outcomes[0].draft
    keys = [key for key in evaluated.price if measured_resource(key[1]) == (side, name)]
    if draft is None or not keys:
        # Nothing that a pod states is short, but what others lack that exist.
        return None
    # Another template is made with every change, also where this one is the first.
    changed = write_values(pod, {ResourceField("spec.containers[0]", side, name): "1"})
    plan, used = build_rollout_plan(owned_pods, changed, evaluated, policies, server)
    hard = {key: value for key, value in amounts(policies.quotas)[1].items() if key in keys}
    most = _find_largest_price(plan, used, hard, keys, max(evaluated.price[key] for key in keys), units(name))
    most -= draft.overhead.get(name, ZERO).nano
    return dict(_scale_values(pod, draft, side, name, most)) if most >= LEAST.get(name, 10**9) else None


def _find_largest_price(
    plan: RolloutPlan, used: Mapping[Key, int], hard: Mapping[Key, int], keys: Sequence[Key], most: int, step: int
) -> int:
    """Return the largest cost of a pod under ``keys`` with which all pods are admitted; 0: there is none."""

    def comes(amount: int) -> bool:
        pods = {**plan.costs.pods, NEW: {**plan.costs.pods[NEW], **dict.fromkeys(keys, amount)}}
        trial = structs.replace(plan, costs=structs.replace(plan.costs, pods=pods))
        return worst_outcome(trial, used, hard).complete

    low, high = 0, most // step + 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if comes(middle * step) else (low, middle)
    return low * step


def _scale_values(pod: Pod, draft: Draft, side: Side, name: str, most: int) -> Iterator[tuple[ResourceField, str]]:
    after = draft.copy()
    level = after.pod
    if level is not None and name in level.amounts_of(side) and name in {"cpu", "memory"}:
        level.amounts_of(side)[name] = Quantity(most, level.amounts_of(side)[name].format)
        if side == "limits":
            if level.requests.get(name, ZERO).nano > most:
                level.requests[name] = level.limits[name]
            for slot in (*after.containers, *after.inits):
                if slot.limits.get(name, ZERO).nano > most:
                    slot.limits[name] = level.limits[name]
        scale_down(after, "requests", name, Quantity(most))
    else:
        scale_down(after, side, name, Quantity(most))
    for old, new in zip(draft.slots(), after.slots(), strict=True):
        for which in ("requests", "limits"):
            before, now = old.amounts_of(which).get(name), new.amounts_of(which).get(name)
            stands = written_value(pod, ResourceField(new.path, which, name))
            if now is not None and now.nano > 0 and (before != now or stands is None):
                yield ResourceField(new.path, which, name), str(now)


def build_quota_raises(
    policies: Policies, hard: Mapping[Key, int], first: Mapping[Key, int] | None = None
) -> Iterator[RaiseQuota]:
    """Yield one edit for each name of a quota to raise to ``hard``; ``first``: to that for the next pod alone."""
    for quota in policies.quotas:
        for name, before in quota.hard.items():
            key = quota.name, name
            if key in hard:
                next_hard = (first or {}).get(key, before.nano)
                next_pod = _format_hard(next_hard, before, name) if before.nano < next_hard < hard[key] else ""
                to = _format_hard(hard[key], before, name)
                yield RaiseQuota(quota.source.ref, f"{quota.hard_at}[{name}]", name, to, str(before), next_pod)


def _format_hard(nano: int, like: Quantity, name: str) -> str:
    """Return the amount in the notation of the present value; bytes in whole Mi are written as such."""
    of_bytes = name.endswith(("memory", "storage")) and nano % (2**20 * 10**9) == 0
    written_decimal = bool(like) and like.nano % 10**15 == 0
    return str(Quantity(nano, "BinarySI" if of_bytes and not written_decimal else like.format))
