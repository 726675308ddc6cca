"""LimitRange, ResourceQuota and the cluster-scoped classes that admission looks up; which quantities cannot be read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kubectl_kres.errors import QuantityError
from kubectl_kres.model.meta import Base, ManagedMetadata, Metadata, ResourceList
from kubectl_kres.quantity import stored


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


class StorageClass(Base, frozen=True):
    """A kind of storage; an annotation says that it is for claims that name none.

    ``allow_volume_expansion`` None: the server was not asked for it, as in older snapshots, or nobody wrote it.
    """

    metadata: Metadata = Metadata()
    allow_volume_expansion: bool | None = None
    kind: str = "StorageClass"
    api_version: str = "storage.k8s.io/v1"


class NamespaceStatus(Base, frozen=True):
    """Active, or Terminating."""

    phase: str = ""


class Namespace(Base, frozen=True):
    """A namespace and its labels."""

    metadata: ManagedMetadata = ManagedMetadata()
    status: NamespaceStatus = NamespaceStatus()
    kind: str = "Namespace"
    api_version: str = "v1"


#: The structs whose objects are looked at. No API server stores what is found; an aggregated or a foreign one may.
POLICIES = (LimitRange, ResourceQuota, RuntimeClass)


def unreadable(policy: Any) -> str:
    """The first quantity that is none, with its path; empty if all can be read."""
    for path, amounts in _lists(policy):
        for name, value in (amounts or {}).items():
            try:
                stored(value)
            except QuantityError as error:
                return f"{path}[{name}]: {error.message}"
    return ""


def _lists(policy: Any) -> Iterator[tuple[str, ResourceList | None]]:
    if isinstance(policy, ResourceQuota):
        yield "spec.hard", policy.spec.hard
        yield "status.hard", policy.status.hard
        yield "status.used", policy.status.used
    elif isinstance(policy, LimitRange):
        for index, item in enumerate(policy.spec.limits or ()):
            at = f"spec.limits[{index}]"
            yield f"{at}.max", item.max
            yield f"{at}.min", item.min
            yield f"{at}.default", item.default
            yield f"{at}.defaultRequest", item.default_request
            yield f"{at}.maxLimitRequestRatio", item.max_limit_request_ratio
    elif isinstance(policy, RuntimeClass):
        yield "overhead.podFixed", policy.overhead.pod_fixed if policy.overhead else None
