"""What Capsule registers with the terminal interface."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from kubectl_kres.store.store import ReadRequest
from kubectl_kres.tui.system import NamespaceServices, TuiSystem, WaitingRow


class CapsuleScreens(TuiSystem):
    """Pools and claims."""

    namespace_kinds = ("ResourcePool", "ResourcePoolClaim")

    def listings(self) -> tuple[Any, ...]:
        from kubectl_kres.capsule.screens import claim_list, pool_list

        return pool_list.LISTING, claim_list.LISTING

    def panes(self) -> Mapping[str, Any]:
        from kubectl_kres.capsule.screens.claim_screen import ClaimPane
        from kubectl_kres.capsule.screens.pool_screen import PoolPane, TenantUsersPane

        return {"ResourcePool": PoolPane, "ResourcePoolClaim": ClaimPane, "Tenant": TenantUsersPane}

    def users(self) -> Mapping[str, Any]:
        from kubectl_kres.capsule.screens.pool_screen import PoolUsersPane, TenantUsersPane

        return {"ResourcePool": PoolUsersPane, "Tenant": TenantUsersPane}

    def namespace_needs(self, namespace: str) -> Iterable[ReadRequest]:
        return ReadRequest("ResourcePoolClaim", namespace, required=False), ReadRequest("ResourcePool", required=False)

    waiting_kinds = ("ResourcePool", "ResourcePoolClaim")

    def waiting_needs(self, namespace: str) -> Iterable[ReadRequest]:
        return self.namespace_needs(namespace)

    def more_waiting_needs(self, session: Any, namespace: str) -> Iterable[ReadRequest]:
        from kubectl_kres.capsule.screens.claim_list import further_read_requests

        return further_read_requests(session, namespace)

    def waiting(self, session: Any, namespace: str) -> Iterable[WaitingRow]:
        from kubectl_kres.capsule.screens.claim_list import waiting_rows

        return waiting_rows(session, namespace)

    def of_namespaces(self, session: Any) -> NamespaceServices | None:
        from kubectl_kres.capsule.reports.common.claim_state import STUCK
        from kubectl_kres.capsule.screens.pool_data import get_pool_index

        context = get_pool_index(session)
        served: dict[str, list[str]] = {}
        for name, pool in context.pools.items():
            for space in pool.status.namespaces or ():
                served.setdefault(space, []).append(name)
        waiting: dict[str, int] = {}
        for claim in context.claims:
            if claim.standing.state in STUCK:
                space = claim.claim.metadata.namespace
                waiting[space] = waiting.get(space, 0) + 1
        return NamespaceServices(served, waiting)


SYSTEM = CapsuleScreens()
