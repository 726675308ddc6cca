"""What a system beside Kubernetes' own controllers adds to the answers about pods, quotas and namespaces.

A system is a subclass of ``System`` in a folder of its own; ``kubectl_kres.systems`` registers it, and no common folder
imports it. Its module loads the rest of its folder only when a hook has something to say.

``answers_about`` is the one map from kinds to answers that commands, completion and the terminal interface read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, Final, NamedTuple

from kubectl_kres.admission.base.draft import Draft
from kubectl_kres.admission.base.outcome import Finding, Outcome
from kubectl_kres.admission.limitrange import Limits
from kubectl_kres.errors import UsageError
from kubectl_kres.model.kinds import BY_KIND, Kind, is_known
from kubectl_kres.model.objects import ManagedMetadata, Metadata, ObjectRef, ResourceQuota
from kubectl_kres.model.pod import Pod, PodSpec
from kubectl_kres.model.quota_objects import CountedObject
from kubectl_kres.model.workload import Workload
from kubectl_kres.provenance.journal import Assume, Journal
from kubectl_kres.reports.common.analysis import Analysis
from kubectl_kres.reports.common.explanation import EvaluationOptions, Fact, RunState, Subject
from kubectl_kres.reports.common.parts import (
    Edit,
    MergedLimit,
    PoolTrail,
    RaiseQuota,
    Record,
    Remedy,
    RuleSummary,
    Severity,
)
from kubectl_kres.store.store import ReadRequest, Store
from kubectl_kres.systems import registered

#: A remedy by rule, as ``reports.remedies.context`` has it: sentences for a refusal.
Sentences = Callable[[Any], Iterator[str]]


class Right(NamedTuple):
    """A kind and the verbs that read it. ``adds``: what answers lack without it; empty: they are partial.

    ``names``: only objects of these names, in ``namespace``.
    """

    kind: str
    verbs: tuple[str, ...]
    adds: str = ""
    names: tuple[str, ...] = ()
    namespace: str = ""


class KindAnswers(NamedTuple):
    """The answers about objects of a kind.

    ``explained``: by what: ``pod``, ``policy``, or the name of a system that has an explainer; empty: not at all.
    ``one_pod``: they are pods, or make pods of one template, so that diff, qos, --fit and --resize answer, too.
    ``several``: the kind to explain instead where they make several pods. ``as_sent``: an object of a file is evaluated
    as it is written. ``counted``: quotas count them, and they make no pods. ``on_screen``: one can be opened on full
    screen.
    """

    explained: str = ""
    one_pod: bool = False
    several: str = ""
    as_sent: bool = False
    counted: bool = False
    on_screen: bool = True


class Naming(NamedTuple):
    """Names of containers and values. ``titles``: of containers by their path, for sentences; ``fields``: the field
    behind the path of a value.
    """

    titles: Mapping[str, str] = {}
    fields: Mapping[str, str] = {}


class MoreRoom(NamedTuple):
    """The remedy where a system keeps the quotas, so that raising them is lost.

    ``edits`` and ``commands``: what to change, and lines to type. ``waits``: why the room does not come at once.
    ``known`` False: it is not known whether the room comes. ``quota``: one of those quotas. ``why``: why not to raise
    it.
    """

    edits: tuple[Edit, ...]
    commands: tuple[str, ...]
    waits: tuple[str, ...]
    known: bool
    quota: str
    why: str


class CacheKey(NamedTuple):
    """A key that is equal for objects whose explanations differ in some texts alone.

    ``key``: all that an explanation depends on, but for ``texts``: those of this object, its name first.
    """

    key: bytes
    texts: tuple[str, ...]


class TimelineEvent(NamedTuple):
    """A fact with its time and its severity."""

    fact: Fact
    severity: Severity


class System:
    """The hooks of a system; each adds nothing unless a subclass says otherwise."""

    #: What ``Analysis.system`` holds of an analysis of its making.
    name = ""
    #: The API group of its kinds; empty: they are Kubernetes' own.
    group = ""
    #: What there is to say of them, by kind.
    answers: Mapping[str, KindAnswers] = {}
    #: Kinds whose objects its answers about lists depend on although they can do without.
    beside_lists: frozenset[str] = frozenset()
    #: Kinds of which an assumption says that they could not be read.
    assumed: frozenset[str] = frozenset()
    #: Kinds of which it is said that they could not be read only where the server refused to tell.
    said_if_refused: frozenset[str] = frozenset()
    #: Kinds that may change a verdict where they could not be read.
    deciding: frozenset[str] = frozenset()
    #: Kinds whose objects make one pod each and may wait for a quota.
    waiting: tuple[str, ...] = ()
    #: Kinds that ``extend_policies`` looks at.
    policy_kinds: tuple[str, ...] = ()
    #: Kinds of whose objects ``run_state`` says how they fare.
    running: tuple[str, ...] = ()
    #: Kinds whose edits decide about pods; and those of which ``happened`` tells something.
    policies: tuple[str, ...] = ()
    telling: tuple[str, ...] = ()
    #: By command what it reads; of ``pods`` whatever explains pods.
    rights: Mapping[str, tuple[Right, ...]] = {}
    #: Commands of its own that look at pods, too, and what for.
    over_pods: Mapping[str, str] = {}

    def needs(self, store: Store, subject: Subject) -> tuple[ReadRequest, ...] | None:
        """Return all reads that the answer about one of its objects depends on; None: the object is none of its."""

    def needs_beside(self, store: Store, namespace: str, spec: PodSpec | None, *, new: bool) -> Iterable[ReadRequest]:
        """Return further reads for any pod of a namespace. ``new``: the pod does not exist yet.

        ``spec`` is None for a pod that exists: the reads are then the same for all pods of its namespace.
        """
        return ()

    def quota_needs(self, store: Store, namespace: str) -> Iterable[ReadRequest]:
        """Return further reads for all refused workloads of a namespace."""
        return ()

    def namespace_needs(self, store: Store, namespace: str) -> Iterable[ReadRequest]:
        """Return further reads for a namespace as a whole."""
        return ()

    def configuration_needs(self, store: Store) -> Iterable[ReadRequest]:
        """Return the reads of its configuration, as far as it is known by now where to look."""
        return ()

    def cache_key(self, store: Store, subject: Subject, ask: EvaluationOptions) -> CacheKey | None:
        """Return the cache key of one of its objects; None: no other is like it, or the search is not worth it."""

    def refuse_several(self, subject: Subject) -> None:
        """Raise UsageError for an object that makes several pods."""

    def makes(self, store: Store, subject: Subject) -> bool:
        """Return whether it makes the pod of the object, or has made the live pod."""
        return False

    def analysis(
        self, store: Store, subject: Subject, ask: EvaluationOptions, *, journal: bool = True, another: bool = False
    ) -> Analysis | None:
        """Return the analysis of a pod that it makes; None for any other. ``another``: of a new one, where one
        is live.
        """

    def apply_to_pod(self, store: Store, subject: Subject, ask: EvaluationOptions, analysis: Analysis) -> Analysis:
        """Return the analysis of the next pod with the system's decisions about any pod."""
        return analysis

    def apply_to_workload(self, store: Store, subject: Subject, ask: EvaluationOptions, analysis: Analysis) -> Analysis:
        """Return the analysis of the workload of a file with the system's decisions."""
        return analysis

    def missing(self, analysis: Analysis) -> int:
        """Return how many pods an object of its kinds still wants."""
        return 0

    def state(self, analysis: Analysis) -> str:
        """Return why an object that it makes does not run; empty: nothing keeps it."""
        return ""

    def is_about_another(self, analysis: Analysis) -> bool:
        """Return whether the answer is what a new object would meet, since this one has ended."""
        return False

    def remarks(self, store: Store, namespace: str, ask: EvaluationOptions, journal: Journal) -> tuple[Assume, ...]:
        """Return the assumptions of an analysis that it made."""
        return ()

    def facts(self, item: Any) -> tuple[Fact, ...] | None:
        """Return what one of its objects reports about itself; None for any other."""

    def run_state(self, store: Store, item: Any, now: str) -> RunState | None:
        """Return the state of one of its objects; None for any other."""

    def concerns(self, item: Any, namespace: str) -> bool:
        """Return whether one of its cluster-scoped objects decides about pods of this namespace."""
        return True

    def happened(self, item: Any) -> Iterator[TimelineEvent]:
        """Yield what one of its ``telling`` objects says happened to it, with when."""
        return iter(())

    def reach(self, store: Store, subject: Subject, ask: EvaluationOptions, draft: Draft) -> Iterable[Any]:
        """Return the ways to other QoS classes of a pod that it makes."""
        return ()

    def remedies(self) -> Mapping[str, Sentences]:
        """Return the remedies of any pod, by each of its rules that refuses."""
        return {}

    def own_remedies(self) -> Mapping[str, Sentences]:
        """Return the remedies of a pod that it makes; they come before the usual ones."""
        return {}

    def ways(self, store: Store, subject: Subject, analysis: Analysis) -> tuple[Remedy, ...]:
        """Return tested edits with which a pod that it makes is admitted; none where none were found."""
        return ()

    def fix(self, store: Store, subject: Subject, analysis: Analysis) -> Remedy | None:
        """Return a tested change that lets any pod pass the system's rules; None where it knows of none."""

    def adapt_remedies(self, texts: Sequence[str], analysis: Analysis) -> tuple[str, ...]:
        """Return the remedies in sentences for a pod that it makes, adapted to its object."""
        return tuple(texts)

    def naming(self, analysis: Analysis, outcome: Outcome) -> Naming:
        """Return the names of the containers and values of a pod that it makes."""
        return Naming()

    def special(self, store: Store, namespace: str) -> Mapping[str, Sentences]:
        """Return remedies that come before the usual ones in a namespace."""
        return {}

    def trails(self, store: Store, namespace: str, findings: Iterable[Finding]) -> tuple[PoolTrail, ...]:
        """Return where more room comes from, for quotas that it keeps and that refuse."""
        return ()

    def kept_quotas(self, store: Store, namespace: str) -> Mapping[str, str]:
        """Return the names of the quotas of a namespace that it keeps, with the object that sets their hard."""
        return {}

    def more_room(self, store: Store, ref: ObjectRef, lacks: Mapping[str, Mapping[str, str]]) -> MoreRoom | None:
        """Return the remedy instead of raising quotas that it keeps. ``lacks``: missing resources by the source of the
        quotas.
        """

    def source_of_quota(self, store: Store, edit: RaiseQuota) -> RaiseQuota | None:
        """Return what to raise instead of a quota that it makes of another object; None: it makes none of it."""
        return None

    def pool_of(self, quota: ResourceQuota) -> str:
        """Return the object that sets the hard of a quota; empty: the system does not keep it."""
        return ""

    def keeper(self, metadata: Metadata) -> str:
        """Return the sentence that it keeps an object, so that edits are lost; empty: it does not."""
        return ""

    def distributed(self, metadata: ManagedMetadata) -> str:
        """Return the sentence that it distributes a policy, so that edits are lost; empty: it does not."""
        return ""

    def policy_needs(self, store: Store, namespace: str) -> Iterable[ReadRequest]:
        """Return the reads of the objects that ``extend_policies`` uses, where something says that there are any."""
        return ()

    def computed_webhooks(self, store: Store, namespace: str) -> frozenset[str]:
        """Return the names of webhooks whose answers ``extend_policies`` computes for the namespace."""
        return frozenset()

    def extend_policies(self, store: Store, namespace: str, policies: Any) -> tuple[Any, tuple[Assume, ...]]:
        """Return the ``Policies`` of a namespace with what it enforces on pods, and what it assumed about it.

        Called again only where objects of ``policy_kinds`` have changed.
        """
        return policies, ()

    def shared_needs(self, namespace: str, quotas: Iterable[ResourceQuota]) -> tuple[ReadRequest, ...]:
        """Return the reads of quotas of its own kinds, where those of a namespace (empty: of any) suggest them."""
        return ()

    def shared_reports(self, store: Store, namespace: str) -> Iterator[Record]:
        """Yield a QuotaReport for each quota of its own kinds that bears on a namespace; empty: on any."""
        return iter(())

    def rules_of_namespace(self, store: Store, namespace: str) -> tuple[RuleSummary, ...]:
        """Return the rules that it enforces on the pods of a namespace."""
        return ()

    def merged_limits(self, store: Store, limits: Sequence[Limits]) -> tuple[MergedLimit, ...]:
        """Return the values that its pods get from the LimitRanges of a namespace, where it is installed."""
        return ()

    def overview_areas(self) -> tuple[Any, ...]:
        """Return a ``reports.overview.AreaMaker`` for each of its areas of the overview."""
        return ()

    def overview_needs(self, namespace: str) -> Iterable[ReadRequest]:
        """Return the reads of those areas; a cluster may have none of the kinds."""
        return ()

    def waits(self, item: Any) -> bool:
        """Return whether one of its ``waiting`` objects is held up by a quota now."""
        return False

    def may_wait(self, item: Any) -> bool:
        """Return whether one of its ``waiting`` objects can still get a pod."""
        return True


def systems() -> tuple[System, ...]:
    """Return all of them, in the order of registration."""
    return registered("reports")


def maker_of(analysis: Analysis) -> System:
    """Return the system that makes the pod; one without hooks where Kubernetes' controllers do."""
    return next((system for system in systems() if system.name == analysis.system), _NONE) if analysis.system else _NONE


def analysis_by_system(
    store: Store, subject: Subject, ask: EvaluationOptions, *, journal: bool = True, another: bool = False
) -> Analysis | None:
    """Return the analysis of a pod that some system makes; None for any other."""
    analyses = (system.analysis(store, subject, ask, journal=journal, another=another) for system in systems())
    return next((analysis for analysis in analyses if analysis is not None), None)


def likeness_of(store: Store, subject: Subject, ask: EvaluationOptions) -> CacheKey | None:
    """Return the cache key of the object's explanation; None: nothing like it is known."""
    result = (system.cache_key(store, subject, ask) for system in systems())
    return next((likeness for likeness in result if likeness is not None), None)


def is_made_by_system(store: Store, subject: Subject) -> bool:
    """Return whether some system makes the pod of the object, or has made the live pod."""
    return any(system.makes(store, subject) for system in systems())


_NONE = System()


_POD: Final = KindAnswers("pod", one_pod=True)
_POLICY: Final = KindAnswers("policy")
_COUNTED: Final = KindAnswers("policy", as_sent=True, counted=True)
#: Kinds of Kubernetes that make no pods.
_OTHERS: Final = {
    "ResourceQuota": _POLICY,
    "LimitRange": _POLICY,
    "Namespace": _POLICY,
    "PersistentVolumeClaim": _COUNTED,
    "Service": _COUNTED,
    "ResourceClaim": _COUNTED,
}
_NOTHING: Final = KindAnswers()


@cache
def answers_about(kind: Kind) -> KindAnswers:
    """Return the answers about objects of a kind; for a kind that no table has, its pod template decides.

    A type of the API group "" that is not known here has no pod template, and may be Secrets: nothing reads it.
    """
    if kind.struct is CountedObject:
        return _COUNTED
    for system in systems():
        if system.group and kind.group == system.group:
            return system.answers.get(kind.kind, _NOTHING)
        if not system.group and is_known(kind) and kind.kind in system.answers:
            return system.answers[kind.kind]
    if is_known(kind) and kind.kind in _OTHERS:
        return _OTHERS[kind.kind]
    return _POD if kind.struct in {Pod, Workload} and (kind.group or kind.kind in BY_KIND) else _NOTHING


def makes_one_pod(kind: Kind) -> bool:
    """Return whether objects of the kind are pods, or make pods of one template."""
    return answers_about(kind).one_pod


def require_answers(kind: Kind, accepts: Callable[[Kind], bool] = makes_one_pod) -> Kind:
    """Return the kind itself. Raises UsageError for one without answers, before anything of it is read.

    That is also what keeps a Secret, which is a kind without a pod template, from being read on a caller's word.
    """
    if accepts(kind):
        return kind
    instead = answers_about(kind).several
    if instead:
        raise UsageError(f"{kind.qualified} make a pod for each task", hint=instead)
    raise UsageError(
        f"{kind.qualified} hold no pod template (spec.template.spec.containers)",
        hint="name pods, or what makes pods, as deployments",
    )


def is_shown(kind: Kind) -> bool:
    """Return whether an object of the kind can be opened on full screen."""
    return is_explained(kind) and answers_about(kind).on_screen


def is_explained(kind: Kind) -> bool:
    """Return whether its objects can be explained."""
    return bool(answers_about(kind).explained)
