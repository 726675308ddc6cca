"""How much of a flavor a ClusterQueue can have at most, and has left, with what its cohort lends.

Source: pkg/cache/scheduler/resource_node.go.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from kubectl_kres.errors import QuantityError
from kubectl_kres.kueue.model import ClusterQueue, Cohort, FlavorQuota, ResourceGroup
from kubectl_kres.kueue.rules.charge import to_units
from kubectl_kres.quantity import stored_quantity

#: Flavor and resource.
Cell = tuple[str, str]
Usage = Mapping[Cell, int]
#: Cohorts above one another; a longer chain is taken for a cycle.
_DEEPEST = 50


class CellQuota(NamedTuple):
    """The quota of one cell; None: no bound."""

    nominal: int = 0
    borrowing: int | None = None
    lending: int | None = None


class _Node(NamedTuple):
    quotas: Mapping[Cell, CellQuota]
    parent: str
    usage: Usage


class Capacity:
    """The tree of cohorts over ClusterQueues with their use. ``broken``: cohorts that are above themselves."""

    def __init__(self, queues: Iterable[ClusterQueue], cohorts: Iterable[Cohort], usage: Mapping[str, Usage]) -> None:
        self.queues = {
            queue.metadata.name: _Node(
                dict(_quotas(queue.spec.resource_groups)), queue.cohort, usage.get(queue.metadata.name, {})
            )
            for queue in queues
        }
        self.cohorts = {
            cohort.metadata.name: _Node(
                dict(_quotas(cohort.spec.resource_groups)), cohort.spec.parent_name or cohort.spec.parent, {}
            )
            for cohort in cohorts
        }
        named = {node.parent for node in (*self.queues.values(), *self.cohorts.values())} - {""}
        self.cohorts.update({name: _Node({}, "", {}) for name in named - self.cohorts.keys()})
        self.broken = frozenset(name for name in self.cohorts if self._is_endless(name))
        self._below = self._find_members()
        self._sums: dict[tuple[str, Cell], tuple[int, int]] = {}

    def _is_endless(self, name: str) -> bool:
        for _ in range(_DEEPEST):
            name = self.cohorts[name].parent
            if not name:
                return False
        return True

    def _find_members(self) -> Mapping[str, tuple[tuple[str, bool], ...]]:
        """Return by cohort its members: queues, and cohorts (True)."""
        below: dict[str, tuple[tuple[str, bool], ...]] = {}
        for nodes, is_cohort in ((self.queues, False), (self.cohorts, True)):
            for name, node in nodes.items():
                if node.parent and not (is_cohort and name in self.broken):
                    below[node.parent] = (*below.get(node.parent, ()), (name, is_cohort))
        return below

    def quota(self, queue: str, cell: Cell) -> CellQuota:
        """Return the queue's own quota; of a cell that it has not, nothing."""
        return self.queues[queue].quotas.get(cell, CellQuota())

    def used(self, queue: str, cell: Cell) -> int:
        """Return how much of a cell the queue uses."""
        return self.queues[queue].usage.get(cell, 0)

    def most(self, queue: str, cell: Cell) -> int:
        """Return what the queue can have when nothing runs: potentialAvailable."""
        return self._most(self.queues[queue], cell)

    def left(self, queue: str, cell: Cell) -> int:
        """Return what it can have now; negative where more is in use than there is: available."""
        return self._left(self.queues[queue], self.used(queue, cell), cell)

    def borrowing_height(self, queue: str, cell: Cell, amount: int) -> tuple[int, bool]:
        """Return 0 where the queue's own quota is enough for as much more, else how far above it there is enough; and
        whether others in the cohort could be made to give it back.

        Source: pkg/scheduler/preemption/classical FindHeightOfLowestSubtreeThatFits.
        """
        node, used = self.queues[queue], self.used(queue, cell)
        if used + amount <= self._subtree(node, cell) or not node.parent:
            return 0, bool(node.parent)
        height, remaining = 1, amount - max(0, self._local(node, cell) - used)
        while True:
            total, used = self._sum(node.parent, cell)
            above = self.cohorts[node.parent]
            if used + remaining <= total:
                return height, bool(above.parent)
            if not above.parent:
                return height, False
            remaining -= max(0, self._local_of(above, total, cell) - used)
            node, height = above, height + 1

    def _subtree(self, node: _Node, cell: Cell) -> int:
        return node.quotas.get(cell, CellQuota()).nominal

    def _sum(self, name: str, cell: Cell) -> tuple[int, int]:
        """Return the quota of a cohort with what its members lend, and what they use beyond what each keeps."""
        known = self._sums.get((name, cell))
        if known is not None:
            return known
        total, stored = self._subtree(self.cohorts[name], cell), 0
        for member, is_cohort in self._below.get(name, ()):
            if is_cohort:
                node, (own, used) = self.cohorts[member], self._sum(member, cell)
            else:
                node = self.queues[member]
                own, used = self._subtree(node, cell), node.usage.get(cell, 0)
            kept = self._local_of(node, own, cell)
            total += own - kept
            stored += max(0, used - kept)
        self._sums[name, cell] = total, stored
        return total, stored

    @staticmethod
    def _local_of(node: _Node, subtree: int, cell: Cell) -> int:
        """Return what a member keeps for itself: without a lending limit nothing."""
        lending = node.quotas.get(cell, CellQuota()).lending
        return 0 if lending is None else max(0, subtree - lending)

    def _local(self, node: _Node, cell: Cell) -> int:
        return self._local_of(node, self._subtree(node, cell), cell)

    def _most(self, node: _Node, cell: Cell, subtree: int | None = None) -> int:
        own = self._subtree(node, cell) if subtree is None else subtree
        if not node.parent:
            return own
        above = self._most(self.cohorts[node.parent], cell, self._sum(node.parent, cell)[0])
        total = self._local_of(node, own, cell) + above
        borrowing = node.quotas.get(cell, CellQuota()).borrowing
        return total if borrowing is None else min(total, own + borrowing)

    def _left(self, node: _Node, used: int, cell: Cell, subtree: int | None = None) -> int:
        own = self._subtree(node, cell) if subtree is None else subtree
        if not node.parent:
            return own - used
        total, stored = self._sum(node.parent, cell)
        above = self._left(self.cohorts[node.parent], stored, cell, total)
        local = self._local_of(node, own, cell)
        borrowing = node.quotas.get(cell, CellQuota()).borrowing
        if borrowing is not None:
            above = min(above, own - local - max(0, used - local) + borrowing)
        return max(0, local - used) + above


def _quotas(groups: tuple[ResourceGroup, ...] | None) -> Iterator[tuple[Cell, CellQuota]]:
    for group in groups or ():
        for flavor in group.flavors or ():
            for quota in flavor.resources or ():
                yield (flavor.name, quota.name), read_quota(quota)


def read_quota(quota: FlavorQuota) -> CellQuota:
    """Return the amounts of a quota; what is no quantity, which no server stores, is nothing."""

    def amount(value: object) -> int | None:
        try:
            return None if value is None else to_units(quota.name, stored_quantity(value))
        except QuantityError:
            return None

    return CellQuota(amount(quota.nominal_quota) or 0, amount(quota.borrowing_limit), amount(quota.lending_limit))
