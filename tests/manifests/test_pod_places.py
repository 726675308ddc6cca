"""Kinds with pods that are no ``spec.template``: each entry of the table with its templates and counts."""

from __future__ import annotations

from typing import Any

import pytest

from kubectl_kres.model.pod_places import PLACES, parts_of

T = {"spec": {"containers": [{"name": "c", "image": "i"}]}}
RAY = {"headGroupSpec": {"template": T}, "workerGroupSpecs": [{"groupName": "small", "replicas": 3, "template": T}]}
ARGO = [{"name": "a", "container": {"image": "i"}}, {"name": "b", "script": {"image": "i", "source": "x"}},
        {"name": "c", "dag": {}}]  # fmt: skip
ROLES = {"Master": {"template": T}, "Worker": {"replicas": 4, "template": T}}
EXAMPLES: dict[tuple[str, str], tuple[dict[str, Any], list[tuple[str, int]]]] = {
    ("jobset.x-k8s.io", "JobSet"): (
        {"replicatedJobs": [{"name": "w", "replicas": 2, "template": {"spec": {"parallelism": 3, "template": T}}}]},
        [("w", 6)],
    ),
    ("leaderworkerset.x-k8s.io", "LeaderWorkerSet"): (
        {"replicas": 2, "leaderWorkerTemplate": {"size": 4, "leaderTemplate": T, "workerTemplate": T}},
        [("leader", 2), ("worker", 6)],
    ),
    ("ray.io", "RayCluster"): (RAY, [("head", 1), ("small", 3)]),
    ("ray.io", "RayJob"): (
        {"rayClusterSpec": RAY, "submitterPodTemplate": T},
        [("head", 1), ("small", 3), ("submitter", 1)],
    ),
    ("ray.io", "RayService"): ({"rayClusterConfig": RAY}, [("head", 1), ("small", 3)]),
    ("batch.volcano.sh", "Job"): ({"tasks": [{"name": "mpi", "replicas": 5, "template": T}]}, [("mpi", 5)]),
    **{key: ({"replicas": 3, "template": T}, [("", 3)])
       for key in (("argoproj.io", "Rollout"), ("apps.kruise.io", "CloneSet"),
                   ("apps.openshift.io", "DeploymentConfig"))},
    ("argoproj.io", "CronWorkflow"): ({"workflowSpec": {"templates": ARGO}}, [("a", 1), ("b", 1)]),
    **{("argoproj.io", kind): ({"templates": ARGO}, [("a", 1), ("b", 1)])
       for kind in ("Workflow", "WorkflowTemplate", "ClusterWorkflowTemplate")},
    **{("kubeflow.org", f"{name}Job"): ({field: ROLES}, [("master", 1), ("worker", 4)])
       for name, field in (("PyTorch", "pytorchReplicaSpecs"), ("TF", "tfReplicaSpecs"), ("MPI", "mpiReplicaSpecs"),
                           ("XGBoost", "xgbReplicaSpecs"), ("Paddle", "paddleReplicaSpecs"))},
}  # fmt: skip


def test_every_entry_has_an_example():
    assert EXAMPLES.keys() == PLACES.keys()


@pytest.mark.parametrize("key", EXAMPLES, ids=lambda key: key[1])
def test_templates_and_counts(key: tuple[str, str]):
    spec, expected = EXAMPLES[key]
    parts = parts_of({"apiVersion": f"{key[0]}/v1", "kind": key[1], "metadata": {"name": "x"}, "spec": spec})
    assert parts is not None
    assert sorted((part.name, part.count) for part in parts) == sorted(expected)
    assert all(part.template["spec"]["containers"] for part in parts)


def test_a_kind_of_another_group_and_a_broken_one_hold_nothing():
    assert parts_of({"apiVersion": "batch/v1", "kind": "Job", "spec": {"template": T}}) is None
    assert parts_of({"apiVersion": "ray.io/v1", "kind": "RayCluster", "spec": []}) == ()
