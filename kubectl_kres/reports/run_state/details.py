"""What a state is about, as values: a container and how it ended, a claim, a node, a queue."""

from __future__ import annotations

from typing import Literal

from kubectl_kres.record import Sentence


class ContainerImage(Sentence, frozen=True):
    """The image of a container. ``container``: with its role, as in all of these; ``image`` empty: not known."""

    container: str
    image: str = ""


class ContainerSays(Sentence, frozen=True):
    """A container waits for a reason of the kubelet's; without one it needs what is missing."""

    container: str
    reason: str = ""


class ContainerKilled(Sentence, frozen=True):
    """A container was killed for memory, under a limit that may not be known."""

    container: str
    memory_limit: str = ""
    restarts: int = 0


class ContainerCrash(Sentence, frozen=True):
    """A container ends again and again, and ended last with a code; without a reason: how is not known.

    ``memory_limit``: it was killed from outside, as for memory under that limit.
    """

    container: str
    reason: str = ""
    exit_code: int = 0
    memory_limit: str = ""
    restarts: int = 0


class NotStarted(Sentence, frozen=True):
    """The node has not started the containers for so many minutes."""

    node: str
    minutes: int


class NotReady(Sentence, frozen=True):
    """Containers that are not ready; none: a readiness gate is not met."""

    containers: tuple[str, ...] = ()


class PendingResize(Sentence, frozen=True):
    """A resize that the node puts off. ``kind``: deferred, infeasible; ``left``: what it has left of ``resource``.

    Without a resource ``message`` says why.
    """

    kind: str
    node: str
    resource: str = ""
    left: str = ""
    message: str = ""


class SilentScheduler(Sentence, frozen=True):
    """No scheduler of that name has answered for so many seconds."""

    scheduler: str
    seconds: int


class ClaimNotMade(Sentence, frozen=True):
    """A claim that a controller cannot make. ``name``: its own, or of a ResourceClaim what it is for in the pod.

    ``quota``: one that has no room for it, and is short by ``short_by``: amounts by name.
    """

    kind: str
    name: str
    quota: str = ""
    short_by: tuple[tuple[str, str], ...] = ()


#: Why a claim has no volume: no pod that uses it has a node, or what its class has to do with it.
UnboundCause = Literal["no pod", "no default class", "no such class", "no volume"]


class UnboundClaim(Sentence, frozen=True):
    """A stored claim without a volume. ``storage_class``: the one that it names and that does not exist."""

    cause: UnboundCause
    storage_class: str = ""


class NodeChosen(Sentence, frozen=True):
    """The scheduler has chosen a node and waits until claims or volumes are bound to it."""

    node: str
    waits_for: Literal["ResourceClaims", "volumes"]


class NoResourceClaim(Sentence, frozen=True):
    """The ResourceClaim that a pod names does not exist; with a ``template``: none is made of it yet."""

    claim: str
    template: str = ""


class SchedulingGates(Sentence, frozen=True):
    """Gates of a pod by name, and the queue that it stands in."""

    gates: tuple[str, ...] = ()
    queue: str = ""


class NowhereToRun(Sentence, frozen=True):
    """No node is one that the template of a DaemonSet lets in."""


class TurnedOff(Sentence, frozen=True):
    """A workload that was turned off. ``kind``, ``name``: its owner. ``queue``: the queue that starts it."""

    how: Literal["scaled to 0", "paused", "suspended"]
    kind: str = ""
    name: str = ""
    queue: str = ""
