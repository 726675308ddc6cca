"""What GitOps tools register: who applies an object from git, and whether that undoes an edit in the cluster.

Source: argo-cd controller/appcontroller.go autoSync, util/argo/resource_tracking.go; kustomize-controller
internal/controller/kustomization_controller.go apply; helm-controller internal/reconcile/correct_cluster_drift.go.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec import Struct

from kubectl_kres.gitops.model import (
    APPLICATION,
    CORRECTS,
    HELM_RELEASE,
    KUSTOMIZATION,
    Application,
    HelmRelease,
    Kustomization,
)
from kubectl_kres.model.objects import ARGO, ManagedMetadata, Metadata, manager_of
from kubectl_kres.reports.common import system
from kubectl_kres.reports.common.remedy import Permanence
from kubectl_kres.store.store import ReadRequest, Store

_TRACKING, _INSTANCE = "argocd.argoproj.io/tracking-id", "app.kubernetes.io/instance"
#: Labels that name what applies an object, and its namespace, by kind.
_LABELS = {
    HELM_RELEASE: ("helm.toolkit.fluxcd.io/name", "helm.toolkit.fluxcd.io/namespace"),
    KUSTOMIZATION: ("kustomize.toolkit.fluxcd.io/name", "kustomize.toolkit.fluxcd.io/namespace"),
}
#: Annotations with which Flux leaves an object alone, and the values that do so.
_LEFT_ALONE = {
    "kustomize.toolkit.fluxcd.io/reconcile": {"disabled"},
    "kustomize.toolkit.fluxcd.io/ssa": {"Ignore", "IfNotPresent"},
}
_ARGO_CD, _FLUX = "Argo CD", "Flux"


class _Source(Struct, frozen=True):
    """What applies an object; ``namespace`` empty: it is not known where it is, ``name`` empty: nor which one."""

    kind: str
    name: str
    namespace: str

    def read(self) -> ReadRequest:
        if self.namespace:
            return ReadRequest(self.kind, self.namespace, self.name, required=False)
        return ReadRequest(self.kind, field_selector=f"metadata.name={self.name}", required=False)

    def __str__(self) -> str:
        return f"{self.kind} {self.namespace}/{self.name}" if self.namespace else f"{self.kind} {self.name}"


def _source(metadata: Metadata) -> _Source | None:
    """Return what applies an object from git; None: no tool that is known here."""
    labels, annotations = metadata.labels or {}, metadata.annotations or {}
    if any(annotations.get(name) in values for name, values in _LEFT_ALONE.items()):
        return None
    for kind, (name, namespace) in _LABELS.items():
        if labels.get(name) and labels.get(namespace):
            return _Source(kind, labels[name], labels[namespace])
    for key in ARGO:
        if key in annotations or key in labels:
            app = (annotations.get(key) or labels.get(key) or "").partition(":")[0]
            return _application(app if key == _TRACKING or ":" not in app else "")
    managers = (metadata.managed_fields or ()) if isinstance(metadata, ManagedMetadata) else ()
    if labels.get(_INSTANCE) and any(manager_of(entry.manager) == _ARGO_CD for entry in managers):
        return _application(labels[_INSTANCE])
    return None


def _application(name: str) -> _Source:
    """Return the Application of a tracked name: one of another namespace than Argo CD's has that before it."""
    namespace, _, rest = name.rpartition("_")
    return _Source(APPLICATION, rest, namespace)


def _reads(store: Store, question: system.Question) -> Iterable[ReadRequest] | None:
    """One GET for each that applies one of the objects."""
    del store
    if not isinstance(question, system.AboutKept):
        return None
    sources = filter(None, map(_source, question.objects))
    return dict.fromkeys(source.read() for source in sources if source.name)


def _keeping(store: Store, metadata: Metadata) -> system.Keeping | None:
    source = _source(metadata)
    if source is None:
        return None
    tool = _ARGO_CD if source.kind == APPLICATION else _FLUX
    return system.Keeping(tool, _permanence(store, source, metadata))


def _permanence(store: Store, source: _Source, metadata: Metadata) -> Permanence:
    """Return what becomes of an edit in the cluster."""
    found = [*_found(store, source, metadata)] if source.name else []
    if len(found) != 1:
        why = "several" if found else "unnamed" if not source.name else store.covered(source.read()).state
        return Permanence("unknown", str(source) if source.name else source.kind, reason=why)
    item = found[0]
    by = str(_Source(source.kind, source.name, item.metadata.namespace))
    if isinstance(item, Application):
        return _of_application(item, by)
    if item.spec.suspend:
        return Permanence("undone", by, "resumed")
    if isinstance(item, HelmRelease):
        drift = item.spec.drift_detection
        if drift is None or drift.mode != CORRECTS:
            return Permanence("undone", by, "next-release")
    return Permanence("undone", by, "interval", item.spec.interval)


def _found(store: Store, source: _Source, metadata: Metadata) -> Iterator[Application | Kustomization | HelmRelease]:
    """Yield the objects that may be the source; of several Applications of a name those for the object's namespace."""
    if source.namespace:
        item = store.get(source.kind, source.name, source.namespace)
        yield from () if item is None else (item,)
        return
    items = [item for item in store.all(source.kind) if item.metadata.name == source.name]
    there = [item for item in items if (to := item.spec.destination) and to.namespace == metadata.namespace]
    yield from there if len(items) > 1 and there else items


def _of_application(item: Application, by: str) -> Permanence:
    if item.spec.ignore_differences:
        return Permanence("unknown", by, reason="ignores")
    policy = item.spec.sync_policy
    automated = policy.automated if policy is not None else None
    heals = automated is not None and automated.enabled is not False and automated.self_heal is True
    return Permanence("undone", by, "self-heal" if heals else "next-sync")


def _right(kind: str, tool: str, *verbs: str) -> system.ReadRight:
    return system.ReadRight(kind, verbs, f"whether {tool} undoes an edit of what it applies")


SYSTEM = system.System(
    "gitops",
    kinds={"if-refused": (APPLICATION, KUSTOMIZATION, HELM_RELEASE)},
    rights={
        "explain": (
            _right(APPLICATION, _ARGO_CD, "get", "list"),
            _right(KUSTOMIZATION, _FLUX, "get"),
            _right(HELM_RELEASE, _FLUX, "get"),
        )
    },
    reads=_reads,
    keeping=_keeping,
)
