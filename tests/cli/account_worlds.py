"""Generated namespaces in which one workload of each kind is on its way, with all that controllers make beside pods."""

from __future__ import annotations

import random
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from typing import Any

Raw = dict[str, Any]
SPACE = "shop"
CLASS, EXTENDED = "accel.example.org", "example.org/accel"
TIME = "2026-11-26T09:00:00Z"
PLURALS = {
    "Deployment": "deployments",
    "StatefulSet": "statefulsets",
    "DaemonSet": "daemonsets",
    "Job": "jobs",
    "CronJob": "cronjobs",
}
#: Names of quotas, with what one object of the world may be charged.
_NAMES = (
    "pods", "count/pods", "requests.cpu", "limits.memory", "requests.storage", "persistentvolumeclaims",
    "count/persistentvolumeclaims", "count/replicasets.apps", "count/controllerrevisions.apps", "count/jobs.batch",
    f"requests.{EXTENDED}", f"{CLASS}.deviceclass.resource.k8s.io/devices", "count/resourceclaims.resource.k8s.io",
    "gold.storageclass.storage.k8s.io/requests.storage", "count/events", "count/widgets.example.org",
)  # fmt: skip


def _metadata(name: str, *, space: str = SPACE, owner: tuple[str, str] | None = None, **more: Any) -> Raw:
    result: Raw = {"name": name, "uid": f"u-{name}", "creationTimestamp": TIME, **more}
    if space:
        result["namespace"] = space
    if owner is not None:
        kind, by = owner
        version = "apps/v1" if kind in {"Deployment", "ReplicaSet", "StatefulSet", "DaemonSet"} else "batch/v1"
        result["ownerReferences"] = [
            {"apiVersion": version, "kind": kind, "name": by, "uid": f"u-{by}", "controller": True}
        ]
    return result


class World:
    """``objects`` of one namespace and of the cluster; ``workloads``: kind and name of what is asked about."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.random = random.Random(seed)
        self.objects: list[Raw] = []
        self.workloads: list[tuple[str, str]] = []
        self._used: dict[str, int] = {}
        self._classes()
        kinds = self.random.sample(sorted(PLURALS), self.random.randint(1, 3))
        for kind in kinds:
            self._workload(kind)
        self._quotas()

    def _add(self, kind: str, version: str, metadata: Raw, **fields: Any) -> None:
        self.objects.append({"apiVersion": version, "kind": kind, "metadata": metadata, **fields})

    def _classes(self) -> None:
        self._add("Namespace", "v1", _metadata(SPACE, space=""), status={"phase": "Active"})
        self._add("ServiceAccount", "v1", _metadata("default"))
        self._add("PriorityClass", "scheduling.k8s.io/v1", _metadata("gold", space=""), value=100)
        marked = {"storageclass.kubernetes.io/is-default-class": "true"} if self.random.random() < 0.5 else {}
        self._add(
            "StorageClass", "storage.k8s.io/v1", _metadata("gold", space="", annotations=marked), provisioner="x.test"
        )
        name = EXTENDED if self.random.random() < 0.7 else ""
        spec = {"extendedResourceName": name} if name else {}
        self._add("DeviceClass", "resource.k8s.io/v1", _metadata(CLASS, space=""), spec=spec)
        self._extended = bool(name)
        self.devices = self.random.randint(1, 2)
        request = {"name": "r", "exactly": {"deviceClassName": CLASS, "count": self.devices}}
        template = {"spec": {"devices": {"requests": [request]}}}
        self._add("ResourceClaimTemplate", "resource.k8s.io/v1", _metadata("two"), spec=template)

    def _template(self, name: str, image: str) -> Raw:
        chance = self.random.random
        container: Raw = {"name": "c", "image": image}
        if chance() < 0.6:
            container["resources"] = {"requests": {"cpu": "100m"}, "limits": {"memory": "64Mi", "cpu": "100m"}}
        spec: Raw = {"containers": [container]}
        if chance() < 0.4:
            claim: Raw = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "2Gi"}}}
            if chance() < 0.5:
                claim["storageClassName"] = "gold"
            spec["volumes"] = [{"name": "w", "ephemeral": {"volumeClaimTemplate": {"spec": claim}}}]
        if chance() < 0.3:
            spec["resourceClaims"] = [{"name": "d", "resourceClaimTemplateName": "two"}]
        if chance() < 0.15:
            spec["priorityClassName"] = self.random.choice(["gold", "hihg"])
        if chance() < 0.15:
            spec["serviceAccountName"] = self.random.choice(["default", "deployer"])
        return {"metadata": {"labels": {"a": name}}, "spec": spec}

    def _charge(self, amounts: dict[str, int]) -> None:
        for name, amount in amounts.items():
            self._used[name] = self._used.get(name, 0) + amount

    def _pod(self, name: str, template: Raw, owner: tuple[str, str], labels: Raw, *, claims: bool) -> None:
        spec = {key: value for key, value in template["spec"].items() if key != "serviceAccountName"}
        makes = bool(spec.get("volumes") or spec.get("resourceClaims"))
        status: Raw = {"phase": "Running", "qosClass": "BestEffort"}
        if makes and not claims:
            status["phase"] = "Pending"
        else:
            spec = {**spec, "nodeName": "n0"}
        resources = spec["containers"][0].get("resources")
        if resources:
            status["qosClass"] = "Burstable"
            self._charge({"requests.cpu": 100, "limits.memory": 64})
        self._charge({"pods": 1, "count/pods": 1})
        if claims and spec.get("volumes"):
            self._claim(f"{name}-w", spec["volumes"][0]["ephemeral"]["volumeClaimTemplate"]["spec"], name)
        if claims and spec.get("resourceClaims"):
            status["resourceClaimStatuses"] = [{"name": "d", "resourceClaimName": f"{name}-d"}]
            request = {"name": "r", "exactly": {"deviceClassName": CLASS, "count": self.devices}}
            self._add(
                "ResourceClaim", "resource.k8s.io/v1", _metadata(f"{name}-d"), spec={"devices": {"requests": [request]}}
            )
            self._charge({"count/resourceclaims.resource.k8s.io": 1})
            self._charge({f"{CLASS}.deviceclass.resource.k8s.io/devices": self.devices})
            if self._extended:
                self._charge({f"requests.{EXTENDED}": self.devices})
        metadata = _metadata(name, owner=owner, labels={**template["metadata"]["labels"], **labels}, generation=1)
        self._add("Pod", "v1", metadata, spec=spec, status=status)

    def _claim(self, name: str, spec: Raw, _pod: str) -> None:
        self._add("PersistentVolumeClaim", "v1", _metadata(name), spec=spec, status={"phase": "Bound"})
        self._charge({"requests.storage": 2, "persistentvolumeclaims": 1, "count/persistentvolumeclaims": 1})
        if spec.get("storageClassName") == "gold":
            self._charge({"gold.storageclass.storage.k8s.io/requests.storage": 2})

    def _workload(self, kind: str) -> None:
        name, wanted = kind.lower(), self.random.randint(1, 3)
        self.workloads.append((kind, name))
        getattr(self, f"_{kind.lower()}")(name, wanted)

    def _deployment(self, name: str, wanted: int) -> None:
        stale = self.random.random() < 0.4
        new, old = self._template(name, "img:2"), self._template(name, "img:1")
        have = wanted if stale else self.random.randint(0, wanted)
        template = old if stale else new
        owner = f"{name}-649498f8bb"
        labels = {"pod-template-hash": "649498f8bb"}
        made = {**template, "metadata": {"labels": {"a": name, **labels}}}
        selector = {"matchLabels": {"a": name, **labels}}
        notes = {"deployment.kubernetes.io/revision": "2"}
        metadata = _metadata(
            owner, owner=("Deployment", name), labels={"a": name, **labels}, annotations=notes, generation=1
        )
        status = {"replicas": have, "readyReplicas": 0, "observedGeneration": 1}
        self._add(
            "ReplicaSet", "apps/v1", metadata, status=status,
            spec={"replicas": wanted, "selector": selector, "template": made},
        )  # fmt: skip
        self._charge({"count/replicasets.apps": 1})
        if self.random.random() < 0.4:
            before = self._template(name, "img:0")
            metadata = _metadata(
                f"{name}-77f", owner=("Deployment", name), labels={"a": name, "pod-template-hash": "77f"},
                annotations={"deployment.kubernetes.io/revision": "1"}, generation=1,
            )  # fmt: skip
            self._add(
                "ReplicaSet", "apps/v1", metadata, status={"replicas": 0, "observedGeneration": 1},
                spec={"replicas": 0, "selector": selector, "template": before},
            )  # fmt: skip
            self._charge({"count/replicasets.apps": 1})
        for number in range(have):
            self._pod(f"{owner}-{number}", template, ("ReplicaSet", owner), labels, claims=self.random.random() < 0.6)
        self._add(
            "Deployment", "apps/v1", _metadata(name, generation=2 if stale else 1),
            spec={"replicas": wanted, "selector": {"matchLabels": {"a": name}}, "template": new,
                  "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}}},
            status={"replicas": have, "updatedReplicas": have, "readyReplicas": 0, "observedGeneration": 1},
        )  # fmt: skip

    def _revised(self, kind: str, name: str) -> tuple[Raw, Raw, bool]:
        """The template as it is, that of the pods, and whether the controller has not seen the change."""
        stale = self.random.random() < 0.4
        new, old = self._template(name, "img:2"), self._template(name, "img:1")
        template = old if stale else new
        self._add(
            "ControllerRevision", "apps/v1", _metadata(f"{name}-r1", owner=(kind, name), labels={"a": name}),
            data={"spec": {"template": template}}, revision=1,
        )  # fmt: skip
        self._charge({"count/controllerrevisions.apps": 1})
        return new, template, stale

    def _statefulset(self, name: str, wanted: int) -> None:
        new, template, stale = self._revised("StatefulSet", name)
        have = wanted if stale else self.random.randint(0, wanted)
        labels = {"controller-revision-hash": f"{name}-r1"}
        for number in range(have):
            self._pod(f"{name}-{number}", template, ("StatefulSet", name), labels, claims=self.random.random() < 0.6)
        self._add(
            "StatefulSet", "apps/v1", _metadata(name, generation=2 if stale else 1),
            spec={"replicas": wanted, "serviceName": name, "selector": {"matchLabels": {"a": name}}, "template": new,
                  "podManagementPolicy": "Parallel"},
            status={"replicas": have, "updatedReplicas": have, "observedGeneration": 1,
                    "currentRevision": f"{name}-r1", "updateRevision": f"{name}-r1"},
        )  # fmt: skip

    def _daemonset(self, name: str, wanted: int) -> None:
        new, template, stale = self._revised("DaemonSet", name)
        have = wanted if stale else self.random.randint(0, wanted)
        labels = {"controller-revision-hash": "r1"}
        for number in range(have):
            self._pod(f"{name}-{number}", template, ("DaemonSet", name), labels, claims=self.random.random() < 0.6)
        self._add(
            "DaemonSet", "apps/v1", _metadata(name, generation=2 if stale else 1),
            spec={"selector": {"matchLabels": {"a": name}}, "template": new},
            status={"desiredNumberScheduled": wanted, "currentNumberScheduled": have,
                    "updatedNumberScheduled": have, "observedGeneration": 1},
        )  # fmt: skip

    def _job(self, name: str, wanted: int) -> None:
        template = self._template(name, "img:1")
        template["spec"]["restartPolicy"] = "Never"
        labels = {"controller-uid": f"u-{name}", "job-name": name}
        template["metadata"]["labels"] |= labels
        have = self.random.randint(0, wanted)
        for number in range(have):
            self._pod(f"{name}-{number}", template, ("Job", name), labels, claims=self.random.random() < 0.6)
        self._charge({"count/jobs.batch": 1})
        self._add(
            "Job", "batch/v1", _metadata(name, generation=1),
            spec={"parallelism": wanted, "completions": wanted, "template": template,
                  "selector": {"matchLabels": {"controller-uid": f"u-{name}"}}},
            status={"active": have},
        )  # fmt: skip

    def _cronjob(self, name: str, wanted: int) -> None:
        template = self._template(name, "img:1")
        template["spec"]["restartPolicy"] = "Never"
        for number in range(self.random.randint(0, 3)):
            conditions = [{"type": "Complete", "status": "True"}]
            self._add(
                "Job", "batch/v1", _metadata(f"{name}-{number}", owner=("CronJob", name), generation=1),
                spec={"parallelism": 1, "completions": 1, "template": template}, status={"conditions": conditions},
            )  # fmt: skip
            self._charge({"count/jobs.batch": 1})
        job = {"spec": {"parallelism": wanted, "completions": wanted, "template": template}}
        spec: Raw = {"schedule": "* * * * *", "jobTemplate": job}
        if self.random.random() < 0.4:
            spec["successfulJobsHistoryLimit"] = self.random.randint(0, 3)
        self._add("CronJob", "batch/v1", _metadata(name, generation=1), spec=spec, status={})

    def _quotas(self) -> None:
        uncounted = {"count/events", "count/widgets.example.org"}
        for number, spec, status in drawn_quotas(self.random, _NAMES, self._used, uncounted, _shown):
            self._add("ResourceQuota", "v1", _metadata(f"q{number}"), spec=spec, status=status)
        if self.random.random() < 0.3:
            item = {"type": "PersistentVolumeClaim", "max": {"storage": self.random.choice(["1Gi", "4Gi"])}}
            self._add("LimitRange", "v1", _metadata("disks"), spec={"limits": [item]})


def drawn_quotas(
    source: random.Random,
    names: Sequence[str],
    used: Mapping[str, int],
    uncounted: Container[str],
    shown: Callable[[str, int], str],
) -> Iterator[tuple[int, Raw, Raw]]:
    """One or two quotas, each with its number, spec and status. ``used``: what is charged; ``shown``: an amount."""
    for number in range(source.randint(1, 2)):
        hard: dict[str, str] = {}
        counted: dict[str, str] = {}
        for name in sorted(source.sample(names, source.randint(1, 4))):
            amount = used.get(name, 0)
            hard[name] = shown(name, amount + source.choice([0, 0, 1, 2, 4, 9]))
            if name not in uncounted:
                counted[name] = shown(name, amount)
        yield number, {"hard": hard}, {"hard": hard, "used": counted}


def _shown(name: str, amount: int) -> str:
    if name == "requests.cpu":
        return f"{amount}m" if amount < 10 else f"{amount // 100 * 100}m"
    unit = {"limits.memory": "Mi", "requests.storage": "Gi"}.get(name, "")
    return f"{amount}{'Gi' if name.endswith('/requests.storage') else unit}"
