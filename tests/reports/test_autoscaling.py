"""A HorizontalPodAutoscaler's maximum held against the quotas."""

from __future__ import annotations

from typing import Any

import pytest
from reports.stored import box, made, store_of, subject, template

from kubectl_kres.policies.reports.needs import DECIDING
from kubectl_kres.reports.common.explanation import Autoscaled, EvaluationOptions, Shortfall
from kubectl_kres.reports.explain.explain import explain
from kubectl_kres.reports.pod.needs import MOST, list_read_requests

SETTLED = {
    "observedGeneration": 1,
    "replicas": 2,
    "updatedReplicas": 2,
    "readyReplicas": 2,
    "availableReplicas": 2,
}


def deployment(**status: Any) -> dict[str, Any]:
    spec = {"replicas": 2, "selector": {"matchLabels": {"app": "web"}}, **template(box(requests={"cpu": "500m"}))}
    return made("Deployment", "web", spec=spec, status={**SETTLED, **status}, generation=1)


def autoscaler(most: int, name: str = "web", target: str = "web") -> dict[str, Any]:
    ref = {"apiVersion": "apps/v1", "kind": "Deployment", "name": target}
    return made("HorizontalPodAutoscaler", name, spec={"scaleTargetRef": ref, "maxReplicas": most})


def quota(used: str, hard: str, **more: str) -> dict[str, Any]:
    limits = {"requests.cpu": hard, **more}
    return made("ResourceQuota", "team", spec={"hard": limits}, status={"hard": limits, "used": {"requests.cpu": used}})


def reach(*objects: dict[str, Any]) -> Autoscaled | None:
    return explain(store_of(*objects), subject("Deployment/web"), EvaluationOptions()).autoscaled


def test_fewer_fit_than_the_autoscaler_may_ask_for():
    assert reach(deployment(), quota("1", "3500m"), autoscaler(20)) == Autoscaled(
        "web", 20, 7, (Shortfall("team", "requests.cpu", "6500m"),)
    )


def test_all_fit():
    assert reach(deployment(), quota("1", "3500m"), autoscaler(7)) == Autoscaled("web", 7, 7)
    assert reach(deployment(), autoscaler(100)) == Autoscaled("web", 100, 100)


def test_no_further_pod_fits():
    found = reach(deployment(), quota("1", "1"), autoscaler(3))
    assert found == Autoscaled("web", 3, 2, (Shortfall("team", "requests.cpu", "500m"),))


def test_what_is_refused_for_another_reason_lacks_no_quota():
    found = reach(
        deployment(), quota("1", "9"), autoscaler(3),
        made("LimitRange", "small", spec={"limits": [{"type": "Container", "max": {"cpu": "100m"}}]}),
    )  # fmt: skip
    assert found == Autoscaled("web", 3, 2)


def test_of_several_the_one_that_asks_for_most_counts_and_others_do_not():
    scalers = (autoscaler(3, "a"), autoscaler(9, "b"), autoscaler(50, "c", "other"))
    assert reach(deployment(), *scalers) == Autoscaled("b", 9, 9)
    assert reach(deployment(), autoscaler(50, "c", "other")) is None


def test_a_file_is_judged_with_the_autoscaler_beside_it():
    raw = {**deployment(), "apiVersion": "apps/v1", "status": {}}
    raw["spec"]["template"]["metadata"] = {"labels": {"app": "web"}}
    raw["spec"]["template"]["spec"]["containers"][0]["image"] = "example.test/web"
    store = store_of(quota("0", "3500m"), autoscaler(20))
    found = explain(store, subject("Deployment/web", raw, "web.yaml"), EvaluationOptions()).autoscaled
    assert found == Autoscaled("web", 20, 7, (Shortfall("team", "requests.cpu", "6500m"),))


@pytest.mark.parametrize(
    ("status", "missing"),
    [({}, False), ({"readyReplicas": 1}, True), ({"updatedReplicas": 1}, True), ({"replicas": 1}, True)],
)
def test_it_is_read_and_beside_it_events_where_something_is_missing(status: dict[str, int], missing: bool):
    """A number of pods that a fix lowers would be raised by it again."""
    found = list_read_requests(store_of(deployment(**status), quota("1", "2")), subject("Deployment/web"))
    kinds = {need.kind for need in found}
    assert ("HorizontalPodAutoscaler" in kinds, "Event" in kinds) == (True, missing)
    assert len([need for need in found if need.kind not in {*DECIDING, "Namespace"}]) <= MOST + missing


def test_it_is_not_read_where_no_quota_counts_pods():
    store = store_of(deployment(), made("ResourceQuota", "q", spec={"hard": {"services": "3"}}))
    assert "HorizontalPodAutoscaler" not in {need.kind for need in list_read_requests(store, subject("Deployment/web"))}
