"""What a check reads: the policies, workloads and runs of namespaces, pools and claims, and the pods one by one."""

from __future__ import annotations

from collections.abc import Iterable

from kubectl_kres.capsule.reports.common.needs import pools_needs
from kubectl_kres.model.kinds import BY_KIND
from kubectl_kres.reports.common.explanation import Unseen, unread
from kubectl_kres.reports.common.system import systems
from kubectl_kres.reports.quota.denied import ASKED, denied_needs
from kubectl_kres.store.coverage import Need
from kubectl_kres.store.store import Store

#: Workloads that are judged; those of other kinds make them, or are made by them.
WORKLOADS = ASKED


def check_needs(namespace: str) -> tuple[Need, ...]:
    """The reads for the workloads of a namespace; empty: of all. The pods are read page by page."""
    beside = (Need(kind, namespace, required=False) for kind in ("HorizontalPodAutoscaler", "PipelineRun"))
    return (*denied_needs(namespace), *beside)


def lacking(store: Store, needs: Iterable[Need]) -> tuple[Unseen, ...]:
    """What rules do without: all that is required, and of the rest what was asked for and refused.

    Who may not read what a system brings is told nothing: a server without that system says the same.
    """
    brought = {system.group for system in systems() if system.group}
    return tuple(
        unseen
        for unseen in unread(store, needs)
        if unseen.required or (unseen.state in {"denied", "failed"} and BY_KIND[unseen.kind].group not in brought)
    )


def cluster_needs(store: Store) -> tuple[Need, ...]:
    """What stands beside namespaces. Who may not read it, or has none of it, is not told."""
    needs = (*pools_needs(store), Need("Tenant"), Need("Namespace"))
    return tuple(Need(need.kind, need.namespace, need.name, need.label_selector, required=False) for need in needs)
