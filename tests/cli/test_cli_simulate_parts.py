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


def _simulated(kres: Kres, tmp_path: Path, *objects: dict[str, Any]) -> tuple[int, dict[str, Any], str]:
    path = tmp_path / "change.json"
    path.write_text("\n---\n".join(map(json.dumps, objects)))
    code, out, err = kres(f"simulate -n shop -f {path} -o json")
    return code, json.loads(out)["items"][0], err


@pytest.mark.parametrize(("raw", "parts"), OTHERS, ids=[raw["kind"] for raw, _ in OTHERS])
def test_each_part_makes_its_pods_as_far_as_the_quota_goes(kres: Kres, api: Api, tmp_path: Path, raw, parts):
    api.objects.append({**QUOTA, "metadata": {"name": "team", "namespace": "shop"}, "status": {"used": {"pods": "0"}}})
    code, report, _ = _simulated(kres, tmp_path, raw)
    counts = {item["subject"]["name"]: item["after"] for item in report["workloads"]}
    assert code == 0
    assert {name: count["wanted"] for name, count in counts.items()} == parts
    assert all(item["subject"]["kind"] == raw["kind"] for item in report["workloads"])
    assert sum(count["most"] for count in counts.values()) >= 5 > min(parts.values())
    assert max(count["most"] for count in counts.values()) <= 5
    assert [quota["usedAfter"] for quota in report["quotas"]] == ["5"]
    assert f"of what the controller of a {raw['kind']} makes pods alone are counted" in report["notes"]


def test_what_runs_already_is_not_counted_twice(kres: Kres, api: Api, tmp_path: Path):
    owner = {"apiVersion": JOBSET["apiVersion"], "kind": "JobSet", "name": "x", "uid": "u", "controller": True}
    live = pod("x-lead-0")
    live["metadata"] |= {"namespace": "shop", "ownerReferences": [owner]}
    api.objects.append(live)
    code, report, err = _simulated(kres, tmp_path, JOBSET)
    assert (code, report.get("workloads", [])) == (4, [])
    assert "this JobSet runs already, and what it was made of is not read" in err
