"""Objects whose parts are shared are what they were."""

from __future__ import annotations

import msgspec
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import force_setattr

from kubectl_kres.model.objects import Condition, Metadata, OwnerReference
from kubectl_kres.model.pod import (
    Container,
    ContainerState,
    ContainerStatus,
    DetailedContainer,
    DetailedSpec,
    DetailedTemplate,
    Pod,
    PodSpec,
    PodStatus,
    ResourceRequirements,
    StateRunning,
)
from kubectl_kres.model.workload import Workload, WorkloadSpec
from kubectl_kres.store import sharing
from kubectl_kres.store.sharing import Sharing, Siblings, share_with

# Python takes true for 1, and so would compare requests of them.
lists = st.one_of(
    st.none(), st.dictionaries(st.sampled_from(["cpu", "memory"]), st.sampled_from(["1", 1, True]), max_size=2)
)
texts = st.sampled_from(["", "a", "b"])
resources = st.builds(ResourceRequirements, limits=lists, requests=lists)
labels = st.one_of(st.none(), st.dictionaries(st.sampled_from("xy"), texts, max_size=2))
metadata = st.builds(
    Metadata,
    name=texts,
    namespace=texts,
    labels=labels,
    annotations=labels,
    owner_references=st.one_of(st.none(), st.tuples(st.builds(OwnerReference, kind=texts, name=texts))),
)
statuses = st.builds(
    ContainerStatus,
    name=texts,
    resources=resources,
    allocated_resources=lists,
    state=st.one_of(st.none(), st.builds(ContainerState, running=st.builds(StateRunning))),
)
pods = st.builds(
    Pod,
    metadata=metadata,
    spec=st.builds(
        PodSpec, containers=st.tuples(st.builds(Container, name=texts, resources=resources)), node_name=texts
    ),
    status=st.builds(
        PodStatus,
        phase=texts,
        conditions=st.one_of(st.none(), st.tuples(st.builds(Condition, type=texts, status=texts))),
        container_statuses=st.one_of(st.none(), st.tuples(statuses)),
    ),
)
containers = st.tuples(
    st.builds(
        DetailedContainer, name=texts, resources=resources, ports=st.sampled_from([None, [{"containerPort": 80}]])
    )
)
workloads = st.builds(
    Workload,
    metadata=metadata,
    spec=st.builds(
        WorkloadSpec,
        selector=labels,
        template=st.one_of(
            st.none(),
            st.builds(DetailedTemplate, metadata=metadata, spec=st.builds(DetailedSpec, containers=containers)),
        ),
    ),
)


@given(st.lists(st.one_of(pods, workloads), max_size=6), st.sampled_from([0, 3, 20_000]))
def test_sharing_changes_nothing(items, most):
    before = [msgspec.json.encode(item) for item in items]
    shared = Sharing()
    sharing._MOST, kept = most, sharing._MOST
    try:
        for item in items:
            shared.share(item)
    finally:
        sharing._MOST = kept
    assert [msgspec.json.encode(item) for item in items] == before


@given(pods, pods)
def test_what_takes_the_place_of_an_object_is_what_it_was(old, new):
    found, kept = msgspec.convert(msgspec.to_builtins(new), Pod), msgspec.json.encode(old)
    share_with(old, new)
    assert new == found
    assert msgspec.json.encode(old) == kept


def pod(name: str, turn: str = "1") -> Pod:
    text = f"""{{"kind": "Pod", "apiVersion": "v1",
        "metadata": {{"name": "{name}", "namespace": "shop", "generateName": "web-", "labels": {{"app": "web"}},
            "annotations": {{"turn": "turn {turn}", "kept": "as it is"}}}},
        "spec": {{"nodeName": "node", "containers": [{{"name": "app", "resources": {{"requests": {{"cpu": "1"}}}}}}]}},
        "status": {{"conditions": [{{"type": "PodScheduled", "status": "False"}}], "containerStatuses": [
            {{"name": "app", "resources": {{"requests": {{"cpu": "1"}}}}, "state": {{"running": {{}}}}}}]}}}}"""
    return msgspec.json.decode(text, type=Pod)


@given(workloads, workloads)
def test_a_workload_that_takes_the_place_of_one_is_what_it_was(old, new):
    found, kept = msgspec.json.encode(new), msgspec.json.encode(old)
    share_with(old, new)
    assert msgspec.json.encode(new) == found
    assert msgspec.json.encode(old) == kept


def test_templates_of_workloads_are_one():
    text = """{"spec": {"template": {"metadata": {"labels": {"app": "web"}}, "spec": {
        "containers": [{"name": "app", "ports": [{"containerPort": 80}]}], "volumes": [{"name": "a"}]}}}}"""
    one, other = (msgspec.json.decode(text, type=Workload) for _ in range(2))
    shared = Sharing()
    for item in (pod("p"), one, other):
        shared.share(item)
    first, second = one.spec.template, other.spec.template
    assert first is not second
    assert first.metadata.labels is second.metadata.labels
    assert first.spec.containers is second.spec.containers
    assert first.spec.volumes is second.spec.volumes


def test_what_repeats_far_apart_is_one_as_well():
    """A node, a class of resources, an owner's kind: what lies between is forgotten, they are not."""
    shared = Sharing()
    sharing._MOST, kept = 8, sharing._MOST
    try:
        items = [pod(f"pod-{number}", f"{number}") for number in range(40)]
        for number, item in enumerate(items):
            force_setattr(item.metadata, "owner_references", (OwnerReference(kind=f"Kind-{number % 2}"),))
            shared.share(item)
    finally:
        sharing._MOST = kept
    first, last = items[0], items[-1]
    assert first.spec.node_name is last.spec.node_name
    assert first.status is last.status
    assert first.spec.containers[0].resources.requests is last.spec.containers[0].resources.requests
    assert items[1].metadata.owner_references is last.metadata.owner_references


def test_a_new_pod_is_like_the_last_one_of_its_maker_however_late_it_comes():
    first, second, third = (pod(name) for name in ("web-1", "web-2", "web-3"))
    siblings = Siblings()
    siblings.share(first)
    siblings.add_object(first)
    siblings.share(second)
    siblings.add_object(second)
    assert second.spec.containers is first.spec.containers
    assert second.metadata.generate_name is first.metadata.generate_name
    assert second.metadata.name == "web-2"
    siblings.remove_object(first)
    siblings.remove_object(second)
    siblings.share(third)
    assert third.spec.containers is not first.spec.containers


def test_a_status_that_differs_in_a_part_shares_the_rest():
    one, other = pod("one"), pod("one")
    force_setattr(other.status, "phase", "Failed")
    share_with(one, other)
    assert other.status is not one.status
    assert other.status.container_statuses is one.status.container_statuses
    assert other.spec is one.spec


def test_a_container_of_a_template_is_no_other():
    bare, detailed = Container(name="app"), DetailedContainer(name="app")
    one, other = (
        Pod(spec=PodSpec(containers=(bare,))),
        Workload(spec=WorkloadSpec(template=DetailedTemplate(spec=DetailedSpec(containers=(detailed,))))),
    )
    shared = Sharing()
    shared.share(one)
    shared.share(other)
    assert other.spec.template.spec.containers[0] is detailed


def test_equal_parts_are_one():
    one, other, third = pod("one"), pod("other"), pod("one", "2")
    shared = Sharing()
    shared.share(one)
    shared.share(other)
    share_with(one, third)
    for pod_ in (other, third):
        assert pod_.kind is one.kind
        assert pod_.metadata.labels is one.metadata.labels
        assert pod_.metadata.namespace is one.metadata.namespace
        assert pod_.metadata.annotations["kept"] is one.metadata.annotations["kept"]
        assert pod_.spec.containers is one.spec.containers
        assert pod_.status.conditions is one.status.conditions
        assert pod_.status.container_statuses is one.status.container_statuses
    assert one.status.container_statuses[0].resources is one.spec.containers[0].resources
    assert third.metadata.annotations == {"turn": "turn 2", "kept": "as it is"}
