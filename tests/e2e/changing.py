"""Changes played on a real control plane: applied, brought to rest, and read in the shape of the recorded ones."""

from __future__ import annotations

import http.client
import json
import random
import re
import socket
import threading
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import closing, suppress
from typing import Any

from conformance.compare import amount
from controlplane import ControlPlane

Raw = dict[str, Any]
#: Seconds without a change after which nothing is expected to move.
STILL_FOR = 1.5
LONGEST = 90.0
#: So many times as long as one request takes, where that is more.
SLOWER = 20.0
PATHS = {
    "Deployment": "apis/apps/v1/namespaces/{}/deployments",
    "ReplicaSet": "apis/apps/v1/namespaces/{}/replicasets",
    "StatefulSet": "apis/apps/v1/namespaces/{}/statefulsets",
    "ReplicationController": "api/v1/namespaces/{}/replicationcontrollers",
    "Job": "apis/batch/v1/namespaces/{}/jobs",
    "Pod": "api/v1/namespaces/{}/pods",
    "ResourceQuota": "api/v1/namespaces/{}/resourcequotas",
    "LimitRange": "api/v1/namespaces/{}/limitranges",
    "PersistentVolumeClaim": "api/v1/namespaces/{}/persistentvolumeclaims",
    "Event": "api/v1/namespaces/{}/events",
}
WORKLOADS = ("Deployment", "ReplicaSet", "ReplicationController", "StatefulSet", "Job")
#: Of a status what changes without anything else: a Deployment that is touched has a new generation.
UNTOLD = frozenset({"conditions", "observedGeneration"})
WATCHED = (*WORKLOADS, "Pod", "ResourceQuota", "PersistentVolumeClaim")
#: Event recorders drop what comes after 25 events of one object.
MOST_HEARD = 20
_REFUSED = re.compile(r'(?:Error creating: |failed error: |Failed to create new replica set "[^"]*": )(.*)', re.DOTALL)
_GENERATED = re.compile(r'^(pods |Pod |replicasets.apps )"[^"]*"')
#: Classes of the cluster that templates name and quotas select.
CLASSES = {"high": 1000, "low": 10}
RUNNING = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}
#: What becomes of pods of Jobs, by the word for it.
ENDED = {"complete": {"phase": "Succeeded"}, "fail": {"phase": "Failed"}}
#: Classes of storage that claims name and quotas select.
STORAGE = ("gold", "bronze")
_SET_REVISION = "controller-revision-hash"


class Watching:
    """What is in all namespaces of a control plane, and when it last changed: by watches, so that who waits asks for
    nothing. Pods are run as they come, as a kubelet would.

    ``unready``: namespaces in which new pods do not get ready. ``jobs``: how pods of Jobs end, by namespace.
    """

    def __init__(self, plane: ControlPlane) -> None:
        self.plane = plane
        self.over = threading.Event()
        self.unready: set[str] = set()
        #: The most that was used, and the most that was allowed, of each resource of a quota, by namespace.
        self.peaks: dict[str, dict[tuple[str, str, str], Any]] = defaultdict(dict)
        self.jobs: dict[str, str] = {}
        self._lock = threading.Lock()
        self._items: dict[str, dict[tuple[str, str], Raw]] = defaultdict(dict)
        self._changed: dict[str, float] = defaultdict(time.monotonic)
        self._streams: dict[str, http.client.HTTPSConnection] = {}
        self._threads = [threading.Thread(target=self._follow, args=(kind,), daemon=True) for kind in WATCHED]
        for thread in self._threads:
            thread.start()

    def close(self) -> None:
        """End the watches."""
        self.over.set()
        for connection in list(self._streams.values()):
            with suppress(OSError):
                connection.sock.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join(timeout=30)

    def changed(self, space: str) -> float:
        """When something of a namespace was heard last, on the monotonic clock."""
        with self._lock:
            return self._changed[space]

    def seen(self, space: str) -> str:
        """All that is there, but for what only says that it was touched."""
        with self._lock:
            held = [(key, item) for key, item in sorted(self._items[space].items())]
        shown = []
        for key, item in held:
            status = {k: v for k, v in item.get("status", {}).items() if k not in UNTOLD}
            shown.append((key, item.get("spec", {}).get("replicas"), status))
        return json.dumps(shown, sort_keys=True)

    def _follow(self, kind: str) -> None:
        path = f"/{PATHS[kind].replace('/namespaces/{}', '')}"
        while not self.over.is_set():
            status, answer = self.plane.request("GET", path)
            assert status == 200, answer
            there = {(item["metadata"]["namespace"], item["metadata"]["name"]) for item in answer["items"]}
            for item in self._gone(kind, there):
                self._heard(kind, "DELETED", item)
            for item in answer["items"]:
                self._heard(kind, "ADDED", item)
            with suppress(OSError, http.client.HTTPException, ValueError):
                self._watch(kind, f"{path}?watch=true&resourceVersion={answer['metadata']['resourceVersion']}")

    def _gone(self, kind: str, there: set[tuple[str, str]]) -> list[Raw]:
        """What went while nobody watched."""
        with self._lock:
            held = [item for items in self._items.values() for (of, _), item in items.items() if of == kind]
        gone = [item for item in held if (item["metadata"]["namespace"], item["metadata"]["name"]) not in there]
        return [{**item, "metadata": {**item["metadata"], "resourceVersion": ""}} for item in gone]

    def _watch(self, kind: str, path: str) -> None:
        connection = self._streams[kind] = self.plane.connect()
        with closing(connection):
            connection.request("GET", path, headers={"Authorization": f"Bearer {self.plane.token}"})
            stream, rest = connection.getresponse(), b""
            while part := stream.read1(65536):
                *lines, rest = (rest + part).split(b"\n")
                for line in lines:
                    event = json.loads(line)
                    if event["type"] == "ERROR":
                        return
                    self._heard(kind, event["type"], event["object"])

    def _heard(self, kind: str, what: str, item: Raw) -> None:
        metadata = item["metadata"]
        space, key = metadata["namespace"], (kind, metadata["name"])
        with self._lock:
            held = self._items[space].get(key)
            if held is not None and held["metadata"]["resourceVersion"] == metadata["resourceVersion"]:
                return
            self._changed[space] = time.monotonic()
            if what == "DELETED":
                self._items[space].pop(key, None)
            else:
                self._items[space][key] = item
        if kind == "ResourceQuota":
            self._peaked(space, item)
        ends = what == "DELETED" or "deletionTimestamp" in metadata
        if kind == "Pod" and not ends and space not in self.unready and item["status"].get("phase") == "Pending":
            of_job = any(owner["kind"] == "Job" for owner in metadata.get("ownerReferences", ()))
            status = ENDED.get(self.jobs.get(space, ""), RUNNING) if of_job else RUNNING
            path = f"/{PATHS['Pod'].format(space)}/{metadata['name']}/status"
            self.plane.request("PATCH", path, {"status": status}, content_type="application/merge-patch+json")

    def overshot(self, space: str) -> bool:
        """Whether a quota once had more in use than it ever allowed: the server counts too little for a while, and lets
        in what then is in the way of others.
        """
        peaks = self.peaks[space]
        return any(
            used > peaks.get((name, "hard", key), used) for (name, side, key), used in peaks.items() if side == "used"
        )

    def _peaked(self, space: str, item: Raw) -> None:
        for side in ("hard", "used"):
            for key, text in item.get("status", {}).get(side, {}).items():
                place = (item["metadata"]["name"], side, key)
                self.peaks[space][place] = max(self.peaks[space].get(place, 0), amount(text) or 0)


class Space:
    """One namespace of the control plane."""

    def __init__(self, watching: Watching, name: str) -> None:
        self.watching, self.plane, self.name = watching, watching.plane, name
        status, answer = self.plane.request("POST", "/api/v1/namespaces", {"metadata": {"name": name}})
        assert status == 201, answer

    def path(self, kind: str, name: str = "", more: str = "") -> str:
        return f"/{PATHS[kind].format(self.name)}{f'/{name}' if name else ''}{more}"

    def items(self, kind: str) -> list[Raw]:
        status, answer = self.plane.request("GET", self.path(kind))
        assert status == 200, answer
        return list(answer["items"])

    def send(self, step: Mapping[str, Any]) -> tuple[int, str]:
        """The API server's answer to a step in the recorded form."""
        if "apply" in step:
            item = step["apply"]
            path = self.path(item["kind"], item["metadata"]["name"], "?fieldManager=t&force=true")
            status, answer = self.plane.request("PATCH", path, item, content_type="application/apply-patch+yaml")
        elif "delete" in step:
            path = self.path(step["delete"]["kind"], step["delete"]["name"], "?propagationPolicy=Background")
            status, answer = self.plane.request("DELETE", path)
        elif "scale" in step:
            one = step["scale"]
            path = self.path(one["kind"], one["name"], "/scale")
            body = {"spec": {"replicas": one["replicas"]}}
            status, answer = self.plane.request("PATCH", path, body, content_type="application/merge-patch+json")
        else:
            one = step["set"]
            path = self.path(one["kind"], one["name"])
            kind = "application/strategic-merge-patch+json"
            status, answer = self.plane.request("PATCH", path, one["patch"], content_type=kind)
        return status, "" if status < 300 else str(answer.get("message", ""))

    def settle(self) -> None:
        """Wait until nothing changes, not even once all workloads were touched, so that they try again at once."""
        began, last = time.monotonic(), self._still()
        while time.monotonic() - began < LONGEST:
            self._recount()
            self._touch()
            now = self._still()
            if now == last:
                return
            last = now

    def _still(self) -> str:
        """What is there once nothing was heard for some time, longer where the server is slow to answer."""
        began = asked = time.monotonic()
        self.items("ResourceQuota")
        quiet = max(STILL_FOR, SLOWER * (time.monotonic() - asked))
        while time.monotonic() - began < LONGEST:
            left = max(began, self.watching.changed(self.name)) + quiet - time.monotonic()
            if left <= 0:
                break
            time.sleep(left)
        return self.watching.seen(self.name)

    def _recount(self) -> None:
        """Have the quotas counted again: what is used can be too low for as long as nothing else makes them counted."""
        for quota in self.items("ResourceQuota"):
            path = self.path("ResourceQuota", quota["metadata"]["name"])
            for value in ("1000", None):
                more = {"spec": {"hard": {"count/secrets": value}}}
                self.plane.request("PATCH", path, more, content_type="application/merge-patch+json")

    def _touch(self) -> None:
        mark = {"metadata": {"annotations": {"touched": str(time.monotonic())}}}
        for kind in WORKLOADS:
            for item in self.items(kind):
                path = self.path(kind, item["metadata"]["name"])
                self.plane.request("PATCH", path, mark, content_type="application/merge-patch+json")

    def state(self) -> Raw:
        """What is there, in the recorded form, without what is told of refusals."""
        ended = {"Succeeded", "Failed"}
        pods = [pod for pod in self.items("Pod") if "deletionTimestamp" not in pod["metadata"]]
        pods = [pod for pod in pods if pod["status"].get("phase") not in ended]
        sets = self.items("ReplicaSet")
        found: Raw = {}
        for kind in WORKLOADS:
            for item in self.items(kind):
                if kind == "ReplicaSet" and item["metadata"].get("ownerReferences"):
                    continue
                found[f"{kind}/{item['metadata']['name']}"] = _shown(kind, item, pods, sets)
        for pod in pods:
            if not pod["metadata"].get("ownerReferences"):
                found[f"Pod/{pod['metadata']['name']}"] = {"pods": 1, "stored": [looks(pod)]}
        quotas = {
            item["metadata"]["name"]: {key: item.get("status", {}).get(key, {}) for key in ("hard", "used")}
            for item in self.items("ResourceQuota")
        }
        claims = sorted(item["metadata"]["name"] for item in self.items("PersistentVolumeClaim"))
        return {"workloads": found, "quotas": quotas, "claims": claims}

    def refusals(self) -> dict[str, str]:
        """What the controllers were told last when an object was refused, by workload; generated names end in a star.

        Left out is what the event recorder may have dropped: more than MOST_HEARD refusals of one object.
        """
        owners = {item["metadata"]["name"]: item["metadata"]["ownerReferences"][0]["name"]
                  for item in self.items("ReplicaSet") if item["metadata"].get("ownerReferences")}  # fmt: skip
        heard: dict[str, list[tuple[int, str]]] = {}
        for event in self.items("Event"):
            which = event["involvedObject"]
            match = _REFUSED.search(event["message"])
            if match is None or which["kind"] not in WORKLOADS:
                continue
            kind, name = which["kind"], which["name"]
            if kind == "ReplicaSet" and name in owners:
                kind, name = "Deployment", owners[name]
            text = match[1] if kind == "StatefulSet" else _GENERATED.sub(rf'\1"{name}-*"', match[1], count=1)
            found = heard.setdefault(f"{kind}/{name}", [])
            found += [(int(event["metadata"]["resourceVersion"]), text)] * event.get("count", 1)
        return {key: max(found)[1] for key, found in heard.items() if len(found) <= MOST_HEARD}


def _shown(kind: str, item: Raw, pods: Sequence[Raw], sets: Sequence[Raw]) -> Raw:
    name = item["metadata"]["name"]
    if kind == "Deployment":
        sets = [one for one in sets if _of(one, kind, name)]
        by_set = {one["metadata"]["name"]: [pod for pod in pods if _of(pod, "ReplicaSet", one["metadata"]["name"])]
                  for one in sets}  # fmt: skip
        shown = [[one["spec"]["replicas"], len(by_set[one["metadata"]["name"]])] for one in sets]
        own = [pod for many in by_set.values() for pod in many]
        # Where a quota refuses the set of the newest template, the status says what was before.
        updated = sum(len(by_set[one["metadata"]["name"]]) for one in sets if _plain(one) == _plain(item))
        return {**_pods(own), "sets": sorted(one for one in shown if any(one)), "updated": updated}
    own = [pod for pod in pods if _of(pod, kind, name)]
    if kind == "StatefulSet":
        revision = item.get("status", {}).get("updateRevision")
        updated = [pod for pod in own if pod["metadata"]["labels"].get(_SET_REVISION) == revision]
        names = (sorted(pod["metadata"]["name"] for pod in many) for many in (own, updated))
        return {**_pods(own), **dict(zip(("names", "updated"), names, strict=True))}
    if kind == "Job":
        status = item.get("status", {})
        return {**_pods(own), **{key: status.get(key, 0) for key in ("succeeded", "failed")}}
    return _pods(own)


def _plain(item: Raw) -> Raw:
    """The template of a Deployment or a ReplicaSet of it, without what tells ReplicaSets apart."""
    template = item["spec"]["template"]
    labels = {key: text for key, text in template["metadata"]["labels"].items() if key != "pod-template-hash"}
    return {**template, "metadata": {**template["metadata"], "labels": labels}}


def _pods(own: Sequence[Raw]) -> Raw:
    return {"pods": len(own), "stored": sorted(map(looks, own))}


def looks(pod: Raw) -> str:
    """What a pod was stored with: its containers' resources and its QoS class."""
    spec = pod["spec"]
    shown = [[one["name"], *(_amounts(one.get("resources", {}).get(side)) for side in ("requests", "limits"))]
             for group in ("initContainers", "containers") for one in spec.get(group, ())]  # fmt: skip
    return json.dumps([shown, pod["status"].get("qosClass", "")])


def _amounts(values: Mapping[str, str] | None) -> Raw:
    return {key: str(amount(value)) for key, value in sorted((values or {}).items())}


def _of(item: Raw, kind: str, name: str) -> bool:
    owners = item["metadata"].get("ownerReferences") or ()
    return any(owner["kind"] == kind and owner["name"] == name for owner in owners)


def classes(plane: ControlPlane) -> None:
    """The classes that templates and claims name; they are there for all namespaces."""
    for name, value in CLASSES.items():
        item = {"metadata": {"name": name}, "value": value}
        status, answer = plane.request("POST", "/apis/scheduling.k8s.io/v1/priorityclasses", item)
        assert status in {201, 409}, answer
    for name in STORAGE:
        item = {"metadata": {"name": name}, "provisioner": "example.test/none"}
        status, answer = plane.request("POST", "/apis/storage.k8s.io/v1/storageclasses", item)
        assert status in {201, 409}, answer


def template(rng: random.Random, name: str) -> Raw:
    requests = {}
    if rng.random() < 0.85:
        requests["cpu"] = rng.choice(("50m", "100m", "250m", "300m", "500m", "1"))
    if rng.random() < 0.5:
        requests["memory"] = rng.choice(("32Mi", "64Mi", "128Mi"))
    limits = {key: value for key, value in requests.items() if rng.random() < 0.3}
    resources = {key: value for key, value in (("requests", requests), ("limits", limits)) if value}
    spec: Raw = {"containers": [{"name": "c", "image": "example.test/x", "resources": resources}]}
    if rng.random() < 0.2:
        spec["priorityClassName"] = rng.choice(tuple(CLASSES))
    return {"metadata": {"labels": {"app": name}}, "spec": spec}


def workload(rng: random.Random, name: str) -> Raw:
    kind = rng.choice(("Deployment", "Deployment", "Deployment", "StatefulSet", "ReplicaSet", "Job"))
    spec: Raw = {"template": template(rng, name)}
    if kind == "Job":
        spec["template"]["spec"]["restartPolicy"] = "Never"
        if rng.random() < 0.4:
            spec["template"]["spec"]["activeDeadlineSeconds"] = 36000
        spec["parallelism"] = spec["completions"] = rng.randint(1, 4)
        return {"apiVersion": "batch/v1", "kind": kind, "metadata": {"name": name}, "spec": spec}
    spec |= {"replicas": rng.randint(0, 5), "selector": {"matchLabels": {"app": name}}}
    if kind == "Deployment" and rng.random() < 0.7:
        surge, gone = rng.choice(((0, 1), (1, 0), (1, 1), ("25%", "25%"), ("50%", 0), (2, 1)))
        spec["strategy"] = {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": surge, "maxUnavailable": gone}}
        if rng.random() < 0.15:
            spec["strategy"] = {"type": "Recreate"}
    if kind in {"Deployment", "StatefulSet"} and rng.random() < 0.3:
        spec["revisionHistoryLimit"] = rng.choice((0, 0, 1))
    if kind == "StatefulSet":
        spec["serviceName"] = name
        if rng.random() < 0.4:
            spec["podManagementPolicy"] = "Parallel"
        if rng.random() < 0.3:
            size = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
            spec["volumeClaimTemplates"] = [{"metadata": {"name": "d"}, "spec": size}]
    return {"apiVersion": "apps/v1", "kind": kind, "metadata": {"name": name}, "spec": spec}


def quota(rng: random.Random, name: str = "q") -> Raw:
    hard: Raw = {}
    while not hard:
        if rng.random() < 0.8:
            hard["requests.cpu"] = rng.choice(("300m", "700m", "1", "1500m", "2300m", "4"))
        if rng.random() < 0.2:
            hard["pods"] = str(rng.randint(1, 8))
        if rng.random() < 0.15:
            hard["requests.storage"] = rng.choice(("1Gi", "2Gi"))
        if rng.random() < 0.2:
            hard["count/replicasets.apps"] = str(rng.randint(1, 3))
        if rng.random() < 0.1:
            hard["count/controllerrevisions.apps"] = str(rng.randint(1, 3))
    return {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": name}, "spec": {"hard": hard}}


def scoped(rng: random.Random) -> Raw:
    """A quota for some pods alone: by QoS class, by deadline, by priority class."""
    scope = rng.choice(("BestEffort", "NotBestEffort", "Terminating", "NotTerminating", "In", "NotIn", "Exists"))
    hard: Raw = {"pods": str(rng.randint(0, 4))}
    if scope != "BestEffort" and rng.random() < 0.6:
        hard["requests.cpu"] = rng.choice(("300m", "700m", "1500m"))
    spec: Raw = {"hard": hard}
    if scope in {"In", "NotIn", "Exists"}:
        term: Raw = {"scopeName": "PriorityClass", "operator": scope}
        if scope != "Exists":
            term["values"] = [rng.choice(tuple(CLASSES))]
        spec["scopeSelector"] = {"matchExpressions": [term]}
    else:
        spec["scopes"] = [scope]
    return {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": f"s-{scope.lower()}"}, "spec": spec}


def limit_range(rng: random.Random) -> Raw:
    item: Raw = {"type": "Container"}
    match rng.choice(("request", "request", "max", "min", "both", "pod", "ratio")):
        case "request":
            item["defaultRequest"] = {"cpu": rng.choice(("50m", "200m"))}
        case "max":
            item["max"] = {"cpu": rng.choice(("250m", "500m"))}
        case "min":
            item["min"] = {"cpu": rng.choice(("60m", "200m"))}
        case "both":
            item |= {"default": {"cpu": "400m", "memory": "64Mi"}, "defaultRequest": {"cpu": "150m"}}
        case "pod":
            item |= {"type": "Pod", "max": {"cpu": "400m"}}
        case "ratio":
            item |= {"default": {"cpu": "400m"}, "maxLimitRequestRatio": {"cpu": "2"}}
    return {"apiVersion": "v1", "kind": "LimitRange", "metadata": {"name": "l"}, "spec": {"limits": [item]}}


def generated(rng: random.Random) -> tuple[list[Raw], list[Raw]]:
    """What is there, and a change of one to three steps; a chart brings up to six workloads."""
    given = [quota(rng)] if rng.random() < 0.6 else []
    given += [scoped(rng)] if rng.random() < 0.25 else []
    given += [limit_range(rng)] if rng.random() < 0.2 else []
    names = [chr(ord("a") + place) for place in range(rng.randint(1, 3))]
    given += [workload(rng, name) for name in names]
    steps: list[Raw] = []
    for _ in range(rng.randint(1, 3)):
        item = rng.choice(given)
        kind, name = item["kind"], item["metadata"]["name"]
        match rng.choice(("scale", "template", "template", "quota", "scoped", "limits", "new", "delete", "chart")):
            case "scale" if kind in {"Deployment", "StatefulSet", "ReplicaSet"}:
                steps.append({"scale": {"kind": kind, "name": name, "replicas": rng.randint(0, 6)}})
            case "template" if kind in {"Deployment", "StatefulSet"}:
                cpu = rng.choice(("100m", "300m", "600m"))
                containers = [{"name": "c", "resources": {"requests": {"cpu": cpu}, "limits": None}}]
                patch = {"spec": {"template": {"spec": {"containers": containers}}}}
                steps.append({"set": {"kind": kind, "name": name, "patch": patch}})
            case "quota":
                steps.append({"apply": quota(rng)})
            case "scoped":
                steps.append({"apply": scoped(rng)})
            case "limits":
                steps.append({"apply": limit_range(rng)})
            case "delete":
                steps.append({"delete": {"kind": kind, "name": name}})
            case "chart":
                chart = [quota(rng, "chart")] if rng.random() < 0.5 else []
                chart += [limit_range(rng)] if rng.random() < 0.3 else []
                chart += [workload(rng, f"n{len(steps)}{number}") for number in range(rng.randint(2, 6))]
                steps += [{"apply": one} for one in chart]
            case _:
                steps.append({"apply": workload(rng, f"n{len(steps)}")})
        if rng.random() < 0.4:
            steps.append({"settle": True})
    return given, steps
