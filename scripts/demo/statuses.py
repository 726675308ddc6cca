"""What kubelets write into the status of a pod, and the events of theirs and of the scheduler. See standin.py."""

from __future__ import annotations

from datetime import UTC, datetime

from kube import Object

#: What a container's status says of its resources.
GIVEN = ("resources", "allocatedResources")


def running(pod: Object, *, restarts: int = 0, last: Object | None = None) -> Object:
    """The status of a pod whose containers run with the resources of its spec; init containers are through.

    ``restarts`` and ``last``: of its first container.
    """
    spec, old = pod["spec"], pod["status"]
    conditions = [
        *(entry for entry in old.get("conditions", ()) if entry["type"] == "PodScheduled"),
        *(stated(name, "True") for name in ("PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady")),
    ]
    containers = [container_status(container) for container in spec["containers"]]
    if restarts:
        containers[0] |= {"restartCount": restarts, "lastState": last or {}}
    done = {"terminated": {"exitCode": 0, "reason": "Completed", "startedAt": now(), "finishedAt": now()}}
    inits = [
        container_status(container) | ({} if sidecar(container) else {"state": done, "started": False})
        for container in spec.get("initContainers", ())
    ]
    return {
        "phase": "Running",
        "observedGeneration": pod["metadata"]["generation"],
        "qosClass": old["qosClass"],
        "startTime": old.get("startTime") or now(),
        "conditions": conditions,
        "containerStatuses": containers,
        **({"initContainerStatuses": inits} if inits else {}),
    }


def resized(pod: Object) -> Object:
    """The status of a running pod that was given what its spec asks for by now, without a restart."""
    status, spec = pod["status"], pod["spec"]
    for key, containers in (("containerStatuses", "containers"), ("initContainerStatuses", "initContainers")):
        fresh = {container["name"]: container_status(container) for container in spec.get(containers, ())}
        given = [
            {**entry, **{part: fresh[entry["name"]][part] for part in GIVEN if part in fresh[entry["name"]]}}
            for entry in status.get(key, ())
        ]
        status = {**status, **({key: given} if given else {})}
    return {**status, "observedGeneration": pod["metadata"]["generation"]}


def container_status(container: Object) -> Object:
    resources = {key: value for key, value in container.get("resources", {}).items() if key in {"limits", "requests"}}
    requests = resources.get("requests")
    return {
        "name": container["name"],
        "image": container["image"],
        "imageID": "",
        "ready": True,
        "started": True,
        "restartCount": 0,
        "state": {"running": {"startedAt": now()}},
        "resources": resources,
        **({"allocatedResources": requests} if requests else {}),
    }


def out_of_memory(pod: Object, restarts: int) -> Object:
    """A pod whose first container was killed for its memory, the last time just now."""
    ended_at = {"exitCode": 137, "reason": "OOMKilled", "startedAt": now(), "finishedAt": now()}
    return {**pod, "status": running(pod, restarts=restarts, last={"terminated": ended_at})}


def succeeded(pod: Object) -> Object:
    """A pod whose containers are through."""
    done = {"terminated": {"exitCode": 0, "reason": "Completed", "startedAt": now(), "finishedAt": now()}}
    containers = [
        {**entry, "state": done, "ready": False, "started": False} for entry in pod["status"]["containerStatuses"]
    ]
    ready = [stated(name, "False", "PodCompleted") for name in ("Ready", "ContainersReady")]
    kept = [entry for entry in pod["status"]["conditions"] if entry["type"] not in {"Ready", "ContainersReady"}]
    status = {"phase": "Succeeded", "containerStatuses": containers, "conditions": [*kept, *ready]}
    return {**pod, "status": {**pod["status"], **status}}


def evicted(pod: Object, usage: str) -> tuple[Object, Object]:
    """A pod that its node put out for using ``usage`` of memory, and the event. Source: kubelet eviction/helpers.go."""
    container = pod["spec"]["containers"][0]
    text = "The node was low on resource: memory. Threshold quantity: 100Mi, available: 91448Ki. "
    text += (
        f"Container {container['name']} was using {usage}, request is {container['resources']['requests']['memory']}"
    )
    text += ", has larger consumption of memory. "
    killed = {"terminated": {"exitCode": 137, "reason": "Error", "startedAt": now(), "finishedAt": now()}}
    containers = [
        {**entry, "state": killed, "ready": False, "started": False} for entry in pod["status"]["containerStatuses"]
    ]
    target = stated("DisruptionTarget", "True", "TerminationByKubelet", text)
    failed = [stated(name, "False", "PodFailed") for name in ("Ready", "ContainersReady")]
    kept = [entry for entry in pod["status"]["conditions"] if entry["type"] not in {"Ready", "ContainersReady"}]
    status = {
        **pod["status"],
        "phase": "Failed",
        "reason": "Evicted",
        "message": text,
        "containerStatuses": containers,
        "conditions": [*kept, *failed, target],
    }
    return {**pod, "status": status}, kubelet_event(pod, "Evicted", text)


def scheduler_event(pod: Object, reason: str, text: str) -> Object:
    """An event as the scheduler writes it, by the newer of two interfaces."""
    by = {"reportingComponent": "default-scheduler", "reportingInstance": "default-scheduler-demo"}
    return _event(pod, reason, text) | by | {"eventTime": now(micro=True), "action": "Scheduling"}


def kubelet_event(pod: Object, reason: str, text: str) -> Object:
    times = {"firstTimestamp": now(), "lastTimestamp": now(), "count": 1}
    return _event(pod, reason, text) | times | {"source": {"component": "kubelet", "host": node_of(pod)}}


def _event(pod: Object, reason: str, text: str) -> Object:
    metadata = pod["metadata"]
    name, namespace = f"{metadata['name']}.{metadata['uid'][:8]}{reason.lower()}", metadata["namespace"]
    about = {
        "apiVersion": "v1",
        "kind": "Pod",
        "namespace": namespace,
        "name": metadata["name"],
        "uid": metadata["uid"],
    }
    return {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": name, "namespace": namespace},
        "involvedObject": about,
        "type": "Warning",
        "reason": reason,
        "message": text,
    }


def condition(pod: Object, name: str) -> Object | None:
    """The pod's condition of a type, None if it has none."""
    found = (entry for entry in pod["status"].get("conditions", ()) if entry["type"] == name)
    return next(found, None)


def stated(name: str, status: str, reason: str = "", message: str = "") -> Object:
    """A condition that became so just now."""
    texts = {key: text for key, text in (("reason", reason), ("message", message)) if text}
    return {"type": name, "status": status, "lastTransitionTime": now(), **texts}


def sidecar(container: Object) -> bool:
    return container.get("restartPolicy") == "Always"


def node_of(pod: Object) -> str:
    name: str = pod["spec"].get("nodeName", "")
    return name


def now(*, micro: bool = False) -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ" if micro else "%Y-%m-%dT%H:%M:%SZ")
