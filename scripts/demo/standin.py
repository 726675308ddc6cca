"""What a scheduler and kubelets would write. None of them runs here: every binding, pod status and node status of the
demo, and the events of a pod, were written by this module and statuses.py in their place.

Their rules for memory are kept, so that nothing here contradicts itself: a pod is bound where its request fits, is
unschedulable where it fits nowhere, and a resize is deferred if the node lacks the room that the message states. Of
CPU there is enough for all.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from typing import Any

import msgspec
from kube import DemoError, Object
from statuses import condition, kubelet_event, node_of, resized, running, scheduler_event, sidecar, stated

from kubectl_kres.admission.base.draft import draft_pod
from kubectl_kres.admission.base.server import Server
from kubectl_kres.admission.pod.aggregate import sum_pod
from kubectl_kres.model.pod import Pod

ALLOCATABLE = {"cpu": "6", "memory": "7Gi", "ephemeral-storage": "80Gi", "pods": "110"}
MEMORY = 7 << 30
GPU, GPU_NODE, GPUS = "nvidia.com/gpu", "node-3", "4"
SCHEDULER, KUBELET = "kube-scheduler", "kubelet"


class Play:
    """What one look at the pods leads to; each list is written by whom it would be."""

    def __init__(self, pods: Iterable[Object], nodes: Iterable[str]) -> None:
        """``pods`` are all pods; ``nodes`` the names of the nodes that can take them."""
        self.pods = list(pods)
        self.used = Counter(dict.fromkeys(nodes, 0))
        self.bindings: list[Object] = []
        self.scheduler_statuses: list[Object] = []
        self.kubelet_statuses: list[Object] = []
        self.gone: list[Object] = []
        self.events: list[Object] = []
        for pod in self.pods:
            if node_of(pod) and not ended(pod):
                self.used[node_of(pod)] += memory(pod)
        for pod in self.pods:
            self._look_at(pod)

    def __bool__(self) -> bool:
        """Whether there is anything to write."""
        return any((self.bindings, self.scheduler_statuses, self.kubelet_statuses, self.gone))

    def _look_at(self, pod: Object) -> None:
        if "deletionTimestamp" in pod["metadata"]:
            self.gone.append(pod)
        elif ended(pod):
            return
        elif not node_of(pod):
            self._schedule(pod)
        elif pod["status"]["phase"] == "Pending":
            self.kubelet_statuses.append({**pod, "status": running(pod)})
        elif allocated(pod) != wanted(pod):
            self._resize(pod)

    def _schedule(self, pod: Object) -> None:
        """Source: scheduler framework/types.go FitError, preemption.go Preempt, dynamicresources.go PostFilter."""
        if condition(pod, "PodScheduled"):
            return
        if memory(pod) > MEMORY:
            count = f"0/{len(self.used)} nodes are available"
            text = f"{count}: {len(self.used)} Insufficient memory. no new claims to deallocate, preemption: "
            text += f"{count}: {len(self.used)} Preemption is not helpful for scheduling."
            status = {**pod["status"], "conditions": [stated("PodScheduled", "False", "Unschedulable", text)]}
            self.scheduler_statuses.append({**pod, "status": status})
            self.events.append(scheduler_event(pod, "FailedScheduling", text))
            return
        node = chosen_node(pod) or min(self.used, key=self.used.__getitem__)
        if self.used[node] + memory(pod) > MEMORY:
            raise DemoError(f"pod {pod['metadata']['name']} fits no node: the demo asks for more than its nodes have")
        self.used[node] += memory(pod)
        target = {"apiVersion": "v1", "kind": "Node", "name": node}
        named = {key: pod["metadata"][key] for key in ("name", "namespace")}
        self.bindings.append({"apiVersion": "v1", "kind": "Binding", "metadata": named, "target": target})

    def _resize(self, pod: Object) -> None:
        """Source: kubelet allocation_manager.go handlePodResourcesResize, lifecycle/predicate.go."""
        others = self.used[node_of(pod)] - memory(pod)
        desired = requested(pod)
        if others + desired <= MEMORY:
            self.kubelet_statuses.append({**pod, "status": resized(pod)})
            return
        if condition(pod, "PodResizePending"):
            return
        text = f"Node didn't have enough resource: memory, requested: {desired}, used: {others}, capacity: {MEMORY}"
        pending = stated("PodResizePending", "True", "Deferred", text)
        seen = {
            "conditions": [*pod["status"]["conditions"], pending],
            "observedGeneration": pod["metadata"]["generation"],
        }
        self.kubelet_statuses.append({**pod, "status": {**pod["status"], **seen}})
        asked = [
            {"name": container["name"], "resources": container.get("resources", {})}
            for container in pod["spec"]["containers"]
        ]
        summary = {"containers": asked, "generation": pod["metadata"]["generation"], "error": text}
        shown = json.dumps(summary, separators=(",", ":"))
        self.events.append(kubelet_event(pod, "ResizeDeferred", f"Pod resize Deferred: {shown}"))


def node_statuses(nodes: Iterable[Object]) -> list[Object]:
    """The nodes as their kubelets would report them; one of them has GPUs."""
    ready = [stated("Ready", "True", "KubeletReady", "kubelet is posting ready status")]
    found = []
    for node in nodes:
        has = {**ALLOCATABLE, **({GPU: GPUS} if node["metadata"]["name"] == GPU_NODE else {})}
        found.append({**node, "status": {"capacity": has, "allocatable": has, "conditions": ready}})
    return found


def chosen_node(pod: Object) -> str:
    """The one node that a DaemonSet made the pod for, or that has GPUs if it asks for one; empty for other pods."""
    if any(GPU in container.get("resources", {}).get("requests", {}) for container in pod["spec"]["containers"]):
        return GPU_NODE
    affinity = pod["spec"].get("affinity", {}).get("nodeAffinity", {})
    terms = affinity.get("requiredDuringSchedulingIgnoredDuringExecution", {}).get("nodeSelectorTerms", ())
    fields = [field for term in terms for field in term.get("matchFields", ()) if field["key"] == "metadata.name"]
    name: str = fields[0]["values"][0] if fields else ""
    return name


def ended(pod: Object) -> bool:
    return pod["status"].get("phase") in {"Succeeded", "Failed"}


def wanted(pod: Object) -> dict[str, Any]:
    """What each running container's spec asks for."""
    beside = [container for container in pod["spec"].get("initContainers", ()) if sidecar(container)]
    return {
        container["name"]: container.get("resources", {}).get("requests", {})
        for container in (*pod["spec"]["containers"], *beside)
    }


def allocated(pod: Object) -> dict[str, Any]:
    """What the kubelet reported to have given each running container."""
    names = wanted(pod).keys()
    statuses = [*pod["status"].get("containerStatuses", ()), *pod["status"].get("initContainerStatuses", ())]
    return {entry["name"]: entry.get("allocatedResources", {}) for entry in statuses if entry["name"] in names}


def memory(pod: Object) -> int:
    """Bytes that the pod takes of its node: what was allocated; what is requested before that."""
    given = {name: requests for name, requests in allocated(pod).items() if name in wanted(pod)}
    if not given or given == wanted(pod):
        return requested(pod)
    spec = pod["spec"]
    containers = [
        {**container, "resources": {**container.get("resources", {}), "requests": given[container["name"]]}}
        for container in spec["containers"]
    ]
    return requested({**pod, "spec": {**spec, "containers": containers}})


def requested(pod: Object) -> int:
    """Bytes of memory that the pod's spec asks for."""
    found = sum_pod(draft_pod(msgspec.convert(pod, Pod), Server(), None), "requests").get("memory")
    return found.value() if found else 0
