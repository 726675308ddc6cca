"""What Kueue registers with the terminal interface."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kubectl_kres.kueue.model import CLUSTER_QUEUE, LOCAL_QUEUE, WORKLOAD
from kubectl_kres.tui.system import TuiSystem


class KueueScreens(TuiSystem):
    """What waits in queues, and the queues."""

    def listings(self) -> tuple[Any, ...]:
        from kubectl_kres.kueue.screens.workload_list import LISTING

        return (LISTING,)

    def panes(self) -> Mapping[str, Any]:
        from kubectl_kres.kueue.screens.panes import QueuePane, WorkloadPane

        return {WORKLOAD: WorkloadPane, LOCAL_QUEUE: QueuePane, CLUSTER_QUEUE: QueuePane}


SYSTEM = KueueScreens()
