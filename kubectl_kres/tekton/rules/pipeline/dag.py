"""The order of a pipeline's tasks: what waits for what, and how much of it can run at once."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence

#: Task name to the names that it waits for.
Graph = Mapping[str, Sequence[str]]


def cycle_in(graph: Graph) -> tuple[str, ...]:
    """Return the tasks of one cycle, in their order; empty if there is none. Names that are no task are passed over."""
    waiting = {name: {other for other in before if other in graph} for name, before in graph.items()}
    ready = [name for name, before in waiting.items() if not before]
    after: dict[str, list[str]] = {name: [] for name in graph}
    for name, before in waiting.items():
        for other in before:
            after[other].append(name)
    while ready:
        done = ready.pop()
        del waiting[done]
        for name in after[done]:
            waiting[name].discard(done)
            if not waiting[name]:
                ready.append(name)
    if not waiting:
        return ()
    path: dict[str, None] = {}
    name = next(iter(waiting))
    while name not in path:
        path[name] = None
        name = min(waiting[name])
    names = [*path]
    return tuple(reversed(names[names.index(name) :]))


def ancestors(graph: Graph) -> dict[str, frozenset[str]]:
    """Return all that a task waits for, directly or not. The graph has no cycle."""
    result: dict[str, frozenset[str]] = {}
    pending = [*graph]
    while pending:
        name = pending[-1]
        before = [other for other in graph[name] if other in graph]
        unknown = [other for other in before if other not in result]
        if name in result or not unknown:
            pending.pop()
            result.setdefault(name, frozenset(before).union(*(result[other] for other in before)))
        else:
            pending += unknown
    return result


def largest_at_once(graph: Graph, weights: Mapping[str, int]) -> tuple[int, tuple[str, ...]]:
    """Return the greatest total weight of tasks of which none waits for another, and which these are.

    Only tasks that ``weights`` names take part, with weights of at least 0; what they wait for through others still
    counts. The graph has no cycle. Dilworth: the total of all weights less a maximum flow along the order.
    """
    names = [name for name in graph if weights.get(name, 0) > 0]
    above = ancestors(graph)
    flow = _Flow(2 * len(names) + 2)
    source, sink = 2 * len(names), 2 * len(names) + 1
    index_of = {name: index for index, name in enumerate(names)}
    for name, index in index_of.items():
        flow.connect(source, 2 * index, weights[name])
        flow.connect(2 * index + 1, sink, weights[name])
        for other in above[name]:
            if other in index_of:
                flow.connect(2 * index_of[other], 2 * index + 1, sum(weights[name] for name in names))
    pushed = flow.run(source, sink)
    reached = flow.reached(source)
    chosen = tuple(name for name, index in index_of.items() if 2 * index in reached and 2 * index + 1 not in reached)
    return sum(weights[name] for name in names) - pushed, chosen


class _Flow:
    """A maximum flow by shortest augmenting paths in layers (Dinic)."""

    def __init__(self, size: int) -> None:
        self.arcs: list[list[int]] = [[] for _ in range(size)]
        self.to: list[int] = []
        self.room: list[int] = []

    def connect(self, start: int, end: int, capacity: int) -> None:
        for number, other, room in ((start, end, capacity), (end, start, 0)):
            self.arcs[number].append(len(self.to))
            self.to.append(other)
            self.room.append(room)

    def run(self, source: int, sink: int) -> int:
        """Return the amount of the flow."""
        total = 0
        while True:
            layers = self._layers(source)
            if sink not in layers:
                return total
            tried = [0] * len(self.arcs)
            while pushed := self._push(source, sink, layers, tried):
                total += pushed

    def reached(self, source: int) -> set[int]:
        """Return where there is still room to go: one side of a minimum cut."""
        return set(self._layers(source))

    def _layers(self, source: int) -> dict[int, int]:
        layers = {source: 0}
        queue = deque([source])
        while queue:
            index = queue.popleft()
            for arc in self.arcs[index]:
                if self.room[arc] and self.to[arc] not in layers:
                    layers[self.to[arc]] = layers[index] + 1
                    queue.append(self.to[arc])
        return layers

    def _push(self, source: int, sink: int, layers: Mapping[int, int], tried: list[int]) -> int:
        """Send what fits along one path; 0 if there is none left in these layers."""
        path: list[int] = []
        index = source
        while index != sink:
            arc = self._find_next_arc(index, layers, tried)
            if arc is not None:
                path.append(arc)
                index = self.to[arc]
            elif not path:
                return 0
            else:
                arc = path.pop()
                index = self.to[arc ^ 1]
                tried[index] += 1
        amount = min(self.room[arc] for arc in path)
        for arc in path:
            self.room[arc] -= amount
            self.room[arc ^ 1] += amount
        return amount

    def _find_next_arc(self, index: int, layers: Mapping[int, int], tried: list[int]) -> int | None:
        while tried[index] < len(self.arcs[index]):
            arc = self.arcs[index][tried[index]]
            if self.room[arc] and layers.get(self.to[arc]) == layers[index] + 1:
                return arc
            tried[index] += 1
        return None
