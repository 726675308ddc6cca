"""The worlds that are recorded: rules of a Tenant, GlobalResourceQuotas, LimitRanges, quotas, and a pod that is sent.

A world is a mapping: ``rules`` (of the Tenant), ``labels`` (of the namespace), ``ranges`` (specs of LimitRanges),
``quotas`` (specs of ResourceQuotas), ``global`` (specs of GlobalResourceQuotas), ``used`` (pods that run elsewhere in
the Tenant), ``here`` (pods that run in the namespace), ``pod`` (the spec that is sent), ``claim`` (that of a claim),
``send`` (a whole object), ``annotations`` (of the Tenant), ``user`` (who sends it; empty: an administrator).
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

World = dict[str, Any]


def pod(*containers: Any, init: tuple[Any, ...] = (), resources: Any = None, **more: Any) -> dict[str, Any]:
    """A spec of containers, each given as its resources; a pair is a sidecar among ``init``."""
    spec: dict[str, Any] = {
        "containers": [container(f"c{number}", each) for number, each in enumerate(containers or ({},))],
        **more,
    }
    if init:
        spec["initContainers"] = [
            {**container(f"i{number}", each[0]), "restartPolicy": "Always"}
            if isinstance(each, tuple)
            else container(f"i{number}", each)
            for number, each in enumerate(init)
        ]
    if resources is not None:
        spec["resources"] = resources
    return spec


def container(name: str, resources: dict[str, Any]) -> dict[str, Any]:
    return {"name": name, "image": "img", **({"resources": resources} if resources else {})}


def res(requests: dict[str, str] | None = None, limits: dict[str, str] | None = None) -> dict[str, Any]:
    return {key: value for key, value in (("requests", requests), ("limits", limits)) if value}


def rule(
    requests: dict[str, Any] | None = None,
    limits: dict[str, Any] | None = None,
    action: str = "deny",
    targets: list[str] | None = None,
    **more: Any,
) -> dict[str, Any]:
    """A rule; a policy is its name, or a pair with its value."""
    workloads: dict[str, Any] = {**({"targets": targets} if targets else {}), **more.pop("workloads", {})}
    sides = {
        side: {name: policy(each) for name, each in written.items()}
        for side, written in (("requests", requests), ("limits", limits))
        if written
    }
    if sides:
        workloads["resources"] = sides
    return {"enforce": {"action": action, "workloads": workloads}, **more}


def policy(each: Any) -> dict[str, str]:
    return {"policy": each} if isinstance(each, str) else {"policy": each[0], "value": each[1]}


def qos(*classes: str, action: str = "deny", **more: Any) -> dict[str, Any]:
    return {"enforce": {"action": action, "workloads": {"qosClasses": list(classes)}}, **more}


C, INIT, P = "pod/containers", "pod/initcontainers", "pod"
BARE, BOTH = res(), res({"cpu": "100m", "memory": "64Mi"}, {"cpu": "500m", "memory": "256Mi"})
RANGE = {
    "limits": [{"type": "Container", "default": {"cpu": "300m", "memory": "128Mi"}, "defaultRequest": {"cpu": "50m"}}]
}
SECOND = {"limits": [{"type": "Container", "default": {"cpu": "200m"}, "defaultRequest": {"memory": "32Mi"}}]}


def by_rules() -> Iterator[tuple[str, World]]:
    """Each policy alone, with each target, action and kind of container, then together and in their order."""
    default = rule({"cpu": ("Default", "100m")}, targets=[C])
    yield "default-request", {"rules": [default], "pod": pod(BARE)}
    yield "default-request-written", {"rules": [default], "pod": pod(res({"cpu": "7m"}))}
    yield "default-request-zero", {"rules": [default], "pod": pod(res({"cpu": "0"}))}
    yield "default-request-after-limit", {"rules": [default], "pod": pod(res(None, {"cpu": "1"}))}
    yield "default-limit", {"rules": [rule(None, {"memory": ("Default", "1024Mi")}, targets=[C])], "pod": pod(BARE)}
    yield (
        "default-limit-below-request",
        {
            "rules": [rule(None, {"cpu": ("Default", "100m")}, targets=[C])],
            "pod": pod(res({"cpu": "200m"})),
        },
    )
    yield (
        "default-odd-amount",
        {
            "rules": [rule({"cpu": ("Default", "0.1234567")}, {"memory": ("Default", "1.5Gi")}, targets=[C])],
            "pod": pod(BARE),
        },
    )
    yield "remove-limit", {"rules": [rule(None, {"cpu": "Remove"}, targets=[C])], "pod": pod(BOTH)}
    yield (
        "remove-limit-only",
        {"rules": [rule(None, {"cpu": "Remove"}, targets=[C])], "pod": pod(res(None, {"cpu": "1"}))},
    )
    yield "remove-request", {"rules": [rule({"cpu": "Remove"}, targets=[C])], "pod": pod(res({"cpu": "100m"}))}
    yield "remove-request-comes-back", {"rules": [rule({"cpu": "Remove"}, targets=[C])], "pod": pod(BOTH)}
    yield (
        "remove-request-and-limit",
        {
            "rules": [rule({"cpu": "Remove"}, {"cpu": "Remove"}, targets=[C])],
            "pod": pod(BOTH),
        },
    )
    yield "remove-absent", {"rules": [rule({"cpu": "Remove"}, {"cpu": "Remove"}, targets=[C])], "pod": pod(BARE)}
    match = rule(None, {"memory": "MatchRequest"}, targets=[C])
    yield "match-request", {"rules": [match], "pod": pod(BOTH)}
    yield "match-request-absent", {"rules": [match], "pod": pod(BARE)}
    yield "match-request-sets", {"rules": [match], "pod": pod(res({"memory": "64Mi"}))}
    yield "match-request-limit-only", {"rules": [match], "pod": pod(res(None, {"memory": "64Mi"}))}
    yield (
        "match-request-after-default",
        {
            "rules": [rule({"memory": ("Default", "96Mi")}, {"memory": "MatchRequest"}, targets=[C])],
            "pod": pod(BARE),
        },
    )
    for value in ("1", "1.5", "2", "3.333"):
        ratio = rule(None, {"cpu": ("Ratio", value), "memory": ("Ratio", value)}, targets=[C])
        yield f"ratio-{value}", {"rules": [ratio], "pod": pod(res({"cpu": "107m", "memory": "101Mi"}))}
        yield f"ratio-{value}-held", {"rules": [ratio], "pod": pod(BOTH)}
    ratio = rule(None, {"cpu": ("Ratio", "2")}, targets=[C])
    yield "ratio-without-request", {"rules": [ratio], "pod": pod(BARE)}
    yield "ratio-zero-request", {"rules": [ratio], "pod": pod(res({"cpu": "0"}, {"cpu": "1"}))}
    yield "ratio-limit-only", {"rules": [ratio], "pod": pod(res(None, {"cpu": "1"}))}
    yield (
        "ratio-storage",
        {
            "rules": [rule(None, {"ephemeral-storage": ("Ratio", "1.1")}, targets=[C])],
            "pod": pod(res({"ephemeral-storage": "1001"})),
        },
    )
    yield "preserve", {"rules": [rule({"cpu": "Preserve"}, {"cpu": "Preserve"}, targets=[C])], "pod": pod(BOTH)}
    yield (
        "the-situation",
        {
            "rules": [
                {
                    "namespaceSelector": {"matchLabels": {"resource-policy": "managed"}},
                    **rule({"cpu": ("Default", "100m")}, {"cpu": "Remove", "memory": "MatchRequest"}, targets=[C]),
                }
            ],
            "labels": {"resource-policy": "managed"},
            "pod": pod(res({"memory": "64Mi"}, {"cpu": "1", "memory": "256Mi"})),
        },
    )
    for action in ("deny", "allow", "audit"):
        for name, sent in (("limit", res(None, {"cpu": "1"})), ("both", BOTH), ("bare", BARE)):
            yield (
                f"{action}-ratio-{name}",
                {"rules": [rule(None, {"cpu": ("Ratio", "2")}, action, targets=[C])], "pod": pod(sent)},
            )
            yield (
                f"{action}-request-{name}",
                {"rules": [rule({"cpu": "Remove"}, None, action, targets=[C])], "pod": pod(sent)},
            )
    yield (
        "no-action",
        {
            "rules": [
                {"enforce": {"workloads": {"targets": [C], "resources": {"limits": {"cpu": policy(("Ratio", "2"))}}}}}
            ],
            "pod": pod(BOTH),
        },
    )
    yield (
        "everywhere",
        {"rules": [rule({"cpu": ("Default", "100m")}, {"memory": "MatchRequest"})], "pod": pod(BOTH, init=(BOTH,))},
    )
    yield "everywhere-bare", {"rules": [rule({"cpu": ("Default", "100m")})], "pod": pod(BARE, init=(BARE, (BARE,)))}
    yield "everywhere-remove-limit", {"rules": [rule(None, {"cpu": "Remove"})], "pod": pod(BOTH, init=((BOTH,),))}
    for name, sent in (
        ("bare", pod(BARE, init=(BARE,))),
        ("both", pod(BOTH, BOTH, init=(BOTH, (BOTH,)))),
        ("level", pod(BOTH, resources=res({"cpu": "1", "memory": "1Gi"}, {"cpu": "2", "memory": "2Gi"}))),
        ("level-limits", pod(BARE, resources=res(None, {"cpu": "2"}))),
    ):
        yield f"pod-default-request-{name}", {"rules": [rule({"cpu": ("Default", "1500m")}, targets=[P])], "pod": sent}
        yield (
            f"pod-default-limit-{name}",
            {"rules": [rule(None, {"memory": ("Default", "3Gi")}, targets=[P])], "pod": sent},
        )
        yield f"pod-match-{name}", {"rules": [rule(None, {"cpu": "MatchRequest"}, targets=[P])], "pod": sent}
        yield f"pod-remove-{name}", {"rules": [rule({"cpu": "Remove"}, {"cpu": "Remove"}, targets=[P])], "pod": sent}
        yield f"pod-ratio-{name}", {"rules": [rule(None, {"cpu": ("Ratio", "1.5")}, targets=[P])], "pod": sent}
        yield (
            f"init-only-{name}",
            {"rules": [rule({"cpu": ("Default", "10m")}, {"cpu": "MatchRequest"}, targets=[INIT])], "pod": sent},
        )
    yield (
        "everywhere-storage",
        {
            "rules": [rule({"ephemeral-storage": ("Default", "1Gi")}, {"ephemeral-storage": ("Ratio", "2")})],
            "pod": pod(BARE),
        },
    )
    yield (
        "extended",
        {
            "rules": [rule({"example.com/gpu": ("Default", "1")}, {"example.com/gpu": "MatchRequest"}, targets=[C])],
            "pod": pod(BARE),
        },
    )
    first, second = rule({"cpu": ("Default", "100m")}, targets=[C]), rule({"cpu": ("Default", "200m")}, targets=[C])
    yield "order-first-second", {"rules": [first, second], "pod": pod(BARE)}
    yield "order-second-first", {"rules": [second, first], "pod": pod(BARE)}
    yield (
        "order-remove-preserve",
        {
            "rules": [rule(None, {"cpu": "Remove"}, targets=[C]), rule(None, {"cpu": "Preserve"}, targets=[C])],
            "pod": pod(BOTH),
        },
    )
    yield (
        "order-ratio-then-lifted",
        {
            "rules": [
                rule(None, {"cpu": ("Ratio", "2")}, targets=[C]),
                rule(None, {"cpu": ("Default", "1")}, "allow", [C]),
            ],
            "pod": pod(BOTH),
        },
    )
    yield (
        "order-deny-then-allow",
        {
            "rules": [
                rule(None, {"cpu": ("Ratio", "2")}, "deny", [C]),
                rule(None, {"cpu": ("Ratio", "5")}, "allow", [C]),
            ],
            "pod": pod(BOTH),
        },
    )
    yield (
        "order-allow-then-deny",
        {
            "rules": [
                rule(None, {"cpu": ("Ratio", "5")}, "allow", [C]),
                rule(None, {"cpu": ("Ratio", "2")}, "deny", [C]),
            ],
            "pod": pod(BOTH),
        },
    )
    yield (
        "two-allows-neither",
        {
            "rules": [
                rule(None, {"cpu": ("Ratio", "2")}, "allow", [C]),
                rule(None, {"cpu": ("Ratio", "3")}, "allow", [C]),
            ],
            "pod": pod(BOTH),
        },
    )
    yield (
        "second-container",
        {"rules": [rule(None, {"cpu": ("Ratio", "2")}, targets=[C])], "pod": pod(BARE | res({"cpu": "1"}), BOTH)},
    )
    yield "init-before-containers", {"rules": [rule(None, {"cpu": ("Ratio", "2")})], "pod": pod(BOTH, init=(BOTH,))}
    yield (
        "two-resources",
        {"rules": [rule(None, {"memory": ("Ratio", "2"), "cpu": ("Ratio", "2")}, targets=[C])], "pod": pod(BOTH)},
    )
    for selector in (
        {"matchLabels": {"a": "b"}},
        {"matchLabels": {"a": "c"}},
        {"matchExpressions": [{"key": "a", "operator": "Exists"}]},
        {"matchExpressions": [{"key": "a", "operator": "NotIn", "values": ["b"]}]},
        {},
    ):
        key = "-".join(str(selector).translate(str.maketrans("", "", "{}[]':, ")).lower().split())
        yield (
            f"selector-{key or 'empty'}",
            {"rules": [{"namespaceSelector": selector, **first}], "labels": {"a": "b"}, "pod": pod(BARE)},
        )
    for name, ranges in (("range", [RANGE]), ("ranges", [RANGE, SECOND])):
        yield (
            f"{name}-remove-limit",
            {"rules": [rule(None, {"cpu": "Remove"}, targets=[C])], "ranges": ranges, "pod": pod(BARE)},
        )
        yield (
            f"{name}-remove-both",
            {"rules": [rule({"cpu": "Remove"}, {"cpu": "Remove"}, targets=[C])], "ranges": ranges, "pod": pod(BOTH)},
        )
        yield f"{name}-default", {"rules": [first], "ranges": ranges, "pod": pod(BARE)}
        yield f"{name}-match", {"rules": [match], "ranges": ranges, "pod": pod(BARE, init=(BOTH,))}
        yield (
            f"{name}-audit-remove",
            {"rules": [rule(None, {"memory": "Remove"}, "audit", targets=[C])], "ranges": ranges, "pod": pod(BARE)},
        )
    yield (
        "range-max",
        {
            "rules": [rule(None, {"cpu": ("Default", "4")}, targets=[C])],
            "ranges": [{"limits": [{"type": "Container", "max": {"cpu": "2"}}]}],
            "pod": pod(res({"cpu": "1"}, {"cpu": "1"}), BARE),
        },
    )
    yield (
        "quota-after-rules",
        {
            "rules": [rule({"cpu": ("Default", "2")}, targets=[C])],
            "quotas": [{"hard": {"requests.cpu": "1"}}],
            "pod": pod(BARE),
        },
    )
    yield (
        "quota-must-specify-met",
        {
            "rules": [rule({"cpu": ("Default", "500m")}, targets=[C])],
            "quotas": [{"hard": {"requests.cpu": "1"}}],
            "pod": pod(BARE),
        },
    )
    yield (
        "quota-must-specify-broken",
        {
            "rules": [rule(None, {"cpu": "Remove"}, targets=[C])],
            "quotas": [{"hard": {"limits.cpu": "9"}}],
            "pod": pod(BOTH),
        },
    )
    same = res({"cpu": "1", "memory": "1Gi"}, {"cpu": "1", "memory": "1Gi"})
    for name, sent in (("besteffort", BARE), ("burstable", BOTH), ("guaranteed", same)):
        yield f"qos-deny-{name}", {"rules": [qos("BestEffort", "Burstable")], "pod": pod(sent)}
        yield f"qos-allow-{name}", {"rules": [qos("Guaranteed", action="allow")], "pod": pod(sent)}
        yield f"qos-audit-{name}", {"rules": [qos("BestEffort", action="audit")], "pod": pod(sent)}
        yield (
            f"qos-last-wins-{name}",
            {"rules": [qos("BestEffort"), qos("BestEffort", "Burstable", action="allow")], "pod": pod(sent)},
        )
    yield (
        "qos-after-match",
        {
            "rules": [
                qos("Guaranteed", action="allow"),
                rule(None, {"cpu": "MatchRequest", "memory": "MatchRequest"}, targets=[C]),
            ],
            "pod": pod(BOTH),
        },
    )
    yield "qos-and-resources", {"rules": [qos("Burstable"), ratio], "pod": pod(BOTH)}


def by_quotas() -> Iterator[tuple[str, World]]:
    """GlobalResourceQuotas: room, scopes, what must be stated, several at once, what is over already."""
    small, big = pod(res({"cpu": "500m"})), pod(res({"cpu": "1", "memory": "1Gi"}, {"cpu": "1", "memory": "1Gi"}))
    cpu = [{"hard": {"requests.cpu": "2"}}]
    yield "global-room", {"global": cpu, "used": [small], "pod": small}
    yield "global-full-elsewhere", {"global": cpu, "used": [small] * 4, "pod": small}
    yield "global-exact", {"global": cpu, "used": [small] * 3, "pod": small}
    yield "global-full-here", {"global": cpu, "here": [small] * 4, "pod": small}
    yield "global-short", {"global": [{"hard": {"requests.cpu": "1900m"}}], "used": [small] * 3, "pod": small}
    yield "global-empty", {"global": [{"hard": {"requests.cpu": "100m"}}], "pod": small}
    yield "global-zero", {"global": [{"hard": {"requests.cpu": "0"}}], "pod": small}
    yield "global-must-specify", {"global": cpu, "pod": pod(BARE)}
    yield (
        "global-must-specify-two",
        {
            "global": [{"hard": {"requests.cpu": "2", "limits.memory": "1Gi"}}],
            "pod": pod(BARE, res({"cpu": "1"}), init=(BARE,)),
        },
    )
    yield "global-must-specify-level", {"global": cpu, "pod": pod(BARE, resources=res({"cpu": "1"}))}
    yield "global-zero-request", {"global": [{"hard": {"requests.cpu": "0"}}], "pod": pod(res({"cpu": "0"}))}
    yield "global-pods", {"global": [{"hard": {"pods": "2"}}], "used": [small] * 2, "pod": pod(BARE)}
    yield (
        "global-count-pods",
        {"global": [{"hard": {"count/pods": "2", "requests.cpu": "9"}}], "used": [small] * 2, "pod": small},
    )
    yield (
        "global-several-names",
        {
            "global": [
                {"hard": {"requests.cpu": "1", "requests.memory": "1Gi", "limits.cpu": "9", "limits.memory": "1Gi"}}
            ],
            "used": [big],
            "pod": big,
        },
    )
    yield (
        "global-other-name-full",
        {
            "global": [{"hard": {"requests.cpu": "2", "requests.memory": "1Gi"}}],
            "used": [pod(res({"cpu": "100m", "memory": "1Gi"}))],
            "pod": pod(res({"cpu": "100m", "memory": "0"})),
        },
    )
    yield (
        "global-over-already",
        {
            "global": [{"hard": {"requests.cpu": "2", "requests.memory": "512Mi"}}],
            "used": [pod(res({"cpu": "100m", "memory": "1Gi"}))],
            "pod": pod(res({"cpu": "100m", "memory": "0"})),
        },
    )
    yield (
        "global-binary",
        {
            "global": [{"hard": {"requests.memory": "1Gi"}}],
            "used": [pod(res({"memory": "700M"}))],
            "pod": pod(res({"memory": "600Mi"})),
        },
    )
    yield "global-plain-names", {"global": [{"hard": {"cpu": "1", "memory": "2Gi"}}], "used": [big], "pod": big}
    yield (
        "global-two-one-full",
        {
            "global": [{"hard": {"requests.cpu": "9"}}, {"hard": {"requests.cpu": "1"}}],
            "used": [small] * 2,
            "pod": small,
        },
    )
    yield (
        "global-two-both-full",
        {"global": [{"hard": {"requests.cpu": "1"}}, {"hard": {"pods": "2"}}], "used": [small] * 2, "pod": small},
    )
    for scope in ("BestEffort", "NotBestEffort", "Terminating", "NotTerminating"):
        hard = {"pods": "1"} if scope == "BestEffort" else {"pods": "1", "requests.cpu": "1"}
        for name, sent in (("bare", pod(BARE)), ("small", small), ("deadline", {**small, "activeDeadlineSeconds": 60})):
            yield (
                f"global-scope-{scope.lower()}-{name}",
                {"global": [{"hard": hard, "scopes": [scope]}], "used": [sent], "pod": sent},
            )
    priority = {"matchExpressions": [{"scopeName": "PriorityClass", "operator": "In", "values": ["high"]}]}
    for name, sent in (("high", {**small, "priorityClassName": "high"}), ("none", small)):
        yield (
            f"global-priority-{name}",
            {"global": [{"hard": {"pods": "1"}, "scopeSelector": priority}], "used": [sent], "pod": sent},
        )
    yield (
        "global-not-selected",
        {"global": [{"hard": {"pods": "0"}, "selectors": [{"matchLabels": {"a": "b"}}]}], "pod": small},
    )
    yield (
        "global-selected-by-label",
        {
            "global": [{"hard": {"pods": "0"}, "selectors": [{"matchLabels": {"a": "b"}}]}],
            "labels": {"a": "b"},
            "pod": small,
        },
    )
    yield "global-empty-selector", {"global": [{"hard": {"pods": "0"}, "selectors": [{}]}], "pod": small}
    yield (
        "global-second-selector",
        {
            "global": [
                {"hard": {"pods": "0"}, "selectors": [{"matchLabels": {"a": "x"}}, {"matchLabels": {"a": "b"}}]}
            ],
            "labels": {"a": "b"},
            "pod": small,
        },
    )
    yield (
        "global-and-native",
        {"global": [{"hard": {"requests.cpu": "2"}}], "quotas": [{"hard": {"requests.cpu": "100m"}}], "pod": small},
    )
    yield (
        "global-native-and-both-full",
        {"global": [{"hard": {"requests.cpu": "100m"}}], "quotas": [{"hard": {"requests.cpu": "100m"}}], "pod": small},
    )
    yield (
        "global-init-peak",
        {"global": [{"hard": {"requests.cpu": "1"}}], "pod": pod(res({"cpu": "200m"}), init=(res({"cpu": "1200m"}),))},
    )
    yield (
        "global-level",
        {
            "global": [{"hard": {"requests.cpu": "1"}}],
            "pod": pod(res({"cpu": "200m"}), resources=res({"cpu": "1500m"}, {"cpu": "2"})),
        },
    )
    yield (
        "global-after-default",
        {
            "rules": [rule({"cpu": ("Default", "300m")}, targets=[C])],
            "global": [{"hard": {"requests.cpu": "200m"}}],
            "pod": pod(BARE),
        },
    )
    yield "global-after-range", {"ranges": [RANGE], "global": [{"hard": {"requests.cpu": "40m"}}], "pod": pod(BARE)}
    yield (
        "global-or-rule",
        {
            "rules": [rule(None, {"cpu": ("Ratio", "2")}, targets=[C])],
            "global": [{"hard": {"requests.cpu": "10m"}}],
            "pod": pod(BOTH),
        },
    )
    yield (
        "global-extended",
        {
            "global": [{"hard": {"requests.example.com/gpu": "1"}}],
            "pod": pod(res({"example.com/gpu": "2"}, {"example.com/gpu": "2"})),
        },
    )


RESOURCES = ("cpu", "memory", "ephemeral-storage")
AMOUNTS = {
    "cpu": ("50m", "100m", "250m", "1", "1.5", "0"),
    "memory": ("32Mi", "64Mi", "100M", "1Gi", "0"),
    "ephemeral-storage": ("1Gi", "500M"),
}


def at_random(seed: int, count: int) -> Iterator[tuple[str, World]]:
    """One to three rules, sometimes LimitRanges and a GlobalResourceQuota, and a pod of up to four containers."""
    draw = random.Random(seed)
    for number in range(count):
        world: World = {
            "rules": [_rule(draw) for _ in range(draw.randint(1, 3))],
            "pod": _pod(draw),
            "labels": {"a": "b"},
        }
        if draw.random() < 0.4:
            world["ranges"] = draw.choice(([RANGE], [SECOND], [RANGE, SECOND]))
        if draw.random() < 0.3:
            world["global"] = [
                {"hard": {"pods": "5", "requests.cpu": draw.choice(("100m", "1", "3")), "requests.memory": "1Gi"}}
            ]
        yield f"random-{number:03}", world


def _rule(draw: random.Random) -> dict[str, Any]:
    if draw.random() < 0.15:
        return qos(*draw.sample(("Guaranteed", "Burstable", "BestEffort"), draw.randint(1, 2)), action=_action(draw))
    targets = draw.sample((C, INIT, P), draw.randint(0, 3))
    names = RESOURCES[:2] if P in targets else RESOURCES
    requests = {name: _request(draw, name) for name in draw.sample(names, draw.randint(0, 2))}
    limits = {name: _limit(draw, name) for name in draw.sample(names, draw.randint(0 if requests else 1, 2))}
    for name, each in limits.items():
        if requests.get(name) == "Remove" and each not in ("Remove", "Preserve"):
            limits[name] = "Remove"
    selector = draw.choice(({}, {}, {"namespaceSelector": {"matchLabels": {"a": draw.choice("bbx")}}}))
    return {**selector, **rule(requests, limits, _action(draw), targets)}


def _action(draw: random.Random) -> str:
    return draw.choice(("deny", "deny", "allow", "audit"))


def _request(draw: random.Random, name: str) -> Any:
    return draw.choice(
        ("Preserve", "Remove", ("Default", draw.choice(AMOUNTS[name])), ("Default", draw.choice(AMOUNTS[name])))
    )


def _limit(draw: random.Random, name: str) -> Any:
    return draw.choice((
        "Preserve", "Remove", "MatchRequest", "MatchRequest", ("Default", AMOUNTS[name][-2]), ("Ratio", "2"),
        ("Ratio", "1.25"),
    ))  # fmt: skip


def _pod(draw: random.Random) -> dict[str, Any]:
    containers = [_resources(draw) for _ in range(draw.randint(1, 2))]
    init: tuple[Any, ...] = tuple(
        draw.choice((_resources(draw), (_resources(draw),))) for _ in range(draw.choice((0, 0, 1, 2)))
    )
    level = res({"cpu": "2", "memory": "2Gi"}, draw.choice((None, {"cpu": "3"}))) if draw.random() < 0.2 else None
    return pod(*containers, init=init, resources=level)


def _resources(draw: random.Random) -> dict[str, Any]:
    requests, limits = {}, {}
    for name in RESOURCES:
        amounts = AMOUNTS[name]
        if draw.random() < 0.5:
            requests[name] = amounts[0]
        if draw.random() < 0.4:
            limits[name] = draw.choice(amounts[1:-1] or amounts)
        if name == "ephemeral-storage":
            requests.pop(name, None)
    return res(requests, limits)


def worlds() -> Iterator[tuple[str, World]]:
    """Every world by its name."""
    yield from by_rules()
    yield from by_quotas()
    yield from at_random(20261126, 120)


def claim(storage_class: str | None = None, **more: Any) -> dict[str, Any]:
    """A spec of a claim."""
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}, **more}
    return spec if storage_class is None else {**spec, "storageClassName": storage_class}


#: The classes that there are where a world is about them: names, labels, and what else stands in them.
CLASSES: dict[str, tuple[str, dict[str, Any]]] = {
    "PriorityClass": (
        "/apis/scheduling.k8s.io/v1/priorityclasses",
        {
            "gold": {"value": 1000, "labels": {"tier": "high"}},
            "silver": {"value": 100},
            "usual": {"value": 7, "globalDefault": True, "labels": {"tier": "usual"}},
            "zinc": {"value": 3},
        },
    ),
    "RuntimeClass": (
        "/apis/node.k8s.io/v1/runtimeclasses",
        {
            "box": {"handler": "box", "overhead": {"podFixed": {"cpu": "250m"}}, "labels": {"tier": "high"}},
            "plain": {"handler": "plain"},
        },
    ),
    "StorageClass": (
        "/apis/storage.k8s.io/v1/storageclasses",
        {
            "fast": {"provisioner": "example.com/none", "labels": {"tier": "high"}},
            "slow": {
                "provisioner": "example.com/none",
                "annotations": {"storageclass.kubernetes.io/is-default-class": "true"},
            },
            "cold": {"provisioner": "example.com/none"},
        },
    ),
}
_HIGH, _UNKNOWN = {"matchLabels": {"tier": "high"}}, {"matchExpressions": [{"key": "tier", "operator": "Exists"}]}


def about_classes() -> Iterator[tuple[str, World]]:
    """What Tenants make of classes, registries and pull policies, each alone and together."""
    yield from _priorities()
    yield from _runtimes()
    yield from _images()
    yield from _storages()


def _priorities() -> Iterator[tuple[str, World]]:
    golds = {
        "hard": {"pods": "0"},
        "scopeSelector": {"matchExpressions": [{"scopeName": "PriorityClass", "operator": "In", "values": ["gold"]}]},
    }
    for name in (None, "gold", "silver", "usual", "zinc"):
        sent = pod(BOTH) if name is None else pod(BOTH, priorityClassName=name)
        for number, written in enumerate(
            (
                {"default": "gold"},
                {"default": "gold", "allowed": ["silver"]},
                {"allowed": ["gold", "silver"]},
                {"allowed": ["usual", "Zinc", "gold", "AA"]},
                {"allowedRegex": "^s"},
                {"allowedRegex": "il", "allowed": ["gold"], **_HIGH},
                _HIGH,
                _UNKNOWN,
                {},
                {"default": "absent"},
            )
        ):
            yield f"priority-{name}-{number}", {"tenant": {"priorityClasses": written}, "pod": sent}
        given = {"tenant": {"priorityClasses": {"default": "gold"}}, "quotas": [golds]}
        yield f"priority-{name}-quota", {**given, "pod": sent}
    brought = pod(BOTH, priority=7, preemptionPolicy="PreemptLowerPriority")
    yield "priority-brought", {"tenant": {"priorityClasses": {"default": "gold"}}, "pod": brought}
    wrong = pod(BOTH, priority=1000)
    yield "priority-brought-wrong", {"tenant": {"priorityClasses": {"default": "gold"}}, "pod": wrong}
    missing = pod(BOTH, priorityClassName="nothing")
    yield "priority-missing", {"tenant": {"priorityClasses": {"default": "gold"}}, "pod": missing}


def _runtimes() -> Iterator[tuple[str, World]]:
    full = {"hard": {"requests.cpu": "300m"}}
    for name in (None, "box", "plain"):
        sent = pod(BOTH) if name is None else pod(BOTH, runtimeClassName=name)
        for number, written in enumerate((
            {"default": "box"}, {"default": "plain"}, {"allowed": ["box"]}, {"allowed": ["nothing"], **_HIGH},
            _HIGH, _UNKNOWN, {"default": "absent"}, {},
        )):  # fmt: skip
            yield f"runtime-{name}-{number}", {"tenant": {"runtimeClasses": written}, "pod": sent}
        given = {"tenant": {"runtimeClasses": {"default": "box"}}, "quotas": [full]}
        yield f"runtime-{name}-quota", {**given, "pod": sent}


def _images() -> Iterator[tuple[str, World]]:
    images = (
        "nginx", "nginx:1.27", "bitnami/redis:7", "registry.example/loaf:1", "registry.example/a/b/loaf:1",
        "registry.example/loaf", f"registry.example/loaf@sha256:{'0' * 64}", "localhost:5000/loaf:1",
        f"registry.example/loaf:1@sha256:{'0' * 64}", "docker.io/library/nginx:1", "Registry.example/loaf:latest",
    )  # fmt: skip
    for number, written in enumerate(
        (
            {"allowed": ["registry.example"]},
            {"allowed": ["docker.io", "Bitnami", "localhost:5000"], "allowedRegex": "^registry[.]"},
            {"allowedRegex": "io$"},
            {},
        )
    ):
        for image in images:
            sent = {"containers": [{"name": "c0", "image": image}]}
            yield f"registry-{number}-{image}", {"tenant": {"containerRegistries": written}, "pod": sent}
    for number, policies in enumerate((["Always"], ["IfNotPresent"], ["Never", "Always"])):
        for image in images:
            sent = {"containers": [{"name": "c0", "image": image}]}
            yield f"pull-{number}-{image}", {"tenant": {"imagePullPolicies": policies}, "pod": sent}
        for own in ("Always", "IfNotPresent", "Never"):
            sent = {
                "containers": [{"name": "c0", "image": "r.example/a:1", "imagePullPolicy": own}],
                "initContainers": [{"name": "i0", "image": "r.example/a:latest"}],
            }
            yield f"pull-{number}-written-{own}", {"tenant": {"imagePullPolicies": policies}, "pod": sent}
    everything = {
        "imagePullPolicies": ["Always"], "containerRegistries": {"allowed": ["registry.example"]},
        "priorityClasses": {"allowed": ["gold"]}, "runtimeClasses": {"allowed": ["nothing"], **_HIGH},
    }  # fmt: skip
    for image in ("nginx:1", "nginx:latest", "registry.example/loaf:latest"):
        for priority in ("silver", "gold"):
            sent = {
                "containers": [{"name": "c0", "image": image}],
                "priorityClassName": priority, "runtimeClassName": "plain",
            }  # fmt: skip
            yield f"all-{image}-{priority}", {"tenant": everything, "pod": sent}


def _storages() -> Iterator[tuple[str, World]]:
    full = {"hard": {"fast.storageclass.storage.k8s.io/requests.storage": "0"}}
    for name in (None, "fast", "slow", "cold", "nothing", ""):
        sent = claim(name)
        for number, written in enumerate(
            (
                {"default": "fast"},
                {"default": "fast", "allowed": ["cold"]},
                {"allowed": ["slow", "fast"]},
                {"allowed": ["cold"]},
                {"allowedRegex": "^f"},
                _HIGH,
                {"allowed": ["cold"], **_UNKNOWN},
                {"default": "absent"},
                {},
            )
        ):
            yield f"storage-{name}-{number}", {"tenant": {"storageClasses": written}, "claim": sent}
        given = {"tenant": {"storageClasses": {"default": "fast"}}, "quotas": [full]}
        yield f"storage-{name}-quota", {**given, "claim": sent}


#: What there is beside CLASSES where other objects than pods and volume claims are recorded.
OBJECT_CLASSES: dict[str, tuple[str, dict[str, Any]]] = {
    "DeviceClass": (
        "/apis/resource.k8s.io/v1/deviceclasses",
        {"big": {"spec": {}, "labels": {"tier": "high"}}, "small": {"spec": {}}},
    ),
    "IngressClass": (
        "/apis/networking.k8s.io/v1/ingressclasses",
        {"inner": {"spec": {"controller": "example.com/none"}}, "outer": {"spec": {"controller": "example.com/none"}}},
    ),
    "PersistentVolume": (
        "/api/v1/persistentvolumes",
        {
            name: {
                "spec": {
                    "capacity": {"storage": "1Gi"},
                    "accessModes": ["ReadWriteOnce"],
                    "hostPath": {"path": "/nothing"},
                    "storageClassName": "fast",
                },
                **({"labels": labels} if labels else {}),
            }
            for name, labels in (
                ("nobodys", {}),
                ("labelled", {"tier": "high"}),
                ("others", {"capsule.clastix.io/tenant": "somebody-else"}),
            )
        },
    ),
    "GatewayClass": (
        "/apis/gateway.networking.k8s.io/v1/gatewayclasses",
        {name: {"spec": {"controllerName": "example.com/none"}} for name in ("edge", "mesh")},
    ),
}


def about_objects() -> Iterator[tuple[str, World]]:
    """What Tenants make of Services, Ingresses, Gateways, claims on devices, volumes, and numbers of objects.

    ``send``: the whole object; ``annotations``: of the Tenant.
    """
    yield from _services()
    yield from _ingresses()
    yield from _gateways()
    yield from _devices()
    yield from _volumes()
    yield from _counts()
    yield from _namespaces()


def made(kind: str, version: str = "v1", **fields: Any) -> dict[str, Any]:
    metadata = {"name": "p", **fields.pop("metadata", {})}
    return {"apiVersion": version, "kind": kind, "metadata": metadata, **fields}


def _services() -> Iterator[tuple[str, World]]:
    ports = [{"port": 80}]
    services = {
        "cluster": made("Service", spec={"ports": ports}),
        "node": made("Service", spec={"ports": ports, "type": "NodePort"}),
        "balancer": made("Service", spec={"ports": ports, "type": "LoadBalancer"}),
        "name": made("Service", spec={"type": "ExternalName", "externalName": "loaf.example"}),
        "address": made("Service", spec={"ports": ports, "externalIPs": ["192.0.2.7"]}),
        "addresses": made("Service", spec={"ports": ports, "externalIPs": ["10.1.0.1", "2001:db8::1"]}),
        "marked": made(
            "Service", spec={"ports": ports}, metadata={"labels": {"tier": "a"}, "annotations": {"x/y": "b"}}
        ),
        "wrong": made("Service", spec={"type": "NodePort", "ports": []}),
    }
    options: tuple[dict[str, Any], ...] = (
        {},
        {"allowedServices": {"nodePort": False}},
        {"allowedServices": {"loadBalancer": False, "externalName": False}},
        {"externalIPs": {"allowed": ["192.0.2.0/24", "10.1.0.1"]}},
        {"externalIPs": {"allowed": []}},
        {"forbiddenLabels": {"denied": ["tier", "kind"]}},
        {"forbiddenAnnotations": {"denied": ["a"], "deniedRegex": "^x/"}},
        {"forbiddenAnnotations": {"deniedRegex": "y$"}, "allowedServices": {"nodePort": False}},
    )
    for number, written in enumerate(options):
        for name, sent in services.items():
            yield f"service-{number}-{name}", {"tenant": {"serviceOptions": written}, "send": sent}
    no_ports = {"serviceOptions": {"allowedServices": {"nodePort": False}}}
    full = {"tenant": no_ports, "quotas": [{"hard": {"services": "0"}}]}
    yield "service-quota-node", {**full, "send": services["node"]}
    yield "service-quota-cluster", {**full, "send": services["cluster"]}


def _ingress(host: str | None = "loaf.example", **spec: Any) -> dict[str, Any]:
    backend = {"service": {"name": "s", "port": {"number": 80}}}
    paths = {"http": {"paths": [{"path": "/", "pathType": "Prefix", "backend": backend}]}}
    metadata = spec.pop("metadata", {})
    rules = [{**paths, **({"host": host} if host is not None else {})}]
    return made("Ingress", "networking.k8s.io/v1", metadata=metadata, spec={"rules": rules, **spec})


def _ingresses() -> Iterator[tuple[str, World]]:
    ingresses = {
        "plain": _ingress(),
        "inner": _ingress(ingressClassName="inner"),
        "outer": _ingress(ingressClassName="outer"),
        "missing": _ingress(ingressClassName="nothing"),
        "annotated": _ingress(metadata={"annotations": {"kubernetes.io/ingress.class": "outer"}}),
        "hostless": _ingress(None),
        "other": _ingress("other.example", ingressClassName="inner"),
        "wildcard": _ingress("*.loaf.example", ingressClassName="inner"),
    }
    options: tuple[dict[str, Any], ...] = (
        {},
        {"allowedClasses": {"allowed": ["inner"]}},
        {"allowedClasses": {"allowed": ["inner"], "default": "inner"}},
        {"allowedClasses": {"default": "inner"}},
        {"allowedClasses": {"allowedRegex": "^o"}},
        {"allowedHostnames": {"allowed": ["loaf.example"]}},
        {"allowedHostnames": {"allowedRegex": "[.]loaf[.]example$"}},
        {"allowedHostnames": {"allowed": ["a.example", "b.example"], "allowedRegex": "^x"}},
        {"allowWildcardHostnames": True},
        {"allowedHostnames": {"allowed": ["*.loaf.example"]}, "allowedClasses": {"allowed": ["inner"]}},
    )
    for number, written in enumerate(options):
        for name, sent in ingresses.items():
            yield f"ingress-{number}-{name}", {"tenant": {"ingressOptions": written}, "send": sent}


def _gateways() -> Iterator[tuple[str, World]]:
    for name in ("edge", "mesh"):
        sent = made("Gateway", "gateway.networking.k8s.io/v1", spec={"gatewayClassName": name, "listeners": []})
        for number, written in enumerate((
            {"allowed": ["edge"]}, {"allowedRegex": "^m"}, {"default": "edge"},
            {"default": "edge", "allowed": ["mesh"]},
        )):  # fmt: skip
            yield f"gateway-{number}-{name}", {"tenant": {"gatewayOptions": {"allowedClasses": written}}, "send": sent}


def _devices() -> Iterator[tuple[str, World]]:
    def request(name: str, number: int = 0) -> dict[str, Any]:
        return {"name": f"r{number}", "exactly": {"deviceClassName": name}}

    requests = {
        "big": [request("big")],
        "small": [request("small")],
        "nothing": [request("nothing")],
        "small-big": [request("small"), request("big", 1)],
        "big-nothing": [request("big"), request("nothing", 1)],
        "either": [{"name": "r0", "firstAvailable": [{"name": "a", "deviceClassName": "big"}]}],
        "none": [],
    }
    lists: tuple[dict[str, Any], ...] = (
        {"allowed": ["big"]}, {"allowed": ["small"], **_HIGH}, _HIGH, {"allowedRegex": "^s", **_HIGH},
        {"allowed": ["nothing"], **_UNKNOWN}, {},
    )  # fmt: skip
    for number, written in enumerate(lists):
        for name, asked in requests.items():
            spec = {"devices": {"requests": asked}} if asked else {}
            given = {"tenant": {"deviceClasses": written}}
            sent = made("ResourceClaim", "resource.k8s.io/v1", spec=spec)
            yield f"device-{number}-{name}", {**given, "send": sent}
            if number in {1, 2}:
                template = made("ResourceClaimTemplate", "resource.k8s.io/v1", spec={"spec": spec})
                yield f"device-template-{number}-{name}", {**given, "send": template}


def _volumes() -> Iterator[tuple[str, World]]:
    base = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}, "storageClassName": "fast"}
    for name in ("nobodys", "labelled", "others", "missing"):
        for number, written in enumerate(({}, {"storageClasses": {"allowed": ["cold"]}})):
            sent = made("PersistentVolumeClaim", spec={**base, "volumeName": name})
            yield f"volume-{number}-{name}", {"tenant": written, "send": sent}
    selected = made("PersistentVolumeClaim", spec={**base, "selector": {"matchLabels": {"tier": "high"}}})
    yield "volume-selected", {"tenant": {}, "send": selected}


def _counts() -> Iterator[tuple[str, World]]:
    cake = made("Cake", "shop.example/v1", spec={})
    for limit, used in (("2", None), ("2", "1"), ("2", "2"), ("0", None), ("511", "511"), ("512", "600"), ("-1", "0"),
                        ("two", "9"), ("3", "x")):  # fmt: skip
        for name in ("cakes.shop.example_v1", "cakes.shop.example_v2"):
            annotations = {f"quota.resources.capsule.clastix.io/{name}": limit}
            if used is not None:
                annotations[f"used.resources.capsule.clastix.io/{name}"] = used
            yield f"count-{name}-{limit}-{used}", {"tenant": {}, "annotations": annotations, "send": cake}
    key = "quota.resources.capsule.clastix.io/"
    for resource, sent in (
        ("configmaps._v1", made("ConfigMap")),
        ("services._v1", made("Service", spec={"ports": [{"port": 80}]})),
        ("pods._v1", made("Pod", spec={"containers": [{"name": "c", "image": "i"}]})),
    ):
        for limit in ("0", "1"):
            yield f"count-{resource}-{limit}", {"tenant": {}, "annotations": {f"{key}{resource}": limit}, "send": sent}
    annotations = {f"{key}cakes.shop.example_v1": "0"}
    full = [{"hard": {"count/cakes.shop.example": "0"}}]
    yield "count-and-quota", {"tenant": {}, "annotations": annotations, "quotas": full, "send": cake}


def _namespaces() -> Iterator[tuple[str, World]]:
    for quota in (None, 1, 2, 3):
        for cordoned in (False, True):
            options = {} if quota is None else {"namespaceOptions": {"quota": quota}}
            cordon = {"cordoned": True} if cordoned else {}
            yield f"namespace-{quota}-{cordoned}", {"tenant": {**options, **cordon}, "send": made("Namespace")}
    for kind, sent in (
        ("pod", made("Pod", spec={"containers": [{"name": "c", "image": "i"}]})),
        ("service", made("Service", spec={"ports": [{"port": 80}]})),
        ("claim", made("PersistentVolumeClaim", spec=claim("fast"))),
    ):
        for user in ("", "owner"):
            yield f"cordoned-{kind}-{user}", {"tenant": {"cordoned": True}, "user": user, "send": sent}
