"""Explanations of LimitRanges, quotas, namespaces, claims and services."""

from __future__ import annotations

import json

import pytest
from golden.situation import filled
from reports.stored import advised

from kubectl_kres.errors import NotFound
from kubectl_kres.model.kinds import BY_KIND
from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.render.text.sentences import sentence_text
from kubectl_kres.reports.common.explanation import EvaluationOptions, Subject
from kubectl_kres.reports.explain.explain import explain
from kubectl_kres.reports.namespace.explain_policy import explain_policy
from kubectl_kres.reports.namespace.policy_explanation import PolicyExplanation
from kubectl_kres.store.store import Coverage, ReadRequest


def limits(name, *items, **metadata):
    return {
        "kind": "LimitRange",
        "metadata": {"name": name, "namespace": "shop", **metadata},
        "spec": {"limits": [*items]},
    }


def container(**fields):
    return {"type": "Container", **fields}


def quota(hard, name="team"):
    status = {"hard": hard, "used": dict.fromkeys(hard, "0")}
    return {
        "kind": "ResourceQuota",
        "metadata": {"name": name, "namespace": "shop"},
        "spec": {"hard": hard},
        "status": status,
    }


NAMESPACE = {"kind": "Namespace", "metadata": {"name": "shop"}}


def about(kind, name, objects, *, files=(), denied=()) -> PolicyExplanation:
    store = filled(objects)
    namespace = "shop" if BY_KIND[kind].namespaced else ""
    for one in files:
        store.files[one] = "given.yaml"
    for need in denied:
        store.cover(need, Coverage("denied", f"{need.kind} is forbidden"))
    return explain_policy(store, Subject(ObjectRef(kind, name, namespace), BY_KIND[kind]), EvaluationOptions())


LOW, HIGH = limits("low", container(min={"cpu": "2"})), limits("high", container(max={"cpu": "1"}))


@pytest.mark.parametrize(
    ("objects", "expected"),
    [
        ([], []),
        ([limits("one", container(min={"cpu": "1"}, max={"cpu": "2"}))], []),
        (
            [LOW, HIGH],
            [
                "no cpu of a Container is at least 2 (LimitRange/low) and at most 1 (LimitRange/high)",
                "the default limit cpu 1 (LimitRange/high) is under the min 2 (LimitRange/low)",
                "the default request cpu 1 (LimitRange/high) is under the min 2 (LimitRange/low)",
                "the default request cpu 2 (LimitRange/low) is over the max 1 (LimitRange/high)",
                "the default request of cpu is 1 (high) or 2 (low): the server's order of LimitRanges is arbitrary",
            ],
        ),
        (
            [limits("a", container(default={"memory": "4Gi"})), limits("b", container(max={"memory": "2Gi"}))],
            [
                "the default limit memory 4Gi (LimitRange/a) is over the max 2Gi (LimitRange/b)",
                "the default request memory 4Gi (LimitRange/a) is over the max 2Gi (LimitRange/b)",
                "the default limit of memory is 4Gi (a) or 2Gi (b): the server's order of LimitRanges is arbitrary",
                "the default request of memory is 4Gi (a) or 2Gi (b): the server's order of LimitRanges is arbitrary",
            ],
        ),
        (
            [
                limits(
                    "a",
                    container(default={"cpu": "1"}, defaultRequest={"cpu": "100m"}, maxLimitRequestRatio={"cpu": "4"}),
                )
            ],
            [
                "the defaults of cpu, limit 1 and request 100m (LimitRange/a), "  # noqa: ISC004, one sentence
                "are further apart than the ratio 4 (LimitRange/a)"
            ],
        ),
        (
            [limits("a", container(min={"memory": "2Gi"}), {"type": "Pod", "max": {"memory": "1Gi"}})],
            ["a container needs at least 2Gi of memory (LimitRange/a), a whole pod may have 1Gi (LimitRange/a)"],
        ),
        (
            [quota({"limits.cpu": "4", "pods": "3"})],
            ["quota team requires limits.cpu on every container, but no LimitRange sets a default"],
        ),
        (
            [quota({"requests.cpu": "4", "cpu": "4", "limits.cpu": "4"}), limits("a", container(default={"cpu": "1"}))],
            [],
        ),
        (
            [quota({"requests.memory": "1Gi"}), limits("a", container(min={"memory": "2Gi"}))],
            ["a container needs at least 2Gi of memory (LimitRange/a), quota team allows 1Gi in total"],
        ),
    ],
)
def test_what_contradicts_what(objects, expected):
    found = about("Namespace", "shop", [NAMESPACE, *objects])
    assert [*map(sentence_text, found.contradictions)] == expected


def test_bands_are_the_tightest_of_all():
    objects = [
        limits("a", container(min={"cpu": "100m"}, max={"cpu": "4"}), {"type": "Pod", "max": {"cpu": "8"}}),
        limits("b", container(min={"cpu": "200m"}, max={"cpu": "6"}, maxLimitRequestRatio={"cpu": "3"})),
    ]
    found = about("Namespace", "shop", [NAMESPACE, *objects])
    shown = [(one.type, one.resource, one.low, one.high, one.ratio) for one in found.bands]
    assert shown == [("Container", "cpu", "200m", "4", "3"), ("Pod", "cpu", None, "8", None)]
    sources = [one and one.name for one in (found.bands[0].low_source, found.bands[0].high_source)]
    assert sources == ["b", "a"]


def test_a_namespace_says_what_a_container_gets_that_states_nothing():
    objects = [NAMESPACE, limits("a", container(default={"memory": "1Gi"})), quota({"requests.memory": "3Gi"})]
    found = about("Namespace", "shop", objects)
    assert found.pod_without_values is not None and found.pod_without_values.verdict.allowed is True
    values = {(one.side, one.resource): one.value for one in found.pod_without_values.containers[0].values}
    assert values == {("limits", "memory"): "1Gi", ("requests", "memory"): "1Gi"}
    assert [cost.fits for cost in found.pod_without_values.quotas] == [3]
    assert [(one.quota, one.names, one.unfilled) for one in found.demands] == [("team", ("requests.memory",), ())]


APPLIED = {"kind": "LimitRange", "spec": {"limits": [container(max={"cpu": "2"})]}}


@pytest.mark.parametrize(
    ("item", "applied", "expected"),
    [
        (
            container(max={"cpu": "2"}, default={"cpu": "2"}, defaultRequest={"cpu": "2"}),
            APPLIED,
            {
                "requests": ("spec.limits[0].max[cpu]", "from max, as no defaultRequest is written"),
                "limits": ("spec.limits[0].max[cpu]", "from max, as no default is written"),
            },
        ),
        (
            container(max={"cpu": "2"}),
            None,
            {
                "requests": ("spec.limits[0].max[cpu]", "from max, as no defaultRequest is written"),
                "limits": ("spec.limits[0].max[cpu]", "from max, as no default is written"),
            },
        ),
        (
            container(max={"cpu": "2"}, default={"cpu": "2"}, defaultRequest={"cpu": "1"}),
            None,
            {
                "requests": ("spec.limits[0].defaultRequest[cpu]", ""),
                "limits": (
                    "spec.limits[0].default[cpu]",
                    "equal to max, which the server takes where no default is written",
                ),
            },
        ),
    ],
)
def test_where_a_default_came_from(item, applied, expected):
    key = "kubectl.kubernetes.io/last-applied-configuration"
    annotations = {key: json.dumps(applied)} if applied else {}
    found = about("LimitRange", "a", [limits("a", item, annotations=annotations)])
    assert {one.side: (one.source.field, one.derived) for one in found.defaults} == expected


def test_a_limit_range_is_explained_by_itself_and_at_odds_as_its_namespace_is():
    found = about("LimitRange", "high", [LOW, HIGH, quota({"limits.memory": "1Gi"})])
    assert len(found.bands) == 1
    assert sentence_text(found.contradictions[0]) == (
        "no cpu of a Container is at least 2 (LimitRange/low) and at most 1 (LimitRange/high)"
    )
    assert about("LimitRange", "high", [HIGH]).contradictions == ()
    assert found.pod_without_values is not None and found.pod_without_values.verdict.allowed is True


@pytest.mark.parametrize(
    ("kind", "raw", "message"),
    [
        (
            "LimitRange",
            limits("a", container(min={"cpu": "2"}, max={"cpu": "1"})),
            "min value 2 is greater than max value 1",
        ),
        ("ResourceQuota", {**quota({"pods": "-1"}, "a")}, "must be greater than or equal to 0"),
        (
            "ResourceQuota",
            {**quota({"pods": "1"}, "a"), "spec": {"hard": {"pods": "1"}, "scopes": ["Nonsense"]}},
            "unsupported scope",
        ),
        (
            "PersistentVolumeClaim",
            {
                "kind": "PersistentVolumeClaim",
                "metadata": {"name": "a", "namespace": "shop"},
                "spec": {"resources": {"requests": {"storage": "20Gi"}}},
            },
            "maximum storage usage per PersistentVolumeClaim is 10Gi, but request is 20Gi",
        ),
    ],
)
def test_objects_that_the_server_would_not_store(kind, raw, message):
    bounds = limits("size", {"type": "PersistentVolumeClaim", "max": {"storage": "10Gi"}})
    found = about(kind, "a", [raw, bounds], files=[ObjectRef(kind, "a", "shop")])
    assert found.verdict is not None and found.verdict.allowed is False
    assert message in found.verdict.message
    assert advised(found) == ("ask for at most 10Gi of storage",) if "maximum" in message else advised(found)


@pytest.mark.parametrize("filed", [True, False])
def test_the_server_warns_of_a_quota_from_a_file(filed):
    team = ObjectRef("ResourceQuota", "team", "shop")
    found = about(
        "ResourceQuota", "team", [quota({"requests.cpu": "2", "limits.cpu": "1"})], files=[team] if filed else ()
    )
    said = "ResourceQuota requests.cpu (2) should be less than limits.cpu (1)"
    assert found.warnings == ((said,) if filed else ())


@pytest.mark.parametrize(
    ("kind", "spec", "hard", "costs"),
    [
        (
            "PersistentVolumeClaim",
            {"resources": {"requests": {"storage": "2Gi"}}, "storageClassName": "gold"},
            {"requests.storage": "9Gi", "gold.storageclass.storage.k8s.io/requests.storage": "4Gi", "pods": "1"},
            {"requests.storage": "2Gi", "gold.storageclass.storage.k8s.io/requests.storage": "2Gi"},
        ),
        (
            "Service",
            {"type": "NodePort", "ports": [{"port": 1}, {"port": 2}]},
            {"services.nodeports": "4"},
            {"services.nodeports": "2"},
        ),
    ],
)
def test_what_claims_and_services_cost(kind, spec, hard, costs):
    raw = {"kind": kind, "metadata": {"name": "a", "namespace": "shop"}, "spec": spec}
    for files in ((), [ObjectRef(kind, "a", "shop")]):
        found = about(kind, "a", [raw, quota(hard)], files=files)
        (cost,) = found.costs
        assert (dict(cost.charge.requested), cost.fits, cost.counted) == (costs, 2, not files)
        assert found.verdict is not None and found.verdict.allowed is True


def test_what_is_not_there_or_may_not_be_read():
    with pytest.raises(NotFound, match='services "nope" not found'):
        about("Service", "nope", [])
    found = about("Namespace", "shop", [], denied=[ReadRequest("ResourceQuota")])
    assert (found.complete, [one.kind for one in found.unread]) == (False, ["ResourceQuota"])


@pytest.mark.parametrize(
    ("containers", "level", "lacking"),
    [
        ([("a", {"cpu": "1"}), ("b", {})], None, [{"requests.cpu": ("b",)}]),
        ([("a", {"cpu": "1"})], None, [{}]),
        ([("a", {})], {"requests": {"cpu": "1"}}, []),
    ],
)
def test_a_pod_says_what_must_be_stated(containers, level, lacking):
    spec = {"containers": [{"name": name, "resources": {"requests": requests}} for name, requests in containers]}
    raw = {
        "kind": "Pod",
        "metadata": {"name": "web", "namespace": "shop"},
        "spec": {**spec, **({"resources": level} if level else {})},
    }
    ref = ObjectRef("Pod", "web", "shop")
    found = explain(filled([quota({"requests.cpu": "4"})]), Subject(ref, BY_KIND["Pod"], raw), EvaluationOptions())
    assert [dict(one.missing) for one in found.demands] == lacking


DISTRIBUTED = "the TenantResource or GlobalTenantResource that distributes it"


@pytest.mark.parametrize(
    ("metadata", "told"),
    [
        ({"labels": {"projectcapsule.dev/managed-by": "resources"}},
         ("label projectcapsule.dev/managed-by=resources", DISTRIBUTED)),
        ({"labels": {"projectcapsule.dev/managed-by": "controller"}},
         ("label projectcapsule.dev/managed-by=controller", "its Tenant")),
        ({"labels": {"capsule.clastix.io/resources": "0"}}, ("label capsule.clastix.io/resources=0", DISTRIBUTED)),
        ({"ownerReferences": [{"kind": "Tenant", "name": "solar", "apiVersion": "capsule.clastix.io/v1beta2"}]},
         ("owned by Tenant/solar", "Tenant/solar")),
        ({"managedFields": [{"manager": "projectcapsule.dev/resource/tr/x", "operation": "Apply"}]},
         ("field manager projectcapsule.dev/resource/tr/x", DISTRIBUTED)),
        ({"ownerReferences": [{"kind": "Tenant", "name": "solar", "apiVersion": "other.io/v1"}]}, None),
        ({"labels": {"capsule.clastix.io/tenant": "solar"}}, None),
    ],
)  # fmt: skip
def test_a_limit_range_that_capsule_distributes_is_named_with_its_keeper(metadata, told):
    found = about("LimitRange", "low", [limits("low", container(min={"cpu": "2"}), **metadata), NAMESPACE])
    said = f"Capsule owns it ({told[0]}): edits are undone, or refused; change {told[1]} instead" if told else None
    assert [*map(sentence_text, found.warnings)] == ([said] if told else [])
