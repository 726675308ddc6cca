"""The input of rules: a namespace with its evaluated workloads, or the cluster-scoped objects.

A ``Rule`` has a code, its texts, and the function that finds violations.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import count, islice
from typing import TYPE_CHECKING, Any, Literal, TypeVar, cast

from msgspec import Struct, structs

from kubectl_kres.admission.base.draft import Draft
from kubectl_kres.admission.quota.quota_admission import Quota
from kubectl_kres.errors import KresError, UsageError
from kubectl_kres.model.kinds import BY_KIND
from kubectl_kres.model.objects import ObjectRef, ResourceQuota
from kubectl_kres.model.workload import Workload
from kubectl_kres.reports.check.finding import ALL_OBJECTS, Diagnostic, Severity
from kubectl_kres.reports.common import explanation
from kubectl_kres.reports.common.analysis import Analysis
from kubectl_kres.reports.common.effective_policies import NamespacePolicies, demands, policies
from kubectl_kres.reports.common.remedy import Remedy
from kubectl_kres.reports.common.replicas import Replicas, pods_of
from kubectl_kres.reports.common.system import answers_about
from kubectl_kres.reports.explain.explain import analysis_of, explain, verdict_of_analysis
from kubectl_kres.reports.namespace.allowed_ranges import Conflict, find_conflicts
from kubectl_kres.reports.quota.quota_report import QuotaReport, quota_reports
from kubectl_kres.store.store import Store

if TYPE_CHECKING:
    from kubectl_kres.reports.changes.combined_answer import CombinedAnswer

T = TypeVar("T")


class EvaluatedWorkload(Struct, frozen=True):
    """A workload, or a pod without an owner, with every outcome of its next pod."""

    subject: explanation.Subject
    analysis: Analysis
    replicas: Replicas | None = None

    @property
    def ref(self) -> ObjectRef:
        return self.subject.ref

    @property
    def draft(self) -> Draft | None:
        """The next pod as it would be stored, in the first order of LimitRanges; None where it cannot be decoded."""
        draft: Draft | None = self.analysis.outcomes[0].draft
        return draft

    def path_of(self, path: str) -> str:
        """Return the path of the pod's field in the object itself."""
        return f"{self.analysis.manifest.prefix}{path}"

    @property
    def has_ended(self) -> bool:
        """Return whether it is a run that has ended, so that the answer is about a new one."""
        return self.analysis.made_pod is not None and self.analysis.made_pod.about_another

    @property
    def lacks_room_alone(self) -> bool:
        """Return whether the next pod is refused in some order of LimitRanges, and only by full quotas."""
        refusals = [outcome.refusal for outcome in self.analysis.outcomes if outcome.refusal is not None]
        rules = [finding.rule for refusal in refusals for finding in refusal.findings]
        return bool(refusals) and all(rule == "quota/exceeded" for rule in rules)

    @property
    def admitted(self) -> bool:
        """Return whether the next pod is admitted in every order."""
        return all(outcome.allowed for outcome in self.analysis.outcomes)


class RemedyBudget:
    """The number of refused workloads of a run that still get a tested remedy; testing takes longer than finding
    them.

    ``shown``: of so many findings, the worst, the remedies are shown; None: of all.
    """

    def __init__(self, left: int = 25, *, shown: int | None = None) -> None:
        self._remaining, self._shown = left, shown
        self._found: list[tuple[str, str]] = []

    def add_error(self, code: str, ref: ObjectRef) -> None:
        """Take note of a finding that is an error: these are shown first, by code and object."""
        insort(self._found, (code, ref.full_name))

    def shows(self, code: str, ref: ObjectRef) -> bool:
        """Return whether a finding may be shown, for all that was found so far."""
        return self._shown is None or bisect_left(self._found, (code, ref.full_name)) < self._shown

    def takes(self, code: str, ref: ObjectRef) -> bool:
        """Return whether a finding gets a tested remedy, and count it."""
        if not self._remaining:
            return False
        self._remaining -= 1
        return self.shows(code, ref)


class CheckContext:
    """A namespace of a store, or the cluster-scoped objects if there is no namespace.

    ``subjects``: workloads, and pods without an owner. ``of_files``: only what files hold is asked
    about; ``spaces``: only what stands in these namespaces, or in none. ``unread``: what could not be read.
    """

    def __init__(
        self,
        store: Store,
        options: explanation.EvaluationOptions,
        namespace: str = "",
        subjects: Sequence[explanation.Subject] = (),
        unread: Sequence[explanation.FailedRead] = (),
        *,
        of_files: bool = False,
        spaces: Collection[str] = (),
        budget: RemedyBudget | None = None,
        combined: CombinedAnswer | None = None,
        counted: Sequence[explanation.Subject] = (),
    ) -> None:
        self.store, self.options, self.namespace = store, options, namespace
        self.subjects, self.unread, self.of_files, self.spaces = subjects, unread, of_files, spaces
        #: How far the workloads of several files get side by side.
        self.combined = combined
        #: The objects of files that make no pods and that the server may refuse: claims, Services, what is counted.
        self.counted = counted
        #: The objects that no answer could be given about, with the error.
        self.unanswered: list[tuple[explanation.Subject, KresError]] = []
        self._verdicts: dict[ObjectRef, explanation.Verdict] = {}
        self._evaluated: list[EvaluatedWorkload] = []
        self._pending = self._evaluate()
        self._shared_values: dict[Callable[[CheckContext], Any], Any] = {}
        self._budget = budget or RemedyBudget()

    def compute_once(self, compute: Callable[[CheckContext], T]) -> T:
        """Return what several rules look at, computed when the first of them asks."""
        if compute not in self._shared_values:
            self._shared_values[compute] = compute(self)
        return cast("T", self._shared_values[compute])

    def selects(self, ref: ObjectRef) -> bool:
        """Return whether findings about an object are selected."""
        if self.of_files:
            return ref in self.store.files or ref in self.written_manifests
        return not (self.spaces and ref.namespace) or ref.namespace in self.spaces

    @cached_property
    def written_manifests(self) -> Mapping[ObjectRef, Mapping[str, Any]]:
        """The manifests of the files' subjects."""
        asked = (*self.subjects, *self.counted)
        return {subject.ref: subject.raw for subject in asked if subject.raw is not None}

    @cached_property
    def policies(self) -> NamespacePolicies:
        """The policies of the namespace."""
        return policies(self.store, self.namespace, self.options.server)

    @property
    def quotas(self) -> Sequence[Quota]:
        """The quotas of the namespace that are enforced."""
        return self.policies.policies.quotas

    @cached_property
    def demands(self) -> Sequence[explanation.Demand]:
        """The values that quotas require of each container; empty where LimitRanges could not be read."""
        policies = self.policies.policies
        blind = any(failed_read.kind == "LimitRange" for failed_read in self.unread)
        return () if blind else tuple(demands(policies.quotas, policies.limits))

    @cached_property
    def conflicts(self) -> Sequence[Conflict]:
        """The contradictions between LimitRanges and quotas."""
        policies = self.policies.policies
        return tuple(dict.fromkeys(find_conflicts(policies.limits, policies.quotas, self.demands)))

    @cached_property
    def evaluated_workloads(self) -> Sequence[EvaluatedWorkload]:
        """The subjects that have an answer."""
        return tuple(self.iter_evaluated())

    def iter_evaluated(self) -> Iterator[EvaluatedWorkload]:
        """Yield the subjects that have an answer, one by one. Each is evaluated only once."""
        for index in count():
            if index == len(self._evaluated):
                self._evaluated.extend(islice(self._pending, 1))
            if index == len(self._evaluated):
                return
            yield self._evaluated[index]

    def _evaluate(self) -> Iterator[EvaluatedWorkload]:
        for subject in self.subjects:
            if answers_about(subject.kind).several:
                continue  # a rule of the system that makes its pods looks at it
            try:
                analysis = analysis_of(self.store, subject, self.options, journal=False)
                replicas = self._replicas(subject)
            except KresError as error:
                self.unanswered.append((subject, error))
            else:
                yield EvaluatedWorkload(subject, analysis, replicas)

    def _replicas(self, subject: explanation.Subject) -> Replicas | None:
        """Return the replicas; None for a kind without a number of pods, and for a file with a number that the server
        refuses.
        """
        workload = self._workload(subject)
        try:
            return pods_of(self.store, subject.ref.kind, workload) if workload is not None else None
        except UsageError:
            if subject.raw is None:
                raise
            return None

    def _workload(self, subject: explanation.Subject) -> Workload | None:
        """Return the workload itself; of a file with the pods that the cluster has of it, and its replicas if it has
        none.
        """
        result = self.store.get(subject.ref.kind, subject.ref.name, self.namespace)
        stored = result if isinstance(result, Workload) else None
        written = explanation.manifest_workload(subject)
        if written is None or stored is None:
            return written or stored
        replicas = written.spec.replicas if written.spec.replicas is not None else stored.spec.replicas
        spec = structs.replace(written.spec, replicas=replicas)
        return structs.replace(written, metadata=stored.metadata, spec=spec, status=stored.status)

    def verdict(self, evaluated: EvaluatedWorkload) -> explanation.Verdict:
        """Return the verdict of a subject, the same as in its explanation."""
        if evaluated.ref not in self._verdicts:
            self._verdicts[evaluated.ref] = verdict_of_analysis(self.store, evaluated.subject, evaluated.analysis)
        return self._verdicts[evaluated.ref]

    def shows(self, code: str, ref: ObjectRef) -> bool:
        """Return whether a finding may be shown with what is to be done about it."""
        return self._budget.shows(code, ref)

    def remedy(self, code: str, evaluated: EvaluatedWorkload) -> Remedy | None:
        """Return the first tested remedy that gets all pods admitted; None: there is none, the budget is spent, or it
        would not be shown.
        """
        if not self._budget.takes(code, evaluated.ref):
            return None
        return next(iter(explain(self.store, evaluated.subject, self.options).fixes), None)

    @cached_property
    def quota_reports(self) -> Sequence[QuotaReport]:
        """The quotas of the namespace with what a recount of its objects finds."""
        resource_quotas: list[ResourceQuota] = [*self.store.all("ResourceQuota", self.namespace)]
        try:
            return tuple(quota_reports(self.store, resource_quotas, self.options, recounted=True))
        except KresError as error:
            quotas = explanation.Subject(
                ObjectRef("ResourceQuota", ALL_OBJECTS, self.namespace), BY_KIND["ResourceQuota"]
            )
            self.unanswered.append((quotas, error))
            return ()


class Rule(Struct, frozen=True):
    """``message`` has the names of ``Diagnostic.values`` in braces. ``reason``: why it matters; ``remedy``: what to do.

    ``scope``: the contexts that it looks at: each namespace, what stands beside namespaces, or both.
    """

    code: str
    title: str
    severity: Severity
    reason: str
    remedy: str
    message: str
    find: Callable[[CheckContext], Iterator[Diagnostic]]
    scope: Literal["namespace", "cluster", "both"] = "namespace"
