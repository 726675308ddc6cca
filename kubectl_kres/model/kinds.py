"""The kinds that are read: names as kubectl takes them, where the API serves them, and the struct of each."""

from __future__ import annotations

from typing import Any

from msgspec import json, structs

from kubectl_kres.model import objects as policy
from kubectl_kres.model import pod, quota_objects, tekton_config, workload
from kubectl_kres.model.admission_objects import AdmissionPolicy, ServiceAccount, WebhookConfiguration, parameter_kind
from kubectl_kres.model.objects import Kind
from kubectl_kres.model.workload_kinds import WORKLOADS
from kubectl_kres.systems import modules

__all__ = ["BY_KIND", "KINDS", "Kind", "Kinds", "describe", "find", "is_known"]

#: The group of what devices are claimed with; a type of the core group is called like one of its kinds.
DEVICES = "resource.k8s.io"


def _policy(kind: str, plural: str, struct: Any = AdmissionPolicy, *, short: tuple[str, ...] = ()) -> Kind:
    """Return a kind of the cluster that decides about requests."""
    names = (plural, kind.lower(), *short)
    return Kind(kind, names, "admissionregistration.k8s.io", namespaced=False, struct=struct)


KINDS: tuple[Kind, ...] = (
    Kind("Pod", ("pods", "pod", "po"), struct=pod.Pod, whole=pod.ManagedPod),
    *(Kind(row.kind, row.names, row.group, struct=workload.Workload) for row in WORKLOADS.values()),
    Kind(
        "ControllerRevision", ("controllerrevisions", "controllerrevision"), "apps", struct=workload.ControllerRevision
    ),
    Kind("LimitRange", ("limitranges", "limitrange", "limits"), struct=policy.LimitRange),
    Kind("ResourceQuota", ("resourcequotas", "resourcequota", "quota"), struct=policy.ResourceQuota),
    Kind(
        "ClusterResourceQuota",
        ("clusterresourcequotas", "clusterresourcequota"),
        "quota.openshift.io",
        namespaced=False,
        struct=quota_objects.ClusterResourceQuota,
        listed=False,
    ),
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
    Kind("Node", ("nodes", "node", "no"), namespaced=False, struct=pod.Node),
    Kind("Event", ("events", "event", "ev"), struct=workload.Event),
    Kind(
        "PersistentVolumeClaim",
        ("persistentvolumeclaims", "persistentvolumeclaim", "pvc"),
        struct=quota_objects.PersistentVolumeClaim,
    ),
    Kind(
        "HorizontalPodAutoscaler",
        ("horizontalpodautoscalers", "horizontalpodautoscaler", "hpa"),
        "autoscaling",
        "v2",
        struct=workload.HorizontalPodAutoscaler,
    ),
    _policy("ValidatingAdmissionPolicy", "validatingadmissionpolicies", short=("policies",)),
    _policy("ValidatingAdmissionPolicyBinding", "validatingadmissionpolicybindings"),
    _policy("MutatingAdmissionPolicy", "mutatingadmissionpolicies"),
    _policy("MutatingAdmissionPolicyBinding", "mutatingadmissionpolicybindings"),
    _policy("ValidatingWebhookConfiguration", "validatingwebhookconfigurations", WebhookConfiguration),
    _policy("MutatingWebhookConfiguration", "mutatingwebhookconfigurations", WebhookConfiguration),
    Kind("ServiceAccount", ("serviceaccounts", "serviceaccount", "sa"), struct=ServiceAccount),
    Kind("Service", ("services", "service", "svc"), struct=quota_objects.Service),
    Kind("ResourceClaim", ("resourceclaims", "resourceclaim"), DEVICES, struct=quota_objects.ResourceClaim),
    Kind(
        "ResourceClaimTemplate",
        ("resourceclaimtemplates", "resourceclaimtemplate"),
        DEVICES,
        struct=quota_objects.ResourceClaimTemplate,
    ),
    Kind(
        "DeviceClass",
        ("deviceclasses", "deviceclass"),
        DEVICES,
        namespaced=False,
        struct=quota_objects.DeviceClass,
    ),
    Kind("ConfigMap", ("configmaps", "configmap", "cm"), struct=tekton_config.ConfigMap, listed=False),
    Kind(
        "CustomResourceDefinition",
        ("customresourcedefinitions", "customresourcedefinition", "crd", "crds"),
        "apiextensions.k8s.io",
        namespaced=False,
        struct=tekton_config.CustomResourceDefinition,
        listed=False,
    ),
    *(kind for module in modules("model") for kind in module.KINDS),
)


class Kinds(dict[str, Kind]):
    """Kinds by name. A name with a version, as ``ConfigMap.v1``, is that of a kind of parameters of policies,
    one with a slash that of what is read for the scheduler.
    """

    def __missing__(self, name: str) -> Kind:
        kind = parameter_kind(name)
        if kind is None and is_view(name):
            from kubectl_kres.model.scheduling_views import VIEWS  # noqa: PLC0415 - only a pod that waits for a node needs it

            kind = VIEWS.get(name)
        if kind is None:
            raise KeyError(name)
        return kind


def is_view(name: str) -> bool:
    """Return whether objects of the name are those of another kind, read for the scheduler, with other fields."""
    return "/" in name


def named_kind(name: str) -> str:
    """Return what the server calls the kind of a read."""
    return name.partition(".")[0] if is_view(name) else name


BY_KIND = Kinds({kind.kind: kind for kind in KINDS})
#: Path of a group and version to that of the older version, by which a server that lacks the first is asked.
OLDER = {kind.root: f"/apis/{kind.group}/{kind.older}" for kind in KINDS if kind.older}
_BY_NAME = {name: kind for kind in KINDS for name in kind.names}


def is_known(kind: Kind) -> bool:
    """Return whether it is the kind of that name in the table above, and not one of another group."""
    return BY_KIND.get(kind.kind) == kind


def always_served(api_version: str, kind: str) -> bool:
    """Return whether every server has the kind, so that none need be asked; some ``.k8s.io`` kinds are new."""
    known_kind = BY_KIND.get(kind)
    return known_kind is not None and known_kind.api_version == api_version and known_kind.built_in


def suggest_kind(text: str) -> str:
    """``did you mean deployment?`` for a type that is none but nearly a known one; else empty."""
    from difflib import get_close_matches  # noqa: PLC0415 - only a mistyped type needs it

    names = dict.fromkeys(name for kind in BY_KIND.values() for name in kind.names)
    close = get_close_matches(text.lower().partition(".")[0], names, 1, 0.75)
    return f"did you mean {close[0]}?" if close else ""


def find(text: str) -> Kind | None:
    """Return the kind that a user names as kubectl would take it: any case; plural, singular or short; ``.group`` or
    ``.version.group`` behind it. None: ask the server's discovery.
    """
    name, _, rest = text.lower().partition(".")
    kind = _BY_NAME.get(name)
    if kind is None or not rest:
        return kind
    return kind if rest in {kind.group, f"{kind.version}.{kind.group}", f"{kind.version}."} else None


def describe() -> None:
    """Make msgspec know all structs; to be called before a thread decodes while another one converts.

    Two threads that need structs with a part in common for the first time crash the interpreter: msgspec hands the
    second one a part that it has only half described to the first.
    """
    from kubectl_kres.model.scheduling_views import VIEWS  # noqa: PLC0415 - only who watches needs it

    for kind in (*KINDS, *VIEWS.values()):
        for struct in filter(None, (kind.struct, kind.whole)):
            json.Decoder(struct)


#: A kind of another group that is called like a built-in one gets a name of its own.
OWN_NAMES = {"Job": "VolcanoJob"}
_SENT = {own_name: kind for kind, own_name in OWN_NAMES.items()}


def served_kind_name(kind: str) -> str:
    """Return what a kind is called where it is sent, by the name that it has here."""
    return _SENT.get(kind, kind)


def write_kind(item: Any, kind: Kind) -> None:
    """Write the kind into an object whose struct stands for several: the items of a list come without, and one that
    says another kind is still of the list's.
    """
    if item.kind != kind.kind and item.kind != kind.kind.partition(".")[0]:
        structs.force_setattr(item, "kind", kind.kind)
        structs.force_setattr(item, "api_version", kind.api_version)
