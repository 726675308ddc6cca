"""Whole objects with the values that the API server fills in when it decodes them.

Source: kubernetes pkg/apis/{core,apps,batch,autoscaling}/v1/defaults.go and zz_generated.defaults.go.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping
from functools import reduce
from typing import Any

from kubectl_kres.model.objects import mapping
from kubectl_kres.model.workload_kinds import WORKLOADS

Raw = dict[str, Any]

TOLERATION_SECONDS = 300
_FILE_MODE = 0o644


def with_defaults(raw: Mapping[str, Any]) -> Raw:
    """Return a copy of the object with every default of its kind; of an unknown kind nothing changes."""
    raw_copy: Raw = copy.deepcopy(dict(raw))
    for key in [key for key, value in raw_copy.items() if value is None]:
        del raw_copy[key]
    fill = _KINDS.get(str(raw_copy.get("kind", "")))
    if fill is not None:
        if raw_copy["kind"] != "PodTemplate":
            raw_copy.setdefault("status", {})
        fill(raw_copy)
    return raw_copy


def template_of(raw: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return where metadata and spec of the pod stand."""
    kind = str(raw.get("kind"))
    if kind != "Pod" and kind not in WORKLOADS:
        return None
    return reduce(mapping, WORKLOADS[kind].template if kind in WORKLOADS else (), raw)


def containers_of(spec: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Init containers, containers, ephemeral containers."""
    for key in ("initContainers", "containers", "ephemeralContainers"):
        yield from spec.get(key) or ()


def pull_policy(image: str) -> str:
    """Always for the tag latest and where there is no tag."""
    if "@" in image:
        return "IfNotPresent"
    tail = image.rpartition("/")[2]
    tag = tail.partition(":")[2]
    return "Always" if tag in ("", "latest") else "IfNotPresent"


def _pod(raw_copy: Raw) -> None:
    spec = raw_copy.setdefault("spec", {})
    pod_spec(spec)
    host_ports(spec)
    spec.setdefault("enableServiceLinks", True)


def host_ports(spec: Raw) -> None:
    """On the host's network a port is one of the host."""
    if not spec.get("hostNetwork"):
        return
    for key in ("containers", "initContainers"):
        for container in spec.get(key) or ():
            for port in container.get("ports") or ():
                port["hostPort"] = port.get("hostPort") or port.get("containerPort", 0)


def pod_spec(spec: Raw) -> None:
    """Fill a pod spec, of a pod or of a template."""
    for key in [key for key, value in spec.items() if value is None]:
        del spec[key]
    for key, value in (
        ("dnsPolicy", "ClusterFirst"), ("restartPolicy", "Always"), ("schedulerName", "default-scheduler"),
    ):  # fmt: skip
        if not spec.get(key):
            spec[key] = value
    spec.setdefault("securityContext", {})
    spec.setdefault("terminationGracePeriodSeconds", 30)
    account = spec.get("serviceAccountName") or spec.get("serviceAccount")
    if account:
        spec["serviceAccountName"] = spec["serviceAccount"] = account
    for key in ("containers", "initContainers", "ephemeralContainers"):
        for container in spec.get(key) or ():
            _container(container)
    for volume in spec.get("volumes") or ():
        _volume(volume)


def _container(container: Raw) -> None:
    if not container.get("imagePullPolicy"):
        container["imagePullPolicy"] = pull_policy(str(container.get("image", "")))
    if not container.get("terminationMessagePath"):
        container["terminationMessagePath"] = "/dev/termination-log"
    if not container.get("terminationMessagePolicy"):
        container["terminationMessagePolicy"] = "File"
    container["resources"] = container.get("resources") or {}
    for port in container.get("ports") or ():
        port["protocol"] = port.get("protocol") or "TCP"
    for variable in container.get("env") or ():
        _variable(variable.get("valueFrom") or {})
    for key in ("livenessProbe", "readinessProbe", "startupProbe"):
        if container.get(key) is not None:
            _probe(container[key])
    for hook in (container.get("lifecycle") or {}).values():
        if isinstance(hook, dict):
            _http(hook)


def _variable(source: Raw) -> None:
    if source.get("fieldRef") is not None:
        source["fieldRef"].setdefault("apiVersion", "v1")
    if source.get("resourceFieldRef") is not None:
        source["resourceFieldRef"].setdefault("divisor", "0")


def _probe(probe: Raw) -> None:
    for key, value in (("timeoutSeconds", 1), ("periodSeconds", 10), ("successThreshold", 1), ("failureThreshold", 3)):
        if not probe.get(key):
            probe[key] = value
    _http(probe)
    if probe.get("grpc") is not None:
        probe["grpc"].setdefault("service", "")


def _http(handler: Raw) -> None:
    request = handler.get("httpGet")
    if request is not None:
        request["path"] = request.get("path") or "/"
        request["scheme"] = request.get("scheme") or "HTTP"


def _volume(volume: Raw) -> None:
    if all(key == "name" or volume[key] is None for key in volume):
        volume["emptyDir"] = {}
    for key in ("secret", "configMap", "downwardAPI", "projected"):
        if volume.get(key) is not None:
            volume[key].setdefault("defaultMode", _FILE_MODE)
    _default_old_volume(volume)
    if volume.get("hostPath") is not None:
        volume["hostPath"].setdefault("type", "")
    _sources(volume)
    template = (volume.get("ephemeral") or {}).get("volumeClaimTemplate")
    if template is not None:
        template.setdefault("spec", {}).setdefault("volumeMode", "Filesystem")
    image = volume.get("image") or {}
    if image.get("reference") and not image.get("pullPolicy"):
        image["pullPolicy"] = pull_policy(str(image.get("reference", "")))


_OF_VOLUMES: Mapping[str, Mapping[str, Any]] = {
    "iscsi": {"iscsiInterface": "default"},
    "rbd": {"pool": "rbd", "user": "admin", "keyring": "/etc/ceph/keyring"},
    "azureDisk": {"cachingMode": "ReadWrite", "fsType": "ext4", "readOnly": False, "kind": "Shared"},
    "scaleIO": {"storageMode": "ThinProvisioned", "fsType": "xfs"},
}


def _default_old_volume(volume: Raw) -> None:
    for key, defaults in _OF_VOLUMES.items():
        if volume.get(key) is not None:
            for name, value in defaults.items():
                if volume[key].get(name) in (None, ""):
                    volume[key][name] = value


def _sources(volume: Raw) -> None:
    sources = (volume.get("projected") or {}).get("sources") or ()
    for source in sources:
        if source.get("serviceAccountToken") is not None:
            source["serviceAccountToken"].setdefault("expirationSeconds", 3600)
    for part in (volume, *sources):
        for item in (part.get("downwardAPI") or {}).get("items") or ():
            _variable(item)


def _template(holder: Raw) -> None:
    template = holder.setdefault("template", {})
    template.setdefault("metadata", {})
    spec = template.setdefault("spec", {})
    pod_spec(spec)


def _deployment(raw_copy: Raw) -> None:
    spec = raw_copy.setdefault("spec", {})
    spec.setdefault("replicas", 1)
    strategy = spec.setdefault("strategy", {})
    strategy["type"] = strategy.get("type") or "RollingUpdate"
    if strategy["type"] == "RollingUpdate":
        rolling = strategy.setdefault("rollingUpdate", {})
        rolling.setdefault("maxUnavailable", "25%")
        rolling.setdefault("maxSurge", "25%")
    spec.setdefault("revisionHistoryLimit", 10)
    spec.setdefault("progressDeadlineSeconds", 600)
    _template(spec)


def _replica_set(raw_copy: Raw) -> None:
    spec = raw_copy.setdefault("spec", {})
    spec.setdefault("replicas", 1)
    _template(spec)


def _replication_controller(raw_copy: Raw) -> None:
    _replica_set(raw_copy)
    spec = raw_copy["spec"]
    labels = spec["template"]["metadata"].get("labels")
    if labels and not spec.get("selector"):
        spec["selector"] = dict(labels)


def _stateful_set(raw_copy: Raw) -> None:
    spec = raw_copy.setdefault("spec", {})
    spec.setdefault("replicas", 1)
    spec["podManagementPolicy"] = spec.get("podManagementPolicy") or "OrderedReady"
    strategy = spec.setdefault("updateStrategy", {})
    strategy["type"] = strategy.get("type") or "RollingUpdate"
    if strategy["type"] == "RollingUpdate":
        strategy.setdefault("rollingUpdate", {}).setdefault("partition", 0)
    spec.setdefault("revisionHistoryLimit", 10)
    retention = spec.setdefault("persistentVolumeClaimRetentionPolicy", {})
    retention.setdefault("whenDeleted", "Retain")
    retention.setdefault("whenScaled", "Retain")
    spec.setdefault("serviceName", "")
    _template(spec)
    for claim in spec.get("volumeClaimTemplates") or ():
        claim.setdefault("apiVersion", "v1")
        claim.setdefault("kind", "PersistentVolumeClaim")
        claim.setdefault("spec", {}).setdefault("volumeMode", "Filesystem")
        claim.setdefault("status", {}).setdefault("phase", "Pending")


def _daemon_set(raw_copy: Raw) -> None:
    spec = raw_copy.setdefault("spec", {})
    strategy = spec.setdefault("updateStrategy", {})
    strategy["type"] = strategy.get("type") or "RollingUpdate"
    if strategy["type"] == "RollingUpdate":
        rolling = strategy.setdefault("rollingUpdate", {})
        rolling.setdefault("maxUnavailable", 1)
        rolling.setdefault("maxSurge", 0)
    spec.setdefault("revisionHistoryLimit", 10)
    _template(spec)


def job_spec(spec: Raw) -> None:
    """Fill the spec of a Job."""
    if spec.get("completions") is None and spec.get("parallelism") is None:
        spec["completions"] = spec["parallelism"] = 1
    spec.setdefault("parallelism", 1)
    spec.setdefault("backoffLimit", 2147483647 if spec.get("backoffLimitPerIndex") is not None else 6)
    spec.setdefault("completionMode", "NonIndexed")
    spec.setdefault("suspend", False)
    policy = "Failed" if spec.get("podFailurePolicy") else "TerminatingOrFailed"
    spec.setdefault("podReplacementPolicy", policy)
    _template(spec)


def _job(raw_copy: Raw) -> None:
    job_spec(raw_copy.setdefault("spec", {}))


def _cron_job(raw_copy: Raw) -> None:
    spec = raw_copy.setdefault("spec", {})
    spec.setdefault("concurrencyPolicy", "Allow")
    spec.setdefault("suspend", False)
    spec.setdefault("successfulJobsHistoryLimit", 3)
    spec.setdefault("failedJobsHistoryLimit", 1)
    inner = spec.setdefault("jobTemplate", {})
    inner.setdefault("metadata", {})
    _template(inner.setdefault("spec", {}))


def _pod_template(raw_copy: Raw) -> None:
    _template(raw_copy)


def _claim(raw_copy: Raw) -> None:
    raw_copy.setdefault("spec", {}).setdefault("volumeMode", "Filesystem")
    raw_copy.setdefault("status", {}).setdefault("phase", "Pending")


def _service(raw_copy: Raw) -> None:
    spec = raw_copy.setdefault("spec", {})
    spec["type"] = spec.get("type") or "ClusterIP"
    spec["sessionAffinity"] = spec.get("sessionAffinity") or "None"
    for port in spec.get("ports") or ():
        port["protocol"] = port.get("protocol") or "TCP"
        if port.get("targetPort") in (None, 0, ""):
            port["targetPort"] = port.get("port")
    if spec["type"] in ("ClusterIP", "NodePort", "LoadBalancer"):
        spec.setdefault("internalTrafficPolicy", "Cluster")
    if spec["type"] in ("NodePort", "LoadBalancer"):
        spec.setdefault("externalTrafficPolicy", "Cluster")
    if spec["type"] == "LoadBalancer":
        spec.setdefault("allocateLoadBalancerNodePorts", True)


def _autoscaler(raw_copy: Raw) -> None:
    spec = raw_copy.setdefault("spec", {})
    spec.setdefault("minReplicas", 1)
    if raw_copy.get("apiVersion") == "autoscaling/v2" and not spec.get("metrics"):
        target = {"type": "Utilization", "averageUtilization": 80}
        spec["metrics"] = [{"type": "Resource", "resource": {"name": "cpu", "target": target}}]


_KINDS: Mapping[str, Callable[[Raw], None]] = {
    "Pod": _pod, "Deployment": _deployment, "ReplicaSet": _replica_set, "StatefulSet": _stateful_set,
    "DaemonSet": _daemon_set, "Job": _job, "CronJob": _cron_job, "PodTemplate": _pod_template,
    "ReplicationController": _replication_controller, "PersistentVolumeClaim": _claim, "Service": _service,
    "HorizontalPodAutoscaler": _autoscaler,
}  # fmt: skip

#: Versions of one kind that the server converts between: kind and version to the other versions.
EQUIVALENT: Mapping[tuple[str, str], tuple[str, ...]] = {
    ("HorizontalPodAutoscaler", "autoscaling/v2"): ("autoscaling/v1",),
    ("HorizontalPodAutoscaler", "autoscaling/v1"): ("autoscaling/v2",),
}


def convert_version(raw: Mapping[str, Any], api_version: str) -> Raw:
    """Return the object in another version of its kind, as far as the few fields go that both have."""
    raw_copy: Raw = copy.deepcopy(dict(raw))
    raw_copy["apiVersion"] = api_version
    spec = raw_copy.get("spec") or {}
    if api_version == "autoscaling/v1":
        for metric in spec.pop("metrics", None) or ():
            resource = metric.get("resource") or {}
            percent = (resource.get("target") or {}).get("averageUtilization")
            if resource.get("name") == "cpu" and percent is not None:
                spec["targetCPUUtilizationPercentage"] = percent
    elif "targetCPUUtilizationPercentage" in spec:
        target = {"type": "Utilization", "averageUtilization": spec.pop("targetCPUUtilizationPercentage")}
        spec["metrics"] = [{"type": "Resource", "resource": {"name": "cpu", "target": target}}]
    return raw_copy
