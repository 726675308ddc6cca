"""Random LimitRanges, quotas and the objects besides pods that they count or bound."""

from __future__ import annotations

import random
from typing import Any

from e2e.amounts import EXTENDED, NEGATIVE, UNPARSABLE, ordered, quantity
from e2e.pods import Object

POD_SCOPES = ("Terminating", "NotTerminating", "BestEffort", "NotBestEffort", "CrossNamespacePodAffinity")
COMPUTE = ("cpu", "memory", "requests.cpu", "requests.memory", "limits.cpu", "limits.memory")
OTHER = (
    *("pods", "count/pods", "requests.ephemeral-storage", "limits.ephemeral-storage", "ephemeral-storage"),
    *("requests.example.com/gpu", "requests.vendor.io/fpga", "example.com/gpu"),
    *("hugepages-2Mi", "requests.hugepages-2Mi", "hugepages-1Gi"),
)
OBJECTS = (
    *("services", "services.nodeports", "services.loadbalancers", "count/services"),
    *("persistentvolumeclaims", "requests.storage", "count/persistentvolumeclaims"),
    *("gold.storageclass.storage.k8s.io/requests.storage", "gold.storageclass.storage.k8s.io/persistentvolumeclaims"),
    *(
        "configmaps",
        "count/secrets",
        "resourcequotas",
        "count/limitranges",
        "count/deployments.apps",
        "count/jobs.batch",
    ),
)
FIELDS = ("min", "defaultRequest", "default", "max")


def limit_range(rng: random.Random, name: str, *, faulty: float = 0.0) -> Object:
    """A LimitRange; ``faulty``: the chance that something is wrong with each item."""
    types = rng.choices(
        ("Container", "Container", "Container", "Pod", "PersistentVolumeClaim", "example.com/Thing"),
        k=rng.randint(1, 3),
    )
    if rng.random() >= faulty:
        types = list(dict.fromkeys(types))
    items = [_item(rng, type_) for type_ in types]
    for item in items:
        if rng.random() < faulty:
            _spoil_item(rng, item)
    return {"apiVersion": "v1", "kind": "LimitRange", "metadata": {"name": name}, "spec": {"limits": items}}


def _item(rng: random.Random, type_: str) -> Object:
    if type_ == "PersistentVolumeClaim":
        low, high = ordered(rng, "storage", 2)
        fields = rng.choice(({"min": low}, {"max": high}, {"min": low, "max": high}))
        return {"type": type_, **{field: {"storage": value} for field, value in fields.items()}}
    names = [name for name in ("cpu", "memory") if rng.random() < 0.7]
    names += [rng.choice(("ephemeral-storage", *EXTENDED))] if rng.random() < 0.15 else []
    item: Object = {"type": type_}
    for name in names or ["memory"]:
        for field, value in zip(FIELDS, ordered(rng, name, 4), strict=True):
            if type_ == "Pod" and field.startswith("default"):
                continue
            if rng.random() < (0.3 if field == "min" else 0.45):
                item.setdefault(field, {})[name] = value
        if rng.random() < 0.15:
            item.setdefault("maxLimitRequestRatio", {})[name] = rng.choice(("1", "2", "1.5", "4", "10"))
    return item


def _spoil_item(rng: random.Random, item: Object) -> None:
    field = rng.choice((*FIELDS, "maxLimitRequestRatio"))
    resource = rng.choice(("cpu", "memory", "storage", "gpu", "example.com/gpu", "a/b/c", "hugepages-2Mi"))
    value = rng.choice((quantity(rng, "memory"), "0.5", rng.choice(NEGATIVE), "100", rng.choice(UNPARSABLE)))
    item.setdefault(field, {})[resource] = value
    if rng.random() < 0.2:
        item["type"] = rng.choice(("Node", "", "a/b/c", "Pod", "PersistentVolumeClaim", "-x"))


def quota(rng: random.Random, name: str, *, faulty: float = 0.0) -> Object:
    """A quota that some pods exceed; ``faulty``: the chance that the server refuses the object."""
    if rng.random() < 0.08:
        return _for_claims(rng, name)
    scoped = rng.random() < 0.35
    pool = COMPUTE + (("pods", "count/pods", "requests.example.com/gpu") if scoped else OTHER + OBJECTS)
    names = rng.sample(pool, rng.randint(1, 4))
    if rng.random() < 0.5:
        names = [one for one in names if one not in COMPUTE] or ["pods"]
    spec: Object = {}
    if scoped:
        names = _scope(rng, spec, names)
    spec["hard"] = {one: _hard(rng, one) for one in names}
    if rng.random() < faulty:
        _spoil_quota(rng, spec)
    return {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": name}, "spec": spec}


def _for_claims(rng: random.Random, name: str) -> Object:
    """A quota for claims of some attributes classes."""
    operator = rng.choice(("In", "NotIn", "Exists", "DoesNotExist"))
    expression: Object = {"scopeName": "VolumeAttributesClass", "operator": operator}
    if operator.endswith("In"):
        expression["values"] = [rng.choice(("fast", "slow"))]
    hard = {"persistentvolumeclaims": rng.choice(("0", "1")), "requests.storage": quantity(rng, "storage", 512)}
    spec = {"hard": hard, "scopeSelector": {"matchExpressions": [expression]}}
    return {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": name}, "spec": spec}


def _scope(rng: random.Random, spec: Object, names: list[str]) -> list[str]:
    """Puts a scope into the spec, and returns the names that go with it."""
    scope = rng.choice((*POD_SCOPES, "PriorityClass", "PriorityClass"))
    if scope == "PriorityClass":
        operator = rng.choice(("In", "NotIn", "Exists", "DoesNotExist"))
        expression: Object = {"scopeName": scope, "operator": operator}
        if operator.endswith("In"):
            expression["values"] = rng.sample(("high", "low", "usual", "nobody"), rng.randint(1, 2))
        spec["scopeSelector"] = {"matchExpressions": [expression]}
    elif rng.random() < 0.5:
        spec["scopes"] = [scope]
    else:
        spec["scopeSelector"] = {"matchExpressions": [{"scopeName": scope, "operator": "Exists"}]}
    return ["pods", "count/pods"] if scope == "BestEffort" else names


def _hard(rng: random.Random, name: str) -> Any:
    if name.endswith(("memory", "storage")):
        return quantity(rng, "memory", rng.choice((64, 256, 1024, 4096, 65536)))
    if name.endswith("cpu"):
        return quantity(rng, "cpu", rng.choice((100, 500, 1000, 4000, 64000)))
    if "hugepages" in name:
        return rng.choice(("2Mi", "4Mi", "2Gi"))
    return rng.choice(("0", "1", "2", "5", "1k", 10))


def _spoil_quota(rng: random.Random, spec: Object) -> None:
    hard = spec["hard"]
    match rng.randrange(8):
        case 0:
            hard[rng.choice(("gpu", "storage", "a/b/c", "limits.pods"))] = "1"
        case 1:
            hard[rng.choice(("pods", "cpu", "count/pods", "example.com/gpu", "requests.example.com/gpu"))] = rng.choice(
                ("1500m", "-1")
            )
        case 2:
            hard["memory"] = rng.choice(UNPARSABLE)
        case 3:
            spec["scopes"] = rng.sample((*POD_SCOPES, "Never"), 3)
        case 4:
            spec["scopes"] = ["BestEffort"]
        case 5:
            spec["scopeSelector"] = {"matchExpressions": [{"scopeName": "PriorityClass", "operator": "In"}]}
        case 6:
            expressions = [
                {"scopeName": name, "operator": "Exists", "values": ["x"]} for name in rng.sample(POD_SCOPES, 2)
            ]
            spec["scopeSelector"] = {"matchExpressions": expressions}
        case _:
            expression = {
                "scopeName": rng.choice((*POD_SCOPES, "PriorityClass", "Odd")),
                "operator": rng.choice(("In", "Gt", "DoesNotExist")),
            }
            spec["scopeSelector"] = {"matchExpressions": [expression]}


def claim(rng: random.Random, name: str) -> Object:
    """A PersistentVolumeClaim."""
    resources: Object = {"requests": {"storage": _positive(rng)}}
    if rng.random() < 0.2:
        resources["limits"] = {"storage": rng.choice(("8Gi", "1.5", "1n"))}
    if rng.random() < 0.1:
        resources["requests"]["storage"] = rng.choice((*UNPARSABLE, *NEGATIVE, "0", None))
    spec: Object = {"accessModes": ["ReadWriteOnce"], "resources": resources}
    if rng.random() < 0.5:
        spec["storageClassName"] = rng.choice(("gold", "costly", ""))
    if rng.random() < 0.3:
        spec["volumeAttributesClassName"] = rng.choice(("fast", "slow"))
    metadata: Object = {"name": name}
    if rng.random() < 0.1:
        metadata["annotations"] = {"volume.beta.kubernetes.io/storage-class": rng.choice(("gold", "bronze", ""))}
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": metadata, "spec": spec}


def _positive(rng: random.Random) -> Any:
    return rng.choice(
        (ordered(rng, "storage", 1)[0], ordered(rng, "storage", 1)[0], "1.5", "1n", "1e3", "10Pi", "100m")
    )


def service(rng: random.Random, name: str) -> Object:
    """A service of any type that quotas tell apart."""
    ports: list[Object] = [{"name": f"p{number}", "port": number} for number in range(80, 80 + rng.randint(1, 3))]
    spec: Object = {"type": rng.choice(("ClusterIP", "NodePort", "LoadBalancer")), "ports": ports}
    if spec["type"] == "LoadBalancer" and rng.random() < 0.5:
        spec["allocateLoadBalancerNodePorts"] = rng.random() < 0.3
    return {"apiVersion": "v1", "kind": "Service", "metadata": {"name": name}, "spec": spec}


def counted(rng: random.Random, name: str) -> Object:
    """An object that quotas only count, and that makes no pods."""
    labels = {"a": "b"}
    containers = [{"name": "c", "image": "img"}]
    once = {"metadata": {"labels": labels}, "spec": {"containers": containers, "restartPolicy": "Never"}}
    always = {"metadata": {"labels": labels}, "spec": {"containers": containers}}
    selector = {"matchLabels": labels}
    choices: tuple[tuple[str, str, Object], ...] = (
        ("ConfigMap", "v1", {}),
        ("Secret", "v1", {"stringData": {"a": "b"}}),
        ("Job", "batch/v1", {"spec": {"suspend": True, "template": once}}),
        ("Deployment", "apps/v1", {"spec": {"replicas": 0, "selector": selector, "template": always}}),
    )
    kind, version, rest = rng.choice(choices)
    return {"apiVersion": version, "kind": kind, "metadata": {"name": name}, **rest}
