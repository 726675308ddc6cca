"""Figures that are absurd as they are written: what was probably meant is said, and honest ones are left in peace."""

from __future__ import annotations

import pytest
from reports.stored import box, limits, made, store_of, subject, template

from kubectl_kres.render.verdict.note import note_text
from kubectl_kres.reports.common.explanation import EvaluationOptions
from kubectl_kres.reports.explain.explain import explain

HARD = {"requests.cpu": "8", "limits.cpu": "16", "requests.memory": "8Gi"}
QUOTA = made("ResourceQuota", "q", spec={"hard": HARD}, status={"hard": HARD, "used": dict.fromkeys(HARD, "0")})
MAX = limits("lr", max={"cpu": "2"})
MIN = limits("lr", min={"memory": "16Mi"})
FULL = {"cpu": "1", "memory": "64Mi"}


def noted(*held, requests=None, **limited) -> str:
    container = box(requests={**FULL, **(requests or {})}, limits={**FULL, **limited})
    store = store_of(made("Deployment", "web", spec=template(container)), *held)
    return note_text(explain(store, subject("Deployment/web"), EvaluationOptions()).note)


@pytest.mark.parametrize(
    ("found", "first"),
    [
        pytest.param(
            noted(QUOTA, requests={"cpu": "500"}, cpu="500"),
            "did you mean 500m in requests.cpu and limits.cpu of container app (500 is 500 CPUs)?",
            id="a quota",
        ),
        pytest.param(
            noted(MAX, requests={"cpu": "100m"}, cpu="250"),
            "did you mean 250m in limits.cpu of container app (250 is 250 CPUs)?",
            id="a LimitRange",
        ),
        pytest.param(
            noted(requests={"cpu": "100"}),
            "did you mean 100m in requests.cpu of container app (100 is 100 CPUs)?",
            id="the container's own limit",
        ),
        pytest.param(
            noted(MIN, requests={"memory": "100m"}),
            "did you mean 100Mi in requests.memory of container app (100m is 100 thousandths of a byte)?",
            id="thousandths of bytes",
        ),
        pytest.param(
            noted(memory="512"),
            "did you mean 512Mi in limits.memory of container app (512 is 512 bytes)?",
            id="bytes, under the request",
        ),
        pytest.param(
            noted(requests={"memory": "2"}, memory="2"),
            "wait for its controller; kubectl describe shows its last try; "
            "look at requests.memory and limits.memory of container app: "
            "2 is 2 bytes; did you mean 2Gi?",
            id="admitted",
        ),
        pytest.param(
            noted(requests={"cpu": "2000"}, cpu="2000"),
            "wait for its controller; kubectl describe shows its last try; "
            "look at requests.cpu and limits.cpu of container app: "
            "2000 is 2000 CPUs; did you mean 2000m?",
            id="more CPUs than any node has",
        ),
    ],
)  # fmt: skip
def test_what_was_meant_comes_first(found, first):
    assert found == first


def test_what_does_not_refuse_comes_last():
    """Bytes cost a quota nothing: it is the CPUs that are too many."""
    found = noted(QUOTA, requests={"cpu": "12", "memory": "512"}, cpu="12")
    assert found == "look at requests.memory of container app: 512 is 512 bytes; did you mean 512Mi?"


def test_containers_are_named_as_what_they_are():
    inits = [box("first", {"cpu": "100"}), box("proxy", {"cpu": "200"}, restartPolicy="Always")]
    web = made("Deployment", "web", spec=template(box(requests=FULL), initContainers=inits))
    hard = {"requests.cpu": "8"}
    full = made("ResourceQuota", "q", spec={"hard": hard}, status={"hard": hard, "used": {"requests.cpu": "0"}})
    found = explain(store_of(web, full), subject("Deployment/web"), EvaluationOptions())
    assert note_text(found.note) == (
        "did you mean 100m in requests.cpu of init container first (100 is 100 CPUs) "
        "and 200m in requests.cpu of sidecar proxy (200 is 200 CPUs)?"
    )


@pytest.mark.parametrize(
    ("held", "requests", "limited"),
    [
        pytest.param(QUOTA, {"cpu": "32"}, {"cpu": "32"}, id="a large machine's CPUs"),
        pytest.param(QUOTA, {}, {"cpu": "60"}, id="not so many more than there are"),
        pytest.param(QUOTA, {"cpu": "9000m"}, {"cpu": "9000m"}, id="thousandths already"),
        pytest.param(QUOTA, {"cpu": "500k"}, {"cpu": "500k"}, id="thousands on purpose"),
        pytest.param(MAX, {}, {"cpu": "900000"}, id="neither way within bounds"),
        pytest.param(MIN, {"memory": "8Mi"}, {}, id="a little memory"),
        pytest.param(MIN, {"memory": "1000000"}, {}, id="a megabyte in bytes"),
        pytest.param(MIN, {"memory": "0"}, {}, id="none"),
        pytest.param(QUOTA, {"memory": "12884901888000m"}, {"memory": "16Gi"}, id="what autoscalers write"),
    ],
)  # fmt: skip
def test_honest_figures_are_left_in_peace(held, requests, limited):
    found = noted(held, requests=requests, **limited)
    assert not found
