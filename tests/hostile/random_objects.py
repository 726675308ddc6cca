"""Files of random objects: sound ones of every kind that is read, altered in random places, alone and together."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from random import Random
from typing import Any

_AMOUNTS = ("1", "500m", "128Mi", "1Gi", "2", "100Mi", "0", "1.5", "3e2", "1Ei")
#: What stands in the place of something else: of each type, and of each form that a library may stumble over.
VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, 1, -1, 0.5, -0.0, 2**31, 2**63 - 1, 2**63, -(2**63), 10**40, 1e300, 1e-7),
    *("", "x", "1", "-1", "0", "1e999", "\u0000", "\ud800", "é", "../x", "a/b", "a.b.c/d", "true", "1Ki1", "9" * 40),
    *("2026-01-01T00:00:00Z", "99999-99-99", "rfc", "$(params.x)", "{{ x }}", "%s", "\u202e", " ", "\n", "-1Gi"),
    *([], {}, [None], [[]], [{}], {"": ""}, {"x": None}, ["x", 1], {"x": {"y": []}}, [0.5], {"a": 0.5}),
    *({"cpu": "1"}, {"memory": "-1"}, {"cpu": None}, {"cpu": 0.1}, {"pods": "x"}, {"nvidia.com/gpu": 1}),
)
_KEYS = (
    *("name", "namespace", "labels", "annotations", "ownerReferences", "finalizers", "generateName", "uid"),
    *("spec", "status", "metadata", "kind", "apiVersion", "replicas", "template", "selector", "containers"),
    *("initContainers", "resources", "requests", "limits", "claims", "overhead", "restartPolicy", "priority"),
    *("hard", "used", "scopes", "scopeSelector", "max", "min", "default", "defaultRequest", "type", "x", ""),
    *("params", "steps", "default", "value", "volumes", "ports", "strategy", "minReadySeconds", "env", "suspend"),
)
_KINDS = ("Pod", "Odd", "Od_d", "", "List", "PodList", "Secret", "ConfigMap", "Namespace", "a.b", "Foo/Bar", "Ünd")
_VERSIONS = ("v1", "apps/v1", "apps/v1/x", "", "/", "v1beta1", "tekton.dev/v1", "tekton.dev/v1beta1", "x.y/v1", "é/v1")


def _pod(random: Random, **more: Any) -> dict[str, Any]:
    def resources() -> dict[str, Any]:
        sides = random.sample(("requests", "limits"), random.randint(0, 2))
        return {
            side: {name: random.choice(_AMOUNTS) for name in random.sample(("cpu", "memory", "ephemeral-storage"), 2)}
            for side in sides
        }

    def container(name: str) -> dict[str, Any]:
        return {"name": name, "image": "i", "resources": resources()}

    spec: dict[str, Any] = {"containers": [container(f"c{at}") for at in range(random.randint(1, 2))], **more}
    if random.random() < 0.3:
        spec["initContainers"] = [container("i")]
    if random.random() < 0.3:
        spec["resources"] = resources()
    return spec


def _template(random: Random, **more: Any) -> dict[str, Any]:
    return {"metadata": {"labels": {"a": "b"}}, "spec": _pod(random, **more)}


def sound(random: Random) -> dict[str, Any]:
    """An object as the server takes it, more or less."""
    name = random.choice(("a", "b", "c"))
    metadata: dict[str, Any] = {"name": name}
    if random.random() < 0.5:
        metadata["namespace"] = random.choice(("shop", "default", "ci"))
    amounts = {
        key: random.choice(_AMOUNTS) for key in random.sample(("requests.cpu", "limits.memory", "pods", "count/x.y"), 2)
    }
    selector = {"matchLabels": {"a": "b"}}
    claims = [{"metadata": {"name": "d"}, "spec": {"resources": {"requests": {"storage": random.choice(_AMOUNTS)}}}}]
    worker = {"replicas": random.randint(0, 3), "selector": selector, "template": _template(random)}
    claim = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": random.choice(_AMOUNTS)}}}
    job = {"template": _template(random, restartPolicy="Never"), "parallelism": 2}
    task = {"params": [{"name": "p", "default": "x"}], "steps": [{"name": "s", "image": "i", "script": "x"}]}
    pipeline = {"params": [{"name": "q"}], "tasks": [{"name": "t", "taskSpec": task}]}
    limits = {
        "type": random.choice(("Container", "Pod", "PersistentVolumeClaim")),
        **{key: {"memory": random.choice(_AMOUNTS)} for key in random.sample(("max", "min", "default"), 2)},
    }
    kinds: tuple[tuple[str, str, dict[str, Any]], ...] = (
        ("v1", "Pod", {"spec": _pod(random)}),
        ("apps/v1", "Deployment", {"spec": {**worker, "strategy": {"rollingUpdate": {"maxSurge": "25%"}}}}),
        ("apps/v1", "StatefulSet", {"spec": {**worker, "volumeClaimTemplates": claims}}),
        ("apps/v1", "DaemonSet", {"spec": {"selector": selector, "template": _template(random)}}),
        ("apps/v1", "ReplicaSet", {"spec": worker}),
        ("v1", "ReplicationController", {"spec": {**worker, "selector": {"a": "b"}}}),
        ("batch/v1", "Job", {"spec": job}),
        ("batch/v1", "CronJob", {"spec": {"schedule": "* * * * *", "jobTemplate": {"spec": job}}}),
        ("v1", "PodTemplate", {"template": _template(random)}),
        ("v1", "LimitRange", {"spec": {"limits": [limits]}}),
        ("v1", "ResourceQuota", {"spec": {"hard": amounts}, "status": {"hard": amounts, "used": {"pods": "1"}}}),
        ("v1", "Namespace", {}),
        ("v1", "Service", {"spec": {"type": "LoadBalancer", "ports": [{"port": 80}], "selector": {"a": "b"}}}),
        ("v1", "PersistentVolumeClaim", {"spec": claim}),
        ("v1", "ConfigMap", {"data": {"a": "b"}}),
        ("v1", "ServiceAccount", {}),
        ("v1", "Node", {"status": {"allocatable": {"cpu": "4"}}}),
        ("scheduling.k8s.io/v1", "PriorityClass", {"value": 5}),
        ("node.k8s.io/v1", "RuntimeClass", {"handler": "x", "overhead": {"podFixed": {"cpu": "1"}}}),
        ("storage.k8s.io/v1", "StorageClass", {"provisioner": "x"}),
        ("autoscaling/v2", "HorizontalPodAutoscaler",
         {"spec": {"scaleTargetRef": {"kind": "Deployment", "name": "a", "apiVersion": "apps/v1"}, "maxReplicas": 4}}),
        ("tekton.dev/v1", "Task", {"spec": task}),
        ("tekton.dev/v1", "TaskRun", {"spec": {"taskSpec": task, "params": [{"name": "p", "value": "y"}]}}),
        ("tekton.dev/v1", "Pipeline", {"spec": pipeline}),
        ("tekton.dev/v1", "PipelineRun", {"spec": {"pipelineSpec": pipeline, "params": [{"name": "q", "value": []}]}}),
        ("tekton.dev/v1beta1", "StepAction", {"spec": {"image": "i", "params": [{"name": "p"}]}}),
        ("capsule.clastix.io/v1beta2", "Tenant",
         {"spec": {"owners": [{"kind": "User", "name": "u"}],
                   "resourceQuotas": {"scope": "Tenant", "items": [{"hard": amounts}]}}}),
        ("capsule.clastix.io/v1beta2", "ResourcePool",
         {"spec": {"quota": {"hard": amounts}, "selectors": [selector], "config": {"orderedQueue": True}}}),
        ("capsule.clastix.io/v1beta2", "ResourcePoolClaim", {"spec": {"pool": "a", "claim": amounts}}),
        ("admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicy",
         {"spec": {"matchConstraints": {"resourceRules": [
            {"apiGroups": ["*"], "apiVersions": ["*"], "resources": ["pods"], "operations": ["*"]}]},
                   "validations": [{"expression": "object.metadata.name != 'x'"}]}}),
        ("admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicyBinding",
         {"spec": {"policyName": "a", "validationActions": ["Deny"]}}),
        ("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration",
         {"webhooks": [{"name": "w", "rules": []}]}),
        ("apiextensions.k8s.io/v1", "CustomResourceDefinition", {"spec": {"group": "x.y", "names": {"kind": "Odd"}}}),
        ("argoproj.io/v1alpha1", "Rollout", {"spec": worker}),
        ("x.y/v1", "Odd", {"spec": worker}),
    )  # fmt: skip
    version, kind, rest = random.choice(kinds)
    return {"apiVersion": version, "kind": kind, "metadata": metadata, **copy.deepcopy(rest)}


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every container of a value, with each of its keys."""
    pairs = list(value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ())
    for key, inner in pairs:
        yield value, key
        yield from places(inner)


def altered(random: Random, item: dict[str, Any]) -> dict[str, Any]:
    for _ in range(random.choice((0, 1, 1, 1, 2, 3, 6))):
        found = list(places(item))
        if not found:
            break
        container, key = random.choice(found)
        deed = random.random()
        if deed < 0.6:
            container[key] = copy.deepcopy(random.choice(VALUES))
        elif deed < 0.75:
            del container[key]
        elif deed < 0.9 and isinstance(container, dict):
            container[random.choice(_KEYS)] = copy.deepcopy(random.choice(VALUES))
        elif isinstance(container, list):
            container.append(copy.deepcopy(random.choice((*VALUES, container[key]))))
    if random.random() < 0.06:
        item["kind"] = random.choice(_KINDS)
    if random.random() < 0.06:
        item["apiVersion"] = random.choice(_VERSIONS)
    return item


def objects(seed: int) -> list[Any]:
    """The objects of one file."""
    random = Random(seed)
    count = random.choice((1, 1, 2, 2, 2, 3, 5))
    return [altered(random, sound(random)) for _ in range(count)]


def text(seed: int) -> str:
    """One file: a document for each object, or one List of them."""
    items = objects(seed)
    if seed % 5 == 0:
        return json.dumps({"apiVersion": "v1", "kind": "List", "items": items})
    return "\n---\n".join(json.dumps(item) for item in items)
