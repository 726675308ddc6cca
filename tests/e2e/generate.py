"""What one run asks: namespaces with policies, pods that use them up, and the objects to be judged."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Any

from e2e import policies
from e2e.pods import Object, plain_pod, pod
from e2e.resizes import Edit, Resize, every, put, resizes, standing

#: Cluster-scoped objects that pods and quotas name.
CLASSES: tuple[Object, ...] = (
    {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "high"}, "value": 1000},
    {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "low"}, "value": 10},
    {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "limited"}, "value": 20},
    *(
        {"apiVersion": "node.k8s.io/v1", "kind": "RuntimeClass", "metadata": {"name": name}, "handler": "runc", **rest}
        for name, rest in (
            ("sandbox", {"overhead": {"podFixed": {"cpu": "250m", "memory": "120Mi"}}}),
            ("cpuonly", {"overhead": {"podFixed": {"cpu": "100m"}}}),
            ("odd", {"overhead": {"podFixed": {"memory": "1.5"}}}),
            ("plain", {}),
        )
    ),
)

#: The class that pods of the second half get without naming one.
GLOBAL_DEFAULT: Object = {
    "apiVersion": "scheduling.k8s.io/v1",
    "kind": "PriorityClass",
    "metadata": {"name": "usual"},
    "value": 5,
    "globalDefault": True,
}

#: What the server allows only under a quota that names it: the ResourceQuota plugin's configuration.
LIMITED: tuple[Object, ...] = (
    {"resource": "pods", "matchScopes": [{"scopeName": "PriorityClass", "operator": "In", "values": ["limited"]}]},
    {"resource": "pods", "matchContains": ["limited.example.com"]},
    {"resource": "persistentvolumeclaims", "matchContains": ["costly.storageclass.storage.k8s.io/requests.storage"]},
)

#: Pods that stand in a random setting, and resizes of each.
STANDING, RESIZES = 3, 4


@dataclass
class Setting:
    """A namespace: ``standing`` pods, ``policies`` and ``first`` are created, then all else is asked for by dry run.

    ``cases`` are to be created, ``resizes`` change a pod that stands there.
    ``statuses``: by quota name, the status written over the controller's; ``running``: by pod name, what the kubelet
    would report.
    """

    name: str
    standing: list[Object] = field(default_factory=list)
    policies: list[Object] = field(default_factory=list)
    first: list[Object] = field(default_factory=list)
    cases: list[Object] = field(default_factory=list)
    resizes: list[Resize] = field(default_factory=list)
    statuses: dict[str, Object] = field(default_factory=dict)
    running: dict[str, Object] = field(default_factory=dict)
    global_default: bool = False


def settings(seed: int, count: int = 26, pods: int = 14) -> list[Setting]:
    """The settings of a run: the pointed ones, then ``count`` random ones with ``pods`` pods to be judged in each."""
    return [*_pointed(), *(_random(random.Random(f"{seed}/{index}"), index, count, pods) for index in range(count))]


def _random(rng: random.Random, index: int, count: int, pods: int) -> Setting:
    found = Setting(f"random-{index}", global_default=index >= count * 3 // 4)
    found.policies = [
        *(policies.limit_range(rng, f"lr{number}", faulty=0.1) for number in range(rng.choice((0, 0, 1, 1, 1, 2, 3)))),
        *(policies.quota(rng, f"rq{number}", faulty=0.1) for number in range(rng.choice((0, 0, 1, 1, 2)))),
    ]
    if found.policies:
        found.first = [
            rng.choice((plain_pod, plain_pod, pod))(rng, f"first-{number}") for number in range(rng.randint(0, 4))
        ]
        found.first += [rng.choice((policies.claim, policies.service, policies.counted))(rng, "other")]
    found.cases = [
        *(pod(rng, f"p{number}") for number in range(pods)),
        *(policies.limit_range(rng, f"l{number}", faulty=0.5) for number in range(2)),
        *(policies.quota(rng, f"q{number}", faulty=0.8) for number in range(3)),
        *(make(rng, "n") for make in (policies.claim, policies.claim, policies.service, policies.counted)),
    ]
    found.standing = [standing(rng, f"s{number}") for number in range(STANDING)]
    resized = (*found.standing, *(one for one in found.first if one["kind"] == "Pod"))
    found.resizes = [one for held in resized for one in resizes(rng, held, RESIZES)]
    return found


def _pod(name: str, resources: Object | None = None, /, *, container: Object | None = None, **spec: Any) -> Object:
    first: Object = {
        "name": "c",
        "image": "img",
        **({} if resources is None else {"resources": resources}),
        **(container or {}),
    }
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": {"containers": [first], **spec}}


#: Warned of, though resources do not depend on it.
_NOTICED: Object = {
    "nodeSelector": {"beta.kubernetes.io/os": "linux"},
    "hostAliases": [{"ip": "10.0.0.1", "hostnames": ["a"]}, {"ip": "10.0.0.1", "hostnames": ["b"]}],
    "imagePullSecrets": [{"name": "a"}, {"name": "a"}, {}],
    "topologySpreadConstraints": [{"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"}],
    "affinity": {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": "zone"}]}},
}


def _workload(name: str, resources: Object) -> Object:
    labels = {"a": "b"}
    template = {"metadata": {"labels": labels}, "spec": _pod("", resources)["spec"]}
    spec = {"replicas": 0, "selector": {"matchLabels": labels}, "template": template}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name}, "spec": spec}


def _both(**values: str) -> Object:
    return {
        "limits": {_name(key): value for key, value in values.items()},
        "requests": {_name(key): value for key, value in values.items()},
    }


def _name(key: str) -> str:
    return {"pages": "hugepages-2Mi", "gpu": "example.com/gpu"}.get(key, key)


def _limits(name: str, *items: Object) -> Object:
    return {"apiVersion": "v1", "kind": "LimitRange", "metadata": {"name": name}, "spec": {"limits": list(items)}}


def _quota(name: str, hard: Object, **spec: Any) -> Object:
    return {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": name}, "spec": {"hard": hard, **spec}}


def _claim(name: str, storage: str, **spec: Any) -> Object:
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": storage}}, **spec}
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": name}, "spec": spec}


def _pointed() -> list[Setting]:
    """One case at least for each rule that chance may miss."""
    return [_unbounded(), _bounded(), _counted(), _unknown_status(), _resized()]


def _unbounded() -> Setting:
    """Rules of the pod and of the policy objects alone."""
    level = {"limits": {"cpu": "1", "memory": "1Gi"}}
    pages = {"limits": {"memory": "64Mi", "hugepages-2Mi": "4Mi"}}
    init = [{"name": "i", "image": "img", "resources": _both(cpu="2")}]
    return Setting(
        "pointed-alone",
        cases=[
            _pod("canonical", _both(cpu="0.5", memory="1024Ki")),
            _pod("unparsable", {"limits": {"cpu": "1x"}}),
            _pod("limits-only", {"limits": {"cpu": "1"}}),
            _pod("level-from-containers", {"requests": {"cpu": "1"}}, resources=level),
            _pod("level-from-limit", resources=level),
            _pod("level-pages", pages, resources=level),
            _pod("bad-name", {"limits": {"gpu": "1"}}),
            _pod("negative", {"limits": {"cpu": "-1"}}),
            _pod("fraction", _both(gpu="1500m")),
            _pod("over", {"requests": {"cpu": "2"}, "limits": {"cpu": "1"}}),
            _pod("unequal", {"requests": {"example.com/gpu": "1"}, "limits": {"example.com/gpu": "2"}}),
            _pod("no-limit", {"requests": {"example.com/gpu": "1"}}),
            _pod("pages", {"limits": {"memory": "1Gi", "hugepages-2Mi": "3Mi"}}),
            _pod("pages-alone", {"limits": {"hugepages-2Mi": "4Mi"}}),
            _pod("claim", {"claims": [{"name": "nobody"}]}),
            _pod("resize", container={"resizePolicy": [{"resourceName": "storage", "restartPolicy": "NotRequired"}]}),
            _pod("ephemeral", ephemeralContainers=[{"name": "e", "image": "img"}]),
            _pod("level-name", resources={"limits": {"ephemeral-storage": "1Gi"}}),
            _pod("level-claims", resources={"claims": [], "limits": {"cpu": "1"}}),
            _pod("level-windows", resources=level, os={"name": "windows"}),
            _pod("level-below", {"requests": {"cpu": "2"}}, resources={"requests": {"cpu": "1"}}),
            _pod("level-pages-below", pages, resources={"limits": {"cpu": "1", "hugepages-2Mi": "2Mi"}}),
            _pod("level-container", {"limits": {"cpu": "2"}, "requests": {"cpu": "1"}}, resources=level),
            _pod("Name"),
            _pod("container-name", container={"name": "C"}),
            _pod("no-image", container={"image": ""}),
            _pod("twice", initContainers=[{"name": "c", "image": "img"}]),
            _pod("restarts", container={"restartPolicy": "Sometimes"}, restartPolicy="Sometimes", os={"name": "none"}),
            _pod("deadline", activeDeadlineSeconds=0),
            _pod("priority", priorityClassName="nobody"),
            _pod("own-priority", priority=5),
            _pod("own-policy", priorityClassName="high", priority=1000, preemptionPolicy="Never"),
            _pod("ephemeral-values", ephemeralContainers=[{"name": "e", "image": "img", "resources": _both(cpu="1")}]),
            _pod("noticed", container={"ports": [{"containerPort": 80}] * 2}, **_NOTICED),
            _workload("bad-template", {"requests": {"cpu": "2"}, "limits": {"cpu": "1"}}),
            _workload("odd-template", {"requests": {"memory": "100m"}}),
            _workload("unparsable-template", {"requests": {"memory": "1x"}}),
            _pod("runtime", runtimeClassName="nobody"),
            _pod("overhead", runtimeClassName="sandbox"),
            _pod("overhead-differs", runtimeClassName="sandbox", overhead={"cpu": "1"}),
            _pod("overhead-unexplained", overhead={"cpu": "1"}),
            _pod("brought", _both(cpu="1")) | {"status": {"qosClass": "BestEffort"}},
            _pod("peak", _both(cpu="1"), initContainers=init),
            _limits("type", {"type": "Node"}, {"type": "Pod"}, {"type": "Pod"}),
            _limits("pod-defaults", {"type": "Pod", "default": {"cpu": "1"}}),
            _limits("claims", {"type": "PersistentVolumeClaim", "max": {"cpu": "1"}}),
            _limits("order", {"type": "Container", "min": {"cpu": "2"}, "max": {"cpu": "1"}}),
            _limits("ratio", {"type": "Pod", "maxLimitRequestRatio": {"cpu": "0.5"}}),
            _limits("defaults", {"type": "Container", "max": {"cpu": "2"}, "min": {"memory": "1Mi"}}),
            *(_claim(f"size-{number}", size) for number, size in enumerate(("0", "-1Gi"))),
            _claim("no-size", "1Gi", resources={}),
            _quota("scope", {"pods": "1"}, scopes=["BestEffort", "NotBestEffort"]),
            _quota("name", {"gpu": "1"}),
        ],
    )  # fmt: skip


def _bounded() -> Setting:
    """Rules of a LimitRange."""
    container = {
        "type": "Container",
        "min": {"cpu": "100m"},
        "max": {"memory": "1Gi"},
        "maxLimitRequestRatio": {"memory": "2"},
    }
    container["default"] = {"ephemeral-storage": "1Gi"}
    claims = {"type": "PersistentVolumeClaim", "min": {"storage": "1Gi"}, "max": {"storage": "2Gi"}}
    return Setting(
        "pointed-limits",
        policies=[_limits("lr", container, claims)],
        cases=[
            _pod("filled"),
            _pod("small", {"requests": {"cpu": "1m"}}),
            _pod("large", _both(memory="2Gi")),
            _pod("ratio", {"requests": {"memory": "1Mi"}}),
            _claim("small", "1Mi"),
            _claim("large", "1Ti"),
        ],
    )


def _counted() -> Setting:
    """Rules of quotas."""
    return Setting(
        "pointed-quota",
        policies=[
            _quota("compute", {"requests.cpu": "1"}),
            _quota("objects", {"pods": "4", "services": "0", "count/configmaps": "1"}),
        ],
        first=[_pod("used", _both(cpu="300m"))],
        cases=[
            _pod("unstated"),
            _pod("sum", _both(cpu="1"), initContainers=[{"name": "i", "image": "img", "resources": _both(cpu="2")}]),
            _pod("level", resources={"requests": {"cpu": "3"}}),
            _pod("fits", _both(cpu="1m")),
            {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "s"}, "spec": {"ports": [{"port": 80}]}},
            {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "one"}},
        ],
    )


def _unknown_status() -> Setting:
    """A quota whose use is not known, as after a failed count."""
    written = {"hard": {"pods": "1", "requests.cpu": "1"}, "used": {"pods": "0"}}
    cases = [_pod("unknown", _both(cpu="1")), _claim("other", "1Gi")]
    quotas = [_quota("blind", {"pods": "1"})]
    return Setting("pointed-status", policies=quotas, cases=cases, statuses={"blind": written})


def _resized() -> Setting:
    """Rules of resizes: pods that are older than the policies, on every sort of node."""
    both, first = _both(cpu="1", memory="1Gi"), ("containers", 0)
    nodes = ("small", "old", "foreign", "nowhere")
    init = [{"name": "i", "image": "img", "resources": both}]
    ran = {"containerStatuses": [{"name": "c", "image": "img", "imageID": "x", "ready": True, "restartCount": 0,
                                  "state": {"running": {}}}]}  # fmt: skip
    mirror = _pod("mirror", both, nodeName="large")
    mirror["metadata"]["annotations"] = {"kubernetes.io/config.mirror": "x"}
    pods = [
        _pod("free", {"requests": {"cpu": "1", "memory": "1Gi"}, "limits": {"cpu": "2"}}),
        _pod("sure", both),
        _pod("unstated", {"requests": {"cpu": "1"}}),
        _pod("restarting", both, initContainers=init),
        _pod("level", resources={"requests": {"cpu": "1"}, "limits": {"cpu": "2"}}),
        _pod("windows", both, os={"name": "windows"}),
        mirror,
        _pod("ran", both),
        *(_pod(name, both, nodeName=name, initContainers=init) for name in nodes),
    ]

    def restarts(sent: Object) -> None:
        policy = [{"resourceName": "cpu", "restartPolicy": "RestartContainer"}]
        sent["spec"]["initContainers"][0]["resizePolicy"] = policy

    def three(place: tuple[str, int]) -> Edit:
        return every(put(place, side, "cpu", "3") for side in ("limits", "requests"))

    asked = [
        *(("sure", put(first, side, "cpu", "2")) for side in ("limits", "requests")),
        *(("free", put(first, "requests", resource, value)) for resource, value in
          (("cpu", "1500m"), ("cpu", "1"), ("memory", "4Gi"), ("cpu", "1x"), ("example.com/gpu", "1"), ("cpu", "1m"))),
        ("free", lambda sent: sent["spec"]["containers"][0]["resources"]["requests"].pop("cpu")),
        ("free", lambda sent: sent["spec"]["containers"][0].update(name="other")),
        ("restarting", every((put(("initContainers", 0), "requests", "cpu", "500m"), restarts))),
        ("unstated", put(first, "requests", "cpu", "1500m")),
        ("level", put(None, "requests", "cpu", "1500m")),
        ("level", lambda sent: sent["spec"].pop("resources", None)),
        *((name, put(first, "requests", "cpu", "1")) for name in ("windows", "mirror", "ran")),
        *((name, three(place)) for name in nodes for place in (first, ("initContainers", 0))),
    ]  # fmt: skip
    bounds = _limits("lr", {"type": "Container", "min": {"cpu": "100m"}, "max": {"memory": "2Gi"}})
    hard = {"requests.cpu": "15", "requests.memory": "1Ti"}
    return Setting(
        "pointed-resize",
        policies=[bounds, _quota("compute", hard)],
        standing=pods,
        resizes=[Resize(name, f"number {place}", edit) for place, (name, edit) in enumerate(asked)],
        running={"ran": ran},
    )


def limited() -> Setting:
    """For a server that limits LIMITED: resources and scopes, one of two under a quota; and without the pod level."""
    return Setting(
        "pointed-limited",
        policies=[_quota("covers", {"requests.limited.example.com/b": "1"})],
        cases=[
            _pod("bare", {"limits": {"limited.example.com/a": "1"}}),
            _pod("covered", {"limits": {"limited.example.com/b": "1"}}),
            _pod("scope", priorityClassName="limited"),
            _pod("dropped", resources={"limits": {"cpu": "1", "memory": "1Gi"}}),
            _pod("dropped-unparsable", resources={"limits": {"cpu": "1x"}}),
            _claim("costly", "1Gi", storageClassName="costly"),
        ],
    )
