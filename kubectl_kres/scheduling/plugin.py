"""What plugins share: the nodes that they look at, and the two steps of each.

What a plugin says of a node, or of a pod before any node was looked at.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Protocol

from msgspec import Struct

from kubectl_kres.model.scheduling import SchedulingPod, SchedulingWorld
from kubectl_kres.scheduling.node_info import BoundPod, NodeInfo

Code = Literal["Unschedulable", "UnschedulableAndUnresolvable", "Error"]

#: No other pod has to go for it, and none could: preemption does not look at the node.
UNRESOLVABLE: Code = "UnschedulableAndUnresolvable"
UNSCHEDULABLE: Code = "Unschedulable"


class Shortage(Struct, frozen=True, omit_defaults=True):
    """A resource of which a node has too little: CPU in thousandths, all others in units, bytes for memory.

    Source: noderesources/fit.go InsufficientResource.
    """

    resource: str
    requested: int
    used: int
    capacity: int

    @property
    def missing_amount(self) -> int:
        """How much more would have to be free."""
        return self.requested - (self.capacity - self.used)


class Rejection(Struct, frozen=True, omit_defaults=True):
    """Why a plugin rejects a pod. ``about``: the taint, the label, the claim or the selector that decides.

    Source: kube-scheduler framework/interface.go Status.
    """

    plugin: str
    code: Code
    reasons: tuple[str, ...]
    shortages: tuple[Shortage, ...] = ()
    about: str = ""

    @property
    def message(self) -> str:
        return ", ".join(self.reasons)


class UncomputedFilter(Exception):
    """A filter depends on what is not computed here; the text says on what."""


class SchedulingCluster(Struct, frozen=True):
    """The nodes with their pods, and what else there is."""

    nodes: tuple[NodeInfo, ...]
    world: SchedulingWorld


class Filter:
    """What a plugin found out before it looks at nodes.

    ``names``: the only nodes that come into question; None: all.
    """

    names: frozenset[str] | None = None

    def check(self, node: NodeInfo) -> Rejection | None:
        """Return why the node cannot take the pod; None: it can."""
        raise NotImplementedError

    def change(self, _node: NodeInfo, _removed: Sequence[BoundPod], _added: Sequence[BoundPod], /) -> Filter:
        """Return the filter if some pods of a node were gone and others were there."""
        return self


class Plugin(Protocol):
    """A plugin of the profile: PreFilter gives a filter, which is asked node by node.

    None: the pod has nothing that the plugin looks at. A status: no node will do. Raises NotComputed.
    """

    name: str

    def prepare(self, pod: SchedulingPod, cluster: SchedulingCluster, /) -> Filter | Rejection | None: ...
