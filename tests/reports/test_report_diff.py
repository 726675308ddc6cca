"""Differences over many pods agree with those of one, and parse policies once."""

from __future__ import annotations

import pytest
from reports.stored import box, limits, made, owned_by, store_of, subject, template

from kubectl_kres.admission.base.server import Server
from kubectl_kres.render.pod.diff import lines
from kubectl_kres.reports.common import effective_policies as known
from kubectl_kres.reports.common.explanation import EvaluationOptions
from kubectl_kres.reports.explain import difference as reports
from kubectl_kres.reports.explain.difference import Differences, diff
from kubectl_kres.reports.pod.live_differences import AddedContainer, LiveReason

CPU = {"requests": {"cpu": "1"}}
RANGE = made("LimitRange", "lr", spec={"limits": [{"type": "Container", "default": {"memory": "1Gi"}}]})
FILLED = {"requests": {"cpu": "1", "memory": "1Gi"}, "limits": {"memory": "1Gi"}}
MAX = made("LimitRange", "max", spec={"limits": [{"type": "Container", "max": {"memory": "1Mi"}}]})


def pod(name: str, *containers: dict, owner: str = "r") -> dict:
    return made("Pod", name, spec={"containers": list(containers)}, **owned_by("ReplicaSet", owner))


def app(resources: dict) -> dict:
    return {"name": "app", "resources": resources}


OWNER = made("ReplicaSet", "r", spec=template(app(CPU)))


@pytest.mark.parametrize(
    ("objects", "containers", "changed"),
    [
        pytest.param([], [app(CPU)], False, id="as the template says"),
        pytest.param([], [app({"requests": {"cpu": "1000m"}})], False, id="in another notation"),
        pytest.param([], [app({"requests": {"cpu": "2"}})], True, id="another value"),
        pytest.param([], [app({})], True, id="a value that is missing"),
        pytest.param([RANGE], [app(FILLED)], False, id="filled in as today"),
        pytest.param([RANGE], [app(CPU)], True, id="older than the LimitRange"),
        pytest.param([], [app(CPU), {"name": "proxy", "resources": CPU}], True, id="a container that was added"),
        pytest.param([], [{"name": "proxy"}, app(CPU)], False, id="one without requests, in another place"),
        pytest.param([RANGE, MAX], [app(FILLED)], True, id="refused today"),
    ],
)
def test_one_and_many_agree(objects, containers, changed):
    store = store_of(OWNER, pod("p", *containers), *objects)
    single = diff(store, subject("Pod/p"), EvaluationOptions())
    [many] = map(Differences(store, EvaluationOptions()).difference_of, store.all("Pod"))
    assert single.changed is changed
    assert (many is None) is not changed
    if many is not None:
        assert many == single


def test_pods_that_are_alike_are_looked_at_once(monkeypatch):
    looked: list[str] = []
    real = reports.explain.analyse

    def analyse(start, *more, **journal):
        looked.append(start.live.metadata.name)
        return real(start, *more, **journal)

    monkeypatch.setattr(reports.explain, "analyse", analyse)
    pods = [pod(f"p{n}", app(CPU)) for n in range(5)]
    pods[2] = pod("p2", app({**CPU, "limits": {"cpu": "3"}}))
    store = store_of(OWNER, *pods)
    found = [*map(Differences(store, EvaluationOptions()).difference_of, store.all("Pod"))]
    assert [one is None for one in found] == [True, True, False, True, True]
    assert looked == ["p0", "p2", "p2"], "the last one again, for why it differs"


def test_policies_are_parsed_again_only_after_a_change(monkeypatch):
    parsed: list[str] = []
    real = known._policies
    monkeypatch.setattr(
        known, "_policies", lambda store, space, *more: parsed.append(space) or real(store, space, *more)
    )
    store = store_of(OWNER, *(pod(f"p{n}", app(CPU)) for n in range(5)))
    for name in ("Pod/p1", "Pod/p2", "Pod/p1"):
        diff(store, subject(name), EvaluationOptions())
    assert parsed == ["ns"]
    store.forget("Pod")
    known.policies(store, "ns")
    assert parsed == ["ns"]
    for changed in (lambda: store.forget("ResourceQuota"), lambda: store.remove("LimitRange", "x", "ns")):
        changed()
        known.policies(store, "ns")
    assert parsed == ["ns"] * 3
    known.policies(store, "ns", Server(version=(1, 30)))
    assert parsed == ["ns"] * 4


@pytest.mark.parametrize(
    ("live", "labels", "reasons"),
    [
        (False, ("WRITTEN", "STORED"), {"spec.containers[0].resources.limits[memory]": "limitrange/default"}),
        (True, ("LIVE", "TODAY"), {}),
    ],
)
def test_what_is_compared(live, labels, reasons):
    given = pod("p", app(FILLED if live else CPU))
    store = store_of(RANGE, OWNER, *([given] if live else []))
    found = diff(store, subject("Pod/p", None if live else given), EvaluationOptions())
    assert (found.before_label, found.after_label) == labels
    assert {path: found.reasons[path].rule for path in reasons} == reasons
    assert found.before["metadata"]["namespace"] == found.after["metadata"]["namespace"] == "ns"


def test_a_refused_pod_is_shown_as_far_as_it_came():
    given = made("Pod", "p", spec={"containers": [app({"limits": {"cpu": "1", "memory": "1Gi"}})]})
    found = diff(store_of(MAX), subject("Pod/p", given), EvaluationOptions())
    assert found.changed
    assert found.after["spec"]["containers"][0]["resources"]["requests"] == {"cpu": "1", "memory": "1Gi"}
    assert "status" not in found.after
    broken = made("Pod", "p", spec={"containers": [app({"limits": {"cpu": "x"}})]})
    unread = diff(store_of(), subject("Pod/p", broken), EvaluationOptions())
    assert (unread.before, unread.changed) == (unread.after, True)


def test_an_injected_container_has_its_reason_at_its_name():
    store = store_of(OWNER, pod("p", {"name": "proxy", "resources": CPU}, app({"requests": {"cpu": "2"}})))
    found = diff(store, subject("Pod/p"), EvaluationOptions())
    assert [one["name"] for one in found.before["spec"]["containers"]] == ["app", "proxy"]
    assert found.reasons["spec.containers[1].name"].note == AddedContainer()
    assert found.reasons["spec.containers[0].resources.requests[cpu]"].note == LiveReason("unknown")


def test_a_refused_next_pod_may_have_containers_of_live_pods():
    """A mesh and a full quota: the refusal is the comment, the injected container a line of the difference."""
    boxes = [box("app", limits={"cpu": "1"}), box("proxy", limits={"cpu": "1"})]
    full = made(
        "ResourceQuota", "q", spec={"hard": {"pods": "1"}}, status={"hard": {"pods": "1"}, "used": {"pods": "1"}}
    )
    objects = (
        made("ReplicationController", "web", spec={"replicas": 2, **template(boxes[0])}, status={"replicas": 1}),
        made("Pod", "web-x", spec={"containers": boxes}, generation=1, **owned_by("ReplicationController", "web")),
        full,
    )
    found = diff(store_of(*objects), subject("ReplicationController/web"), EvaluationOptions())
    assert found.verdict.allowed is False
    assert [part["name"] for part in found.after["spec"]["containers"]] == ["app", "proxy"]


def test_values_that_an_order_decides_name_the_others():
    ranges = [limits("a", default={"cpu": "2"}), limits("b", default={"cpu": "1500m"})]
    found = diff(
        store_of(made("Deployment", "web", spec=template()), *ranges), subject("Deployment/web"), EvaluationOptions()
    )
    assert found.certain is False
    path = "spec.containers[0].resources.limits[cpu]"
    assert found.reasons[path].others == ("1500m",)
    drawn = list(lines(found, width=120))
    assert drawn[0].startswith("# the order of LimitRanges")
    assert any("or 1500m in another order" in line for line in drawn)
