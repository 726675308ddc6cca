"""The real admission controller of the vertical autoscaler before a real API server: the stored pod is as predicted.

KRES_CASES: how many worlds (40). KRES_RANDOM=1: of another seed each time, which is printed.
"""

from __future__ import annotations

import json
import os
import secrets
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import build
import pytest
import yaml
from admission.recorded_pods import answer_of, outcomes_of
from controlplane import BASIC_CONTROLLERS, WORKLOAD_CONTROLLERS, ControlPlane
from e2e.plugin import Kres, environment, plugin
from settling import send, until
from vpa_webhook import plane as vpa_plane
from vpa_webhook.test_recorded_webhook import SERVER, sorted_parts
from vpa_webhook.worlds import HALF, by_lot, limits, pod, policy, rec, vpa

pytestmark = pytest.mark.e2e

COUNT = int(os.environ.get("KRES_CASES", "40"))
SEED = secrets.randbelow(10**6) if os.environ.get("KRES_RANDOM") else 2026


@pytest.fixture(scope="module")
def plane(assets: Path) -> Iterator[ControlPlane]:
    """A control plane that serves the kinds of the vertical autoscaler."""
    try:
        vpa_plane.binary()
    except build.NoBinaryError as error:
        pytest.skip(f"no admission controller of the vertical autoscaler: {error}")
    controllers = (*BASIC_CONTROLLERS, *WORKLOAD_CONTROLLERS, "disruption-controller")
    with ControlPlane(assets, controllers=controllers, controller_args=["--kube-api-qps=200"]) as started:
        vpa_plane.install(started)
        yield started


def test_stored_pods_are_as_predicted(plane: ControlPlane) -> None:
    print(f"seed {SEED}")
    wrong = []
    cases = list(vpa_plane.play(plane, list(by_lot(COUNT, SEED)), first=1000))
    for case in cases:
        expect = {key: value for key, value in case["expect"].items() if key != "updates"}
        if sorted_parts(expect) not in [sorted_parts(answer_of(outcome)) for outcome in outcomes_of(case, SERVER)]:
            wrong.append(case)
    assert wrong == []
    assert len(cases) == COUNT


def played(plane: ControlPlane, number: int, world: dict[str, Any]) -> vpa_plane.Played:
    made = vpa_plane.Played(plane, number, world)
    put_template(plane, made.space, world["pod"], 0)
    return made


def put_template(plane: ControlPlane, space: str, spec: dict[str, Any], replicas: int) -> None:
    """Give the Deployment a template and replicas, again where its controller was faster."""
    path = f"/apis/apps/v1/namespaces/{space}/deployments/app"
    for _ in range(20):
        stored = plane.request("GET", path)[1]
        stored["spec"]["replicas"] = replicas
        template = stored["spec"]["template"]["spec"]
        template |= {"containers": spec["containers"], "terminationGracePeriodSeconds": 0}
        status, answer = plane.request("PUT", path, stored)
        if status == 200:
            return
        assert status == 409, answer
    raise AssertionError("the Deployment changes all the time")


def test_the_program_reads_and_computes_it(plane: ControlPlane, kubectl: Path, tmp_path: Path) -> None:
    """Through the program itself: the next pod of a Deployment, and what is said where the webhook is not there."""
    kres: Kres = plugin(kubectl, environment(plane.kubeconfig, kubectl, tmp_path), tmp_path)
    world = {
        "vpas": [vpa([rec("c0", {"cpu": "2", "memory": "300Mi"})])], "pod": pod(HALF),
        "ranges": [limits("Container", max={"cpu": "1"})],
    }  # fmt: skip
    made = played(plane, 2000, world)
    words = ("explain", "deploy/app", "-n", made.space)
    with vpa_plane.serving(plane):
        computed = json.loads(kres(*words, "-o", "json").stdout)
        text = kres(*words, "--all").stdout
        vpa_plane.time.sleep(3)
        stored = made.case()["expect"]["stored"]["containers"]["c0"]
    values = {(value["side"], value["resource"]): value for value in _values(computed)}
    assert {key: value["value"] for key, value in values.items()} == {
        (side, name): amount for side, amounts in stored.items() for name, amount in amounts.items()
    }
    assert values["requests", "cpu"]["rule"] == "vpa/limit-range-max"
    assert "failurePolicy Ignore" in text
    assert "webhook vpa.k8s.io" in text
    bare = json.loads(kres(*words, "-o", "json").stdout)
    assert {(value["side"], value["resource"]): value["value"] for value in _values(bare)}["requests", "cpu"] == "100m"


def test_who_may_not_read_autoscalers_is_told(plane: ControlPlane, kubectl: Path, tmp_path: Path) -> None:
    """All rights that the program asks for but this one: the answer says how far it goes, and what is missing."""
    kres: Kres = plugin(kubectl, environment(plane.kubeconfig, kubectl, tmp_path), tmp_path)
    made = played(plane, 2001, {"vpas": [vpa([rec("c0", {"cpu": "2"})])], "pod": pod(HALF)})
    rbac = "/apis/rbac.authorization.k8s.io/v1"
    words = ("explain", "deploy/app", "-n", made.space, "--as", "reader")
    roles = list(yaml.safe_load_all(kres("version", "--rbac").stdout))
    rules = [rule for role in roles for rule in role["rules"]]
    assert [rule["verbs"] for rule in rules if rule["resources"] == ["verticalpodautoscalers"]] == [
        ["get", "list", "watch"]
    ]
    less = [rule for rule in rules if rule["resources"] != ["verticalpodautoscalers"]]
    send(plane, "POST", f"{rbac}/clusterroles", {"metadata": {"name": "reader"}, "rules": less})
    subject = {"kind": "User", "name": "reader", "apiGroup": "rbac.authorization.k8s.io"}
    reference = {"kind": "ClusterRole", "name": "reader", "apiGroup": "rbac.authorization.k8s.io"}
    binding = {"metadata": {"name": "reader"}, "roleRef": reference, "subjects": [subject]}
    send(plane, "POST", f"{rbac}/clusterrolebindings", binding)
    with vpa_plane.serving(plane):
        done = kres(*words)
    text = " ".join(done.stdout.split())
    assert "admitted as far as seen" in text
    assert 'User "reader" cannot list resource "verticalpodautoscalers"' in text
    assert "webhook vpa-webhook-config (fail open) is not computed" in text


def _values(answer: dict[str, Any]) -> list[dict[str, Any]]:
    container = answer["items"][0]["containers"][0]
    values: list[dict[str, Any]] = container["values"]
    return values


def test_a_fault_refuses_where_the_webhook_must_answer(plane: ControlPlane) -> None:
    """A container without recommendation and requests makes it panic: 500 with failurePolicy Fail."""
    world = {
        "vpas": [vpa([rec("c0", {"cpu": "1"})])], "pod": pod(HALF, {}), "ranges": [limits("Pod", max={"cpu": "300m"})],
    }  # fmt: skip
    with vpa_plane.serving(plane, fails=True):
        made = vpa_plane.Played(plane, 3000, world)
        vpa_plane.time.sleep(3)
        case = made.case()
    case["given"].append({"kind": "MutatingWebhookConfiguration", **plane_configuration("Fail")})
    (outcome,) = outcomes_of(case, SERVER)
    assert (case["expect"]["code"], outcome.code) == (500, 500)
    start = 'Internal error occurred: failed calling webhook "vpa.k8s.io": failed to call webhook: '
    assert case["expect"]["message"].startswith(start)
    assert outcome.message.startswith(start)


def plane_configuration(policy: str) -> dict[str, Any]:
    """The configuration as registered."""
    return {"metadata": {"name": "vpa-webhook-config"}, "webhooks": [{"name": "vpa.k8s.io", "failurePolicy": policy}]}


WANTED = {"cpu": "500m", "memory": "200Mi"}


_NAMES = ("refused", "refused-by-all", "comes-back", "as-recommended")
_SMALL = {"requests": {"cpu": "100m", "memory": "50Mi"}, "limits": {"cpu": "200m", "memory": "60Mi"}}


def with_pods(
    plane: ControlPlane, number: int, world: dict[str, Any], resources: dict[str, Any], replicas: int = 4
) -> tuple[vpa_plane.Played, set[str]]:
    """A world in which a Deployment has its pods before there is a recommendation, and their uids; then there is."""
    made = vpa_plane.Played(plane, number, {**world, "pod": pod(resources)})
    until(made.settled, 90)
    put_template(plane, made.space, pod(resources), replicas)
    until(lambda: len(running(plane, made.space)) == replicas, 90)
    vpas = f"{vpa_plane.VPAS}/namespaces/{made.space}/verticalpodautoscalers/v0"
    status = {"recommendation": {"containerRecommendations": [rec("c0", WANTED)]}}
    send(plane, "PUT", f"{vpas}/status", {**plane.request("GET", vpas)[1], "status": status})
    vpa_plane.time.sleep(3)
    return made, set(running(plane, made.space))


def at_rest(plane: ControlPlane, space: str) -> set[str]:
    """The pods once the real updater has nothing to do any more."""
    with vpa_plane.updating(plane):
        seen: list[set[str]] = []
        while len(seen) < 12 or len({frozenset(names) for names in seen[-8:]}) > 1:
            assert len(seen) < 60
            vpa_plane.time.sleep(1)
            seen.append(set(running(plane, space)))
    return seen[-1]


@pytest.mark.parametrize(
    ("name", "quota", "more"),
    [
        ("refused", {"requests.cpu": "900m"}, {}),
        ("refused-by-all", {"limits.memory": "250Mi"}, {}),
        ("comes-back", {"requests.cpu": "5"}, {}),
        ("as-recommended", {"requests.cpu": "5"}, {"maxAllowed": HALF["requests"]}),
    ],
)
def test_the_updater_ends_as_is_said(
    plane: ControlPlane, kubectl: Path, tmp_path: Path, name: str, quota: dict[str, str], more: dict[str, Any]
) -> None:
    """The real updater runs until nothing changes any more: as many pods are old, new and missing as is said before."""
    kres: Kres = plugin(kubectl, environment(plane.kubeconfig, kubectl, tmp_path), tmp_path)
    policies = (policy("*", **more),) if more else ()
    world = {"vpas": [vpa(None, *policies)], "quotas": [{"hard": quota}]}
    with vpa_plane.serving(plane):
        made, old = with_pods(plane, 4000 + _NAMES.index(name), world, HALF if more else _SMALL)
        said = json.loads(kres("explain", "vpa/v0", "-n", made.space, "-o", "json").stdout)["items"][0]["eviction"]
        change = json.loads(kres("simulate", "--evict", "vpa/v0", "-n", made.space, "-o", "json").stdout)["items"][0]
        played_out = change["steps"][0]["eviction"]
        last = at_rest(plane, made.space)
    ended = {"kept": len(last & old), "recreated": len(last - old), "missing": 4 - len(last)}
    assert said["result"] == played_out["result"] == name.removesuffix("-by-all")
    if name == "as-recommended":
        assert ended == {"kept": 4, "recreated": 0, "missing": 0}
        return
    for eviction in (said, played_out):
        assert ended == {key: eviction.get(key, 0) for key in ended}


_FLOOR = (policy("*", minAllowed={"cpu": "400m"}),)
_CEILING = [limits("Container", max={"cpu": "600m"})]


@pytest.mark.parametrize(
    ("place", "world", "replicas", "expected"),
    [
        # a quota: more of it, maxAllowed, and nothing evicted any more
        (0, {"vpas": [vpa(None)], "quotas": [{"hard": {"requests.cpu": "900m"}}]}, 4, ("new", "new", "old")),
        # a LimitRange: minAllowed, and limits as they are
        (10, {"vpas": [vpa(None, *_FLOOR)], "ranges": _CEILING}, 4, ("new", "new")),
        # a single pod: minReplicas
        (20, {"vpas": [vpa(None)]}, 1, ("new",)),
    ],
)
def test_each_remedy_helps(
    plane: ControlPlane,
    kubectl: Path,
    tmp_path: Path,
    place: int,
    world: dict[str, Any],
    replicas: int,
    expected: tuple[str, ...],
) -> None:
    """Each command is run, then the real updater: all pods are there, new ones or the old ones."""
    kres: Kres = plugin(kubectl, environment(plane.kubeconfig, kubectl, tmp_path), tmp_path)
    for number, which in enumerate(expected):
        with vpa_plane.serving(plane):
            made, old = with_pods(plane, 6000 + place + number, world, _SMALL, replicas)
            said = json.loads(kres("explain", "vpa/v0", "-n", made.space, "-o", "json").stdout)["items"][0]
            assert len(said["fixes"]) == len(expected)
            remedy = said["fixes"][number]
            assert remedy["proven"]
            for command in remedy["commands"]:
                words = [str(kubectl), f"--kubeconfig={plane.kubeconfig}", *shlex.split(command)[1:]]
                subprocess.run(words, check=True, capture_output=True, text=True)
            until(made.settled, 90)
            vpa_plane.time.sleep(3)
            last = at_rest(plane, made.space)
            put_template(plane, made.space, pod(_SMALL), 0)
        assert (len(last), len(last & old)) == (replicas, replicas if which == "old" else 0), remedy["text"]


@pytest.mark.parametrize(("number", "least", "result"), [(0, 4, "budget"), (1, 3, "comes-back")])
def test_disruption_budgets_are_met(
    plane: ControlPlane, kubectl: Path, tmp_path: Path, number: int, least: int, result: str
) -> None:
    """As many pods are old and new as is said before, one after the other where the budget lets only one be away."""
    kres: Kres = plugin(kubectl, environment(plane.kubeconfig, kubectl, tmp_path), tmp_path)
    with vpa_plane.serving(plane):
        made, _ = with_pods(plane, 7000 + number, {"vpas": [vpa(None)]}, _SMALL)
        path = f"/apis/policy/v1/namespaces/{made.space}/poddisruptionbudgets"
        spec = {"minAvailable": least, "selector": {"matchLabels": vpa_plane.LABELS}}
        send(plane, "POST", path, {"metadata": {"name": "most"}, "spec": spec})
        until(lambda: plane.request("GET", f"{path}/most")[1].get("status", {}).get("currentHealthy") == 4, 60)
        old = set(running(plane, made.space))
        said = json.loads(kres("explain", "vpa/v0", "-n", made.space, "-o", "json").stdout)["items"][0]["eviction"]
        change = json.loads(kres("simulate", "--evict", "vpa/v0", "-n", made.space, "-o", "json").stdout)["items"][0]
        last = at_rest(plane, made.space)
        put_template(plane, made.space, pod(_SMALL), 0)
    ended = {"kept": len(last & old), "recreated": len(last - old), "missing": 4 - len(last)}
    for eviction in (said, change["steps"][0]["eviction"]):
        assert (eviction["result"], eviction["budgets"], eviction["healthy"]) == (result, ["most"], least)
        assert ended == {key: eviction.get(key, 0) for key in ended}


def test_without_the_webhook_the_updater_never_ends(plane: ControlPlane, kubectl: Path, tmp_path: Path) -> None:
    """Pods come as their template says, and are evicted again and again, as is said before."""
    kres: Kres = plugin(kubectl, environment(plane.kubeconfig, kubectl, tmp_path), tmp_path)
    resources = {"requests": {"cpu": "100m", "memory": "50Mi"}}
    made = vpa_plane.Played(plane, 5000, {"vpas": [vpa([rec("c0", WANTED)])], "pod": pod(resources)})
    put_template(plane, made.space, pod(resources), 2)
    until(lambda: len(running(plane, made.space)) == 2, 90)
    running(plane, made.space)
    said = json.loads(kres("explain", "vpa/v0", "-n", made.space, "-o", "json").stdout)["items"][0]
    assert (said["registered"], said["eviction"]["result"]) == (False, "again")
    seen: set[str] = set()
    with vpa_plane.updating(plane):
        deadline = vpa_plane.time.monotonic() + 40
        while len(seen) < 10:
            assert vpa_plane.time.monotonic() < deadline
            seen |= set(running(plane, made.space))
            vpa_plane.time.sleep(0.5)
    put_template(plane, made.space, pod(resources), 0)


def running(plane: ControlPlane, space: str) -> list[str]:
    """The uids of the pods, which get a node and are told to run, as no scheduler and no kubelet does it."""
    names = []
    for item in plane.request("GET", f"/api/v1/namespaces/{space}/pods")[1]["items"]:
        names.append(item["metadata"]["uid"])
        path = f"/api/v1/namespaces/{space}/pods/{item['metadata']['name']}"
        if not item["spec"].get("nodeName"):
            target = {"kind": "Node", "name": "n0"}
            plane.request("POST", f"{path}/binding", {"metadata": {"name": item["metadata"]["name"]}, "target": target})
        elif item["status"].get("phase") != "Running":
            ready = {"type": "Ready", "status": "True", "lastTransitionTime": item["metadata"]["creationTimestamp"]}
            status = {
                **item["status"], "phase": "Running", "startTime": item["metadata"]["creationTimestamp"],
                "conditions": [ready],
            }  # fmt: skip
            plane.request("PUT", f"{path}/status", {**item, "status": status})
    return names
