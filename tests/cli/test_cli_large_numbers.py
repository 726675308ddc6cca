"""What an answer costs does not grow with a number that somebody wrote: calls of functions are counted, not seconds."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from cli.apiserver import Api
from cli.running import Kres

LARGEST = 2**31 - 1
COMMANDS = (
    "explain {name}",
    "explain {kind} -A",
    "overview -A",
    "check -A",
    "quota -A",
    "quota --fit {name}",
    "quota --denied -A",
    "timeline -A",
    "qos -A",
    "simulate --delete {name}",
    "simulate --delete quota/q",
    "simulate --kube-version 1.32",
)


def template(restart: str = "Always") -> dict[str, Any]:
    container = {"name": "c", "image": "i", "resources": {"requests": {"cpu": "1m"}}}
    return {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [container], "restartPolicy": restart}}


def workload(kind: str, spec: dict[str, Any], group: str = "apps/v1", **status: Any) -> dict[str, Any]:
    metadata = {"name": "s", "namespace": "shop", "uid": kind, "generation": 1}
    return {"apiVersion": group, "kind": kind, "metadata": metadata, "spec": spec, "status": status}


def scaled(kind: str, number: int, **spec: Any) -> dict[str, Any]:
    selector = {"matchLabels": {"a": "b"}}
    return workload(kind, {"replicas": number, "selector": selector, "template": template(), **spec})


def stateful_set(number: int, **spec: Any) -> dict[str, Any]:
    return scaled("StatefulSet", number, serviceName="s", **spec)


def rolled(number: int, kind: str, **spec: Any) -> dict[str, Any]:
    """All pods of an older template are there."""
    counts = {"replicas": number, "readyReplicas": number, "availableReplicas": number, "observedGeneration": 1}
    made = {**scaled(kind, number, **spec), "status": counts}
    made["status"] |= {"currentReplicas": number, "currentRevision": "r1", "updateRevision": "r2"}
    return made


CLAIM = {"metadata": {"name": "d"}, "spec": {"resources": {"requests": {"storage": "1Gi"}}}}
JOB = {"template": template("Never")}
#: By what is written: the object that it is written into.
NUMBERS: dict[str, tuple[str, Callable[[int], dict[str, Any]]]] = {
    "replicas of a StatefulSet": ("sts", stateful_set),
    "in parallel": ("sts", lambda number: stateful_set(number, podManagementPolicy="Parallel")),
    "with claims": ("sts", lambda number: stateful_set(number, volumeClaimTemplates=[CLAIM])),
    "first ordinal": ("sts", lambda number: stateful_set(3, ordinals={"start": number})),
    "partition": ("sts", lambda number: stateful_set(
        number, updateStrategy={"type": "RollingUpdate", "rollingUpdate": {"partition": number // 2}})),
    "pods of a StatefulSet that rolls": ("sts", lambda number: rolled(number, "StatefulSet")),
    "replicas of a Deployment": ("deploy", lambda number: scaled("Deployment", number)),
    "pods of a Deployment that rolls": ("deploy", lambda number: rolled(number, "Deployment", strategy={
        "type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}})),
    "surge": ("deploy", lambda number: scaled("Deployment", 3, strategy={
        "type": "RollingUpdate", "rollingUpdate": {"maxSurge": number, "maxUnavailable": 0}})),
    "replicas of a ReplicaSet": ("rs", lambda number: scaled("ReplicaSet", number)),
    "parallelism": ("job", lambda number: workload(
        "Job", {**JOB, "completions": number, "parallelism": number, "backoffLimit": number}, "batch/v1")),
    "completions": ("job", lambda number: workload("Job", {**JOB, "completions": number}, "batch/v1")),
    "history of a CronJob": ("cronjob", lambda number: workload("CronJob", {
        "schedule": "* * * * *", "successfulJobsHistoryLimit": number, "failedJobsHistoryLimit": number,
        "jobTemplate": {"spec": {**JOB, "completions": number, "parallelism": number}}}, "batch/v1")),
}  # fmt: skip


def autoscaler(number: int, kind: str) -> dict[str, Any]:
    """Scales a workload of three pods as far as it may."""
    target = {"apiVersion": "apps/v1", "kind": kind, "name": "s"}
    metadata = {"name": "h", "namespace": "shop"}
    spec = {"minReplicas": 1, "maxReplicas": number, "scaleTargetRef": target}
    return {"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler", "metadata": metadata, "spec": spec}


def quota(room: int) -> dict[str, Any]:
    amounts = {"hard": {"requests.cpu": f"{room}m", "pods": str(room)}}
    metadata = {"name": "q", "namespace": "shop"}
    used = {"used": {"requests.cpu": "0", "pods": "0"}}
    return {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": metadata, "spec": amounts,
            "status": {**amounts, **used}}  # fmt: skip


@contextmanager
def counted_calls() -> Iterator[list[int]]:
    """Calls of functions of this thread, while it is open: the last entry is their number."""
    number = [0]

    def count(_frame: Any, event: str, _arg: Any) -> None:
        if event == "call":
            number[0] += 1

    sys.setprofile(count)
    try:
        yield number
    finally:
        sys.setprofile(None)


def work(kres: Kres, text: str) -> int:
    with counted_calls() as number:
        code, _, err = kres(text)
    assert code in {0, 1}, err
    return number[0]


@pytest.mark.one_in(6)
@pytest.mark.parametrize("room", [1, 10**12], ids=["full", "room for all"])
@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("what", [*NUMBERS, "maximum of an autoscaler", "of a StatefulSet's"])
def test_the_work_does_not_grow_with_a_number(kres: Kres, api: Api, what: str, command: str, room: int):
    found = []
    kind, make = NUMBERS.get(what, ("deploy", lambda number: scaled("Deployment", 3)))
    if what == "of a StatefulSet's":
        kind, make = "sts", lambda number: stateful_set(3)
    text = command.format(kind=kind, name=f"{kind}/s")
    for number in (100, 100, LARGEST):
        api.objects = [quota(room), make(number)]
        if what not in NUMBERS:
            api.objects.append(autoscaler(number, api.objects[1]["kind"]))
        found.append(work(kres, text))
    # Batches of pods that are made side by side double in size: some 30 of them are no growth.
    assert found[2] <= 1.2 * found[1] + 20_000


def refused_job(number: int) -> dict[str, Any]:
    made = workload("Job", {**JOB, "completions": 1, "parallelism": 1}, "batch/v1")
    return {**made, "metadata": {**made["metadata"], "name": f"j-{number}", "uid": f"j-{number}"}}


def test_an_overview_looks_for_remedies_of_the_worst_alone(kres: Kres, api: Api):
    full = quota(1)
    full["status"]["used"] = full["status"]["hard"]
    found = []
    for number in (30, 30, 120):
        api.objects = [full, *(refused_job(each) for each in range(number))]
        found.append(work(kres, "overview -A"))
    assert found[2] <= 3 * found[1]
    [answer] = json.loads(kres("overview -A -o json").out)["items"]
    refused = [problem for problem in answer["problems"] if problem["area"] == "refused"]
    assert all(problem.get("fixes") for problem in refused[:20])
