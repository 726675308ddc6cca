"""The bundled demo: that it is whole, holds what is promised of it, hides what must be hidden, and fits together."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from kubectl_kres.admission.base.draft import draft_pod
from kubectl_kres.admission.base.server import Server
from kubectl_kres.admission.pod.aggregate import sum_pod
from kubectl_kres.admission.request.new_pod import admit, policies_of
from kubectl_kres.model import scheduling
from kubectl_kres.model.kinds import BY_KIND
from kubectl_kres.model.objects import BOUND_PODS, Metadata, ObjectRef
from kubectl_kres.model.pod import Container, Pod
from kubectl_kres.policies.reports.needs import DECIDING
from kubectl_kres.quantity import Quantity, parse
from kubectl_kres.render.text.sentences import sentence_text
from kubectl_kres.reports.common.explanation import EvaluationOptions, Subject
from kubectl_kres.reports.explain.explain import explain
from kubectl_kres.snapshot import read as demo
from kubectl_kres.store.store import Store
from kubectl_kres.tekton.rules.base import config

LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
SOURCE = Path(__file__).parents[2] / "scripts" / "demo"


@pytest.fixture(scope="module")
def text() -> str:
    return demo.demo_path().read_text()


def pods(store: Store, namespace: str | None = None, app: str = "") -> list[Pod]:
    found = store.all("Pod", namespace)
    return [pod for pod in found if not app or (pod.metadata.labels or {}).get("app") == app]


def inits(pod: Pod, *, sidecar: bool) -> list[Container]:
    return [item for item in pod.spec.init_containers or () if (item.restart_policy == "Always") is sidecar]


def conditions(item: Any) -> dict[str, Any]:
    return {condition.type: condition for condition in item.status.conditions or ()}


def total(pod: Pod, resource: str = "memory") -> Quantity:
    return sum_pod(draft_pod(pod, Server()), "requests").get(resource, parse("0"))


def ended(pod: Pod) -> bool:
    return pod.status.phase in {"Succeeded", "Failed"}


def manifests() -> Iterator[dict[str, Any]]:
    for file in sorted(SOURCE.rglob("*.yaml")):
        yield from filter(None, yaml.safe_load_all(file.read_text()))


def test_header(text: str):
    header = json.loads(text.partition("\n")[0])
    assert (header["kres"], header["format"], header["context"]) == ("snapshot", 2, "demo")
    assert re.fullmatch(r"v1\.36\.\d+", header["server"])
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", header["time"])


def test_small_enough_to_ship_and_read(text: str):
    assert len(text) < 350_000
    assert text.isascii()


def test_everything_was_read(store: Store):
    assert store.gaps() == {}
    named = {need.name for need in store.coverages() if need.namespace}
    assert named == {config.DEFAULTS, config.FLAGS, config.INFO}
    listed = {kind for kind, known in BY_KIND.items() if known.listed} - {*DECIDING, "ServiceAccount"}
    views = {scheduling.POD, scheduling.NODES, BOUND_PODS}
    assert {need.kind for need in store.coverages() if not need.namespace} == listed | views
    assert 40 <= len(pods(store)) <= 70


def test_no_values_of_the_environment(text: str):
    found = [variable for item in manifests() for variable in variables(item)]
    hidden = {variable[part] for variable in found for part in ("name", "value")}
    assert len(hidden) >= 6
    assert [word for word in (*hidden, "env", "127.0.0.1", "/tmp/", "/root") if word in text] == []


def variables(value: Any) -> Iterator[dict[str, Any]]:
    """Every entry of an ``env`` in a manifest."""
    if isinstance(value, dict):
        yield from value.get("env", ())
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            yield from variables(item)


def test_all_that_was_applied_is_there(store: Store):
    there = {(kind, item.metadata.namespace, item.metadata.name) for kind in store.kinds() for item in store.all(kind)}
    for item in manifests():
        metadata = item["metadata"]
        if item["kind"] in BY_KIND and item["kind"] not in DECIDING:
            assert (item["kind"], metadata.get("namespace", ""), metadata["name"]) in there


def test_two_limit_ranges_conflict(store: Store):
    ranges = list(store.all("LimitRange", "shop"))
    assert [item.metadata.name for item in ranges] == ["defaults", "legacy-defaults"]
    assert len({item.spec.limits[0].default_request["memory"] for item in ranges}) == 2
    assert len({item.spec.limits[0].default["cpu"] for item in ranges}) == 2


def test_quotas_are_near_full(store: Store):
    status = store.get("ResourceQuota", "team", "shop").status
    used, hard = (parse(values["requests.memory"]).value() for values in (status.used, status.hard))
    assert 0.9 < used / hard < 1
    full = store.get("ResourceQuota", "best-effort", "batch").status
    assert full.used == full.hard


@pytest.mark.parametrize(("namespace", "quota"), [("shop", "team"), ("checkout", "team"), ("payments", "team")])
def test_quotas_add_up(store: Store, namespace: str, quota: str):
    """What the quota controller counted is the sum over the pods, the deferred resize as asked for."""
    counted = [total(pod) for pod in pods(store, namespace) if not ended(pod)]
    used = store.get("ResourceQuota", quota, namespace).status.used
    assert sum(quantity.value() for quantity in counted) == parse(used["requests.memory"]).value()


def test_scopes_of_quotas(store: Store):
    specs = [quota.spec for quota in store.all("ResourceQuota", "batch")]
    assert {scope for spec in specs for scope in spec.scopes or ()} == {"BestEffort", "Terminating"}
    [selector] = [spec.scope_selector for spec in specs if spec.scope_selector]
    assert selector.match_expressions[0].scope_name == "PriorityClass"


@pytest.mark.parametrize(
    ("namespace", "kind", "name", "reason"),
    [
        ("checkout", "ReplicaSet", "checkout", "exceeded quota: team, requested: requests.memory=1Gi, used: "),
        ("checkout", "ReplicaSet", "fraud-model", "maximum memory usage per Container is 4Gi, but limit is 6Gi"),
        ("checkout", "ReplicaSet", "receipts", "failed quota: cpu-budget: must specify limits.cpu for: printer"),
        (
            "ml-notebooks",
            "ReplicaSet",
            "notebook-hub",
            "exceeded quota: capsule-pool-ml-compute, requested: requests.memory=2Gi, used: requests.memory=0, ",
        ),
        ("batch", "Job", "thumbnails", "exceeded quota: best-effort, requested: pods=1, used: pods=4, limited: pods=4"),
    ],
)
def test_refused_workloads(store: Store, namespace: str, kind: str, name: str, reason: str):
    """Each has its event, and the engine gives the very answer that the server gave."""
    events = [
        event
        for event in store.all("Event", namespace)
        if event.reason == "FailedCreate" and event.involved_object.name.startswith(name)
    ]
    assert events
    pattern = re.compile(r'(?:\(combined from similar events\): )?Error creating: (pods "(.*?)" is forbidden: (.*))')
    policies = policies_of(*(store.all(policy, namespace) for policy in ("LimitRange", "ResourceQuota")))
    for event in events:
        said, pod, why = pattern.fullmatch(event.message).groups()
        assert why.startswith(reason)
        template = store.get(kind, event.involved_object.name, namespace).spec.template
        sent = Pod(Metadata(name=pod, namespace=namespace), template.spec)
        assert [outcome.message for outcome in admit(sent, policies, Server())] == [said]


def test_the_refused_rollout_still_has_its_old_pods(store: Store):
    deployment = store.get("Deployment", "checkout", "checkout")
    failure = conditions(deployment)["ReplicaFailure"]
    assert (failure.status, failure.reason) == ("True", "FailedCreate")
    assert deployment.status.ready_replicas == deployment.spec.replicas == 3
    live = {pod.spec.containers[0].resources.requests["memory"] for pod in pods(store, "checkout", "checkout")}
    assert live == {"512Mi"}
    assert deployment.spec.template.spec.containers[0].resources.requests["memory"] == "1Gi"


@pytest.mark.parametrize(
    "holds",
    [
        pytest.param(lambda pod: inits(pod, sidecar=True), id="a sidecar"),
        pytest.param(lambda pod: inits(pod, sidecar=False), id="an init container"),
        pytest.param(lambda pod: pod.spec.resources and pod.spec.resources.limits, id="pod-level resources"),
        pytest.param(lambda pod: pod.status.qos_class == "Guaranteed", id="guaranteed"),
        pytest.param(lambda pod: pod.status.qos_class == "BestEffort", id="best effort"),
        pytest.param(lambda pod: pod.spec.overhead and pod.spec.runtime_class_name == "sandbox", id="overhead"),
        pytest.param(lambda pod: pod.spec.priority_class_name == "urgent", id="a priority class"),
        pytest.param(lambda pod: pod.spec.active_deadline_seconds, id="a deadline"),
        pytest.param(lambda pod: not pod.metadata.owner_references, id="a bare pod"),
        pytest.param(lambda pod: pod.status.phase == "Succeeded", id="done"),
        pytest.param(lambda pod: pod.status.reason == "Evicted" and pod.status.phase == "Failed", id="evicted"),
        pytest.param(
            lambda pod: any(
                status.restart_count and status.last_state.terminated.reason == "OOMKilled"
                for status in pod.status.container_statuses or ()
            ),
            id="out of memory",
        ),
    ],
)
def test_pods_of_each_sort(store: Store, holds: Callable[[Pod], Any]):
    assert any(holds(pod) for pod in pods(store))


def test_an_init_container_outweighs_its_app(store: Store):
    [pod] = pods(store, "payments", "settlement")
    [init] = inits(pod, sidecar=False)
    assert str(total(pod)) == init.resources.requests["memory"] == "2Gi"


def test_a_pod_that_fits_no_node(store: Store):
    [pod] = [pod for pod in pods(store) if not pod.spec.node_name and pod.metadata.namespace == "platform"]
    scheduled = conditions(pod)["PodScheduled"]
    assert (pod.status.phase, scheduled.status, scheduled.reason) == ("Pending", "False", "Unschedulable")
    assert scheduled.message.startswith("0/3 nodes are available: 3 Insufficient memory. ")
    assert scheduled.message in {event.message for event in store.all("Event", "platform")}


def test_nodes_are_explained(store: Store):
    """A pod whose request a LimitRange set: what was computed is what the real scheduler said."""
    waiting = store.get("Deployment", "gallery", "previews")
    assert waiting is not None
    subject = Subject(ObjectRef("Deployment", "gallery", "previews"), BY_KIND["Deployment"])
    explanation = explain(store, subject, EvaluationOptions(Server((1, 36))))
    nodes = explanation.scheduling
    assert nodes is not None and (nodes.nodes, nodes.fitting, nodes.complete) == (3, 0, True)
    assert nodes.sentence == nodes.stated
    [asked] = nodes.requests
    assert [(part.name, str(part.source and part.source.ref)) for part in asked.parts] == [
        ("app", "None"),
        ("proxy", "LimitRange/defaults"),
    ]
    assert "LimitRange/defaults" in sentence_text(explanation.fixes[0].text)


def test_every_word_of_the_run_state_is_there(store: Store):
    assert {"waits", "ended", "runs", "starting", "off"} == set(states(store))  # a TaskRun fails


def states(store: Store) -> Iterator[str]:
    for kind in ("Deployment", "Job", "StatefulSet", "Pod"):
        for item in store.all(kind):
            ref = ObjectRef(kind, item.metadata.name, item.metadata.namespace)
            explanation = explain(
                store, Subject(ref, BY_KIND[kind]), EvaluationOptions(Server((1, 36)), now=store.origin.time)
            )
            if explanation.run_state is not None:
                yield explanation.run_state.state


def test_no_node_holds_more_than_it_has(store: Store):
    """The deferred resize says what its node has and what the others take of it; that is so."""
    [deferred] = [pod for pod in pods(store) if "PodResizePending" in conditions(pod)]
    pending = conditions(deferred)["PodResizePending"]
    numbers = [int(number) for number in re.findall(r": (\d+)", pending.message)]
    assert (pending.reason, len(numbers)) == ("Deferred", 3)
    [status] = deferred.status.container_statuses
    assert status.allocated_resources["memory"] == status.resources.requests["memory"] == "1Gi"
    assert numbers[0] == total(deferred).value() == parse("4Gi").value()
    assert numbers[0] + numbers[1] > numbers[2]
    beside = [pod for pod in pods(store) if pod.spec.node_name and not ended(pod) and pod is not deferred]
    taken = {node: sum(total(pod).value() for pod in beside if pod.spec.node_name == node) for node in nodes(beside)}
    assert max(taken.values()) <= numbers[2]


def nodes(found: list[Pod]) -> set[str]:
    return {pod.spec.node_name for pod in found}


def test_a_resized_pod(store: Store):
    """Its spec differs from the template that made it, and its managers say how that came."""
    resized = [
        pod
        for pod in pods(store, "shop", "catalog")
        if any(entry.subresource == "resize" for entry in pod.metadata.managed_fields)
    ]
    [container] = resized[0].spec.containers
    template = store.get("Deployment", "catalog", "shop").spec.template.spec.containers[0]
    assert len(resized) == 1
    assert container.resources.requests["memory"] != template.resources.requests["memory"]
    assert resized[0].status.container_statuses[0].resources == container.resources


@pytest.mark.parametrize(
    ("namespace", "name", "app", "then"), [("checkout", "bounds", "pricing", "256Mi"), ("shop", "defaults", "", "")]
)
def test_limit_ranges_changed_by_somebody(store: Store, namespace: str, name: str, app: str, then: str):
    limits = store.get("LimitRange", name, namespace)
    assert "kubectl-edit" in {entry.manager for entry in limits.metadata.managed_fields}
    if app:
        made = {pod.spec.containers[0].resources.requests["memory"] for pod in pods(store, namespace, app)}
        assert made == {then}
        assert limits.spec.limits[0].default_request["memory"] != then


def test_what_was_applied_by_hand(store: Store):
    """Of the bare pod's last applied configuration only what answers need is kept."""
    annotation = store.get("Pod", "debug-shell", "platform").metadata.annotations[LAST_APPLIED]
    [container] = json.loads(annotation)["spec"]["containers"]
    assert container["resources"] == {"limits": {"cpu": "250m", "memory": "128Mi"}}


def test_a_pod_made_while_two_limit_ranges_compete(store: Store):
    """The one in place of the evicted pod: filled by either; the others by the one that there was."""
    requests = [pod.spec.containers[0].resources.requests["memory"] for pod in pods(store, "shop", "recommendations")]
    assert len(requests) == 3
    assert requests.count("128Mi") >= 2
    assert set(requests) <= {"128Mi", "192Mi"}


def test_revisions_of_a_stateful_set(store: Store):
    hashes = [pod.metadata.labels["controller-revision-hash"] for pod in pods(store, "platform", "queue")]
    revisions = {item.metadata.name: item for item in store.all("ControllerRevision", "platform")}
    assert len(hashes) == 3
    assert len(set(hashes)) == 2
    for pod in pods(store, "platform", "queue"):
        made = revisions[pod.metadata.labels["controller-revision-hash"]].data.spec.template
        assert made.spec.containers[0].resources == pod.spec.containers[0].resources


def test_an_agent_on_each_node(store: Store):
    agents = pods(store, "platform", "node-agent")
    assert len(agents) == len(nodes(agents)) == 3
    assert nodes(agents) == nodes(pods(store)) - {""}
