"""Objects as controllers send them, made of what makes them: what policies see of a controller's request.

Source: controller/deployment/sync.go getNewReplicaSet; controller/history/controller_history.go NewControllerRevision;
controller/cronjob/utils.go getJobFromTemplate2; controller/resourceclaim/controller.go handleClaim.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kubectl_kres.model.objects import mapping, on_wire

Raw = Mapping[str, Any]
#: Stands for a hash that is not known.
HASH = "xxxxx"
_HASH_LABELS = {"Deployment": "pod-template-hash", "DaemonSet": "controller-revision-hash"}
_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
_APPS = "apps/v1"


def revision_raw(workload: Raw, name: str) -> dict[str, Any]:
    """Return the ReplicaSet of a Deployment's template, or the ControllerRevision of a StatefulSet's or DaemonSet's."""
    kind, spec, template = (
        str(workload.get("kind")),
        mapping(workload, "spec"),
        mapping(mapping(workload, "spec"), "template"),
    )
    labels = dict(mapping(mapping(template, "metadata"), "labels"))
    hashed = {**labels, _HASH_LABELS[kind]: HASH} if kind in _HASH_LABELS else labels
    notes = {
        key: text for key, text in mapping(mapping(workload, "metadata"), "annotations").items() if key != _APPLIED
    }
    metadata = {**_metadata(workload, name), "labels": hashed, **({"annotations": notes} if notes else {})}
    if kind != "Deployment":
        data = {"spec": {"template": {**template, "$patch": "replace"}}}
        return {"apiVersion": _APPS, "kind": "ControllerRevision", "metadata": metadata, "data": data, "revision": 1}
    selector = mapping(spec, "selector")
    made = {
        "replicas": spec.get("replicas", 1),
        "selector": {**selector, "matchLabels": {**mapping(selector, "matchLabels"), _HASH_LABELS[kind]: HASH}},
        "template": {**template, "metadata": {**mapping(template, "metadata"), "labels": hashed}},
    }
    kept = {key: spec[key] for key in ("minReadySeconds",) if spec.get(key)}
    return {"apiVersion": _APPS, "kind": "ReplicaSet", "metadata": metadata, "spec": {**kept, **made}}


def job_raw(cron_job: Raw, name: str) -> dict[str, Any]:
    """Return the next Job of a CronJob."""
    template = mapping(mapping(cron_job, "spec"), "jobTemplate")
    template_metadata = {
        key: value for key, value in mapping(template, "metadata").items() if key in {"labels", "annotations"}
    }
    metadata = {**template_metadata, **_metadata(cron_job, name)}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": mapping(template, "spec")}


def of_struct(item: Any, api_version: str, kind: str) -> dict[str, Any]:
    """Return an object that was decoded, as JSON has it."""
    return {**on_wire(item), "apiVersion": api_version, "kind": kind}


def _metadata(maker: Raw, name: str) -> dict[str, Any]:
    meta = mapping(maker, "metadata")
    owner = {
        "apiVersion": maker.get("apiVersion"), "kind": maker.get("kind"), "name": meta.get("name"),
        "uid": meta.get("uid") or "", "controller": True, "blockOwnerDeletion": True,
    }  # fmt: skip
    space = {"namespace": meta["namespace"]} if meta.get("namespace") else {}
    return {"name": name, **space, "ownerReferences": [owner]}
