"""The kinds of a synthetic cluster: how the API calls them and where it serves them."""

from __future__ import annotations

from typing import NamedTuple


class Kind(NamedTuple):
    """A resource type. Without ``always`` it is served only where objects of it were made, like a CRD."""

    kind: str
    group: str = ""
    version: str = "v1"
    namespaced: bool = True
    short: tuple[str, ...] = ()
    always: bool = True

    @property
    def api_version(self) -> str:
        return f"{self.group}/{self.version}" if self.group else self.version


CAPSULE, TEKTON, ADMISSION = "capsule.clastix.io", "tekton.dev", "admissionregistration.k8s.io"

KINDS = {
    "pods": Kind("Pod", short=("po",)),
    "nodes": Kind("Node", namespaced=False, short=("no",)),
    "namespaces": Kind("Namespace", namespaced=False, short=("ns",)),
    "limitranges": Kind("LimitRange", short=("limits",)),
    "resourcequotas": Kind("ResourceQuota", short=("quota",)),
    "replicationcontrollers": Kind("ReplicationController", short=("rc",)),
    "events": Kind("Event", short=("ev",)),
    "configmaps": Kind("ConfigMap", short=("cm",)),
    "serviceaccounts": Kind("ServiceAccount", short=("sa",)),
    "deployments": Kind("Deployment", "apps", short=("deploy",)),
    "replicasets": Kind("ReplicaSet", "apps", short=("rs",)),
    "statefulsets": Kind("StatefulSet", "apps", short=("sts",)),
    "daemonsets": Kind("DaemonSet", "apps", short=("ds",)),
    "controllerrevisions": Kind("ControllerRevision", "apps"),
    "jobs": Kind("Job", "batch"),
    "cronjobs": Kind("CronJob", "batch", short=("cj",)),
    "horizontalpodautoscalers": Kind("HorizontalPodAutoscaler", "autoscaling", "v2", short=("hpa",)),
    "validatingadmissionpolicies": Kind("ValidatingAdmissionPolicy", ADMISSION, namespaced=False),
    "validatingadmissionpolicybindings": Kind("ValidatingAdmissionPolicyBinding", ADMISSION, namespaced=False),
    "validatingwebhookconfigurations": Kind("ValidatingWebhookConfiguration", ADMISSION, namespaced=False),
    "mutatingwebhookconfigurations": Kind("MutatingWebhookConfiguration", ADMISSION, namespaced=False),
    "priorityclasses": Kind("PriorityClass", "scheduling.k8s.io", namespaced=False, short=("pc",)),
    "runtimeclasses": Kind("RuntimeClass", "node.k8s.io", namespaced=False),
    "tasks": Kind("Task", TEKTON, always=False),
    "taskruns": Kind("TaskRun", TEKTON, short=("tr",), always=False),
    "resourcepools": Kind("ResourcePool", CAPSULE, "v1beta2", namespaced=False, short=("quotapool",), always=False),
    "resourcepoolclaims": Kind("ResourcePoolClaim", CAPSULE, "v1beta2", always=False),
    "tenants": Kind("Tenant", CAPSULE, "v1beta2", namespaced=False, short=("tnt",), always=False),
}
