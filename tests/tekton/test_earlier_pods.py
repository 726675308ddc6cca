"""What webhooks gave earlier pods of a Task is charged to the next one, and a quota's refusal of it stands."""

from __future__ import annotations

from typing import Any

from reports.stored import advised, limits, made, store_of, subject

from kubectl_kres.render.verdict.note import note_text
from kubectl_kres.reports.common.explanation import EvaluationOptions, Explanation, Injection
from kubectl_kres.reports.explain.explain import explain

PROXY = {"name": "istio-proxy", "image": "p", "resources": {"limits": {"cpu": "2"}}}
REFUSED = (
    'TaskRun Pod exceeded available resources: pods "fresh-pod" is forbidden: exceeded quota: team, '
    "requested: limits.cpu=3, used: limits.cpu=1500m, limited: limits.cpu=4"
)
STEP = {"name": "a", "image": "x", "computeResources": {"limits": {"cpu": "1"}}}


def quota(used: str) -> dict[str, Any]:
    hard = {"limits.cpu": "4"}
    return made("ResourceQuota", "team", spec={"hard": hard}, status={"hard": hard, "used": {"limits.cpu": used}})


def earlier_pod(name: str) -> dict[str, Any]:
    step = {"name": "step-a", "image": "x", "resources": {"limits": {"cpu": "1"}}}
    return made("Pod", name, spec={"containers": [step, PROXY]}, labels={"tekton.dev/task": "pack"})


def explained(*objects: dict[str, Any], used: str = "1500m") -> Explanation:
    waits = {
        "type": "Succeeded", "status": "Unknown", "reason": "ExceededResourceQuota", "message": REFUSED,
        "lastTransitionTime": "2026-11-01T11:00:00Z",
    }  # fmt: skip
    run = made("TaskRun", "fresh", spec={"taskRef": {"name": "pack"}}, status={"conditions": [waits]})
    task, defaults = made("Task", "pack", spec={"steps": [STEP]}), limits("lr", default={"cpu": "100m"})
    store = store_of(task, run, quota(used), defaults, *objects)
    return explain(store, subject("TaskRun/fresh"), EvaluationOptions(now="2026-11-01T11:20:30Z"))


def test_the_next_pod_has_what_earlier_ones_were_given():
    found = explained(earlier_pod("one-pod"), earlier_pod("two-pod"))
    assert (found.verdict.allowed, found.verdict.findings[0].requested) == (False, "3")
    proxy = next(container for container in found.containers if container.name == "istio-proxy")
    [value] = [value for value in proxy.values if value.side == "limits"]
    assert (value.value, str(value.source)) == ("2", "Container/istio-proxy on 2 of 2 pods")
    assert advised(found) == ("raise limits.cpu of quota team to 4500m",)


def test_without_earlier_pods_the_refusal_tells_the_amount():
    found = explained()
    assert found.verdict.outcome == "blocked"
    assert found.verdict.blocked is not None
    assert found.verdict.blocked.cause == Injection(requested={"limits.cpu": "3"}, computed={"limits.cpu": "1"})
    first, second = advised(found)
    assert first == "raise limits.cpu of quota team to 4500m"
    assert second.startswith("let the pod have less limits.cpu where it is added")


def test_it_finds_room_once_others_have_gone():
    found = explained(used="500m")
    assert found.verdict.outcome == "admitted"
    assert note_text(found.note).startswith("wait: use of limits.cpu of ResourceQuota/team went from 1500m to 500m")
