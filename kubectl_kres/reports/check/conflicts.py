"""Rules about LimitRanges, quotas and pools that contradict each other or reach nothing: codes KRES201 to KRES299.

- KRES201: the bounds of LimitRanges leave no value.
- KRES202: the default of a LimitRange is refused by its own bounds, or by those of another.
- KRES203: the defaults of a LimitRange break its ratio.
- KRES204: the min of containers is over the max of pods.
- KRES205: LimitRanges give different defaults.
- KRES206: a quota requires a value on every container, and no LimitRange gives one.
- KRES207: the min of containers is over the hard of a quota.
- KRES208: a quota that refuses the pods of TaskRuns for the containers that Tekton adds.
- KRES209: a name of a quota that nothing is ever counted for.
- KRES210: a quota whose scope selects no pod that there can be.
- KRES211: two resource pools limit the same resource in the same namespace.
- KRES212: a resource pool that serves no namespace.
- KRES213: a namespace in which a resource pool allows nothing, since nobody has claimed.
- KRES214: a quota names what pods need not state.
- The rules that find one kind of conflict among LimitRanges and quotas.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from difflib import get_close_matches

from kubectl_kres.admission.quota.usage import IGNORED, claim_names
from kubectl_kres.capsule.model import ResourcePool
from kubectl_kres.capsule.reports.common.amount_lists import parse_amounts
from kubectl_kres.capsule.rules.assignment import fault, fits, is_active, is_empty, is_usable
from kubectl_kres.model.objects import Namespace, ObjectRef
from kubectl_kres.reports.check.context import CheckContext, Rule
from kubectl_kres.reports.check.finding import Diagnostic
from kubectl_kres.reports.namespace.allowed_ranges import ConflictKind
from kubectl_kres.reports.quota.quota_report import optional_names
from kubectl_kres.simulate.cluster import with_name_label
from kubectl_kres.store.store import ReadRequest


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


_RUNS = ("TaskRun", "PipelineRun")


def find_quota_of_runs(context: CheckContext) -> Iterator[Diagnostic]:
    """Yield the quotas that require what no LimitRange gives, in namespaces with runs."""
    runs = any(subject.ref.kind in _RUNS for subject in context.subjects)
    if not runs and not any(any(True for _ in context.store.all(kind, context.namespace)) for kind in _RUNS):
        return
    for demand in context.demands:
        if demand.unfilled:
            ref = ObjectRef("ResourceQuota", demand.quota, context.namespace)
            yield Diagnostic(ref, {"names": ", ".join(demand.unfilled)}, f"spec.hard[{demand.unfilled[0]}]")


QUOTA_OF_RUNS = Rule(
    code="KRES208",
    title="a quota refuses the containers that Tekton adds",
    severity="warning",
    reason="Tekton adds containers of its own to the pod of a TaskRun, and they state nothing: the quota "
    "refuses the pod however well the steps are written.",
    remedy="Add a LimitRange with a default for it, or set default-container-resource-requirements in "
    "Tekton's config-defaults.",
    message="it requires {names} on every container, and the containers that Tekton adds state none",
    find=find_quota_of_runs,
)


#: What ``count/`` may be followed by, of the groups whose kinds no server adds to.
_COUNTED = {
    "": "configmaps endpoints limitranges persistentvolumeclaims pods podtemplates replicationcontrollers "
    "resourcequotas secrets serviceaccounts services",
    "apps": "controllerrevisions daemonsets deployments replicasets statefulsets",
    "batch": "cronjobs jobs",
}
#: The same as the server writes them, by plural.
_BY_PLURAL = {
    plural: f"{plural}{f'.{group}' if group else ''}" for group, text in _COUNTED.items() for plural in text.split()
}
#: Groups of the API server itself that stand in no domain: a further one has at least one dot.
_OWN_GROUPS = frozenset({"", "apps", "batch", "autoscaling", "policy", "extensions"})
_SERVICES = ("services.loadbalancers", "services.nodeports")
_STORAGE_CLASS, _OF_STORAGE = ".storageclass.storage.k8s.io/", ("requests.storage", "persistentvolumeclaims")
_DEVICE_CLASS = ".deviceclass.resource.k8s.io/"
#: Before what is said of a name where no other one is meant.
_NONE = "none: "
_NO_KIND = "the plural and the group of a kind that the server has"


def find_unknown_names(context: CheckContext) -> Iterator[Diagnostic]:
    """Yield names of quotas that no object counts for."""
    for quota in context.store.all("ResourceQuota", context.namespace):
        used = quota.status.used or {}
        for name in sorted({**(quota.spec.hard or {}), **(quota.status.hard or {})}):
            suggestion = meant_name(name)
            if not suggestion and used and name not in used and name.startswith("count/"):
                # The quota controller leaves out of its status what no kind of the server counts for.
                suggestion = _NO_KIND
            if suggestion:
                ref = ObjectRef("ResourceQuota", quota.metadata.name, context.namespace)
                yield Diagnostic(ref, {"name": name, "meant": _suggestion_text(suggestion)}, f"spec.hard[{name}]")


def _suggestion_text(suggestion: str) -> str:
    return suggestion.removeprefix(_NONE) if suggestion.startswith(_NONE) else f"meant may be {suggestion}"


def meant_name(name: str) -> str:
    """Return the name that was probably meant, which limits something; empty for a name that something may count
    for.
    """
    if name.startswith("count/"):
        return _meant_count(name.removeprefix("count/"))
    if _STORAGE_CLASS in name:
        head, _, tail = name.partition(_STORAGE_CLASS)
        bare = head.removeprefix("requests.").removeprefix("limits.")
        if bare == head and tail in _OF_STORAGE:
            return ""
        owner_text = (
            _OF_STORAGE[1] if tail.startswith(("persistentvolume", "pvc", "count", "claim")) else _OF_STORAGE[0]
        )
        return f"{bare}{_STORAGE_CLASS}{owner_text}"
    if _DEVICE_CLASS in name:
        return (
            ""
            if name.endswith(f"{_DEVICE_CLASS}devices")
            else f"{name.partition(_DEVICE_CLASS)[0]}{_DEVICE_CLASS}devices"
        )
    if "/" not in name or name.startswith("requests.") or claim_names([name]):
        return ""
    return f"requests.{name.removeprefix('limits.')}"


def _meant_count(resource: str) -> str:
    """Return the name that was probably meant after ``count/``."""
    plural, _, group = resource.partition(".")
    if resource in IGNORED:
        return f"{_NONE}the server never counts these objects"
    if group in _COUNTED and plural in _COUNTED[group].split():
        return ""
    if group not in _OWN_GROUPS and "." in group:
        return ""
    for service_name in _SERVICES:
        if service_name in {resource, f"services.{resource}", f"services.{resource}s"}:
            return service_name
    names_by_singular = {entry.rstrip("s"): full for entry, full in _BY_PLURAL.items()}
    close = names_by_singular.get(plural.lower().rstrip("s"))
    if close is not None and close not in IGNORED:
        return f"count/{close}"
    near = get_close_matches(plural.lower(), [*_BY_PLURAL], 1, 0.8)
    if near and _BY_PLURAL[near[0]] not in IGNORED:
        return f"count/{_BY_PLURAL[near[0]]}"
    return "" if group in {"autoscaling", "policy", "extensions"} else _NO_KIND


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


def find_pools_overlap(context: CheckContext) -> Iterator[Diagnostic]:
    """Yield each pair of overlapping pools once, at the pool whose name comes first."""
    index = context.pools
    of_space: dict[str, list[str]] = {}
    for name in sorted(index.pools):
        for space in index.spaces(index.pools[name]):
            of_space.setdefault(space, []).append(name)
    pairs: dict[tuple[str, str], list[str]] = {}
    for space in sorted(of_space):
        names = of_space[space]
        for position, first in enumerate(names):
            for second in names[position + 1 :]:
                pairs.setdefault((first, second), []).append(space)
    for (first, second), spaces in pairs.items():
        both = sorted(index.hard(index.pools[first]).keys() & index.hard(index.pools[second]).keys())
        if both:
            values = {"other": second, "resources": ", ".join(both), "namespaces": ", ".join(spaces[:5])}
            yield Diagnostic(ObjectRef("ResourcePool", first), values, "spec.selectors")


POOLS_OVERLAP = Rule(
    code="KRES211",
    title="resource pools overlap",
    severity="warning",
    reason="Each pool keeps a quota in the namespace, and a pod must fit both: the room of one pool is of no "
    "use without the other's.",
    remedy="Let the selectors of the pools match different namespaces, or share out different resources.",
    message="pool {other} also limits {resources} in {namespaces}",
    find=find_pools_overlap,
    scope="cluster",
)


def find_selects_nothing(context: CheckContext) -> Iterator[Diagnostic]:
    """Yield pools without selectors, and selectors that are skipped or match nothing."""
    is_known = context.store.covered(ReadRequest("Namespace")).is_known
    spaces = (
        [with_name_label(namespace) for namespace in context.store.all("Namespace") if is_active(namespace)]
        if is_known
        else None
    )
    for name, pool in sorted(context.pools.pools.items()):
        for path, reason in _idle(pool, spaces):
            yield Diagnostic(ObjectRef("ResourcePool", name), {"why": reason}, path)


def _idle(pool: ResourcePool, spaces: list[Namespace] | None) -> Iterator[tuple[str, str]]:
    """Yield each pool and namespace without a claim. ``spaces`` None: they could not be read."""
    if not pool.spec.selectors:
        yield "spec.selectors", "it has no selectors, and without one a pool selects nothing"
    for index, selector in enumerate(pool.spec.selectors or ()):
        path = f"spec.selectors[{index}]"
        if is_empty(selector):
            yield path, f"{path} is empty, and an empty selector of a pool selects nothing"
        elif fault(selector):
            yield path, f"{path} does not parse and is skipped: {fault(selector)}"
        elif (
            spaces is not None
            and is_usable(selector)
            and not any(fits(selector, idle_pool.metadata.labels or {}) for idle_pool in spaces)
        ):
            yield path, f"{path} matches no namespace"


SELECTS_NOTHING = Rule(
    code="KRES212",
    title="a resource pool selects nothing",
    severity="warning",
    reason="Claims of the namespaces that were meant get no pool, and wait.",
    remedy="Correct the selector, or label the namespaces.",
    message="{why}",
    find=find_selects_nothing,
    scope="cluster",
)


def find_nothing_claimed(context: CheckContext) -> Iterator[Diagnostic]:
    """Yield pools that set 0 where there is no claim, with each such namespace."""
    for name, pool in sorted(context.pools.pools.items()):
        if not pool.spec.config.defaults_zero:
            continue
        claims, defaults = pool.status.claims or {}, parse_amounts(pool.spec.defaults)
        names = [name for name in sorted(context.pools.hard(pool)) if not defaults.get(name)]
        for space in sorted(context.pools.spaces(pool)):
            if names and not claims.get(space):
                values = {"pool": name, "resources": ", ".join(names)}
                yield Diagnostic(ObjectRef("Namespace", space), values)


NOTHING_CLAIMED = Rule(
    code="KRES213",
    title="a pool allows nothing in a namespace without a claim",
    severity="warning",
    reason="With defaultsZero the pool's quota is 0 until a claim is allocated: every pod of the namespace is refused.",
    remedy="Create a ResourcePoolClaim in the namespace (claims --for writes one).",
    message="pool {pool} allows 0 of {resources} in it: no claim is allocated there",
    find=find_nothing_claimed,
    scope="cluster",
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
    QUOTA_OF_RUNS,
    UNKNOWN_NAMES,
    EMPTY_SCOPE,
    POOLS_OVERLAP,
    SELECTS_NOTHING,
    NOTHING_CLAIMED,
    OPTIONAL_VALUES,
)
