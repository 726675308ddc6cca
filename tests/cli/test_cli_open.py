"""``qos --open``: containers without requests or limits, by workload."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from cli.running import Kres
from reports.stored import made, owned_by

from kubectl_kres.model.kinds import BY_KIND
from kubectl_kres.model.pod import Pod
from kubectl_kres.reports.qos.qos_open import Open, OpenContainers


def pod(name: str, *containers: Any, phase: str = "Running", **spec: Any) -> Pod:
    raw = made("Pod", name, spec={"containers": list(containers), **spec}, status={"phase": phase},
               **owned_by("StatefulSet", "db"))  # fmt: skip
    return msgspec.convert(raw, BY_KIND["Pod"].detail)


def box(name: str, requests: Any = None, limits: Any = None, **more: Any) -> Any:
    return {"name": name, "resources": {"requests": requests or {}, "limits": limits or {}}, **more}


BOTH = {"cpu": "1", "memory": "1Gi"}


@pytest.mark.parametrize(
    ("container", "spec", "missing"),
    [
        (box("a", BOTH, BOTH), {}, None),
        (box("a"), {}, ("requests.cpu", "requests.memory", "limits.cpu", "limits.memory")),
        (box("a", limits={"cpu": "1"}), {}, ("requests.memory", "limits.memory")),
        (box("a", BOTH, {"memory": "1Gi", "cpu": "0"}), {}, ("limits.cpu",)),
        (box("a"), {"resources": {"limits": BOTH}}, None),
        (box("a", BOTH), {"resources": {"limits": {"cpu": "1"}}}, ("limits.memory",)),
    ],
)
def test_what_a_container_lacks(container: Any, spec: Any, missing: Any):
    found = OpenContainers()
    found.add(pod("db-0", container, **spec))
    found.add(pod("db-1", container, phase="Succeeded", **spec))
    assert [*found.containers()] == ([Open("ns", "StatefulSet/db", "a", missing, 1)] if missing else [])


def test_pods_of_a_workload_are_counted_together_and_sidecars_are_looked_at():
    found = OpenContainers()
    for number in range(3):
        side, init = box("side", restartPolicy="Always"), box("init")
        found.add(pod(f"db-{number}", box("a", BOTH, BOTH), initContainers=[side, init]))
    assert [(one.container, one.pods) for one in found.containers()] == [("side", 3)]


def test_the_demo_lists_and_counts_them(kres: Kres):
    head, *rows, last = kres("qos --open -A --demo").out.splitlines()
    assert head.split() == ["NAMESPACE", "WORKLOAD", "CONTAINER", "PODS", "WITHOUT"]
    items = json.loads(kres("qos --open -A --demo -o json").out)["items"]
    assert len(rows) == len(items)
    lacking = sum(item["pods"] for item in items if "limits.cpu" in item["missing"])
    assert f"{lacking} without limits.cpu" in last
    assert kres("qos --open -A --demo --exit-code").code == 1


@pytest.mark.parametrize("words", ["-f x.yaml", "--summary", "pod/x", "deploy"])
def test_what_does_not_go_with_it(kres: Kres, words: str):
    assert kres(f"qos --open {words} --demo").code == 2
