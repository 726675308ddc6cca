"""Pods of a synthetic cluster as JSON, in pieces around the values that differ from replica to replica."""

from __future__ import annotations

import json
import re
from typing import NamedTuple

from podspec import Specs, pod_figures, qos_class


class Group(NamedTuple):
    """Pods of one template. ``short``: pods that a quota keeps out, at the end of the replicas.

    Phase Waiting: runs of Tekton whose pods a quota refuses. Names of the pods begin with ``stem``.
    """

    shape: str
    phase: str
    size: int
    app: str
    hash: str
    task_level: bool = False
    short: int = 0

    @property
    def owner(self) -> tuple[str, str, str]:
        """API version, kind and name of what made the pods; each Tekton pod has a TaskRun of its own."""
        if self.shape == "tekton":
            return "tekton.dev/v1", "TaskRun", "@O"
        if self.shape == "daemon":
            return "apps/v1", "DaemonSet", self.app
        made = ("batch/v1", "Job") if self.shape == "job" else ("apps/v1", "ReplicaSet")
        return *made, f"{self.app}-{self.hash}"

    @property
    def stem(self) -> str:
        if self.shape == "tekton":
            return f"{self.app}-run-"
        return f"{self.app}-" if self.shape == "daemon" else f"{self.app}-{self.hash}-"

    @property
    def own_labels(self) -> dict[str, str]:
        """Labels that the controller of this shape adds."""
        if self.shape == "daemon":
            return {"controller-revision-hash": self.hash, "pod-template-generation": "1"}
        if self.shape == "job":
            name = f"{self.app}-{self.hash}"
            return {"batch.kubernetes.io/job-name": name, "job-name": name}
        if self.shape == "tekton":
            return {
                "app.kubernetes.io/managed-by": "tekton-pipelines",
                "tekton.dev/task": self.app,
                "tekton.dev/taskRun": "@O",
                "tekton.dev/taskRunUID": "@W",
            }
        return {"pod-template-hash": self.hash}


class Template(NamedTuple):
    """One group's pods: their JSON and rows in pieces around the values that differ, their spec, what each counts."""

    parts: list[str]
    rows: list[str]
    labels: dict[str, str]
    annotations: dict[str, str]
    spec: dict
    qos: str
    requests: dict[str, int]
    limits: dict[str, int]


class Maker(Specs):
    """The objects of one cluster."""

    def template(self, ns: str, group: Group) -> Template:
        """The pods of a group; owner ids are left open."""
        r, app, shape, phase = self.r, group.app, group.shape, group.phase
        spec = self.spec(app, shape, task_level=group.task_level)
        written = json.loads(json.dumps(spec))
        if phase == "Pending":
            del spec["nodeName"]
        qos = qos_class(spec)
        given = {
            "app.kubernetes.io/instance": app,
            "app.kubernetes.io/name": app.rpartition("-")[0],
            "app.kubernetes.io/version": f"1.{r.randrange(40)}.0",
            "team.example.com/name": ns.split("-", maxsplit=1)[0],
        }
        labels = given | group.own_labels
        annotations = {
            "checksum/config": f"{r.getrandbits(256):064x}",
            "prometheus.io/port": "9090",
            "prometheus.io/scrape": "true",
        }
        version, kind, owner = group.owner
        keys = {f"f:{k}": {} for k in labels}
        fields = {
            f'k:{{"name":"{c["name"]}"}}': {
                ".": {},
                "f:image": {},
                "f:imagePullPolicy": {},
                "f:name": {},
                "f:env": {
                    ".": {},
                    **{f'k:{{"name":"{e["name"]}"}}': {".": {}, "f:name": {}, "f:value": {}} for e in c.get("env", [])},
                },
                "f:resources": {},
                "f:terminationMessagePath": {},
                "f:terminationMessagePolicy": {},
                "f:volumeMounts": {".": {}},
            }
            for c in spec["containers"]
        }
        conditions = ["PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled"]
        meta = {
            "name": "@A",
            "generateName": group.stem,
            "namespace": ns,
            "uid": "@U",
            "resourceVersion": "@R",
            "generation": 1,
            "creationTimestamp": "@T",
            "labels": dict(sorted(labels.items())),
            "annotations": annotations,
            "ownerReferences": [
                {
                    "apiVersion": version,
                    "kind": kind,
                    "name": owner,
                    "uid": "@W",
                    "controller": True,
                    "blockOwnerDeletion": True,
                }
            ],
            "managedFields": [
                {
                    "manager": "kube-controller-manager",
                    "operation": "Update",
                    "apiVersion": "v1",
                    "time": "@T",
                    "fieldsType": "FieldsV1",
                    "fieldsV1": {
                        "f:metadata": {
                            "f:annotations": {".": {}, "f:checksum/config": {}, "f:prometheus.io/port": {}},
                            "f:generateName": {},
                            "f:labels": {".": {}, **keys},
                            "f:ownerReferences": {".": {}},
                        },
                        "f:spec": {
                            "f:containers": fields,
                            "f:dnsPolicy": {},
                            "f:enableServiceLinks": {},
                            "f:restartPolicy": {},
                            "f:schedulerName": {},
                            "f:securityContext": {},
                            "f:serviceAccountName": {},
                            "f:volumes": {".": {}},
                        },
                    },
                },
                {
                    "manager": "kubelet",
                    "operation": "Update",
                    "apiVersion": "v1",
                    "time": "@T",
                    "fieldsType": "FieldsV1",
                    "fieldsV1": {
                        "f:status": {
                            "f:conditions": {
                                f'k:{{"type":"{t}"}}': {
                                    ".": {},
                                    "f:lastProbeTime": {},
                                    "f:lastTransitionTime": {},
                                    "f:status": {},
                                    "f:type": {},
                                }
                                for t in conditions
                            },
                            "f:containerStatuses": {},
                            "f:hostIP": {},
                            "f:phase": {},
                            "f:podIP": {},
                            "f:startTime": {},
                        }
                    },
                    "subresource": "status",
                },
            ],
        }

        def status_of(c: dict) -> dict:
            done = phase in ("Succeeded", "Failed")
            state = (
                {
                    "terminated": {
                        "exitCode": int(phase == "Failed"),
                        "reason": "Completed" if phase == "Succeeded" else "Error",
                        "startedAt": "@T",
                        "finishedAt": "@T",
                    }
                }
                if done
                else {"running": {"startedAt": "@T"}}
            )
            s = {
                "name": c["name"],
                "state": state,
                "lastState": {},
                "ready": not done,
                "restartCount": 0,
                "image": c["image"],
                "imageID": f"registry.example.com/{app}@sha256:{r.getrandbits(256):064x}",
                "containerID": "containerd://@C",
                "started": not done,
            }
            if c["resources"]:
                s["allocatedResources"] = c["resources"].get("requests", {})
                s["resources"] = c["resources"]
            return s

        status: dict = {"phase": phase}
        if phase == "Pending":
            status["conditions"] = [
                {
                    "type": "PodScheduled",
                    "status": "False",
                    "lastProbeTime": None,
                    "lastTransitionTime": "@T",
                    "reason": "Unschedulable",
                    "message": "0/500 nodes are available: 500 Insufficient cpu.",
                }
            ]
        else:
            status["conditions"] = [
                {"type": t, "status": "True", "lastProbeTime": None, "lastTransitionTime": "@T"} for t in conditions
            ]
            status.update(
                {"hostIP": "@H", "hostIPs": [{"ip": "@H"}], "podIP": "@P", "podIPs": [{"ip": "@P"}], "startTime": "@T"}
            )
            if spec.get("initContainers"):
                status["initContainerStatuses"] = [status_of(c) for c in spec["initContainers"]]
            status["containerStatuses"] = [status_of(c) for c in spec["containers"]]
        status["qosClass"] = qos
        m = json.dumps(meta, separators=(",", ":"))
        rest = json.dumps(spec, separators=(",", ":")), json.dumps(status, separators=(",", ":"))
        text = f'{{"metadata":{m},"spec":{rest[0]},"status":{rest[1]}}}'
        n = len(spec["containers"]) + sum(c.get("restartPolicy") == "Always" for c in spec.get("initContainers", []))
        cells = json.dumps(
            [
                "@A",
                f"{n}/{n}",
                "Completed" if phase == "Succeeded" else phase,
                "0",
                "5d2h",
                "@P",
                "@N",
                "<none>",
                "<none>",
            ],
            separators=(",", ":"),
        )
        part = f'{{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{m}}}'
        row = f'{{"cells":{cells},"object":{part}}}'
        figures = pod_figures(spec, "requests"), pod_figures(spec, "limits")
        return Template(cut(text), cut(row), given, annotations, written, qos, *figures)


def cut(text: str) -> list[str]:
    """'a@Ab@Uc' -> ['a', '@A', 'b', '@U', 'c']: even places are constant, odd ones are keys."""
    return re.split("(@[AOWURTVNHPC])", text)


def fill(pieces: list[str], values: dict[str, str]) -> bytes:
    """The pieces of a template with the values of one object in between."""
    return "".join(values[piece] if n & 1 else piece for n, piece in enumerate(pieces)).encode()
