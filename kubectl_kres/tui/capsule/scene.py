"""Pools and claims as they are known now, looked up once for many answers."""

from __future__ import annotations

from kubectl_kres.reports.capsule.common.pool_index import PoolIndex
from kubectl_kres.tui.session import Session


def scene_of(session: Session) -> PoolIndex:
    return session.of_kinds(("ResourcePool", "ResourcePoolClaim"), PoolIndex)
