"""What made the pods of a group: Deployments and ReplicaSets, DaemonSets with their revisions, Jobs; and events."""

from __future__ import annotations

import copy
from collections.abc import Iterator

from podjson import Group, Maker, Template

SURGE = {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": "25%", "maxUnavailable": "25%"}}
#: What the API server adds to the spec of a pod that is made from a template.
ADDED = ("nodeName", "tolerations", "priority", "preemptionPolicy", "overhead")
Made = tuple[str, dict]


def pod_template(template: Template, own: dict[str, str]) -> dict:
    """The template as its author wrote it: without what admission and the scheduler add to a pod."""
    spec = copy.deepcopy(template.spec)
    for field in ADDED:
        spec.pop(field, None)
    spec["volumes"] = [v for v in spec["volumes"] if "projected" not in v]
    for c in spec["containers"] + spec.get("initContainers", []):
        mounts = [m for m in c.pop("volumeMounts") if "kube-api-access" not in m["name"]]
        if mounts:
            c["volumeMounts"] = mounts
    return {
        "metadata": {"labels": dict(sorted((template.labels | own).items())), "annotations": template.annotations},
        "spec": spec,
    }


def owners(k: Maker, ns: str, group: Group, template: Template, uid: str) -> Iterator[Made]:
    """The objects above the pods, whose owner has this ``uid``, and their account; those of Tekton are in runs.py."""
    created = {"uid": uid, "resourceVersion": "1", "creationTimestamp": "2026-01-01T00:00:00Z"}
    yield "serviceaccounts", {"metadata": {"name": group.app, "namespace": ns, **created}}
    if group.shape == "daemon":
        yield from daemon(k, ns, group, template, uid)
    elif group.shape == "job":
        yield job(k, ns, group, template, uid)
    elif group.shape != "tekton":
        yield from deployment(k, ns, group, template, uid)


def deployment(k: Maker, ns: str, group: Group, template: Template, uid: str) -> Iterator[Made]:
    """A Deployment, its ReplicaSet and, for one in three, the ReplicaSet before it."""
    named = pod_template(template, {})
    wanted, ready = group.size + group.short, 0 if group.phase == "Pending" else group.size
    selector = {"app.kubernetes.io/instance": group.app}
    old = k.r.random() < 1 / 3
    revision = {"deployment.kubernetes.io/revision": "2" if old else "1"}
    refused = [failure(group, k)] if group.short else []
    counts = {"replicas": group.size, "readyReplicas": ready, "availableReplicas": ready}
    generation = 2 if old else 1
    told = {"observedGeneration": generation, **counts, "updatedReplicas": group.size}
    d = k.meta(group.app, ns, generation=generation, labels=template.labels, annotations=revision)
    d["managedFields"] = [edited("argocd-controller", d["creationTimestamp"], template)]
    yield (
        "deployments",
        {
            "metadata": d,
            "spec": {
                "replicas": wanted,
                "selector": {"matchLabels": selector},
                "template": named,
                "strategy": SURGE,
                "revisionHistoryLimit": 10,
                "progressDeadlineSeconds": 600,
            },
            "status": {**told, "unavailableReplicas": wanted - ready, "conditions": refused},
        },
    )
    above = [owner("apps/v1", "Deployment", group.app, d["uid"])]
    sets = [(group.hash, uid, wanted, counts, refused)]
    if old:
        sets.append((k.names.tail(9), k.names.uid(), 0, {"replicas": 0}, []))
    for tail, own, replicas, status, conditions in sorted(sets):
        labels = template.labels | {"pod-template-hash": tail}
        made = revision if own == uid else {"deployment.kubernetes.io/revision": "1"}
        meta = k.meta(f"{group.app}-{tail}", ns, labels=labels, annotations=made, ownerReferences=above)
        spec = {
            "replicas": replicas,
            "selector": {"matchLabels": selector | {"pod-template-hash": tail}},
            "template": pod_template(template, {"pod-template-hash": tail}),
        }
        yield (
            "replicasets",
            {"metadata": meta | {"uid": own}, "spec": spec, "status": {**status, "conditions": conditions}},
        )


def daemon(k: Maker, ns: str, group: Group, template: Template, uid: str) -> Iterator[Made]:
    """A DaemonSet and the ControllerRevision that its pods name."""
    named = pod_template(template, {})
    selector = {"matchLabels": {"app.kubernetes.io/instance": group.app}}
    count = {"desiredNumberScheduled": group.size, "currentNumberScheduled": group.size, "numberReady": group.size}
    spec = {"selector": selector, "template": named, "updateStrategy": {"type": "RollingUpdate"}}
    meta = k.meta(group.app, ns, generation=1, labels=template.labels)
    yield "daemonsets", {"metadata": meta | {"uid": uid}, "spec": spec, "status": count | {"observedGeneration": 1}}
    above = [owner("apps/v1", "DaemonSet", group.app, uid)]
    labels = template.labels | {"controller-revision-hash": group.hash}
    meta = k.meta(f"{group.app}-{group.hash}", ns, labels=labels, ownerReferences=above)
    data = {"spec": {"template": named | {"$patch": "replace"}}}
    yield "controllerrevisions", {"metadata": meta, "data": data, "revision": 1}


def job(k: Maker, ns: str, group: Group, template: Template, uid: str) -> Made:
    """A finished Job."""
    name = f"{group.app}-{group.hash}"
    done = {"Succeeded": ("succeeded", "Complete"), "Failed": ("failed", "Failed")}[group.phase]
    own = group.own_labels | {"batch.kubernetes.io/controller-uid": uid, "controller-uid": uid}
    spec = {
        "parallelism": 1,
        "completions": group.size,
        "backoffLimit": 6,
        "selector": {"matchLabels": {"batch.kubernetes.io/controller-uid": uid}},
        "template": pod_template(template, own),
    }
    status = {done[0]: group.size, "conditions": [{"type": done[1], "status": "True"}]}
    return "jobs", {"metadata": k.meta(name, ns, labels=template.labels) | {"uid": uid}, "spec": spec, "status": status}


def owner(version: str, kind: str, name: str, uid: str) -> dict:
    return {
        "apiVersion": version,
        "kind": kind,
        "name": name,
        "uid": uid,
        "controller": True,
        "blockOwnerDeletion": True,
    }


def edited(manager: str, time: str, template: Template) -> dict:
    """Who wrote the resources of the containers."""
    fields = {
        f'k:{{"name":"{c["name"]}"}}': {".": {}, "f:image": {}, "f:resources": {}} for c in template.spec["containers"]
    }
    return {
        "manager": manager,
        "operation": "Apply",
        "apiVersion": "apps/v1",
        "time": time,
        "fieldsType": "FieldsV1",
        "fieldsV1": {"f:spec": {"f:replicas": {}, "f:template": {"f:spec": {"f:containers": fields}}}},
    }


def refusal(pod: str) -> str:
    """What the API server said when there was no room; there may be now."""
    amounts = "requested: requests.memory=2Gi, used: requests.memory=31Gi, limited: requests.memory=32Gi"
    return f'pods "{pod}" is forbidden: exceeded quota: compute, {amounts}'


def failure(group: Group, k: Maker) -> dict:
    return {
        "type": "ReplicaFailure",
        "status": "True",
        "reason": "FailedCreate",
        "message": refusal(group.stem + k.names.tail()),
    }


def event(k: Maker, ns: str, about: tuple[str, str, str, str], reason: str, message: str, count: int) -> Made:
    """An event about (version, kind, name, uid); a warning if the reason says that something failed."""
    version, kind, name, uid = about
    meta = k.meta(f"{name}.{k.r.getrandbits(64):016x}", ns)
    when = meta["creationTimestamp"]
    return "events", {
        "metadata": meta,
        "involvedObject": {"apiVersion": version, "kind": kind, "namespace": ns, "name": name, "uid": uid},
        "type": "Warning" if reason.startswith(("Failed", "Exceeded")) else "Normal",
        "reason": reason,
        "message": message,
        "count": count,
        "firstTimestamp": when,
        "lastTimestamp": when,
        "source": {"component": "kube-controller-manager"},
        "reportingComponent": "",
        "reportingInstance": "",
    }
