"""The synthetic cluster is what its truth says, hangs together, and is the same each time."""

from __future__ import annotations

import hashlib
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from bench.made import keyed, make, objects, truth

from kubectl_kres.quantity import parse

KINDS = ("deployments", "replicasets", "daemonsets", "jobs", "taskruns", "resourcepools")


def digests(folder: Path) -> dict[str, str]:
    return {one.name: hashlib.sha256(one.read_bytes()).hexdigest() for one in sorted(folder.iterdir())}


def test_the_same_arguments_give_the_same_bytes(folder: Path, tmp_path: Path) -> None:
    assert digests(make(tmp_path / "again")) == digests(folder)


def test_another_seed_gives_another_cluster(tmp_path: Path) -> None:
    sizes = ("--pods", "30", "--nodes", "3", "--namespaces", "5")
    one, other = make(tmp_path / "1", *sizes), make(tmp_path / "2", *sizes, "--seed", "2")
    assert (one / "pods.items").read_bytes() != (other / "pods.items").read_bytes()
    assert len(objects(one, "pods")) == len(objects(other, "pods")) == 30


def owner(thing: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = thing["metadata"]["ownerReferences"][0]
    return found


def test_every_owner_is_there_and_has_the_template_of_its_pods(folder: Path) -> None:
    by_uid = {one["metadata"]["uid"]: one for kind in KINDS for one in objects(folder, kind)}
    pods = objects(folder, "pods")
    for pod in pods:
        above = by_uid[owner(pod)["uid"]]
        assert above["metadata"]["name"] == owner(pod)["name"]
        assert above["metadata"]["namespace"] == pod["metadata"]["namespace"]
        if "template" not in above["spec"]:
            assert above["status"]["podName"] == pod["metadata"]["name"]
            continue
        named = above["spec"]["template"]["spec"]["containers"]
        assert [(c["name"], c["resources"]) for c in named] == [
            (c["name"], c["resources"]) for c in pod["spec"]["containers"]
        ]
    made = Counter(owner(pod)["uid"] for pod in pods)
    for one in objects(folder, "replicasets"):
        assert made[one["metadata"]["uid"]] == one["status"]["replicas"]
        assert by_uid[owner(one)["uid"]]["spec"]["replicas"] >= one["spec"]["replicas"]


@pytest.mark.parametrize("kind", [*KINDS, "pods", "events", "tasks", "resourcequotas", "resourcepoolclaims"])
def test_objects_are_sorted_and_no_name_comes_twice(folder: Path, kind: str) -> None:
    keys = [(one["metadata"].get("namespace", ""), one["metadata"]["name"]) for one in objects(folder, kind)]
    assert keys
    assert keys == sorted(set(keys))


def test_pods_add_up_to_the_truth(folder: Path) -> None:
    pods, told = objects(folder, "pods"), truth(folder)
    assert len(pods) == told["pods"]
    assert sum(pod["status"]["phase"] not in ("Succeeded", "Failed") for pod in pods) == told["active"]
    assert Counter(pod["status"]["qosClass"] for pod in pods) == told["qos"]


def test_a_few_quotas_are_stale_and_all_others_say_what_is_used(folder: Path) -> None:
    told = truth(folder)["quotas"]
    for name, one in keyed(objects(folder, "resourcequotas")).items():
        said = {key: str(parse(text).milli()) for key, text in one["status"]["used"].items()}
        assert [key for key in sorted(said) if said[key] != told[name]["used"][key]] == told[name]["stale"]
    assert 0 < sum(bool(one["stale"]) for one in told.values()) < len(told) / 4


def test_runs_are_in_the_states_that_the_truth_counts(folder: Path) -> None:
    runs = [one for one in objects(folder, "taskruns") if one["metadata"]["namespace"] == "ci-runs"]
    tasks, pods = keyed(objects(folder, "tasks")), keyed(objects(folder, "pods"))
    assert len(runs) == truth(folder)["taskruns"]["count"] == 120
    assert Counter(one["status"]["conditions"][0]["reason"] for one in runs) == truth(folder)["taskruns"]["states"]
    for one in runs:
        status, reason = one["status"], one["status"]["conditions"][0]["reason"]
        assert tasks[f"ci-runs/{one['spec']['taskRef']['name']}"]["spec"] == status["taskSpec"]
        assert (f"ci-runs/{status['podName']}" in pods) == (reason == "Running")
        assert ("startTime" in status) == (reason != "ExceededResourceQuota")


def amounts(texts: dict[str, str]) -> Counter[str]:
    return Counter({name: parse(text).milli() for name, text in texts.items()})


def test_a_pool_gives_away_what_its_claims_hold(folder: Path) -> None:
    claims = objects(folder, "resourcepoolclaims")
    words: Counter[str] = Counter()
    for pool in objects(folder, "resourcepools"):
        name, allocation = pool["metadata"]["name"], pool["status"]["allocation"]
        listed = [one for each in pool["status"]["claims"].values() for one in each]
        held = {f"{one['namespace']}/{one['name']}": one["claims"] for one in listed}
        assert sum(map(amounts, held.values()), Counter()) == +amounts(allocation["used"])
        assert amounts(allocation["used"]) + amounts(allocation["available"]) == amounts(allocation["hard"])
        for key, claim in keyed(claims).items():
            if claim["status"].get("pool", {}).get("name") != name:
                continue
            _, exhausted, bound = claim["status"]["conditions"]
            assert (exhausted["status"] == "False") == (key in held)
            words[bound["reason"] if key in held else exhausted["reason"]] += 1
    told = truth(folder)["claims"]
    assert words == {
        "Unused": told["allocated"],
        "InUse": told["in use"],
        "PoolExhausted": told["exhausted"],
        "QueueExhausted": told["queued"],
    }
    assert sum(told.values()) == len(claims) == 300
