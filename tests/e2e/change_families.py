"""Generated changes by family: each leans on some rules of the controllers, so that what is rare by chance comes up."""

from __future__ import annotations

import os
import random
from typing import Any, NamedTuple

from e2e import changing
from e2e.changing import CLASSES, STORAGE, limit_range, quota, scoped, workload

Raw = dict[str, Any]
CPU = ("100m", "200m", "300m", "500m")


class Case(NamedTuple):
    """What is there, each brought to rest, and steps. ``ready``: new pods get ready. ``jobs``: how pods of Jobs end."""

    given: list[Raw]
    change: list[Raw]
    ready: bool = True
    jobs: str = "run"


def template(name: str, cpu: str = "", **spec: Any) -> Raw:
    resources = {"requests": {"cpu": cpu}} if cpu else {}
    containers = [{"name": "c", "image": "example.test/x", "resources": resources}]
    return {"metadata": {"labels": {"app": name}}, "spec": {"containers": containers, **spec}}


def made(kind: str, name: str, replicas: int, cpu: str = "", **spec: Any) -> Raw:
    more: Raw = {"serviceName": name} if kind == "StatefulSet" else {}
    spec = {
        "replicas": replicas,
        "selector": {"matchLabels": {"app": name}},
        "template": template(name, cpu),
        **more,
        **spec,
    }
    if kind == "ReplicationController":
        spec["selector"] = {"app": name}
    return {"apiVersion": "v1" if kind == "ReplicationController" else "apps/v1", "kind": kind,
            "metadata": {"name": name}, "spec": spec}  # fmt: skip


def hard(name: str = "q", **amounts: str) -> Raw:
    spec = {"hard": {key.replace("__", "/").replace("_", "."): value for key, value in amounts.items()}}
    return {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": name}, "spec": spec}


def patch(kind: str, name: str, **spec: Any) -> Raw:
    return {"set": {"kind": kind, "name": name, "patch": {"spec": spec}}}


def sized(kind: str, name: str, cpu: str) -> Raw:
    """Another template that differs in what its container requests."""
    containers = [{"name": "c", "resources": {"requests": {"cpu": cpu}}}]
    return patch(kind, name, template={"spec": {"containers": containers}})


def restarted(kind: str, name: str, when: int) -> Raw:
    notes = {"kubectl.kubernetes.io/restartedAt": str(when)}
    return patch(kind, name, template={"metadata": {"annotations": notes}})


def _of(cpu: str, number: int, more: int = 0) -> str:
    """The cpu of so many pods and some millicores."""
    return f"{(int(cpu.removesuffix('m')) * number) + more}m"


def _strategy(rng: random.Random) -> Raw:
    if rng.random() < 0.2:
        return {"strategy": {"type": "Recreate"}}
    surge, gone = rng.choice(((0, 1), (1, 0), (1, 1), ("25%", "25%"), ("50%", 0), (2, 1), (0, "50%"), ("10%", "10%")))
    return {"strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": surge, "maxUnavailable": gone}}}


def rollouts(rng: random.Random) -> Case:
    """Rollouts in a quota that is full or nearly so: bigger, smaller, back again, with other replicas at once."""
    cpu, replicas = rng.choice(CPU), rng.randint(1, 6)
    room = rng.choice((0, 0, 50, 100, int(cpu[:-1]), 2 * int(cpu[:-1])))
    given = [made("Deployment", "a", replicas, cpu, **_strategy(rng)), hard(requests_cpu=_of(cpu, replicas, room))]
    if rng.random() < 0.3:
        given.reverse()
    steps: list[Raw] = []
    for _ in range(rng.randint(1, 3)):
        match rng.choice(("size", "size", "both", "back", "restart", "quota", "pause", "scale", "strategy")):
            case "size":
                steps.append(sized("Deployment", "a", rng.choice(("50m", "100m", "250m", "400m", "600m"))))
            case "both":
                steps.append(patch("Deployment", "a", replicas=rng.randint(0, 7), template={"spec": {"containers": [
                    {"name": "c", "resources": {"requests": {"cpu": rng.choice(CPU)}}}]}}))  # fmt: skip
            case "back":
                steps.append(sized("Deployment", "a", cpu))
            case "restart":
                steps.append(restarted("Deployment", "a", len(steps)))
            case "quota":
                steps.append({"apply": hard(requests_cpu=_of(cpu, rng.randint(0, 2 * replicas), 50))})
            case "pause":
                steps.append(patch("Deployment", "a", paused=rng.random() < 0.6))
            case "scale":
                steps.append({"scale": {"kind": "Deployment", "name": "a", "replicas": rng.randint(0, 8)}})
            case _:
                steps.append(patch("Deployment", "a", **_strategy(rng)) if rng.random() < 0.1 else {"settle": True})
        if rng.random() < 0.5:
            steps.append({"settle": True})
    return Case(given, steps, ready=rng.random() < 0.85)


def restarts(rng: random.Random) -> Case:
    """Some or all workloads restarted at once, where next pods are as before or bigger."""
    names = "abcd"[: rng.randint(2, 4)]
    given: list[Raw] = [changing_request("100m")] if rng.random() < 0.6 else []
    total = 0
    for name in names:
        replicas, cpu = rng.randint(1, 4), "" if given and rng.random() < 0.7 else rng.choice(CPU)
        total += replicas * int((cpu or "100m")[:-1])
        kind = rng.choice(("Deployment", "Deployment", "StatefulSet"))
        given.append(made(kind, name, replicas, cpu, **(_strategy(rng) if kind == "Deployment" else {})))
    if given[0]["kind"] == "LimitRange" and rng.random() < 0.7:
        given.append(changing_request(rng.choice(("150m", "200m"))))
    given.append(hard(requests_cpu=f"{total + rng.choice((0, 100, 200, 300, 500))}m"))
    chosen = [item for item in given if item["kind"] in {"Deployment", "StatefulSet"}]
    chosen = chosen if rng.random() < 0.6 else rng.sample(chosen, rng.randint(1, len(chosen)))
    return Case(given, [restarted(item["kind"], item["metadata"]["name"], 0) for item in chosen])


def changing_request(cpu: str) -> Raw:
    limits = [{"type": "Container", "defaultRequest": {"cpu": cpu}}]
    return {"apiVersion": "v1", "kind": "LimitRange", "metadata": {"name": "l"}, "spec": {"limits": limits}}


def stateful(rng: random.Random) -> Case:
    """StatefulSets: in order and in parallel, partitions, OnDelete, claims under storage quotas, other ordinals."""
    cpu, replicas = rng.choice(CPU), rng.randint(1, 4)
    more: Raw = {}
    if rng.random() < 0.5:
        more["podManagementPolicy"] = "Parallel"
    if rng.random() < 0.4:
        more["updateStrategy"] = rng.choice(
            ({"type": "OnDelete"}, {"type": "RollingUpdate", "rollingUpdate": {"partition": rng.randint(0, 4)}})
        )
    if rng.random() < 0.2:
        more["ordinals"] = {"start": rng.randint(1, 3)}
    if rng.random() < 0.5:
        more["volumeClaimTemplates"] = [_claim(rng, name) for name in ("d", "e")[: rng.randint(1, 2)]]
    amounts: Raw = {}
    if rng.random() < 0.7:
        amounts["requests_cpu"] = _of(cpu, rng.randint(1, 5), rng.choice((0, 0, 50)))
    if more.get("volumeClaimTemplates") and rng.random() < 0.7:
        amounts |= rng.choice((
            {"requests_storage": f"{rng.randint(1, 5)}Gi"}, {"persistentvolumeclaims": str(rng.randint(1, 5))},
            {f"{rng.choice(STORAGE)}_storageclass_storage_k8s_io__requests_storage": f"{rng.randint(0, 3)}Gi"},
        ))  # fmt: skip
    if rng.random() < 0.2:
        amounts["pods"] = str(rng.randint(1, 4))
    given = [made("StatefulSet", "s", replicas, cpu, **more)]
    given = (
        [hard(**amounts), *given]
        if amounts and rng.random() < 0.6
        else [*given, *([hard(**amounts)] if amounts else [])]
    )
    start = more.get("ordinals", {}).get("start", 0)
    steps: list[Raw] = []
    for _ in range(rng.randint(1, 3)):
        match rng.choice(("size", "both", "scale", "back", "quota", "pod", "partition", "claim")):
            case "size":
                steps.append(sized("StatefulSet", "s", rng.choice(("100m", "400m", "600m"))))
            case "both":
                steps.append(patch("StatefulSet", "s", replicas=rng.randint(0, 5), template={"spec": {"containers": [
                    {"name": "c", "resources": {"requests": {"cpu": rng.choice(CPU)}}}]}}))  # fmt: skip
            case "scale":
                steps.append({"scale": {"kind": "StatefulSet", "name": "s", "replicas": rng.randint(0, 6)}})
            case "back":
                steps.append(sized("StatefulSet", "s", cpu))
            case "quota" if amounts:
                steps.append({"apply": hard(**{**amounts, "requests_cpu": _of(cpu, rng.randint(0, 6))})})
            case "pod":
                steps += [
                    {"delete": {"kind": "Pod", "name": f"s-{start + rng.randint(0, replicas)}"}},
                    {"settle": True},
                ]
            case "claim" if "volumeClaimTemplates" in more:
                ordinal = start + replicas + rng.randint(0, 1)
                steps.append({"apply": {**_claim(rng, f"d-s-{ordinal}"), "apiVersion": "v1",
                                        "kind": "PersistentVolumeClaim"}})  # fmt: skip
            case _:
                rolling = {"rollingUpdate": {"partition": rng.randint(0, 3)}, "type": "RollingUpdate"}
                steps.append(patch("StatefulSet", "s", updateStrategy=rolling))
        if rng.random() < 0.5:
            steps.append({"settle": True})
    return Case(given, steps, ready=rng.random() < 0.9)


def _claim(rng: random.Random, name: str) -> Raw:
    spec: Raw = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": rng.choice(("1Gi", "2Gi"))}}}
    if rng.random() < 0.5:
        spec["storageClassName"] = rng.choice(STORAGE)
    return {"metadata": {"name": name}, "spec": spec}


def jobs(rng: random.Random) -> Case:
    """Jobs whose pods run, complete or fail, under quotas that count finished pods or do not."""
    cpu = rng.choice(CPU)
    fare = rng.choice(("run", "run", "complete", "complete", "fail"))
    amounts: Raw = rng.choice((
        {"requests_cpu": _of(cpu, rng.randint(1, 4))}, {"pods": str(rng.randint(1, 3))},
        {"count__pods": str(rng.randint(1, 4))}, {"count__jobs_batch": str(rng.randint(0, 2)), "pods": "3"}, {},
    ))  # fmt: skip
    given = [hard(**amounts)] if amounts else []
    steps: list[Raw] = []
    for name in "jk"[: 1 if fare != "run" else rng.randint(1, 2)]:
        spec: Raw = {"template": template(name, cpu, restartPolicy="Never"), "parallelism": rng.randint(1, 4)}
        if fare == "fail":
            spec |= {"backoffLimit": 0, "parallelism": 1, "completions": 1}
        elif rng.random() < 0.8:
            spec["completions"] = rng.randint(1, 5)
        if rng.random() < 0.15:
            spec["suspend"] = True
        steps.append({"apply": {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name}, "spec": spec}})
        steps += [{"settle": True}] * (rng.random() < 0.5)
    if fare == "run":
        match rng.choice(("suspend", "parallelism", "quota", "delete", "")):
            case "suspend":
                steps.append(patch("Job", "j", suspend=rng.random() < 0.6))
            case "parallelism":
                steps.append(patch("Job", "j", parallelism=rng.randint(0, 5)))
            case "quota":
                steps.append({"apply": hard(requests_cpu=_of(cpu, rng.randint(0, 6)))})
            case "delete":
                steps.append({"delete": {"kind": "Job", "name": "j"}})
    return Case(given, steps, jobs=fare)


def bounds(rng: random.Random) -> Case:
    """LimitRanges that come, change and go: values that fill a quota, next pods that are refused, init containers."""
    given: list[Raw] = [limit_range(rng)] if rng.random() < 0.5 else []
    for name in "ab"[: rng.randint(1, 2)]:
        item = workload(rng, name)
        if rng.random() < 0.3:
            resources = {"requests": {"cpu": rng.choice(CPU)}} if rng.random() < 0.5 else {}
            item["spec"]["template"]["spec"]["initContainers"] = [
                {"name": "i", "image": "example.test/x", "resources": resources}]  # fmt: skip
        given.append(item)
    given += [quota(rng)] if rng.random() < 0.4 else []
    steps: list[Raw] = []
    for _ in range(rng.randint(1, 3)):
        item = rng.choice([one for one in given if one["kind"] not in {"LimitRange", "ResourceQuota"}])
        kind, name = item["kind"], item["metadata"]["name"]
        match rng.choice(("bounds", "bounds", "second", "gone", "claims", "scale", "restart", "new")):
            case "bounds":
                steps.append({"apply": limit_range(rng)})
            case "second":
                steps.append({"apply": {**limit_range(rng), "metadata": {"name": "m"}}})
            case "gone":
                steps.append({"delete": {"kind": "LimitRange", "name": "l"}})
            case "claims":
                limits = [{"type": "PersistentVolumeClaim", rng.choice(("min", "max")): {"storage": "1500Mi"}}]
                # The server asks its cache for LimitRanges, which knows a new one only some milliseconds later.
                steps += [{"apply": {"apiVersion": "v1", "kind": "LimitRange", "metadata": {"name": "p"},
                                     "spec": {"limits": limits}}},
                          {"settle": True},
                          {"apply": {**_claim(rng, f"v{len(steps)}"), "apiVersion": "v1",
                                     "kind": "PersistentVolumeClaim"}}]  # fmt: skip
            case "scale" if kind != "Job":
                steps.append({"scale": {"kind": kind, "name": name, "replicas": rng.randint(0, 6)}})
            case "restart" if kind in {"Deployment", "StatefulSet"}:
                steps.append(restarted(kind, name, len(steps)))
            case _:
                steps.append({"apply": workload(rng, f"n{len(steps)}")})
        if rng.random() < 0.4:
            steps.append({"settle": True})
    return Case(given, steps)


def races(rng: random.Random) -> Case:
    """Workloads that want more than there is, all at once or as room comes; classes of priority decide who counts."""
    cpu = rng.choice(("200m", "300m", "600m"))
    count = rng.randint(2, 3)
    chart: list[Raw] = []
    for name in "abc"[:count]:
        kind = rng.choice(("Deployment", "Deployment", "ReplicaSet", "ReplicationController", "StatefulSet"))
        item = made(kind, name, rng.randint(1, 3), cpu)
        if rng.random() < 0.5:
            item["spec"]["template"]["spec"]["priorityClassName"] = rng.choice(tuple(CLASSES))
        chart.append(item)
    chart += [_pod(rng, "bare", cpu)] if rng.random() < 0.3 else []
    bound = [
        hard(requests_cpu=_of(cpu, rng.randint(1, 5), rng.choice((0, 100)))),
        *([scoped(rng)] * (rng.random() < 0.4)),
    ]
    if rng.random() < 0.5:
        return Case([*bound, *chart[1:]], [{"apply": chart[0]}, *_freed(rng, chart[1:], cpu)])
    steps = [{"apply": item} for item in (*bound, *chart)]
    return Case([], [*steps, *([{"settle": True}, *_freed(rng, chart, cpu)] if rng.random() < 0.5 else [])])


def _freed(rng: random.Random, chart: list[Raw], cpu: str) -> list[Raw]:
    """What makes room, or does not."""
    item = rng.choice(chart)
    kind, name = item["kind"], item["metadata"]["name"]
    match rng.choice(("delete", "scale", "quota", "")):
        case "delete":
            return [{"delete": {"kind": kind, "name": name}}]
        case "scale" if kind != "Pod":
            return [{"scale": {"kind": kind, "name": name, "replicas": rng.randint(0, 2)}}]
        case "quota":
            return [{"apply": hard(requests_cpu=_of(cpu, rng.randint(0, 6)))}]
    return []


def _pod(rng: random.Random, name: str, cpu: str) -> Raw:
    spec: Raw = {"containers": [{"name": "c", "image": "example.test/x", "resources": {"requests": {"cpu": cpu}}}]}
    if rng.random() < 0.3:
        spec["priorityClassName"] = rng.choice(tuple(CLASSES))
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": spec}


def counted(rng: random.Random) -> Case:
    """Quotas that count objects, and other amounts: limits, memory, claims, pods that no controller made."""
    amounts: Raw = {}
    for name, values in (
        ("count__deployments_apps", ("0", "1", "2")), ("count__replicasets_apps", ("1", "2", "3")),
        ("count__statefulsets_apps", ("0", "1")), ("count__pods", ("2", "4")), ("limits_cpu", ("500m", "1", "2")),
        ("limits_memory", ("128Mi", "256Mi")), ("requests_memory", ("64Mi", "200Mi")),
        ("persistentvolumeclaims", ("0", "1", "2")), ("count__persistentvolumeclaims", ("1", "2")),
    ):  # fmt: skip
        if rng.random() < 0.2:
            amounts[name] = rng.choice(values)
    given = [hard(**(amounts or {"pods": "3"}))]
    given += [limit_range(rng)] if rng.random() < 0.3 else []
    given += [workload(rng, name) for name in "ab"[: rng.randint(0, 2)]]
    given += [_pod(rng, "bare", "100m")] if rng.random() < 0.3 else []
    steps: list[Raw] = []
    for _ in range(rng.randint(1, 3)):
        match rng.choice(("new", "new", "pod", "claim", "size", "delete", "quota", "bad")):
            case "pod":
                steps.append({"apply": _pod(rng, f"p{len(steps)}", rng.choice(CPU))})
            case "claim":
                steps.append({"apply": {**_claim(rng, f"v{len(steps)}"), "apiVersion": "v1",
                                        "kind": "PersistentVolumeClaim"}})  # fmt: skip
            case "size" if any(item["kind"] == "Deployment" for item in given):
                name = next(item["metadata"]["name"] for item in given if item["kind"] == "Deployment")
                steps.append(sized("Deployment", name, rng.choice(CPU)))
            case "delete":
                item = rng.choice(given)
                steps.append({"delete": {"kind": item["kind"], "name": item["metadata"]["name"]}})
            case "quota":
                steps.append({"apply": hard(**{**amounts, "pods": str(rng.randint(0, 5))})})
            case "bad":
                steps.append({"apply": hard("bad", requests_cpu="-1")})
            case _:
                steps.append({"apply": workload(rng, f"n{len(steps)}")})
        if rng.random() < 0.4:
            steps.append({"settle": True})
    return Case(given, steps)


def _amiss(rng: random.Random) -> list[Raw]:
    """Edits of which the server refuses most; each stands for itself."""
    other = template("z", "100m")
    return [
        patch("StatefulSet", "s", serviceName="other"),
        patch("StatefulSet", "s", podManagementPolicy="Parallel"),
        patch("StatefulSet", "s", volumeClaimTemplates=[_claim(rng, "z")]),
        patch("StatefulSet", "s", selector={"matchLabels": {"app": "other"}}),
        patch("StatefulSet", "s", replicas=-1),
        patch("StatefulSet", "s", updateStrategy={"type": "Sometimes"}),
        patch("StatefulSet", "s", minReadySeconds=5),
        patch("Job", "j", completions=9),
        patch("Job", "j", backoffLimit=1),
        patch("Job", "j", parallelism=-1),
        patch("Job", "j", template={"spec": {"containers": [{"name": "c", "image": "example.test/y"}]}}),
        patch("Job", "j", selector={"matchLabels": {"app": "z"}}),
        patch("Deployment", "d", selector={"matchLabels": {"app": "other"}}),
        patch("Deployment", "d", strategy={"rollingUpdate": {"maxSurge": 0, "maxUnavailable": 0}}),
        patch("Deployment", "d", strategy={"rollingUpdate": {"maxSurge": "x%"}}),
        patch("Deployment", "d", strategy={"type": "Recreate"}),
        patch("Deployment", "d", replicas=-2),
        patch("Deployment", "d", template={"metadata": {"labels": {"app": "z"}}}),
        patch("Deployment", "d", template={"spec": {"restartPolicy": "Never"}}),
        patch("Deployment", "d", template={"spec": {"priorityClassName": "nowhere"}}),
        patch(
            "Deployment",
            "d",
            template={
                "spec": {"containers": [{"name": "c", "resources": {"requests": {"cpu": "2"}, "limits": {"cpu": "1"}}}]}
            },
        ),
        patch(
            "Deployment",
            "d",
            template={"spec": {"containers": [{"name": "c", "resources": {"requests": {"cpu": "-1"}}}]}},
        ),
        patch("Deployment", "d", progressDeadlineSeconds=0),
        patch("ReplicaSet", "r", template=other),
        patch(
            "ReplicaSet",
            "r",
            template={"spec": {"containers": [{"name": "c", "resources": {"requests": {"cpu": "200m"}}}]}},
        ),
        patch("ReplicaSet", "r", selector={"matchLabels": {"app": "z"}}),
        patch("ReplicationController", "o", replicas=3),
        patch("ReplicationController", "o", replicas=-3),
        patch("PersistentVolumeClaim", "v", resources={"requests": {"storage": "5Gi"}}),
        patch("PersistentVolumeClaim", "v", resources={"requests": {"storage": "10Mi"}}),
        patch("PersistentVolumeClaim", "v", storageClassName="gold"),
        patch("PersistentVolumeClaim", "v", accessModes=["ReadWriteMany"]),
        patch("ResourceQuota", "q", scopes=["BestEffort"]),
        patch("ResourceQuota", "q", hard={"pods": "-1"}),
        patch("ResourceQuota", "q", hard={"pods": "2", "nonsense": "1"}),
        patch("ResourceQuota", "q", hard={"requests.cpu": "1500m", "limits.cpu": "4"}),
        patch("LimitRange", "l", limits=[{"type": "Container", "min": {"cpu": "2"}, "max": {"cpu": "1"}}]),
        patch("LimitRange", "l", limits=[{"type": "Container", "default": {"cpu": "2"}, "max": {"cpu": "1"}}]),
        patch("LimitRange", "l", limits=[]),
        patch("LimitRange", "l", limits=[{"type": "Container", "defaultRequest": {"cpu": "60m"}}]),
        patch("Pod", "bare", containers=[{"name": "c", "image": "example.test/y"}]),
        patch("Pod", "bare", containers=[{"name": "c", "resources": {"requests": {"cpu": "200m"}}}]),
        patch("Pod", "bare", priorityClassName="high"),
        patch("Pod", "bare", activeDeadlineSeconds=rng.choice((0, 900))),
        {"scale": {"kind": "Deployment", "name": "none", "replicas": 1}},
    ]


def edits(rng: random.Random) -> Case:
    """Edits that the server refuses, with its words, and some that it takes; what comes after goes on without them."""
    claim = {**_claim(rng, "v"), "apiVersion": "v1", "kind": "PersistentVolumeClaim"}
    job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "j"},
           "spec": {"template": template("j", "100m", restartPolicy="Never"), "completions": 2}}  # fmt: skip
    given = [changing_request("50m"), made("Deployment", "d", 2, "100m"), made("StatefulSet", "s", 1, "100m"),
             made("ReplicaSet", "r", 1, "100m"), made("ReplicationController", "o", 1, "100m"), job, claim,
             _pod(rng, "bare", "100m"), hard(requests_cpu=f"{rng.choice((8, 9, 12))}00m", pods="12")]  # fmt: skip
    kept = rng.sample(given, rng.randint(5, len(given)))
    given = [item for item in given if item in kept]
    names = {(item["kind"], item["metadata"]["name"]) for item in given}
    steps = []
    for step in rng.sample(_amiss(rng), 6):
        one = step.get("set") or step.get("delete") or step["scale"]
        if (one["kind"], one["name"]) in names or rng.random() < 0.2:
            steps.append(step)
    return Case(given, [*steps, sized("Deployment", "d", rng.choice(CPU))] if len(steps) < 3 else steps)


def mixed(rng: random.Random) -> Case:
    """Of everything something."""
    return Case(*changing.generated(rng))


FAMILIES = (mixed, rollouts, restarts, stateful, jobs, bounds, races, counted, edits)


def case(rng: random.Random, index: int) -> tuple[str, Case]:
    """The case of a number: the families follow each other."""
    chosen = [family for family in FAMILIES if family.__name__ == os.environ.get("KRES_FAMILY", family.__name__)]
    family = chosen[index % len(chosen)]
    return family.__name__, family(rng)
