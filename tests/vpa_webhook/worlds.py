"""The worlds that are recorded: an autoscaler with its recommendation, LimitRanges, quotas, and a pod that is sent.

A world is a mapping: ``vpas`` (each the rest of a spec, with ``recommendation`` for its status), ``ranges`` (specs of
LimitRanges), ``quotas`` (specs of ResourceQuotas), ``pod`` (the spec that is sent), ``owner`` (the kind of its
controller), ``boost`` (the admission controller has the feature gate CPUStartupBoost).
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

World = dict[str, Any]

SEED = 41


def pod(*containers: dict[str, Any], init: tuple[dict[str, Any], ...] = (), **more: Any) -> dict[str, Any]:
    """A spec of containers, each given as its resources; ``init``: sidecars."""
    spec: dict[str, Any] = {"containers": [container(f"c{place}", each) for place, each in enumerate(containers)]}
    if init:
        spec["initContainers"] = [
            {**container(f"i{place}", each), "restartPolicy": "Always"} for place, each in enumerate(init)
        ]
    return {**spec, **more}


def container(name: str, resources: dict[str, Any]) -> dict[str, Any]:
    return {"name": name, "image": "img", **({"resources": resources} if resources else {})}


def res(requests: dict[str, str] | None = None, limits: dict[str, str] | None = None) -> dict[str, Any]:
    return {key: value for key, value in (("requests", requests), ("limits", limits)) if value is not None}


def vpa(
    recommendation: list[dict[str, Any]] | None, *policies: dict[str, Any], mode: str = "Recreate", **more: Any
) -> dict[str, Any]:
    spec: dict[str, Any] = {**more, "recommendation": recommendation}
    if mode:
        spec["updatePolicy"] = {"updateMode": mode}
    if policies:
        spec["resourcePolicy"] = {"containerPolicies": list(policies)}
    return spec


def rec(name: str, target: dict[str, str], *, bounds: bool = True) -> dict[str, Any]:
    """What is recommended for a container. ``bounds``: with a lower and an upper bound, here the same."""
    more = {"lowerBound": target, "upperBound": target, "uncappedTarget": target} if bounds else {}
    return {"containerName": name, "target": target, **more}


def policy(name: str, **more: Any) -> dict[str, Any]:
    return {"containerName": name, **more}


def limits(type_: str, **more: Any) -> dict[str, Any]:
    return {"limits": [{"type": type_, **more}]}


HALF = res({"cpu": "100m", "memory": "100Mi"}, {"cpu": "200m", "memory": "200Mi"})
ONLY = {"controlledValues": "RequestsOnly"}
GIVEN = {"cpu": "250m", "memory": "300Mi"}


def by_hand() -> Iterator[tuple[str, World]]:
    """What single rules do."""
    whole = vpa([rec("c0", GIVEN)])
    yield "ratio", {"vpas": [whole], "pod": pod(HALF)}
    yield "requests-only", {"vpas": [vpa([rec("c0", GIVEN)], policy("*", **ONLY))], "pod": pod(HALF)}
    yield "no-limits", {"vpas": [whole], "pod": pod(res({"cpu": "100m"}))}
    yield "nothing-written", {"vpas": [whole], "pod": pod({})}
    yield "limits-only", {"vpas": [whole], "pod": pod(res(None, {"cpu": "1", "memory": "1Gi"}))}
    yield "no-update-policy", {"vpas": [vpa([rec("c0", GIVEN)], mode="")], "pod": pod(HALF)}
    for mode in ("Off", "Initial", "Auto", "InPlaceOrRecreate"):
        yield f"mode-{mode}", {"vpas": [vpa([rec("c0", GIVEN)], mode=mode)], "pod": pod(HALF)}
    yield "no-recommendation", {"vpas": [vpa(None)], "pod": pod(HALF)}
    yield "container-off", {"vpas": [vpa([rec("c0", GIVEN)], policy("c0", mode="Off"))], "pod": pod(HALF)}
    yield "another-container", {"vpas": [vpa([rec("c1", GIVEN)])], "pod": pod(HALF)}
    yield (
        "min-allowed",
        {
            "vpas": [
                vpa([rec("c0", GIVEN)], policy("c0", minAllowed={"cpu": "1"}), policy("*", minAllowed={"cpu": "2"}))
            ],
            "pod": pod(HALF),
        },
    )
    yield (
        "max-allowed",
        {"vpas": [vpa([rec("c0", GIVEN)], policy("*", maxAllowed={"memory": "128Mi"}))], "pod": pod(HALF)},
    )
    yield "container-max", {"vpas": [whole], "ranges": [limits("Container", max={"cpu": "300m"})], "pod": pod(HALF)}
    yield "container-max-below-min-allowed", {
        "vpas": [vpa([rec("c0", GIVEN)], policy("*", minAllowed={"cpu": "400m"}))],
        "ranges": [limits("Container", max={"cpu": "300m"})], "pod": pod(HALF),
    }  # fmt: skip
    yield "container-min", {"vpas": [whole], "ranges": [limits("Container", min={"memory": "1Gi"})], "pod": pod(HALF)}
    yield "container-default", {
        "vpas": [whole], "ranges": [limits("Container", default={"cpu": "1"}, defaultRequest={"cpu": "200m"})],
        "pod": pod({}),
    }  # fmt: skip
    yield "limit-zero", {
        "vpas": [whole], "ranges": [limits("Container", default={"cpu": "1"}, defaultRequest={"cpu": "0"})],
        "pod": pod(res({"cpu": "0"}, {"cpu": "0"})),
    }  # fmt: skip
    yield "pod-max", {
        "vpas": [vpa([rec("c0", GIVEN), rec("c1", GIVEN)])],
        "ranges": [limits("Pod", max={"cpu": "600m", "memory": "1Gi"})],
        "pod": pod(HALF, HALF),
    }  # fmt: skip
    yield "pod-min", {
        "vpas": [vpa([rec("c0", GIVEN), rec("c1", GIVEN)])],
        "ranges": [limits("Pod", min={"cpu": "1", "memory": "1Gi"})],
        "pod": pod(HALF, HALF),
    }  # fmt: skip
    yield "pod-max-only-cpu-recommended", {
        "vpas": [vpa([rec("c0", {"cpu": "1"}), rec("c1", {"cpu": "1"})])],
        "ranges": [limits("Pod", max={"cpu": "1", "memory": "150Mi"})], "pod": pod(HALF, HALF),
    }  # fmt: skip
    yield "pod-max-one-recommended", {
        "vpas": [vpa([rec("c0", GIVEN)])], "ranges": [limits("Pod", max={"cpu": "500m", "memory": "600Mi"})],
        "pod": pod(HALF, HALF),
    }  # fmt: skip
    yield "pod-max-without-bounds", {
        "vpas": [vpa([rec("c0", GIVEN, bounds=False)])], "ranges": [limits("Pod", max={"cpu": "300m"})],
        "pod": pod(HALF),
    }  # fmt: skip
    yield "pod-max-bare-container", {
        "vpas": [vpa([rec("c0", GIVEN)])], "ranges": [limits("Pod", max={"cpu": "300m"})], "pod": pod(HALF, {}),
    }  # fmt: skip
    yield "pod-max-memory-of-nothing", {
        "vpas": [vpa([rec("c0", GIVEN), rec("c1", {"cpu": "10m"})])],
        "ranges": [limits("Pod", max={"memory": "300Mi"})], "pod": pod(HALF, res({"cpu": "10m"})),
    }  # fmt: skip
    yield "quota-refuses", {"vpas": [whole], "quotas": [{"hard": {"requests.cpu": "200m"}}], "pod": pod(HALF)}
    yield "quota-admits", {"vpas": [whole], "quotas": [{"hard": {"limits.memory": "600Mi"}}], "pod": pod(HALF)}
    yield (
        "quota-must-specify",
        {"vpas": [whole], "quotas": [{"hard": {"requests.cpu": "5", "limits.cpu": "5"}}], "pod": pod({})},
    )
    yield "sidecar", {"vpas": [vpa([rec("c0", GIVEN), rec("i0", GIVEN)])], "pod": pod(HALF, init=(HALF,))}
    yield "pod-level", {"vpas": [whole], "pod": pod(HALF, resources=res({"cpu": "150m"}, {"cpu": "300m"}))}
    yield "two-autoscalers", {"vpas": [vpa([rec("c0", GIVEN)]), vpa([rec("c0", {"cpu": "2"})])], "pod": pod(HALF)}
    yield (
        "older-is-off",
        {"vpas": [vpa([rec("c0", GIVEN)], mode="Off"), vpa([rec("c0", {"cpu": "2"})])], "pod": pod(HALF)},
    )
    for kind in ("ReplicaSet", "StatefulSet", "DaemonSet", "Job"):
        yield f"owner-{kind}", {"vpas": [whole], "pod": pod(HALF), "owner": kind}
    yield "ratio-beyond-max", {
        "vpas": [vpa([rec("c0", {"cpu": "4"})], policy("*", minAllowed={"cpu": "3"}))],
        "ranges": [limits("Container", max={"cpu": "4"})], "pod": pod(HALF),
    }  # fmt: skip
    yield "ratio-of-limit-range", {
        "vpas": [vpa([rec("c0", GIVEN)], policy("*", **ONLY))],
        "ranges": [limits("Container", maxLimitRequestRatio={"memory": "3"})],
        "pod": pod(res({"memory": "100Mi"}, {"memory": "1Gi"})),
    }  # fmt: skip
    yield (
        "beyond-64-bits",
        {"vpas": [vpa([rec("c0", {"memory": "4Ei"})])], "pod": pod(res({"memory": "1"}, {"memory": "1Ei"}))},
    )
    factor, amount = {"cpu": {"type": "Factor", "factor": 3}}, {"cpu": {"type": "Quantity", "quantity": "700m"}}
    for name, boost in (("factor", factor), ("quantity", amount), ("nothing", {})):
        yield f"boost-{name}", {"vpas": [vpa([rec("c0", GIVEN)], startupBoost=boost)], "pod": pod(HALF), "boost": True}
    for mode in ("Off", "Initial"):
        yield f"boost-{mode}", {
            "vpas": [vpa([rec("c0", GIVEN)], mode=mode, startupBoost=factor)], "pod": pod(HALF), "boost": True,
        }  # fmt: skip
    yield "boost-requests-only", {
        "vpas": [vpa([rec("c0", GIVEN)], policy("*", **ONLY), startupBoost=amount)], "pod": pod(HALF), "boost": True,
    }  # fmt: skip
    yield "boost-of-a-container", {
        "vpas": [vpa(None, policy("c1", startupBoost=factor), policy("*", mode="Off"))],
        "pod": pod(HALF, HALF), "boost": True,
    }  # fmt: skip


def by_lot(count: int, seed: int = SEED) -> Iterator[tuple[str, World]]:
    """Worlds that a fixed seed draws, so that rules meet."""
    dice = random.Random(seed)
    for number in range(count):
        yield f"lot-{number}", _drawn(dice)


_CPU = ("1m", "33m", "50m", "100m", "250m", "333m", "700m", "1", "1500m", "2")
_MEMORY = ("1Mi", "64Mi", "100Mi", "128M", "200Mi", "333333333", "512Mi", "1Gi", "1500M", "2Gi")


def _amounts(dice: random.Random, often: float = 0.8) -> dict[str, str]:
    values = {"cpu": dice.choice(_CPU), "memory": dice.choice(_MEMORY)}
    return {name: value for name, value in values.items() if dice.random() < often}


def _resources(dice: random.Random) -> dict[str, Any]:
    requests, own = {}, {}
    for name, values in (("cpu", _CPU), ("memory", _MEMORY)):
        low, high = sorted(dice.sample(range(len(values)), 2))
        if dice.random() < 0.7:
            requests[name] = values[low]
        if dice.random() < 0.7:
            own[name] = values[high if dice.random() < 0.8 else low]
    return res(requests or None, own or None)


def _between(dice: random.Random, low: str, high: str) -> dict[str, dict[str, str]]:
    result: dict[str, dict[str, str]] = {}
    for name, values in (("cpu", _CPU), ("memory", _MEMORY)):
        first, last = sorted(dice.sample(range(len(values)), 2))
        if dice.random() < 0.3:
            result.setdefault(low, {})[name] = values[first]
        if dice.random() < 0.45:
            result.setdefault(high, {})[name] = values[last]
    return result


def _drawn(dice: random.Random) -> World:
    count = dice.choice((1, 1, 2, 3))
    names = [f"c{place}" for place in range(count)]
    recommendation: list[dict[str, Any]] | None = [
        rec(name, _amounts(dice, 0.9), bounds=dice.random() < 0.85) for name in names if dice.random() < 0.85
    ]
    if dice.random() < 0.04:
        recommendation = None
    policies = [
        policy(
            name, **_between(dice, "minAllowed", "maxAllowed"),
            **({"controlledValues": dice.choice(("RequestsOnly", "RequestsAndLimits"))} if dice.random() < 0.5 else {}),
        )
        for name in (*names, "*") if dice.random() < 0.35
    ]  # fmt: skip
    boost = dice.random() < 0.15
    more: dict[str, Any] = {}
    if boost:
        more["startupBoost"] = {
            "cpu": dice.choice(
                ({"type": "Factor", "factor": dice.randint(1, 5)}, {"type": "Quantity", "quantity": dice.choice(_CPU)})
            )
        }
    mode = dice.choice(("Recreate", "Recreate", "Auto", "Initial", "InPlaceOrRecreate", "Off", ""))
    world: World = {
        "vpas": [vpa(recommendation, *policies, mode=mode, **more)],
        "pod": pod(
            *(_resources(dice) for _ in names), init=tuple(_resources(dice) for _ in range(dice.random() < 0.2))
        ),
        "owner": dice.choice(("Deployment", "ReplicaSet", "StatefulSet", "DaemonSet", "Job")),
    }
    if boost:
        world["boost"] = True
    ranges = []
    for type_, often in (("Container", 0.5), ("Container", 0.15), ("Pod", 0.45)):
        if dice.random() < often and (bounds := _between(dice, "min", "max")):
            ranges.append(limits(type_, **bounds))
    if ranges:
        world["ranges"] = ranges
    if dice.random() < 0.3:
        hard = {
            f"{side}.{name}": value
            for side in ("requests", "limits")
            for name, value in (("cpu", dice.choice(_CPU)), ("memory", dice.choice(_MEMORY)))
            if dice.random() < 0.4
        }
        if hard:
            world["quotas"] = [{"hard": hard}]
    return world
