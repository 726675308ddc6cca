"""The policies of a namespace out of a store, the values that they require, and what is not known about them."""

# ruff: noqa: PLC0415 - only files hold what the server may not store
from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import Any

import msgspec
from msgspec import Struct, structs

from kubectl_kres.admission.base.draft import Unparsable, parse_list
from kubectl_kres.admission.base.server import Server
from kubectl_kres.admission.limitrange import Limits
from kubectl_kres.admission.quota.quota_admission import MUST_SPECIFY, Quota, QuotaRequest, matching_quotas
from kubectl_kres.admission.quota.usage import IN_EVERY_NAMESPACE, counts_by_class, requirements
from kubectl_kres.admission.request.new_pod import Policies, policies_of
from kubectl_kres.model import objects
from kubectl_kres.provenance.journal import Assumption, OmittedObject, UncountedQuota, UnreadClasses, UnusedQuota
from kubectl_kres.reports.common.explanation import Demand
from kubectl_kres.store.store import ReadRequest, Store
from kubectl_kres.systems import registered_systems


class NamespacePolicies(Struct, frozen=True):
    """Policies ready for admission, what was assumed of them, and the reads that fell short."""

    policies: Policies
    assumptions: tuple[Assumption, ...]


class ExtendedPolicies(Struct, frozen=True):
    """Policies with what systems enforce, what was assumed, and the names of webhooks whose answers are computed so."""

    policies: Policies
    assumed: tuple[Assumption, ...] = ()
    computed: frozenset[str] = frozenset()


_KINDS = (
    "LimitRange", "ResourceQuota", "PriorityClass", "RuntimeClass", "StorageClass", "DeviceClass",
    "ResourceClaimTemplate",
)  # fmt: skip
_DEFAULT = ("storageclass.kubernetes.io/is-default-class", "storageclass.beta.kubernetes.io/is-default-class")
_MOST_TEXT = 500

#: A server as it comes: what files hold is evaluated by its rules unless another one is given.
_USUAL = Server()


def policies(store: Store, namespace: str, server: Server = _USUAL) -> NamespacePolicies:
    """Return the LimitRanges and quotas of ``namespace`` with the cluster's classes. A broken policy is left out and
    said.

    They are parsed again only where the store has changed.
    """
    kinds = (*_KINDS, *extending_kinds())
    return store.memo(("policies", namespace), kinds, server, lambda: _policies(store, namespace, server))


def _policies(store: Store, namespace: str, server: Server) -> NamespacePolicies:
    assumed: list[Assumption] = []
    ranges = [limit_range for limit_range in store.all("LimitRange", namespace)
              if _can_be_parsed(limit_range, assumed)
              and _can_be_stored(limit_range, store, server, assumed)]  # fmt: skip
    quotas = []
    for quota in store.all("ResourceQuota", namespace):
        settled = with_assumed_status(quota, store)
        if _can_be_parsed(settled, assumed, is_assumed=settled is not quota) and _can_be_stored(
            settled, store, server, assumed
        ):
            assumed += _state(quota, store)
            quotas.append(settled)
    priorities = _priorities(store, quotas, assumed)
    classes = _classes(store, "RuntimeClass", assumed)
    runtimes = None if classes is None else [_drop_invalid_overhead(runtime, assumed) for runtime in classes]
    policies = policies_of(ranges, quotas, priorities, runtimes)
    policies = structs.replace(
        policies,
        default_storage=default_storage_class(store) if counts_classes(quotas) else "",
        extended=extended_resources(store),
        expandable=_expandable(store),
        claim_templates={item.metadata.name: item for item in store.all("ResourceClaimTemplate", namespace)},
    )
    extension = extend(store, namespace, policies)
    return NamespacePolicies(extension.policies, (*assumed, *extension.assumed))


@cache
def extending_kinds() -> tuple[str, ...]:
    """Return the kinds that ``extend`` looks at."""
    return tuple(kind for system in registered_systems("reports") for kind in system.kinds.get("policies", ()))


def extend(store: Store, namespace: str, policies: Policies) -> ExtendedPolicies:
    """Return the policies with what all systems enforce on pods of the namespace."""
    extension = ExtendedPolicies(policies)
    for system in registered_systems("reports"):
        if system.admission is not None and system.admission.extend is not None:
            more = system.admission.extend(store, namespace, extension.policies)
            extension = ExtendedPolicies(
                more.policies, (*extension.assumed, *more.assumed), extension.computed | more.computed
            )
    return extension


def extended_resources(store: Store) -> dict[str, str]:
    """Return the extended resource that each device class stands for; classes without one are not in it."""
    return {
        item.metadata.name: item.spec.extended_resource_name
        for item in store.all("DeviceClass")
        if item.spec.extended_resource_name
    }


def _expandable(store: Store) -> dict[str, bool] | None:
    """Return, by storage class, whether its claims may grow; None where no class is known.

    A snapshot that does not say so of a class was taken by an older version: the class is taken to let claims grow.
    """
    unknown = store.origin.kind == "snapshot"
    classes = {
        item.metadata.name: unknown if item.allow_volume_expansion is None else item.allow_volume_expansion
        for item in store.all("StorageClass")
    }
    return classes if classes or store.covered(ReadRequest("StorageClass")).is_known else None


def _can_be_parsed(
    policy: objects.LimitRange | objects.ResourceQuota, assumed: list[Assumption], *, is_assumed: bool = False
) -> bool:
    """Return whether the object parses. ``is_assumed``: its status is copied from the spec of a file, so that errors
    are in the spec.
    """
    try:
        if isinstance(policy, objects.LimitRange):
            policies_of([policy], [])
        else:
            policies_of([], [policy])
    except Unparsable as fault:
        kind, path = type(policy).__name__, fault.path
        if is_assumed:
            path = path.replace("status.", "spec.", 1)
        left_out = OmittedObject(f"{kind}/{policy.metadata.name}", fault.error.message, path)
        assumed.append(Assumption(kind, "policy/unparsable", left_out))
        return False
    return True


def _can_be_stored(
    policy: objects.LimitRange | objects.ResourceQuota, store: Store, server: Server, assumed: list[Assumption]
) -> bool:
    """Return whether the server would store what comes from a file; what is in the cluster was stored."""
    ref = objects.ObjectRef(type(policy).__name__, policy.metadata.name, policy.metadata.namespace)
    if ref not in store.files:
        return True
    from kubectl_kres.admission.request.create import create

    raw: dict[str, Any] = msgspec.to_builtins(policy, enc_hook=str)
    refusal = create({"apiVersion": "v1", **raw, "kind": ref.kind}, Policies(), server)[0].refusal
    if refusal is None:
        return True
    text = refusal.message if len(refusal.message) <= _MOST_TEXT else f"{refusal.message[:_MOST_TEXT]}…"
    assumed.append(Assumption(ref.kind, "policy/refused", OmittedObject(str(ref), text)))
    return False


def _drop_invalid_overhead(runtime: objects.RuntimeClass, assumed: list[Assumption]) -> objects.RuntimeClass:
    """Return the class, without an overhead that no server would have stored."""
    try:
        parse_list(runtime.overhead.pod_fixed if runtime.overhead else None, "overhead.podFixed")
    except Unparsable as fault:
        ref = f"RuntimeClass/{runtime.metadata.name}"
        left_out = OmittedObject(ref, fault.error.message, fault.path, overhead=True)
        assumed.append(Assumption("RuntimeClass", "policy/unparsable", left_out))
        return structs.replace(runtime, overhead=None)
    return runtime


def with_assumed_status(quota: objects.ResourceQuota, store: Store) -> objects.ResourceQuota:
    """Return the quota with a status: a quota from a file counts as settled, with no more used than every namespace
    has.
    """
    if quota.status.hard or not quota.spec.hard or not from_file(quota, store):
        return quota
    used = {name: "1" if name in IN_EVERY_NAMESPACE else "0" for name in quota.spec.hard}
    return structs.replace(quota, status=objects.ResourceQuotaStatus(quota.spec.hard, used))


def from_file(quota: objects.ResourceQuota, store: Store) -> bool:
    """Return whether the object is only in a file and not on a server yet."""
    return objects.ObjectRef("ResourceQuota", quota.metadata.name, quota.metadata.namespace) in store.files


def _state(quota: objects.ResourceQuota, store: Store) -> Iterator[Assumption]:
    """Yield what is assumed about a quota without status: a stored one enforces nothing yet."""
    if quota.status.hard or not quota.spec.hard:
        return
    path = f"ResourceQuota/{quota.metadata.name}"
    if from_file(quota, store):
        existing = sorted({IN_EVERY_NAMESPACE[name] for name in quota.spec.hard if name in IN_EVERY_NAMESPACE})
        yield Assumption(path, "quota/from-file", UnusedQuota(path, tuple(existing)))
    else:
        yield Assumption(path, "quota/no-status", UncountedQuota(path))


def counts_classes(quotas: Iterable[objects.ResourceQuota]) -> bool:
    """Return whether a quota counts by storage class: the classes are read for such quotas."""
    return any(counts_by_class(quota.spec.hard or ()) for quota in quotas)


def default_storage_class(store: Store) -> str:
    """Return the newest of the default storage classes; empty: there is none.

    Source: pkg/volume/util storageclass.go GetDefaultClass.
    """
    marked = [
        storage_class
        for storage_class in store.all("StorageClass")
        if any((storage_class.metadata.annotations or {}).get(key) == "true" for key in _DEFAULT)
    ]
    marked.sort(key=lambda value: value.metadata.creation_timestamp or "", reverse=True)
    return marked[0].metadata.name if marked else ""


def _priorities(
    store: Store, quotas: list[objects.ResourceQuota], assumed: list[Assumption]
) -> tuple[objects.PriorityClass, ...] | None:
    """Return the PriorityClasses. The default among them is left out where no quota counts by it.

    It is read only for such quotas: an answer must not change with what else happens to be in the store.
    """
    classes = _classes(store, "PriorityClass", assumed)
    if classes is None or any(selects_priority(quota) for quota in quotas):
        return classes
    return tuple(structs.replace(class_, global_default=False) for class_ in classes)


def _classes(store: Store, kind: str, assumed: list[Assumption]) -> tuple[Any, ...] | None:
    """Return all classes of a kind; None where one that is not in the store may still exist."""
    states = [coverage for read, coverage in store.coverages().items() if read.kind == kind]
    result = tuple(store.all(kind))
    if states and all(coverage.is_known for coverage in states):
        return result
    if states:
        assumed.append(Assumption(kind, "class/unread", UnreadClasses(kind)))
    return None


def selects_priority(quota: objects.ResourceQuota) -> bool:
    """Return whether a quota counts by PriorityClass, so that also the default class of pods that name none matters."""
    return any(requirement.scope_name == "PriorityClass" for requirement in requirements(quota.spec))


def demands(quotas: Sequence[Quota], limits: Iterable[Limits]) -> Iterator[Demand]:
    """Yield the rule of each quota that has it, for any pod in its scopes; ``unfilled``: names without a default."""
    filled = set(_defaulted_names(limits))
    for quota in quotas:
        names = tuple(sorted(MUST_SPECIFY & set(quota.hard)))
        if names:
            yield Demand(quota.name, names, tuple(name for name in names if name not in filled))


def _defaulted_names(limits: Iterable[Limits]) -> Iterator[str]:
    """Yield the names of quotas that the defaults of LimitRanges state for a container. A limit becomes the request,
    too.
    """
    for limit in limits:
        for item in limit.items:
            if item.type == "Container":
                yield from (f"limits.{name}" for name in item.default)
                for name in {*item.default, *item.default_request}:
                    yield from (f"requests.{name}", name)


def demands_on_pod(request: QuotaRequest, quotas: Sequence[Quota]) -> Iterator[Demand]:
    """Yield the rule of each quota that concerns a pod, with the containers that fail it; none where it is lifted.

    Source: evaluator/core/pods.go Constraints.
    """
    if request.containers is None:
        return
    for quota in matching_quotas(request, quotas):
        names = tuple(sorted(MUST_SPECIFY & set(quota.hard)))
        lacking = {
            name: tuple(sorted({container for container, stated in request.containers if name not in stated}))
            for name in names
        }
        if names:
            yield Demand(quota.name, names, missing={name: holders for name, holders in lacking.items() if holders})
