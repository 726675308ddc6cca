"""The QoS class of pods and workloads: what decides it, how to reach another one, and its effects on the node.

The effects are the cgroups of one pod, the limits that its containers share, and the limit that a program sees in each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Literal

from msgspec import structs

from kubectl_kres.admission.base.draft import Draft, Unparsable, draft_pod, parse_list
from kubectl_kres.admission.base.outcome import Outcome
from kubectl_kres.admission.base.resource_names import is_huge_page
from kubectl_kres.admission.base.server import Server
from kubectl_kres.admission.kubelet import (
    Cgroup,
    Driver,
    KubeletNode,
    cgroups,
    oom_score,
    page_size,
    smallest,
    unassigned_memory,
)
from kubectl_kres.admission.pod import aggregate as qos
from kubectl_kres.admission.pod.aggregate import CONSIDERED, sum_containers
from kubectl_kres.admission.pod.defaulting import decoded_draft
from kubectl_kres.admission.request.new_pod import initial_qos_class
from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.model.pod import Node, Pod
from kubectl_kres.provenance.journal import Assumption
from kubectl_kres.quantity import Quantity, quantity_of
from kubectl_kres.record import Record, Sentence, Wording
from kubectl_kres.reports.common.answer_cache import AnswerCache
from kubectl_kres.reports.common.effective_policies import NamespacePolicies
from kubectl_kres.reports.common.explanation import EvaluationOptions, FailedRead, Subject, find_unread
from kubectl_kres.reports.common.nodes import node_of
from kubectl_kres.reports.common.system import kinds_of, pod_maker, systems
from kubectl_kres.reports.explain.explain import Analysis, analysis_from, analysis_of
from kubectl_kres.reports.pod.feature_gates import gates
from kubectl_kres.reports.pod.needs import needs_with_node
from kubectl_kres.reports.pod.resource_view import signature
from kubectl_kres.reports.qos.qos_reach import CLASSES, AdmittedPod, ClassChange, find_reach
from kubectl_kres.store.store import ReadRequest, Store

_FILES = {1: ("memory.limit_in_bytes", "cpu.cfs_quota_us"), 2: ("memory.max", "cpu.max")}


class CgroupNote(Sentence, frozen=True):
    """Something to know about the cgroups: read in the source alone, what the pause container gets, whose memory files
    of an emptyDir are, what is assumed about the node (``memory_qos``: its MemoryQoS is on), that cpusets are not
    computed, that cgroup v1 has no file for a memory request, that older runtimes write another cpu.weight.
    """

    kind: Literal["source", "pause", "memory-volumes", "node", "cpuset", "no-soft-limit", "cpu-weight"]
    memory_qos: bool = False


class OomScoreReason(Sentence, frozen=True):
    """What a score depends on: the class; of Burstable the request of memory, with its part of the pod level's."""

    qos_class: str
    request: str = ""
    of_pod_level: str = ""


class SmallestLimits(Record, frozen=True):
    """The smallest limits on the way up from a container, with the cgroups that set them; absent: there is none.

    ``memory`` in bytes, ``cpu`` in microseconds of cpu time for each ``period`` of 100,000.
    """

    container: str
    memory: int | None = None
    memory_at: str = ""
    cpu: int | None = None
    cpu_at: str = ""


class Shared(Record, frozen=True):
    """A pod-level limit that containers share: all of them together get no more.

    ``free``: containers without a limit of their own, which can take the whole. ``limited``: containers with one, and
    it. ``sum``: what the containers' own limits add up to. ``unreachable``: that is more than the pod's limit, so that
    not all of them can reach their own at once.
    """

    resource: str
    limit: str
    free: tuple[str, ...] = ()
    limited: tuple[tuple[str, str], ...] = ()
    sum: str = ""
    unreachable: bool = False


class Cgroups(Record, frozen=True):
    """The cgroups from the node's root of all pods to the containers, with notes about them."""

    version: int
    driver: str
    root: Cgroup
    smallest_limits: tuple[SmallestLimits, ...] = ()
    shared: tuple[Shared, ...] = ()
    notes: tuple[CgroupNote, ...] = ()


def kubelet_node(node: Node | None, version: int, driver: Driver) -> KubeletNode:
    """Return the node as far as it is known: its memory and its sizes of huge pages."""
    if node is None:
        return KubeletNode(version, driver)
    capacity = parse_list(node.status.capacity, "status.capacity")
    room = parse_list(node.status.allocatable, "status.allocatable")
    pages = sorted({page_size(name) for name in capacity if is_huge_page(name)} - {""})
    return KubeletNode(version, driver, _bytes(capacity.get("memory")), _bytes(room.get("memory")), pages=tuple(pages))


def _bytes(quantity: Quantity | None) -> int:
    return 0 if quantity is None else quantity.value()


def build_cgroups(draft: Draft, qos_class: str, machine: KubeletNode, uid: str) -> Cgroups:
    """Return the cgroups of a pod. ``qos_class``: the stored one. ``uid`` empty: the pod does not exist yet."""
    root = cgroups(draft, qos_class, machine, uid=uid or "UID")
    names = [slot.name for slot in (*draft.inits, *draft.containers)]
    return Cgroups(
        machine.version,
        machine.driver,
        root,
        tuple(_read_visible_limits(root, name, machine.version) for name in names),
        tuple(_list_shared_limits(draft)),
        tuple(_notes(draft.server, machine.version)),
    )


def _notes(server: Server, version: int) -> Iterator[CgroupNote]:
    """Yield what is to know. ``server``: the kubelet of the node has its version. ``version``: of cgroups."""
    yield CgroupNote("source")
    yield CgroupNote("pause")
    yield CgroupNote("memory-volumes")
    yield CgroupNote("node", server.is_enabled("MemoryQoS"))
    yield CgroupNote("cpuset")
    yield CgroupNote("no-soft-limit" if version == 1 else "cpu-weight")


def _read_visible_limits(root: Cgroup, container: str, version: int) -> SmallestLimits:
    memory, cpu = (smallest(root, container, file) for file in _FILES[version])
    return SmallestLimits(
        container,
        memory[1] if memory else None,
        memory[0] if memory else "",
        cpu[1] if cpu else None,
        cpu[0] if cpu else "",
    )


def _list_shared_limits(draft: Draft) -> Iterator[Shared]:
    level = draft.pod
    if level is None:
        return
    running = draft.running_slots()
    for resource in CONSIDERED:
        limit = level.limits.get(resource)
        if not limit:
            continue
        own_limits = [(slot.name, slot.limits[resource]) for slot in running if slot.limits.get(resource)]
        total = sum_containers(running, (), "limits").get(resource)
        yield Shared(
            resource,
            str(limit),
            tuple(slot.name for slot in running if not slot.limits.get(resource)),
            tuple((name, str(value)) for name, value in own_limits),
            "" if total is None else str(total),
            total is not None and total > limit,
        )


def no_class_reason(subject: Subject) -> str:
    """Return why ``quality`` has no answer for the object."""
    of_system = any(subject.kind.group == system.group for system in systems())
    return "it gets no pod" if of_system else "a quantity cannot be parsed"


class Culprit(Record, frozen=True):
    """A value that keeps the pod from Guaranteed. ``request``, ``limit`` absent: there is none that counts."""

    path: str
    container: str
    resource: str
    request: str | None = None
    limit: str | None = None


class OomScore(Record, frozen=True):
    """``oom_score_adj`` of a container's processes; absent: it depends on the node's memory, as ``depends_on`` says."""

    container: str
    value: int | None = None
    depends_on: OomScoreReason | None = None


class PodQos(Record, frozen=True):
    """The QoS class that admission gives today. ``live``: the pod exists, and ``live_class`` is kept from its creation.

    ``alternatives``: classes under other orders of LimitRanges. ``refused``: the pod would not be admitted, in the
    server's words, and the class is that of the pod when it was refused; ``code`` is the HTTP code. Scores and cgroups
    are those of the live pod, if there is one. ``memory``: of the node in bytes, 0: not known.
    """

    subject: ObjectRef
    qos: qos.QoS
    culprits: tuple[Culprit, ...] = ()
    start: Wording = ""
    live: bool = False
    live_class: str = ""
    alternatives: tuple[str, ...] = ()
    refused: str = ""
    reach: tuple[ClassChange, ...] = ()
    scores: tuple[OomScore, ...] = ()
    node: str = ""
    memory: int = 0
    cgroups: Cgroups | None = None
    assumptions: tuple[Assumption, ...] = ()
    unread: tuple[FailedRead, ...] = ()
    complete: bool = True

    @property
    def differs(self) -> bool:
        """Return whether the live pod has another class than it would get today."""
        return bool(self.live_class) and self.live_class not in {self.qos.name, *self.alternatives}


class ClassChangeCache:
    """A cache of the changes that lead live pods to other classes; pods with the same origin and values share them."""

    def __init__(self) -> None:
        self._answers = AnswerCache[tuple[str, bytes, bytes], tuple[NamespacePolicies, str, tuple[ClassChange, ...]]]()

    def class_changes(
        self, subject: Subject, analysis: Analysis, make: Callable[[], tuple[ClassChange, ...]]
    ) -> tuple[ClassChange, ...]:
        """Return the result of ``make``, which is called for the first pod of a kind."""
        live, name = analysis.manifest.live, subject.ref.name
        if live is None or analysis.made_pod is not None:
            return make()
        key = subject.ref.namespace, *signature(analysis.manifest, live)
        last = self._answers.get(key)
        if last is not None and last[0] is analysis.policies:
            return tuple(_rename_pod(class_change, last[1], name) for class_change in last[2])
        changes = make()
        if all(
            class_change.refused.count(name) == class_change.refused.startswith(_message_prefixes(name))
            for class_change in changes
        ):
            self._answers.store_answer(key, (analysis.policies, name, changes))
        return changes


def _message_prefixes(name: str) -> tuple[str, str]:
    """Return the beginnings of the server's sentences about a pod."""
    return f'pods "{name}" ', f'Pod "{name}" '


def _rename_pod(class_change: ClassChange, old: str, name: str) -> ClassChange:
    if not class_change.refused.startswith(_message_prefixes(old)):
        return class_change
    return structs.replace(class_change, refused=class_change.refused.replace(old, name, 1))


def quality(
    store: Store,
    subject: Subject,
    options: EvaluationOptions,
    *,
    version: int = 0,
    driver: Driver = "systemd",
    alike: ClassChangeCache | None = None,
) -> PodQos | None:
    """Return the class and what decides it; None where a quantity does not parse. Raises what ``explain`` raises.

    ``version`` of cgroups 0: without them. ``alike``: the cache of the other objects of a list.
    """
    analysis = analysis_of(store, subject, options)
    unread = _unread_nodes(store, subject, options)
    failed_reads = tuple(
        failed_read
        for failed_read in unread
        if failed_read.required or analysis.made_pod is None or failed_read.kind not in kinds_of("assumed")
    )
    quality = _brief(subject, analysis, options.server, failed_reads)
    draft = analysis.outcomes[0].draft
    if quality is None or draft is None:
        return None
    manifest, policies = analysis.manifest, analysis.policies
    live, node = manifest.live, node_of(store, manifest.live) if manifest.live is not None else None
    machine = kubelet_node(node, version or 2, driver)
    running, stored = _running_draft(live, draft, quality.live_class or quality.qos.name, options.server)

    def quality_of(pod: Pod) -> tuple[Outcome, ...]:
        return analysis_from(store, subject, options, structs.replace(manifest, pod=pod), journal=False).outcomes

    case = AdmittedPod(manifest.pod, draft, policies.policies, options.server, quality_of)
    find_class_changes = partial(_class_reaches, store, subject, options, case, analysis)
    stated = tuple(Assumption("server", "server/assumed", text) for text in options.assumptions)
    supposed = (manifest.assumed,) if manifest.assumed else ()
    return PodQos(
        quality.subject,
        quality.qos,
        quality.culprits,
        manifest.text,
        quality.live,
        quality.live_class,
        quality.alternatives,
        quality.refused,
        ()
        if _has_unread_limits(live, failed_reads)
        else alike.class_changes(subject, analysis, find_class_changes)
        if alike is not None
        else find_class_changes(),
        tuple(_scores(running, stored, machine)),
        live.spec.node_name if live is not None else "",
        machine.memory,
        build_cgroups(running, stored, machine, live.metadata.uid if live is not None else "") if version else None,
        (
            *supposed,
            *policies.assumptions,
            *analysis.assumed,
            *gates(live or manifest.pod, options.server),
            *stated,
            *(analysis.made_pod.assumptions if analysis.made_pod is not None else ()),
        ),
        quality.unread,
        quality.complete,
    )


def _class_reaches(
    store: Store, subject: Subject, options: EvaluationOptions, case: AdmittedPod, analysis: Analysis
) -> tuple[ClassChange, ...]:
    """Return the changes to the other classes; for a run those of its Task, since nobody writes its pod."""
    maker = pod_maker(analysis)
    if maker is not None:
        return tuple(maker.reach(store, subject, options, case.draft))
    now = qos.compute_class(case.draft)
    return tuple(find_reach(case, name) for name in CLASSES if name != now)


class QosAnswers:
    """Answers for many objects, in short: without a journal, ways to other classes and scores."""

    def __init__(self, store: Store, options: EvaluationOptions) -> None:
        self._store, self._options = store, options
        self._failed_reads: dict[str, tuple[FailedRead, ...]] = {}

    def quality(self, subject: Subject) -> PodQos | None:
        """Return class, culprits and refusal. Raises what ``explain`` raises."""
        analysis, space = analysis_of(self._store, subject, self._options, journal=False), subject.ref.namespace
        if analysis.made_pod is not None:
            return _brief(subject, analysis, self._options.server)
        if space not in self._failed_reads:
            self._failed_reads[space] = tuple(find_unread(self._store, (ReadRequest("LimitRange", space),)))
        return _brief(subject, analysis, self._options.server, self._failed_reads[space])


def _brief(
    subject: Subject, analysis: Analysis, server: Server, failed_reads: tuple[FailedRead, ...] = ()
) -> PodQos | None:
    first = analysis.outcomes[0]
    draft: Draft | None = first.draft
    if draft is None:
        return None
    live = analysis.manifest.live
    if live is not None and _has_unread_limits(live, failed_reads):
        draft = _running_draft(live, draft, "", server)[0]
    brought = initial_qos_class(analysis.manifest.pod, server) if live is None else ""
    qos_class = qos.explain(draft, brought)
    others = (
        set()
        if brought
        else {qos.compute_class(outcome.draft) for outcome in analysis.outcomes if outcome.draft is not None}
        - {qos_class.name}
    )
    stored = ""
    if live is not None:
        stored = live.status.qos_class or qos.compute_class(draft_pod(live, server))
    refused = next((outcome.message for outcome in analysis.outcomes if not outcome.allowed), "")
    return PodQos(
        subject.ref,
        qos_class,
        tuple(_culprits(draft)) if qos_class.name != "Guaranteed" else (),
        live=live is not None,
        live_class=stored,
        alternatives=tuple(sorted(others)),
        refused=refused,
        unread=(*failed_reads, *analysis.unread),
        complete=not any(failed_read.required for failed_read in failed_reads),
    )


def _has_unread_limits(live: Pod | None, failed_reads: Iterable[FailedRead]) -> bool:
    """Return whether a live pod has values of LimitRanges that cannot be read, so that today's values are not known."""
    return live is not None and any(failed_read.kind == "LimitRange" for failed_read in failed_reads)


def _culprits(draft: Draft) -> Iterator[Culprit]:
    for slot in (draft.pod,) if draft.pod is not None else (*draft.containers, *draft.inits):
        for resource in qos.CONSIDERED:
            request, limit = (
                str(values[resource]) if resource in values and values[resource].nano > 0 else None
                for values in (slot.requests, slot.limits)
            )
            if limit is None or request != limit:
                side = "limits" if limit is None else "requests"
                yield Culprit(f"{slot.path}.resources.{side}[{resource}]", slot.name, resource, request, limit)


def _running_draft(live: Pod | None, draft: Draft, qos_class: str, server: Server) -> tuple[Draft, str]:
    """Return the pod that the kubelet runs: the live one, if it exists, with its stored class."""
    if live is None:
        return draft, qos_class
    try:
        return decoded_draft(live, server), qos_class
    except Unparsable:
        return draft, qos_class


def _scores(draft: Draft, qos_class: str, machine: KubeletNode) -> Iterator[OomScore]:
    part = unassigned_memory(draft)
    for slot in (*draft.inits, *draft.containers):
        value = oom_score(draft, slot, qos_class, machine.memory)
        request = slot.requests.get("memory")
        of_level = str(quantity_of(part, "BinarySI")) if part else ""
        is_burstable = qos_class == "Burstable"
        reason = OomScoreReason(qos_class, str(request or ""), of_level) if is_burstable else OomScoreReason(qos_class)
        yield OomScore(slot.title, value, reason)


def _unread_nodes(store: Store, subject: Subject, options: EvaluationOptions) -> Iterator[FailedRead]:
    """Yield the node that the scores need and that could not be read."""
    for failed_read in find_unread(store, needs_with_node(store, subject, seen=options.seen)):
        if failed_read.kind != "Node" or failed_read.state != "unread":
            yield failed_read
