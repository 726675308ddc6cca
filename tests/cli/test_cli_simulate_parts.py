"""``simulate`` of kinds that make pods from templates elsewhere than at ``spec.template``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from cli.apiserver import Api, pod
from cli.running import Kres

QUOTA = {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "team"}, "spec": {"hard": {"pods": "5"}}}
TEMPLATE = {"spec": {"containers": [{"name": "c", "image": "example.test/x"}]}}


def _object(api_version: str, kind: str, spec: dict[str, Any]) -> dict[str, Any]:
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": "x"}, "spec": spec}


JOBSET = _object(
    "jobset.x-k8s.io/v1alpha2",
    "JobSet",
    {
        "replicatedJobs": [
            {"name": "lead", "template": {"spec": {"template": TEMPLATE}}},
            {"name": "work", "replicas": 2, "template": {"spec": {"parallelism": 3, "template": TEMPLATE}}},
        ]
    },
)
GROUP = {"leaderTemplate": TEMPLATE, "workerTemplate": TEMPLATE, "size": 3}
OTHERS = [
    (JOBSET, {"x-lead": 1, "x-work": 6}),
    (
        _object("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", {"replicas": 2, "leaderWorkerTemplate": GROUP}),
        {"x-leader": 2, "x-worker": 4},
    ),
    (
        _object(
            "ray.io/v1",
            "RayCluster",
            {
                "headGroupSpec": {"template": TEMPLATE},
                "workerGroupSpecs": [{"groupName": "gpu", "replicas": 5, "template": TEMPLATE}],
            },
        ),
        {"x-head": 1, "x-gpu": 5},
    ),
    (
        _object(
            "kubeflow.org/v1",
            "PyTorchJob",
            {
                "pytorchReplicaSpecs": {
                    "Master": {"template": TEMPLATE},
                    "Worker": {"replicas": 6, "template": TEMPLATE},
                }
            },
        ),
        {"x-master": 1, "x-worker": 6},
    ),
]


VOLCANO = _object(
    "batch.volcano.sh/v1alpha1",
    "Job",
    {"minAvailable": 4, "tasks": [
        {"name": "ps", "template": TEMPLATE}, {"name": "worker", "replicas": 6, "template": TEMPLATE}]},
)  # fmt: skip


def _served(api: Api, *objects: dict[str, Any]) -> None:
    """The server has the kinds of the objects."""
    for raw in objects:
        group, _, version = raw["apiVersion"].partition("/")
        kind = {"resource": f"{raw['kind'].lower()}s", "responseKind": {"kind": raw["kind"]}, "scope": "Namespaced"}
        api.groups.append({"metadata": {"name": group}, "versions": [{"version": version, "resources": [kind]}]})


def _simulated(kres: Kres, tmp_path: Path, *objects: dict[str, Any]) -> tuple[int, dict[str, Any], str]:
    path = tmp_path / "change.json"
    path.write_text("\n---\n".join(map(json.dumps, objects)))
    code, out, err = kres(f"simulate -n shop -f {path} -o json")
    return code, json.loads(out)["items"][0], err


@pytest.mark.parametrize(("raw", "parts"), OTHERS, ids=[raw["kind"] for raw, _ in OTHERS])
def test_each_part_makes_its_pods_as_far_as_the_quota_goes(kres: Kres, api: Api, tmp_path: Path, raw, parts):
    _served(api, raw)
    api.objects.append({**QUOTA, "metadata": {"name": "team", "namespace": "shop"}, "status": {"used": {"pods": "0"}}})
    code, report, _ = _simulated(kres, tmp_path, raw)
    counts = {item["subject"]["name"]: item["after"] for item in report["workloads"]}
    assert code == 0
    assert {name: count["wanted"] for name, count in counts.items()} == parts
    assert all(item["subject"]["kind"] == raw["kind"] for item in report["workloads"])
    assert sum(count["best"] for count in counts.values()) >= 5 > min(parts.values())
    assert max(count["best"] for count in counts.values()) <= 5
    assert [quota["usedAfter"] for quota in report["quotas"]] == ["5"]
    assert f"of what the controller of a {raw['kind']} makes pods alone are counted" in report["notes"]


def test_what_runs_already_is_not_counted_twice(kres: Kres, api: Api, tmp_path: Path):
    owner = {"apiVersion": JOBSET["apiVersion"], "kind": "JobSet", "name": "x", "uid": "u", "controller": True}
    live = pod("x-lead-0")
    live["metadata"] |= {"namespace": "shop", "ownerReferences": [owner]}
    api.objects.append(live)
    _served(api, JOBSET)
    code, report, err = _simulated(kres, tmp_path, JOBSET)
    assert (code, report.get("workloads", [])) == (4, [])
    assert "this JobSet runs already, and what it was made of is not read" in err


ROLLOUT = _object("argoproj.io/v1alpha1", "Rollout", {"replicas": 7, "template": TEMPLATE})


def test_argos_rollout_makes_its_pods_and_one_that_has_some_is_named(kres: Kres, api: Api, tmp_path: Path):
    _served(api, ROLLOUT)
    api.objects.append({**QUOTA, "metadata": {"name": "team", "namespace": "shop"}, "status": {"used": {"pods": "0"}}})
    code, report, _ = _simulated(kres, tmp_path, ROLLOUT)
    (made,) = report["workloads"]
    assert (code, made["subject"]["name"], made["after"]) == (0, "x", {"wanted": 7, "pods": 5, "best": 5})
    owner = {"apiVersion": ROLLOUT["apiVersion"], "kind": "Rollout", "name": "x", "uid": "u", "controller": True}
    metadata = {"name": "x-1", "namespace": "shop", "ownerReferences": [owner]}
    spec = {"replicas": 7, "template": TEMPLATE}
    api.objects.append({"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": metadata, "spec": spec})
    code, _, err = _simulated(kres, tmp_path, ROLLOUT)
    assert code == 4
    assert "this Rollout runs already, and what it was made of is not read" in err


def test_of_a_new_daemon_set_the_first_pod_is_judged(kres: Kres, tmp_path: Path):
    path = tmp_path / "agent.json"
    spec = {"selector": {"matchLabels": {"app": "a"}}, "template": {"metadata": {"labels": {"app": "a"}}, **TEMPLATE}}
    path.write_text(json.dumps({**_object("apps/v1", "DaemonSet", spec)}))
    out = kres(f"simulate --demo -n shop -f {path}").out
    assert "DaemonSet/x  new: its first pod is admitted" in out
    (change,) = json.loads(kres(f"simulate --demo -n shop -f {path} -o json").out)["items"][0]["workloads"]
    assert change["uncounted"]


def test_the_tasks_of_a_volcano_job_and_what_its_queue_decides(kres: Kres, api: Api, tmp_path: Path):
    """It is no Job of Kubernetes of the same name."""
    _served(api, VOLCANO)
    own = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "x", "namespace": "shop"},
           "spec": {"suspend": True, "template": {"spec": {**TEMPLATE["spec"], "restartPolicy": "Never"}}}}  # fmt: skip
    quota = {**QUOTA, "spec": {"hard": {"pods": "5", "count/jobs.batch.volcano.sh": "1", "count/jobs.batch": "1"}}}
    used = {"pods": "0", "count/jobs.batch": "1", "count/jobs.batch.volcano.sh": "0"}
    api.objects += [own, {**quota, "metadata": {"name": "team", "namespace": "shop"}, "status": {"used": used}}]
    code, report, err = _simulated(kres, tmp_path, VOLCANO)
    assert (code, err) == (0, "")
    told = [item for item in report["workloads"] if item["subject"]["kind"] == "VolcanoJob"]
    assert {item["subject"]["name"]: item["after"]["wanted"] for item in told} == {"x-ps": 1, "x-worker": 6}
    assert {item["resource"]: item["usedAfter"] for item in report["quotas"]} == {
        "count/jobs.batch.volcano.sh": "1", "pods": "5"
    }  # fmt: skip
    text = (
        "Volcano makes the pods of x once a queue takes it in, which is not known, and runs none of them unless 4 come"
    )
    assert text in report["notes"]


def test_tasks_that_wait_for_others_are_judged_alone(kres: Kres, api: Api, tmp_path: Path):
    first, second = VOLCANO["spec"]["tasks"]
    raw = {**VOLCANO, "spec": {"tasks": [first, {**second, "dependsOn": {"name": ["ps"]}}]}}
    _served(api, raw)
    code, _, err = _simulated(kres, tmp_path, raw)
    assert (code, "how many pods of a VolcanoJob run at once is not known" in err) == (4, True)


HUGE = {"image": "example.test/x", "resources": {"limits": {"memory": "900Gi"}}}
SMALL = {"image": "example.test/x", "resources": {"limits": {"memory": "10Mi"}}}
BOUNDS = {"apiVersion": "v1", "kind": "LimitRange", "metadata": {"name": "small", "namespace": "shop"},
          "spec": {"limits": [{"type": "Container", "max": {"memory": "1Gi"}}]}}  # fmt: skip


def _workflow(kind: str, **spec: Any) -> dict[str, Any]:
    templates = [{"name": "ok", "container": SMALL}, {"name": "huge", "script": HUGE},
                 {"name": "side", "container": SMALL, "sidecars": [{"name": "s", **HUGE, "mirrorVolumeMounts": True}]},
                 {"name": "main", "dag": {"tasks": [{"name": "a", "template": "ok"}]}}]  # fmt: skip
    inner = {"entrypoint": "main", "templates": templates, **spec}
    return _object("argoproj.io/v1alpha1", kind, {"workflowSpec": inner} if kind == "CronWorkflow" else inner)


@pytest.mark.parametrize("kind", ["Workflow", "WorkflowTemplate", "ClusterWorkflowTemplate", "CronWorkflow"])
def test_the_pod_of_each_template_of_a_workflow(kres: Kres, api: Api, tmp_path: Path, kind: str):
    """A template of workflows runs nothing by itself, so that nothing of it stays open."""
    raw = _workflow(kind, parallelism=3)
    _served(api, raw)
    api.objects.append(BOUNDS)
    code, report, err = _simulated(kres, tmp_path, raw)
    refused = {item["subject"]["name"]: not item["nextAfter"]["admitted"] for item in report["workloads"]}
    assert refused == {"x-ok": False, "x-huge": True, "x-side": True}
    assert {item["subject"]["name"]: item["effect"] for item in report["workloads"]} == {
        "x-ok": "other", "x-huge": "worse", "x-side": "worse"
    }  # fmt: skip
    assert code == (4 if kind == "Workflow" else 0)
    text = "how many pods of a Workflow run at once (at most 3) is not known: each template is judged alone"
    assert (text in " ".join(err.split())) == (kind == "Workflow")


@pytest.mark.parametrize(
    "raw",
    [
        {**JOBSET, "spec": {**JOBSET["spec"], "suspend": True}},
        _object("kubeflow.org/v1", "PyTorchJob", {
            "runPolicy": {"suspend": True}, "pytorchReplicaSpecs": {"Master": {"template": TEMPLATE}}}),
        _object("argoproj.io/v1alpha1", "Workflow", {
            "suspend": True, "templates": [{"name": "a", "container": {"image": "x"}}]}),
    ],
    ids=["JobSet", "PyTorchJob", "Workflow"],
)  # fmt: skip
def test_what_is_suspended_has_no_pods_and_its_next_ones_are_judged(kres: Kres, api: Api, tmp_path: Path, raw):
    _served(api, raw)
    policy = {**QUOTA, "metadata": {"name": "team", "namespace": "shop"}, "spec": {"hard": {"pods": "0"}}}
    api.objects.append({**policy, "status": {"used": {"pods": "0"}}})
    code, report, err = _simulated(kres, tmp_path, raw)
    assert (code, err) == (0, "")
    assert all(item["after"] == {"wanted": 0, "pods": 0, "best": 0} for item in report["workloads"])
    assert all("exceeded quota: team" in item["nextAfter"]["message"] for item in report["workloads"])
    assert f"{raw['kind']} x is suspended: it makes no pods before it is resumed" in report["notes"]


def test_a_kind_that_the_server_does_not_have_is_refused(kres: Kres, api: Api, tmp_path: Path):
    code, report, _ = _simulated(kres, tmp_path, JOBSET)
    assert (code, report["outcome"]) == (1, "none")
    [step] = report["steps"]
    assert step["message"] == 'no matches for kind "JobSet" in version "jobset.x-k8s.io/v1alpha2"'
