"""What is read of a cluster for vertical autoscalers, and what is said where it may not be."""

from __future__ import annotations

from typing import Any

import pytest
from vpa.test_effects import HOOK, store_of

from kubectl_kres.model.kinds import BY_KIND
from kubectl_kres.model.objects import ObjectRef, decode_object
from kubectl_kres.render.text.sentences import sentence_text
from kubectl_kres.reports.common.explanation import EvaluationOptions, Explanation, Subject
from kubectl_kres.reports.explain.explain import explain
from kubectl_kres.reports.pod.needs import list_read_requests
from kubectl_kres.store.store import Coverage, Origin, ReadRequest, Store

KIND, HOOKS = "VerticalPodAutoscaler", "MutatingWebhookConfiguration"
WEB = Subject(ObjectRef("Deployment", "web", "shop"), BY_KIND["Deployment"])


def asks_for_autoscalers(store: Store) -> bool:
    return ReadRequest(KIND, "shop", required=False) in list_read_requests(store, WEB)


@pytest.mark.parametrize(
    ("hooks", "state", "asks"),
    [((), "read", False), ((HOOK,), "read", True), ((), "denied", True), ((), "failed", True), ((), "unread", False)],
)
def test_autoscalers_are_read_where_the_webhook_may_be(hooks: tuple[Any, ...], state: Any, asks: bool) -> None:
    store = store_of(hooks=hooks)
    store.cover(ReadRequest(HOOKS), Coverage(state))
    assert asks_for_autoscalers(store) is asks


def test_nothing_is_asked_of_files_and_snapshots_without_them() -> None:
    assert not asks_for_autoscalers(Store(Origin("snapshot")))
    assert not asks_for_autoscalers(Store(Origin("files")))


def explained(store: Store, subject: Subject = WEB) -> Explanation:
    return explain(store, subject, EvaluationOptions())


def values(explanation: Explanation) -> dict[str, str | None]:
    return {value.path: value.value for container in explanation.containers for value in container.values}


REQUEST = "spec.containers[0].resources.requests[cpu]"


def test_who_may_not_read_them_is_told_so() -> None:
    """The verdict may be another one."""
    store = store_of()
    store.remove(KIND, "web", "shop")
    store.cover(ReadRequest(KIND, "shop"), Coverage("denied", code=403, reason="Forbidden", message="forbidden"))
    explanation = explained(store)
    assert explanation.verdict.outcome.endswith("as-far-as-seen")
    assert [unseen.kind for unseen in explanation.unread if unseen.kind == KIND] == [KIND]
    assert values(explanation)[REQUEST] == "100m"


@pytest.mark.parametrize(
    ("hooks", "state", "code", "request_"),
    [
        ((HOOK,), "read", "vpa/fails-open", "500m"),
        (({**HOOK, "failurePolicy": "Fail"},), "read", "vpa/fails-closed", "500m"),
        ((), "read", "vpa/not-registered", "100m"),
        ((), "denied", "vpa/registered", "500m"),
        (({**HOOK, "namespaceSelector": {"matchLabels": {"a": "b"}}},), "read", "vpa/not-registered", "100m"),
    ],
)
def test_it_is_said_which_pod_comes(hooks: tuple[Any, ...], state: Any, code: str, request_: str) -> None:
    store = store_of(hooks=hooks)
    store.cover(ReadRequest(HOOKS), Coverage(state))
    explanation = explained(store)
    assert values(explanation)[REQUEST] == request_
    assert [assumed.code for assumed in explanation.assumptions if assumed.code.startswith("vpa/")] == [code]


def test_the_next_pod_of_a_live_one_gets_it() -> None:
    """A pod that was made before the recommendation has another value than the next one would get."""
    pod = Subject(ObjectRef("Pod", "web-5d4f-0", "shop"), BY_KIND["Pod"])
    explanation = explained(store_of(), pod)
    (value,) = [value for container in explanation.containers for value in container.values if value.path == REQUEST]
    assert (value.live, value.value, value.rule) == ("100m", "500m", "vpa/target")


def test_an_amount_that_does_not_parse_is_left_out_in_one_line() -> None:
    store = store_of()
    broken = {"containerName": "app", "target": {"cpu": "much"}}
    raw = {
        "metadata": {"name": "web", "namespace": "shop"}, "spec": {"targetRef": {"kind": "Deployment", "name": "web"}},
        "status": {"recommendation": {"containerRecommendations": [broken]}},
    }  # fmt: skip
    store.add(KIND, decode_object(raw, BY_KIND[KIND].struct))
    explanation = explained(store)
    assert values(explanation)[REQUEST] == "100m"
    (text,) = [
        sentence_text(assumed.text) for assumed in explanation.assumptions if assumed.code == "policy/unparsable"
    ]
    assert text.startswith("VerticalPodAutoscaler/web is left out: status.recommendation.containerRecommendations[0]")


def test_another_owner_is_let_alone() -> None:
    store = store_of()
    raw = {
        "kind": "Deployment", "metadata": {"name": "other", "namespace": "shop"},
        "spec": {"template": {"spec": {"containers": [{"name": "app", "image": "img"}]}}},
    }  # fmt: skip
    store.add("Deployment", decode_object(raw, BY_KIND["Deployment"].struct))
    explanation = explained(store, Subject(ObjectRef("Deployment", "other", "shop"), BY_KIND["Deployment"]))
    assert REQUEST not in values(explanation)
    assert not any(assumed.code.startswith("vpa/") for assumed in explanation.assumptions)


def test_a_released_replica_set_is_none_of_its_deployment() -> None:
    """Named like one of the Deployment, it has no owner: the autoscaler of the Deployment is not about its pods."""
    store = store_of()
    template = {"spec": {"containers": [{"name": "app", "image": "img"}]}}
    raw = {"kind": "ReplicaSet", "metadata": {"name": "web-5d4f", "namespace": "shop"}, "spec": {"template": template}}
    subject = Subject(ObjectRef("ReplicaSet", "web-5d4f", "shop"), BY_KIND["ReplicaSet"])
    store.add("ReplicaSet", decode_object(raw, BY_KIND["ReplicaSet"].struct))
    assert REQUEST not in values(explained(store, subject))
    owned = {**raw["metadata"], "ownerReferences": [{"kind": "Deployment", "name": "web", "controller": True}]}
    store.add("ReplicaSet", decode_object({**raw, "metadata": owned}, BY_KIND["ReplicaSet"].struct))
    assert values(explained(store, subject))[REQUEST] == "500m"
