"""Every way to make room, by a raise or without one, run on a real server: what was short then comes."""

from __future__ import annotations

import json
import secrets
import shlex
import subprocess
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from controlplane import ControlPlane
from e2e.plugin import environment

pytestmark = pytest.mark.e2e

Raw = dict[str, Any]
#: Seconds until what controllers make of a change is there.
_MOST = 45
_BOX = {"name": "app", "image": "img:1", "resources": {"requests": {"cpu": "10m"}}}
_LABELS = {"app": "web"}


class Place:
    """A namespace, and kubectl in it."""

    def __init__(self, plane: ControlPlane, kubectl: Path, folder: Path) -> None:
        self.plane, self.name = plane, f"free-{secrets.token_hex(3)}"
        self.env, self.folder, self.kubectl = environment(plane.kubeconfig, kubectl, folder), folder, kubectl
        self.run("create", "namespace", self.name)

    def run(self, *args: str, code: int | None = 0, given: str | None = None) -> str:
        done = subprocess.run([str(self.kubectl), *args], env=self.env, cwd=self.folder, input=given,
                              capture_output=True, text=True, check=False, timeout=120)  # fmt: skip
        assert code is None or done.returncode == code, (args, done.stdout, done.stderr)
        return done.stdout

    def create(self, kind: str, name: str, spec: Raw, version: str = "apps/v1", **metadata: Any) -> None:
        raw = {"apiVersion": version, "kind": kind, "metadata": {"name": name, **metadata}, "spec": spec}
        self.run("apply", "-n", self.name, "-f", "-", given=json.dumps(raw))

    def get(self, what: str) -> Raw:
        found: Raw = json.loads(self.run("get", what, "-n", self.name, "-o", "json"))
        return found

    def status(self, what: str, status: Raw) -> None:
        patch = json.dumps({"status": status})
        self.run("patch", what, "-n", self.name, "--subresource", "status", "--type", "merge", "-p", patch)

    def quota(self, name: str, hard: dict[str, str]) -> None:
        self.create("ResourceQuota", name, {"hard": hard}, "v1")
        self.until(lambda: self.get(f"quota/{name}").get("status", {}).get("hard") == hard)

    def until(self, there: Callable[[], bool]) -> None:
        for _ in range(_MOST * 2):
            if there():
                return
            time.sleep(0.5)
        raise AssertionError(f"{self.name}: it did not come")

    def remedies(self, what: str) -> list[Raw]:
        answer = json.loads(self.run("kres", "explain", what, "-n", self.name, "-o", "json", code=None))
        found: list[Raw] = answer["items"][0]["fixes"]
        return found

    def follow(self, way: Raw, comes: Callable[[], bool]) -> str:
        """What is wrong with a remedy; empty: its commands bring what was short."""
        if not way["proven"] or way["remainingRefusal"]:
            return f"{self.name}: not proven: {way['text']}"
        for command in way["commands"]:
            self.run(*shlex.split(command)[1:])
        # A controller that failed tries again after a while.
        for _ in range(_MOST * 2):
            if comes():
                return ""
            time.sleep(0.5)
        return f"{self.name}: it did not come: {way['text']}"

    def has_all(self, what: str, count: str = "replicas", wanted: str = "replicas") -> bool:
        found = self.get(what)
        return bool(found["status"].get(count, 0) == found["spec"][wanted])


def template(image: str = "img:1") -> Raw:
    return {"metadata": {"labels": _LABELS}, "spec": {"containers": [{**_BOX, "image": image}]}}


def workload(replicas: int, image: str = "img:1") -> Raw:
    return {"replicas": replicas, "selector": {"matchLabels": _LABELS}, "template": template(image)}


def is_seen(place: Place, what: str) -> bool:
    found = place.get(what)
    return bool(found["status"].get("observedGeneration") == found["metadata"]["generation"])


def old_replica_sets(place: Place) -> Callable[[], bool]:
    """A Deployment whose next ReplicaSet the quota has no room for; whether its pods are of the newest template."""
    for image in ("img:1", "img:2", "img:3"):
        place.create("Deployment", "web", workload(1, image))
        place.until(lambda: is_seen(place, "deploy/web"))
        time.sleep(1)
    place.quota("sets", {"count/replicasets.apps": "3"})
    place.create("Deployment", "web", workload(1, "img:4"))
    place.until(lambda: any(it["type"] == "ReplicaFailure" or it["reason"] == "ReplicaSetCreateError"
                            for it in place.get("deploy/web")["status"].get("conditions", ())))  # fmt: skip
    return lambda: place.get("deploy/web")["status"].get("updatedReplicas", 0) == 1


def old_revisions(place: Place) -> Callable[[], bool]:
    """A StatefulSet whose next ControllerRevision the quota has no room for; whether it is made."""
    for image in ("img:1", "img:2", "img:3"):
        place.create("StatefulSet", "web", {**workload(1, image), "serviceName": "web"})
        place.until(lambda: is_seen(place, "sts/web"))
    place.quota("revisions", {"count/controllerrevisions.apps": "3"})
    before = place.get("sts/web")["status"]["updateRevision"]
    place.create("StatefulSet", "web", {**workload(1, "img:4"), "serviceName": "web"})
    time.sleep(2)
    return lambda: place.get("sts/web")["status"]["updateRevision"] != before


def job(place: Place, name: str, owner: Raw | None = None, pods: int = 1) -> None:
    """A Job that has ended, with its pods."""
    metadata = {"ownerReferences": [owner]} if owner else {}
    spec = {"completions": pods, "parallelism": pods, "template": template()}
    spec["template"] = {"spec": {**spec["template"]["spec"], "restartPolicy": "Never"}}
    place.create("Job", name, spec, "batch/v1", **metadata)

    def own() -> list[Raw]:
        found: list[Raw] = place.get("pods")["items"]
        return [it for it in found if it["metadata"].get("labels", {}).get("job-name") == name]

    place.until(lambda: len(own()) == pods)
    for it in own():
        place.status(f"pod/{it['metadata']['name']}", {"phase": "Succeeded"})
    place.until(
        lambda: any(it["type"] == "Complete" for it in place.get(f"job/{name}")["status"].get("conditions", ()))
    )


def finished_jobs(place: Place) -> Callable[[], bool]:
    """A Deployment that lacks a pod, as the pods of Jobs that ended still count."""
    job(place, "small")
    job(place, "large", pods=2)
    place.quota("pods", {"count/pods": "4"})
    place.create("Deployment", "web", workload(3))
    place.until(lambda: place.get("deploy/web")["status"].get("replicas") == 1)
    return lambda: place.has_all("deploy/web")


def job_beside_finished_jobs(place: Place) -> Callable[[], bool]:
    """A Job that lacks a pod, as the pods of another one still count."""
    job(place, "small")
    place.quota("pods", {"count/pods": "2"})
    spec = {"completions": 2, "parallelism": 2, "template": template()}
    spec["template"] = {"spec": {**spec["template"]["spec"], "restartPolicy": "Never"}}
    place.create("Job", "web", spec, "batch/v1")
    place.until(lambda: place.get("job/web")["status"].get("active") == 1)
    return lambda: place.has_all("job/web", "active", "parallelism")


def stateful_beside_finished_jobs(place: Place) -> Callable[[], bool]:
    job(place, "small", pods=2)
    place.quota("pods", {"count/pods": "2"})
    place.create("StatefulSet", "web", {**workload(1), "serviceName": "web"})
    time.sleep(2)
    return lambda: place.has_all("sts/web")


def long_history(place: Place) -> Callable[[], bool]:
    """A CronJob that keeps so many Jobs that no other one has room; whether one comes."""
    spec = {"template": {"spec": {**template()["spec"], "restartPolicy": "Never"}}}
    place.create("CronJob", "web", {"schedule": "0 0 1 1 *", "successfulJobsHistoryLimit": 3,
                                    "failedJobsHistoryLimit": 1, "jobTemplate": {"spec": spec}},
                 "batch/v1")  # fmt: skip
    uid = place.get("cronjob/web")["metadata"]["uid"]
    owner = {"apiVersion": "batch/v1", "kind": "CronJob", "name": "web", "uid": uid, "controller": True}
    for name in ("one", "two", "three"):
        job(place, name, owner)
    place.quota("jobs", {"count/jobs.batch": "3"})

    def comes() -> bool:
        done = place.run("create", "job", "next", "--from=cronjob/web", "-n", place.name, code=None)
        return bool(done)

    assert not comes()
    return comes


def small_storage(place: Place) -> Callable[[], bool]:
    """A StatefulSet whose claims find no room."""
    place.quota("disks", {"requests.storage": "3Gi", "persistentvolumeclaims": "5"})
    claim = {"metadata": {"name": "data"}, "spec": {"accessModes": ["ReadWriteOnce"],
             "resources": {"requests": {"storage": "2Gi"}}}}  # fmt: skip
    place.create("StatefulSet", "web", {**workload(2), "serviceName": "web", "podManagementPolicy": "Parallel",
                                        "volumeClaimTemplates": [claim]})  # fmt: skip
    place.until(lambda: place.get("sts/web")["status"].get("replicas") == 1)
    return lambda: place.has_all("sts/web")


SCENES: dict[str, tuple[str, Callable[[Place], Callable[[], bool]], int]] = {
    "old ReplicaSets": ("deploy/web", old_replica_sets, 2),
    "old ControllerRevisions": ("sts/web", old_revisions, 2),
    "pods of ended Jobs": ("deploy/web", finished_jobs, 3),
    "a Job beside ended ones": ("job/web", job_beside_finished_jobs, 2),
    "a StatefulSet beside ended Jobs": ("sts/web", stateful_beside_finished_jobs, 2),
    "a long history": ("cronjob/web", long_history, 2),
    "storage of claims": ("sts/web", small_storage, 1),
}


def test_each_way_to_room_brings_what_was_short(controlplane: ControlPlane, kubectl: Path, tmp_path: Path) -> None:
    def follow(name: str, number: int) -> tuple[list[str], str]:
        """What is said of a scene, and what is wrong with one of its remedies; empty: it brings what was short."""
        what, make, _ = SCENES[name]
        place = Place(controlplane, kubectl, tmp_path)
        comes, ways = make(place), place.remedies(what)
        return [it["text"] for it in ways], place.follow(ways[number], comes)

    with ThreadPoolExecutor(6) as pool:
        firsts = dict(zip(SCENES, pool.map(follow, SCENES, [0] * len(SCENES)), strict=True))
        rest = [(name, number) for name, (texts, _) in firsts.items() for number in range(1, len(texts))]
        others = [*pool.map(lambda it: follow(*it), rest)]
    for name, (texts, _) in firsts.items():
        print(name, *texts, sep="\n  ")
    assert [fault for _, fault in (*firsts.values(), *others) if fault] == []
    few = {name: texts for name, (texts, _) in firsts.items() if len(texts) < SCENES[name][2]}
    assert few == {}
    assert len(others) >= 9


SIZES = {"TaskRun": {"taskSpec": {"steps": [{"name": "a", "image": "img"}], "workspaces": [{"name": "src"}]}},
         "PipelineRun": {"pipelineSpec": {"workspaces": [{"name": "src"}], "tasks": [
             {"name": "t", "workspaces": [{"name": "src"}],
              "taskSpec": {"steps": [{"name": "a", "image": "img"}], "workspaces": [{"name": "src"}]}}]}}}  # fmt: skip


def claim(place: Place, name: str, size: str, code: int | None = 0, **metadata: Any) -> str:
    """The claim that Tekton makes for a workspace; empty: it is refused."""
    raw = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": name, **metadata},
           "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": size}}}}  # fmt: skip
    return place.run("create", "-n", place.name, "-f", "-", code=code, given=json.dumps(raw))


def run_without_room(place: Place, kind: str) -> None:
    """A run whose claim finds no room beside those of three runs, two of which have ended."""
    for number, (size, status) in enumerate((("1Gi", "True"), ("3Gi", "True"), ("5Gi", "Unknown"))):
        name = f"old-{number}"
        place.create(kind, name, SIZES[kind], "tekton.dev/v1")
        place.status(f"{kind}/{name}", {"conditions": [{"type": "Succeeded", "status": status}],
                                         **({"podName": f"{name}-pod"} if kind == "TaskRun" else {})})  # fmt: skip
        owner = {"apiVersion": "tekton.dev/v1", "kind": kind, "name": name, "controller": True,
                 "uid": place.get(f"{kind}/{name}")["metadata"]["uid"]}  # fmt: skip
        claim(place, f"pvc-{number}", size, ownerReferences=[owner])
    place.quota("disks", {"requests.storage": "10Gi", "persistentvolumeclaims": "9"})
    source = {"name": "src", "volumeClaimTemplate": {"spec": {
        "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "4Gi"}}}}}  # fmt: skip
    place.create(kind, "next", {**SIZES[kind], "workspaces": [source]}, "tekton.dev/v1")


@pytest.mark.parametrize("kind", ["TaskRun", "PipelineRun"])
def test_the_claim_of_a_run_finds_room_after_each_way(
    kind: str, extended: ControlPlane, kubectl: Path, tmp_path: Path
) -> None:
    what = f"{kind.lower()}/next"

    def follow(number: int) -> tuple[list[str], str]:
        place = Place(extended, kubectl, tmp_path)
        run_without_room(place, kind)
        assert not claim(place, "new", "4Gi", code=None)
        ways = place.remedies(what)
        size = next((it["to"] for it in ways[number]["edits"] if it["type"] == "edit-claim"), "4Gi")

        def comes() -> bool:
            # No controller of claims runs here that would let go of those that are deleted.
            for it in place.get("pvc")["items"]:
                if it["metadata"].get("deletionTimestamp"):
                    patch = json.dumps({"metadata": {"finalizers": None}})
                    place.run("patch", f"pvc/{it['metadata']['name']}", "-n", place.name, "-p", patch, code=None)
            return bool(claim(place, "new", size, code=None))

        return [it["text"] for it in ways], place.follow(ways[number], comes)

    texts, fault = follow(0)
    print(kind, *texts, sep="\n  ")
    assert len(texts) == 3, texts
    assert f"delete {kind}/old-1, which has ended" in texts[2]
    with ThreadPoolExecutor(2) as pool:
        assert [fault, *(it[1] for it in pool.map(follow, (1, 2)))] == ["", "", ""]
