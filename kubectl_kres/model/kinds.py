"""The kinds that are read: names as kubectl takes them, where the API serves them, and the struct of each."""

from __future__ import annotations

from typing import Any

from msgspec import Struct, json

from kubectl_kres.model import admitting, capsule, configmap, crd, node, pod, policy, quota_objects, tekton, workload


class Kind(Struct, frozen=True):
    """A resource type of the API. ``names`` are the plural first, then the singular, then the short names.

    ``struct`` decodes lists; ``whole``, where it is given, decodes one object and what snapshots keep. Not ``listed``:
    objects are only ever read by name.
    """

    kind: str
    names: tuple[str, ...]
    group: str = ""
    version: str = "v1"
    namespaced: bool = True
    struct: Any = None
    whole: Any = None
    listed: bool = True

    @property
    def known(self) -> bool:
        """Whether it is the kind of that name in the table below, and not one of another group."""
        return BY_KIND.get(self.kind) == self

    @property
    def built_in(self) -> bool:
        """Whether every API server serves it: groups without a dot are its own."""
        return "." not in self.group

    @property
    def detail(self) -> Any:
        """The struct that also knows the object's field managers."""
        return self.whole or self.struct

    @property
    def plural(self) -> str:
        return self.names[0]

    @property
    def qualified(self) -> str:
        """``deployments.apps``; ``pods`` for the core group."""
        return f"{self.plural}.{self.group}" if self.group else self.plural

    @property
    def api_version(self) -> str:
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def root(self) -> str:
        """Path of the group and version: ``/api/v1`` or ``/apis/apps/v1``."""
        return f"/apis/{self.group}/{self.version}" if self.group else f"/api/{self.version}"

    def path(self, namespace: str = "", name: str = "") -> str:
        """Path to list the kind, in one namespace if given, or to get one object of it."""
        parts = [self.root]
        if self.namespaced and namespace:
            parts.append(f"namespaces/{namespace}")
        parts.append(self.plural)
        if name:
            parts.append(name)
        return "/".join(parts)


W = workload.Workload
TEKTON = "tekton.dev"


def _capsule(kind: str, *short: str, struct: Any, namespaced: bool = False) -> Kind:
    """A kind of Capsule; ``pool`` and ``claim`` are short names of ours."""
    names = (f"{kind.lower()}s", kind.lower(), *short)
    return Kind(kind, names, capsule.GROUP, capsule.VERSION, namespaced=namespaced, struct=struct)


def _policy(kind: str, plural: str, struct: Any = admitting.AdmissionPolicy) -> Kind:
    """A kind of the cluster that decides about requests."""
    names = (plural, kind.lower())
    return Kind(kind, names, "admissionregistration.k8s.io", namespaced=False, struct=struct)


KINDS = (
    Kind("Pod", ("pods", "pod", "po"), struct=pod.Pod, whole=pod.ManagedPod),
    Kind("Deployment", ("deployments", "deployment", "deploy"), "apps", struct=W),
    Kind("ReplicaSet", ("replicasets", "replicaset", "rs"), "apps", struct=W),
    Kind("StatefulSet", ("statefulsets", "statefulset", "sts"), "apps", struct=W),
    Kind("DaemonSet", ("daemonsets", "daemonset", "ds"), "apps", struct=W),
    Kind("Job", ("jobs", "job"), "batch", struct=W),
    Kind("CronJob", ("cronjobs", "cronjob", "cj"), "batch", struct=W),
    Kind("ReplicationController", ("replicationcontrollers", "replicationcontroller", "rc"), struct=W),
    Kind("PodTemplate", ("podtemplates", "podtemplate"), struct=W),
    Kind(
        "ControllerRevision", ("controllerrevisions", "controllerrevision"), "apps", struct=workload.ControllerRevision
    ),
    Kind("LimitRange", ("limitranges", "limitrange", "limits"), struct=policy.LimitRange),
    Kind("ResourceQuota", ("resourcequotas", "resourcequota", "quota"), struct=policy.ResourceQuota),
    Kind("Namespace", ("namespaces", "namespace", "ns"), namespaced=False, struct=policy.Namespace),
    Kind(
        "PriorityClass",
        ("priorityclasses", "priorityclass", "pc"),
        "scheduling.k8s.io",
        namespaced=False,
        struct=policy.PriorityClass,
    ),
    Kind(
        "RuntimeClass", ("runtimeclasses", "runtimeclass"), "node.k8s.io", namespaced=False, struct=policy.RuntimeClass
    ),
    Kind(
        "StorageClass",
        ("storageclasses", "storageclass", "sc"),
        "storage.k8s.io",
        namespaced=False,
        struct=policy.StorageClass,
    ),
    Kind("Node", ("nodes", "node", "no"), namespaced=False, struct=node.Node),
    Kind("Event", ("events", "event", "ev"), struct=workload.Event),
    Kind(
        "PersistentVolumeClaim",
        ("persistentvolumeclaims", "persistentvolumeclaim", "pvc"),
        struct=quota_objects.PersistentVolumeClaim,
    ),
    _policy("ValidatingAdmissionPolicy", "validatingadmissionpolicies"),
    _policy("ValidatingAdmissionPolicyBinding", "validatingadmissionpolicybindings"),
    _policy("MutatingAdmissionPolicy", "mutatingadmissionpolicies"),
    _policy("MutatingAdmissionPolicyBinding", "mutatingadmissionpolicybindings"),
    _policy("ValidatingWebhookConfiguration", "validatingwebhookconfigurations", admitting.WebhookConfiguration),
    _policy("MutatingWebhookConfiguration", "mutatingwebhookconfigurations", admitting.WebhookConfiguration),
    Kind("ServiceAccount", ("serviceaccounts", "serviceaccount", "sa"), struct=admitting.ServiceAccount),
    Kind("Service", ("services", "service", "svc"), struct=quota_objects.Service),
    Kind("ConfigMap", ("configmaps", "configmap", "cm"), struct=configmap.ConfigMap, listed=False),
    Kind(
        "CustomResourceDefinition",
        ("customresourcedefinitions", "customresourcedefinition", "crd", "crds"),
        "apiextensions.k8s.io",
        namespaced=False,
        struct=crd.CustomResourceDefinition,
        listed=False,
    ),
    Kind("Task", ("tasks", "task"), TEKTON, struct=tekton.Task),
    Kind("StepAction", ("stepactions", "stepaction"), TEKTON, "v1beta1", struct=tekton.StepAction),
    Kind("Pipeline", ("pipelines", "pipeline"), TEKTON, struct=tekton.Pipeline),
    Kind("TaskRun", ("taskruns", "taskrun", "tr", "trs"), TEKTON, struct=tekton.TaskRun, whole=tekton.ManagedTaskRun),
    Kind(
        "PipelineRun",
        ("pipelineruns", "pipelinerun", "pr", "prs"),
        TEKTON,
        struct=tekton.PipelineRun,
        whole=tekton.ManagedPipelineRun,
    ),
    _capsule("ResourcePool", "pools", "pool", "quotapool", struct=capsule.ResourcePool),
    _capsule("ResourcePoolClaim", "claims", "claim", namespaced=True, struct=capsule.ResourcePoolClaim),
    _capsule("Tenant", "tnt", struct=capsule.Tenant),
    _capsule("GlobalResourceQuota", "globalquota", "grq", struct=capsule.GlobalResourceQuota),
    _capsule("CustomQuota", "cq", namespaced=True, struct=capsule.CustomQuota),
    _capsule("GlobalCustomQuota", "gcq", struct=capsule.GlobalCustomQuota),
)

BY_KIND = {kind.kind: kind for kind in KINDS}
_BY_NAME = {name: kind for kind in KINDS for name in kind.names}

#: Kinds whose objects make pods from a template.
WORKLOADS = tuple(kind.kind for kind in KINDS if kind.struct is W)


def find(text: str) -> Kind | None:
    """The kind that a user names as kubectl would take it: any case; plural, singular or short; ``.group`` or
    ``.version.group`` behind it. None: ask the server's discovery.
    """
    name, _, rest = text.lower().partition(".")
    kind = _BY_NAME.get(name)
    if kind is None or not rest:
        return kind
    return kind if rest in {kind.group, f"{kind.version}.{kind.group}", f"{kind.version}."} else None


def describe() -> None:
    """Makes msgspec know all structs; to be called before a thread decodes while another one converts.

    Two threads that need structs with a part in common for the first time crash the interpreter: msgspec hands the
    second one a part that it has only half described to the first.
    """
    for kind in KINDS:
        for struct in filter(None, (kind.struct, kind.whole)):
            json.Decoder(struct)
