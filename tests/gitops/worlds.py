"""Worlds in which Argo CD or Flux applies what a fix would edit, as stores and as snapshots."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kubectl_kres.model.kinds import BY_KIND, KINDS
from kubectl_kres.model.objects import decode_object
from kubectl_kres.snapshot.write import write
from kubectl_kres.store.store import READ, Coverage, Origin, ReadRequest, Store

NOW = "2026-11-28T14:00:00Z"
TRACKED = {"annotations": {"argocd.argoproj.io/tracking-id": "shop:apps/Deployment:mall/web"}}
FLUX = "toolkit.fluxcd.io"


def labelled(tool: str, name: str, **annotations: str) -> dict[str, Any]:
    """Metadata as Flux's kustomize or helm controller labels what it applies."""
    labels = {f"{tool}.{FLUX}/name": name, f"{tool}.{FLUX}/namespace": "flux-system"}
    return {"labels": labels, "annotations": {f"kustomize.{FLUX}/{key}": value for key, value in annotations.items()}}


def application(namespace: str = "argocd", **spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": "argoproj.io/v1alpha1",
        "kind": "Application",
        "metadata": {"name": "shop", "namespace": namespace},
        "spec": spec,
    }


def automated(**fields: Any) -> dict[str, Any]:
    return application(syncPolicy={"automated": fields})


def of_flux(kind: str, name: str, **spec: Any) -> dict[str, Any]:
    version = {"Kustomization": f"kustomize.{FLUX}/v1", "HelmRelease": f"helm.{FLUX}/v2"}[kind]
    metadata = {"name": name, "namespace": "flux-system"}
    return {"apiVersion": version, "kind": kind, "metadata": metadata, "spec": spec}


def mall(metadata: Mapping[str, Any], *others: Mapping[str, Any], existing: int = 1) -> list[Mapping[str, Any]]:
    """Deployment web of two pods, of which a quota that nobody keeps admits one; ``metadata``: the Deployment's."""
    labels = {"app": "web"}
    template = {
        "metadata": {"labels": labels},
        "spec": {"containers": [{"name": "app", "resources": {"requests": {"cpu": "600m"}}}]},
    }
    return [
        {
            "kind": "ResourceQuota",
            "metadata": {"name": "team", "namespace": "mall"},
            "spec": {"hard": {"requests.cpu": "1"}},
            "status": {"hard": {"requests.cpu": "1"}, "used": {"requests.cpu": "600m"}},
        },
        {
            "kind": "Deployment",
            "metadata": {"name": "web", "namespace": "mall", "generation": 1, **metadata},
            "spec": {"replicas": 2, "selector": {"matchLabels": labels}, "template": template},
            "status": {
                "observedGeneration": 1,
                "replicas": existing,
                "updatedReplicas": existing,
                "readyReplicas": existing,
            },
        },
        *others,
    ]


def store_of(objects: Sequence[Mapping[str, Any]], **states: Coverage) -> Store:
    """The objects, of a cluster in which all was read; ``states``: how that went of some kinds."""
    store = Store(Origin("snapshot", version="v1.37.2", time=NOW))
    for raw in objects:
        store.add(raw["kind"], decode_object(raw, BY_KIND[raw["kind"]].detail))
    store.add("Namespace", decode_object({"metadata": {"name": "mall"}}, BY_KIND["Namespace"].detail))
    for kind in KINDS:
        store.cover(ReadRequest(kind.kind), states.get(kind.kind, READ))
    return store


def snapshot(objects: Sequence[Mapping[str, Any]], **states: Coverage) -> str:
    """The file, in the folder that we stand in."""
    write(store_of(objects, **states), "mall.kres")
    return "mall.kres"
