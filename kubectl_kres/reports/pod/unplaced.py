"""Why the object of a file has no place in the cluster: no such kind, no such namespace, or one that is ending."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches
from typing import Any

from msgspec import structs

from kubectl_kres.admission.base.outcome import Finding, Refusal, StatusCause, forbidden_object
from kubectl_kres.model.kinds import BY_KIND, WORKLOADS
from kubectl_kres.model.meta import ObjectRef
from kubectl_kres.reports.common.subject import Subject
from kubectl_kres.store.coverage import Need
from kubectl_kres.store.store import Store

#: Namespaces that the API server makes itself, and lets nobody delete.
_OWN = frozenset({"default", "kube-system", "kube-public", "kube-node-lease"})
_POLICIES = ("LimitRange", "ResourceQuota")


def namespace_needs(store: Store, namespace: str) -> Iterator[Need]:
    """The namespace itself: it may not exist, or be on its way out."""
    if namespace and namespace not in _OWN and store.origin.kind != "files":
        yield Need("Namespace", name=namespace, required=False)


def unplaced(store: Store, ref: ObjectRef, resource: str) -> Refusal | None:
    """What the plugin NamespaceLifecycle answers, before any that looks at resources; None: nothing, or not known.

    ``resource``: the plural of the object's kind, with its group.
    """
    return no_namespace(store, ref.namespace) or _ending(store, ref, resource)


def _ending(store: Store, ref: ObjectRef, resource: str) -> Refusal | None:
    """403 where the namespace is being deleted. Source: apiserver/pkg/admission/plugin/namespace/lifecycle."""
    space = ref.namespace
    namespace = store.get("Namespace", space)
    if not space or namespace is None or ObjectRef("Namespace", space) in store.files:
        return None
    if namespace.status.phase != "Terminating" and not namespace.metadata.deletion_timestamp:
        return None
    text = f"unable to create new content in namespace {space} because it is being terminated"
    finding = Finding(text, "namespace/terminating", observed=space)
    refusal = forbidden_object(resource, ref.name, (finding,))
    cause = StatusCause("metadata.namespace", "NamespaceTerminating", f"namespace {space} is being terminated")
    return structs.replace(refusal, causes=(cause,))


def _stored(store: Store, namespace: str) -> bool:
    """Whether the cluster holds a policy in the namespace; one of a file need not be there yet."""
    return any(
        ObjectRef(kind, item.metadata.name, namespace) not in store.files
        for kind in _POLICIES
        for item in store.all(kind, namespace)
    )


def no_namespace(store: Store, namespace: str) -> Refusal | None:
    """404 where the namespace is known not to exist; a Namespace among the files counts as existing.

    Source: apiserver/pkg/admission/plugin/namespace/lifecycle, before any plugin that looks at resources.
    """
    need = next(namespace_needs(store, namespace), None)
    if need is None or not store.covered(need).known or store.get("Namespace", namespace) is not None:
        return None
    if _stored(store, namespace):
        return None
    text = f'namespaces "{namespace}" not found'
    return Refusal(404, "NotFound", text, (Finding(text, "namespace/not-found", observed=namespace),))


def no_kind(subject: Subject) -> Refusal | None:
    """404 where the server serves no such kind in that version; None also where that is not known.

    Groups without a dot are Kubernetes' own. Of those, what makes pods is known here by kind and version.
    Source: apimachinery meta/errors.go NoKindMatchError, which ends kubectl before anything is sent.
    """
    raw: Any = subject.raw or {}
    kind, version = str(raw.get("kind", "")), str(raw.get("apiVersion", ""))
    known, own = BY_KIND.get(kind), "." not in version.rpartition("/")[0]
    if subject.served and (not version or not own or (known is not None and known.api_version == version)):
        return None
    text = f'no matches for kind "{kind}" in version "{version}"'
    return Refusal(404, "NotFound", text, (Finding(text, "kubectl/no-match", observed=version, resource=kind),))


def nearest_kind(kind: str, version: str) -> str:
    """What the file should say instead, as far as that can be told."""
    known = BY_KIND.get(kind)
    if known is not None and known.kind in {*WORKLOADS, "Pod"}:
        return f"write apiVersion: {known.api_version}"
    near = get_close_matches(kind, (*WORKLOADS, "Pod"), 1, 0.8)
    if near:
        return f"write kind: {near[0]} and apiVersion: {BY_KIND[near[0]].api_version}"
    defined = "" if "." not in version.rpartition("/")[0] else ", or install what defines it"
    return f"write a kind that the server has (kubectl api-resources lists them){defined}"
