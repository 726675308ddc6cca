"""Stand-ins for what applies objects again and again: Argo CD and Flux from a source, Capsule from a Tenant."""

from __future__ import annotations

import copy
import threading
from collections.abc import Mapping
from typing import Any

from controlplane import ControlPlane
from msgspec import Struct

from kubectl_kres.admission.base.field_path import FieldPath

Raw = dict[str, Any]
#: Seconds between two reconciles.
PERIOD = 1.0
_APPLY = "application/apply-patch+yaml"
_MERGE = "application/merge-patch+json"
_PATHS = {
    "Deployment": "apis/apps/v1/namespaces/{}/deployments",
    "ResourceQuota": "api/v1/namespaces/{}/resourcequotas",
    "HorizontalPodAutoscaler": "apis/autoscaling/v2/namespaces/{}/horizontalpodautoscalers",
}
TENANTS = "/apis/capsule.clastix.io/v1beta2/tenants"


def path_of(kind: str, namespace: str, name: str = "") -> str:
    """Where the server has an object, or the list of its kind."""
    return "/" + "/".join(filter(None, (_PATHS[kind].format(namespace), name)))


def definition(group: str, version: str, kind: str, plural: str) -> Raw:
    """A CustomResourceDefinition that takes any fields."""
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    served = {"name": version, "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{group}"},
        "spec": {
            "group": group,
            "scope": "Namespaced",
            "names": {"kind": kind, "plural": plural, "singular": kind.lower()},
            "versions": [served],
        },
    }


DEFINITIONS = (
    definition("argoproj.io", "v1alpha1", "Application", "applications"),
    definition("kustomize.toolkit.fluxcd.io", "v1", "Kustomization", "kustomizations"),
    definition("helm.toolkit.fluxcd.io", "v2", "HelmRelease", "helmreleases"),
)


class Keeping(Struct):
    """How an object is kept. ``metadata``: what marks it; ``keeper``: the object that keeps it, in the same namespace;
    ``manager``: its field manager; ``again``: whether it applies its source at each reconcile.
    """

    name: str
    metadata: Raw
    keeper: Raw
    manager: str
    again: bool


def _flux(kind: str, tool: str, again: bool, name: str, **spec: Any) -> Keeping:
    group = f"{tool}.toolkit.fluxcd.io"
    labels = {f"{group}/name": "shop", f"{group}/namespace": "NAMESPACE"}
    version = "v1" if kind == "Kustomization" else "v2"
    keeper = {"apiVersion": f"{group}/{version}", "kind": kind, "spec": {"interval": "1s", **spec}}
    return Keeping(name, {"labels": labels}, keeper, f"{tool}-controller", again)


def _argo(name: str, again: bool, **spec: Any) -> Keeping:
    tracking = {"argocd.argoproj.io/tracking-id": "NAMESPACE_shop:apps/Deployment:NAMESPACE/web"}
    keeper = {"apiVersion": "argoproj.io/v1alpha1", "kind": "Application", "spec": spec}
    return Keeping(name, {"annotations": tracking}, keeper, "argocd-controller", again)


KEEPINGS = (
    _argo("argo-heals", True, syncPolicy={"automated": {"selfHeal": True}}),
    _argo("argo-syncs", False, syncPolicy={"automated": {}}),
    _argo("argo-by-hand", False),
    _flux("Kustomization", "kustomize", True, "flux"),
    _flux("Kustomization", "kustomize", False, "flux-suspended", suspend=True),
    _flux("HelmRelease", "helm", True, "release-corrected", driftDetection={"mode": "enabled"}),
    _flux("HelmRelease", "helm", False, "release"),
)


def filled(value: Any, namespace: str) -> Any:
    """A copy with the namespace in place of its word."""
    if isinstance(value, Mapping):
        return {key: filled(item, namespace) for key, item in value.items()}
    if isinstance(value, list):
        return [filled(item, namespace) for item in value]
    return value.replace("NAMESPACE", namespace) if isinstance(value, str) else copy.copy(value)


class Keeper:
    """Reconciles in a thread until it is closed."""

    def __init__(self, plane: ControlPlane) -> None:
        self.plane, self.rounds = plane, 0
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def start(self) -> None:
        self._thread.start()

    def close(self) -> None:
        self._ended.set()
        self._thread.join()

    def reconcile(self) -> None:
        """One look at what it keeps."""
        raise NotImplementedError

    def _run(self) -> None:
        while not self._ended.wait(PERIOD):
            self.reconcile()
            self.rounds += 1


class Applier(Keeper):
    """What applies a source from git: fields that others wrote meanwhile are taken back."""

    def __init__(self, plane: ControlPlane, source: Raw, manager: str, *, again: bool) -> None:
        super().__init__(plane)
        self.source, self.manager, self.again = source, manager, again

    def reconcile(self) -> None:
        if self.again:
            self.apply()

    def apply(self) -> None:
        """Apply the source once, as a sync that somebody asks for does."""
        meta = self.source["metadata"]
        path = path_of(self.source["kind"], meta["namespace"], meta["name"])
        query = f"?fieldManager={self.manager}&force=true"
        status, answer = self.plane.request("PATCH", path + query, self.source, content_type=_APPLY)
        assert status in {200, 201}, answer


class TenantKeeper(Keeper):
    """Capsule's tenant controller, as far as quotas of its first item: their hard is what the Tenant says."""

    def __init__(self, plane: ControlPlane, tenant: str, namespace: str, quota: str) -> None:
        super().__init__(plane)
        self.tenant, self.path = f"{TENANTS}/{tenant}", path_of("ResourceQuota", namespace, quota)

    def reconcile(self) -> None:
        status, tenant = self.plane.request("GET", self.tenant)
        assert status == 200, tenant
        hard = tenant["spec"]["resourceQuotas"]["items"][0]["hard"]
        self.plane.request("PATCH", self.path, {"spec": {"hard": hard}}, content_type=_MERGE)


def value_at(raw: Any, field: str) -> Any:
    """What stands at a field; None: nothing."""
    for step in FieldPath.parse(field).steps:
        if isinstance(step, int):
            raw = raw[step] if isinstance(raw, list) and step < len(raw) else None
        else:
            raw = raw.get(str(step)) if isinstance(raw, Mapping) else None
    return raw
