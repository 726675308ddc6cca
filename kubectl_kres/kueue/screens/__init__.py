"""What Kueue registers with the terminal interface."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from kubectl_kres.kueue.model import CLUSTER_QUEUE, COHORT, FLAVOR, LOCAL_QUEUE, WORKLOAD
from kubectl_kres.store.store import ReadRequest
from kubectl_kres.tui.system import TuiSystem, WaitingRow


class KueueScreens(TuiSystem):
    """What waits in queues, and the queues."""

    def listings(self) -> tuple[Any, ...]:
        from kubectl_kres.kueue.screens.workload_list import LISTING

        return (LISTING,)

    waiting_kinds = (WORKLOAD, LOCAL_QUEUE, CLUSTER_QUEUE, FLAVOR, COHORT)

    def waiting_needs(self, namespace: str) -> Iterable[ReadRequest]:
        return (ReadRequest(WORKLOAD, namespace, required=False),)

    def more_waiting_needs(self, session: Any, namespace: str) -> Iterable[ReadRequest]:
        from kubectl_kres.kueue.screens.workload_list import more_needs

        return more_needs(session, namespace)

    def waiting(self, session: Any, namespace: str) -> Iterable[WaitingRow]:
        from kubectl_kres.kueue.screens.workload_list import waiting_rows

        return waiting_rows(session, namespace)

    def panes(self) -> Mapping[str, Any]:
        from kubectl_kres.kueue.screens.panes import QueuePane, WorkloadPane

        return {WORKLOAD: WorkloadPane, LOCAL_QUEUE: QueuePane, CLUSTER_QUEUE: QueuePane}


SYSTEM = KueueScreens()
