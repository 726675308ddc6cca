"""What a webhook adds is seen in the pods of the namespace that it was asked about: the next pod is charged for it."""

from __future__ import annotations

from typing import Any

import pytest
from reports.stored import made, owned_by, store_of, subject

from kubectl_kres.render.pod.explain import lines
from kubectl_kres.render.text.sentences import sentence_text
from kubectl_kres.reports.common.explanation import EvaluationOptions, Explanation
from kubectl_kres.reports.explain.explain import explain

Raw = dict[str, Any]
APP = {"name": "app", "image": "i:1", "resources": {"limits": {"cpu": "1"}}}
PROXY = {"name": "proxy", "image": "p:1", "resources": {"limits": {"cpu": "2"}, "requests": {"cpu": "2"}}}
RULE = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}


def webhook(**more: Any) -> Raw:
    hooks = [{"name": "inject.mesh.test", "rules": [RULE], **more}]
    return {"kind": "MutatingWebhookConfiguration", "metadata": {"name": "mesh"}, "webhooks": hooks}


def beside(name: str, *containers: Raw) -> list[Raw]:
    """Another workload of the namespace with one pod, and who made it."""
    labels = {"app": name}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [APP]}}
    maker = made("ReplicaSet", f"{name}-1", spec={"replicas": 1, "template": template}, status={"replicas": 1})
    pod = made("Pod", f"{name}-1-a", spec={"containers": list(containers)}, status={"phase": "Running"}, labels=labels,
               **owned_by("ReplicaSet", f"{name}-1"))  # fmt: skip
    return [maker, pod]


def quota(hard: str, used: str) -> Raw:
    return made("ResourceQuota", "q", spec={"hard": {"limits.cpu": hard}},
                status={"hard": {"limits.cpu": hard}, "used": {"limits.cpu": used}})  # fmt: skip


def asked(*objects: Raw, labels: Raw | None = None) -> Explanation:
    """About a new Deployment of two pods in a file."""
    metadata = {"labels": {"app": "web", **(labels or {})}}
    spec = {"replicas": 2, "selector": {"matchLabels": {"app": "web"}}}
    raw = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"},
           "spec": {**spec, "template": {"metadata": metadata, "spec": {"containers": [APP]}}}}  # fmt: skip
    space = {"kind": "Namespace", "metadata": {"name": "ns"}}
    return explain(store_of(space, *objects), subject("Deployment/web", raw, "web.yaml"), EvaluationOptions())


def page_of(found: Explanation) -> str:
    return "\n".join(lines(found, whole=False, width=100))


def test_a_new_workload_is_charged_for_what_all_pods_of_the_namespace_have():
    found = asked(webhook(), *beside("a", APP, PROXY), *beside("b", APP, PROXY), quota("11", "6"))
    assert (found.verdict.outcome, found.verdict.fits, found.verdict.missing) == ("partly", 1, 2)
    [proxy] = [container for container in found.containers if container.name == "proxy"]
    [source] = {value.source for value in proxy.values if value.rule == "seen/added-on-create"}
    assert str(source) == "Container/proxy on 2 of 2 pods of the namespace"
    assert (sentence_text(found.fixes[0].text), found.fixes[0].proven) == ("raise limits.cpu of quota q to 12", True)
    assert "Container/proxy on 2 of 2 pods of the namespace" in page_of(found)


@pytest.mark.parametrize(
    "objects",
    [
        pytest.param([webhook()], id="no pod shows what it adds"),
        pytest.param([webhook(), *beside("a", APP, PROXY), *beside("b", APP)], id="not all pods have it"),
        pytest.param([webhook(), made("Pod", "alone", spec={"containers": [APP, PROXY]})], id="of a pod of nobody"),
    ],
)
def test_where_pods_do_not_show_it_the_answer_is_as_far_as_seen(objects: list[Raw]):
    assert asked(*objects, quota("11", "6")).verdict.outcome == "admitted-as-far-as-seen"


def test_a_webhook_that_is_not_asked_about_it_adds_nothing():
    selector = {"matchExpressions": [{"key": "inject", "operator": "NotIn", "values": ["false"]}]}
    pods = [*beside("a", APP, PROXY), quota("11", "6")]
    assert asked(webhook(objectSelector=selector), *pods).verdict.outcome == "partly"
    assert asked(webhook(objectSelector=selector), *pods, labels={"inject": "false"}).verdict.outcome == "admitted"
    elsewhere = {"matchLabels": {"mesh": "on"}}
    assert asked(webhook(namespaceSelector=elsewhere), *pods).verdict.outcome == "admitted"
    assert asked(*pods).verdict.outcome == "admitted"


def test_a_file_that_changes_nothing_of_refused_pods_leaves_the_servers_last_word():
    message = 'pods "web-1-x" is forbidden: exceeded quota: team, requested: pods=1, used: pods=4, limited: pods=4'
    condition = {"type": "ReplicaFailure", "status": "True", "reason": "FailedCreate", "message": message}
    template = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [APP]}}
    spec = {"replicas": 2, "selector": {"matchLabels": {"app": "web"}}, "template": template}
    stored = made(
        "Deployment", "web", spec=spec, status={"observedGeneration": 1, "conditions": [condition]}, generation=1
    )
    found = asked(stored)
    assert found.verdict.outcome == "blocked"
    assert found.verdict.blocked is not None
    assert found.verdict.blocked.message == message


def test_a_quota_is_raised_by_what_pods_get_not_by_what_the_template_asks_for():
    """Also where none of the workload's own exist: its ReplicaSet has the template alone."""
    template = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [APP]}}
    spec = {"replicas": 2, "selector": {"matchLabels": {"app": "web"}}, "template": template}
    stored = made("Deployment", "web", spec=spec, status={"observedGeneration": 1}, generation=1)
    revision = {"deployment.kubernetes.io/revision": "1"}
    replica_set = made("ReplicaSet", "web-1", spec=spec, annotations=revision, **owned_by("Deployment", "web"))
    objects = [stored, replica_set, webhook(), *beside("a", APP, PROXY), quota("5", "3")]
    found = explain(store_of(*objects), subject("Deployment/web"), EvaluationOptions())
    assert found.verdict.outcome == "refused"
    assert sentence_text(found.fixes[0].text) == "raise limits.cpu of quota q to 9 (6 is enough for the next pod)"
    assert not any("proxy" in str(getattr(edit, "field", "")) for fix in found.fixes for edit in fix.edits)
