"""Objects as they are sent: what all have in common, decoded into structs, and the policies and classes that admission
looks up.

A field holds what is there, or its Go type's empty value if it is absent, null or of another type: an object with a
field of a wrong type never gets as far as validation, since the decoder refuses it.
"""

from collections.abc import Iterator, Mapping
from typing import Any, TypeVar

import msgspec
from msgspec import Struct

from kubectl_kres.errors import UsageError
from kubectl_kres.quantity import first_unreadable

#: An object, or a part of one, as JSON or YAML has it.
Raw = Mapping[str, Any]

#: Resource name to quantity as read: the JSON string, or the text or value of a JSON number. See quantity.from_json.
ResourceList = Mapping[str, Any]

#: Fields of an object, and places in lists: joined only where a quantity is none.
AmountsPath = tuple[str | int, ...]

#: The annotation in which kubectl apply keeps the manifest.
LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"


class Base(Struct, frozen=True, rename="camel", gc=False, omit_defaults=True):
    """What all structs read from Kubernetes share: camel case on the wire, defaults left out when written."""

    def stored_amounts(self) -> Iterator[tuple[AmountsPath, ResourceList | None]]:
        """Yield each list of quantities that the API server itself reads from its storage, with the path."""
        return iter(())

    def mistyped_field(self) -> str:
        """Return where a part that is kept as it stands has a type that no API server stores, and what is wrong; empty:
        nowhere.
        """
        return ""


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
    def full_name(self) -> str:
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
    "Terraform": "Terraform",
    "HashiCorp": "Terraform",
    "pulumi": "Pulumi",
}
#: What starts the names of field managers behind which a person stands, or Kubernetes itself.
PERSONAL_MANAGERS = (
    "kubectl",
    "kube-",
    "k9s",
    "lens",
    "Mozilla",
    "curl",
    "python",
    "node-fetch",
    "OpenAPI-Generator",
    "unknown",
)
#: The annotation that names a release of Helm, and those that Argo CD follows objects by.
RELEASE = "meta.helm.sh/release-name"
ARGO = ("argocd.argoproj.io/tracking-id", "argocd.argoproj.io/instance")


def manager_of(field_manager: str) -> str:
    """Return what the tool behind a field manager is called; empty: it is none of these."""
    return next((name for part, name in MANAGERS.items() if part in field_manager), "")


#: What the store calls pods on nodes, as the scheduler counts them.
BOUND_PODS = "Pod.on/nodes"


class Kind(Struct, frozen=True):
    """A resource type of the API. ``names`` are the plural first, then the singular, then the short names.

    ``struct`` decodes lists; ``whole``, where it is given, decodes one object and what snapshots keep. Not ``listed``:
    objects are only ever read by name. ``older``: the version that servers without ``version`` are asked for, whose
    objects the struct decodes, too; empty: none.
    """

    kind: str
    names: tuple[str, ...]
    group: str = ""
    version: str = "v1"
    namespaced: bool = True
    struct: Any = None
    whole: Any = None
    listed: bool = True
    older: str = ""

    @property
    def built_in(self) -> bool:
        """Return whether every API server serves it: groups without a dot are its own."""
        return "." not in self.group

    @property
    def detail(self) -> Any:
        """The struct that also knows the object's field managers."""
        return self.whole or self.struct

    @property
    def plural(self) -> str:
        return self.names[0]

    @property
    def qualified_name(self) -> str:
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


def mapping(raw: Raw, key: str) -> Raw:
    """Return the object at a key; empty if there is none."""
    value = raw.get(key)
    return value if type(value) is dict or isinstance(value, Mapping) else {}


def pointer(raw: Raw, key: str) -> Raw | None:
    """Return the object at a key; None if there is none, which is not the same as an empty one."""
    value = raw.get(key)
    return value if isinstance(value, Mapping) else None


def items(raw: Raw, key: str) -> list[Raw]:
    """Return the objects in the list at a key; null among them is an empty one."""
    value = raw.get(key)
    if not isinstance(value, list | tuple):
        return []
    return [item if type(item) is dict or isinstance(item, Mapping) else {} for item in value]


def text(raw: Raw, key: str) -> str:
    value = raw.get(key)
    return value if isinstance(value, str) else ""


def texts(raw: Raw, key: str) -> list[str]:
    """Return the texts in the list at a key; null among them is an empty one."""
    value = raw.get(key)
    return [item if isinstance(item, str) else "" for item in value] if isinstance(value, list | tuple) else []


def integer(raw: Raw, key: str) -> int | None:
    """Return the number at a key; None if there is none."""
    value: Any = raw.get(key)
    return int(value) if isinstance(value, int) and not isinstance(value, bool) else None


T = TypeVar("T")

#: Lists of texts; null in a list is the empty value of what it holds.
_TEXTS = frozenset({"values", "namespaces", "scopes", "accessModes", "finalizers"})

#: Fields whose values are quantities by resource name, where null is zero.
_QUANTITIES = frozenset({
    *("limits", "requests", "overhead", "hard", "used"),
    *("default", "defaultRequest", "max", "maxLimitRequestRatio", "min"),
})  # fmt: skip


_PLAIN = frozenset({str, int, float, bool})


class WrongType(UsageError, msgspec.ValidationError):
    """A value of an object is of another type than its field.

    It is the library's own error for those who look for that, and an error of ours for everybody else: where nobody
    looks for it, a run ends with one line about the input.
    """


def decode_object(raw: Raw, struct: type[T]) -> T:
    """Return the struct. As on the server, a null field is an absent one, and null in a list an empty item.

    Raises WrongType.
    """
    return convert_value(raw if _is_plain(raw) else _without_nulls(raw), struct)


_ENCODER = msgspec.json.Encoder()


def _is_plain(raw: Raw) -> bool:
    """Return whether an object holds no null and nothing but what JSON has: most do, and copying one takes ten times
    what this takes.
    """
    try:
        return b"null" not in _ENCODER.encode(raw)
    except (TypeError, ValueError, OverflowError, RecursionError):
        return False


def convert_value(value: Any, struct: type[T]) -> T:
    """Return the struct of values without nulls. Raises WrongType, which names the object if it can."""
    try:
        return msgspec.convert(value, struct)
    except msgspec.ValidationError as error:
        metadata = mapping(value, "metadata") if isinstance(value, Mapping) else {}
        name = "/".join(filter(None, (text(value, "kind"), text(metadata, "name")))) if metadata else ""
        raise WrongType(f"{name}: {error}" if name else str(error)) from error


def _without_nulls(value: Any) -> Any:
    if type(value) in _PLAIN:  # most are; to ask what is no mapping for it takes long
        return value
    if isinstance(value, list):
        return [_without_nulls(item) for item in value]
    if not isinstance(value, Mapping):
        return value
    return {
        key: item if type(item) in _PLAIN else _of_field(key, item) for key, item in value.items() if item is not None
    }


def _of_field(key: str, value: Any) -> Any:
    if key in _QUANTITIES and isinstance(value, Mapping):
        return value
    if isinstance(value, list):
        blank: Any = "" if key in _TEXTS else {}
        return [blank if item is None else _without_nulls(item) for item in value]
    return _without_nulls(value)


def to_wire(item: msgspec.Struct) -> dict[str, Any]:
    """Return an object as the server would write it. Numbers of a file, which are a kind of text, are texts."""
    try:
        raw: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(item, enc_hook=str))
    except (UnicodeEncodeError, OverflowError):
        import json  # noqa: PLC0415 - only for half a surrogate pair and integers of 20 digits, which a file can hold

        raw = json.loads(json.dumps(msgspec.to_builtins(item, enc_hook=str)))
    return raw


def struct_as_json(item: Any, api_version: str, kind: str) -> dict[str, Any]:
    """Return an object that was decoded, as JSON has it."""
    return {**to_wire(item), "apiVersion": api_version, "kind": kind}


class LimitRangeItem(Base, frozen=True):
    """Defaults and bounds for one type: Container, Pod, PersistentVolumeClaim or a qualified name."""

    type: str = ""
    max: ResourceList | None = None
    min: ResourceList | None = None
    default: ResourceList | None = None
    default_request: ResourceList | None = None
    max_limit_request_ratio: ResourceList | None = None


class LimitRangeSpec(Base, frozen=True):
    """The items of a LimitRange, in order."""

    limits: tuple[LimitRangeItem, ...] | None = None


class LimitRange(Base, frozen=True):
    """Bounds and defaults for the containers, pods and claims of one namespace."""

    metadata: ManagedMetadata = ManagedMetadata()
    spec: LimitRangeSpec = LimitRangeSpec()
    kind: str = "LimitRange"
    api_version: str = "v1"

    def stored_amounts(self) -> Iterator[tuple[AmountsPath, ResourceList | None]]:
        for index, item in enumerate(self.spec.limits or ()):
            yield ("spec.limits", index, "max"), item.max
            yield ("spec.limits", index, "min"), item.min
            yield ("spec.limits", index, "default"), item.default
            yield ("spec.limits", index, "defaultRequest"), item.default_request
            yield ("spec.limits", index, "maxLimitRequestRatio"), item.max_limit_request_ratio


class ScopedRequirement(Base, frozen=True):
    """One expression of a quota's scopeSelector."""

    scope_name: str = ""
    operator: str = ""
    values: tuple[str, ...] | None = None


class ScopeSelector(Base, frozen=True):
    """Expressions that an object must all match to be counted."""

    match_expressions: tuple[ScopedRequirement, ...] | None = None


class ResourceQuotaSpec(Base, frozen=True):
    """What is limited (``hard``) and for which objects (``scopes`` and ``scope_selector``, ANDed)."""

    hard: ResourceList | None = None
    scopes: tuple[str, ...] | None = None
    scope_selector: ScopeSelector | None = None


class ResourceQuotaStatus(Base, frozen=True):
    """What the server enforces. Absent ``hard``: the controller has not seen the quota, which enforces nothing yet."""

    hard: ResourceList | None = None
    used: ResourceList | None = None


class ResourceQuota(Base, frozen=True):
    """A quota of one namespace."""

    metadata: ManagedMetadata = ManagedMetadata()
    spec: ResourceQuotaSpec = ResourceQuotaSpec()
    status: ResourceQuotaStatus = ResourceQuotaStatus()
    kind: str = "ResourceQuota"
    api_version: str = "v1"

    def stored_amounts(self) -> Iterator[tuple[AmountsPath, ResourceList | None]]:
        yield ("spec.hard",), self.spec.hard
        yield ("status.hard",), self.status.hard
        yield ("status.used",), self.status.used


class PriorityClass(Base, frozen=True):
    """A named priority; ``global_default`` is given to pods that name none."""

    metadata: ManagedMetadata = ManagedMetadata()
    value: int = 0
    global_default: bool = False
    preemption_policy: str = ""
    kind: str = "PriorityClass"
    api_version: str = "scheduling.k8s.io/v1"


class Overhead(Base, frozen=True):
    """Resources that a runtime needs on top of the containers."""

    pod_fixed: ResourceList | None = None


class RuntimeClass(Base, frozen=True):
    """A container runtime; its overhead is added to each pod that names it."""

    metadata: ManagedMetadata = ManagedMetadata()
    handler: str = ""
    overhead: Overhead | None = None
    kind: str = "RuntimeClass"
    api_version: str = "node.k8s.io/v1"

    def stored_amounts(self) -> Iterator[tuple[AmountsPath, ResourceList | None]]:
        yield ("overhead.podFixed",), self.overhead.pod_fixed if self.overhead else None


class StorageClass(Base, frozen=True):
    """A kind of storage; an annotation says that it is for claims that name none.

    ``allow_volume_expansion`` None: the server was not asked for it, as in older snapshots, or nobody wrote it.
    """

    metadata: Metadata = Metadata()
    allow_volume_expansion: bool | None = None
    kind: str = "StorageClass"
    api_version: str = "storage.k8s.io/v1"


#: Conditions of a namespace that does not go by itself, what is to be mended first.
_HOLDING = (
    "NamespaceDeletionDiscoveryFailure",
    "NamespaceDeletionGroupVersionParsingFailure",
    "NamespaceDeletionContentFailure",
    "NamespaceFinalizersRemaining",
)


class NamespaceStatus(Base, frozen=True):
    """Active, or Terminating; then ``conditions`` say what holds it. Source: pkg/controller/namespace/deletion."""

    phase: str = ""
    conditions: tuple[Condition, ...] | None = None

    @property
    def held(self) -> str:
        """What keeps the namespace from going, in its controller's words; empty: nothing is known to."""
        said = {item.type: item.message for item in self.conditions or () if item.status == "True"}
        return next((said[name] for name in _HOLDING if said.get(name)), "")


class Namespace(Base, frozen=True):
    """A namespace and its labels."""

    metadata: ManagedMetadata = ManagedMetadata()
    status: NamespaceStatus = NamespaceStatus()
    kind: str = "Namespace"
    api_version: str = "v1"


_NAME_LABEL = "kubernetes.io/metadata.name"


def with_name_label(namespace: Namespace) -> Namespace:
    """Return the namespace with the label that the API server gives every namespace."""
    meta = namespace.metadata
    labels = {_NAME_LABEL: meta.name, **(meta.labels or {})}
    return msgspec.structs.replace(namespace, metadata=msgspec.structs.replace(meta, labels=labels))


def is_checked(struct: Any) -> bool:
    """Return whether objects of a struct can be decoded, and still hold what no API server stores."""
    if not (isinstance(struct, type) and issubclass(struct, Base)):
        return False
    return struct.stored_amounts is not Base.stored_amounts or struct.mistyped_field is not Base.mistyped_field


def unreadable(item: Base) -> str:
    """Return the first field of a wrong type, or the first quantity that is none, with its path; empty if all can be
    read.

    No API server stores such an object; an aggregated or a foreign one, or a snapshot, may hold it.
    """
    if mistyped := item.mistyped_field():
        return mistyped
    for path, amounts in item.stored_amounts():
        if amounts and (fault := first_unreadable(amounts)) is not None:
            name, error = fault
            fields = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path)
            return f"{fields[1:]}[{name}]: {error.message}"
    return ""
