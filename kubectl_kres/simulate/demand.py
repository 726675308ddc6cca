"""Which workloads want something, which of them only wait for room, and which measures lack it for all of them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from kubectl_kres.simulate import controllers
from kubectl_kres.simulate.controllers import kept_revisions, kept_sets, sync_deployment
from kubectl_kres.simulate.moves import Controllers, State
from kubectl_kres.simulate.state import (
    Common,
    Cost,
    DeploymentState,
    JobState,
    ReplicaSetState,
    StatefulSetState,
    WorkloadState,
    count,
    pods_of,
    shapes_of,
    wanted_of,
)

#: What one of a workload's next pods costs, and the measures for which it states nothing: one of these must have room.
Wish = frozenset[tuple[Cost, tuple[int, ...]]]
#: Places, the newest first: one more is added without a copy of those before.
_Places = tuple[int, Any] | None


class Busy(NamedTuple):
    """The active workloads of those that states have in common.

    ``free``: the places of those that may do more than make pods. ``waiting``: the others, by what they wish.
    ``asked``: the most that all of them can still ask for, by measure.
    """

    common: Common
    free: _Places
    waiting: dict[Wish, _Places]
    asked: dict[int, int]


class RoomDemand:
    """What workloads can still ask for. Of thousands that wait for the same room only one is looked at."""

    def __init__(self, controllers: Controllers) -> None:
        self.controllers, self.tables = controllers, controllers.tables
        self._demand_cache: dict[tuple[Any, WorkloadState], tuple[dict[int, int], frozenset[int]]] = {}
        self._wishes: dict[tuple[str, int], tuple[WorkloadState, Wish | None]] = {}
        self._busy: dict[tuple[str, int], Busy] = {}
        #: The places of those with too many pods, by the identity of what states have in common.
        self._surplus: dict[int, tuple[Common, list[int]]] = {}

    def movable(self, state: State) -> list[int]:
        """Return the places of the active workloads, without those whose pods have no room now."""
        busy, changed = self._busy_of(state), state.workloads.changed
        indexes = [index for index in _iterate_places(busy.free) if index not in changed]
        for wish, linked in busy.waiting.items():
            if self._has_room(state, wish):
                indexes += [index for index in _iterate_places(linked) if index not in changed]
        for index, (_, workload) in changed.items():
            if not self.controllers.is_idle(workload):
                own_names = self._find_wish(state, workload)
                if own_names is None or self._has_room(state, own_names):
                    indexes.append(index)
        return sorted(indexes)

    def surplus_workloads(self, state: State) -> list[int]:
        """Return the places of the workloads that have too many pods. Of no pod it is asked whether it would be
        admitted.
        """
        changed, common = state.workloads.changed, state.workloads.common
        known = self._surplus.get(id(common))
        if known is None:
            before = self._surplus.get(id(common.before))
            first = len(common.items) - 1 if before is not None else 0
            more = [index for index in range(first, len(common.items)) if _has_surplus(common.items[index][1])]
            known = self._surplus[id(common)] = common, [*(before[1] if before is not None else ()), *more]
        indexes = [index for index in known[1] if index not in changed]
        return sorted([*indexes, *(index for index, item in changed.items() if _has_surplus(item[1]))])

    def contended_measures(self, state: State) -> set[int]:
        """Return the measures that do not have room for all that can still be asked of them."""
        asked = list(state.used)
        for number, amount in self._busy_of(state).asked.items():
            asked[number] += amount
        items = state.workloads.common.items
        for index, (_, workload) in state.workloads.changed.items():
            self._add(asked, state, items[index][1], -1)
            self._add(asked, state, workload, 1)
        return {number for number, limit in enumerate(state.limits) if limit is not None and asked[number] > limit}

    def measures(self, state: State, workload: WorkloadState) -> frozenset[int]:
        """Return the measures that a workload counts for."""
        return self._demand(state, workload)[1]

    def _add(self, asked: list[int], state: State, workload: WorkloadState, sign: int) -> None:
        if not self.controllers.is_idle(workload):
            for number, amount in self._demand(state, workload)[0].items():
                asked[number] += sign * amount

    def _has_room(self, state: State, wish: Wish) -> bool:
        return any(state.fits(cost) and all(state.limits[number] is None for number in bare) for cost, bare in wish)

    def _busy_of(self, state: State) -> Busy:
        common, deciding = state.workloads.common, self.tables.worlds[state.world].deciding
        known = self._busy.get((deciding, id(common)))
        if known is None:
            before = self._busy.get((deciding, id(common.before)))
            indexes = range(len(common.items))
            if before is not None:
                known = self._add_demand(before, state, indexes[-1:])
            else:
                known = self._add_demand(Busy(common, None, {}, {}), state, indexes)
            self._busy[deciding, id(common)] = known
        return known

    def _add_demand(self, before: Busy, state: State, indexes: Iterable[int]) -> Busy:
        free, waiting, asked = before.free, dict(before.waiting), dict(before.asked)
        common = state.workloads.common
        for index in indexes:
            workload = common.items[index][1]
            if self.controllers.is_idle(workload):
                continue
            wish = self._find_wish(state, workload)
            if wish is None:
                free = index, free
            else:
                waiting[wish] = index, waiting.get(wish)
            for number, amount in self._demand(state, workload)[0].items():
                asked[number] = asked.get(number, 0) + amount
        return Busy(common, free, waiting, asked)

    def _find_wish(self, state: State, workload: WorkloadState) -> Wish | None:
        """Return what a workload waits for that can do nothing but make pods; None: it may do something else."""
        world = self.tables.worlds[state.world]
        known = self._wishes.get((world.deciding, id(workload)))
        if known is None:
            templates = self._missing_pod_templates(workload)
            wish = None
            if templates is not None:
                shapes = {shape for template in templates for shape in self.tables.options(template, world)}
                wish = frozenset((item.cost, item.unstated) for item in map(self.tables.shapes.__getitem__, shapes))
            known = self._wishes[world.deciding, id(workload)] = workload, wish
        return known[1]

    def _missing_pod_templates(self, workload: WorkloadState) -> set[int] | None:
        """Return the templates of the pods that a workload lacks; None: its controllers may do something else."""
        match workload:
            case DeploymentState():
                if (
                    kept_sets(workload) is not workload.sets
                    or sync_deployment(workload, may_create=lambda: True) is not None
                ):
                    return None
                sets = workload.sets
            case ReplicaSetState():
                sets = (workload,)
            case StatefulSetState():
                if workload.claims or self.tables.lacks_revision(workload):
                    return None
                if kept_revisions(workload) is not workload.revisions:
                    return None
                if controllers.taken_down(workload) is not None:
                    return None
                return {
                    controllers.template_of(workload, ordinal) for ordinal in controllers.missing_ordinals(workload)
                }
            case JobState():
                return None
        if _has_surplus(workload):
            return None
        return {item.template for item in sets if count(item.pods) < item.wanted}

    def _demand(self, state: State, workload: WorkloadState) -> tuple[dict[int, int], frozenset[int]]:
        """Return what a workload can still ask for, and the measures that it counts for."""
        key = (self.tables.worlds[state.world].deciding, workload)
        if key not in self._demand_cache:
            self._demand_cache[key] = self._growth(state, workload), self._measures(state, workload)
        return self._demand_cache[key]

    def _growth(self, state: State, workload: WorkloadState) -> dict[int, int]:
        """Return the most that a workload can still ask for."""
        maximum = wanted_of(workload) + getattr(workload, "surge", 0)
        more = maximum if isinstance(workload, DeploymentState) else max(0, maximum - pods_of(workload))
        grown: dict[int, int] = {}
        world = self.tables.worlds[state.world]
        for template in self._templates(workload):
            for shape in self.tables.options(template, world):
                for number, amount in self.tables.shapes[shape].cost:
                    grown[number] = max(grown.get(number, 0), amount * more)
        return self._with_objects(state, workload, grown)

    def _with_objects(self, state: State, workload: WorkloadState, grown: dict[int, int]) -> dict[int, int]:
        costs = [(self.tables.revision_cost(workload), 1)]
        claims = getattr(workload, "claims", ())
        if claims:
            world = self.tables.worlds[state.world]
            raw = world.objects.get(("StatefulSet", getattr(workload, "name", "")), {})
            result = (self.tables.claim_cost(raw, claim, world) for claim in claims)
            costs += [(cost, wanted_of(workload)) for cost in result if cost is not None]
        for cost, times in costs:
            for number, amount in cost:
                grown[number] = grown.get(number, 0) + amount * times
        return grown

    def _measures(self, state: State, workload: WorkloadState) -> frozenset[int]:
        """Return the measures that a workload's pods and claims count for."""
        world = self.tables.worlds[state.world]
        shapes = {shape for shape, _ in shapes_of(workload)}
        for template in self._templates(workload):
            shapes.update(self.tables.options(template, world))
        counted = {number for shape in shapes for number, _ in self.tables.shapes[shape].cost}
        return frozenset(counted | set(self._with_objects(state, workload, {})))

    def _templates(self, workload: WorkloadState) -> set[int]:
        templates = {item.template for item in getattr(workload, "sets", ())}
        current = getattr(workload, "current", None)
        return {workload.template, *templates, *(() if current is None else (current,))}


def _has_surplus(workload: WorkloadState) -> bool:
    match workload:
        case DeploymentState():
            return any(count(item.pods) > item.wanted for item in workload.sets)
        case ReplicaSetState() | JobState():
            return count(workload.pods) > workload.wanted
    return False


def _iterate_places(indexes: _Places) -> Iterable[int]:
    while indexes is not None:
        index, indexes = indexes
        yield index
