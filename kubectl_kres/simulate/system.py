"""What a system adds to a simulation: its controllers' answers to steps, and what it writes into new pods."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, cast

from msgspec import Struct

from kubectl_kres.systems import registered_systems

if TYPE_CHECKING:
    from kubectl_kres.admission.request.new_pod import ClaimWebhook, ObjectWebhook, PodWebhook, Policies
    from kubectl_kres.model.objects import Namespace, Raw
    from kubectl_kres.simulate.change import PlacedStep, Step
    from kubectl_kres.simulate.moves import State
    from kubectl_kres.simulate.requests import StepAnswer
    from kubectl_kres.simulate.state import World
    from kubectl_kres.simulate.tables import Tables
    from kubectl_kres.store.store import Store


class Played(Struct, frozen=True):
    """What the controllers of a system make of a step.

    ``world``: what they look at afterwards. ``answers``: those of the server, of a step about an object of theirs.
    ``steps``: what they do to objects of Kubernetes, in order. ``ways``: among so many worlds they choose at random.
    ``word``: what the step does, where it is more than an object that is set. ``sent``: the step as its webhook changes
    it; None: it leaves it as it is.
    """

    world: Any
    answers: tuple[StepAnswer, ...] = ()
    steps: tuple[PlacedStep, ...] = ()
    ways: int = 1
    word: str = ""
    sent: Step | None = None


class Controller(Struct, frozen=True):
    """Who keeps objects that are no part of a namespace's simulation, and acts on namespaces and quotas.

    ``title``: in sentences. ``kinds``: of its objects; steps about them are played here alone. ``build``: what its
    controllers look at in the whole cluster; with the namespaces by name. ``play``: what they make of a step, called
    with each one.
    """

    title: str
    kinds: tuple[str, ...]
    build: Callable[[Store, Mapping[str, Namespace]], Any]
    play: Callable[[Any, PlacedStep], Played]


class PodWriter(Struct, frozen=True):
    """Who writes into new pods or claims or refuses them, and may have old pods evicted.

    ``kind``: of the objects that say what, by their status: that of a file is taken for what their controller comes to.
    ``objects``: they and all else that is looked at, of a namespace. ``webhooks``: of a world with such an object.
    ``evict``: one pass over the pods that an object is about, with what admission looks up in a state: the state after
    it, and what it did, with the ``target`` of the pods; None: it evicts none. ``claims``, ``others``: the same as
    ``webhooks``, of claims and of other objects.
    """

    kind: str
    objects: Callable[[Store, str], Iterable[Raw]]
    webhooks: Callable[[World], tuple[PodWebhook, ...]]
    evict: Callable[[Tables, Callable[[State], Policies], State, Raw], tuple[State, Any]] | None = None
    claims: Callable[[World], tuple[ClaimWebhook, ...]] | None = None
    others: Callable[[World], tuple[ObjectWebhook, ...]] | None = None


class SimulatedSystem(Struct, frozen=True):
    """A system's part in simulations.

    ``name``: of the system. ``held``: kinds that a world holds where they were read, though admission looks at nothing
    of them.
    """

    name: str
    held: tuple[str, ...] = ()
    controller: Controller | None = None
    writer: PodWriter | None = None


@cache
def systems() -> tuple[SimulatedSystem, ...]:
    """Return all of them, in the order of registration."""
    return cast("tuple[SimulatedSystem, ...]", registered_systems("simulation"))


@cache
def controllers() -> Mapping[str, Controller]:
    """Return those who keep objects, by the name of their system."""
    return {system.name: system.controller for system in systems() if system.controller is not None}


@cache
def pod_writers() -> Mapping[str, PodWriter]:
    """Return those who write into pods, by the kind of their objects."""
    return {system.writer.kind: system.writer for system in systems() if system.writer is not None}


def evicting_kinds() -> tuple[str, ...]:
    """Return the kinds of the objects by which pods are evicted."""
    return tuple(kind for kind, writer in pod_writers().items() if writer.evict is not None)


@cache
def held_kinds() -> tuple[str, ...]:
    """Return the kinds that worlds hold for systems."""
    return tuple(kind for system in systems() for kind in system.held)


@cache
def kept_kinds() -> tuple[str, ...]:
    """Return the kinds of the objects that systems keep."""
    return tuple(kind for controller in controllers().values() for kind in controller.kinds)


@cache
def cluster_kinds() -> frozenset[str]:
    """Return the kinds whose objects are looked at in the whole cluster: those that systems keep, and namespaces."""
    return frozenset({"Namespace", *kept_kinds()})
