"""The overview: all areas of a namespace or of all namespaces, with the worst problems and their remedies.

An area says how many objects there are, in what state they are, and what is wrong. Kubernetes' own areas are quotas,
LimitRanges, pods by class, workloads whose pods are refused, and workloads that wait or fail although nothing refuses
their pods; a system adds its own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from typing import NamedTuple

from msgspec.structs import replace

from kubectl_kres.errors import KresError, UsageError
from kubectl_kres.model.kinds import BY_KIND
from kubectl_kres.model.objects import ObjectRef, ResourceQuota
from kubectl_kres.model.pod import Pod
from kubectl_kres.model.workload import Workload
from kubectl_kres.model.workload_kinds import SCALED, WORKLOADS
from kubectl_kres.quantity import parse
from kubectl_kres.record import Record
from kubectl_kres.reports.common.explanation import (
    EvaluationOptions,
    FailedRead,
    RunState,
    Subject,
    Verdict,
    find_unread,
)
from kubectl_kres.reports.common.nodes import NodeReport
from kubectl_kres.reports.common.remedy import MakeEdits, RaiseQuota, Remedy
from kubectl_kres.reports.common.replicas import is_failing, replicas_of
from kubectl_kres.reports.common.system import Severity, kinds_of, turn_of
from kubectl_kres.reports.explain.all_states import PodStates, all_states, states_in_store
from kubectl_kres.reports.namespace.explain_policy import effective_limits
from kubectl_kres.reports.pod.events import refusal_start_text
from kubectl_kres.reports.pod.needs import refusing_quota_needs
from kubectl_kres.reports.pod.verdict import outcome_word
from kubectl_kres.reports.qos.qos_reach import CLASSES
from kubectl_kres.reports.qos.qos_sums import NamespaceSums
from kubectl_kres.reports.quota.denied import Denied, denied_needs, find_refusal, refusal_or_none, subjects_of
from kubectl_kres.reports.quota.fullness import QUOTA_STATES, quota_state, tightest_use
from kubectl_kres.reports.quota.quota_report import QuotaReport, quota_reports
from kubectl_kres.reports.remedies.commands import commands, usage_command
from kubectl_kres.reports.remedies.keepers import named_keeper
from kubectl_kres.store.store import ReadRequest, Store
from kubectl_kres.systems import modules
from kubectl_kres.wording import join_words


class Problem(Record, frozen=True):
    """An object with a problem. ``state``: what it is, in a word.

    ``name``, ``used``, ``hard``, ``percent``: the resource that is nearest to its end, where there is one.
    ``short_by``: what is missing, by resource. ``closed_resources``: the resources that others in a queue get first.
    ``reason``: the server's or controller's word. ``verdict``: of the next pod, where pods are refused; ``missing`` of
    ``wanted`` pods do not exist then, ``old_pods`` of an older template do. ``waiting``: how many wait for it.
    ``since``: since when, as RFC 3339. ``fixes``: each complete alone; empty: none is known, or none was looked for.
    ``run_state``: of a workload that waits or fails. ``elsewhere``: it is in no namespace, and does not serve the
    selected one. ``nodes``: what they say to the first of its pods that waits for one; absent where they were not
    looked at.
    """

    area: str
    subject: ObjectRef
    severity: Severity
    state: str
    name: str = ""
    used: str = ""
    hard: str = ""
    percent: int | None = None
    short_by: Mapping[str, str] = {}
    closed_resources: tuple[str, ...] = ()
    reason: str = ""
    verdict: Verdict | None = None
    missing: int = 0
    wanted: int = 0
    old_pods: int = 0
    waiting: int = 0
    since: str = ""
    fixes: tuple[Remedy, ...] = ()
    run_state: RunState | None = None
    elsewhere: bool = False
    nodes: NodeReport | None = None


class AreaPart(Record, frozen=True):
    """The number of an area's objects in one state."""

    state: str
    count: int
    severity: Severity = ""


class OverviewArea(Record, frozen=True):
    """All objects of a kind. ``parts``: the objects by state, the worst first; of pods by QoS class.

    ``count``: how many objects; absent: not known, as ``state`` says: absent (the server has no such kind), denied,
    failed, unread. ``unit``: what the parts count, where that is not the objects. ``problems``: the worst first.
    """

    name: str
    kind: str
    count: int | None = None
    parts: tuple[AreaPart, ...] = ()
    unit: str = ""
    state: str = ""
    problems: tuple[Problem, ...] = ()

    @property
    def severity(self) -> Severity:
        """The severity of its worst part."""
        result = {part.severity for part in self.parts if part.count} | {problem.severity for problem in self.problems}
        return next((severity for severity in SEVERITIES if severity in result), "")


#: The worst first.
SEVERITIES: tuple[Severity, ...] = ("bad", "warn", "unknown", "")
#: Problems of an area that are listed; its list has all of them.
MOST = 50


class AreaInput(NamedTuple):
    """The input of areas. ``namespace`` empty: all. ``quota``: the report of one; a text: why there is none.

    ``listed``: how many problems an area lists at most; None: all.
    """

    store: Store
    namespace: str
    options: EvaluationOptions
    quota: Callable[[ResourceQuota], QuotaReport | str]
    listed: int | None = MOST


def _no_remedies(_problem: Problem) -> tuple[Remedy, ...]:
    return ()


class AreaWithRemedies(NamedTuple):
    """An area, and a function that finds the remedies of one of its problems, which costs more than the area itself."""

    area: OverviewArea
    remedies: Callable[[Problem], tuple[Remedy, ...]] = _no_remedies


class AreaMaker(NamedTuple):
    """A function that makes an area. ``name``: what its list is called. ``kinds``: its input, the counted kind first.

    ``everywhere``: its objects are in no namespace.
    """

    name: str
    kinds: tuple[str, ...]
    make: Callable[[AreaInput], AreaWithRemedies]
    everywhere: bool = False


def parts_of(counts: Mapping[str, int], order: Mapping[str, Severity]) -> tuple[AreaPart, ...]:
    """Return the parts that are not empty, in that order."""
    return tuple(AreaPart(word, counts[word], severity) for word, severity in order.items() if counts.get(word))


_CLAIMS, _STORAGE = "persistentvolumeclaims", "requests.storage"


def read_quota(store: Store, options: EvaluationOptions, quota: ResourceQuota) -> QuotaReport | str:
    """Return the report of one quota; a text where a value is no quantity."""
    try:
        [report] = quota_reports(store, [quota], options)
    except KresError as error:
        return error.message
    return report


def _quotas(context: AreaInput) -> AreaWithRemedies:
    counts: dict[str, int] = {}
    problems: list[Problem] = []
    for quota in context.store.all("ResourceQuota", context.namespace or None):
        report = context.quota(quota)
        state = quota_state(report)
        counts[state] = counts.get(state, 0) + 1
        if severity := QUOTA_STATES[state]:
            problems.append(_quota_problem(quota, report, state, severity))
    order = list(QUOTA_STATES)
    problems.sort(key=lambda problem: (order.index(problem.state), -(problem.percent or 0), problem.subject.key))
    parts = parts_of(counts, QUOTA_STATES)
    area = OverviewArea(
        "quotas", "ResourceQuota", sum(counts.values()), parts, problems=tuple(problems[: context.listed])
    )
    return AreaWithRemedies(area, lambda problem: _quota_remedies(context, problem))


def _quota_problem(quota: ResourceQuota, report: QuotaReport | str, state: str, severity: Severity) -> Problem:
    ref = ObjectRef("ResourceQuota", quota.metadata.name, quota.metadata.namespace)
    if isinstance(report, str):
        return Problem("quotas", ref, severity, state, reason=report)
    use = tightest_use(report) if report.enforced else None
    if use is None:
        return Problem("quotas", ref, severity, state)
    return Problem("quotas", ref, severity, state, use.name, use.used or "", use.hard, use.percent)


def _quota_remedies(context: AreaInput, problem: Problem) -> tuple[Remedy, ...]:
    """Return the remedies of a quota that uses more than allowed; none for one that is only full, as its owner wants
    it.
    """
    quota = context.store.get("ResourceQuota", problem.subject.name, problem.subject.namespace)
    if problem.state != "over" or quota is None:
        return ()
    report = context.quota(quota)
    over = [use for use in report.uses if use.is_exceeded] if isinstance(report, QuotaReport) else []
    edits = tuple(
        RaiseQuota(problem.subject, f"spec.hard[{use.name}]", use.name, use.used or "", from_=use.hard) for use in over
    )
    kept = named_keeper(context.store, problem.subject, quota.metadata)
    amounts = {use.name: str(-parse(use.free or "0")) for use in over}
    excess = join_words([f"{amount} of {name}" for name, amount in amounts.items()])
    command_texts = commands(context.store.origin, edits, {problem.subject: kept} if kept else {})
    free = Remedy(
        _format_freed(amounts) or f"free {excess}", owners=usage_command(context.store.origin, problem.subject)
    )
    if isinstance(report, QuotaReport) and report.pool:
        # Its hard is what claims add up to: whoever keeps it undoes other edits.
        return (Remedy(f"create a claim on pool {report.pool} for {excess}"), free)
    return (free, Remedy(MakeEdits(edits, as_used=True), edits, command_texts, kept))


def _format_freed(amounts: Mapping[str, str]) -> str:
    """Return which objects to delete, where they are claims; else empty."""
    claims, storage = amounts.get(_CLAIMS), amounts.get(_STORAGE)
    if claims is None or not amounts.keys() <= {_CLAIMS, _STORAGE}:
        return ""
    return f"delete {claims} PersistentVolumeClaim{'s' * (claims != '1')}{f' ({storage})' if storage else ''}"


def _limits(context: AreaInput) -> AreaWithRemedies:
    limit_ranges = list(context.store.all("LimitRange", context.namespace or None))
    counts = {"that nothing can meet": 0, "order-dependent": 0, "sound": 0}
    for space in dict.fromkeys(item.metadata.namespace for item in limit_ranges):
        for row in effective_limits(context.store, space):
            sound = row.certain and not row.assumptions
            word = list(counts)[0 if row.band.is_empty else 2 if sound else 1]
            counts[word] += 1
    order: dict[str, Severity] = dict(zip(counts, ("bad", "warn", ""), strict=True))
    return AreaWithRemedies(
        OverviewArea("limitranges", "LimitRange", len(limit_ranges), parts_of(counts, order), "values")
    )


QUOTAS = AreaMaker("quotas", ("ResourceQuota",), _quotas)
LIMITRANGES = AreaMaker("limitranges", ("LimitRange",), _limits)


def pod_area(sums: Iterable[NamespaceSums]) -> OverviewArea:
    """Return the area of pods by QoS class, out of sums of namespaces without their total."""
    counts = {**dict.fromkeys(CLASSES, 0), "finished": 0}
    for namespace_sums in sums:
        for name, count in namespace_sums.classes.items():
            counts[name] += count
        counts["finished"] += namespace_sums.finished
    return OverviewArea("pods", "Pod", sum(counts.values()), parts_of(counts, dict.fromkeys(counts, "")))


def list_refusals(store: Store, namespace: str, options: EvaluationOptions) -> Iterator[Denied | None]:
    """Yield the refusal of each workload in turn, or None where its pods are not refused."""
    for subject in tuple(subjects_of(store, namespace)):
        yield refusal_or_none(store, subject, options)


def _refusal_remedies(store: Store, options: EvaluationOptions, problem: Problem) -> tuple[Remedy, ...]:
    """Return what gets the pods of a refused workload admitted."""
    refusal = find_refusal(store, Subject(problem.subject, BY_KIND[problem.subject.kind]), options)
    return refusal.fixes if refusal is not None else ()


def _run_remedies(
    store: Store, by_kind: Mapping[str, Callable[[Problem], tuple[Remedy, ...]]], problem: Problem
) -> tuple[Remedy, ...]:
    """Return what a system knows of its own object, or of one that it holds back; else the next step of its state."""
    ref = problem.subject
    if found := by_kind.get(ref.kind, _no_remedies)(problem):
        return found
    turn = turn_of(store, Subject(ref, BY_KIND[ref.kind])) if ref.kind in BY_KIND else None
    return turn.fixes if turn is not None and turn.fixes else problem.fixes


def refused_area(refusals: Iterable[Denied | None], listed: int | None = MOST) -> OverviewArea:
    """Return the area of refused workloads, those first that lack most pods; ``listed`` as in ``AreaInput``."""
    looked, rows = 0, list[Denied]()
    for refusal in refusals:
        looked += 1
        if refusal is not None:
            rows.append(refusal)
    problems = sorted(
        map(_refusal, rows), key=lambda problem: (problem.severity != "bad", -problem.missing, problem.subject.key)
    )
    parts = (AreaPart("refused", len(rows), "bad"), AreaPart("not refused", looked - len(rows)))
    shown = tuple(part for part in parts if part.count)
    return OverviewArea("refused", "Deployment", len(rows), shown, "workloads", problems=tuple(problems[:listed]))


def _refusal(denied: Denied) -> Problem:
    pods, verdict = denied.replicas, denied.verdict
    missing, wanted_count = (pods.missing_pods, pods.wanted) if pods is not None else (max(1, verdict.missing),) * 2
    word = outcome_word(denied.verdict)
    # Refused before and not any more: the controller tries again by itself.
    again = word in {"admitted", "full"}
    since = refusal_start_text(denied.facts) or (denied.facts[0].time if denied.facts else "")
    return Problem(
        "refused",
        denied.subject,
        "warn" if again or word == "depends-on-order" else "bad",
        "waiting" if again else word,
        verdict=denied.verdict,
        missing=missing,
        wanted=wanted_count,
        old_pods=pods.old_pods if pods is not None else 0,
        since=since,
        fixes=denied.fixes,
    )


#: CronJobs that are on, which run when their time comes.
_SCHEDULED = "scheduled"
#: How workloads fare, the worst first.
_WORDS: Mapping[str, Severity] = {
    "fail": "bad",
    "wait": "bad",
    "killed lately": "warn",
    "starting": "",
    "off": "",
    _SCHEDULED: "",
    "run": "",
    "ended": "",
}
_COUNTED: Mapping[str, str] = {"fails": "fail", "waits": "wait", "runs": "run"}
_NAME = "running"


def running_area(
    states: Iterable[tuple[ObjectRef, RunState]], scheduled: int = 0, listed: int | None = MOST
) -> OverviewArea:
    """Return the area of workloads by state; those that wait or fail, or were killed lately, are its problems.

    ``scheduled``: how many CronJobs are on, which run when their time comes. ``listed`` as in ``AreaInput``.
    """
    counts = {_SCHEDULED: scheduled}
    problems: list[Problem] = []
    for ref, state in states:
        killed = state.state == "runs" and bool(state.reason)
        word = "killed lately" if killed else _COUNTED.get(state.state, state.state)
        counts[word] = counts.get(word, 0) + 1
        if _WORDS[word]:
            problems.append(_problem(ref, state, _WORDS[word]))
    problems.sort(key=lambda problem: (problem.severity != "bad", problem.state != "fails", -_pods(problem)))
    parts = parts_of(counts, _WORDS)
    return OverviewArea(_NAME, "Pod", sum(counts.values()), parts, "workloads", problems=tuple(problems[:listed]))


#: The states of workloads, the worst first, and what those are called of which a pod's state has another word.
_FARES: Mapping[str, Severity] = {
    "refused": "bad",
    "failing": "bad",
    "waiting": "bad",
    "killed": "warn",
    "starting": "",
    "off": "",
    _SCHEDULED: "",
    "running": "",
    "ended": "",
}
_FARE: Mapping[str, str] = {"fails": "failing", "waits": "waiting", "runs": "running"}


def workload_area(
    subjects: Iterable[ObjectRef], refused: Collection[ObjectRef], states: Iterable[tuple[ObjectRef, RunState]]
) -> OverviewArea:
    """Return the area of all workloads, each once: refused, or as its pods fare. Of ``subjects`` those without a state
    are CronJobs, which run when their time comes.
    """
    words = dict.fromkeys(subjects, _SCHEDULED)
    for ref, state in states:
        killed = state.state == "runs" and bool(state.reason)
        words[ref] = "killed" if killed else _FARE.get(state.state, state.state)
    words |= dict.fromkeys(refused, "refused")
    return OverviewArea("workloads", "Deployment", len(words), parts_of(Counter(words.values()), _FARES))


def _problem(ref: ObjectRef, state: RunState, severity: Severity) -> Problem:
    remedies = (Remedy(state.next),) if state.next else ()
    return Problem(_NAME, ref, severity, state.state, since=state.since, fixes=remedies, run_state=state)


def _pods(problem: Problem) -> int:
    return problem.run_state.pods if problem.run_state is not None else 0


#: Problems whose remedies are looked for.
MENDED = 20
#: Why something is not known.
_UNKNOWN = frozenset({"denied", "failed", "unread"})


class Elsewhere(Record, frozen=True):
    """How workloads that keep a number of pods fare in the other namespaces, as their status says.

    ``unready``: how many of ``workloads`` lack pods, or have some that are not ready; ``namespaces``: where those are.
    """

    workloads: int
    unready: int
    namespaces: tuple[str, ...]


class Overview(Record, frozen=True):
    """The overview of a namespace; ``namespace`` empty: of all.

    ``workloads``: each once, where the areas ``refused`` and ``running`` count some in both. ``others``: what is wrong
    in other namespaces; absent: not asked for, or not readable.
    ``problems``: of all areas, the worst first; ``elsewhere``: those that are in no namespace and do not serve this
    one. ``unread``: what could not be read; ``complete`` False: some of that would have to be counted.
    """

    namespace: str
    areas: tuple[OverviewArea, ...]
    problems: tuple[Problem, ...] = ()
    unread: tuple[FailedRead, ...] = ()
    complete: bool = True
    elsewhere: tuple[Problem, ...] = ()
    workloads: OverviewArea | None = None
    others: Elsewhere | None = None


def makers() -> tuple[AreaMaker, ...]:
    """Return the areas that are made from a store alone, in the order in which they are shown."""
    additions = (maker for module in modules("reports.overview") for maker in module.AREAS)
    return (QUOTAS, *additions, LIMITRANGES)


def area_needs(namespace: str) -> tuple[ReadRequest, ...]:
    """Return the reads of areas; a cluster may have none of what is not required."""
    additions = (
        ReadRequest(kind, namespace if BY_KIND[kind].namespaced else "", required=False)
        for kind in kinds_of("overview")
    )
    return (ReadRequest("ResourceQuota", namespace), ReadRequest("LimitRange", namespace), *additions)


def overview_needs(namespace: str) -> tuple[ReadRequest, ...]:
    """Return all reads of the overview but for pods, which are added up page by page."""
    reads = (ReadRequest("Namespace", name=namespace, required=False), *area_needs(namespace), *denied_needs(namespace))
    return tuple({(read.kind, read.namespace, read.name): read for read in reversed(reads)}.values())


def overview(
    store: Store,
    namespace: str,
    options: EvaluationOptions,
    sums: Iterable[NamespaceSums] | None,
    pods: PodStates | None = None,
    *,
    mended: int = MENDED,
    listed: int | None = MOST,
) -> Overview:
    """``sums``: of the pods by namespace, without a total; None: pods could not be read. ``pods``: how
    they fare; None: those of the store. ``mended``: for how many of the worst problems fixes are looked for, which
    costs more than all else. ``listed`` as in ``AreaInput``.
    """
    context = AreaInput(store, namespace, options, partial(read_quota, store, options), listed)
    reads = overview_needs(namespace)
    refusals = list(list_refusals(store, namespace, replace(options, remedies=False)))
    turned = refused_area(refusals, listed)
    areas_made = [(maker, maker.make(context)) for maker in makers()]
    states = pods if pods is not None else states_in_store(store, namespace, options.now)
    fares = list(all_states(store, namespace, states))
    running = running_area(fares, listed=listed)
    workloads = workload_area(
        (subject.ref for subject in subjects_of(store, namespace)),
        {refusal.subject for refusal in refusals if refusal is not None},
        fares,
    )
    counted = pod_area(sums) if sums is not None else OverviewArea("pods", "Pod", state="denied")
    spaces = OverviewArea("namespaces", "Namespace", sum(1 for _ in store.all("Namespace")))
    areas = [turned, running, areas_made[0][1].area, counted, *(item.area for _, item in areas_made[1:]), spaces]
    remedies = {item.area.name: item.remedies for _, item in areas_made}
    remedies["refused"] = partial(_refusal_remedies, store, options)
    remedies[_NAME] = partial(_run_remedies, store, {item.area.kind: item.remedies for _, item in areas_made})
    problems_found = worst_first(areas)
    problems = [
        replace(problem, fixes=remedies[problem.area](problem))
        if index < mended and problem.area in remedies
        else problem
        for index, problem in enumerate(problem for problem in problems_found if not problem.elsewhere)
    ]
    waiting = {(pod.metadata.namespace, pod.metadata.name): pod for pod in states.pods_without_node()}
    if any(waiting_pod(problem, waiting) is not None for problem in problems):
        seen = _with_pods(store, waiting.values())
        problems = [
            _with_nodes(seen, problem, waiting, options, mended=index < mended)
            for index, problem in enumerate(problems)
        ]
    failed_reads = (*find_unread(store, reads), *_find_unread_pods(store, waiting.values()))
    is_complete = sums is not None and not any(failed_read.required for failed_read in failed_reads)
    elsewhere = tuple(problem for problem in problems_found if problem.elsewhere)
    shown = tuple(without_problems(store, reads, area) for area in areas)
    return Overview(namespace, shown, tuple(problems), failed_reads, is_complete, elsewhere, workloads)


#: What keeps a number of pods and is no part of something that does.
_COUNTED_ELSEWHERE = tuple(kind for kind in SCALED if WORKLOADS[kind].revision is not None)


#: Namespaces whose pods are counted again.
_RECOUNTED = 5


def recount_needs(store: Store, namespace: str) -> tuple[ReadRequest, ...]:
    """Return the reads of the pods that tell whether a quota which refused some counts more than there is."""
    reads = (
        read
        for subject in subjects_of(store, namespace)
        if isinstance(workload := store.get(subject.ref.kind, subject.ref.name, subject.ref.namespace), Workload)
        for read in refusing_quota_needs(store, subject.ref.kind, workload)
        if read.kind == "Pod"
    )
    return tuple(islice(dict.fromkeys(reads), _RECOUNTED))


def elsewhere_needs() -> tuple[ReadRequest, ...]:
    """Return the reads for how other namespaces fare."""
    return tuple(ReadRequest(kind, required=False) for kind in _COUNTED_ELSEWHERE)


def elsewhere(store: Store, namespace: str) -> Elsewhere | None:
    """Return how the other namespaces fare; None where their workloads were not read."""
    if not all(store.covered(read).is_known for read in elsewhere_needs()):
        return None
    count, unready = 0, Counter[str]()
    for kind in _COUNTED_ELSEWHERE:
        for workload in store.all(kind):
            space = workload.metadata.namespace
            if space == namespace:
                continue
            count += 1
            unready[space] += _lacks_pods(kind, workload)
    spaces = tuple(space for space, number in unready.most_common() if number)
    return Elsewhere(count, unready.total(), spaces)


def _lacks_pods(kind: str, workload: Workload) -> bool:
    try:
        replicas = replicas_of(kind, workload)
    except UsageError:
        return False
    if replicas is None:
        return False
    unready = workload.status.ready_replicas < replicas.wanted
    return unready or bool(replicas.missing_pods) or is_failing(workload)


def _find_unread_pods(store: Store, waiting: Iterable[Pod]) -> Iterator[FailedRead]:
    """Yield the pods that wait for a node and were listed, but could not be read as the scheduler sees them."""
    from kubectl_kres.model import scheduling  # noqa: PLC0415 - only where a pod waits for a node

    for pod in waiting:
        read = ReadRequest(scheduling.POD, pod.metadata.namespace, pod.metadata.name)
        if store.covered(read).state in {"denied", "failed"}:
            yield from find_unread(store, (read,))


def waiting_pod(problem: Problem, waiting: Mapping[tuple[str, str], Pod]) -> Pod | None:
    """Return the pod that waits for a node, of those by namespace and name, where that is the problem."""
    state = problem.run_state
    if state is None or state.reason != "NoNode":
        return None
    return waiting.get((problem.subject.namespace, state.pod or problem.subject.name))


def _with_pods(store: Store, waiting: Iterable[Pod]) -> Store:
    """Return the store with pods that were read page by page, of which none stays."""
    seen = store.copied()
    for pod in waiting:
        seen.add("Pod", pod)
    return seen


def _with_nodes(
    store: Store,
    problem: Problem,
    waiting: Mapping[tuple[str, str], Pod],
    options: EvaluationOptions,
    *,
    mended: bool,
) -> Problem:
    """Return the problem with what nodes say, where its pod waits for one and they were read; ``mended``: with what
    lets a node take it.
    """
    if (pod := waiting_pod(problem, waiting)) is None:
        return problem
    from kubectl_kres.reports.scheduling.report import nodes_in_list  # noqa: PLC0415 - only where a pod waits for a node

    nodes = nodes_in_list(store, pod, options.server.version[1])
    fixes = problem.fixes
    if mended and nodes is not None and nodes.complete and nodes.no_node_fits:
        from kubectl_kres.reports.explain.node_fixes import find_node_fixes  # noqa: PLC0415 - as above

        fixes = find_node_fixes(store, problem.subject, pod, options) or fixes
    return replace(problem, nodes=nodes, fixes=fixes)


def without_problems(store: Store, reads: Sequence[ReadRequest], area: OverviewArea) -> OverviewArea:
    """Return the area without its problems; where its kind is not known, with the reason instead of a count."""
    read = next((read for read in reads if read.kind == area.kind), None)
    state = store.covered(read).state if read is not None else "read"
    if state == "absent" or (state in _UNKNOWN and not area.count):
        return OverviewArea(area.name, area.kind, state=state)
    return replace(area, problems=())


def worst_first(areas: Iterable[OverviewArea]) -> list[Problem]:
    """Return the problems of all areas, faults before warnings, else in the order of the areas. An object is reported
    once.
    """
    result: dict[ObjectRef, Problem] = {}
    for problem in (problem for area in areas for problem in area.problems):
        result.setdefault(problem.subject, problem)
    return sorted(result.values(), key=lambda problem: SEVERITIES.index(problem.severity))
