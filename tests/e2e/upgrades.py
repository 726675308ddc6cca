"""Generated worlds for the question of an upgrade: namespaces with policies, and pods that versions may tell apart."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

Object = dict[str, Any]
_CPU, _MEMORY = ("100m", "250m", "1", "2"), ("64Mi", "128Mi", "512Mi", "1Gi")
_API = "admissionregistration.k8s.io/v1"
#: A list of objects, at which servers before 1.37 drop the connection.
_SIDECAR = (
    '[JSONPatch{op: "add", path: "/spec/initContainers", value: [Object.spec.initContainers{name: "proxy", image: "i", '
    'restartPolicy: "Always", resources: Object.spec.initContainers.resources{requests: {"cpu": "100m"}}}]}]'
)
#: The pod as policies see it.
_SEEN = (
    '[JSONPatch{op: "add", path: "/metadata/annotations", value: {"level": '
    'has(object.spec.resources) && has(object.spec.resources.requests) ? "requests" : "none"}}]'
)
_VALIDATIONS = (
    "!has(object.spec.resources) || !has(object.spec.resources.limits) || size(object.spec.resources.limits) < 2",
    "object.status.qosClass != 'BestEffort'",
    "object.spec.containers.all(c, has(c.resources.limits))",
)


class World(NamedTuple):
    """A namespace with its labels, what stands in it, policies that are bound to it, and pods that are asked about."""

    name: str
    labels: Mapping[str, str]
    objects: list[Object]
    policies: list[Object]
    pods: list[Object]

    @property
    def space(self) -> Object:
        return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": self.name, "labels": dict(self.labels)}}


def worlds(seed: str, count: int) -> Iterator[World]:
    for index in range(count):
        yield _world(random.Random(f"{seed}/upgrade/{index}"), f"up-{index}")


def _world(rng: random.Random, name: str) -> World:
    labels = {"world": name}
    if rng.random() < 0.2:
        labels["pod-security.kubernetes.io/enforce"] = "baseline"
    objects = [
        *([_limit_range(rng)] if rng.random() < 0.4 else []),
        *([_quota(rng)] if rng.random() < 0.5 else []),
    ]
    policies: list[Object] = []
    if rng.random() < 0.25:
        policies += _mutating(rng, name)
    if rng.random() < 0.3:
        policies += _validating(rng, name)
    return World(name, labels, objects, policies, [_pod(rng, f"p-{place}") for place in range(rng.randint(2, 5))])


def _bound(kind: str, name: str, spec: Object, **binding: Any) -> list[Object]:
    rules = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}
    constraints = {"resourceRules": [rules], "namespaceSelector": {"matchLabels": {"world": name}}}
    policy = {"failurePolicy": "Fail", "matchConstraints": constraints, **spec}
    return [
        {"apiVersion": _API, "kind": f"{kind}AdmissionPolicy", "metadata": {"name": name}, "spec": policy},
        {"apiVersion": _API, "kind": f"{kind}AdmissionPolicyBinding", "metadata": {"name": name},
         "spec": {"policyName": name, **binding}},
    ]  # fmt: skip


def _mutating(rng: random.Random, name: str) -> list[Object]:
    patch = {"patchType": "JSONPatch", "jsonPatch": {"expression": rng.choice((_SIDECAR, _SEEN))}}
    return _bound("Mutating", name, {"reinvocationPolicy": "Never", "mutations": [patch]})


def _validating(rng: random.Random, name: str) -> list[Object]:
    validation = {"expression": rng.choice(_VALIDATIONS), "message": "not here"}
    return _bound("Validating", name, {"validations": [validation]}, validationActions=["Deny"])


def _limit_range(rng: random.Random) -> Object:
    item: Object = {"type": "Container"}
    for key, cpu, memory in (("default", "500m", "256Mi"), ("defaultRequest", "100m", "128Mi")):
        if rng.random() < 0.7:
            item[key] = {"cpu": cpu, "memory": memory}
    return {"apiVersion": "v1", "kind": "LimitRange", "metadata": {"name": "l"}, "spec": {"limits": [item]}}


def _quota(rng: random.Random) -> Object:
    hard = dict(rng.sample(
        [("limits.memory", "600Mi"), ("limits.cpu", "1500m"), ("requests.memory", "600Mi"), ("requests.cpu", "1")],
        rng.randint(1, 2),
    ))  # fmt: skip
    scopes = {"scopes": [rng.choice(("NotBestEffort", "NotTerminating"))]} if rng.random() < 0.3 else {}
    spec = {"hard": hard, **scopes}
    return {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "q"}, "spec": spec}


def _side(rng: random.Random) -> Object:
    chosen = {"cpu": rng.choice(_CPU), "memory": rng.choice(_MEMORY)}
    return {key: value for key, value in chosen.items() if rng.random() < 0.6}


def _container(rng: random.Random, name: str) -> Object:
    resources = {side: values for side in ("limits", "requests") if rng.random() < 0.6 and (values := _side(rng))}
    if {"limits", "requests"} <= resources.keys():
        resources["requests"] = {
            key: resources["limits"].get(key, value) for key, value in resources["requests"].items()
        }
    return {"name": name, "image": "i", **({"resources": resources} if resources else {})}


def _pod(rng: random.Random, name: str) -> Object:
    spec: Object = {"containers": [_container(rng, f"c{index}") for index in range(rng.randint(1, 3))]}
    if rng.random() < 0.2:
        spec["initContainers"] = [_container(rng, "i")]
        if rng.random() < 0.5:
            spec["initContainers"][0]["restartPolicy"] = "Always"
    if rng.random() < 0.6:
        sides = {side: values for side in ("limits", "requests") if rng.random() < 0.5 and (values := _side(rng))}
        if {"limits", "requests"} <= sides.keys():
            sides["requests"] = {key: sides["limits"].get(key, value) for key, value in sides["requests"].items()}
        spec["resources"] = sides
    if rng.random() < 0.1:
        spec["securityContext"] = {"sysctls": [{"name": "net.ipv4.tcp_notsent_lowat", "value": "1"}]}
    if rng.random() < 0.05:
        spec["volumes"] = [
            {"name": "v", "projected": {"sources": [{"clusterTrustBundle": {"name": "x", "path": "p"}}]}}
        ]
    status = {"status": {"qosClass": rng.choice(("Guaranteed", "BestEffort"))}} if rng.random() < 0.1 else {}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": spec, **status}
