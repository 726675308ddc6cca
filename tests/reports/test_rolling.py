"""Rollouts, started or under way, as ``quota --fit`` tells them: each case was watched on a real controller."""

from __future__ import annotations

from typing import Any

import pytest
from reports.stored import limits, made, owned_by, store_of, subject, template

from kubectl_kres.render.quota.fit import lines
from kubectl_kres.reports.common.explanation import EvaluationOptions
from kubectl_kres.reports.explain.explain import explain
from kubectl_kres.reports.quota.fit import Fit, fit


def quota(hard: str, used: str, name: str = "requests.cpu") -> dict[str, Any]:
    return made("ResourceQuota", "q", spec={"hard": {name: hard}}, status={"hard": {name: hard}, "used": {name: used}})


def box(cpu: str) -> dict[str, Any]:
    return {"name": "app", "image": "app", "resources": {"requests": {"cpu": cpu}}}


def web(cpu: str, replicas: int, existing: int, updated: int, **spec: Any) -> dict[str, Any]:
    status = {"replicas": existing, "updatedReplicas": updated, "observedGeneration": 2}
    return made("Deployment", "web", spec={"replicas": replicas, **template(box(cpu)), **spec}, status=status)


def sets(*counts: tuple[str, int, int]) -> list[dict[str, Any]]:
    """ReplicaSets of web, the oldest first: cpu, what each wants, and has."""
    return [
        made(
            "ReplicaSet", f"web-{at}", spec={"replicas": wanted, **template(box(cpu))}, status={"replicas": have},
            annotations={"deployment.kubernetes.io/revision": str(at)}, **owned_by("Deployment", "web"),
        )
        for at, (cpu, wanted, have) in enumerate(counts, 1)
    ]  # fmt: skip


def pods(owner: str, cpu: str, count: int) -> list[dict[str, Any]]:
    return [
        made("Pod", f"{owner}-{at}", spec={"containers": [box(cpu)]}, status={"phase": "Running"},
             **owned_by("ReplicaSet", owner))
        for at in range(count)
    ]  # fmt: skip


def told(*objects: dict[str, Any], name: str = "Deployment/web") -> Fit:
    return fit(store_of(*objects), subject(name), EvaluationOptions())


def text(found: Fit) -> str:
    return " ".join(" ".join(lines(found)).split())


def test_over_its_hard_a_quota_lets_no_rollout_through():
    """Watched: 3 of 4 left, 0 updated, forever."""
    found = told(web("200m", 4, 4, 4), *sets(("200m", 4, 4)), *pods("web-1", "200m", 4), quota("500m", "800m"))
    assert (found.next_rollout, found.fits) == ("stuck", 0)
    assert found.next_rollout_end is not None
    assert (found.next_rollout_end.updated, found.next_rollout_end.wanted, found.next_rollout_end.old) == (0, 4, 3)
    assert [(over.resource, over.over_by) for over in found.overused] == [("requests.cpu", "300m")]
    assert "would stall at 0 of 4 updated, 3 old pods left, until there is room" in text(found)
    assert "an old pod gives back 200m of requests.cpu, a new one takes 200m of quota q" in text(found)


def test_a_larger_template_rests_one_pod_short():
    """4 x 256Mi in 1Gi, raised to 512Mi; watched: 3 of 4, 0 updated."""
    objects = [web("512m", 4, 3, 0), *sets(("256m", 3, 3), ("512m", 2, 0)), *pods("web-1", "256m", 3)]
    found = told(*objects, quota("1024m", "768m"))
    assert found.rollout is not None
    assert (found.rollout.state, found.rollout.updated, found.rollout.wanted, found.rollout.old) == ("stuck", 0, 4, 3)
    assert found.rollout.gives_back == {"q": {"requests.cpu": "256m"}}
    assert (found.next_rollout, found.not_fitting, found.enough) == (None, 4, False)
    assert "under way and stuck at 0 of 4 updated" in text(found)
    assert explain(
        store_of(*objects, quota("1024m", "768m")), subject("Deployment/web"), EvaluationOptions()
    ).verdict.outcome == ("refused")


def test_the_surge_pod_of_a_rollout_is_not_all_of_it():
    """2 x 128m, template 700m, hard 1024m, one new pod exists; watched: 1 of 2 updated, stuck."""
    objects = [web("700m", 2, 3, 1), *sets(("128m", 2, 2), ("700m", 1, 1))]
    found = told(*objects, *pods("web-1", "128m", 2), *pods("web-2", "700m", 1), quota("1024m", "956m"))
    assert found.rollout is not None
    assert (found.rollout.state, found.rollout.updated, found.rollout.wanted) == ("stuck", 1, 2)
    assert "1 of 2 updated, 2 old pods run" in text(found)


def test_a_rollout_that_goes_on_is_moving_and_no_refusal():
    objects = [web("200m", 4, 4, 2), *sets(("200m", 2, 2), ("200m", 3, 2)), quota("800m", "800m")]
    found = told(*objects)
    assert found.rollout is not None
    assert (found.rollout.state, found.not_fitting, found.enough) == ("moving", 0, True)
    verdict = explain(store_of(*objects), subject("Deployment/web"), EvaluationOptions()).verdict
    assert (verdict.outcome, verdict.missing) == ("full", 2)


@pytest.mark.parametrize("bound", [limits("lr", min={"cpu": "300m"}), quota("9", "0", "limits.cpu")])
def test_no_room_helps_what_is_refused_for_another_reason(bound: Any):
    """A LimitRange or must-specify; watched: 0 of 4 updated, 3 pods."""
    found = told(web("100m", 4, 3, 0), *sets(("500m", 3, 3), ("100m", 2, 0)), bound)
    assert found.rollout is not None
    assert (found.rollout.state, found.rollout.updated, found.rollout.old, found.never_fits) == ("stuck", 0, 3, True)
    assert "no room helps" in text(found)
    started = told(web("100m", 4, 4, 4), *sets(("100m", 4, 4)), bound)
    assert started.next_rollout == "stuck"


def test_a_stateful_set_gives_back_before_it_takes():
    status = {"replicas": 3, "updatedReplicas": 3, "currentRevision": "a", "updateRevision": "a"}
    db = made("StatefulSet", "db", spec={"replicas": 3, **template(box("100m"))}, status=status)
    assert told(db, quota("300m", "300m"), name="StatefulSet/db").next_rollout == "replaced"
    over = told(db, quota("200m", "300m"), name="StatefulSet/db")
    assert (over.next_rollout, over.next_rollout_end and over.next_rollout_end.old) == ("stuck", 2)


def test_a_paused_deployment_rolls_nothing_out():
    found = told(web("200m", 4, 4, 0, paused=True), *sets(("100m", 4, 4)), quota("800m", "400m"))
    assert (found.next_rollout, found.rollout, found.not_fitting) == (None, None, 0)


def test_missing_pods_come_before_a_rollout():
    """Room for 3 of the 4 that are missing and no surge: none of the template is left to wait for."""
    found = told(web("100m", 4, 0, 0), quota("400m", "0"))
    assert (found.next_rollout, found.not_fitting, found.enough) == ("shrinking", 0, False)
    assert told(web("100m", 4, 0, 0), quota("300m", "0")).not_fitting == 1
