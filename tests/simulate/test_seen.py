"""What live pods were given beside their template counts for the pods that a change makes."""

from __future__ import annotations

from typing import Any

import pytest
from reports.stored import box, made, owned_by, store_of
from reports.test_policing import mutating, space

from kubectl_kres.admission.base.server import Server
from kubectl_kres.reports.changes.compare import report
from kubectl_kres.reports.changes.report import ChangeReport
from kubectl_kres.simulate.change import PlacedStep, ScaleStep
from kubectl_kres.simulate.cluster import simulate_steps
from kubectl_kres.simulate.live import lean_converters

LABELS = {"app": "web"}
APP = box("app", {"cpu": "500m"}, image="registry.example/web:1")
PROXY = box("proxy", {"cpu": "1"}, image="registry.example/proxy:1")
SIDECAR = {**PROXY, "restartPolicy": "Always"}
QUOTA = made("ResourceQuota", "q", spec={"hard": {"requests.cpu": "6"}},
             status={"hard": {"requests.cpu": "6"}, "used": {"requests.cpu": "1500m"}})  # fmt: skip


def workload(kind: str, name: str, **metadata: Any) -> dict[str, Any]:
    spec = {"replicas": 1, "selector": {"matchLabels": LABELS}, **({"serviceName": name} if kind[:2] == "St" else {})}
    spec["template"] = {"metadata": {"labels": LABELS}, "spec": {"containers": [APP]}}
    return made(kind, name, spec=spec, **metadata)


def pod(name: str, *containers: Any, inits: tuple[Any, ...] = (), owner: tuple[str, str] = ("ReplicaSet", "w-1")):
    return made("Pod", name, spec={"containers": list(containers), "initContainers": list(inits)},
                status={"phase": "Running"}, **owned_by(*owner))  # fmt: skip


SETS = (
    workload("Deployment", "w"),
    workload(
        "ReplicaSet", "w-1", annotations={"deployment.kubernetes.io/revision": "1"}, **owned_by("Deployment", "w")
    ),
)


def scaled(*objects: Any, kind: str = "Deployment", seen: bool = True, slim: bool = False) -> ChangeReport:
    store = store_of(*objects)
    if slim:
        for each, convert in lean_converters().items():
            for item in list(store.all(each)):
                store.add(each, convert(item))
    return report(simulate_steps(store, [PlacedStep(ScaleStep(kind, "w", 9), "ns")], Server(), ["ns"], seen=seen))


def pods_after(changed: ChangeReport) -> int:
    [only] = changed.workloads
    assert only.after is not None
    return only.after.pods


@pytest.mark.parametrize("slim", [False, True], ids=["whole", "lean"])
@pytest.mark.parametrize("given", [{"containers": (PROXY,)}, {"inits": (SIDECAR,)}], ids=["container", "sidecar"])
def test_pods_that_come_cost_what_live_ones_do(given: dict[str, Any], slim: bool) -> None:
    live = pod("a", APP, *given.get("containers", ()), inits=given.get("inits", ()))
    changed = scaled(*SETS, live, QUOTA, slim=slim)
    assert pods_after(changed) == 4
    assert changed.notes == ("as live pods have it, the next pods are expected to get proxy: Deployment/w in ns",)
    plain = scaled(*SETS, live, QUOTA, slim=slim, seen=False)
    assert pods_after(plain) == 9 and plain.notes == ()


def test_stateful_sets_jobs_and_what_a_policy_adds() -> None:
    own = ("StatefulSet", "w")
    changed = scaled(workload("StatefulSet", "w"), pod("w-0", APP, PROXY, owner=own), QUOTA, kind="StatefulSet")
    assert pods_after(changed) == 4 and "StatefulSet/w" in changed.notes[0]
    # A container that is computed is no sign of anything else, and is not there twice.
    added = 'JSONPatch{op: "add", path: "/spec/containers/-", value: Object.spec.containers{name: "proxy", image: "i"}}'
    live = pod("a", APP, box("proxy", image="i"))
    changed = scaled(*SETS, live, *mutating(f"[{added}]"))
    assert changed.notes == () and pods_after(changed) == 9


def test_pods_that_disagree_leave_both_possible() -> None:
    changed = scaled(*SETS, pod("a", APP, PROXY), pod("b", APP), QUOTA)
    [workload] = changed.workloads
    assert workload.after is not None
    assert (workload.after.pods, workload.after.best) == (5, 9)


def test_pod_security_is_not_asked_about_what_is_not_read() -> None:
    context = {
        "allowPrivilegeEscalation": False, "runAsNonRoot": True, "capabilities": {"drop": ["ALL"]},
        "seccompProfile": {"type": "RuntimeDefault"},
    }  # fmt: skip
    sets = []
    for item in SETS:
        template = {"metadata": {"labels": LABELS}, "spec": {"containers": [{**APP, "securityContext": context}]}}
        sets.append({**item, "spec": {**item["spec"], "template": template}})
    changed = scaled(*sets, pod("a", APP, PROXY), QUOTA, space(enforce="restricted"))
    assert pods_after(changed) == 4
