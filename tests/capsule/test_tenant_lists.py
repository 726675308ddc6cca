"""What a Tenant's classes, lists and cordon make of pods and claims, as people ask about them."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from reports.stored import made, store_of

from kubectl_kres.capsule.reports.common.tenancy import cordoned_text
from kubectl_kres.capsule.reports.explain_tenant import explain_tenant
from kubectl_kres.capsule.text.tenant import list_text, tenant_lines
from kubectl_kres.model.kinds import BY_KIND
from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.provenance.journal import Set
from kubectl_kres.render.pod.explain import explanation_lines
from kubectl_kres.render.text.sentences import sentence_text
from kubectl_kres.reports.common.explanation import EvaluationOptions, Subject
from kubectl_kres.reports.explain.explain import analysis_of, explain
from kubectl_kres.reports.namespace.explain_policy import explain_policy
from kubectl_kres.reports.remedies.commands import add_access_flags
from kubectl_kres.store.store import Origin, Store

_OWNER = {"apiVersion": "capsule.clastix.io/v1beta2", "kind": "Tenant", "name": "bakery", "uid": "u"}


def _world(spec: dict[str, Any], *objects: dict[str, Any], labels: dict[str, str] | None = None) -> Store:
    space = {
        "kind": "Namespace",
        "metadata": {
            "name": "ns", "labels": {"capsule.clastix.io/tenant": "bakery", **(labels or {})},
            "ownerReferences": [_OWNER],
        },
    }  # fmt: skip
    tenant = {"kind": "Tenant", "metadata": {"name": "bakery"}, "spec": spec, "status": {"namespaces": ["ns"]}}
    return store_of(space, tenant, *objects)


def _deployment(image: str = "registry.example/loaf:1", **spec: Any) -> dict[str, Any]:
    containers = [{"name": "c", "image": image, "resources": {"limits": {"cpu": "100m", "memory": "64Mi"}}}]
    template = {"metadata": {"labels": {"app": "loaf"}}, "spec": {"containers": containers, **spec}}
    selector = {"matchLabels": {"app": "loaf"}}
    return made("Deployment", "loaf", spec={"replicas": 1, "selector": selector, "template": template})


def _class(kind: str, name: str, **fields: Any) -> dict[str, Any]:
    metadata = {"name": name, **{key: fields.pop(key) for key in ("annotations", "labels") if key in fields}}
    return {"kind": kind, "metadata": metadata, **fields}


_LOAF = Subject(ObjectRef("Deployment", "loaf", "ns"), BY_KIND["Deployment"])
_GOLDS = made(
    "ResourceQuota", "golds",
    spec={
        "hard": {"pods": "2"},
        "scopeSelector": {
            "matchExpressions": [{"scopeName": "PriorityClass", "operator": "In", "values": ["gold"]}]
        },
    },
    status={"hard": {"pods": "2"}, "used": {"pods": "2"}},
)  # fmt: skip


def _text(store: Store) -> str:
    lines = explanation_lines(explain(store, _LOAF, EvaluationOptions()), steps=False, width=1000)
    return "\n".join("".join(text for _, text in line) for line in lines)


def test_default_priority_class_is_counted_and_its_source_is_the_tenant() -> None:
    """Situation 31: a Deployment without a class, and a full quota for the Tenant's default one."""
    store = _world({"priorityClasses": {"default": "gold"}}, _class("PriorityClass", "gold"), _GOLDS, _deployment())
    (outcome,) = analysis_of(store, _LOAF, EvaluationOptions()).outcomes
    assert outcome.message.endswith("exceeded quota: golds, requested: pods=1, used: pods=2, limited: pods=2")
    given = [entry for entry in outcome.journal if isinstance(entry, Set) and entry.rule == "capsule/class-default"]
    assert [(entry.path, entry.after, str(entry.source)) for entry in given] == [
        ("spec.priorityClassName", "gold", "Tenant/bakery spec.priorityClasses.default")
    ]


def test_default_runtime_class_brings_its_overhead() -> None:
    box = _class("RuntimeClass", "box", handler="box", overhead={"podFixed": {"cpu": "250m"}})
    store = _world({"runtimeClasses": {"default": "box"}}, box, _deployment())
    (outcome,) = analysis_of(store, _LOAF, EvaluationOptions()).outcomes
    assert outcome.draft.overhead["cpu"].milli_value() == 250


@pytest.mark.parametrize(
    ("image", "fix"),
    [
        ("nginx:1.27", "an image whose name has no registry is always refused"),
        (
            "docker.io/library/nginx:1",
            '[{"op":"add","path":"/spec/containerRegistries/allowed/-","value":"docker.io"}]',
        ),
    ],
)
def test_forbidden_registry_is_refused_with_the_edit_of_the_tenant(image: str, fix: str) -> None:
    """Situation 33."""
    store = _world({"containerRegistries": {"allowed": ["registry.example"]}}, _deployment(image))
    found = explain(store, _LOAF, EvaluationOptions())
    text = f"Container image {image} registry is forbidden for the current Tenant: "
    assert found.verdict.outcome == "refused"
    assert text in found.verdict.message
    assert str(found.verdict.findings[0].source) == "Tenant/bakery spec.containerRegistries"
    assert "registry.example/" in sentence_text(found.fixes[0].text)
    assert any(fix in text for each in found.fixes for text in (sentence_text(each.text), *each.commands))
    assert all(each.proven for each in found.fixes)
    assert explain(_world({}, _deployment(image)), _LOAF, EvaluationOptions()).verdict.outcome == "admitted"


def test_pull_policy_that_the_server_gives_is_refused() -> None:
    store = _world({"imagePullPolicies": ["Always"]}, _deployment("registry.example/loaf:1"))
    found = explain(store, _LOAF, EvaluationOptions())
    assert "ImagePullPolicy IfNotPresent for container c is forbidden" in found.verdict.message
    assert explain(
        _world({"imagePullPolicies": ["Always"]}, _deployment("registry.example/loaf")), _LOAF, EvaluationOptions()
    ).verdict.outcome == "admitted"  # fmt: skip


def test_default_storage_class_replaces_that_of_the_cluster() -> None:
    """Situation 34: the quota of the Tenant's class is full."""
    slow = {"storageclass.kubernetes.io/is-default-class": "true"}
    counted = "fast.storageclass.storage.k8s.io/requests.storage"
    full = made("ResourceQuota", "disk", spec={"hard": {counted: "1Gi"}}, status={"hard": {counted: "1Gi"},
                "used": {counted: "1Gi"}})  # fmt: skip
    classes = (_class("StorageClass", "slow", annotations=slow), _class("StorageClass", "fast"))
    raw = made("PersistentVolumeClaim", "data", spec={
        "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}})  # fmt: skip
    ref = ObjectRef("PersistentVolumeClaim", "data", "ns")
    for spec, allowed in (({"storageClasses": {"default": "fast"}}, False), ({}, True)):
        store = _world(spec, full, *classes)
        store.add("PersistentVolumeClaim", msgspec.convert(raw, BY_KIND["PersistentVolumeClaim"].struct))
        store.files[ref] = "f.yaml" if isinstance(store.files, set) else store.files.update({ref: "f.yaml"})
        found = explain_policy(
            store, Subject(ref, BY_KIND["PersistentVolumeClaim"], raw, "f.yaml"), EvaluationOptions()
        )
        assert found.verdict.allowed is allowed
        if not allowed:
            assert "it names no storage class: Tenant/bakery spec.storageClasses.default gives it fast" in [
                sentence_text(each.text) for each in found.assumptions
            ]


def test_cordoned_tenant_is_said_of_what_its_users_send() -> None:
    """Situation 30."""
    store = _world({"cordoned": True}, _deployment(), labels={"projectcapsule.dev/cordoned": "true"})
    assert "Tenant/bakery is cordoned: what its users create, change or delete in namespace ns is refused" in _text(
        store
    )
    tenant = explain_tenant(store, Subject(ObjectRef("Tenant", "bakery"), BY_KIND["Tenant"]))
    assert "kubectl patch tenant bakery" in " ".join(tenant_lines(tenant, width=1000))
    assert "cordoned" not in _text(_world({}, _deployment()))


def test_node_selector_leads_to_the_tenant() -> None:
    """Situation 35."""
    text = _text(_world({"nodeSelector": {"pool": "green"}}, _deployment()))
    assert "the node selector pool=green, which Tenant/bakery spec.nodeSelector keeps" in text


def test_limit_range_of_the_tenant_is_edited_there() -> None:
    """Situation 38."""
    kept = made("LimitRange", "capsule-bakery-0", spec={"limits": [{"type": "Container", "max": {"memory": "32Mi"}}]})
    kept["metadata"].update({"labels": {"capsule.clastix.io/limit-range": "0"}, "ownerReferences": [_OWNER]})
    (part,) = explain(_world({}, kept, _deployment()), _LOAF, EvaluationOptions()).quota_parts["keptRanges"]
    assert (part.limit_range, str(part.source)) == ("capsule-bakery-0", "Tenant/bakery spec.limitRanges.items[0]")


def test_list_of_runtime_classes_without_selector_is_told_to_refuse_nothing() -> None:
    store = _world({"runtimeClasses": {"allowed": ["box"]}, "priorityClasses": {"default": "gold", "allowed": ["a"]}})
    lists = explain_tenant(store, Subject(ObjectRef("Tenant", "bakery"), BY_KIND["Tenant"])).lists
    assert [list_text(each) for each in lists] == [
        "priorityClasses: default gold; allowed: a",
        "runtimeClasses: lists box, but refuses none: without a selector every class matches",
    ]


def _fixes(store: Store) -> list[tuple[bool, list[tuple[str, str | None, str]], tuple[str, ...]]]:
    """Of each fix whether it was tried, its edits and its commands."""
    remedies = explain(store, _LOAF, EvaluationOptions()).fixes
    return [(fix.proven, [(edit.field, edit.from_, edit.to) for edit in fix.edits], fix.commands) for fix in remedies]


def test_fixes_of_all_refusals_by_lists_are_tried_together() -> None:
    """A class that is not allowed, and then a registry: what the workload can name, else what the Tenant can allow."""
    lists = {"priorityClasses": {"allowed": ["silver"]}, "containerRegistries": {"allowed": ["r.example"]}}
    classes = _class("PriorityClass", "gold"), _class("PriorityClass", "silver")
    store = _world(lists, *classes, _deployment("registry.example/loaf:1", priorityClassName="gold"))
    template = "spec.template.spec"
    (by_name, by_tenant) = _fixes(store)
    assert by_name == (
        True,
        [
            (f"{template}.containers[0].image", "registry.example/loaf:1", "r.example/loaf:1"),
            (f"{template}.priorityClassName", "gold", "silver"),
        ],
        (),
    )
    assert by_tenant[:2] == (
        True,
        [
            ("spec.containerRegistries.allowed", "r.example", "r.example, registry.example"),
            ("spec.priorityClasses.allowed", "silver", "silver, gold"),
        ],
    )
    (command,) = by_tenant[2]
    assert command.startswith("kubectl patch tenant bakery --type json -p ")


def test_a_fix_that_leaves_another_refusal_is_not_called_tried() -> None:
    """The quota for the class that is allowed is full: neither way is enough."""
    lists = {"priorityClasses": {"allowed": ["gold"]}}
    store = _world(
        lists, _class("PriorityClass", "gold"), _class("PriorityClass", "tin"), _GOLDS,
        _deployment(priorityClassName="tin"),
    )  # fmt: skip
    assert [edits for proven, edits, _ in _fixes(store) if proven] == [[
        ("spec.priorityClasses.allowed", "gold", "gold, tin"),
    ]]  # fmt: skip


def test_a_class_is_named_in_the_template_by_a_command() -> None:
    store = _world(
        {"priorityClasses": {"allowed": ["silver"]}}, _class("PriorityClass", "gold"),
        _class("PriorityClass", "silver"), _deployment(priorityClassName="gold"),
    )  # fmt: skip
    (_, _, (command,)), _ = _fixes(store)
    assert '"priorityClassName":"silver"' in command


def test_numbers_of_namespaces_and_objects_stand_on_the_page_of_a_tenant() -> None:
    store = _world({"namespaceOptions": {"quota": 1}})
    lines = tenant_lines(explain_tenant(store, Subject(ObjectRef("Tenant", "bakery"), BY_KIND["Tenant"])), width=100)
    text = "\n".join(lines)
    assert text.startswith("full: Tenant/bakery: 1 namespace")
    assert "namespaces: 1 of 1, a further one is refused" in text


def test_a_run_is_told_where_its_image_stands() -> None:
    """A tenant's user cannot change the Tenant: what the run can name comes first."""
    steps = [{"name": "a", "image": "docker.io/i:1", "command": ["x"]}]
    run = {
        "apiVersion": "tekton.dev/v1", "kind": "TaskRun", "metadata": {"name": "mix", "namespace": "ns"},
        "spec": {"taskSpec": {"steps": steps}},
    }  # fmt: skip
    store = _world({"containerRegistries": {"allowed": ["r.example"]}}, run)
    subject = Subject(ObjectRef("TaskRun", "mix", "ns"), BY_KIND["TaskRun"])
    by_run, by_tenant = explain(store, subject, EvaluationOptions()).fixes
    assert sentence_text(by_run.text).startswith("set image of step-a to r.example/i:1 in TaskRun/mix")
    assert "allow docker.io" in sentence_text(by_tenant.text)


def test_a_pod_that_stands_for_all_has_no_image_to_refuse() -> None:
    store = _world({"containerRegistries": {"allowed": ["r.example"]}, "imagePullPolicies": ["Never"]})
    found = explain_policy(store, Subject(ObjectRef("Namespace", "ns"), BY_KIND["Namespace"]), EvaluationOptions())
    assert found.pod_without_values is not None
    assert found.pod_without_values.verdict.outcome == "admitted"


def test_commands_about_a_tenant_carry_the_access_flags() -> None:
    """Those of sentences about a file's objects, of the cordon, and of fixes that were tried."""
    origin = Origin("cluster", flags="--context lab")
    (text,) = add_access_flags(origin, ["allow x: kubectl patch tenant bakery --type json -p '[]'"])
    assert text.endswith("-p '[]' --context lab")
    assert add_access_flags(origin, [text]) == (text,)
    assert cordoned_text(origin, "bakery").endswith("--context lab")
