"""What an autoscaler makes of pods, from a store of objects: the next pod, evictions, and what helps."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec import structs

from kubectl_kres.model.kinds import BY_KIND
from kubectl_kres.model.objects import ObjectRef, decode_object
from kubectl_kres.render.text.sentences import sentence_text
from kubectl_kres.reports.common.explanation import EvaluationOptions, Subject
from kubectl_kres.reports.explain.explain import explain
from kubectl_kres.store.store import Coverage, Origin, ReadRequest, Store
from kubectl_kres.vpa.reports.effects import VpaEffects, vpa_effects
from kubectl_kres.vpa.rules.updater import MIN_REPLICAS, Budget, Evictions, follow_evictions
from kubectl_kres.vpa.text.effects import effects_lines, summary

HOOK = {"name": "vpa.k8s.io", "failurePolicy": "Ignore", "rules": []}
SMALL = {"requests": {"cpu": "100m", "memory": "64Mi"}, "limits": {"cpu": "200m", "memory": "128Mi"}}
WANTED = {"cpu": "500m", "memory": "100Mi"}


_MAX_SMALL = {"containerPolicies": [{"containerName": "*", "maxAllowed": SMALL["requests"]}]}


def store_of(*more: dict[str, Any], pods: int = 4, hooks: tuple[Any, ...] = (HOOK,), **spec: Any) -> Store:
    """A Deployment of some replicas with its pods, an autoscaler that wants more for them, and further objects."""
    store = Store(Origin("cluster", version="v1.37.2"))
    template = {"spec": {"containers": [{"name": "app", "image": "img", "resources": SMALL}]}}
    recommendation = {"containerName": "app", "target": WANTED, "lowerBound": WANTED, "upperBound": WANTED}
    space = {"namespace": "shop"}
    owner = {"kind": "ReplicaSet", "name": "web-5d4f", "controller": True}
    items: list[dict[str, Any]] = [
        {"kind": "Deployment", "metadata": {"name": "web", **space}, "spec": {"replicas": 4, "template": template}},
        {
            "kind": "VerticalPodAutoscaler", "metadata": {"name": "web", **space},
            "spec": {"targetRef": {"kind": "Deployment", "name": "web"}, **spec},
            "status": {"recommendation": {"containerRecommendations": [recommendation]}},
        },
        {"kind": "MutatingWebhookConfiguration", "metadata": {"name": "vpa-webhook-config"}, "webhooks": list(hooks)},
        *(
            {
                "kind": "Pod", "metadata": {"name": f"web-5d4f-{place}", **space, "ownerReferences": [owner]},
                "spec": {**template["spec"], "nodeName": "n"}, "status": {"phase": "Running"},
            }
            for place in range(pods)
        ),
        *({**item, "metadata": {"name": "limits", **space}} for item in more),
    ]  # fmt: skip
    for item in items:
        store.add(item["kind"], decode_object(item, BY_KIND[item["kind"]].struct))
    for kind in ("LimitRange", "ResourceQuota", "Pod", "VerticalPodAutoscaler", "Deployment"):
        store.cover(ReadRequest(kind, "shop"), Coverage("read"))
    store.cover(ReadRequest("MutatingWebhookConfiguration"), Coverage("read"))
    return store


def effects_of(store: Store) -> VpaEffects:
    subject = Subject(ObjectRef("VerticalPodAutoscaler", "web", "shop"), BY_KIND["VerticalPodAutoscaler"])
    return vpa_effects(store, subject, EvaluationOptions())


def quota(hard: dict[str, str], used: dict[str, str]) -> dict[str, Any]:
    return {"kind": "ResourceQuota", "spec": {"hard": hard}, "status": {"hard": hard, "used": used}}


def text_of(effects: VpaEffects) -> str:
    return "\n".join(effects_lines(effects, color=False, width=200))


def test_all_come_back() -> None:
    effects = effects_of(store_of())
    assert effects.eviction is not None
    assert (effects.eviction.result, effects.eviction.evicted, effects.eviction.recreated) == ("comes-back", 4, 4)
    assert {value.rule for container in effects.containers for value in container.values} == {
        "vpa/target", "vpa/limit-ratio",
    }  # fmt: skip
    assert "it evicts 4 of 4 pods, and all come back" in text_of(effects)


def test_a_quota_refuses_those_that_come_back() -> None:
    """Each pod that goes frees 100m, each that comes takes 500m: of 900m one gets in for each four that went."""
    effects = effects_of(store_of(quota({"requests.cpu": "900m"}, {"requests.cpu": "400m"})))
    eviction = effects.eviction
    assert eviction is not None
    assert eviction.result == "refused"
    assert (eviction.evicted, eviction.kept, eviction.recreated, eviction.missing) == (3, 1, 1, 2)
    assert "exceeded quota: limits, requested: requests.cpu=500m" in eviction.message
    assert [sentence_text(remedy.text) for remedy in effects.fixes] == [
        "raise requests.cpu of quota limits to 2",
        "set maxAllowed[cpu] to 220m in VerticalPodAutoscaler/web",
        "set updateMode of VerticalPodAutoscaler/web to Initial: nothing is evicted then",
    ]
    assert all(remedy.proven for remedy in effects.fixes)
    assert "fix 2   set maxAllowed[cpu] to 220m in VerticalPodAutoscaler/web" in text_of(effects)


def test_without_its_webhook_it_never_ends() -> None:
    effects = effects_of(store_of(hooks=()))
    assert effects.registered is False
    assert effects.eviction is not None
    assert effects.eviction.result == "again"
    assert [(sentence_text(remedy.text), remedy.proven) for remedy in effects.fixes] == [
        ("register the webhook vpa.k8s.io again: its admission controller does so as it starts", False),
        ("set updateMode of VerticalPodAutoscaler/web to Initial: nothing is evicted then", True),
    ]
    assert {value.request for value in effects.eviction.again} == {"100m", "64Mi"}


@pytest.mark.parametrize(
    ("more", "result"),
    [
        ({"updatePolicy": {"updateMode": "Initial"}}, "off"),
        ({"updatePolicy": {"updateMode": "Off"}}, "off"),
        ({"updatePolicy": {"minReplicas": 5}}, "too-few"),
        ({"resourcePolicy": _MAX_SMALL}, "as-recommended"),
    ],
)
def test_nothing_is_evicted(more: dict[str, Any], result: str) -> None:
    effects = effects_of(store_of(**more))
    assert effects.eviction is not None
    assert (effects.eviction.result, effects.eviction.evicted) == (result, 0)


def test_pods_are_resized_in_place() -> None:
    effects = effects_of(store_of(updatePolicy={"updateMode": "InPlaceOrRecreate"}))
    assert effects.eviction is not None
    assert effects.eviction.resized
    refused = effects_of(
        store_of(
            quota({"requests.cpu": "700m"}, {"requests.cpu": "400m"}), updatePolicy={"updateMode": "InPlaceOrRecreate"}
        )
    ).eviction
    assert refused is not None
    assert "exceeded quota: limits, requested: requests.cpu=400m" in refused.in_place
    assert refused.evicted


def test_a_limit_by_ratio_is_beyond_a_maximum() -> None:
    policy = {"containerPolicies": [{"containerName": "*", "minAllowed": {"cpu": "400m"}}]}
    limits = {"kind": "LimitRange", "spec": {"limits": [{"type": "Container", "max": {"cpu": "600m"}}]}}
    effects = effects_of(store_of(limits, resourcePolicy=policy))
    assert effects.allowed is False
    assert effects.message.endswith("maximum cpu usage per Container is 600m, but limit is 800m")
    assert effects.eviction is not None
    assert (effects.eviction.result, effects.eviction.evicted, effects.eviction.missing) == ("refused", 2, 2)
    assert [(edit.field, edit.from_, edit.to) for remedy in effects.fixes for edit in remedy.edits] == [
        ("spec.resourcePolicy.containerPolicies[0].minAllowed[cpu]", "400m", "300m"),
        ("spec.resourcePolicy.containerPolicies[0].controlledValues", None, "RequestsOnly"),
    ]


def test_the_workload_has_the_same_remedies() -> None:
    """No other value of its template helps: the autoscaler sets them."""
    policy = {"containerPolicies": [{"containerName": "*", "minAllowed": {"cpu": "400m"}}]}
    limits = {"kind": "LimitRange", "spec": {"limits": [{"type": "Container", "max": {"cpu": "600m"}}]}}
    store = store_of(limits, resourcePolicy=policy)
    deployment = Subject(ObjectRef("Deployment", "web", "shop"), BY_KIND["Deployment"])
    texts = [sentence_text(remedy.text) for remedy in explain(store, deployment, EvaluationOptions()).fixes]
    assert texts == [sentence_text(remedy.text) for remedy in effects_of(store).fixes]
    assert texts[0] == "set minAllowed[cpu] to 300m in VerticalPodAutoscaler/web"


def test_a_remedy_has_no_command_where_another_owns_the_autoscaler() -> None:
    store = store_of(pods=1)
    vpa = store.get("VerticalPodAutoscaler", "web", "shop")
    labels = {"app.kubernetes.io/managed-by": "Helm"}
    store.add("VerticalPodAutoscaler", structs.replace(vpa, metadata=structs.replace(vpa.metadata, labels=labels)))
    (remedy,) = effects_of(store).fixes
    assert (remedy.commands, [edit.field for edit in remedy.edits]) == ((), ["spec.updatePolicy.minReplicas"])
    assert sentence_text(remedy.no_command_reason).startswith("Helm owns VerticalPodAutoscaler/web")


@pytest.mark.parametrize(
    ("wanted", "old", "least", "admitted", "result"),
    [
        (4, 4, None, 4, Evictions(4, 0, 4, 0)),
        (4, 4, None, 0, Evictions(2, 2, 0, 2)),
        (1, 1, None, 0, Evictions(0, 1, 0, 0)),
        (1, 1, 1, 0, Evictions(1, 0, 0, 1)),
        (3, 3, None, 0, Evictions(1, 2, 0, 1)),
        (3, 3, 3, 1, Evictions(2, 1, 1, 1)),
    ],
)
def test_evictions_stop_at_half(wanted: int, old: int, least: int | None, admitted: int, result: Evictions) -> None:
    """As the updater with its settings as shipped: half of the wanted pods, rounded down, may be away."""
    budget = Budget(wanted, MIN_REPLICAS if least is None else least)
    assert follow_evictions(budget, old, 0, lambda now: now.new < admitted) == result


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        ({}, "if the updater runs now, it evicts 4 of 4 pods, and all come back"),
        ({"updatePolicy": {"updateMode": "Off"}}, "nothing is evicted in this updateMode"),
        ({"updatePolicy": {"minReplicas": 5}}, "nothing is evicted: 4 running are fewer than minReplicas"),
        ({"resourcePolicy": _MAX_SMALL}, "nothing is evicted: 4 of 4 pods are within what it recommends"),
        (
            {"updatePolicy": {"updateMode": "InPlaceOrRecreate"}},
            "if the updater runs now, it resizes pods in place; the API server lets it",
        ),
    ],
)
def test_a_line_for_each_of_several(more: dict[str, Any], sentence: str) -> None:
    line = summary(effects_of(store_of(**more)), color=False)
    assert line.startswith("VerticalPodAutoscaler/web  Deployment/web  ")
    assert line.endswith(sentence)
