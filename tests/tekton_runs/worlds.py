"""The runs that are recorded: what is sent, what stands beside it, and what the kubelet then says of its pod.

A world is a mapping: ``spec`` (of the TaskRun), ``ranges`` and ``quotas`` (specs), ``level`` (that Pod Security
enforces), ``pod`` (what becomes of its pod: a phase, a reason, and states of containers by name), ``then`` (a patch of
the run).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

World = dict[str, Any]


def steps(*resources: dict[str, Any], **more: Any) -> list[dict[str, Any]]:
    return [
        {"name": f"s{number}", "image": "example.com/i", "command": ["run"], "computeResources": each, **more}
        for number, each in enumerate(resources or ({},))
    ]


def task(*resources: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"taskSpec": {"steps": steps(*resources), **more}}


def ended(code: int, reason: str = "", message: str = "") -> dict[str, Any]:
    reason = reason or ("Completed" if not code else "Error")
    return {"terminated": {"exitCode": code, "reason": reason, **({"message": message} if message else {})}}


def waits(reason: str, message: str = "") -> dict[str, Any]:
    return {"waiting": {"reason": reason, **({"message": message} if message else {})}}


RUNS = {"running": {}}
_SMALL = {"limits": {"memory": "64Mi"}}
_BIG = {"requests": {"cpu": "2", "memory": "1Gi"}, "limits": {"cpu": "2", "memory": "1Gi"}}


def worlds() -> Iterator[tuple[str, World]]:
    yield from _ended_by_containers()
    yield from _ended_as_a_whole()
    yield from _waiting()
    yield from _refused()
    yield from _by_hand()


def _ended_by_containers() -> Iterator[tuple[str, World]]:
    for count in (1, 2, 3):
        spec = task(*([_SMALL] * count))
        names = [f"step-s{number}" for number in range(count)]
        done = dict.fromkeys(names, ended(0))
        yield f"succeeded-{count}", {"spec": spec, "pod": {"phase": "Succeeded", "states": done}}
        for code in (1, 137, 143):
            states = {**done, names[-1]: ended(code)}
            yield f"exit-{code}-of-{count}", {"spec": spec, "pod": {"phase": "Failed", "states": states}}
        killed = {**done, names[0]: ended(137, "OOMKilled")}
        yield f"killed-{count}", {"spec": spec, "pod": {"phase": "Failed", "states": killed}}
    side = task(_SMALL, sidecars=[{"name": "proxy", "image": "example.com/p", "computeResources": _SMALL}])
    states = {"step-s0": ended(0), "sidecar-proxy": ended(137, "OOMKilled")}
    yield "sidecar-killed", {"spec": side, "pod": {"phase": "Failed", "states": states}}
    yield "sidecar-failed", {"spec": side, "pod": {"phase": "Failed", "states": {**states, "sidecar-proxy": ended(1)}}}
    yield "sidecar-goes-on", {"spec": side, "pod": {"phase": "Running", "states": {**states, "sidecar-proxy": RUNS}}}
    yield (
        "added-killed",
        {"spec": task(_SMALL), "pod": {"phase": "Failed", "states": {"prepare": ended(137, "OOMKilled")}}},
    )
    yield "added-failed", {"spec": task(_SMALL), "pod": {"phase": "Failed", "states": {"prepare": ended(1)}}}


def _ended_as_a_whole() -> Iterator[tuple[str, World]]:
    for name, reason, message in (
        ("evicted", "Evicted", "The node was low on resource: memory. Container step-s0 was using 2Gi."),
        ("deadline", "DeadlineExceeded", "Pod was active on the node longer than the specified deadline"),
        ("node-lost", "NodeLost", "Node n1 which was running pod p is unresponsive"),
        ("preempted", "Preempting", "Preempted in order to admit critical pod"),
        ("no-room", "OutOfcpu", "Node didn't have enough resource: cpu, requested: 2000, used: 3000, capacity: 4000"),
        ("shutdown", "Terminated", "Pod was terminated in response to imminent node shutdown."),
    ):
        yield f"pod-{name}", {"spec": task(_BIG), "pod": {"phase": "Failed", "reason": reason, "message": message}}
    retried = {**task(_SMALL), "retries": 1}
    failed = {"phase": "Failed", "states": {"step-s0": ended(1)}}
    yield "retried-once", {"spec": retried, "pod": failed}
    yield "retried-and-evicted", {"spec": retried, "pod": {"phase": "Failed", "reason": "Evicted", "message": "low"}}


def _waiting() -> Iterator[tuple[str, World]]:
    for name, reason, message in (
        ("image-pull", "ImagePullBackOff", 'Back-off pulling image "example.com/i"'),
        ("image-error", "ErrImagePull", "not found"),
        ("image-name", "InvalidImageName", "could not parse"),
        ("config", "CreateContainerConfigError", 'configmap "rules" not found'),
        ("create", "CreateContainerError", "context deadline exceeded"),
        ("start", "ContainerCreating", ""),
        ("begin", "PodInitializing", ""),
    ):
        states = {"step-s0": waits(reason, message)}
        yield f"waits-{name}", {"spec": task(_SMALL), "pod": {"phase": "Pending", "states": states}}
    for name, message in (
        ("cpu", "0/2 nodes are available: 2 Insufficient cpu."),
        ("taint", "0/1 nodes are available: 1 node(s) had untolerated taint {pool: keep}."),
        ("volume", "0/2 nodes are available: 2 node(s) had volume node affinity conflict."),
    ):
        condition = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": message}
        yield f"no-node-{name}", {"spec": task(_BIG), "pod": {"phase": "Pending", "conditions": [condition]}}
    yield "running", {"spec": task(_SMALL), "pod": {"phase": "Running", "states": {"step-s0": RUNS}}}
    states = {"step-s0": ended(137), "step-s1": RUNS}
    yield "killed-others-wait", {"spec": task(_SMALL, _SMALL), "pod": {"phase": "Running", "states": states}}
    yield "quota-full", {"spec": task(_BIG), "quotas": [{"hard": {"requests.cpu": "1"}}]}
    yield "quota-of-memory", {"spec": task(_BIG), "quotas": [{"hard": {"limits.memory": "512Mi"}}]}
    yield "quota-of-pods", {"spec": task(_SMALL), "quotas": [{"hard": {"pods": "0"}}]}
    yield "quota-of-pods-counted", {"spec": task(_SMALL), "quotas": [{"hard": {"count/pods": "0"}}]}
    yield "held", {"spec": {**task(_SMALL), "status": "TaskRunPending"}}


def _refused() -> Iterator[tuple[str, World]]:
    def limits(**item: Any) -> list[dict[str, Any]]:
        return [{"limits": [{"type": "Container", **item}]}]

    yield "range-max", {"spec": task(_BIG), "ranges": limits(max={"memory": "512Mi"})}
    yield "range-min", {"spec": task(_SMALL), "ranges": limits(min={"memory": "128Mi"})}
    ratio = {"default": {"cpu": "1"}, "defaultRequest": {"cpu": "500m"}, "maxLimitRequestRatio": {"cpu": "2"}}
    yield "range-ratio", {"spec": task(*([{}] * 4)), "ranges": limits(**ratio)}
    yield "range-ratio-alone", {"spec": task({}), "ranges": limits(**ratio)}
    yield "quota-unstated", {"spec": task({}), "quotas": [{"hard": {"limits.cpu": "4"}}]}
    yield "quota-half-stated", {"spec": task(_SMALL), "quotas": [{"hard": {"limits.memory": "4Gi"}}]}
    for level in ("baseline", "restricted"):
        yield f"level-{level}", {"spec": task(_SMALL), "level": level}
    privileged = {"taskSpec": {"steps": steps(_SMALL, securityContext={"privileged": True})}}
    yield "level-privileged", {"spec": privileged, "level": "baseline"}
    yield "no-account", {"spec": {**task(_SMALL), "serviceAccountName": "build-bot"}}
    yield "no-task", {"spec": {"taskRef": {"name": "nothing"}}}
    yield "no-param", {"spec": task(_SMALL, params=[{"name": "what", "type": "string"}])}
    yield "no-workspace", {"spec": task(_SMALL, workspaces=[{"name": "src"}])}
    yield "no-step", {"spec": {**task(_SMALL), "stepSpecs": [{"name": "other", "computeResources": _SMALL}]}}
    over = {"requests": {"memory": "128Mi"}, "limits": {"memory": "64Mi"}}
    yield "above-limit", {"spec": task(over)}


def _by_hand() -> Iterator[tuple[str, World]]:
    for name, pod in (
        ("pending", {"phase": "Pending"}),
        ("running", {"phase": "Running", "states": {"step-s0": RUNS}}),
    ):
        yield f"cancelled-{name}", {"spec": task(_SMALL), "pod": pod, "then": {"spec": {"status": "TaskRunCancelled"}}}
        yield f"timed-out-{name}", {"spec": {**task(_SMALL), "timeout": "3s"}, "pod": pod}
    quotas = [{"hard": {"pods": "0"}}]
    yield (
        "cancelled-in-queue",
        {"spec": task(_SMALL), "quotas": quotas, "then": {"spec": {"status": "TaskRunCancelled"}}},
    )
