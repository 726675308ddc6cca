"""The NamespaceLifecycle plugin: nothing is created in a namespace that is missing or going away."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kubectl_kres.admission.base.outcome import Finding, Refusal, StatusCause
from kubectl_kres.policies.rules.request import Request
from kubectl_kres.provenance.journal import Source

_IMMORTAL = ("default", "kube-system", "kube-public")
#: Kinds that no namespace holds.
CLUSTER_WIDE = frozenset(
    (
        "Namespace", "Node", "PersistentVolume", "PriorityClass", "RuntimeClass", "StorageClass",
        "CustomResourceDefinition", "ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding",
        "MutatingAdmissionPolicy", "MutatingAdmissionPolicyBinding", "ValidatingWebhookConfiguration",
        "MutatingWebhookConfiguration", "ClusterRole", "ClusterRoleBinding", "DeviceClass", "VolumeAttributesClass",
    )
)  # fmt: skip


def refusal(request: Request, namespace: Mapping[str, Any] | None) -> Refusal | None:
    """``namespace`` None: there is none of that name."""
    if request.kind == "Namespace":
        if request.operation == "DELETE" and request.name in _IMMORTAL:
            text = "this namespace may not be deleted"
            message = f'namespaces "{request.name}" is forbidden: {text}'
            return Refusal(403, "Forbidden", message, (Finding(text, "namespace/immortal"),))
        return None
    if request.kind in CLUSTER_WIDE:
        return None
    if namespace is None:
        text = f'namespaces "{request.namespace}" not found'
        source = Source("Namespace", request.namespace)
        return Refusal(404, "NotFound", text, (Finding(text, "namespace/not-found", source=source),))
    return _mismatch(request) or _terminating(request, namespace)


def _mismatch(request: Request) -> Refusal | None:
    written = ((request.object or {}).get("metadata") or {}).get("namespace")
    if not written or written == request.namespace:
        return None
    text = "the namespace of the provided object does not match the namespace sent on the request"
    return Refusal(400, "BadRequest", text, (Finding(text, "namespace/mismatch", "metadata.namespace"),))


def _terminating(request: Request, namespace: Mapping[str, Any]) -> Refusal | None:
    phase = (namespace.get("status") or {}).get("phase")
    if request.operation != "CREATE" or phase != "Terminating":
        return None
    name = request.namespace
    text = f"unable to create new content in namespace {name} because it is being terminated"
    cause = StatusCause("metadata.namespace", "NamespaceTerminating", f"namespace {name} is being terminated")
    finding = Finding(text, "namespace/terminating", observed=name, source=Source("Namespace", name))
    message = f'{request.qualified} "{request.name}" is forbidden: {text}'
    return Refusal(403, "Forbidden", message, (finding,), (cause,))
