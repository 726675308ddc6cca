"""What a check reads: the policies, workloads and runs of namespaces, pools and claims, and the pods one by one."""

from __future__ import annotations

from kubectl_kres.reports.capsule.common.needs import pools_needs
from kubectl_kres.reports.quota.denied import KINDS, denied_needs
from kubectl_kres.store.coverage import Need
from kubectl_kres.store.store import Store

#: Workloads that are judged; those of other kinds make them, or are made by them.
WORKLOADS = (*KINDS, "CronJob")


def check_needs(namespace: str) -> tuple[Need, ...]:
    """The reads for the workloads of a namespace; empty: of all. The pods are read page by page."""
    return (*denied_needs(namespace), Need("CronJob", namespace), Need("PipelineRun", namespace, required=False))


def cluster_needs(store: Store) -> tuple[Need, ...]:
    """What stands beside namespaces. Who may not read it, or has none of it, is not told."""
    needs = (*pools_needs(store), Need("Tenant"), Need("Namespace"))
    return tuple(Need(one.kind, one.namespace, one.name, one.label_selector, required=False) for one in needs)
