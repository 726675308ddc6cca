"""Whether pods are being refused now: a condition says so, unless it is that of a ReplicaSet that is going."""

from __future__ import annotations

import pytest
from reports.stored import event, made, owned_by, store_of, subject, template

from kubectl_kres.render.pod.explain import lines
from kubectl_kres.reports.common.explanation import EvaluationOptions
from kubectl_kres.reports.explain.explain import explain
from kubectl_kres.reports.quota.denied import find_refusal

FAILING = [{"type": "ReplicaFailure", "status": "True", "reason": "FailedCreate", "message": "exceeded quota: q"}]
FULL = made("ResourceQuota", "q", spec={"hard": {"pods": "3"}}, status={"hard": {"pods": "3"}, "used": {"pods": "3"}})
TRIED = event("ReplicaSet/web-1", "FailedCreate", 'Error creating: pods "web-1-x" is forbidden: exceeded quota: q')


def deployment(conditions=(), existing: int = 2):
    status = {"replicas": existing, "conditions": conditions}
    return made("Deployment", "web", spec={"replicas": 2, **template()}, status=status)


def replica_set(revision: str, existing: int, conditions=()):
    annotations = {"deployment.kubernetes.io/revision": revision} if revision else {}
    status = {"replicas": existing, "conditions": conditions}
    return made("ReplicaSet", f"web-{revision}", spec={"replicas": 2, **template()}, status=status,
                annotations=annotations, **owned_by("Deployment", "web"))  # fmt: skip


@pytest.mark.parametrize(
    ("held", "failing"),
    [
        pytest.param([deployment()], False, id="events of a time that is over"),
        pytest.param([deployment(FAILING)], True, id="ReplicaSets were not read"),
        pytest.param([deployment(FAILING), replica_set("9", 2), replica_set("10", 0, FAILING)], True, id="the new one"),
        pytest.param([deployment(FAILING, 3), replica_set("9", 1, FAILING), replica_set("10", 2)], False, id="the old"),
        pytest.param([deployment(FAILING), replica_set("9", 1, FAILING), replica_set("10", 1)], True, id="not all new"),
        pytest.param([deployment(FAILING), replica_set("9", 1, FAILING), replica_set("", 2)], True, id="not known"),
    ],
)
def test_new_pods_do_not_come_while_they_are_refused(held, failing: bool):
    store = store_of(*held, FULL, TRIED)
    found = explain(store, subject("Deployment/web"), EvaluationOptions())
    assert not found.verdict.allowed
    assert found.verdict.outcome == ("refused" if failing else "full")
    assert next(lines(found)).startswith(
        ("refused: ",) if failing else ("full, but waits: ns/Deployment/web: not ready (2 of 2 pods); ",)
    )
    assert (find_refusal(store, subject("Deployment/web"), EvaluationOptions()) is not None) is failing


def test_missing_pods_need_no_condition():
    store = store_of(deployment(existing=1), FULL)
    row = find_refusal(store, subject("Deployment/web"), EvaluationOptions())
    assert row is not None
    assert row.replicas is not None
    assert (row.replicas.missing_pods, row.replicas.failing) == (1, False)
