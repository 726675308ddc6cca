"""The tree of quota usage: namespace, quota, workload, pod, value, each with its share.

It also says which kinds quotas count, the amounts of each object, and who it belongs to.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Any, NamedTuple

from msgspec import structs

from kubectl_kres.admission.base.draft import Draft, Quantities, draft_pod
from kubectl_kres.admission.base.server import Server
from kubectl_kres.admission.pod.aggregate import add_into, explain_total, sum_pod
from kubectl_kres.admission.quota import quota_admission
from kubectl_kres.admission.quota.usage import DEVICES, IGNORED, may_count_devices
from kubectl_kres.errors import KresError
from kubectl_kres.model.kinds import BY_KIND, KINDS, Kind
from kubectl_kres.model.objects import ObjectRef, ResourceQuota
from kubectl_kres.model.pod import Pod
from kubectl_kres.model.workload_kinds import MADE_BY
from kubectl_kres.provenance.journal import Source, Term
from kubectl_kres.quantity import parse
from kubectl_kres.record import Record, Wording
from kubectl_kres.reports.common.effective_policies import extended_resources
from kubectl_kres.reports.common.explanation import EvaluationOptions, ResourceValue, Subject
from kubectl_kres.reports.common.owners import controller
from kubectl_kres.reports.explain.explain import analysis_of
from kubectl_kres.reports.pod.needs import PodOrigin, list_read_requests, pod_origin
from kubectl_kres.reports.pod.resource_view import instance_key
from kubectl_kres.reports.pod.values import ValueTable
from kubectl_kres.store.store import ReadRequest, Store

#: Names of quotas that count objects of kinds which are not read here: a prefix, or the old names.
_COUNT = "count/"
_OLD_NAMES = frozenset({"configmaps", "secrets", "resourceclaims"})

_HASH = "pod-template-hash"


class CountedAmounts(NamedTuple):
    """An object with the amounts that quotas count for it."""

    item: Any
    request: quota_admission.QuotaRequest


#: Resource (plural with its group) to its objects in one namespace; None: they could not be read.
CountedObjects = Mapping[str, Sequence[CountedAmounts] | None]


def counting_kinds(quotas: Iterable[ResourceQuota], server: Server) -> tuple[Kind, ...]:
    """Return the kinds whose objects count for a name of the quotas, as far as those are kinds that are read.

    Claims on devices are among them where a device class may stand for a name.
    """
    hard = {name: None for quota in quotas for name in (*(quota.spec.hard or ()), *(quota.status.hard or ()))}
    devices = server.is_enabled("DynamicResourceAllocation") and may_count_devices(hard)
    return tuple(
        kind
        for kind in KINDS
        if kind.listed
        and kind.qualified_name not in IGNORED
        and (
            (devices and kind.qualified_name == quota_admission.RESOURCE_CLAIMS)
            or quota_admission.names_of(kind.qualified_name, server)(hard)
        )
    )


def counting_needs(quotas: Iterable[ResourceQuota], server: Server, namespace: str) -> tuple[ReadRequest, ...]:
    """Return the reads that a recount of quotas in one namespace (empty: in all namespaces) depends on."""
    kinds = counting_kinds(quotas, server)
    classes = (
        [ReadRequest("DeviceClass")]
        if any(kind.qualified_name == quota_admission.RESOURCE_CLAIMS for kind in kinds)
        else []
    )
    return (*(ReadRequest(kind.kind, namespace) for kind in kinds), *classes)


def objects_of(
    store: Store, quotas: Iterable[ResourceQuota], namespace: str, options: EvaluationOptions
) -> CountedObjects:
    """Return the counted objects of one namespace; some may be missing: see ``read_whole``.

    Raises Unparsable for an object of a file that no server would store.
    """
    now = datetime.fromisoformat(options.now) if options.now else None
    pods = quota_admission.PodRequests(options.server, now)
    of_other = partial(quota_admission.request_of, server=options.server, now=now, extended=extended_resources(store))
    return {
        kind.qualified_name: tuple(
            CountedAmounts(item, pods.request_of(item) if isinstance(item, Pod) else of_other(item))
            for item in store.all(kind.kind, namespace)
        )
        if store.covered(ReadRequest(kind.kind, namespace)).has_all_objects
        and (
            kind.qualified_name != quota_admission.RESOURCE_CLAIMS or store.covered(ReadRequest("DeviceClass")).is_known
        )
        else None
        for kind in counting_kinds(quotas, options.server)
    }


def read_whole(store: Store, objects: CountedObjects, namespace: str) -> CountedObjects:
    """Return the objects of the kinds of which none is missing, so that they can be summed up; None for others."""
    kinds = {kind.qualified_name: kind.kind for kind in KINDS}
    return {
        name: counted if store.covered(ReadRequest(kinds[name], namespace)).is_known else None
        for name, counted in objects.items()
    }


def unreadable(
    quota: ResourceQuota, objects: CountedObjects, server: Server, extended: Mapping[str, str]
) -> dict[str, str]:
    """Return the names of a quota whose objects are not known, with the kind that is missing."""
    hard = tuple(quota.spec.hard or ())
    counted = {name for resource in objects for name in quota_admission.names_of(resource, server, extended)(hard)}
    missing = {name: resource for resource, pairs in objects.items() if pairs is None
               for name in quota_admission.names_of(resource, server, extended)(hard)}  # fmt: skip
    if quota_admission.RESOURCE_CLAIMS in objects and objects[quota_admission.RESOURCE_CLAIMS] is None:
        # For which names devices count is not known either.
        missing.update({name: quota_admission.RESOURCE_CLAIMS for name in hard if may_count_devices([name])})
    for name in hard:
        if name.removeprefix(_COUNT) in IGNORED:
            continue
        if name not in counted and (name.startswith(_COUNT) or name in _OLD_NAMES or name.endswith(DEVICES)):
            missing[name] = name.removeprefix(_COUNT)
    return missing


def owner_needs(store: Store, namespace: str) -> tuple[ReadRequest, ...]:
    """Return the reads that say who made the owners of the pods in the store; an answer without them names the
    owners.
    """
    owning = {controller(pod)[0] for pod in store.all("Pod", namespace or None)}
    return tuple(ReadRequest(kind, namespace, required=False) for kind in MADE_BY if kind in owning)


def workload_of(pod: Pod, store: Store | None = None) -> str:
    """Return ``Deployment/web``: the maker of the pod, or the maker of its ReplicaSet or Job, where ``store`` holds it.

    Else a ReplicaSet with its pods' hash in its name is a Deployment's. A pod without a controller is its own workload.
    """
    kind, name = controller(pod)
    owner = store.get(kind, name, pod.metadata.namespace) if store is not None and kind in MADE_BY else None
    if owner is not None:
        above, title = controller(owner)
        return f"{above}/{title}" if above else f"{kind}/{name}"
    suffix = f"-{(pod.metadata.labels or {}).get(_HASH, '')}"
    if kind == "ReplicaSet" and len(suffix) > 1 and name.endswith(suffix):
        return f"Deployment/{name.removesuffix(suffix)}"
    return f"{kind}/{name}" if kind else f"Pod/{pod.metadata.name}"


def owner_of(item: Any, by: str, store: Store) -> str:
    """Return the user of an object's amounts: by ``workload``, ``pod`` or ``priority``."""
    if not isinstance(item, Pod):
        return f"{item.kind}/{item.metadata.name}"
    if by == "priority":
        name = item.spec.priority_class_name
        return f"PriorityClass/{name}" if name else "no priority class"
    return workload_of(item, store) if by == "workload" else f"Pod/{item.metadata.name}"


def flatten_objects(objects: CountedObjects) -> Iterator[CountedAmounts]:
    """Yield all known objects, kind by kind."""
    for pairs in objects.values():
        yield from pairs or ()


_SIDES = ("requests", "limits")
#: Names of quotas that mean requests although they do not say so.
_PLAIN = ("cpu", "memory", "ephemeral-storage")
_OVERHEAD = "spec.overhead["
#: What explains how a pod fares, and sets no value.
_BESIDE = frozenset({"Pod", "Event", "Node", "HorizontalPodAutoscaler"})
#: Role and name of a container, and the value that it has today.
_Value = tuple[tuple[str, str], ResourceValue]


class SetBy(Record, frozen=True):
    """The setter of a value: the rule, and the object and field that it read.

    ``note``: why the value is not what admission would set today; then there is no rule. All empty: not known.
    """

    rule: str = ""
    source: Source | None = None
    note: Wording = ""


class UsageNode(Record, frozen=True):
    """A part of the usage. ``name``: an object as ``Kind/name``; for a value the container that has it. ``name``: an
    object as ``Kind/name``; of a value the container that has it.

    ``role``: of a value: ``container``, ``sidecar``, ``init``, ``pod`` for the pod level, ``overhead`` for what a
    RuntimeClass adds; empty: not known. ``usage``: by the quota's names; ``percents``: of what the root uses of each,
    in whole hundredths. ``pods``: how many they are. ``subject``: absent for a value. ``hard``: of a quota. ``claims``:
    whose amounts make that hard, of a quota that a pool keeps. ``set_by``: of a value, by name. ``children``: its
    parts, the largest first.
    """

    name: str
    usage: Mapping[str, str]
    percents: Mapping[str, int] = {}
    role: str = ""
    pods: int = 0
    subject: ObjectRef | None = None
    hard: Mapping[str, str] = {}
    claims: tuple[str, ...] = ()
    set_by: Mapping[str, SetBy] = {}
    children: tuple[UsageNode, ...] = ()


def workload_nodes(
    store: Store,
    quota: ResourceQuota,
    counted: Iterable[CountedAmounts],
    names: Iterable[str],
    options: EvaluationOptions,
) -> tuple[UsageNode, ...]:
    """Return the workloads and other objects that are counted, with their pods and the pods' values; without shares.

    ``counted``: those of the quota's namespace that are in its scopes.
    """
    space, hard = quota.metadata.namespace, frozenset(names)
    setters = _Setters(store, options)
    sums: dict[str, Quantities] = {}
    parts: dict[str, list[UsageNode]] = {}
    for item, request in counted:
        usage = {name: value for name, value in request.usage.items() if value.nano and name in hard}
        if not usage:
            continue
        is_pod = isinstance(item, Pod)
        owner = workload_of(item, store) if is_pod else f"{item.kind}/{item.metadata.name}"
        add_into(sums.setdefault(owner, {}), usage)
        usage_nodes = parts.setdefault(owner, [])
        if is_pod:
            ref = ObjectRef("Pod", item.metadata.name, space)
            values = tuple(setters.values(item, usage))
            usage_nodes.append(UsageNode(f"Pod/{ref.name}", _texts(usage), pods=1, subject=ref, children=values))
    return tuple(_workload(owner, space, values, parts[owner]) for owner, values in sums.items())


def _workload(owner: str, space: str, values: Quantities, pods: Sequence[UsageNode]) -> UsageNode:
    """Return the node of a workload; a pod without a maker is its own workload."""
    if len(pods) == 1 and pods[0].name == owner:
        return pods[0]
    kind, _, name = owner.partition("/")
    subject = ObjectRef(kind, name, space) if kind in BY_KIND else None
    return UsageNode(owner, _texts(values), pods=len(pods), subject=subject, children=tuple(pods))


def setter_needs(store: Store, space: str) -> Iterator[ReadRequest]:
    """Yield the reads that say what set the values of pods of a namespace, as far as they are known by now."""
    met: set[PodOrigin] = set()
    for pod in store.all("Pod", space):
        origin = pod_origin(pod)
        if origin in met:
            continue
        met.add(origin)
        for read in list_read_requests(store, Subject(ObjectRef("Pod", pod.metadata.name, space), BY_KIND["Pod"])):
            if read.kind not in _BESIDE:
                # One list is less than a request for each of many owners.
                yield structs.replace(read, name="") if BY_KIND[read.kind].namespaced else read


def parent_node(nodes: Sequence[UsageNode], owner: str, subject: ObjectRef | None = None) -> UsageNode:
    """Return a node with the sum of these nodes."""
    sums: Quantities = {}
    for node in nodes:
        add_into(sums, {name: parse(text) for name, text in node.usage.items()})
    return UsageNode(owner, _texts(sums), pods=sum(node.pods for node in nodes), subject=subject, children=tuple(nodes))


def with_shares(nodes: Sequence[UsageNode]) -> tuple[UsageNode, ...]:
    """Return the nodes with the share of each, at all depths, of their sum; the largest of any name first."""
    totals = {name: parse(text).nano for name, text in parent_node(nodes, "").usage.items()}
    return _add_percents(nodes, totals)


def _add_percents(nodes: Sequence[UsageNode], totals: Mapping[str, int]) -> tuple[UsageNode, ...]:
    result = []
    for node in nodes:
        percents = {name: parse(text).nano * 100 // totals[name] for name, text in node.usage.items() if totals[name]}
        result.append(structs.replace(node, percents=percents, children=_add_percents(node.children, totals)))
    return tuple(sorted(result, key=lambda node: (-max(node.percents.values(), default=0), node.name)))


def _texts(values: Quantities) -> dict[str, str]:
    return {name: str(values[name]) for name in sorted(values)}


class _Setters:
    """What set the values of pods; computed once for pods of one controller with the same values."""

    def __init__(self, store: Store, options: EvaluationOptions) -> None:
        self._store, self._options = store, options
        self._value_cache: dict[tuple[Any, ...], Mapping[str, _Value]] = {}

    def values(self, pod: Pod, names: Iterable[str]) -> Iterator[UsageNode]:
        """Yield the values that count for some names of a quota, by the object that has them."""
        draft = draft_pod(pod, self._options.server)
        usage: dict[tuple[str, str], dict[str, str]] = {}
        set_by: dict[tuple[str, str], dict[str, SetBy]] = {}
        resource_values = self._find_pod_values(pod)
        for name in names:
            for term in _terms(draft, name):
                holder, value = resource_values.get(term.path, (_find_holder(term.path), None))
                usage.setdefault(holder, {})[name] = term.value
                set_by.setdefault(holder, {})[name] = _set_by(term, value)
        for holder, amounts in usage.items():
            role, name = holder
            yield UsageNode(name, amounts, role=role, set_by=set_by[holder])

    def _find_pod_values(self, pod: Pod) -> Mapping[str, _Value]:
        key = pod.metadata.namespace, *controller(pod), instance_key(pod)
        if key not in self._value_cache:
            ref = ObjectRef("Pod", pod.metadata.name, pod.metadata.namespace)
            self._value_cache[key] = self._values_of(Subject(ref, BY_KIND["Pod"]))
        return self._value_cache[key]

    def _values_of(self, subject: Subject) -> Mapping[str, _Value]:
        """Return the values by path; nothing where the maker of the pod cannot be read."""
        try:
            analysis_made = analysis_of(self._store, subject, self._options)
        except KresError:
            return {}
        table = ValueTable(self._store, analysis_made.manifest, analysis_made.outcomes, analysis_made.listed)
        return {
            value.path: ((container.role, container.name), value)
            for container in table.containers()
            for value in container.values
        }


def _find_holder(path: str) -> tuple[str, str]:
    """Return role and name of the holder of an unexplained value, from its path."""
    return ("overhead", "") if path.startswith(_OVERHEAD) else ("", path.partition(".resources")[0])


def _terms(draft: Draft, name: str) -> Iterator[Term]:
    """Yield the values that the pod's figure for a name of a quota is made from."""
    side, dot, resource = name.partition(".")
    if name in _PLAIN:
        side, resource = "requests", name
    elif not dot or side not in _SIDES:
        return
    known: Any = side
    value = sum_pod(draft, known).get(resource)
    if value is None:
        return
    yield from (term for term in explain_total(draft, known, resource, value).terms if term.kept)


def _set_by(term: Term, value: ResourceValue | None) -> SetBy:
    """Return what set a live value, if admission would set it today; else why it differs."""
    if value is None:
        return SetBy()
    if value.note:
        return SetBy(note=value.note)
    other = next((alternative for alternative in value.alternatives if alternative.value == term.value), None)
    if other is not None and value.value != term.value:
        return SetBy(other.rule, other.source)
    return SetBy(value.rule, value.source)
