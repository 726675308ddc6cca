"""What plugins share: the nodes that they look at, and the two steps of each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from msgspec import Struct

from kubectl_kres.model.scheduling import SchedulingPod, SchedulingWorld
from kubectl_kres.scheduling.node_info import BoundPod, NodeInfo
from kubectl_kres.scheduling.status import Rejection


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
        """Why the node cannot take the pod; None: it can."""
        raise NotImplementedError

    def change(self, _node: NodeInfo, _removed: Sequence[BoundPod], _added: Sequence[BoundPod], /) -> Filter:
        """The filter if some pods of a node were gone and others were there."""
        return self


class Plugin(Protocol):
    """A plugin of the profile: PreFilter gives a filter, which is asked node by node.

    None: the pod has nothing that the plugin looks at. A status: no node will do. Raises NotComputed.
    """

    name: str

    def prepare(self, pod: SchedulingPod, cluster: SchedulingCluster, /) -> Filter | Rejection | None: ...
