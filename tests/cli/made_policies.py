"""Policies about objects that controllers make, and workloads for which such objects are made."""

from __future__ import annotations

from typing import Any

Raw = dict[str, Any]
SPACE = "shop"
#: By kind of the object that is made: API group, resource, the expression that refuses it.
MADE = {
    "PersistentVolumeClaim": ("", "persistentvolumeclaims", "object.spec.resources.requests['storage'] != '2Gi'"),
    "EphemeralClaim": ("", "persistentvolumeclaims", "!(object.metadata.name.endsWith('-w'))"),
    "ReplicaSet": ("apps", "replicasets", "object.spec.template.spec.containers.all(c, c.image != 'img:1')"),
    "ControllerRevision": ("apps", "controllerrevisions", "object.data.spec.template.metadata.labels.a != 'web'"),
    "Job": ("batch", "jobs", "!object.metadata.name.startsWith('web')"),
    "ResourceClaim": (
        "resource.k8s.io", "resourceclaims", "object.spec.devices.requests.all(r, r.exactly.count < 2)"
    ),
}  # fmt: skip


def policy(kind: str, *, space: str = "") -> tuple[Raw, Raw]:
    """A policy that refuses such objects, and its binding; ``space``: in this namespace alone, whose name it has."""
    group, resource, expression = MADE[kind]
    rule = {"apiGroups": [group], "apiVersions": ["*"], "operations": ["CREATE"], "resources": [resource]}
    spec = {
        "matchConstraints": {"resourceRules": [rule]}, "failurePolicy": "Fail",
        "validations": [{"expression": expression, "message": "not like this"}],
    }  # fmt: skip
    if space:
        spec["matchConstraints"]["namespaceSelector"] = {"matchLabels": {"kubernetes.io/metadata.name": space}}
    name = space or "no"
    head = {"apiVersion": "admissionregistration.k8s.io/v1", "metadata": {"name": name}}
    binding = {"policyName": name, "validationActions": ["Deny"]}
    return (
        {**head, "kind": "ValidatingAdmissionPolicy", "spec": spec},
        {**head, "kind": "ValidatingAdmissionPolicyBinding", "spec": binding},
    )


def workload(kind: str, space: str = SPACE) -> Raw:
    """A workload for which an object of the kind is made."""
    template: Raw = {"metadata": {"labels": {"a": "web"}}, "spec": {"containers": [{"name": "c", "image": "img:1"}]}}
    meta = {"name": "web", "namespace": space}
    spec: Raw = {"replicas": 1, "selector": {"matchLabels": {"a": "web"}}, "template": template}
    claim = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "2Gi"}}}
    made = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": meta, "spec": spec}
    match kind:
        case "PersistentVolumeClaim":
            spec |= {"serviceName": "web", "volumeClaimTemplates": [{"metadata": {"name": "d"}, "spec": claim}]}
            return {**made, "kind": "StatefulSet"}
        case "ControllerRevision":
            return {**made, "kind": "StatefulSet", "spec": {**spec, "serviceName": "web"}}
        case "EphemeralClaim":
            template["spec"]["volumes"] = [{"name": "w", "ephemeral": {"volumeClaimTemplate": {"spec": claim}}}]
        case "ResourceClaim":
            template["spec"]["resourceClaims"] = [{"name": "d", "resourceClaimTemplateName": "two"}]
        case "Job":
            template["spec"]["restartPolicy"] = "Never"
            cron = {"schedule": "* * * * *", "jobTemplate": {"spec": {"template": template}}}
            return {"apiVersion": "batch/v1", "kind": "CronJob", "metadata": meta, "spec": cron}
    return made
