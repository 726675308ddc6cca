"""Puts situations on a control plane with a scheduler: nodes and what kubelets report are written by API."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from controlplane import BASIC_CONTROLLERS, WORKLOAD_CONTROLLERS, ControlPlane
from run_state.waiting import Object, Situation

CONTROLLERS = (
    *BASIC_CONTROLLERS,
    *WORKLOAD_CONTROLLERS,
    "replicationcontroller-controller",
    "persistentvolume-binder-controller",
    "resourceclaim-controller",
)
#: Seconds that a situation is left alone before anybody asks, of which the grace period is a part.
SETTLED = 33.0
_DEADLINE = 60.0
_PATHS = {"Pod": "/api/v1", "ReplicationController": "/api/v1", "PersistentVolumeClaim": "/api/v1",
          "ResourceQuota": "/api/v1", "LimitRange": "/api/v1"}  # fmt: skip
_PATCH = "application/merge-patch+json"


def moment(text: str) -> str:
    """``now-60`` as a time; any other text as it is."""
    if not text.startswith("now-"):
        return text
    return (datetime.now(UTC) - timedelta(seconds=int(text[4:]))).strftime("%Y-%m-%dT%H:%M:%SZ")


def timed(value: Any) -> Any:
    """The value with its times."""
    if isinstance(value, Mapping):
        return {key: timed(item) for key, item in value.items()}
    if isinstance(value, list):
        return [timed(item) for item in value]
    return moment(value) if isinstance(value, str) else value


def add_nodes(plane: ControlPlane) -> None:
    """One node for everybody and two that are tainted, the larger one of them."""
    for name, cpu, taints in (("n0", "4", []), ("n1", "4", [_TAINT]), ("n2", "16", [_TAINT])):
        metadata = {"name": name, "labels": {"kubernetes.io/hostname": name}}
        body = {"apiVersion": "v1", "kind": "Node", "metadata": metadata, "spec": {"taints": taints}}
        _must(plane, "POST", "/api/v1/nodes", body)
        # Admission has added that it is not ready, which a controller that does not run here would take away.
        _must(plane, "PATCH", f"/api/v1/nodes/{name}", {"spec": {"taints": taints}}, content_type=_PATCH)
        amounts = {"cpu": cpu, "memory": "16Gi", "pods": "500"}
        status = {"capacity": amounts, "allocatable": amounts, "conditions": [{"type": "Ready", "status": "True"}]}
        _must(plane, "PATCH", f"/api/v1/nodes/{name}/status", {"status": status}, content_type=_PATCH)


_TAINT = {"key": "dedicated", "value": "gpu", "effect": "NoSchedule"}


def space_of(name: str) -> str:
    return f"s-{name}"


def create(plane: ControlPlane, name: str, situation: Situation) -> None:
    """The objects of a situation in its namespace, once that has its service account and its quotas are counted."""
    space = space_of(name)
    _must(plane, "POST", "/api/v1/namespaces", {"metadata": {"name": space}})
    _until(lambda: plane.request("GET", f"/api/v1/namespaces/{space}/serviceaccounts/default")[0] == 200, space)
    if not situation.late:
        _apply(plane, space, situation.objects)


def _apply(plane: ControlPlane, space: str, objects: Iterable[Object]) -> None:
    uids: dict[str, str] = {}
    for item in objects:
        body = {key: value for key, value in item.items() if key != "status"}
        for owner in body["metadata"].get("ownerReferences", ()):
            owner["uid"] = uids[owner["name"]]
        path = _path(space, item)
        answer = _must(plane, "POST", path, body)
        uids[item["metadata"]["name"]] = answer["metadata"]["uid"]
        if item["kind"] == "ResourceQuota":
            own = f"{path}/{item['metadata']['name']}"
            _until(lambda own=own: "hard" in (plane.request("GET", own)[1].get("status") or {}), own)
        if "status" in item:
            status_path = f"{path}/{item['metadata']['name']}"
            code, answer = plane.request(
                "PATCH", f"{status_path}/status", {"status": item["status"]}, content_type=_PATCH
            )
            if code == 404:
                _must(plane, "PATCH", status_path, {"status": item["status"]}, content_type=_PATCH)


def begin(plane: ControlPlane, name: str, situation: Situation) -> None:
    """What belongs right before the question."""
    if situation.late:
        _apply(plane, space_of(name), situation.objects)


def _path(space: str, item: Object) -> str:
    plural = f"{item['kind'].lower()}s"
    root = "/api/v1" if item["apiVersion"] == "v1" else f"/apis/{item['apiVersion']}"
    return f"{root}/namespaces/{space}/{plural}"


def report(plane: ControlPlane, name: str, situation: Situation) -> bool:
    """Tell what kubelets would of the pods that are bound; whether any was new."""
    space, news = space_of(name), False
    for item in plane.request("GET", f"/api/v1/namespaces/{space}/pods")[1]["items"]:
        told = situation.kubelet.get(item["metadata"].get("labels", {}).get("app", ""))
        status = item.get("status") or {}
        if told is None or not item["spec"].get("nodeName") or "containerStatuses" in status or status.get("reason"):
            continue
        conditions = [one for one in status.get("conditions") or () if one["type"] != "Ready"]
        said = timed(told(item))
        said["conditions"] = [*conditions, *said.get("conditions", ())]
        own = f"/api/v1/namespaces/{space}/pods/{item['metadata']['name']}"
        _must(plane, "PATCH", f"{own}/status", {"status": said}, content_type=_PATCH)
        for index, (reason, message) in enumerate(situation.events):
            body = {"apiVersion": "v1", "kind": "Event", "metadata": {"name": f"e{index}"}, "type": "Warning",
                    "reason": reason, "message": message, "firstTimestamp": moment("now-60"),
                    "lastTimestamp": moment("now-1"), "count": 4, "involvedObject": {
                        "kind": "Pod", "namespace": space, "name": item["metadata"]["name"],
                        "uid": item["metadata"]["uid"]}}  # fmt: skip
            _must(plane, "POST", f"/api/v1/namespaces/{space}/events", body)
        news = True
    return news


def settle(plane: ControlPlane, situations: Mapping[str, Situation]) -> None:
    """All situations, as they are some half a minute later."""
    for name, situation in situations.items():
        create(plane, name, situation)
    end = time.monotonic() + SETTLED
    while time.monotonic() < end:
        for name, situation in situations.items():
            if situation.kubelet:
                report(plane, name, situation)
        time.sleep(1)
    for name, situation in situations.items():
        begin(plane, name, situation)


def _must(plane: ControlPlane, method: str, path: str, body: Object, **more: Any) -> Any:
    end = time.monotonic() + _DEADLINE
    while True:
        code, answer = plane.request(method, path, body, **more)
        if code < 300:
            return answer
        if code not in {403, 409, 429, 500} or time.monotonic() > end:
            raise AssertionError(f"{method} {path}: {code} {answer}")
        time.sleep(0.1)


def _until(holds: Any, what: str) -> None:
    end = time.monotonic() + _DEADLINE
    while not holds():
        assert time.monotonic() < end, what
        time.sleep(0.05)
