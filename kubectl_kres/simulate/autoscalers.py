"""Vertical autoscalers in the world of a change: what their webhook writes into the pods that come, and a pass of their
updater over the pods of a controller.

Only worlds that hold an autoscaler ask for this module.
Source: vertical-pod-autoscaler 1.8.1 pkg/updater/logic/updater.go.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from msgspec import structs

from kubectl_kres.admission.base.draft import SIDES, Slot, Unparsable
from kubectl_kres.admission.request.new_pod import PodWebhook, Policies
from kubectl_kres.admission.resize import resize
from kubectl_kres.model.admission_objects import WebhookConfiguration
from kubectl_kres.model.objects import Raw, decode_object, mapping
from kubectl_kres.model.pod import Pod
from kubectl_kres.quantity import parse
from kubectl_kres.simulate.moves import State
from kubectl_kres.simulate.requests import UpdaterPass
from kubectl_kres.simulate.shapes import pod_of, shape_fields
from kubectl_kres.simulate.state import (
    BUDGET,
    DeploymentState,
    JobState,
    ReplicaSetState,
    StatefulSetState,
    WorkloadState,
    World,
    count,
    wanted_of,
    with_pod,
)
from kubectl_kres.simulate.tables import Tables
from kubectl_kres.vpa.model import WEBHOOK, PodDisruptionBudget, VerticalPodAutoscaler
from kubectl_kres.vpa.registration import selects, webhook_of
from kubectl_kres.vpa.rules import updater
from kubectl_kres.vpa.rules.autoscaler import Autoscaler, WebhookFault, parse_autoscaler
from kubectl_kres.vpa.rules.webhook import Owner, controlling_autoscalers, scaled_containers


def pod_webhooks(autoscalers: Iterable[Raw], configurations: Iterable[Raw], namespace: Raw) -> tuple[PodWebhook, ...]:
    """Return the webhook as it is registered; none where it is not, leaves the namespace out, or changes no pod."""
    deciding = controlling_autoscalers(filter(None, map(autoscaler_in, autoscalers)))
    metadata = mapping(namespace, "metadata")
    name, labels = str(metadata.get("name", "")), mapping(metadata, "labels")
    for raw in configurations:
        configuration = decode_object(raw, WebhookConfiguration)
        for hook in configuration.webhooks or ():
            if deciding and hook.name == WEBHOOK and selects(hook, name, labels):
                return (webhook_of((configuration.metadata.name, hook), deciding, _made_by_nobody),)
    return ()


def autoscaler_in(raw: Raw) -> Autoscaler | None:
    """Return the autoscaler that an object is; None: it is about nothing, or an amount of it does not parse."""
    try:
        return parse_autoscaler(decode_object(raw, VerticalPodAutoscaler))
    except Unparsable:
        return None


def _made_by_nobody(owner: Owner) -> Owner:
    """Of workloads whose makers act in the world the maker is the workload."""
    return owner


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
        run.go_over(group)
    return run.state, structs.replace(run.done(), target=target, wanted=wanted_of(workload))


def _groups(workload: WorkloadState) -> Iterator[_Group]:
    match workload:
        case DeploymentState():
            for index, item in enumerate(workload.sets):
                yield _Group(index, item.template, item.wanted, _running(item))
        case StatefulSetState():
            pods: dict[int, int] = {}
            for replica in workload.pods:
                pods[replica.shape] = pods.get(replica.shape, 0) + replica.ready
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

    def go_over(self, group: _Group) -> None:
        """Evict what is outside of the recommendation, as far as it may; what can be resized instead is."""
        running = sum(group.pods.values())
        self.running += running
        by_shape = {shape: checked for shape in group.pods if (checked := self._judge_pods(shape)) is not None}
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
        budget = updater.budget_of(self.autoscaler, group.wanted, self._healthy(group))
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

    def _judge_pods(self, shape: int) -> updater.JudgedPod | None:
        """Return what the updater finds of pods of a shape; None: it stops at them."""
        try:
            return updater.judged_pod(self.autoscaler, _slots(self.tables.shapes[shape].stored), self.limits)
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
            last = next(pod for pod in reversed(workload.pods) if pod.shape == shape and pod.ready)
            kept = (
                pod if pod is not last else None if new is None else pod._replace(shape=new) for pod in workload.pods
            )
            return workload._replace(pods=tuple(pod for pod in kept if pod is not None))
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
