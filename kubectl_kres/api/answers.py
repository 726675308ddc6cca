"""The functions: one for each command, with the same answers.

An object is TYPE/NAME of the cluster (``deploy/web``), a file, a mapping, or an object of a Kubernetes client.
``cluster`` is what ``open_cluster``, ``open_snapshot`` or ``demo`` returned; without one the ``policies`` are all there
are. ``policies`` (LimitRanges, ResourceQuotas, namespaces, classes, as objects or files) replace the cluster's of the
same name. ``kube_version`` wins over what the server says of itself.
All raise KresError: UsageError, InputError, NotFound, Forbidden and other ClusterErrors.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from kubectl_kres.api.results import Answer, Answers, Explanation, missing_kinds
from kubectl_kres.errors import UsageError

if TYPE_CHECKING:
    from kubectl_kres.api.clusters import Cluster
    from kubectl_kres.reports.changes.report import ChangeReport
    from kubectl_kres.reports.check.finding import CheckFinding
    from kubectl_kres.reports.explain.difference import Difference
    from kubectl_kres.reports.namespace.policy_explanation import PolicyExplanation
    from kubectl_kres.reports.qos.qos_report import PodQos
    from kubectl_kres.reports.quota.denied import Denied
    from kubectl_kres.reports.quota.fit import Fit
    from kubectl_kres.reports.quota.quota_report import QuotaReport

T = TypeVar("T")


def explain(
    item: Any,
    *,
    cluster: Cluster | None = None,
    namespace: str = "",
    policies: Sequence[Any] | None = None,
    kube_version: str = "",
) -> Explanation:
    """Return whether a pod, or the next pod of a workload, is admitted, what would unblock it, and what set each
    value; of a claim, a Service or a policy what it costs, allows or gives.
    """
    return _select_only_object(
        explain_all([item], cluster=cluster, namespace=namespace, policies=policies, kube_version=kube_version)
    )


def explain_all(
    items: Iterable[Any],
    *,
    cluster: Cluster | None = None,
    namespace: str = "",
    policies: Sequence[Any] | None = None,
    kube_version: str = "",
) -> list[Explanation]:
    """Return the same of several objects, each by itself: what one uses of a quota is not missing for the next."""
    from kubectl_kres.api.question import AnswerScope, OtherKinds, prepare_answers
    from kubectl_kres.render.pod import explain as render
    from kubectl_kres.reports.common.system import answers_about
    from kubectl_kres.reports.explain.explain import explain as explanation
    from kubectl_kres.reports.namespace.explain_policy import explain_policy, policy_needs
    from kubectl_kres.reports.remedies.rivals import needs_with_rivals

    more_reads = OtherKinds(lambda kind: answers_about(kind).explained == "policy", policy_needs)
    scope = AnswerScope(cluster, namespace, policies, kube_version)
    prepared = prepare_answers(list(items), scope, needs_with_rivals, more_reads)
    store, origin = prepared.store, prepared.store.origin
    return [
        *(
            Explanation(
                explanation(store, subject, prepared.options),
                "Explanation",
                origin,
                lambda report, width: render.lines(report, whole=True, width=width, now=prepared.options.now),
                store,
            )
            for subject in prepared.subjects
        ),
        *(
            Explanation(explain_policy(store, subject, prepared.options), "Explanation", origin, _policy_lines, store)
            for subject in prepared.counted
        ),
    ]


def _policy_lines(report: PolicyExplanation, width: int) -> Iterator[str]:
    from kubectl_kres.render.quota import policy as render

    return render.lines(report, width=width)


def qos(
    item: Any,
    *,
    cluster: Cluster | None = None,
    namespace: str = "",
    policies: Sequence[Any] | None = None,
    kube_version: str = "",
) -> Answer[PodQos]:
    """Return the QoS class, what decides it, and the smallest change to another one."""
    from kubectl_kres.api.question import AnswerScope, prepare_answers
    from kubectl_kres.render.pod import qos as render
    from kubectl_kres.reports.pod.needs import needs_with_node
    from kubectl_kres.reports.qos.qos_report import no_class_reason, quality

    wants = partial(needs_with_node, seen=True)
    prepared = prepare_answers([item], AnswerScope(cluster, namespace, policies, kube_version), wants)
    subject = _select_only_object(prepared.subjects)
    report = quality(prepared.store, subject, prepared.options)
    if report is None:
        raise UsageError(f"{subject.ref}: no class, since {no_class_reason(subject)}")
    store = prepared.store
    return Answer(report, "Qos", store.origin, lambda value, width: render.lines(value, width=width), store)


def diff(
    item: Any,
    *,
    cluster: Cluster | None = None,
    namespace: str = "",
    policies: Sequence[Any] | None = None,
    kube_version: str = "",
) -> Answer[Difference]:
    """Return what the API server changes in a manifest or template, or would change in a live pod today."""
    from kubectl_kres.api.question import AnswerScope, prepare_answers
    from kubectl_kres.render.pod import diff as render
    from kubectl_kres.reports.explain.difference import diff as difference
    from kubectl_kres.reports.pod.needs import list_read_requests

    prepared = prepare_answers([item], AnswerScope(cluster, namespace, policies, kube_version), list_read_requests)
    report = difference(prepared.store, _select_only_object(prepared.subjects), prepared.options)
    store = prepared.store
    return Answer(report, "Diff", store.origin, lambda value, width: render.lines(value, width=width), store)


def fit(
    item: Any,
    *,
    cluster: Cluster | None = None,
    namespace: str = "",
    policies: Sequence[Any] | None = None,
    kube_version: str = "",
) -> Answer[Fit]:
    """Return how many more pods of a template the quotas have room for, and whether a rolling update goes through."""
    from kubectl_kres.api.question import AnswerScope, prepare_answers
    from kubectl_kres.render.quota import fit as render
    from kubectl_kres.reports.quota.fit import fit as fitting
    from kubectl_kres.reports.remedies.rivals import needs_with_nodes

    prepared = prepare_answers([item], AnswerScope(cluster, namespace, policies, kube_version), needs_with_nodes)
    report = fitting(prepared.store, _select_only_object(prepared.subjects), prepared.options)
    store = prepared.store
    return Answer(report, "Fit", store.origin, lambda value, width: render.lines(value, width=width), store)


def simulate(
    *items: Any,
    cluster: Cluster,
    namespace: str = "",
    scale: Mapping[str, int] | None = None,
    delete: Sequence[str] = (),
    rollouts: int | None = None,
) -> Answer[ChangeReport]:
    """Return what becomes of a change before it is made: first deletes, then items, then ``{"deploy/web": 9}``.

    ``rollouts``: so many workloads are restarted at once afterwards, 1 if it is not given; without a change it is one.
    """
    from kubectl_kres.api.simulation import simulate_change
    from kubectl_kres.render import change_report as render

    space = namespace or cluster.namespace or "default"
    report, store = simulate_change(items, cluster, space, scale or {}, delete, rollouts)
    return Answer(
        report, "Change", store.origin, lambda value, width: render.lines(value, color=False, width=width), store
    )


def check(
    *items: Any,
    cluster: Cluster | None = None,
    namespace: str = "",
    select: Sequence[str] = (),
    ignore: Sequence[str] = (),
    policies: Sequence[Any] | None = None,
    kube_version: str = "",
) -> Answers[Answer[CheckFinding]]:
    """Return what is wrong or about to be, the worst first: in ``items``, or without any in a namespace of the cluster.

    ``select`` and ``ignore``: codes of rules, or their beginnings. Each item is checked by itself.
    """
    from kubectl_kres.api.question import AnswerScope
    from kubectl_kres.api.simulation import found_in, list_check_findings
    from kubectl_kres.render import check as text
    from kubectl_kres.render.text.sentences import in_words
    from kubectl_kres.reports.check.check import select_codes

    codes = select_codes(select, ignore, ("select", "ignore"))
    if items:
        check_findings, store = list_check_findings(
            items, AnswerScope(cluster, namespace, policies, kube_version), codes
        )
    elif cluster is None or policies is not None:
        raise UsageError("check needs items, or a cluster whose namespace is checked")
    else:
        check_findings, store = found_in(cluster, namespace or cluster.namespace or "default", kube_version, codes)
    answers = (
        Answer(
            in_words(check_finding),
            "Check",
            store.origin,
            lambda report, width: text.block(report, color=False, width=width),
            store,
        )
        for check_finding in check_findings
    )
    return Answers(answers, missing_kinds(store, "check"))


def quota(
    cluster: Cluster, namespace: str = "", *, all_namespaces: bool = False, by: str = "", recount: bool = False
) -> Answers[Answer[QuotaReport]]:
    """Return the quotas of a namespace: hard, used, left. ``by``: pod, workload or another word of ``--by``, who uses
    them.

    ``recount``: whether the status is what the objects come to.
    """
    from kubectl_kres.api.question import server_options
    from kubectl_kres.render.quota import quota_blocks as render
    from kubectl_kres.reports.quota.quota_report import quota_reports
    from kubectl_kres.reports.quota.usage_tree import counting_needs, owner_needs
    from kubectl_kres.store.store import ReadRequest

    space, reading = _space(cluster, namespace, all_namespaces=all_namespaces), cluster.reading()
    missing = _list(reading, ReadRequest("ResourceQuota", space))
    quotas, options = list(reading.store.all("ResourceQuota", space or None)), server_options(reading.store, "")
    if by or recount:
        reading.fill(counting_needs(quotas, options.server, space))
    if by == "workload":
        reading.fill(owner_needs(reading.store, space))
    store = reading.store
    answers = (
        Answer(report, "Quota", store.origin, lambda value, width: render.lines(value, width=width), store)
        for report in quota_reports(reading.store, quotas, options, recounted=recount, by=by)
    )
    return Answers(answers, missing)


def denied(cluster: Cluster, namespace: str = "", *, all_namespaces: bool = False) -> Answers[Answer[Denied]]:
    """Return the workloads and TaskRuns of a namespace whose pods are being refused now, and what would get them
    admitted.
    """
    from kubectl_kres.api.question import server_options
    from kubectl_kres.model.workload_kinds import POD_MAKERS
    from kubectl_kres.render.quota import fit as render
    from kubectl_kres.reports.pod.needs import list_read_requests
    from kubectl_kres.reports.quota import denied as denying
    from kubectl_kres.store.store import ReadRequest, fill_all

    space, reading = _space(cluster, namespace, all_namespaces=all_namespaces), cluster.reading()
    reading.fill(denying.denied_needs(space))
    missing = tuple(line for kind in POD_MAKERS for line in _list(reading, ReadRequest(kind, space)))
    reading.fill(denying.needs_of_systems(reading.store, space))
    store, options = reading.store, server_options(reading.store, "")
    subjects = tuple(denying.subjects_of(store, space))
    fill_all(reading, lambda: (read for subject in subjects for read in list_read_requests(store, subject)))
    denials = (denying.find_refusal(store, subject, options) for subject in subjects)
    answers = (
        Answer(report, "Denied", store.origin, lambda value, width: render.denied_lines(value, width=width), store)
        for report in denials
        if report is not None
    )
    return Answers(answers, (*missing, *missing_kinds(store, "quota")))


def claims(cluster: Cluster, namespace: str = "", *, all_namespaces: bool = False) -> Answers[Answer[Any]]:
    """Return the claims on Capsule's resource pools in a namespace: which have what they ask for, and why the others
    wait. A report is a ``kubectl_kres.capsule.reports.claim.claims.ClaimReport``.
    """
    return _reports_of_system("ResourcePoolClaim", cluster, namespace, all_namespaces=all_namespaces)


def _reports_of_system(kind: str, cluster: Cluster, namespace: str, *, all_namespaces: bool) -> Answers[Answer[Any]]:
    """Return a report about each object of a kind of a system."""
    from kubectl_kres.api.system import listed_kind
    from kubectl_kres.store.store import ReadRequest, fill_all

    listed = listed_kind(kind)
    space, reading = _space(cluster, namespace, all_namespaces=all_namespaces), cluster.reading()
    missing = _list(reading, ReadRequest(kind, space))
    fill_all(reading, lambda: listed.reads(reading.store, space))
    reports = listed.reports(reading.store, space)
    return Answers((Answer(report, listed.document, reading.store.origin, listed.lines) for report in reports), missing)


def _space(cluster: Cluster, namespace: str, *, all_namespaces: bool) -> str:
    """Return the namespace that is asked about; empty: all. Raises UsageError where both are named."""
    if not all_namespaces:
        return namespace or cluster.namespace or "default"
    if namespace:
        raise UsageError(f"namespace {namespace} and all_namespaces exclude each other")
    return ""


def _list(reading: Any, read: Any) -> tuple[str, ...]:
    """Return which objects of a list could not be read. Raises ClusterError where it is not known which, or none could;
    what the server has not is an empty list.
    """
    from kubectl_kres.model.kinds import BY_KIND
    from kubectl_kres.model.objects import ObjectRef
    from kubectl_kres.reports.common.explanation import Subject
    from kubectl_kres.reports.pod.manifest_source import missing_error

    reading.fill([read])
    coverage = reading.store.covered(read)
    if not coverage.has_all_objects:
        raise missing_error(reading.store, Subject(ObjectRef(read.kind, "", read.namespace), BY_KIND[read.kind]))
    return tuple(each.line for each in coverage.left_out)


def _select_only_object(value: Sequence[T]) -> T:
    """Raises UsageError where there are several."""
    if len(value) != 1:
        raise UsageError(f"{len(value)} objects, one was expected: explain_all takes several")
    return value[0]
