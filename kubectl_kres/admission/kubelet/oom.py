"""``oom_score_adj``: whom the kernel ends first when a node runs out of memory."""

from __future__ import annotations

from kubectl_kres.admission.base.draft import Draft, Slot
from kubectl_kres.admission.pod.aggregate import of_containers
from kubectl_kres.quantity import ZERO

GUARANTEED, BEST_EFFORT, PAUSE = -997, 1000, -998
NODE_CRITICAL = "system-node-critical"


def oom_score(draft: Draft, slot: Slot, qos_class: str, capacity: int) -> int | None:
    """The adjustment of one container; lower lives longer. ``capacity``: bytes of memory of the node, 0: not known.

    None: it depends on the capacity. Source: kubelet/qos/policy.go GetContainerOOMScoreAdjust.
    """
    if draft.priority_class == NODE_CRITICAL or qos_class == "Guaranteed":
        return GUARANTEED
    if qos_class == "BestEffort":
        return BEST_EFFORT
    if not capacity:
        return None
    extra = unassigned(draft)
    score = _score(_bytes(slot) + extra, capacity)
    if slot.role == "sidecar":
        least = min((_bytes(one) for one in draft.containers), default=0)
        score = min(score, _score(least + extra, capacity))
    return min(max(score, 1000 + GUARANTEED), BEST_EFFORT - 1)


def _score(requested: int, capacity: int) -> int:
    return 1000 - 1000 * requested // capacity


def _bytes(slot: Slot) -> int:
    return slot.requests.get("memory", ZERO).value()


def unassigned(draft: Draft) -> int:
    """Bytes of memory that the pod level requests beyond its containers, in equal parts for each of them."""
    level = draft.pod.requests.get("memory") if draft.pod is not None else None
    count = len(draft.containers) + len(draft.inits)
    if not level or not count:
        return 0
    held = of_containers(draft.containers, draft.inits, "requests").get("memory", ZERO)
    return (level.value() - held.value()) // count
