"""Another LocalQueue as a fix: tried in its own ClusterQueue, behind whoever stands there."""

from __future__ import annotations

from typing import Any

import pytest
from kueue.recorded import store_of

from kubectl_kres.model.kinds import BY_KIND
from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.render.text.sentences import sentence_text
from kubectl_kres.reports.common.explanation import Subject
from kubectl_kres.reports.common.system import turn_of

GROUP = "kueue.x-k8s.io/v1beta2"


def _queue(name: str, nominal: str, strategy: str) -> list[dict[str, Any]]:
    quota = {"coveredResources": ["cpu"], "flavors": [
        {"name": "f", "resources": [{"name": "cpu", "nominalQuota": nominal}]}]}  # fmt: skip
    active = {"type": "Active", "status": "True", "reason": "Ready", "message": ""}
    spec = {"namespaceSelector": {}, "queueingStrategy": strategy, "resourceGroups": [quota]}
    return [
        {"apiVersion": GROUP, "kind": "ClusterQueue", "metadata": {"name": f"c-{name}"}, "spec": spec,
         "status": {"conditions": [active]}},
        {"apiVersion": GROUP, "kind": "LocalQueue", "metadata": {"name": name, "namespace": "ns"},
         "spec": {"clusterQueue": f"c-{name}"}},
    ]  # fmt: skip


def _waiting(name: str, queue: str, cpu: str, since: str) -> list[dict[str, Any]]:
    """A suspended Job and its Workload."""
    pod = {"containers": [{"name": "a", "image": "a", "resources": {"requests": {"cpu": cpu}}}]}
    labels = {"kueue.x-k8s.io/queue-name": queue}
    owner = {"apiVersion": "batch/v1", "kind": "Job", "name": name, "uid": name, "controller": True}
    times = {"namespace": "ns", "creationTimestamp": f"2026-11-29T{since}:00Z"}
    return [
        {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name, "uid": name, "labels": labels, **times},
         "spec": {"suspend": True, "template": {"spec": pod}}, "status": {}},
        {"apiVersion": GROUP, "kind": "Workload",
         "metadata": {"name": f"job-{name}", "ownerReferences": [owner], **times},
         "spec": {"queueName": queue, "podSets": [{"name": "main", "count": 1, "template": {"spec": pod}}]},
         "status": {}},
    ]  # fmt: skip


@pytest.mark.parametrize(("strategy", "offered"), [("StrictFIFO", False), ("BestEffortFIFO", True)])
def test_a_queue_whose_head_waits_is_a_fix_only_where_others_may_pass_it(strategy: str, offered: bool):
    objects = [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "ns"}},
        {"apiVersion": GROUP, "kind": "ResourceFlavor", "metadata": {"name": "f"}, "spec": {}},
        *_queue("small", "1", "BestEffortFIFO"),
        *_queue("other", "4", strategy),
        *_waiting("head", "other", "8", "08:00"),
        *_waiting("job", "small", "2", "09:00"),
    ]
    store = store_of({"objects": objects})
    turn = turn_of(store, Subject(ObjectRef("Job", "job", "ns"), BY_KIND["Job"]))
    assert turn is not None
    texts = [sentence_text(fix.text) for fix in turn.fixes]
    assert any(text.startswith("name LocalQueue other") for text in texts) is offered, texts
