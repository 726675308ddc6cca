"""One pass of the updater over the pods of a vertical autoscaler in a simulation.

Source: vertical-pod-autoscaler 1.8.1 pkg/updater/logic/updater.go.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from msgspec import Struct, structs

from kubectl_kres.admission.base.draft import SIDES, Slot, Unparsable
from kubectl_kres.admission.request.new_pod import Policies
from kubectl_kres.admission.resize import resize
from kubectl_kres.model.objects import Raw, decode_object, mapping
from kubectl_kres.model.pod import Pod
from kubectl_kres.quantity import parse
from kubectl_kres.simulate.moves import State
from kubectl_kres.simulate.replicas import joined, outside
from kubectl_kres.simulate.shapes import pod_of, shape_fields
from kubectl_kres.simulate.state import (
    DeploymentState,
    JobState,
    ReplicaSetState,
    StatefulSetState,
    WorkloadState,
    World,
    count,
    count_wanted_pods,
    with_pod,
)
from kubectl_kres.simulate.tables import Tables
from kubectl_kres.vpa.model import BUDGET, PodDisruptionBudget
from kubectl_kres.vpa.rules import updater
from kubectl_kres.vpa.rules.autoscaler import Autoscaler, WebhookFault
from kubectl_kres.vpa.rules.webhook import scaled_containers
from kubectl_kres.vpa.simulation.pod_webhooks import autoscaler_in


class UpdaterPass(Struct, frozen=True, omit_defaults=True):
    """What the updater finds and does in one pass.

    ``target``: kind and name of the controller. ``reason``: why it does nothing: off, no-recommendation, no-pods,
    as-recommended, held, budget or too-few. ``wanted`` and ``running``: pods before it; ``outside``: those with
    requests outside of the recommendation, ``held`` those of them that evictionRequirements keep. ``values``: what of
    the first one is outside: container, resource, request and the bounds, empty where there is none. ``in_place``: the
    refusal of a resize. ``budgets``: the PodDisruptionBudgets that select the pods, which want ``healthy`` to run.
    """

    target: str = ""
    reason: str = ""
    wanted: int = 0
    running: int = 0
    outside: int = 0
    held: int = 0
    evicted: int = 0
    resized: int = 0
    values: tuple[tuple[str, str, str, str, str], ...] = ()
    in_place: str = ""
    budgets: tuple[str, ...] = ()
    healthy: int = 0


class _Group(NamedTuple):
    """The running pods of one controller, by shape. ``number``: of several ReplicaSets of a Deployment which one."""

    number: int
    template: int
    wanted: int
    pods: Mapping[int, int]


def updater_pass(
    tables: Tables, look_up: Callable[[State], Policies], state: State, raw: Raw
) -> tuple[State, UpdaterPass]:
    """Return the namespace after one pass, and what it did.

    ``look_up``: what admission looks up in a state. ``raw``: the autoscaler.
    """
    autoscaler = autoscaler_in(raw)
    if autoscaler is None:
        return state, UpdaterPass(reason="off")
    target = "/".join(autoscaler.target)
    if autoscaler.mode not in updater.EVICTING or autoscaler.recommended is None:
        return state, UpdaterPass(target, "off" if autoscaler.mode not in updater.EVICTING else "no-recommendation")
    index = state.workloads.index_of(autoscaler.target)
    workload = state.workloads[index][1] if index is not None else None
    groups = [group for group in _groups(workload) if group.pods] if workload is not None else []
    if index is None or workload is None or not groups:
        return state, UpdaterPass(target, "no-pods")
    run = _Run(tables, look_up, state, index, autoscaler)
    for group in groups:
        run.visit_pods(group)
    return run.state, structs.replace(run.done(), target=target, wanted=count_wanted_pods(workload))


def _groups(workload: WorkloadState) -> Iterator[_Group]:
    match workload:
        case DeploymentState():
            for index, item in enumerate(workload.sets):
                yield _Group(index, item.template, item.wanted, _running(item))
        case StatefulSetState():
            pods: dict[int, int] = {}
            for replica in workload.pods:
                pods[replica.shape] = pods.get(replica.shape, 0) + replica.ready * replica.number
            yield _Group(0, workload.template, workload.replicas, {shape: many for shape, many in pods.items() if many})
        case JobState():
            yield _Group(0, workload.template, count(workload.pods), _running(workload))
        case ReplicaSetState():
            yield _Group(0, workload.template, workload.wanted, _running(workload))


def _running(item: ReplicaSetState | JobState) -> dict[int, int]:
    return {shape: many for shape, is_ready, many in item.pods if is_ready}


class _Run:
    """A pass over all controllers of the pods of one autoscaler."""

    def __init__(
        self, tables: Tables, look_up: Callable[[State], Policies], state: State, index: int, autoscaler: Autoscaler
    ) -> None:
        self.tables, self.look_up, self.state, self.index = tables, look_up, state, index
        self.limits = look_up(state).limits
        self.autoscaler = autoscaler
        self.running = self.outside = self.held = self.evicted = self.resized = 0
        self.values: tuple[tuple[str, str, str, str, str], ...] = ()
        self.in_place, self.few = "", False
        self.budgets: tuple[str, ...] = ()
        self.healthy = 0

    def done(self) -> UpdaterPass:
        """Return what it came to."""
        reason = ""
        if not self.outside:
            reason = "as-recommended"
        elif self.outside == self.held:
            reason = "held"
        elif self.few and not self.evicted and not self.resized:
            reason = "too-few"
        elif self.budgets and not self.evicted and not self.resized:
            reason = "budget"
        return UpdaterPass(
            "",
            reason,
            0,
            self.running,
            self.outside,
            self.held,
            self.evicted,
            self.resized,
            self.values,
            self.in_place,
            self.budgets,
            self.healthy,
        )

    def visit_pods(self, group: _Group) -> None:
        """Evict what is outside of the recommendation, as far as it may; what can be resized instead is."""
        running = sum(group.pods.values())
        self.running += running
        by_shape = {shape: checked for shape in group.pods if (checked := self._decide_evictions(shape)) is not None}
        moved = sorted(
            (shape for shape, checked in by_shape.items() if checked.evicted),
            key=lambda shape: by_shape[shape].sort_key,
        )
        for shape, checked in by_shape.items():
            self.outside += group.pods[shape] if checked.outside else 0
            self.held += group.pods[shape] if checked.outside and checked.held else 0
        outside = [shape for shape, checked in by_shape.items() if checked.outside]
        if outside and not self.values:
            self.values = tuple(map(_texts, by_shape[(moved or outside)[0]].outside))
        budget = updater.disruption_budget(self.autoscaler, group.wanted, self._healthy(group))
        if running < budget.least:
            self.few = self.few or bool(moved)
            return
        queue = [shape for shape in moved for _ in range(group.pods[shape])]
        removed = 0
        if self.autoscaler.mode == "InPlaceOrRecreate":
            queue, removed = self._resized(group, queue, budget, running)
        evicted = 0
        for shape in queue:
            if budget.may_evict(running, removed, evicted):
                self._change(group, shape, None)
                removed, evicted = removed + 1, evicted + 1
        self.evicted += evicted

    def _healthy(self, group: _Group) -> int:
        """Return how many of the pods have to run by PodDisruptionBudgets."""
        budgets = [
            decode_object(raw, PodDisruptionBudget) for raw in self.tables.worlds[self.state.world].of_kind(BUDGET)
        ]
        if not budgets:
            return 0
        labels = mapping(mapping(self.tables.templates[group.template].raw, "metadata"), "labels")
        wanted = updater.healthy_pods(budgets, labels, group.wanted)
        self.budgets, self.healthy = wanted.budgets, wanted.least
        return wanted.least

    def _resized(self, group: _Group, queue: list[int], budget: updater.Budget, running: int) -> tuple[list[int], int]:
        """Resize what may be; return the shapes of those that are evicted instead, and how many were resized."""
        left: list[int] = []
        initiated = 0
        for shape in queue:
            if not budget.is_disruptable(running, initiated):
                continue
            new = self._resize(group, shape)
            if new is None:
                left.append(shape)
                continue
            self._change(group, shape, new)
            initiated += 1
        self.resized += initiated
        return left, initiated

    def _resize(self, group: _Group, shape: int) -> int | None:
        """Return the shape of a pod once it is resized; None: the API server refuses that."""
        world: World = self.tables.worlds[self.state.world]
        template, stored = self.tables.templates[group.template], self.tables.shapes[shape].stored
        old = decode_object(_with_resources(pod_of(template.raw, template.owner[1]), stored), Pod)
        try:
            changes = scaled_containers(self.autoscaler, _slots(stored), self.limits)
        except WebhookFault as fault:
            self.in_place = str(fault)
            return None
        resources = {scaled.slot.name: scaled.resources() for scaled in changes}
        new = decode_object(_with_resources(pod_of(template.raw, template.owner[1]), stored, resources), Pod)
        # By what the quotas have left by now.
        outcome = resize(old, new, self.look_up(self.state), self.tables.server, journal=False)[0]
        if not outcome.allowed or outcome.object is None:
            self.in_place = outcome.message
            return None
        return self.tables.shape_of_pod(
            decode_object({**outcome.object, "kind": "Pod"}, Pod), shape_fields(outcome.object), world
        )

    def _decide_evictions(self, shape: int) -> updater.EvictionDecision | None:
        """Return what the updater finds of pods of a shape; None: it stops at them."""
        try:
            return updater.decide_eviction(self.autoscaler, _slots(self.tables.shapes[shape].stored), self.limits)
        except (WebhookFault, Unparsable):
            return None

    def _change(self, group: _Group, shape: int, new: int | None) -> None:
        """Take one pod of a shape away, or give it another shape."""
        workload = self.state.workloads[self.index][1]
        state = self.state.with_entry(self.index, _with_pod_changed(workload, group, shape, new))
        state = state.with_charge(self.tables.shapes[shape].cost, -1)
        self.state = state if new is None else state.with_charge(self.tables.shapes[new].cost)


def _texts(outside: updater.OutsideRequest) -> tuple[str, str, str, str, str]:
    request, lower, upper = ("" if amount is None else str(amount) for amount in outside[2:])
    return outside.container, outside.resource, request, lower, upper


def _with_pod_changed(workload: WorkloadState, group: _Group, shape: int, new: int | None) -> WorkloadState:
    match workload:
        case DeploymentState():
            sets = list(workload.sets)
            sets[group.number] = sets[group.number]._replace(pods=_with_new_shape(sets[group.number], shape, new))
            return workload._replace(sets=tuple(sets))
        case StatefulSetState():
            alike = next(pods for pods in reversed(workload.pods) if pods.shape == shape and pods.ready)
            kept = outside(workload.pods, range(alike.last, alike.last + 1))
            changed = () if new is None else (alike._replace(ordinal=alike.last, number=1, shape=new),)
            return workload._replace(pods=joined((*kept, *changed)))
        case _:
            return workload._replace(pods=_with_new_shape(workload, shape, new))


def _with_new_shape(item: ReplicaSetState | JobState, shape: int, new: int | None) -> Any:
    pods = with_pod(item.pods, shape, -1)
    return pods if new is None else with_pod(pods, new)


def _slots(stored: Mapping[str, Any]) -> list[Slot]:
    """Return the containers of a shape with what they ask for. Raises Unparsable."""
    result = []
    for index, item in enumerate(stored.get("containers") or ()):
        resources = item.get("resources") or {}
        limits, requests = (
            {name: parse(str(value)) for name, value in (resources.get(side) or {}).items()} for side in SIDES
        )
        result.append(Slot(f"spec.containers[{index}]", item.get("name", ""), "container", limits, requests))
    return result


def _with_resources(
    pod: dict[str, Any], stored: Mapping[str, Any], more: Mapping[str, Mapping[str, Any]] | None = None
) -> dict[str, Any]:
    """Return the pod with the resources of a shape, by container, and with ``more`` of them over those."""
    by_name = {item.get("name", ""): item.get("resources") or {} for item in stored.get("containers") or ()}
    containers = []
    for item in pod["spec"].get("containers") or ():
        resources_of_shape = by_name.get(item.get("name"), item.get("resources") or {})
        over = (more or {}).get(str(item.get("name")), {})
        resources = {side: {**(resources_of_shape.get(side) or {}), **(over.get(side) or {})} for side in SIDES}
        containers.append({**item, "resources": {side: values for side, values in resources.items() if values}})
    return {**pod, "spec": {**pod["spec"], "containers": containers}}
