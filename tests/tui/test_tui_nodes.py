"""The nodes for a pod that waits, on its screen: of a snapshot, and of a cluster that changes."""

from __future__ import annotations

from typing import Any

import pytest
from cluster.living import living
from tui.driving import LARGE, demo, drive
from tui.test_tui_live import watch

from kubectl_kres.model.objects import BOUND_PODS
from kubectl_kres.render.pod.explain import explanation_lines
from kubectl_kres.snapshot import read as bundled

pytestmark = pytest.mark.one_in(2)

ASKED = {"containers": [{"name": "app", "resources": {"requests": {"cpu": "2"}}}]}
HELD = {"nodeName": "n1", "containers": [{"name": "app", "resources": {"requests": {"cpu": "3"}}}]}
STATED = "0/1 nodes are available: 1 Insufficient cpu."
WAITING = {
    "phase": "Pending",
    "conditions": [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": STATED}],
}


def test_the_screen_of_a_snapshot_has_fixes_and_nodes():
    app = demo("deployment gallery", file=bundled.demo_path(), namespaces=("previews",))
    shown = drive(app, size=LARGE, then=has_nodes)
    assert "lower the memory request of proxy from 4Gi, which LimitRange/defaults sets" in " ".join(shown.split())


def has_nodes(app: Any) -> None:
    lines = explanation_lines(app.pane.answer, steps=False, width=100)
    assert any("nearest: node-" in text for line in lines for _, text in line)


def test_the_screen_of_a_cluster_follows_its_nodes(tmp_path):
    with living() as cluster:
        cluster.put("namespaces", "", "a")
        cluster.put("nodes", "", "n1", status={"allocatable": {"cpu": "4", "memory": "8Gi", "pods": "110"}})
        cluster.put("pods", "a", "db", spec=HELD, status={"phase": "Running"})
        cluster.put("pods", "a", "web", spec=ASKED, status=WAITING)

        async def act(pilot, until):
            await until("lower the cpu request of app from 2 to 1: the pod then fits on n1")
            cluster.put("pods", "a", "db", spec=HELD, status={"phase": "Succeeded"})
            await until("lower the cpu request", gone=True)

        watch(cluster, tmp_path, "pod web", act, namespaces=("a",))


def test_the_first_screen_says_that_nodes_may_not_be_read(tmp_path):
    """As the command does; the scheduler's words alone would look as if they had been."""
    with living() as cluster:
        cluster.denied |= {("list", "nodes", ""), ("watch", "nodes", "")}
        cluster.put("namespaces", "", "a")
        cluster.put("pods", "a", "web", spec=ASKED, status=WAITING)

        async def act(_pilot, until):
            await until("po/web", "the nodes could not be read")

        watch(cluster, tmp_path, "", act)


def test_a_number_that_is_tried_says_which_new_pods_find_a_node(tmp_path):
    """Nodes are read for it where pods are to come, and are watched no longer once it is answered."""
    template = {"metadata": {"labels": {"app": "web"}}, "spec": ASKED}
    with living() as cluster:
        cluster.put("namespaces", "", "a")
        cluster.put("nodes", "", "n1", status={"allocatable": {"cpu": "5", "memory": "8Gi", "pods": "110"}})
        cluster.put("pods", "a", "db", spec=HELD, status={"phase": "Running"})
        spec = {"replicas": 0, "selector": {"matchLabels": {"app": "web"}}, "template": template}
        cluster.put("deployments", "a", "web", spec=spec, status={})

        async def act(pilot, until):
            await until("deployment/web", "live")
            assert BOUND_PODS not in kinds(pilot.app)
            await pilot.press("s", "2", "enter")
            shown = await until("what if", "1 of 2 new pods")
            assert "Insufficient cpu" in shown
            assert BOUND_PODS not in kinds(pilot.app)

        watch(cluster, tmp_path, "deploy web", act, namespaces=("a",))


def kinds(app: Any) -> set[str]:
    return {need.kind for need in app.wanted_key or ()}
