"""Who uses what quotas count, down to single values: namespace, quota, workload, pod, value, each with its share."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import structs

from kubectl_kres.admission.base.draft import Draft, Quantities, draft_pod
from kubectl_kres.admission.pod.aggregate import add_into, explain_total, of_pod
from kubectl_kres.errors import KresError
from kubectl_kres.model.kinds import BY_KIND
from kubectl_kres.model.meta import ObjectRef
from kubectl_kres.model.pod import Pod
from kubectl_kres.model.policy import ResourceQuota
from kubectl_kres.provenance.journal import Source, Term
from kubectl_kres.quantity import parse
from kubectl_kres.reports.common.explanation import ResourceValue
from kubectl_kres.reports.common.owned import controller
from kubectl_kres.reports.common.record import Record
from kubectl_kres.reports.common.subject import Ask, Subject
from kubectl_kres.reports.explain.explain import analysis_of
from kubectl_kres.reports.pod.needs import PodOrigin, needs, origin_of
from kubectl_kres.reports.pod.resource_view import beside_template
from kubectl_kres.reports.pod.values import ValueTable
from kubectl_kres.reports.quota.counted import Counted, workload_of
from kubectl_kres.store.coverage import Need
from kubectl_kres.store.store import Store

_SIDES = ("requests", "limits")
#: Names of quotas that mean requests although they do not say so.
_PLAIN = ("cpu", "memory", "ephemeral-storage")
_OVERHEAD = "spec.overhead["
#: What explains how a pod fares, and sets no value.
_BESIDE = frozenset({"Pod", "Event", "Node", "HorizontalPodAutoscaler"})
#: Role and name of a container, and the value that it has today.
_Value = tuple[tuple[str, str], ResourceValue]


class SetBy(Record, frozen=True):
    """What set a value: the rule, and the object and field that it looked at.

    ``note``: why the value is not what admission would set today; then there is no rule. All empty: not known.
    """

    rule: str = ""
    source: Source | None = None
    note: str = ""


class UsageNode(Record, frozen=True):
    """A part of what is used. ``who``: an object as ``Kind/name``; of a value the container that has it.

    ``role``: of a value: ``container``, ``sidecar``, ``init``, ``pod`` for the pod level, ``overhead`` for what a
    RuntimeClass adds; empty: not known. ``usage``: by the quota's names; ``percents``: of what the root uses of each,
    in whole hundredths. ``pods``: how many there are. ``subject``: absent for a value. ``hard``: of a quota.
    ``claims``: whose amounts make that hard, of a quota that a pool keeps. ``set_by``: of a value, by name.
    ``inside``: its parts, the largest first.
    """

    who: str
    usage: Mapping[str, str]
    percents: Mapping[str, int] = {}
    role: str = ""
    pods: int = 0
    subject: ObjectRef | None = None
    hard: Mapping[str, str] = {}
    claims: tuple[str, ...] = ()
    set_by: Mapping[str, SetBy] = {}
    inside: tuple[UsageNode, ...] = ()


def workload_nodes(
    store: Store, quota: ResourceQuota, counted: Iterable[Counted], names: Iterable[str], ask: Ask
) -> tuple[UsageNode, ...]:
    """The workloads and other objects that are counted, with their pods and the values of these; without shares.

    ``counted``: those of the quota's namespace that are in its scopes.
    """
    space, hard = quota.metadata.namespace, frozenset(names)
    setters = _Setters(store, ask)
    sums: dict[str, Quantities] = {}
    parts: dict[str, list[UsageNode]] = {}
    for item, request in counted:
        usage = {name: value for name, value in request.usage.items() if value.nano and name in hard}
        if not usage:
            continue
        is_pod = isinstance(item, Pod)
        who = workload_of(item, store) if is_pod else f"{item.kind}/{item.metadata.name}"
        add_into(sums.setdefault(who, {}), usage)
        usage_nodes = parts.setdefault(who, [])
        if is_pod:
            ref = ObjectRef("Pod", item.metadata.name, space)
            values = tuple(setters.values(item, usage))
            usage_nodes.append(UsageNode(f"Pod/{ref.name}", _texts(usage), pods=1, subject=ref, inside=values))
    return tuple(_workload(who, space, values, parts[who]) for who, values in sums.items())


def _workload(who: str, space: str, values: Quantities, pods: Sequence[UsageNode]) -> UsageNode:
    """A pod that nothing made is its own workload, and stands there once."""
    if len(pods) == 1 and pods[0].who == who:
        return pods[0]
    kind, _, name = who.partition("/")
    subject = ObjectRef(kind, name, space) if kind in BY_KIND else None
    return UsageNode(who, _texts(values), pods=len(pods), subject=subject, inside=tuple(pods))


def setter_needs(store: Store, space: str) -> Iterator[Need]:
    """The reads that say what set the values of pods of a namespace, as far as they are known by now."""
    met: set[PodOrigin] = set()
    for pod in store.all("Pod", space):
        origin = origin_of(pod)
        if origin in met:
            continue
        met.add(origin)
        for need in needs(store, Subject(ObjectRef("Pod", pod.metadata.name, space), BY_KIND["Pod"])):
            if need.kind not in _BESIDE:
                # One list is less than a request for each of many owners.
                yield structs.replace(need, name="") if BY_KIND[need.kind].namespaced else need


def above(nodes: Sequence[UsageNode], who: str, subject: ObjectRef | None = None) -> UsageNode:
    """A node that uses what these use together."""
    sums: Quantities = {}
    for node in nodes:
        add_into(sums, {name: parse(text) for name, text in node.usage.items()})
    return UsageNode(who, _texts(sums), pods=sum(node.pods for node in nodes), subject=subject, inside=tuple(nodes))


def with_shares(nodes: Sequence[UsageNode]) -> tuple[UsageNode, ...]:
    """The same with the share of each, at all depths, of what all of them use; the largest of any name first."""
    totals = {name: parse(text).nano for name, text in above(nodes, "").usage.items()}
    return _shared(nodes, totals)


def _shared(nodes: Sequence[UsageNode], totals: Mapping[str, int]) -> tuple[UsageNode, ...]:
    result = []
    for node in nodes:
        percents = {name: parse(text).nano * 100 // totals[name] for name, text in node.usage.items() if totals[name]}
        result.append(structs.replace(node, percents=percents, inside=_shared(node.inside, totals)))
    return tuple(sorted(result, key=lambda node: (-max(node.percents.values(), default=0), node.who)))


def _texts(values: Quantities) -> dict[str, str]:
    return {name: str(values[name]) for name in sorted(values)}


class _Setters:
    """What set the values of pods; of those that one controller made with the same values it is found out once."""

    def __init__(self, store: Store, ask: Ask) -> None:
        self._store, self._ask = store, ask
        self._known: dict[tuple[Any, ...], Mapping[str, _Value]] = {}

    def values(self, pod: Pod, names: Iterable[str]) -> Iterator[UsageNode]:
        """The values that count for some names of a quota, by what has them."""
        draft = draft_pod(pod, self._ask.server)
        usage: dict[tuple[str, str], dict[str, str]] = {}
        set_by: dict[tuple[str, str], dict[str, SetBy]] = {}
        resource_values = self._of(pod)
        for name in names:
            for term in _terms(draft, name):
                who, value = resource_values.get(term.path, (_place(term.path), None))
                usage.setdefault(who, {})[name] = term.value
                set_by.setdefault(who, {})[name] = _set_by(term, value)
        for who, amounts in usage.items():
            role, name = who
            yield UsageNode(name, amounts, role=role, set_by=set_by[who])

    def _of(self, pod: Pod) -> Mapping[str, _Value]:
        key = pod.metadata.namespace, *controller(pod), beside_template(pod)
        if key not in self._known:
            ref = ObjectRef("Pod", pod.metadata.name, pod.metadata.namespace)
            self._known[key] = self._values_of(Subject(ref, BY_KIND["Pod"]))
        return self._known[key]

    def _values_of(self, subject: Subject) -> Mapping[str, _Value]:
        """By path; nothing where what made the pod cannot be told."""
        try:
            made = analysis_of(self._store, subject, self._ask)
        except KresError:
            return {}
        table = ValueTable(self._store, made.start, made.outcomes, made.listed)
        return {
            value.path: ((container.role, container.name), value)
            for container in table.containers()
            for value in container.values
        }


def _place(path: str) -> tuple[str, str]:
    """Role and name of what has a value that nothing more is known of: the field that it stands in."""
    return ("overhead", "") if path.startswith(_OVERHEAD) else ("", path.partition(".resources")[0])


def _terms(draft: Draft, name: str) -> Iterator[Term]:
    """The values that the pod's figure for a name of a quota is made from."""
    side, dot, resource = name.partition(".")
    if name in _PLAIN:
        side, resource = "requests", name
    elif not dot or side not in _SIDES:
        return
    known: Any = side
    value = of_pod(draft, known).get(resource)
    if value is None:
        return
    yield from (term for term in explain_total(draft, known, resource, value).terms if term.kept)


def _set_by(term: Term, value: ResourceValue | None) -> SetBy:
    """Of a live value that admission would set today, how; of another one why it is another one."""
    if value is None:
        return SetBy()
    if value.note:
        return SetBy(note=value.note)
    other = next((alternative for alternative in value.alternatives if alternative.value == term.value), None)
    if other is not None and value.value != term.value:
        return SetBy(other.rule, other.source)
    return SetBy(value.rule, value.source)
