"""How one set of like pods grows and shrinks: what ReplicaSet and Job controllers share.

Source: pkg/controller/replicaset/replica_set.go manageReplicas, controller_utils.go ActivePodsWithRanks.
"""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_kres.simulate.state import Pods, count


def fewer(pods: Pods, wanted: int) -> tuple[Pods, ...]:
    """Every way to be left with ``wanted`` pods: pods that are not ready go first, among equals any can go."""
    surplus = count(pods) - wanted
    if surplus <= 0:
        return (pods,)
    waiting = tuple(item for item in pods if not item[1])
    running = tuple(item for item in pods if item[1])
    unready = count(waiting)
    if surplus <= unready:
        return tuple(tuple(sorted((*left, *running))) for left in _left(waiting, unready - surplus))
    return tuple(_left(running, count(running) - (surplus - unready)))


def _left(pods: Pods, number: int) -> Iterator[Pods]:
    """Every choice of ``number`` among the pods."""
    if not pods:
        yield ()
        return
    (shape, is_ready, have), rest = pods[0], pods[1:]
    others = count(rest)
    for kept in range(max(0, number - others), min(have, number) + 1):
        head = ((shape, is_ready, kept),) if kept else ()
        for tail in _left(rest, number - kept):
            yield (*head, *tail)
