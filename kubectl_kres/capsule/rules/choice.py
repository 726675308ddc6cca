"""The choice of a pool for a claim that names none: which pools it can be, since the order of equals is random."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from msgspec import Struct

from kubectl_kres.capsule.model import ResourcePool
from kubectl_kres.capsule.rules.amounts import Amounts, readable
from kubectl_kres.model.meta import ObjectRef
from kubectl_kres.quantity import ZERO


class Option(Struct, frozen=True):
    """A pool that lists the claim's namespace.

    verdict: room, every resource fits; full, some do not, so that pools with room go first; lacking, a resource is not
    in the pool, which is out; either, it lacks one and is short of another, and which is seen first is random.
    """

    pool: str
    verdict: Literal["room", "full", "lacking", "either"]
    missing: tuple[str, ...] = ()
    short: tuple[str, ...] = ()


class Choice(Struct, frozen=True):
    """All pools that were looked at, and the names that can be written to ``spec.pool``; empty text: none was found."""

    options: tuple[Option, ...]
    possible: tuple[str, ...]


def choose(namespace: str, asks: Amounts, pools: Iterable[ResourcePool]) -> Choice:
    """What the webhook writes into an empty ``spec.pool``. It goes by the status of the pools, room is no condition.

    Source: capsule internal/webhook/resourcepool/claim_mutating.go.
    """
    options = tuple(
        _option(pool, asks)
        for pool in sorted(pools, key=lambda pool: pool.metadata.name)
        if namespace in (pool.status.namespaces or ())
    )
    by = {
        verdict: [option.pool for option in options if option.verdict == verdict]
        for verdict in ("room", "full", "either")
    }
    possible = by["room"] or by["full"] + by["either"]
    if not by["room"] and not by["full"]:
        possible = [*possible, ""]
    return Choice(options, tuple(possible))


def _option(pool: ResourcePool, asks: Amounts) -> Option:
    ref, allocation = ObjectRef("ResourcePool", pool.metadata.name), pool.status.allocation
    hard = readable(allocation.hard, ref, "status.allocation.hard", None)
    left = readable(allocation.available, ref, "status.allocation.available", None)
    missing = tuple(sorted(name for name in asks if name not in hard))
    short = tuple(sorted(name for name, asked in asks.items() if name in hard and left.get(name, ZERO) < asked))
    if missing:
        return Option(pool.metadata.name, "either" if short else "lacking", missing, short)
    return Option(pool.metadata.name, "full" if short else "room", (), short)
