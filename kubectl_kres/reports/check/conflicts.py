"""Rules about LimitRanges and quotas that contradict each other or reach nothing: codes KRES201 to KRES299.

- KRES201: the bounds of LimitRanges leave no value.
- KRES202: the default of a LimitRange is refused by its own bounds, or by those of another.
- KRES203: the defaults of a LimitRange break its ratio.
- KRES204: the min of containers is over the max of pods.
- KRES205: LimitRanges give different defaults.
- KRES206: a quota requires a value on every container, and no LimitRange gives one.
- KRES207: the min of containers is over the hard of a quota.
- KRES209: a name of a quota that nothing is ever counted for.
- KRES210: a quota whose scope selects no pod that there can be.
- KRES214: a quota names what pods need not state.
- KRES218: an amount of a quota or a LimitRange that the server stores in another notation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from kubectl_kres.errors import QuantityError
from kubectl_kres.model.objects import LimitRange, ObjectRef, ResourceQuota
from kubectl_kres.quantity import stored_quantity
from kubectl_kres.reports.check.context import CheckContext, Rule
from kubectl_kres.reports.check.finding import Diagnostic
from kubectl_kres.reports.namespace.allowed_ranges import ConflictKind
from kubectl_kres.reports.quota.quota_report import optional_names
from kubectl_kres.reports.quota.uncounted_names import uncounted_name
from kubectl_kres.store.store import ReadRequest
from kubectl_kres.wording import join_words


def conflicts_of_kind(kind: ConflictKind) -> Callable[[CheckContext], Iterator[Diagnostic]]:
    """Return a function that yields conflicts of one kind, at the first object in conflict that is selected."""

    def find(context: CheckContext) -> Iterator[Diagnostic]:
        for conflict in context.conflicts:
            if conflict.kind != kind:
                continue
            for source in conflict.sources:
                ref = ObjectRef(source.kind, source.name, context.namespace)
                if context.selects(ref):
                    yield Diagnostic(ref, {"conflict": conflict.text}, source.field)
                    break

    return find


DEFAULT_OUTSIDE = Rule(
    code="KRES202",
    title="a default is out of bounds",
    severity="error",
    reason="Containers that state nothing get a default that a LimitRange refuses: each of them must state its own.",
    remedy="Give the LimitRange a default within the bounds.",
    message="{conflict}",
    find=conflicts_of_kind("default-outside"),
)


RATIO = Rule(
    code="KRES203",
    title="the defaults are further apart than the ratio",
    severity="error",
    reason="Containers that state nothing get a limit and a request that maxLimitRequestRatio refuses.",
    remedy="Bring default and defaultRequest closer together, or raise maxLimitRequestRatio.",
    message="{conflict}",
    find=conflicts_of_kind("ratio"),
)


POD_BELOW_CONTAINER = Rule(
    code="KRES204",
    title="a container needs more than a pod may have",
    severity="error",
    reason="The min of type Container is over the max of type Pod: no pod is admitted.",
    remedy="Lower the min of type Container or raise the max of type Pod.",
    message="{conflict}",
    find=conflicts_of_kind("pod-below-container"),
)


ORDER_OF_DEFAULTS = Rule(
    code="KRES205",
    title="the order of LimitRanges decides about a default",
    severity="warning",
    reason="The API server reads several LimitRanges in an arbitrary order: the same pod gets one default "
    "today and another tomorrow.",
    remedy="Keep one LimitRange a namespace, or give all of them the same defaults.",
    message="{conflict}",
    find=conflicts_of_kind("order"),
)


def find_unmet_requirement(context: CheckContext) -> Iterator[Diagnostic]:
    """Yield the quotas that refuse a pod without requests or limits of its own."""
    for demand in context.demands:
        if demand.unfilled:
            ref = ObjectRef("ResourceQuota", demand.quota, context.namespace)
            yield Diagnostic(ref, {"names": ", ".join(demand.unfilled)}, "spec.hard")


UNMET_REQUIREMENT = Rule(
    code="KRES206",
    title="a quota requires what nothing gives",
    severity="note",
    reason='Every container must state the value itself: a pod that relies on defaults is refused with "must specify".',
    remedy="Add a LimitRange with a default for it.",
    message="it requires {names} on every container, and no LimitRange gives a default",
    find=find_unmet_requirement,
)


QUOTA_TOO_SMALL = Rule(
    code="KRES207",
    title="a quota is smaller than one container",
    severity="error",
    reason="The smallest container that a LimitRange admits is more than the quota has in total: no pod is admitted.",
    remedy="Raise the quota or lower the min.",
    message="{conflict}",
    find=conflicts_of_kind("quota-too-small"),
)


def find_unknown_names(context: CheckContext) -> Iterator[Diagnostic]:
    """Yield names of quotas that no object counts for."""
    for quota in context.store.all("ResourceQuota", context.namespace):
        for name in sorted({**(quota.spec.hard or {}), **(quota.status.hard or {})}):
            if meant := uncounted_name(name, quota.status.used or {}):
                ref = ObjectRef("ResourceQuota", quota.metadata.name, context.namespace)
                yield Diagnostic(ref, {"name": name, "meant": meant}, f"spec.hard[{name}]")


UNKNOWN_NAMES = Rule(
    code="KRES209",
    title="a quota name that nothing counts for",
    severity="warning",
    reason="The API server stores the quota and never enforces the name: what looks limited is not.",
    remedy="Correct the name, or take it out of the quota.",
    message="{name} limits nothing: {meant}",
    find=find_unknown_names,
)


def find_empty_scope(context: CheckContext) -> Iterator[Diagnostic]:
    """Yield quotas of PriorityClasses of which none exists."""
    if not context.store.covered(ReadRequest("PriorityClass")).is_known:
        return
    existing = {priority_class.metadata.name for priority_class in context.store.all("PriorityClass")}
    for quota in context.quotas:
        for scope in quota.scopes:
            wanted = tuple(scope.values or ())
            if scope.scope_name == "PriorityClass" and scope.operator == "In" and not existing & {*wanted}:
                ref = quota.source.ref
                yield Diagnostic(ref, {"classes": ", ".join(wanted)}, "spec.scopeSelector")


EMPTY_SCOPE = Rule(
    code="KRES210",
    title="a quota scope that matches nothing",
    severity="warning",
    reason="The quota counts only pods of PriorityClasses that do not exist: it never limits anything.",
    remedy="Name a PriorityClass that exists (kubectl get priorityclasses), or create it.",
    message="it counts only pods of PriorityClass {classes}, and there is no such class",
    find=find_empty_scope,
)


def find_optional_values(context: CheckContext) -> Iterator[Diagnostic]:
    """Yield the names of quotas that a pod without a value passes; nothing where LimitRanges were not read."""
    if any(failed_read.kind == "LimitRange" for failed_read in context.unread):
        return
    limit_ranges = tuple(context.store.all("LimitRange", context.namespace))
    for quota in context.store.all("ResourceQuota", context.namespace):
        names = sorted(optional_names(quota.spec.hard or (), limit_ranges))
        if names:
            ref = ObjectRef("ResourceQuota", quota.metadata.name, context.namespace)
            yield Diagnostic(ref, {"names": " and ".join(names)}, f"spec.hard[{names[0]}]")


OPTIONAL_VALUES = Rule(
    code="KRES214",
    title="a quota that pods get past by stating nothing",
    severity="note",
    reason="Only cpu and memory have to be stated where a quota names them. A pod that states no ephemeral-storage "
    "costs the quota nothing and may use all of its node's disk.",
    remedy="Add a LimitRange with default.ephemeral-storage.",
    message="{names}: a pod that states no value costs nothing and is admitted, and no LimitRange gives a default",
    find=find_optional_values,
)


def find_rewritten_amounts(context: CheckContext) -> Iterator[Diagnostic]:
    """Yield the quotas and LimitRanges of files with amounts that the server writes otherwise, as 1000M."""
    for kind in ("ResourceQuota", "LimitRange") if context.of_files else ():
        for item in context.store.all(kind, context.namespace):
            ref = ObjectRef(kind, item.metadata.name, context.namespace)
            rewritten = list(_rewritten(item)) if context.selects(ref) else []
            if rewritten:
                texts = join_words([f"{name} {text} as {stored}" for _, name, text, stored in rewritten])
                yield Diagnostic(ref, {"amounts": texts}, rewritten[0][0])


def _rewritten(item: ResourceQuota | LimitRange) -> Iterator[tuple[str, str, str, str]]:
    """Yield path, resource, the amount as written, and as the server stores it."""
    groups: list[tuple[str, Mapping[str, Any] | None]] = []
    if isinstance(item, ResourceQuota):
        groups.append(("spec.hard", item.spec.hard))
    else:
        for index, bounds in enumerate(item.spec.limits or ()):
            path = f"spec.limits[{index}]"
            groups += [(f"{path}.max", bounds.max), (f"{path}.min", bounds.min), (f"{path}.default", bounds.default)]
            groups.append((f"{path}.defaultRequest", bounds.default_request))
            groups.append((f"{path}.maxLimitRequestRatio", bounds.max_limit_request_ratio))
    for path, amounts in groups:
        for name, text in (amounts or {}).items():
            try:
                stored = str(stored_quantity(text))
            except QuantityError:
                continue
            if stored != str(text):
                yield f"{path}[{name}]", name, str(text), stored


REWRITTEN_AMOUNTS = Rule(
    code="KRES218",
    title="an amount that the server writes otherwise",
    severity="note",
    reason="The amount is the same. What compares the texts of the file and of the cluster, as some GitOps controllers "
    "do, never finds the object in sync.",
    remedy="Write it as the server does.",
    message="the server stores {amounts}",
    find=find_rewritten_amounts,
)


EMPTY_RANGE = Rule(
    code="KRES201",
    title="no value is allowed",
    severity="error",
    reason="Two LimitRanges, or one, ask for more than they allow: no container, pod or claim can state a "
    "value that passes.",
    remedy="Lower the min or raise the max.",
    message="{conflict}",
    find=conflicts_of_kind("empty-range"),
)

RULES = (
    EMPTY_RANGE,
    DEFAULT_OUTSIDE,
    RATIO,
    POD_BELOW_CONTAINER,
    ORDER_OF_DEFAULTS,
    UNMET_REQUIREMENT,
    QUOTA_TOO_SMALL,
    UNKNOWN_NAMES,
    EMPTY_SCOPE,
    OPTIONAL_VALUES,
    REWRITTEN_AMOUNTS,
)
