"""What comes after a state: the next rollout, the next pod in place of a deleted one, and how far autoscalers get."""

from __future__ import annotations

from collections.abc import Callable, Container, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from msgspec import Struct

from kubectl_kres.model.objects import decode_object
from kubectl_kres.model.workload import HorizontalPodAutoscaler, Workload, daemon_bounds
from kubectl_kres.model.workload_kinds import CONTROLLER_REVISION
from kubectl_kres.quantity import Quantity
from kubectl_kres.simulate.controllers import template_of
from kubectl_kres.simulate.leaps import LEAST_MOVES
from kubectl_kres.simulate.moves import ALL, Kubelet, State, leap_of_state
from kubectl_kres.simulate.shapes import SUFFIX, Shape, shape_fields
from kubectl_kres.simulate.simulation import NamespaceSimulation
from kubectl_kres.simulate.state import (
    Cost,
    DeploymentState,
    JobState,
    Key,
    StatefulSetState,
    Workloads,
    WorkloadState,
    count,
    count_updated_pods,
    count_wanted_pods,
    pods_of,
    shapes_of,
    template_raw,
)

#: States that are looked at for rollouts that are under way together, and for all that are asked about in one rest, of
#: as many as are restarted together so many times more; below the least they are not worth the time.
_MOST, _MOST_TOGETHER, _LEAST = 2_000, 7_000, 50
#: Rests of a namespace in which rollouts are asked about, all of them.
_MOST_RESTS = 4
#: What comes before the next pod of what is not followed: kind, and the resource that quotas count.
_MADE_BEFORE = {"DaemonSet": CONTROLLER_REVISION, "CronJob": ("Job", "jobs.batch")}
_RESTARTED = "kubectl.kubernetes.io/restartedAt"


class StalledRollout(Struct, frozen=True):
    """A rollout that stalls: at rest there are ``updated`` of ``wanted`` new pods, ``most`` if races end well.

    ``beside``: the workloads whose rollouts are under way at the same time. ``tell``: finds the server's words to the
    next pod.
    """

    key: Key
    updated: int
    most: int
    wanted: int
    beside: tuple[Key, ...] = ()
    tell: Callable[[], tuple[str, ...]] = tuple


def stalled_rollouts(
    namespace: NamespaceSimulation, states: Iterable[State], at_once: int, asked: Container[Key] | None = None
) -> dict[Key, StalledRollout]:
    """Return the workloads that have all their pods and in one of the states would not get through a restart of them.

    ``at_once``: so many are restarted together: each beside those others that ask for most of what is short. ``asked``:
    only these are restarted themselves; None: all.
    """
    result: dict[Key, StalledRollout] = {}
    for state in extreme_states(states) if at_once else ():
        if any(limit is not None for limit in state.limits):
            left = {key for key, _ in state.workloads if key not in result and (asked is None or key in asked)}
            result |= {item.key: item for item in _Restarts(namespace, state, at_once).stalled(left)}
    return result


def extreme_states(states: Iterable[State]) -> tuple[State, ...]:
    """Of many rests of a namespace those that rollouts are asked in: with the most and the least in use."""
    every = tuple(states)
    if len(every) <= _MOST_RESTS:
        return every
    return min(every, key=lambda state: state.used), max(every, key=lambda state: state.used)


def circumstances(namespace: NamespaceSimulation, state: State, keys: Iterable[Key]) -> Iterator[tuple[Key, Hashable]]:
    """For each workload all that decides how far a restart of it alone comes."""
    restarts, tables, world = _Restarts(namespace, state, 1), namespace.tables, namespace.tables.worlds[state.world]

    def costs(workload: WorkloadState) -> tuple[Hashable, ...]:
        new = (tables.shapes[number] for number in tables.options(workload.template, world))
        return tuple((shape.cost, shape.unstated) for shape in new)

    busy = [workload for _, workload in restarts.busy]
    short = {number for workload in busy for number, _ in restarts.growth(workload)}
    others = tuple((workload, costs(workload)) for workload in busy)
    for key in keys:
        index = state.workloads.index_of(key)
        if index is None:
            continue
        workload = state.workloads[index][1]
        measures = {number for number, _ in restarts.growth(workload)}
        room = tuple((number, state.used[number], state.limits[number]) for number in sorted(measures | short))
        yield key, (workload, costs(workload), room, () if measures.isdisjoint(short) else others)


class _Restart(Struct, frozen=True):
    """A workload that can be restarted. ``growth``: the most that it asks for on the way, beyond what it has, of each
    measure that a quota bounds.
    """

    key: Key
    workload: DeploymentState | StatefulSetState
    growth: Mapping[int, int]


class _Restarts:
    def __init__(self, namespace: NamespaceSimulation, state: State, at_once: int) -> None:
        self.namespace, self.tables, self.state, self.at_once = namespace, namespace.tables, state, at_once
        self._ends: dict[frozenset[Key], tuple[State, ...]] = {}
        #: Workloads without all their pods: they take what an old pod leaves.
        self.busy = [state.workloads[index] for index in namespace.controllers(Kubelet()).active(state)]
        #: Whether one of them may give pods up.
        self.frees = any(len([item for item in getattr(workload, "sets", ()) if item.pods]) > 1
                         or isinstance(workload, StatefulSetState | JobState) for _, workload in self.busy)  # fmt: skip
        #: What those still ask for, by measure.
        self.waiting: dict[int, int] = {}
        for _, workload in self.busy:
            for measure, amount in self.growth(workload):
                self.waiting[measure] = self.waiting.get(measure, 0) + amount

    def stalled(self, asked: Container[Key]) -> Iterator[StalledRollout]:
        items = ((key, item) for key, item in self.state.workloads if self.at_once > 1 or key in asked)
        restarts = [restart for key, workload in items for restart in self._restarts(key, workload)]
        for restart in restarts:
            if restart.key not in asked:
                continue
            for beside in dict.fromkeys(self._groups(restart, restarts)):
                result = self._outcome(restart, beside, self.at_once * _MOST_TOGETHER // len(restarts))
                if result is not None:
                    yield result
                    break

    def _restarts(self, key: Key, workload: WorkloadState) -> Iterator[_Restart]:
        """Yield the workload, if it has all its pods and can replace them; alone only where it may not complete."""
        if isinstance(workload, DeploymentState):
            left_out = workload.paused or any(count(item.pods) != item.wanted for item in workload.sets)
        elif isinstance(workload, StatefulSetState):
            left_out = workload.on_delete or workload.partition >= workload.replicas
        else:
            return
        if left_out or not workload.replicas or pods_of(workload) < workload.replicas:
            return
        new = self._new_pod_shapes(workload)
        may = self.tables.may_revise(key, workload, self.tables.worlds[self.state.world])
        if new and not (self.at_once == 1 and may and self._exchanges(workload, new)):
            yield _Restart(key, workload, dict(self.growth(workload)))

    def _new_pod_shapes(self, workload: WorkloadState) -> list[Shape]:
        """Return how its new pods are stored; none if they are refused whatever room there is."""
        world, limits = self.tables.worlds[self.state.world], self.state.limits
        if self.tables.refusals(workload.template, world):
            return []
        result = [self.tables.shapes[number] for number in self.tables.options(workload.template, world)]
        return result if all(limits[number] is None for shape in result for number in shape.unstated) else []

    def _exchanges(self, workload: DeploymentState | StatefulSetState, new: Sequence[Shape]) -> bool:
        """Return whether each old pod makes room for a new one, so that a rollout alone completes."""
        used, limits = self.state.used, self.state.limits
        old = {number: self.tables.shapes[number] for number, _ in shapes_of(workload)}.values()
        if len(old) > 1 or [shape.cost for shape in old] != [shape.cost for shape in new]:
            costs = [dict(shape.cost) for shape in old]
            for shape in new:
                for number, amount in shape.cost:
                    if limits[number] is not None and amount > min(cost.get(number, 0) for cost in costs):
                        return False
        for number in {number for shape in new for number, _ in shape.cost}:
            limit = limits[number]
            if limit is not None and (used[number] > limit or number in self.waiting):
                return False
        if not self.state.fits(self.tables.revision_cost(workload)):
            return False
        if isinstance(workload, StatefulSetState):
            return True
        # An old pod goes first, or a new one comes first.
        return bool(workload.recreate or workload.unavailable) or all(map(self.state.fits, (item.cost for item in new)))

    def growth(self, workload: WorkloadState) -> Iterator[tuple[int, int]]:
        """Yield the most that it asks for on the way, beyond what its pods use now, of each measure that a quota
        bounds.
        """
        world = self.tables.worlds[self.state.world]
        templates = {workload.template, *(item.template for item in getattr(workload, "sets", ()))}
        new = [self.tables.shapes[shape] for number in templates for shape in self.tables.options(number, world)]
        costs_of_pods = [(dict(self.tables.shapes[number].cost), many) for number, many in shapes_of(workload)]
        costs = [*(cost for cost, _ in costs_of_pods), *(dict(shape.cost) for shape in new)]
        maximum = count_wanted_pods(workload) + getattr(workload, "surge", 0)
        for measure in dict.fromkeys(measure for cost in costs for measure in cost):
            if self.state.limits[measure] is not None:
                used = sum(cost.get(measure, 0) * many for cost, many in costs_of_pods)
                yield measure, max(0, maximum * max(cost.get(measure, 0) for cost in costs) - used)
        yield from self.tables.revision_cost(workload)

    def _groups(self, restart: _Restart, restarts: Sequence[_Restart]) -> Iterator[tuple[Key, ...]]:
        """Return who else is restarted, once for each measure that is short; nothing where it completes in any case."""
        if any(self._list_shortages(measure, growth) for measure, growth in restart.growth.items()):
            yield ()
        for measure in restart.growth if self.at_once > 1 else ():
            others = [other for other in restarts if other is not restart and measure in other.growth]
            others.sort(key=lambda other: (-other.growth[measure], other.key))
            beside = others[: self.at_once - 1]
            if self._list_shortages(measure, sum(item.growth[measure] for item in (restart, *beside))):
                yield tuple(sorted(item.key for item in beside))

    def _list_shortages(self, measure: int, growth: int) -> bool:
        limit = self.state.limits[measure]
        return limit is not None and self.state.used[measure] + growth + self.waiting.get(measure, 0) > limit

    def _outcome(self, restart: _Restart, beside: tuple[Key, ...], maximum: int) -> StalledRollout | None:
        """Return the worst of all ends, if the rollout does not complete in it."""
        desired = restart.workload.replicas - getattr(restart.workload, "partition", 0)
        if not beside and self._starts_never(restart.workload):
            return StalledRollout(restart.key, 0, 0, desired, (), partial(self._messages, restart, beside, 0))
        counts = self._count_updated_pods(restart, beside, maximum)
        if min(counts) >= desired:
            return None
        tell = partial(self._messages, restart, beside, maximum)
        return StalledRollout(restart.key, min(counts), min(max(counts), desired), desired, beside, tell)

    def _starts_never(self, workload: DeploymentState | StatefulSetState) -> bool:
        """Return whether not even the first new pod comes: it has no room, and nobody gives a pod up for it."""
        if self.frees or not isinstance(workload, DeploymentState) or workload.recreate or workload.unavailable:
            return False
        return not any(self.state.admits(shape) for shape in self._new_pod_shapes(workload))

    def _count_updated_pods(self, restart: _Restart, beside: tuple[Key, ...], maximum: int) -> list[int]:
        """Return how many pods are updated, in each end."""
        final_states = self._simulate_restart({restart.key, *beside}, maximum)
        index = final_states[0].workloads.index_of(restart.key) or 0
        return [count_updated_pods(end.workloads[index][1]) for end in final_states]

    def _messages(self, restart: _Restart, beside: tuple[Key, ...], maximum: int) -> tuple[str, ...]:
        """Return the server's words to the next pod in the worst end."""
        counts = self._count_updated_pods(restart, beside, maximum)
        end = self._simulate_restart({restart.key, *beside}, maximum)[counts.index(min(counts))]
        worst = self.namespace.reader.workload(end, end.workloads.index_of(restart.key) or 0)
        return tuple(dict.fromkeys(text for refused in worst.refused for text in refused.messages))

    def _simulate_restart(self, keys: set[Key], maximum: int) -> tuple[State, ...]:
        """Return the rests that the workloads come to, and those that wait for room: all others have what they want.

        Two orders are followed; if they end alike, all do. ``maximum``: states that are looked at otherwise.
        """
        together = frozenset(keys)
        if together not in self._ends:
            restarted = [self.state.workloads[self.state.workloads.index_of(key) or 0] for key in sorted(together)]
            waiting = [item for item in self.busy if item[0] not in together]
            items = [
                (key, item._replace(template=self._restart_template(key, item.template))) for key, item in restarted
            ]
            state = self.state._replace(workloads=Workloads.from_items([*items, *waiting]))
            orders = self._find_final_state(state), self._find_final_state(state, others_first=True)
            if orders[0].workloads == orders[1].workloads or maximum < _LEAST:
                self._ends[together] = orders
            else:
                final_states = self.namespace.after(
                    [state], [], Kubelet(), between=False, maximum=min(maximum, _MOST), is_drawn=False
                )
                self._ends[together] = final_states.states if final_states.complete else (*orders, *final_states.states)
        return self._ends[together]

    def _find_final_state(self, state: State, *, others_first: bool = False) -> State:
        """Return the rest where workloads that come first in the state go first, or those that come last."""
        controllers, order = self.namespace.controllers(Kubelet()), range(len(state.workloads))
        if others_first:
            order = order[::-1]
        #: What had nothing to do, or no room for it, since room was made last.
        still: set[int] = set()
        #: Only what was moved last can have too many pods.
        moved: Iterable[int] = order
        trail = [state]
        while True:
            after = None
            for index in moved:
                after = next(controllers.delete_surplus(state, index), None)
                if after is not None:
                    break
            for index in order if after is None else ():
                if index not in still:
                    after = next(controllers.next_moves(state, index, at_once=ALL), None)
                    if after is not None:
                        moved = (index,)
                        break
                    still.add(index)
            if after is None:
                return state
            trail.append(after)
            if len(trail) == LEAST_MOVES:
                if len(order) == 1:
                    after = leap_of_state(trail, self._next_of_only) or after
                trail = [after]
            if any(now < before for now, before in zip(after.used, state.used, strict=True)):
                still.clear()
            state = after

    def _next_of_only(self, state: State) -> State | None:
        """Return the state after the next move of the only workload; None: it rests."""
        controllers = self.namespace.controllers(Kubelet())
        deleted = next(controllers.delete_surplus(state, 0), None)
        return deleted or next(controllers.next_moves(state, 0, at_once=ALL), None)

    def _restart_template(self, key: Key, template: int) -> int:
        """Return the number of the template that kubectl rollout restart makes of it."""
        present = self.tables.templates[template]
        metadata: Mapping[str, Any] = present.raw.get("metadata") or {}
        notes = {**(metadata.get("annotations") or {}), _RESTARTED: "now"}
        raw = {**present.raw, "metadata": {**metadata, "annotations": notes}}
        return self.tables.template(key, raw, whole=present.is_complete)


class NextPodAnswer(Struct, frozen=True):
    """The next pod of a workload. ``messages``: the server's words if it is refused. ``stored``: as it would be stored,
    once for each order of LimitRanges that matters. ``pods``: how many pods of the workload there are.
    """

    key: Key
    pods: int
    wanted: int
    messages: tuple[str, ...] = ()
    stored: tuple[Mapping[str, Any], ...] = ()


def next_pods(namespace: NamespaceSimulation, state: State, known: Container[Key] = ()) -> Iterator[NextPodAnswer]:
    """Yield the next pod of everything that makes pods and has some, or wants some; not of what is ``known``."""
    tables = namespace.tables
    world = tables.worlds[state.world]
    for key, workload in state.workloads:
        if key in known:
            continue
        number, wanted_count = pods_of(workload), count_wanted_pods(workload)
        if (number or wanted_count) and not getattr(workload, "ended", ""):
            # Of those that can be next that which is refused.
            every = [_build_next(namespace, state, key, pod, number, wanted_count) for pod in _replacements(workload)]
            yield next((item for item in every if item.messages), every[-1])
    controlled = {key for key, _ in state.workloads}
    for key in sorted(key for key in world.objects if key not in controlled and key not in known and key[0] != "Pod"):
        if template_raw(world.objects[key]):
            other = namespace.others.get(key, ())
            template = tables.template_of(world.objects[key], whole=key in world.complete)
            if key[0] in _MADE_BEFORE and template not in tables.revised.get(key, ()):
                policies = namespace.requests.policies(state)
                review = tables.revision_review(key, template, world)
                refused = namespace.reader.refused_revision(key, _MADE_BEFORE[key[0]], policies, review)
                messages = tuple(text for item in refused for text in item.messages)
                if messages:
                    yield NextPodAnswer(key, len(other), len(other), messages)
                    continue
            if (stalled := _stalled_daemon_set(namespace, state, key, other, template)) is not None:
                rest, left = stalled
                yield _build_next(namespace, rest, key, _Replacement(None, template), left, len(other))
                continue
            pod = _Replacement(other[0] if other else None, template)
            yield _build_next(namespace, state, key, pod, len(other), len(other))


def _stalled_daemon_set(
    namespace: NamespaceSimulation, state: State, key: Key, pods: Sequence[int], template: int
) -> tuple[State, int] | None:
    """Return where the rollout of a DaemonSet ends whose template a step changed, and how many pods there are then.

    None: its template is the same, its pods are replaced by hand, or all are replaced. Source: controller/daemon
    update.go rollingUpdate: without a surge old pods end first.
    """
    tables = namespace.tables
    world, before = tables.worlds[state.world], tables.worlds[0].objects.get(key)
    if key[0] != "DaemonSet" or before is None or not pods or tables.template_of(before) == template:
        return None
    strategy = decode_object(world.objects[key], Workload).spec.update_strategy
    if strategy is not None and strategy.type == "OnDelete":
        return None
    surge, unavailable = daemon_bounds(strategy.rolling_update if strategy is not None else None, len(pods))
    new = [tables.shapes[shape] for shape in tables.options(template, world)]
    refused = bool(tables.refusals(template, world))
    old, updated = list(pods), 0
    while updated < len(pods):
        while not surge and old and len(pods) - len(old) - updated < unavailable:
            state = state.with_charge(tables.shapes[old.pop()].cost, -1)
        if refused or not all(map(state.admits, new)):
            return state, len(old) + updated
        state, updated = state.with_charge(new[0].cost), updated + 1
        if surge:
            state = state.with_charge(tables.shapes[old.pop()].cost, -1)
    return None


class _Replacement(NamedTuple):
    """A pod that is deleted, by its shape (None: there is none), and the template of what comes in its place."""

    shape: int | None
    template: int


def _replacements(workload: WorkloadState) -> list[_Replacement]:
    """Return the pods that can be next; of a StatefulSet one above its partition and one below."""
    shape = next((shape for shape, _ in shapes_of(workload)), None)
    match workload:
        case DeploymentState(paused=True, sets=[*_, newest]):
            # Its sets stay as they are, and each makes its own pods anew.
            item = next((item for item in workload.sets if item.pods), newest)
            return [_Replacement(shape, item.template)]
        case StatefulSetState(pods=[first, *rest]):
            final_states = {template_of(workload, pod.ordinal): pod for pod in (*rest[-1:], first)}
            border = workload.start + workload.partition
            if first.ordinal < border <= first.last:
                final_states.setdefault(workload.template, first)
            return [
                _Replacement(pod.shape, template)
                for template, pod in sorted(final_states.items(), key=lambda item: item[1])
            ]
    return [_Replacement(shape, workload.template)]


def _build_next(
    namespace: NamespaceSimulation, state: State, key: Key, pod: _Replacement, number: int, wanted_count: int
) -> NextPodAnswer:
    tables = namespace.tables
    world = tables.worlds[state.world]
    if pod.shape is not None:
        state = state.with_charge(tables.shapes[pod.shape].cost, -1)
    options = [tables.shapes[shape] for shape in tables.options(pod.template, world)]
    outcomes = tables.refusals(pod.template, world)
    if not outcomes and all(map(state.admits, options)):
        return NextPodAnswer(key, number, wanted_count, (), tuple(shape.stored for shape in options))
    if options:
        outcomes = tables.outcomes(pod.template, world, namespace.requests.policies(state))
    messages = dict.fromkeys(
        outcome.message.replace(f'{SUFFIX}"', '-*"', 1) for outcome in outcomes if not outcome.allowed
    )
    stored = {repr(outcome.object): shape_fields(outcome.object) for outcome in outcomes if outcome.object is not None}
    return NextPodAnswer(key, number, wanted_count, tuple(messages), tuple(stored.values()))


class Maximum(Struct, frozen=True):
    """An autoscaler at its maxReplicas (``most``): ``fits`` of them there can be, those that exist with them.

    ``lacks``: quota, resource and amount that is missing for the rest; empty where a pod is refused for another reason.
    """

    autoscaler: str
    most: int
    fits: int
    lacks: tuple[tuple[str, str, str], ...] = ()


def autoscaler_maxima(namespace: NamespaceSimulation, state: State) -> dict[Key, Maximum]:
    """By workload; of several autoscalers of one the one that asks for most."""
    world = namespace.tables.worlds[state.world]
    result = dict(state.workloads)
    maximums: dict[Key, Maximum] = {}
    for raw in world.of_kind("HorizontalPodAutoscaler"):
        scaler = decode_object(raw, HorizontalPodAutoscaler)
        key = (scaler.spec.scale_target_ref.kind, scaler.spec.scale_target_ref.name)
        maximum = scaler.spec.max_replicas
        if key in result and maximum > (maximums[key].most if key in maximums else 0):
            maximums[key] = _maximum(namespace, state, key, result[key], scaler.metadata.name, maximum)
    return maximums


def _maximum(
    namespace: NamespaceSimulation, state: State, key: Key, workload: WorkloadState, name: str, maximum: int
) -> Maximum:
    tables = namespace.tables
    world = tables.worlds[state.world]
    existing = pods_of(workload)
    more = max(0, maximum - existing)
    shapes = [tables.shapes[number] for number in tables.options(workload.template, world)]
    if not shapes or tables.refusals(workload.template, world):
        return Maximum(name, maximum, min(maximum, existing))
    if any(state.limits[number] is not None for shape in shapes for number in shape.unstated):
        return Maximum(name, maximum, min(maximum, existing))
    costs = [_sum_costs((*shape.cost, *_claims(namespace, state, key, workload))) for shape in shapes]
    cost = min(costs, key=lambda value: state.room(value, more))
    fits = existing + max(0, state.room(cost, more))
    return Maximum(name, maximum, min(maximum, fits), tuple(_list_shortages(namespace, state, cost, more)))


def _claims(
    namespace: NamespaceSimulation, state: State, key: Key, workload: WorkloadState
) -> Iterator[tuple[int, int]]:
    if isinstance(workload, StatefulSetState):
        world = namespace.tables.worlds[state.world]
        for claim in workload.claims:
            yield from namespace.tables.claim_cost(world.objects[key], claim, world) or ()


def _sum_costs(parts: Cost) -> Cost:
    sums: dict[int, int] = {}
    for number, amount in parts:
        sums[number] = sums.get(number, 0) + amount
    return tuple(sums.items())


def _list_shortages(
    namespace: NamespaceSimulation, state: State, cost: Cost, more: int
) -> Iterator[tuple[str, str, str]]:
    measures = namespace.tables.measures
    for number, amount in cost:
        limit = state.limits[number]
        if limit is not None and amount > 0 and state.used[number] + more * amount > limit:
            short = Quantity(state.used[number] + more * amount - limit, measures.formats.get(number, "DecimalSI"))
            yield measures.items[number].quota, measures.items[number].resource, str(short)
