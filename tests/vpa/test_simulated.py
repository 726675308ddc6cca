"""Changes played where vertical autoscalers write into pods: the next pod is the one that explain computes."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec import structs
from vpa.test_effects import effects_of, quota, store_of
from vpa.test_reading import REQUEST, explained, values

from kubectl_kres.admission.base.server import Server
from kubectl_kres.model.kinds import BY_KIND
from kubectl_kres.model.objects import decode_object, to_wire
from kubectl_kres.reports.changes.compare import report
from kubectl_kres.reports.changes.report import ChangeReport, WorkloadChange
from kubectl_kres.simulate.change import Apply, Delete, Evict, Patch, PlacedStep, ScaleStep, Step
from kubectl_kres.simulate.cluster import simulate_steps
from kubectl_kres.store.store import Store
from kubectl_kres.vpa.model import PodDisruptionBudget
from kubectl_kres.vpa.reports.updater_run import Eviction
from kubectl_kres.vpa.rules.updater import healthy_pods

KIND = "VerticalPodAutoscaler"
ROOMY = quota({"requests.cpu": "2500m"}, {"requests.cpu": "400m"})


def played(store: Store, *steps: Step, replica_set: dict[str, Any] | None = None) -> ChangeReport:
    store.add("ReplicaSet", decode_object(replica_set or REPLICA_SET, BY_KIND["ReplicaSet"].struct))
    return report(simulate_steps(store, [PlacedStep(step, "shop") for step in steps], Server(), ["shop"]))


CONTAINER = {"name": "app", "image": "img", "resources": {
    "requests": {"cpu": "100m", "memory": "64Mi"}, "limits": {"cpu": "200m", "memory": "128Mi"},
}}  # fmt: skip
REPLICA_SET: dict[str, Any] = {
    "kind": "ReplicaSet",
    "metadata": {
        "name": "web-5d4f", "namespace": "shop",
        "annotations": {"deployment.kubernetes.io/desired-replicas": "4"},
        "ownerReferences": [{"kind": "Deployment", "name": "web", "controller": True}],
    },
    "spec": {"replicas": 4, "template": {"spec": {"containers": [CONTAINER]}}},
}  # fmt: skip


def web(change: ChangeReport) -> WorkloadChange:
    return next(each for each in change.workloads if each.subject.kind == "Deployment")


def test_more_replicas_come_in_the_size_that_it_recommends() -> None:
    """2500m less 400m hold four pods of 500m, not twenty-one of the template's."""
    change = web(played(store_of(ROOMY), ScaleStep("Deployment", "web", 12)))
    assert change.after is not None
    assert change.after.pods == 8
    assert "requested: requests.cpu=500m, used: requests.cpu=2400m" in change.refusals[0]
    alone = web(played(store_of(ROOMY, hooks=()), ScaleStep("Deployment", "web", 12)))
    assert alone.after is not None
    assert alone.after.pods == 12


def test_its_end_changes_the_next_pod() -> None:
    change = web(played(store_of(), Delete(KIND, "web")))
    requests = {value.path: (value.before, value.after) for value in change.resized}
    assert requests["app.requests.cpu"] == ("500m", "100m")


def test_another_recommendation_is_what_the_next_pod_gets() -> None:
    """By a value, by a file with a status, and by one without, which leaves it."""
    target = {"containerName": "app", "target": {"cpu": "300m"}}
    status = {"recommendation": {"containerRecommendations": [target]}}
    spec = {"targetRef": {"kind": "Deployment", "name": "web"}}
    raw = {"apiVersion": "autoscaling.k8s.io/v1", "kind": KIND, "metadata": {"name": "web"}, "spec": spec}
    for step in (Patch(KIND, "web", {"status": status}), Apply({**raw, "status": status}, kept=True)):
        requests = {value.path: value.after for value in web(played(store_of(), step)).resized}
        assert requests["app.requests.cpu"] == "300m"
    assert played(store_of(), Apply(raw, kept=True)).workloads == ()


def test_a_limit_range_caps_it() -> None:
    limits = {"type": "Container", "max": {"cpu": "600m"}}
    raw = {"apiVersion": "v1", "kind": "LimitRange", "metadata": {"name": "r"}, "spec": {"limits": [limits]}}
    store = store_of()
    change = web(played(store, Apply(raw)))
    requests = {value.path: value.after for value in change.resized}
    stored = {**raw, "metadata": {"name": "r", "namespace": "shop"}}
    store.add("LimitRange", decode_object(stored, BY_KIND["LimitRange"].struct))
    assert requests["app.requests.cpu"] == values(explained(store))[REQUEST] == "300m"


def test_a_webhook_that_leaves_the_namespace_out_changes_nothing() -> None:
    selector = {"matchExpressions": [{"key": "kubernetes.io/metadata.name", "operator": "NotIn", "values": ["shop"]}]}
    hook = {"name": "vpa.k8s.io", "failurePolicy": "Ignore", "rules": [], "namespaceSelector": selector}
    change = web(played(store_of(ROOMY, hooks=(hook,)), ScaleStep("Deployment", "web", 12)))
    assert change.after is not None
    assert change.after.pods == 12


TIGHT = quota({"requests.cpu": "900m"}, {"requests.cpu": "400m"})
IN_PLACE = {"updateMode": "InPlaceOrRecreate"}


@pytest.mark.parametrize(
    ("more", "spec", "result"),
    [
        ((), {}, ("comes-back", 4, 0, 4, 0)),
        ((TIGHT,), {}, ("refused", 3, 1, 1, 2)),
        ((), {"hooks": ()}, ("again", 4, 0, 4, 0)),
        ((), {"updatePolicy": IN_PLACE}, ("comes-back", 0, 4, 0, 0)),
        ((TIGHT,), {"updatePolicy": IN_PLACE}, ("refused", 2, 2, 0, 2)),
        ((), {"updatePolicy": {"minReplicas": 5}}, ("too-few", 0, 4, 0, 0)),
        ((TIGHT,), {"updatePolicy": {"minReplicas": 3}}, ("refused", 3, 1, 1, 2)),
    ],
)
def test_an_eviction_ends_as_explain_says(more: tuple[Any, ...], spec: dict[str, Any], result: tuple[Any, ...]) -> None:
    """One is played with all other controllers, the other counted: as many pods are old, new and missing."""
    played_out = played(store_of(*more, **spec), Evict(KIND, "web")).steps[0].parts[Eviction.KEY]
    counted = effects_of(store_of(*more, **spec)).eviction
    for eviction in (played_out, counted):
        assert eviction is not None
        ended = (eviction.result, eviction.evicted, eviction.kept, eviction.recreated, eviction.missing)
        assert ended == result
        assert bool(eviction.message) is (eviction.result == "refused")


@pytest.mark.parametrize(
    ("requirement", "result"),
    [
        (("cpu", "TargetHigherThanRequests"), "comes-back"),
        (("cpu", "TargetLowerThanRequests"), "held"),
        (("nvidia.com/gpu", "TargetHigherThanRequests"), "held"),
    ],
)
def test_eviction_requirements_keep_pods(requirement: tuple[str, str], result: str) -> None:
    resource, direction = requirement
    wanted = [{"resources": [resource], "changeRequirement": direction}]
    spec = {"updatePolicy": {"evictionRequirements": wanted}}
    for eviction in (
        played(store_of(**spec), Evict(KIND, "web")).steps[0].parts[Eviction.KEY],
        effects_of(store_of(**spec)).eviction,
    ):
        assert eviction is not None
        assert (eviction.result, eviction.held) == (result, 4 if result == "held" else 0)


def test_an_eviction_after_another_step() -> None:
    """A quota that grows first lets them all come back; of an autoscaler that is not there the server says so."""
    bigger = Patch("ResourceQuota", "limits", {"spec": {"hard": {"requests.cpu": "2"}}})
    eviction = played(store_of(TIGHT), bigger, Evict(KIND, "web")).steps[1].parts[Eviction.KEY]
    assert eviction is not None
    assert (eviction.result, eviction.recreated) == ("comes-back", 4)
    absent = played(store_of(), Evict(KIND, "none")).steps[0]
    assert (absent.allowed, absent.message) == (
        False, 'verticalpodautoscalers.autoscaling.k8s.io "none" not found'
    )  # fmt: skip


def budget(name: str = "b", status: dict[str, int] | None = None, **spec: Any) -> PodDisruptionBudget:
    selector = {"matchLabels": {"app": "web"}}
    raw = {
        "kind": "PodDisruptionBudget", "metadata": {"name": name, "namespace": "shop"},
        "spec": {"selector": selector, **spec}, "status": status or {},
    }  # fmt: skip
    found: PodDisruptionBudget = decode_object(raw, PodDisruptionBudget)
    return found


@pytest.mark.parametrize(
    ("budgets", "least"),
    [
        ([], 0),
        ([budget(minAvailable=3)], 3),
        ([budget(minAvailable="60%")], 3),
        ([budget(maxUnavailable=1)], 3),
        ([budget(maxUnavailable="50%")], 2),
        ([budget(minAvailable=1), budget("c", minAvailable=1)], 4),
        # counted over this controller's four pods and four others
        ([budget(minAvailable=6, status={"currentHealthy": 8, "desiredHealthy": 6, "expectedPods": 8})], 2),
        ([budget(minAvailable=6, status={"currentHealthy": 7, "desiredHealthy": 6, "expectedPods": 8})], 3),
    ],
)
def test_budgets_want_pods_to_run(budgets: list[PodDisruptionBudget], least: int) -> None:
    assert healthy_pods(budgets, {"app": "web"}, 4, 4).least == least
    assert healthy_pods(budgets, {"app": "other"}, 4, 4).least == 0


def labelled(store: Store, *budgets: PodDisruptionBudget) -> Store:
    """The store with a label at the pods, and budgets that select them."""
    for pod in list(store.all("Pod", "shop")):
        store.add("Pod", structs.replace(pod, metadata=structs.replace(pod.metadata, labels={"app": "web"})))
    deployment = store.get("Deployment", "web", "shop")
    raw = to_wire(deployment)
    raw["spec"]["template"]["metadata"] = {"labels": {"app": "web"}}
    store.add("Deployment", decode_object(raw, BY_KIND["Deployment"].struct))
    for each in budgets:
        store.add("PodDisruptionBudget", each)
    return store


@pytest.mark.parametrize(
    ("budgets", "result"),
    [
        ([budget(minAvailable=4)], ("budget", 0, 4, 0, 0)),
        ([budget(minAvailable=3)], ("comes-back", 4, 0, 4, 0)),
        ([budget(minAvailable=1), budget("c", minAvailable=1)], ("budget", 0, 4, 0, 0)),
    ],
)
def test_budgets_keep_pods_from_eviction(budgets: list[PodDisruptionBudget], result: tuple[Any, ...]) -> None:
    replica_set = {**REPLICA_SET["spec"]["template"], "metadata": {"labels": {"app": "web"}}}
    raw = {**REPLICA_SET, "spec": {**REPLICA_SET["spec"], "template": replica_set}}
    for eviction in (
        played(labelled(store_of(), *budgets), Evict(KIND, "web"), replica_set=raw).steps[0].parts[Eviction.KEY],
        effects_of(labelled(store_of(), *budgets)).eviction,
    ):
        assert eviction is not None
        ended = (eviction.result, eviction.evicted, eviction.kept, eviction.recreated, eviction.missing)
        assert ended == result
        assert eviction.budgets == tuple(each.metadata.name for each in budgets)


def test_a_budget_stops_what_a_quota_refuses() -> None:
    """The first comes back, the second does not, and then the budget keeps the others; without it two are missing."""
    store = labelled(store_of(TIGHT), budget(minAvailable=3))
    eviction = effects_of(store).eviction
    assert eviction is not None
    assert (eviction.result, eviction.evicted, eviction.missing) == ("refused", 2, 1)
