"""How it is known that a tool applies an object again and again, so that an edit in the cluster is undone."""

from __future__ import annotations

from collections.abc import Mapping

#: Parts of the names of such tools' field managers, and what the tools are called.
MANAGERS: Mapping[str, str] = {
    "argocd": "Argo CD",
    "helm": "Helm",
    "kustomize-controller": "Flux",
    "helm-controller": "Flux",
    "flux": "Flux",
    "fleet": "Fleet",
    "config-sync": "Config Sync",
}
#: The annotation that names a release of Helm, and those that Argo CD follows objects by.
RELEASE = "meta.helm.sh/release-name"
ARGO = ("argocd.argoproj.io/tracking-id", "argocd.argoproj.io/instance")


def manager_of(field_manager: str) -> str:
    """What the tool behind a field manager is called; empty: it is none of these."""
    return next((name for part, name in MANAGERS.items() if part in field_manager), "")
