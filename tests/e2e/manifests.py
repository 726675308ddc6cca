"""Objects as charts and operators write them, and one or two values in them that are another than they were.

What a value becomes follows from its Go type alone, so that the decoder takes it and validation has to find it.
"""

from __future__ import annotations

import copy
import random
from collections.abc import Callable, Iterator
from typing import Any

from e2e.pods import stanza

from kubectl_kres.admission.decoding import table

Object = dict[str, Any]

TEXTS = (
    *("", "a", "b", "a b", " a", "A_b", "a.b", "-a", "a-", "x" * 64, "a/b", "A/b", "/a", "../a", "..a", "a<b>&c", "é"),
    *("Always", "Never", "None", "Exists", "In", "Gt", "metadata.name", "metadata.labels['A_b']", "limits.cpu"),
    *("1", "10.0.0.1", "010.0.0.1", "::1", "::ffff:1.2.3.4", "http", "v1", "Localhost", "localhost/x"),
)
NUMBERS = (-1, 0, 1, 2, 30, 80, 101, 0o777, 0o1000, 65536, 2**31 - 1, 2**31)
PORTS = (-1, 0, 80, 65536, "http", "no port", "80")
QUANTITIES = ("0", "1", "1Mi", "-1", "1500m", "3")

#: Left as they are: a name decides where the object goes; the others are read before all else or are not looked at.
KEPT = {
    *("apiVersion", "kind", "managedFields", "creationTimestamp", "deletionTimestamp", "status", "namespace"),
    *("selfLink", "resourceVersion", "uid", "deletionGracePeriodSeconds", "schedulingGroup", "windowsOptions"),
    *("priorityClassName", "runtimeClassName", "overhead", "priority", "nodeName", "resourceClaims", "claims"),
    *("ephemeralContainers", "stopSignal", "subresource", "timeZone"),
}


def pod_spec(rng: random.Random, *, restart: str = "") -> Object:
    """A spec that the server takes."""
    volumes = rng.sample(VOLUMES, rng.randint(0, 5))
    spec: Object = {
        "containers": [_container(rng, f"c{index}", volumes) for index in range(rng.choice((1, 1, 2, 3)))],
        "volumes": copy.deepcopy(volumes),
    }
    if rng.random() < 0.4:
        spec["initContainers"] = [_init(rng, f"i{index}", volumes) for index in range(rng.randint(1, 2))]
    for chance, key, values in SPEC:
        if rng.random() < chance:
            spec[key] = copy.deepcopy(rng.choice(values))
    if restart:
        spec["restartPolicy"] = restart
    return spec


def _container(rng: random.Random, name: str, volumes: list[Object]) -> Object:
    found: Object = {"name": name, "image": f"registry.example.com/{name}:1", "resources": stanza(rng)}
    for chance, key, values in CONTAINER:
        if rng.random() < chance:
            found[key] = copy.deepcopy(rng.choice(values))
    mounted = rng.sample(volumes, rng.randint(0, len(volumes)))
    found["volumeMounts"] = [
        {"name": one["name"], "mountPath": f"/mnt/{one['name']}", **rng.choice(MOUNTS)} for one in mounted
    ]
    return found


def _init(rng: random.Random, name: str, volumes: list[Object]) -> Object:
    found = _container(rng, name, volumes)
    if rng.random() < 0.4:
        found["restartPolicy"] = "Always"
        return found
    for key in ("livenessProbe", "readinessProbe", "startupProbe", "lifecycle"):
        found.pop(key, None)
    return found


_SELECTOR = ({"matchLabels": {"app": "web"}}, {"matchExpressions": [{"key": "app", "operator": "In", "values": ["a"]}]})
_TERM = {"topologyKey": "kubernetes.io/hostname", "labelSelector": _SELECTOR[0]}
_NODES = {"matchExpressions": [{"key": "kubernetes.io/arch", "operator": "In", "values": ["amd64"]}]}
_PROBES = (
    {
        "httpGet": {"path": "/healthz", "port": "http", "httpHeaders": [{"name": "X-A", "value": "b"}]},
        "periodSeconds": 5,
    },
    {"tcpSocket": {"port": 80}, "initialDelaySeconds": 3},
    {"exec": {"command": ["true"]}, "timeoutSeconds": 2, "failureThreshold": 4},
    {"grpc": {"port": 90}},
)
_FIELD = {"name": "POD", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}
_LIMIT = {"name": "CPU", "valueFrom": {"resourceFieldRef": {"resource": "limits.cpu", "divisor": "1m"}}}
_KEY = {"name": "KEY", "valueFrom": {"configMapKeyRef": {"name": "conf", "key": "a.b", "optional": True}}}
_SECRET = {"name": "PASSWORD", "valueFrom": {"secretKeyRef": {"name": "conf", "key": "password"}}}
_HARD = {
    "runAsNonRoot": True,
    "runAsUser": 1000,
    "allowPrivilegeEscalation": False,
    "capabilities": {"drop": ["ALL"]},
    "seccompProfile": {"type": "RuntimeDefault"},
}
CONTAINER: tuple[tuple[float, str, tuple[Any, ...]], ...] = (
    (0.5, "ports", ([{"name": "http", "containerPort": 80}], [{"containerPort": 53, "protocol": "UDP"}])),
    (0.5, "env", ([_FIELD, {"name": "A", "value": "b"}], [_LIMIT, _KEY], [_SECRET])),
    (0.2, "envFrom", ([{"configMapRef": {"name": "conf"}}], [{"prefix": "P_", "secretRef": {"name": "s"}}])),
    (0.4, "livenessProbe", _PROBES),
    (0.4, "readinessProbe", _PROBES),
    (0.1, "startupProbe", _PROBES),
    (0.2, "lifecycle", ({"preStop": {"sleep": {"seconds": 5}}}, {"postStart": {"exec": {"command": ["a"]}}})),
    (0.4, "securityContext", (_HARD, {"privileged": True}, {"readOnlyRootFilesystem": True, "procMount": "Default"},
                              {"appArmorProfile": {"type": "Localhost", "localhostProfile": "a"}})),
    (0.4, "imagePullPolicy", ("Always", "IfNotPresent", "Never")),
    (0.1, "terminationMessagePolicy", ("File", "FallbackToLogsOnError")),
    (0.2, "command", (["sh", "-c", "exit"],)),
    (0.1, "workingDir", ("/srv",)),
)  # fmt: skip
SPEC: tuple[tuple[float, str, tuple[Any, ...]], ...] = (
    (0.3, "securityContext", ({"runAsNonRoot": True, "fsGroup": 1000, "fsGroupChangePolicy": "OnRootMismatch"},
                              {"seccompProfile": {"type": "RuntimeDefault"}, "supplementalGroups": [1, 2]},
                              {"sysctls": [{"name": "net.core.somaxconn", "value": "1"}]})),
    (0.3, "affinity", ({"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {
                            "nodeSelectorTerms": [_NODES]}}},
                       {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [
                           {"weight": 1, "preference": _NODES}]}},
                       {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [_TERM]}},
                       {"podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [
                           {"weight": 100, "podAffinityTerm": _TERM}]}},
                       {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [
                           {**_TERM, "namespaces": ["a"], "namespaceSelector": {}, "matchLabelKeys": ["v"]}]}})),
    (0.3, "tolerations", ([{"operator": "Exists"}], [{"key": "a", "operator": "Equal", "value": "b",
                                                      "effect": "NoSchedule"}],
                          [{"key": "a", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 5}])),
    (0.3, "topologySpreadConstraints", (
        [{"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule", "labelSelector": _SELECTOR[1]}],
        [{"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "ScheduleAnyway", "labelSelector": _SELECTOR[0],
          "matchLabelKeys": ["pod-template-hash"], "nodeTaintsPolicy": "Honor"},
         {"maxSkew": 2, "topologyKey": "host", "whenUnsatisfiable": "DoNotSchedule", "labelSelector": _SELECTOR[0],
          "minDomains": 2}])),
    (0.2, "nodeSelector", ({"kubernetes.io/os": "linux"},)),
    (0.3, "terminationGracePeriodSeconds", (30, 60, 0)),
    (0.2, "dnsPolicy", ("ClusterFirst", "Default")),
    (0.2, "dnsConfig", ({"nameservers": ["10.0.0.10"], "searches": ["a.local"], "options": [{"name": "ndots"}]},)),
    (0.1, "hostAliases", ([{"ip": "10.0.0.1", "hostnames": ["a.local"]}],)),
    (0.1, "hostNetwork", (True, False)),
    (0.1, "imagePullSecrets", ([{"name": "registry"}],)),
    (0.1, "readinessGates", ([{"conditionType": "example.com/ready"}],)),
    (0.1, "schedulingGates", ([{"name": "example.com/gate"}],)),
    (0.1, "os", ({"name": "linux"}, {"name": "windows"})),
    (0.1, "hostname", ("web",)),
    (0.1, "subdomain", ("web",)),
    (0.2, "serviceAccountName", ("default",)),
    (0.1, "shareProcessNamespace", (True,)),
    (0.1, "hostUsers", (False,)),
    (0.1, "restartPolicy", ("Always",)),
)  # fmt: skip
MOUNTS: tuple[Object, ...] = ({}, {}, {"readOnly": True}, {"subPath": "a/b"}, {"mountPropagation": "None"})
VOLUMES: tuple[Object, ...] = (
    {"name": "tmp", "emptyDir": {}},
    {"name": "cache", "emptyDir": {"medium": "Memory", "sizeLimit": "64Mi"}},
    {"name": "conf", "configMap": {"name": "conf", "defaultMode": 420, "items": [{"key": "a", "path": "a.txt"}]}},
    {"name": "secret", "secret": {"secretName": "s", "items": [{"key": "a", "path": "b", "mode": 256}]}},
    {"name": "data", "persistentVolumeClaim": {"claimName": "data"}},
    {"name": "host", "hostPath": {"path": "/var/log", "type": "Directory"}},
    {"name": "info", "downwardAPI": {"items": [{"path": "labels", "fieldRef": {"fieldPath": "metadata.labels"}}]}},
    {"name": "cpu", "downwardAPI": {"items": [
        {"path": "cpu", "resourceFieldRef": {"containerName": "c0", "resource": "requests.cpu"}}]}},
    {"name": "all", "projected": {"sources": [
        {"configMap": {"name": "conf", "items": [{"key": "a", "path": "a"}]}},
        {"secret": {"name": "s", "items": [{"key": "b", "path": "b"}]}},
        {"downwardAPI": {"items": [{"path": "c", "fieldRef": {"fieldPath": "metadata.name"}}]}}]}},
    {"name": "nfs", "nfs": {"server": "nfs.local", "path": "/export"}},
    {"name": "csi", "csi": {"driver": "csi.example.com", "nodePublishSecretRef": {"name": "s"}}},
    {"name": "scratch", "ephemeral": {"volumeClaimTemplate": {"metadata": {"labels": {"a": "b"}}, "spec": {
        "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}}}},
    {"name": "image", "image": {"reference": "registry.example.com/data:1", "pullPolicy": "Always"}},
    {"name": "bare"},
)  # fmt: skip


def pod(rng: random.Random, name: str) -> Object:
    metadata: Object = {"name": name, "labels": {"app": "web"}, "annotations": {"example.com/a": "b"}}
    if rng.random() < 0.1:
        owner = {"apiVersion": "v1", "kind": "Node", "name": "n", "uid": "u", "controller": True}
        metadata["ownerReferences"] = [owner]
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": pod_spec(rng)}


def workload(rng: random.Random, name: str) -> Object:
    """Something that makes pods."""
    kind = rng.choice(tuple(KINDS))
    labels = {"app": "web", "tier": "a"}
    restart = rng.choice(("Never", "OnFailure")) if kind in {"Job", "CronJob"} else rng.choice(("", "Always"))
    template = {"metadata": {"labels": dict(labels)}, "spec": pod_spec(rng, restart=restart)}
    selector: Object = {"matchLabels": {"app": "web"}}
    spec: Object = {"template": template}
    match kind:
        case "Job":
            spec |= copy.deepcopy(rng.choice(JOB))
        case "CronJob":
            spec = {"schedule": "0 * * * *", "jobTemplate": {"spec": spec}, **rng.choice(CRON)}
        case "ReplicationController":
            spec |= {"replicas": 2, **rng.choice(({}, {"selector": {"app": "web"}}))}
        case "StatefulSet":
            claim = {"metadata": {"name": "data"}, "spec": {"accessModes": ["ReadWriteOnce"],
                     "resources": {"requests": {"storage": "1Gi"}}}}  # fmt: skip
            spec |= {"selector": selector, "serviceName": "web", **rng.choice(({}, {"volumeClaimTemplates": [claim]}))}
        case _:
            spec["selector"] = selector
    version = KINDS[kind]
    return {"apiVersion": version, "kind": kind, "metadata": {"name": name, "labels": {"app": "web"}}, "spec": spec}


_ON_FAILURE = {"rules": [
    {"action": "FailJob", "onExitCodes": {"containerName": "c0", "operator": "In", "values": [1, 42]}},
    {"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]}]}  # fmt: skip
_ON_SUCCESS = {"rules": [{"succeededIndexes": "0,2-3", "succeededCount": 2}, {"succeededCount": 4}]}
JOB: tuple[Object, ...] = (
    {},
    {"completions": 3, "parallelism": 2},
    {"backoffLimit": 1},
    {"podFailurePolicy": _ON_FAILURE, "podReplacementPolicy": "Failed"},
    {"completionMode": "Indexed", "completions": 5, "successPolicy": _ON_SUCCESS, "backoffLimitPerIndex": 1},
)
CRON: tuple[Object, ...] = ({}, {"suspend": True}, {"timeZone": "Etc/UTC"}, {"concurrencyPolicy": "Forbid"})
KINDS = {
    **dict.fromkeys(("Deployment", "ReplicaSet", "StatefulSet", "DaemonSet"), "apps/v1"),
    **dict.fromkeys(("Job", "CronJob"), "batch/v1"),
    "ReplicationController": "v1",
}


def altered(rng: random.Random, object_: Object, count: int) -> Object:
    """A copy in which so many values are others."""
    found = copy.deepcopy(object_)
    for _ in range(count):
        places = [*_places(found, found["kind"])]
        rng.choice(places)(rng)
    return found


#: Changes a value.
Change = Callable[[random.Random], None]


def _places(value: Object, struct: str) -> Iterator[Change]:
    """A change for every field that is written, and now and then one for a field that is not."""
    fields, leaves = table().types[struct], table().leaves.get(struct, {})
    for key in list(value):
        if key in KEPT or key not in fields:
            continue
        inner, held = fields[key], value[key]
        leaf = leaves.get(key, "")
        yield _changes(value, key, inner, leaf)
        if inner and isinstance(held, list):
            for item in held:
                if isinstance(item, dict):
                    yield from _places(item, inner.removeprefix("[]"))
        elif inner and isinstance(held, dict):
            yield from _places(held, inner)
    absent = [key for key in fields if key not in value and key not in KEPT]
    if absent and struct not in {"ObjectMeta", "Volume"}:
        yield lambda rng: _add(rng, value, rng.choice(absent), fields, leaves)


def _changes(holder: Object, key: str, inner: str, leaf: str) -> Change:
    def change(rng: random.Random) -> None:
        held = holder[key]
        if rng.random() < 0.15:
            del holder[key]
        elif rng.random() < 0.05:
            holder[key] = None
        elif inner and isinstance(held, list):
            _change_list(rng, held)
        elif inner:
            holder[key] = {}
        else:
            _set(rng, holder, key, leaf)

    return change


def _change_list(rng: random.Random, held: list[Any]) -> None:
    match rng.choice(("empty", "twice", "blank", "null", "drop")):
        case "empty":
            held.clear()
        case "twice" if held:
            held.append(copy.deepcopy(rng.choice(held)))
        case "null":
            held.append(None)
        case "drop" if held:
            held.pop(rng.randrange(len(held)))
        case _:
            held.append({})


def _add(rng: random.Random, holder: Object, key: str, fields: Any, leaves: Any) -> None:
    inner = fields[key]
    if inner:
        holder[key] = rng.choice(([], [{}])) if inner.startswith("[]") else {}
    else:
        _set(rng, holder, key, leaves.get(key, ""))


def _set(rng: random.Random, holder: Object, key: str, leaf: str) -> None:
    """Another value of the same type."""
    kind = leaf.partition(":")[0]
    if kind.startswith("[]"):
        item = rng.choice(NUMBERS[:-1]) if "int" in kind else rng.choice(TEXTS)
        holder[key] = rng.choice(([], [item], [item, item]))
    elif kind.startswith("map[string]"):
        holder[key] = rng.choice(({}, {rng.choice(TEXTS): rng.choice(TEXTS)}))
    elif kind == "string":
        holder[key] = rng.choice(TEXTS)
    elif kind == "bool":
        holder[key] = not holder.get(key)
    elif kind in {"int32", "int64"}:
        holder[key] = rng.choice(NUMBERS if kind == "int64" else NUMBERS[:-1])
    elif key in {"port", "targetPort", "maxSurge", "maxUnavailable"}:
        holder[key] = rng.choice(PORTS)
    elif key in {"sizeLimit", "divisor"}:
        holder[key] = rng.choice(QUANTITIES)
