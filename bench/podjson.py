"""Pods of a synthetic cluster as JSON, in pieces around the values that differ from replica to replica."""

from __future__ import annotations

import json
import re

from podspec import Specs, pod_figures, qos_class


class Maker(Specs):
    """The objects of one cluster."""

    def template(self, ns: str, app: str, shape: str, phase: str) -> tuple[list[str], list[str], dict, dict]:
        """The pod's JSON in pieces around the values that differ, and what it adds up to."""
        r = self.r
        spec = self.spec(app, shape)
        if phase == "Pending":
            del spec["nodeName"]
        qos = qos_class(spec)
        owner, hash_ = (
            {"tekton": "TaskRun", "job": "Job", "daemon": "DaemonSet"}.get(shape, "ReplicaSet"),
            self.names.tail(9),
        )
        labels = {
            "app.kubernetes.io/instance": app,
            "app.kubernetes.io/name": app,
            "app.kubernetes.io/version": f"1.{r.randrange(40)}.0",
            "pod-template-hash": hash_,
            "team.example.com/name": ns.split("-", maxsplit=1)[0],
        }
        if shape == "tekton":
            labels.update(
                {
                    "app.kubernetes.io/managed-by": "tekton-pipelines",
                    "tekton.dev/task": app,
                    "tekton.dev/taskRun": f"{app}-run-{hash_}",
                }
            )
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
            "generateName": f"{app}-{hash_}-",
            "namespace": ns,
            "uid": "@U",
            "resourceVersion": "@R",
            "generation": 1,
            "creationTimestamp": "@T",
            "labels": dict(sorted(labels.items())),
            "annotations": {
                "checksum/config": f"{r.getrandbits(256):064x}",
                "prometheus.io/port": "9090",
                "prometheus.io/scrape": "true",
            },
            "ownerReferences": [
                {
                    "apiVersion": "apps/v1"
                    if owner in ("ReplicaSet", "DaemonSet")
                    else "batch/v1"
                    if owner == "Job"
                    else "tekton.dev/v1",
                    "kind": owner,
                    "name": f"{app}-{hash_}",
                    "uid": self.names.uid(),
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
        sums = {
            "qos": qos,
            "active": phase not in ("Succeeded", "Failed"),
            "requests": pod_figures(spec, "requests"),
            "limits": pod_figures(spec, "limits"),
        }
        return cut(text), cut(row), sums, {"stem": f"{app}-{hash_}-", "phase": phase}

    # ---------------------------------------------------------------- the rest of the objects
    def quantity_hard(self, used: dict[str, int], pods: int) -> tuple[dict, dict]:
        def show(v: int) -> str:
            return f"{v}m" if v % 1000 else f"{v // 1000}"

        now = {k: show(v) for k, v in sorted(used.items())} | {"pods": str(pods)}
        hard = {k: show(-(-v * 13 // 10000) * 1000 or 1000) for k, v in sorted(used.items())} | {"pods": str(pods + 20)}
        return hard, now


def cut(text: str) -> list[str]:
    """'a@Ab@Uc' -> ['a', '@A', 'b', '@U', 'c']: even places are constant, odd ones are keys."""
    return re.split("(@[AURTVNHPC])", text)
