"""The areas of Kubernetes itself: quotas, LimitRanges, pods by class, and workloads whose pods are refused."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from kubectl_kres.errors import KresError
from kubectl_kres.model.meta import ObjectRef
from kubectl_kres.model.policy import ResourceQuota
from kubectl_kres.quantity import parse
from kubectl_kres.reports.common.remedy import RaiseQuota, Remedy
from kubectl_kres.reports.common.resource_lists import NEARLY_FULL
from kubectl_kres.reports.common.subject import Ask
from kubectl_kres.reports.common.system_parts import Severity
from kubectl_kres.reports.namespace.effective_limits import merged
from kubectl_kres.reports.overview.area import (
    AreaInput,
    AreaMaker,
    AreaPart,
    Made,
    OverviewArea,
    Problem,
    parts_of,
)
from kubectl_kres.reports.pod.events import refused_since
from kubectl_kres.reports.pod.verdict import word_of
from kubectl_kres.reports.qos.qos_reach import CLASSES
from kubectl_kres.reports.qos.qos_sums import NamespaceSums
from kubectl_kres.reports.quota.denied import Denied, denied, subjects_of
from kubectl_kres.reports.quota.quota_report import QuotaReport, Use, quota_reports
from kubectl_kres.reports.remedies.commands import asking, commands, keeper
from kubectl_kres.reports.remedies.words import listed, sentence
from kubectl_kres.store.store import Store

#: Problems of an area that are listed; its list has all of them.
MOST = 50

#: States of a quota from the worst on.
QUOTA_STATES: Mapping[str, Severity] = {
    "over": "bad",
    "full": "bad",
    "near": "warn",
    "unreadable": "unknown",
    "no status": "unknown",
    "empty": "",
    "ok": "",
}


def tightest(report: QuotaReport) -> Use | None:
    """The name with the least left in proportion; what is over comes before what is full."""
    used = [use for use in report.uses if use.used is not None]
    return max(used, key=lambda use: (use.over, -1 if use.percent is None else use.percent), default=None)


def quota_state(report: QuotaReport | str) -> str:
    """A word of ``QUOTA_STATES``; a text instead of a report says why it cannot be read."""
    if isinstance(report, str):
        return "unreadable"
    if not report.enforced:
        return "no status"
    tight = tightest(report)
    if tight is None:
        return "empty"
    if tight.over:
        return "over"
    percent = tight.percent or 0
    return "full" if percent >= 100 else "near" if percent >= NEARLY_FULL else "ok"


def read_quota(store: Store, ask: Ask, quota: ResourceQuota) -> QuotaReport | str:
    """The report of one quota; a text where it holds what is no quantity."""
    try:
        [report] = quota_reports(store, [quota], ask)
    except KresError as error:
        return error.message
    return report


def _quotas(scene: AreaInput) -> Made:
    counts: dict[str, int] = {}
    problems: list[Problem] = []
    for quota in scene.store.all("ResourceQuota", scene.namespace or None):
        report = scene.quota(quota)
        state = quota_state(report)
        counts[state] = counts.get(state, 0) + 1
        if severity := QUOTA_STATES[state]:
            problems.append(_quota_problem(quota, report, state, severity))
    order = list(QUOTA_STATES)
    problems.sort(key=lambda problem: (order.index(problem.state), -(problem.percent or 0), problem.subject.key))
    parts = parts_of(counts, QUOTA_STATES)
    area = OverviewArea("quotas", "ResourceQuota", sum(counts.values()), parts, problems=tuple(problems[:MOST]))
    return Made(area, lambda problem: _quota_remedies(scene, problem))


def _quota_problem(quota: ResourceQuota, report: QuotaReport | str, state: str, severity: Severity) -> Problem:
    ref = ObjectRef("ResourceQuota", quota.metadata.name, quota.metadata.namespace)
    if isinstance(report, str):
        return Problem("quotas", ref, severity, state, reason=report)
    use = tightest(report) if report.enforced else None
    if use is None:
        return Problem("quotas", ref, severity, state)
    return Problem("quotas", ref, severity, state, use.name, use.used or "", use.hard, use.percent)


def _quota_remedies(scene: AreaInput, problem: Problem) -> tuple[Remedy, ...]:
    """What ends that more is used than allowed; a quota that is only full is as its owner wants it."""
    quota = scene.store.get("ResourceQuota", problem.subject.name, problem.subject.namespace)
    if problem.state != "over" or quota is None:
        return ()
    report = scene.quota(quota)
    over = [use for use in report.uses if use.over] if isinstance(report, QuotaReport) else []
    edits = tuple(
        RaiseQuota(problem.subject, f"spec.hard[{use.name}]", use.name, use.used or "", from_=use.hard) for use in over
    )
    kept = keeper(quota.metadata)
    excess = listed([f"{-parse(use.left or '0')} of {use.name}" for use in over])
    made = commands(scene.store.origin, edits, {problem.subject: kept} if kept else {})
    ask = asking(scene.store.origin, problem.subject)
    return (Remedy(f"free {excess}", ask=ask), Remedy(f"{sentence(edits)}, as much as is used", edits, made, kept))


def _limits(scene: AreaInput) -> Made:
    limit_ranges = list(scene.store.all("LimitRange", scene.namespace or None))
    counts = {"that nothing can meet": 0, "that depend on LimitRange order": 0, "sound": 0}
    for space in dict.fromkeys(item.metadata.namespace for item in limit_ranges):
        for row in merged(scene.store, space):
            sound = row.certain and not row.assumptions
            word = list(counts)[0 if row.band.excluding else 2 if sound else 1]
            counts[word] += 1
    order: dict[str, Severity] = dict(zip(counts, ("bad", "warn", ""), strict=True))
    return Made(OverviewArea("limitranges", "LimitRange", len(limit_ranges), parts_of(counts, order), "bounds"))


QUOTAS = AreaMaker("quotas", ("ResourceQuota",), _quotas)
LIMITRANGES = AreaMaker("limitranges", ("LimitRange",), _limits)


def pod_area(sums: Iterable[NamespaceSums]) -> OverviewArea:
    """Pods by QoS class, out of sums of namespaces without their total."""
    counts = {**dict.fromkeys(CLASSES, 0), "finished": 0}
    for namespace_sums in sums:
        for name, count in namespace_sums.classes.items():
            counts[name] += count
        counts["finished"] += namespace_sums.finished
    return OverviewArea("pods", "Pod", sum(counts.values()), parts_of(counts, dict.fromkeys(counts, "")))


def refused(store: Store, namespace: str, ask: Ask) -> Iterator[Denied | None]:
    """Every workload that is looked at, one after the other: its refusal, or None where its pods are not refused."""
    for subject in tuple(subjects_of(store, namespace)):
        try:
            yield denied(store, subject, ask)
        except KresError:
            # It went meanwhile, or holds what is no quantity: its own answer says so.
            yield None


def refused_area(refusals: Iterable[Denied | None]) -> OverviewArea:
    """How many of those are refused, those that lack most pods first."""
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
    return OverviewArea("refused", "Deployment", len(rows), shown, "workloads", problems=tuple(problems[:MOST]))


def _refusal(denied: Denied) -> Problem:
    pods, verdict = denied.replicas, denied.verdict
    missing, wanted = (pods.missing, pods.wanted) if pods is not None else (max(1, verdict.missing),) * 2
    word = word_of(denied.verdict)
    # Refused before and not any more: the controller tries again by itself.
    again = word in {"admitted", "full"}
    since = refused_since(denied.seen) or (denied.seen[0].time if denied.seen else "")
    return Problem(
        "refused",
        denied.subject,
        "warn" if again or word == "depends-on-order" else "bad",
        "waiting" if again else word,
        verdict=denied.verdict,
        missing=missing,
        wanted=wanted,
        since=since,
        remedies=denied.remedies,
    )
