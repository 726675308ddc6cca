"""Namespaces, nodes, classes, LimitRanges, and quotas whose status is right but for a few."""

from __future__ import annotations

from collections.abc import Iterator

from owners import Made
from podspec import WORDS, Specs, show
from tally import Tally

#: One quota in so many has a status from before its last pod came.
STALE = 25
COMPUTE = ("limits.cpu", "limits.memory", "requests.cpu", "requests.memory")


def nodes(k: Specs) -> Iterator[Made]:
    for i, name in sorted(enumerate(k.nodes), key=lambda pair: pair[1]):
        zone = f"eu-west-1{'abc'[i % 3]}"
        labels = {
            "kubernetes.io/arch": "amd64",
            "kubernetes.io/hostname": name,
            "kubernetes.io/os": "linux",
            "node.kubernetes.io/instance-type": "m7i.8xlarge",
            "topology.kubernetes.io/zone": zone,
        }
        spec = {"podCIDR": f"100.{i // 250}.{i % 250}.0/24", "providerID": f"aws:///{zone}/i-{i:017x}"}
        yield "nodes", {"metadata": k.meta(name, labels=labels), "spec": spec, "status": node_status(k, i, name)}


def node_status(k: Specs, i: int, name: str) -> dict:
    day, number = k.names.day(i), f"{i:032x}"
    ready = {"type": "Ready", "status": "True", "lastHeartbeatTime": day, "lastTransitionTime": day}
    return {
        "capacity": {"cpu": "32", "ephemeral-storage": "104845292Ki", "memory": "130045768Ki", "pods": "250"},
        "allocatable": {"cpu": "31850m", "ephemeral-storage": "95551679124", "memory": "127007560Ki", "pods": "250"},
        "conditions": [ready | {"reason": "KubeletReady", "message": "kubelet is posting ready status"}],
        "addresses": [
            {"type": "InternalIP", "address": f"10.{i // 250}.{i % 250}.17"},
            {"type": "Hostname", "address": name},
        ],
        "nodeInfo": {
            "kubeletVersion": "v1.34.1",
            "osImage": "Linux",
            "architecture": "amd64",
            "containerRuntimeVersion": "containerd://2.1.4",
            "kernelVersion": "6.12.0",
            "operatingSystem": "linux",
            "machineID": number,
            "systemUUID": number,
            "bootID": number,
            "kubeProxyVersion": "",
        },
        "images": [
            {"names": [f"registry.example.com/{w}/{w}:v1.{i % 30}.0"], "sizeBytes": 1000 * i + 12345678}
            for w in k.r.sample(WORDS, 12)
        ],
    }


def tenant(ns: str) -> str:
    """The first word of a namespace's name."""
    return ns.split("-", maxsplit=1)[0]


def namespaces(k: Specs) -> Iterator[Made]:
    for ns in k.ns:
        labels = {"kubernetes.io/metadata.name": ns, "capsule.clastix.io/tenant": tenant(ns)}
        spec = {"finalizers": ["kubernetes"]}
        yield "namespaces", {"metadata": k.meta(ns, labels=labels), "spec": spec, "status": {"phase": "Active"}}


def classes(k: Specs) -> Iterator[Made]:
    overhead = {"podFixed": {"cpu": "50m", "memory": "64Mi"}}
    yield "runtimeclasses", {"metadata": k.meta("gvisor"), "handler": "runsc", "overhead": overhead}
    for name, value in (("system-cluster-critical", 2_000_000_000), ("system-node-critical", 2_000_001_000)):
        yield "priorityclasses", {"metadata": k.meta(name), "value": value, "preemptionPolicy": "PreemptLowerPriority"}


def limit_ranges(k: Specs) -> Iterator[Made]:
    container = {
        "type": "Container",
        "default": {"cpu": "500m", "memory": "512Mi"},
        "defaultRequest": {"cpu": "100m", "memory": "128Mi"},
        "min": {"cpu": "10m", "memory": "16Mi"},
        "max": {"cpu": "8", "memory": "16Gi"},
    }
    pod = {"type": "Pod", "max": {"cpu": "16", "memory": "32Gi"}, "maxLimitRequestRatio": {"cpu": "10"}}
    for ns in k.ns:
        for name, item in (("container-defaults", container), ("pod-bounds", pod))[
            : k.r.choices([0, 1, 2], [25, 55, 20])[0]
        ]:
            yield "limitranges", {"metadata": k.meta(name, ns), "spec": {"limits": [item]}}


def quotas(
    k: Specs, tallies: dict[str, Tally], managed: dict[str, list[dict]], truth: dict, *, full: str
) -> Iterator[Made]:
    """Quotas of each namespace by name: those of pools, and ours; what a recount finds goes into ``truth``.

    ``managed``: metadata and hard of the quotas that pools manage. ``full``: the namespace that may have no more pods.
    """
    for ns in k.ns:
        tally = tallies[ns]
        for each in managed.get(ns, ()):
            used = tally.used(list(each["spec"]["hard"]))
            yield "resourcequotas", quota(each["metadata"], each["spec"], used, used, truth)
        for name, spec, used in no_more_pods(tally) if ns == full else own_quotas(k, tally):
            stale = dict(used)
            if k.r.randrange(STALE) == 0:
                stale["pods"] += 1000
            yield "resourcequotas", quota(k.meta(name, ns), spec, used, stale, truth)


def own_quotas(k: Specs, tally: Tally) -> Iterator[tuple[str, dict, dict[str, int]]]:
    """Name, spec and use of the quotas of a namespace, by name."""
    used = tally.used([*COMPUTE, "pods"])
    hard = {name: roomy(name, value) for name, value in used.items() if value or name == "pods"}
    yield "compute", {"hard": hard}, {name: used[name] for name in hard}
    if k.r.random() < 0.15:
        used = tally.used(["pods", "requests.memory"], lambda bucket: not bucket[1])
        hard = {name: roomy(name, value) for name, value in used.items()}
        yield "long-running", {"hard": hard, "scopes": ["NotTerminating"]}, used
    if k.r.random() < 0.3:
        used = tally.used(["pods"], lambda bucket: bucket[0])
        yield "scoped-best-effort", {"hard": {"pods": roomy("pods", used["pods"])}, "scopes": ["BestEffort"]}, used


def no_more_pods(tally: Tally) -> Iterator[tuple[str, dict, dict[str, int]]]:
    used = tally.used(["pods"])
    yield "compute", {"hard": {"pods": show("pods", used["pods"])}}, used


def roomy(name: str, value: int) -> str:
    """A third more than is used, in whole cores or Mi; of pods 20 more."""
    if name == "pods":
        return show(name, value + 20_000)
    unit = 1000 << 20 if name.endswith("memory") else 1000
    return show(name, max(1, -(-value * 4 // 3 // unit)) * unit)


def quota(meta: dict, spec: dict, used: dict[str, int], status: dict[str, int], truth: dict) -> dict:
    truth[f"{meta['namespace']}/{meta['name']}"] = {
        "used": {name: str(value) for name, value in sorted(used.items())},
        "stale": sorted(name for name in used if used[name] != status[name]),
    }
    shown = {name: show(name, value) for name, value in sorted(status.items())}
    return {"metadata": meta, "spec": spec, "status": {"hard": spec["hard"], "used": shown}}
