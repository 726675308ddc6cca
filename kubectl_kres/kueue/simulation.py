"""What Kueue registers with simulations: it holds new Jobs back, and admits who has room once a queue changes.

Nobody is preempted, and nobody ends: what is admitted keeps its quota.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import msgspec
from msgspec import structs

from kubectl_kres.admission import limitrange
from kubectl_kres.errors import UsageError
from kubectl_kres.kueue import model
from kubectl_kres.kueue.rules.world import QueueWorld, is_pending, key_of
from kubectl_kres.kueue.stored import labels_in, planned_workload, world_of
from kubectl_kres.model.kinds import BY_KIND
from kubectl_kres.model.objects import LimitRange, Namespace, ObjectRef, OwnerReference, decode_object
from kubectl_kres.simulate.change import Apply, Delete, Patch, PlacedStep, apply_step, key_of_step
from kubectl_kres.simulate.live import raw_of
from kubectl_kres.simulate.requests import StepAnswer
from kubectl_kres.simulate.system import Controller, Played, SimulatedSystem
from kubectl_kres.store.store import Origin, Store

#: Kinds whose objects it looks at; steps about them are played here alone.
KEPT = (model.CLUSTER_QUEUE, model.LOCAL_QUEUE, model.FLAVOR, model.COHORT)
#: Workloads that wait up to which their turns are followed.
_TURNS = 200


def _build(store: Store, namespaces: Mapping[str, Namespace]) -> QueueWorld:
    world = world_of(store)
    return structs.replace(world, namespaces={**world.namespaces, **namespaces})


def _play(world: QueueWorld, placed_step: PlacedStep) -> Played:
    step = placed_step.step
    kind, _ = key_of_step(step)
    if kind in KEPT:
        return _play_queue(world, placed_step)
    if isinstance(step, Apply) and kind in {"Job", "PipelineRun"}:
        return _play_new(world, placed_step, step)
    if kind == "LimitRange" and isinstance(step, Apply | Delete):
        return Played(_with_limits(world, placed_step.namespace, step))
    return Played(world)


def _with_limits(world: QueueWorld, space: str, step: Apply | Delete) -> QueueWorld:
    """Return the world with a LimitRange that charges depend on; one that cannot be read is none."""
    name = key_of_step(step)[1]
    kept = [each for each in world.limits.get(space, ()) if each.source.name != name]
    if isinstance(step, Apply):
        with suppress(msgspec.ValidationError, UsageError):
            kept.append(limitrange.parse(decode_object(step.object, LimitRange)))
    return structs.replace(_knowing(world, space), limits={**world.limits, space: kept}, charged={})


def _knowing(world: QueueWorld, space: str) -> QueueWorld:
    """Return the world with the LimitRanges of a namespace as known, which every simulation reads."""
    known = world.limits_known
    return world if known is None else structs.replace(world, limits_known=known | {space})


def _play_queue(world: QueueWorld, placed_step: PlacedStep) -> Played:
    """A queue, a flavor or a cohort is set: who has room then is admitted, and Jobs of theirs are resumed."""
    step, space = placed_step.step, placed_step.namespace
    kind, name = key_of_step(step)
    stored = _objects(world, kind).get((space, name))
    if isinstance(step, Delete):
        changed = _with(world, kind, {key: each for key, each in _objects(world, kind).items() if key != (space, name)})
        return Played(changed, (StepAnswer(allowed=stored is not None, code=200 if stored is not None else 404),))
    raw = apply_step(step, raw_of(stored) if stored is not None else None)
    try:
        item = decode_object(raw, BY_KIND[kind].struct)
    except msgspec.ValidationError as error:
        return Played(world, (StepAnswer(allowed=False, code=400, message=str(error)),))
    if kind == model.CLUSTER_QUEUE:
        # What its condition says was true of what it was before.
        item = structs.replace(item, status=structs.replace(item.status, conditions=None))
    changed = _with(world, kind, {**_objects(world, kind), (space, name): item})
    after, steps = _settled(changed)
    return Played(after, (StepAnswer(allowed=True, code=200 if stored is not None else 201),), steps)


def _play_new(world: QueueWorld, placed_step: PlacedStep, step: Apply) -> Played:
    """A new Job, or run, with a queue: it is held back until it is admitted."""
    kind, name = key_of_step(step)
    space, labels = placed_step.namespace, labels_in(step.object, kind)
    ref = ObjectRef(kind, name, space)
    taken = any(
        (owner.kind, owner.name) == (kind, name)
        for each in world.workloads.values()
        if each.metadata.namespace == space
        for owner in each.metadata.owner_references or ()
    )
    if not labels.queue or taken or not (world.queues or world.local_queues):
        return Played(world)
    workload = planned_workload(Store(Origin("files")), ref, step.object, labels)
    if workload is None:
        return Played(world)
    owner = OwnerReference(kind, name, controller=True)
    metadata = structs.replace(workload.metadata, name=f"{kind.lower()}-{name}", owner_references=(owner,))
    named = structs.replace(workload, metadata=metadata)
    after, steps = _settled(_knowing(world, space).with_workload(named))
    steps = tuple(each for each in steps if (each.namespace, key_of_step(each.step)) != (space, (kind, name)))
    if not is_pending(after.workloads[key_of(named)]) or kind != "Job":
        return Played(after, steps=steps)
    spec = {**step.object.get("spec", {}), "suspend": True}
    return Played(after, steps=steps, sent=structs.replace(step, object={**step.object, "spec": spec}))


def _settled(world: QueueWorld) -> tuple[QueueWorld, tuple[PlacedStep, ...]]:
    """Return the world once nobody else has room, with the Jobs that are resumed."""
    resumed: list[PlacedStep] = []
    if sum(map(is_pending, world.workloads.values())) > _TURNS:
        return world, ()
    while (turn := world.next_admission()) is not None:
        workload, decision = turn
        world = world.admitted(workload, decision)
        for owner in workload.metadata.owner_references or ():
            if owner.kind == "Job":
                patch = Patch("Job", owner.name, {"spec": {"suspend": False}})
                resumed.append(PlacedStep(patch, workload.metadata.namespace))
    return world, tuple(resumed)


def _objects(world: QueueWorld, kind: str) -> Mapping[tuple[str, str], Any]:
    if kind == model.LOCAL_QUEUE:
        return world.local_queues
    if kind == model.COHORT:
        return {("", each.metadata.name): each for each in world.cohorts}
    named = world.queues if kind == model.CLUSTER_QUEUE else world.flavors or {}
    return {("", name): each for name, each in named.items()}


def _with(world: QueueWorld, kind: str, objects: Mapping[tuple[str, str], Any]) -> QueueWorld:
    if kind == model.LOCAL_QUEUE:
        return structs.replace(world, local_queues=objects)
    if kind == model.COHORT:
        return structs.replace(world, cohorts=tuple(objects.values()))
    named = {name: each for (_, name), each in objects.items()}
    if kind == model.CLUSTER_QUEUE:
        return structs.replace(world, queues=named)
    return structs.replace(world, flavors=named)


SYSTEM = SimulatedSystem("kueue", controller=Controller("Kueue", KEPT, _build, _play))
