"""A resize for which the node has no room is a state of its pod, with what is left there."""

from __future__ import annotations

import pytest
from reports.stored import box, made, store_of

from kubectl_kres.render.text.sentences import sentence_text
from kubectl_kres.reports.common.explanation import RunState
from kubectl_kres.reports.explain.object_state import state_of_item

DEFERRED = "Node didn't have enough resource: cpu, requested: 6000, used: 4000, capacity: 8000"


def resized(reason: str, message: str, status: str = "True") -> RunState:
    condition = {"type": "PodResizePending", "status": status, "reason": reason, "message": message}
    runs = {"name": "app", "ready": True, "state": {"running": {}}}
    pod = made(
        "Pod", "lifter", spec={"nodeName": "n1", "containers": [box("app", requests={"cpu": "6"})]},
        status={"phase": "Running", "containerStatuses": [runs], "conditions": [condition]},
    )  # fmt: skip
    store = store_of(pod)
    found = state_of_item(store, "Pod", store.get("Pod", "lifter", "ns"), "2026-11-01T12:00:00Z")
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("reason", "message", "word", "left"),
    [
        ("Deferred", DEFERRED, "ResizeDeferred", "n1 has cpu 4 left for it"),
        (
            "Infeasible",
            DEFERRED.replace("6000", "60000"),
            "ResizeInfeasible",
            "n1 has cpu 4 left for it, and never more",
        ),
        ("Deferred", "something new", "ResizeDeferred", "n1 has no room"),
    ],
)
def test_what_the_kubelet_does_not_do_waits(reason: str, message: str, word: str, left: str):
    state = resized(reason, message)
    assert (state.state, state.reason, state.message) == ("waits", word, message)
    assert sentence_text(state.next).startswith(left)


def test_a_resize_that_was_done_is_no_state():
    assert resized("Deferred", DEFERRED, "False").state == "runs"
