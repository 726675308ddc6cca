"""Random pods: shapes that a server admits, and faults that are put into them."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from e2e.amounts import EXTENDED, NEGATIVE, PAGES, UNPARSABLE, ordered, quantity

Object = dict[str, Any]
CLAIMS = ("fast", "slow")

#: Changes a pod.
Fault = Callable[[random.Random, Object], None]


def pod(rng: random.Random, name: str) -> Object:
    """A pod; in two of five something is wrong with it, rarely more than one thing."""
    found = shape(rng, name)
    for fault in rng.sample(FAULTS, rng.choice((0, 0, 0, 1, 1, 2) if rng.random() < 0.8 else (0,))):
        fault(rng, found)
    return found


def shape(rng: random.Random, name: str) -> Object:
    """A pod without a fault that was put there."""
    spec: Object = {"containers": [_container(rng, f"c{index}") for index in range(rng.choice((1, 1, 1, 2, 2, 3)))]}
    if rng.random() < 0.35:
        spec["initContainers"] = [_init(rng, f"i{index}") for index in range(rng.randint(1, 3))]
    found = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": spec}
    for chance, add in _EXTRAS:
        if rng.random() < chance:
            add(rng, found)
    return found


def plain_pod(rng: random.Random, name: str) -> Object:
    """A small pod that states everything, so that most quotas take it."""
    stated = {"cpu": quantity(rng, "cpu", 100), "memory": quantity(rng, "memory", 64)}
    containers = [{"name": "c0", "image": "img", "resources": {"requests": stated, "limits": dict(stated)}}]
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": {"containers": containers}}


def _container(rng: random.Random, name: str) -> Object:
    found: Object = {"name": name, "image": "img"}
    resources = stanza(rng)
    if resources or rng.random() < 0.2:
        found["resources"] = resources
    return found


def _init(rng: random.Random, name: str) -> Object:
    found = _container(rng, name)
    if rng.random() < 0.45:
        found["restartPolicy"] = "Always"
    return found


def stanza(rng: random.Random) -> Object:
    """Requests and limits that fit each other."""
    shape = rng.choice(("none", "none", "requests", "limits", "both", "both", "equal", "mixed"))
    requests: Object = {}
    limits: Object = {}
    for resource in () if shape == "none" else _names(rng):
        low, high = ordered(rng, resource, 2)
        sides = rng.choice(("requests", "limits", "both")) if shape == "mixed" else shape
        if shape == "equal" or resource in {*EXTENDED, *PAGES}:
            requests[resource] = limits[resource] = low
            if sides == "limits":
                del requests[resource]
            continue
        if sides != "limits":
            requests[resource] = quantity(rng, resource) if rng.random() < 0.1 else low
        if sides != "requests":
            limits[resource] = quantity(rng, resource) if rng.random() < 0.1 else high
    return {side: values for side, values in (("limits", limits), ("requests", requests)) if values}


def _names(rng: random.Random) -> list[str]:
    names = [name for name in ("cpu", "memory") if rng.random() < 0.8]
    if rng.random() < 0.15:
        names.append("ephemeral-storage")
    if rng.random() < 0.12:
        names.append(rng.choice(EXTENDED))
    if names and rng.random() < 0.12:
        names = [*dict.fromkeys(("memory", *names)), *rng.sample(sorted(PAGES), rng.randint(1, 2))]
    return names


def _pod_level(rng: random.Random, found: Object) -> None:
    resources = stanza(rng) if rng.random() < 0.9 else {}
    for values in resources.values():
        for name in [name for name in values if name in EXTENDED or name == "ephemeral-storage"]:
            del values[name]
        if rng.random() < 0.6:
            values.update({name: value for name, value in (("cpu", "8"), ("memory", "8Gi")) if name in values})
    found["spec"]["resources"] = resources


def _claims(rng: random.Random, found: Object) -> None:
    spec = found["spec"]
    spec["resourceClaims"] = [{"name": name, "resourceClaimName": f"{name}-claim"} for name in CLAIMS]
    chosen = rng.choice(spec["containers"]).setdefault("resources", {})
    chosen["claims"] = [{"name": "fast", "request": "a"}, {"name": "fast", "request": "b"}] if rng.random() < 0.3 else [
        {"name": rng.choice(CLAIMS)}
    ]  # fmt: skip


def _resize_policy(rng: random.Random, found: Object) -> None:
    rng.choice(found["spec"]["containers"])["resizePolicy"] = [
        {"resourceName": name, "restartPolicy": rng.choice(("NotRequired", "RestartContainer"))}
        for name in rng.sample(("cpu", "memory"), rng.randint(1, 2))
    ]


def _restart_policy(rng: random.Random, found: Object) -> None:
    rng.choice(_containers(found))["restartPolicy"] = rng.choice(("Always", "OnFailure", "Never"))


def _env(rng: random.Random, found: Object) -> None:
    values = [
        {"value": "x"},
        {"value": "$(A):more"},
        {"value": "$(A)"},
        {"valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}},
    ]
    names = rng.choices("AAB", k=3)
    rng.choice(_containers(found))["env"] = [{"name": name, **rng.choice(values)} for name in names]


def _unknown_field(rng: random.Random, found: Object) -> None:
    places = (found, found["metadata"], found["spec"], rng.choice(_containers(found)))
    place = rng.choice((*places, rng.choice(_containers(found)).setdefault("resources", {})))
    place[rng.choice(("limit", "memroy", "cpu", "é", 'a"b', "a.b"))] = rng.choice(("1", {"cpu": 1}, ["x"], None))


def _ports(rng: random.Random, found: Object) -> None:
    for container in _containers(found):
        container["ports"] = [
            {"containerPort": rng.choice((80, 81)), "name": rng.choice(("http", "web"))} | protocol
            for protocol in rng.sample(({}, {"protocol": "UDP"}), rng.randint(0, 1))
        ]


def _affinity(rng: random.Random, found: Object) -> None:
    term: Object = {"topologyKey": "zone"}
    if rng.random() < 0.7:
        term["labelSelector"] = {"matchLabels": {"a": "b"}}
    term |= rng.choice(({}, {"namespaces": ["other"]}, {"namespaceSelector": {}}, {"namespaces": []}))
    kind = rng.choice(("podAffinity", "podAntiAffinity"))
    rule = {"requiredDuringSchedulingIgnoredDuringExecution": [term]}
    if rng.random() < 0.5:
        rule = {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1, "podAffinityTerm": term}]}
    found["spec"]["affinity"] = {kind: rule}


def _setting(key: str, *values: Any) -> Fault:
    """Gives a field of the spec one of the values."""

    def put(rng: random.Random, found: Object) -> None:
        found["spec"][key] = rng.choice(values)

    return put


def _own_class(rng: random.Random, found: Object) -> None:
    found["status"] = {"qosClass": rng.choice(("Guaranteed", "Burstable", "BestEffort"))}


def _own_annotation(_: random.Random, found: Object) -> None:
    found["metadata"]["annotations"] = {"kubernetes.io/limit-ranger": "mine", "other": "x"}


def _containers(found: Object) -> list[Object]:
    return [*found["spec"]["containers"], *found["spec"].get("initContainers", ())]


_EXTRAS: tuple[tuple[float, Fault], ...] = (
    (0.22, _pod_level),
    (0.08, _claims),
    (0.1, _resize_policy),
    (0.05, _restart_policy),
    (0.08, _env),
    (0.08, _unknown_field),
    (0.08, _affinity),
    (0.05, _own_class),
    (0.04, _own_annotation),
    (0.15, _setting("priorityClassName", "high", "low", "system-node-critical")),
    (0.12, _setting("runtimeClassName", "sandbox", "cpuonly", "odd", "plain")),
    (0.12, _setting("activeDeadlineSeconds", 1, 600)),
    (0.1, _setting("restartPolicy", "OnFailure", "Never")),
    (0.04, _ports),
    (0.04, _setting("priority", 0, 1000)),
)


def _put(values: tuple[Any, ...], *, resources: tuple[str, ...] = ("cpu", "memory"), level: float = 0.2) -> Fault:
    """Writes one of the values for one of the resources, somewhere."""

    def fault(rng: random.Random, found: Object) -> None:
        place = found["spec"] if rng.random() < level else rng.choice(_containers(found))
        side = place.setdefault("resources", {}).setdefault(rng.choice(("limits", "requests")), {})
        side[rng.choice(resources)] = rng.choice(values)

    return fault


def _request_over_limit(rng: random.Random, found: Object) -> None:
    resource = rng.choice(("cpu", "memory"))
    place = found["spec"] if rng.random() < 0.2 else rng.choice(_containers(found))
    place["resources"] = {
        "limits": {resource: quantity(rng, resource, 1)},
        "requests": {resource: quantity(rng, resource, 64)},
    }


def _bad_claim(rng: random.Random, found: Object) -> None:
    names = rng.choice(
        (
            ["fast", "fast"],
            ["nobody"],
            [""],
            ["slow", "nobody", "slow"],
            ["fast/a", "fast/a"],
            ["fast/a", "fast/b", "fast"],
        )
    )
    names = rng.choice((names, ["fast/A"], ["fast/a.b"], ["fast", "fast/a", "fast/a"], [f"slow/{'x' * 64}"]))
    pairs = [name.partition("/") for name in names]
    claims = [{"name": name, **({"request": request} if request else {})} for name, _, request in pairs]
    rng.choice(_containers(found)).setdefault("resources", {})["claims"] = claims


def _bad_resize_policy(rng: random.Random, found: Object) -> None:
    names = rng.choices(("cpu", "memory", "ephemeral-storage", ""), k=2)
    policies = rng.choices(("NotRequired", "RestartContainer", "Sometimes", ""), k=2)
    rng.choice(_containers(found))["resizePolicy"] = [
        {"resourceName": name, "restartPolicy": policy} for name, policy in zip(names, policies, strict=True)
    ]


def _ephemeral(_: random.Random, found: Object) -> None:
    found["spec"]["ephemeralContainers"] = [{"name": "debug", "image": "img"}]


def _pod_level_claims(rng: random.Random, found: Object) -> None:
    found["spec"].setdefault("resources", {})["claims"] = rng.choice(([], [{"name": "fast"}]))


def _tight_pod_level(rng: random.Random, found: Object) -> None:
    """Pod-level values that the containers are likely to exceed."""
    resource = rng.choice(("cpu", "memory", "hugepages-2Mi"))
    value = quantity(rng, resource, 1)
    sides = rng.choice((("limits",), ("requests",), ("limits", "requests")))
    found["spec"]["resources"] = {side: {resource: value, "cpu": "1m"} for side in sides}


def _other_unparsable(rng: random.Random, found: Object) -> None:
    """A bad quantity that is neither request nor limit, and may come before or after one that is."""
    bad = {"sizeLimit": rng.choice(UNPARSABLE)}
    divisor = {"resourceFieldRef": {"resource": "limits.cpu", "divisor": rng.choice(UNPARSABLE)}}
    claim = {"spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": rng.choice(UNPARSABLE)}}}}
    match rng.randrange(4):
        case 0:
            found["spec"] = {"volumes": [{"name": "v", "emptyDir": bad}], **found["spec"]}
        case 1:
            rng.choice(_containers(found))["env"] = [{"name": "A", "valueFrom": divisor}]
        case 2:
            found["spec"]["volumes"] = [{"name": "v", "ephemeral": {"volumeClaimTemplate": claim}}]
        case _:
            found["spec"]["volumes"] = [{"name": "v", "downwardAPI": {"items": [{"path": "p", **divisor}]}}]


def _two_unparsable(rng: random.Random, found: Object) -> None:
    for _ in range(2):
        _put(UNPARSABLE)(rng, found)


_BAD_NAMES = (
    *("gpu", "storage", "limits.cpu", "pods", "requests.example.com/gpu", "a/b/c", "-bad", "Example.COM/x", "/x", "x/"),
    *("services", f"example.com/{'x' * 64}", "requests.cpu", "cpu ", "deviceclass.resource.kubernetes.io/gpu"),
    "x.kubernetes.io/y",
)
_PAGES = ("hugepages-2Mi", "hugepages-1Gi", "hugepages-x", "hugepages-")
_OVERHEADS: tuple[Object, ...] = (
    {"cpu": "250m", "memory": "120Mi"},
    {"cpu": "1"},
    {"memory": "1.5"},
    {"gpu": "-1"},
    {"hugepages-2Mi": "1Mi"},
    {},
)

FAULTS: tuple[Fault, ...] = (
    _request_over_limit,
    _put(NEGATIVE, resources=("cpu", "memory", *EXTENDED)),
    _put(UNPARSABLE),
    _two_unparsable,
    _other_unparsable,
    _put(("1", "0"), resources=_BAD_NAMES),
    _put(("1", "3", "1500m", "1e16", "9300000000000000"), resources=EXTENDED, level=0.1),
    _put(("3Mi", "2Mi", "4Mi", "1Gi", "0", "1", "2097152"), resources=_PAGES),
    _bad_claim,
    _bad_resize_policy,
    _ephemeral,
    _pod_level_claims,
    _tight_pod_level,
    _setting("priorityClassName", "nobody", ""),
    _setting("runtimeClassName", "nobody", ""),
    _setting("overhead", *_OVERHEADS),
    _setting("os", {"name": "windows"}, {"name": "linux"}, {"name": "none"}),
    _setting("activeDeadlineSeconds", 0, -1),
    _setting("restartPolicy", "Sometimes"),
)
