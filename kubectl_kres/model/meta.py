"""What every object has: its kind, metadata, owners, field managers, label selectors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from kubectl_kres.errors import UsageError

#: Resource name to quantity as read: the JSON string, or the text or value of a JSON number. See quantity.from_json.
ResourceList = Mapping[str, Any]

#: The annotation in which kubectl apply keeps the manifest.
LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"


class Base(Struct, frozen=True, rename="camel", gc=False, omit_defaults=True):
    """What all structs read from Kubernetes share: camel case on the wire, defaults left out when written."""


class OwnerReference(Base, frozen=True):
    """The object that made this one; ``controller`` marks the one that manages it."""

    kind: str = ""
    name: str = ""
    uid: str = ""
    api_version: str = ""
    controller: bool | None = None


class ManagedFields(Base, frozen=True):
    """Who last wrote some fields of an object, and when. ``fields_v1`` is the tree of ``f:`` keys."""

    manager: str = ""
    operation: str = ""
    time: str | None = None
    subresource: str = ""
    fields_v1: Any = None


class Metadata(Base, frozen=True):
    """Names, labels, owners. ``managed_fields`` is decoded only for kinds whose editors are shown."""

    name: str = ""
    namespace: str = ""
    generate_name: str = ""
    uid: str = ""
    labels: Mapping[str, str] | None = None
    annotations: Mapping[str, str] | None = None
    creation_timestamp: str | None = None
    deletion_timestamp: str | None = None
    deletion_grace_period_seconds: int | None = None
    generation: int = 0
    resource_version: str = ""
    owner_references: tuple[OwnerReference, ...] | None = None


class ManagedMetadata(Metadata, frozen=True):
    """Metadata that also says which manager wrote which field."""

    managed_fields: tuple[ManagedFields, ...] | None = None


class Requirement(Base, frozen=True):
    """One expression of a label or scope selector."""

    key: str = ""
    operator: str = ""
    values: tuple[str, ...] | None = None


class LabelSelector(Base, frozen=True):
    """matchLabels and matchExpressions, ANDed; an empty selector matches everything."""

    match_labels: Mapping[str, str] | None = None
    match_expressions: tuple[Requirement, ...] | None = None


class Condition(Base, frozen=True):
    """A status condition as most kinds have it."""

    type: str = ""
    status: str = ""
    reason: str = ""
    message: str = ""
    last_transition_time: str | None = None


class ObjectRef(Struct, frozen=True, omit_defaults=True, gc=False):
    """Names one object; ``namespace`` is empty for cluster-scoped kinds."""

    kind: str
    name: str
    namespace: str = ""

    def __str__(self) -> str:
        return f"{self.kind}/{self.name}"

    @property
    def key(self) -> str:
        """``shop/web``: which one of its kind it is."""
        return f"{self.namespace}/{self.name}" if self.namespace else self.name

    @property
    def full(self) -> str:
        """``shop/Deployment/web``."""
        return f"{self.namespace}/{self}" if self.namespace else str(self)


#: Tools that apply an object again and again, so that an edit in the cluster is undone: parts of the names of their
#: field managers, and what they are called.
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
        """Path to list the kind, in one namespace if given, or to get one object of it.

        Raises UsageError for Secrets: whoever asks, and whatever the type was called, no request for them is made.
        """
        if not self.group and (self.kind == "Secret" or self.plural == "secrets"):
            raise UsageError("secrets are never read")
        parts = [self.root]
        if self.namespaced and namespace:
            parts.append(f"namespaces/{namespace}")
        parts.append(self.plural)
        if name:
            parts.append(name)
        return "/".join(parts)
