"""Who uses what, down to values: the parts of each node add up to it, and each value says what set it."""

from __future__ import annotations

import pytest
from golden.situation import filled
from reports.test_quota_report import NOW, pod, quota
from tui.driving import ML

from kubectl_kres.capsule.reports.common.pool_index import PoolIndex
from kubectl_kres.capsule.reports.pool.pool_report import pool_tree
from kubectl_kres.cli.args.options import Options
from kubectl_kres.cli.run_loop import read_yaml
from kubectl_kres.cli.source.offline import open_held
from kubectl_kres.model.kinds import BY_KIND, KINDS
from kubectl_kres.quantity import parse
from kubectl_kres.reports.common.explanation import EvaluationOptions, Subject
from kubectl_kres.reports.explain.explain import explain
from kubectl_kres.reports.quota.quota_report import VALUE, quota_reports
from kubectl_kres.reports.quota.usage_tree import UsageNode
from kubectl_kres.store.store import ReadRequest, Store

HARD = {"pods": "9", "requests.memory": "9Gi", "limits.memory": "9Gi"}


def tree(objects, hard=HARD, **spec) -> tuple[UsageNode, ...]:
    store = filled([quota(hard, hard, **spec), *objects])
    (found,) = quota_reports(store, [*store.all("ResourceQuota")], EvaluationOptions(now=NOW), by=VALUE)
    return found.tree


def parts_add_up(node: UsageNode) -> None:
    for name, text in node.usage.items():
        held = [one for one in node.children if name in one.usage]
        if held and any(one.set_by or one.children for one in held):
            assert sum(parse(one.usage[name]).nano for one in held) == parse(text).nano, (node.name, name)
    for one in node.children:
        parts_add_up(one)


def values(node: UsageNode) -> list[UsageNode]:
    return [node] if node.set_by else [value for one in node.children for value in values(one)]


@pytest.fixture(scope="module")
def demo() -> tuple[Store, EvaluationOptions]:
    """The example with pools and runs, all of it read."""
    source, _ = open_held(Options(snapshot=str(ML)))
    source.fill(ReadRequest(kind.kind) for kind in KINDS if kind.listed)
    return source.store, EvaluationOptions(now=source.store.origin.time, read_yaml=read_yaml)


def test_the_shares_of_all_workloads_are_those_of_the_report(demo):
    (store, ask), looked = demo, 0
    for held in store.all("ResourceQuota"):
        (found,) = quota_reports(store, [held], ask, by=VALUE)
        assert {one.name: one.usage for one in found.shares} == {one.name: one.usage for one in found.tree}
        assert {one.name: one.percents for one in found.shares} == {one.name: one.percents for one in found.tree}
        for node in found.tree:
            parts_add_up(node)
            looked += len(values(node))
    assert looked > 20


def test_a_value_is_set_by_what_explain_says(demo):
    (store, ask), looked = demo, 0
    for held in store.all("ResourceQuota"):
        (found,) = quota_reports(store, [held], ask, by=VALUE)
        pods = [
            one for node in found.tree for one in (node, *node.children) if one.subject and one.subject.kind == "Pod"
        ]
        for node in pods:
            known = {
                (one.role, one.name, f"{value.side}.{value.resource}"): value
                for one in explain(store, Subject(node.subject, BY_KIND["Pod"]), ask).containers
                for value in one.values
            }
            for value in values(node):
                for name, said in value.set_by.items():
                    told = known[value.role, value.name, name if "." in name else f"requests.{name}"]
                    assert parse(told.live) == parse(value.usage[name])
                    assert said.note == told.note
                    looked += 1
                    if not said.note:
                        alternatives = {(one.rule, one.source) for one in told.alternatives}
                        assert (said.rule, said.source) in {(told.rule, told.source), *alternatives}
    assert looked > 20


def test_a_pool_is_its_namespaces(demo):
    store, ask = demo
    scene = PoolIndex(store)
    found = pool_tree(scene, scene.pools["ml-compute"], ask)
    assert {node.name for node in found} == {f"Namespace/ml-{name}" for name in ("notebooks", "serving", "training")}
    for node in found:
        (held,) = node.children
        assert held.name.startswith("ResourceQuota/")
        assert held.hard
        assert held.usage == node.usage
        parts_add_up(node)


def test_what_a_scope_leaves_out_is_not_there():
    objects = [pod("a", priorityClassName="high"), pod("b")]
    scoped = {"scopeSelector": {"matchExpressions": [
        {"scopeName": "PriorityClass", "operator": "In", "values": ["high"]}]}}  # fmt: skip
    assert [node.name for node in tree(objects, **scoped)] == ["Pod/a"]


def test_the_init_container_that_decides_is_the_value():
    init = {"name": "migrate", "resources": {"requests": {"memory": "3Gi"}}}
    (node,) = tree([pod("a", "1Gi", initContainers=[init])])
    (value,) = node.children
    assert (value.role, value.name, value.usage) == ("init", "migrate", {"requests.memory": "3Gi"})


def test_overhead_is_a_part():
    (node,) = tree([pod("a", "1Gi", overhead={"memory": "128Mi"})])
    assert {value.role: value.usage["requests.memory"] for value in node.children} == {
        "container": "1Gi",
        "overhead": "128Mi",
    }
    parts_add_up(node)


def test_what_is_no_pod_has_no_values():
    claim = {
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": "data", "namespace": "shop"},
        "spec": {"resources": {"requests": {"storage": "5Gi"}}},
    }
    (node,) = tree([claim], {"requests.storage": "9Gi"})
    assert (node.name, node.usage, node.children) == ("PersistentVolumeClaim/data", {"requests.storage": "5Gi"}, ())
