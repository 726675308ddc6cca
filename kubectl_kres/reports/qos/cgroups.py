"""The cgroups of one pod, what its containers share in them, and what a program in each of them sees as its limit."""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_kres.admission.base.draft import Draft, parse_list
from kubectl_kres.admission.base.resource_names import is_huge_page
from kubectl_kres.admission.base.server import Server
from kubectl_kres.admission.kubelet.cgroup import Cgroup, cgroups, smallest
from kubectl_kres.admission.kubelet.cgroup_files import Machine
from kubectl_kres.admission.kubelet.kernel import Driver, page_size
from kubectl_kres.admission.pod.aggregate import of_containers
from kubectl_kres.admission.pod.qos import CONSIDERED
from kubectl_kres.model.pod import Node
from kubectl_kres.quantity import Quantity
from kubectl_kres.reports.common.record import Record

_FILES = {1: ("memory.limit_in_bytes", "cpu.cfs_quota_us"), 2: ("memory.max", "cpu.max")}

_NOTES = (
    "read in the sources of kubelet and runtime, not recorded: no kubelet ran for this",
    "the pause container only holds the pod's namespaces together; it gets the least of everything",
    "pages of a memory-backed emptyDir count in the container that wrote them first",
    "placement on cpus and on the memory of NUMA nodes (cpuset) is not computed",
)
_NOTES_OF = {
    1: ("memory.soft_limit_in_bytes is written by nobody: a memory request has no file in cgroup v1",),
    2: ("cpu.weight of containers is that of a recent runtime; older ones derive it as the kubelet does for pods",),
}


class Seen(Record, frozen=True):
    """The smallest limits on the way up from a container, and which cgroup sets them; absent: there is none.

    ``memory`` in bytes, ``cpu`` in microseconds of cpu time for each ``period`` of 100,000.
    """

    container: str
    memory: int | None = None
    memory_at: str = ""
    cpu: int | None = None
    cpu_at: str = ""


class Shared(Record, frozen=True):
    """A pod-level limit that containers share: all of them together get no more.

    ``free``: containers without a limit of their own, which can take the whole. ``own``: containers with one, and it.
    ``sum``: what the containers' own limits add up to. ``unreachable``: that is more than the pod's limit, so that not
    all of them can reach their own at once.
    """

    resource: str
    limit: str
    free: tuple[str, ...] = ()
    own: tuple[tuple[str, str], ...] = ()
    sum: str = ""
    unreachable: bool = False


class Cgroups(Record, frozen=True):
    """The tree from the node's root of all pods to the containers, and what is to be known about it."""

    version: int
    driver: str
    root: Cgroup
    seen: tuple[Seen, ...] = ()
    shared: tuple[Shared, ...] = ()
    notes: tuple[str, ...] = ()


def machine_of(node: Node | None, version: int, driver: Driver) -> Machine:
    """The node as far as it is known: memory, and the sizes of huge pages that it has."""
    if node is None:
        return Machine(version, driver)
    capacity = parse_list(node.status.capacity, "status.capacity")
    room = parse_list(node.status.allocatable, "status.allocatable")
    pages = sorted({page_size(name) for name in capacity if is_huge_page(name)} - {""})
    return Machine(version, driver, _bytes(capacity.get("memory")), _bytes(room.get("memory")), pages=tuple(pages))


def _bytes(quantity: Quantity | None) -> int:
    return 0 if quantity is None else quantity.value()


def tree_of(draft: Draft, qos_class: str, machine: Machine, uid: str) -> Cgroups:
    """``qos_class``: the stored one. ``uid`` empty: the pod does not exist yet."""
    root = cgroups(draft, qos_class, machine, uid=uid or "UID")
    names = [slot.name for slot in (*draft.inits, *draft.containers)]
    return Cgroups(
        machine.version,
        machine.driver,
        root,
        tuple(_seen(root, name, machine.version) for name in names),
        tuple(_shared(draft)),
        (*_NOTES[:-1], _node(draft.server), _NOTES[-1], *_NOTES_OF[machine.version]),
    )


def _node(server: Server) -> str:
    """What is assumed about a node whose kubelet has the server's version."""
    memory = "on, without a throttling factor" if server.on("MemoryQoS") else "off"
    return f"assumed about the node: cpu limits are enforced, in periods of 100 ms; no swap; MemoryQoS is {memory}"


def _seen(root: Cgroup, container: str, version: int) -> Seen:
    memory, cpu = (smallest(root, container, file) for file in _FILES[version])
    return Seen(
        container,
        memory[1] if memory else None,
        memory[0] if memory else "",
        cpu[1] if cpu else None,
        cpu[0] if cpu else "",
    )


def _shared(draft: Draft) -> Iterator[Shared]:
    level = draft.pod
    if level is None:
        return
    running = [*draft.containers, *(slot for slot in draft.inits if slot.role == "sidecar")]
    for resource in CONSIDERED:
        limit = level.limits.get(resource)
        if not limit:
            continue
        own = [(slot.name, slot.limits[resource]) for slot in running if slot.limits.get(resource)]
        total = of_containers(running, (), "limits").get(resource)
        yield Shared(
            resource,
            str(limit),
            tuple(slot.name for slot in running if not slot.limits.get(resource)),
            tuple((name, str(value)) for name, value in own),
            "" if total is None else str(total),
            total is not None and total > limit,
        )
