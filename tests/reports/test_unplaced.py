"""Objects of files for which the cluster has no kind or no namespace."""

from __future__ import annotations

import pytest
from reports.stored import advised, limits, made, store_of, subject, template

from kubectl_kres.model.kinds import Kind
from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.model.workload import Workload
from kubectl_kres.render.text.sentences import sentence_text
from kubectl_kres.render.verdict.note import NOTHING
from kubectl_kres.reports.common.explanation import EvaluationOptions, Subject
from kubectl_kres.reports.explain.explain import explain
from kubectl_kres.reports.pod.needs import list_read_requests
from kubectl_kres.store.store import ReadRequest

POD = {**made("Pod", "a", spec={"containers": [{"name": "a", "image": "i"}]}), "apiVersion": "v1"}
PLACE = made("Namespace", "ns")
GONE = 'namespaces "ns" not found'


def filed(raw: dict, *, served: bool = True) -> Subject:
    """A workload as a file brings it, whatever its kind is called."""
    group, _, version = raw["apiVersion"].rpartition("/")
    kind = Kind(raw["kind"], (f"{raw['kind'].lower()}s",), group, version, struct=Workload)
    return Subject(ObjectRef(kind.kind, "a", "ns"), kind, raw, "a.yaml", is_served=served)


def workload(kind: str, version: str) -> dict:
    labels, policy = {"app": "a"}, {"restartPolicy": "Never"} if kind == "Job" else {}
    spec = template({"name": "a", "image": "i"}, **policy)
    spec["template"]["metadata"] = {"labels": labels}
    selector = {"selector": {"matchLabels": labels}} if kind == "Deployment" else {}
    return {**made(kind, "a", spec={**spec, **selector}), "apiVersion": version}


@pytest.mark.parametrize(
    ("stored", "refusal"),
    [((), GONE), ((PLACE,), ""), ((limits("l"),), "")],
    ids=["no namespace", "namespace", "something is in it"],
)
def test_a_namespace_that_does_not_exist(stored: tuple[dict, ...], refusal: str):
    found = explain(store_of(*stored), subject("Pod/a", POD, "a.yaml"), EvaluationOptions())
    assert found.verdict.message == refusal
    assert (found.verdict.code, found.verdict.allowed) == ((404, False) if refusal else (201, True))
    remedy = (
        "create the namespace first (kubectl create namespace ns), or name one that there is" if refusal else NOTHING
    )
    assert advised(found) == (remedy,)


def test_a_policy_of_the_files_is_no_sign_of_a_namespace():
    store = store_of(limits("l"))
    store.files[ObjectRef("LimitRange", "l", "ns")] = "a.yaml"
    assert explain(store, subject("Pod/a", POD, "a.yaml"), EvaluationOptions()).verdict.message == GONE


def test_a_namespace_that_may_not_be_read_is_taken_to_exist():
    found = explain(store_of(unread=("Namespace",)), subject("Pod/a", POD, "a.yaml"), EvaluationOptions())
    assert found.verdict.allowed and found.complete


def test_it_is_read_for_files_since_it_may_be_on_its_way_out():
    wanted = ReadRequest("Namespace", name="ns", required=False)
    assert wanted in list_read_requests(store_of(), subject("Pod/a", POD, "a.yaml"))
    assert wanted in list_read_requests(store_of(limits("l")), subject("Pod/a", POD, "a.yaml"))
    assert wanted not in list_read_requests(store_of(made("Pod", "a", spec={"containers": []})), subject("Pod/a"))


@pytest.mark.parametrize("kind", ["Pod", "Deployment"])
def test_a_namespace_that_is_being_deleted(kind: str):
    ending = {**PLACE, "status": {"phase": "Terminating"}}
    raw = POD if kind == "Pod" else workload(kind, "apps/v1")
    found = explain(store_of(ending, limits("l")), subject(f"{kind}/a", raw, "a.yaml"), EvaluationOptions())
    plural = {"Pod": "pods", "Deployment": "deployments.apps"}[kind]
    said = f'{plural} "a" is forbidden: unable to create new content in namespace ns because it is being terminated'
    assert (found.verdict.code, found.verdict.message) == (403, said)
    assert advised(found) == ("wait until namespace ns is gone and create it again, or name another one",)


def test_a_namespace_that_a_finalizer_holds_is_not_waited_for():
    text = "Some content in the namespace has finalizers remaining: keeper.example.org/hold in 1 resource instances"
    holding = {"type": "NamespaceFinalizersRemaining", "status": "True", "message": text}
    remaining = {"type": "NamespaceContentRemaining", "status": "True", "message": "configmaps. has 1 instances"}
    passed = {"type": "NamespaceDeletionDiscoveryFailure", "status": "False", "message": "discovered"}
    ending = {**PLACE, "status": {"phase": "Terminating", "conditions": [passed, remaining, holding]}}
    found = explain(store_of(ending, limits("l")), subject("Pod/a", POD, "a.yaml"), EvaluationOptions())
    (advice,) = advised(found)
    assert advice == f"clear what holds namespace ns, which does not go by itself ({text}), or name another one"


def test_an_object_that_exists_is_said():
    found = explain(store_of(PLACE, POD), subject("Pod/a", POD, "a.yaml"), EvaluationOptions())
    said = 'Pod/a exists: creating it is answered with 409 pods "a" already exists; '
    assert f"{said}this is the answer to applying the file" in [sentence_text(one.text) for one in found.assumptions]
    assert found.verdict.allowed


def test_the_files_own_faults_come_first():
    raw = {**POD, "spec": {"containers": [{"name": "a", "image": "i", "resources": {"limits": {"cpu": "x"}}}]}}
    assert explain(store_of(), subject("Pod/a", raw, "a.yaml"), EvaluationOptions()).verdict.code == 400


@pytest.mark.parametrize(
    ("kind", "version", "remedy"),
    [
        ("Deployment", "extensions/v1beta1", "write apiVersion: apps/v1"),
        ("CronJob", "batch/v1beta1", "write apiVersion: batch/v1"),
        ("Deploymnt", "apps/v1", "write kind: Deployment and apiVersion: apps/v1"),
        ("Rollout", "apps/v1", "write a kind that the server has (kubectl api-resources lists them)"),
    ],
)
def test_a_kind_that_kubernetes_has_not(kind: str, version: str, remedy: str):
    found = explain(store_of(PLACE), filed(workload(kind, version)), EvaluationOptions())
    assert found.verdict.message == f'no matches for kind "{kind}" in version "{version}"'
    assert (found.verdict.allowed, advised(found)) == (False, (remedy,))


@pytest.mark.parametrize("served", [True, False])
def test_of_other_kinds_the_server_says_it(served: bool):
    one = filed(workload("Rollout", "argoproj.io/v1alpha1"), served=served)
    found = explain(store_of(PLACE), one, EvaluationOptions())
    assert found.verdict.allowed is served
    if not served:
        assert advised(found)[0].endswith("(kubectl api-resources lists them), or install what defines it")


def test_all_that_is_known_here_is_served():
    for kind, version in (("Deployment", "apps/v1"), ("Job", "batch/v1"), ("ReplicationController", "v1")):
        one = subject(f"{kind}/a", workload(kind, version), "a.yaml")
        assert explain(store_of(PLACE), one, EvaluationOptions()).verdict.allowed
