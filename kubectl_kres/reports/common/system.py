"""The interface of systems beside Kubernetes' own controllers: what they add to reports.

A system is a folder of its own that holds a ``System``: values, and functions in three optional ports (who makes pods,
who keeps quotas, who admits). ``kubectl_kres.systems`` registers it, and no common folder imports it. Its module loads
the rest of its folder only when a function has something to say.

``answers_about`` is the one map from kinds to answers that commands, completion and the terminal interface read.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, Final, Literal, Protocol

from msgspec import Struct

from kubectl_kres.admission.base.draft import Draft
from kubectl_kres.admission.base.outcome import Finding
from kubectl_kres.admission.base.server import Server
from kubectl_kres.admission.limitrange import Limits
from kubectl_kres.admission.request.new_pod import Policies
from kubectl_kres.errors import UsageError
from kubectl_kres.model.kinds import BY_KIND, Kind, is_known
from kubectl_kres.model.objects import Metadata, ObjectRef, Raw, ResourceQuota
from kubectl_kres.model.pod import Pod, PodSpec
from kubectl_kres.model.quota_objects import CountedObject
from kubectl_kres.model.workload import Workload
from kubectl_kres.provenance.journal import Assumption, Source
from kubectl_kres.record import Record, Wording
from kubectl_kres.reports.common.analysis import Analysis
from kubectl_kres.reports.common.effective_policies import ExtendedPolicies
from kubectl_kres.reports.common.explanation import EvaluationOptions, Fact, RunState, Subject
from kubectl_kres.reports.common.owners import controller
from kubectl_kres.reports.common.remedy import Edit, KeptBy, Permanence, Remedy
from kubectl_kres.reports.common.system_parts import Parts, SystemPart, hold
from kubectl_kres.store.store import ReadRequest, Store
from kubectl_kres.systems import registered_systems

#: A remedy by rule, as ``reports.remedies.context`` has it: sentences for a refusal.
Sentences = Callable[[Any], Iterator[Wording]]
#: What is admitted: the next pod, or the workload of a file itself.
Target = Literal["pod", "workload"]


class ReadRight(Struct, frozen=True):
    """A kind and the verbs that read it. ``adds``: what answers lack without it; empty: they are partial.

    ``names``: only objects of these names, in ``namespace``.
    """

    kind: str
    verbs: tuple[str, ...]
    adds: str = ""
    names: tuple[str, ...] = ()
    namespace: str = ""


class KindAnswers(Struct, frozen=True):
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


class CacheKey(Struct, frozen=True):
    """A key that is equal for objects whose explanations differ in some texts alone.

    ``key``: all that an explanation depends on, but for ``texts``: those of this object, its name first.
    """

    key: bytes
    texts: tuple[str, ...]


#: ``bad``: a fault. ``warn``: near one. ``unknown``: it cannot be said. Empty: nothing is wrong.
Severity = Literal["bad", "warn", "unknown", ""]


class TimelineEvent(Struct, frozen=True):
    """A fact with its time and its severity."""

    fact: Fact
    severity: Severity


class MoreRoom(Struct, frozen=True):
    """What to do instead of raising quotas that a system makes. ``quota``: one that it keeps; empty: none is raised.

    ``edits`` and ``commands``: what to change, and as something to type. ``waits``: why the room does not come at once.
    ``known`` False: nobody could tell whether it comes. ``reason``: why not to raise the quota.
    """

    edits: tuple[Edit, ...]
    commands: tuple[str, ...] = ()
    waits: tuple[str, ...] = ()
    known: bool = True
    quota: str = ""
    reason: str = ""


class Ownership(Struct, frozen=True):
    """Whose an object is, so that edits of it are lost; None: nobody's.

    ``pool``: what the hard of a quota is taken from; empty: nothing. ``distributed``: it copies what stands elsewhere.
    """

    by: KeptBy | None
    pool: str = ""
    distributed: bool = False


class Keeping(Struct, frozen=True):
    """Who applies an object again and again from elsewhere, and what becomes of an edit in the cluster."""

    tool: str
    permanence: Permanence


class ManagedQuotaAnswer(Struct, frozen=True):
    """Of quotas that a system keeps and that refuse: where the room comes from; sentences by rule, before the usual."""

    parts: tuple[SystemPart, ...] = ()
    sentences: Mapping[str, Sentences] = {}


class ObjectDescription(Struct, frozen=True):
    """What an object of a system says of itself at a glance.

    ``waits``: a quota holds it up now; ``ended``: it gets no further pod. ``namespaces``: those that it bears on, where
    it stands in none; None: all.
    """

    waits: bool = False
    ended: bool = False
    namespaces: tuple[str, ...] | None = None


class ObjectHistory(Struct, frozen=True):
    """What an object of a system tells of itself in sentences. ``events``: what happened to it.

    ``facts``: its conditions and the like; None: it has no such.
    """

    facts: tuple[Fact, ...] | None = None
    events: tuple[TimelineEvent, ...] = ()


class AboutObject(Struct, frozen=True):
    """What are all reads that the answer about an object depends on? None: it is no object of this system."""

    subject: Subject


class AboutPod(Struct, frozen=True):
    """What else is read for any pod of a namespace? ``new``: the pod does not exist yet.

    Of one that exists there is no ``spec``: for all pods of its namespace the same is read.
    """

    namespace: str
    spec: PodSpec | None
    new: bool


class AboutPolicies(Struct, frozen=True):
    """What does ``Admitter.extend`` look at, where something says that there is any?"""

    namespace: str


class AboutClaims(Struct, frozen=True):
    """What else is read for new PersistentVolumeClaims of a namespace that name these volumes?"""

    namespace: str
    volumes: tuple[str, ...]


class AboutNewObjects(Struct, frozen=True):
    """What decides about new objects of a namespace that make no pods?"""

    namespace: str


class AboutRefused(Struct, frozen=True):
    """What else is read for all refused workloads of a namespace?"""

    namespace: str


class AboutHeld(Struct, frozen=True):
    """What else is read for an object that somebody may hold back until its turn comes? ``listed``: one of many."""

    subject: Subject
    listed: bool = False


class AboutNamespace(Struct, frozen=True):
    """What else is read for a namespace as a whole?"""

    namespace: str


class AboutSharedQuotas(Struct, frozen=True):
    """Which quotas of its own kinds do those of a namespace (empty: of any) suggest?"""

    namespace: str
    quotas: tuple[ResourceQuota, ...]


class AboutKept(Struct, frozen=True):
    """What tells whether edits of these objects stay?"""

    objects: tuple[Metadata, ...]


class AboutConfiguration(Struct, frozen=True):
    """How is it configured, as far as it is known by now where to look?"""


#: What a system can be asked to name reads for.
Question = (
    AboutObject
    | AboutPod
    | AboutPolicies
    | AboutClaims
    | AboutNewObjects
    | AboutRefused
    | AboutHeld
    | AboutNamespace
    | AboutSharedQuotas
    | AboutKept
    | AboutConfiguration
)
#: What the objects of a kind are to common answers. ``in-lists``: lists depend on them though they can do without.
#: ``assumed``: an assumption says that they could not be read; ``if-refused``: that is said only where the server
#: refused to tell; ``decides``: without them a verdict may change. ``waits``: they make one pod each, and may wait for
#: a quota; ``runs``: they have a state; ``edited``: their edits decide about pods; ``events``: something happens to
#: them. ``policies``: ``Admitter.extend`` looks at them; ``overview``: the overview does.
Role = Literal[
    "in-lists", "assumed", "if-refused", "decides", "waits", "runs", "edited", "events", "policies", "overview"
]


class Analyse(Protocol):
    """``journal`` False: only the outcomes are wanted. ``another``: of one more like it, where one is live.

    Raises UsageError for an object that makes several pods.
    """

    def __call__(
        self, store: Store, subject: Subject, options: EvaluationOptions, *, journal: bool, another: bool
    ) -> Analysis | None: ...


class PodMaker(Struct, frozen=True):
    """Who makes pods.

    ``analyse``: the analysis of a pod of its making, with ``Analysis.made_pod``; None for any other.
    ``sentences``: what mends the refusals of such an analysis; ``names`` of containers by path, sentences by rule that
    its own come before. ``reach``: the ways to other QoS classes.
    ``cache_key``: of one of its objects; None: no other is like it, or it is not worth looking.
    """

    analyse: Analyse
    sentences: Callable[[Analysis, Mapping[str, str], Mapping[str, Sentences]], tuple[Wording, ...]]
    reach: Callable[[Store, Subject, EvaluationOptions, Draft], Iterable[Any]]
    cache_key: Callable[[Store, Subject, EvaluationOptions], CacheKey | None]


class QuotaKeeper(Struct, frozen=True):
    """Who keeps quotas.

    ``owner``: whose an object with such metadata is; None: not this system's. ``replace_raises``: instead of raising
    quotas, for the pods of an object; None: the edits are right as they are. ``explain_refusals``: of findings.
    ``shared_reports``: a QuotaReport for each quota of its own kinds that bears on a namespace; empty: on any.
    """

    owner: Callable[[Metadata], Ownership | None]
    replace_raises: Callable[[Store, ObjectRef, tuple[Edit, ...]], MoreRoom | None]
    explain_refusals: Callable[[Store, str, Iterable[Finding]], ManagedQuotaAnswer]
    shared_reports: Callable[[Store, str], Iterator[Record]]


class Admitter(Struct, frozen=True):
    """Who admits pods beside LimitRanges and quotas; each member is optional.

    ``extend``: the policies of a namespace with what it enforces; called again only where objects of kinds of the role
    ``policies`` have changed. ``apply``: the analysis of the next pod, or of the workload of a file, with what it
    decides. ``assumed``: what a new object of a namespace is taken to pass, as it is sent.
    """

    extend: Callable[[Store, str, Policies], ExtendedPolicies] | None = None
    apply: Callable[[Store, Subject, EvaluationOptions, Analysis, Target], Analysis] | None = None
    assumed: Callable[[Store, str, Raw, Server], Iterable[Assumption]] | None = None


class Turn(Struct, frozen=True):
    """What a system says of an object of others whose turn it decides about: it holds it back, or has let it go.

    ``state``: why it waits; None: it is not held. ``fixes``: changes, tried, with which its turn comes. ``part``: the
    account of it.
    """

    state: RunState | None
    fixes: tuple[Remedy, ...] = ()
    part: SystemPart | None = None


class TurnKeeper(Struct, frozen=True):
    """Who holds objects of others back until their turn comes.

    ``state``: of a stored object of a kind that common code takes for held, in place of what is seen of it; None: it is
    none of this system's, or nothing is known. ``turn``: the whole answer about one; None: it is none of its.
    """

    state: Callable[[Store, str, Any, RunState], RunState | None]
    turn: Callable[[Store, Subject, Analysis | None], Turn | None]


class RequestCap(Struct, frozen=True):
    """What keeps a request as low as it has to be where a system sets it: in words, and as lines for kubectl."""

    text: str
    commands: tuple[str, ...]


class System(Struct, frozen=True):
    """What a system registers: what its kinds are, what is read for them, and the ports that it has.

    ``name``: what ``MadePod.system`` is of a pod of its making. ``group``: the API group of its kinds; empty: they
    are Kubernetes' own. ``answers``: what there is to say of them. ``kinds``: those of a role. ``rights``: by command
    what it reads; of ``pods`` whatever explains pods. ``over_pods``: commands of its own that look at pods, too, and
    what for. ``sentences``: what to change of any pod, by rule of its own that refuses.
    ``reads``: the answer to a question; None: nothing. ``describe``: what it is at a glance; ``state(store, object,
    now)``: how it fares; ``history``: what it tells; None for an object of others, or where it has no such.
    ``remedies``: changes, tried, that let a pod pass which it makes, or refuses.
    ``cap_request``: what keeps a request that an object of it sets, of a container and resource, at an amount; None:
    that object is not of the system. ``keeping``: who applies an object with such metadata again and again;
    None: nobody that the system knows. ``explain_namespace``: its parts in the explanation of a namespace with these
    LimitRanges.
    """

    name: str
    group: str = ""
    answers: Mapping[str, KindAnswers] = {}
    kinds: Mapping[Role, Collection[str]] = {}
    rights: Mapping[str, tuple[ReadRight, ...]] = {}
    over_pods: Mapping[str, str] = {}
    sentences: Mapping[str, Sentences] = {}
    reads: Callable[[Store, Question], Iterable[ReadRequest] | None] | None = None
    describe: Callable[[Any], ObjectDescription | None] | None = None
    state: Callable[[Store, Any, str], RunState | None] | None = None
    history: Callable[[Any], ObjectHistory | None] | None = None
    remedies: Callable[[Store, Subject, Analysis], tuple[Remedy, ...]] | None = None
    cap_request: Callable[[Store, Source, str, str, str], RequestCap | None] | None = None
    keeping: Callable[[Store, Metadata], Keeping | None] | None = None
    explain_namespace: Callable[[Store, str, Sequence[Limits]], Iterable[SystemPart]] | None = None
    pods: PodMaker | None = None
    quotas: QuotaKeeper | None = None
    admission: Admitter | None = None
    holds: TurnKeeper | None = None


def systems() -> tuple[System, ...]:
    """Return all of them, in the order of registration."""
    return registered_systems("reports")


@cache
def kinds_of(role: Role) -> tuple[str, ...]:
    """Return the kinds of all systems that have the role."""
    return tuple(kind for system in systems() for kind in system.kinds.get(role, ()))


def reads_for(store: Store, question: Question) -> Iterator[ReadRequest]:
    """Yield what all systems answer."""
    for system in systems():
        if system.reads is not None:
            yield from system.reads(store, question) or ()


def cap_of_request(store: Store, source: Source, container: str, resource: str, amount: str) -> RequestCap | None:
    """Return what keeps a request that ``source`` sets at an amount; None where no system sets it."""
    for system in systems():
        if system.cap_request is not None and (cap := system.cap_request(store, source, container, resource, amount)):
            return cap
    return None


def describe(item: Any) -> ObjectDescription | None:
    """Return what an object of a system is at a glance; None for any other."""
    described = (system.describe(item) for system in systems() if system.describe is not None)
    return next((description for description in described if description is not None), None)


def state_of_object(store: Store, item: Any, now: str = "") -> RunState | None:
    """Return how an object of a system fares; None for any other. ``now`` empty: nothing counts as new."""
    states = (system.state(store, item, now) for system in systems() if system.state is not None)
    return next((state for state in states if state is not None), None)


def object_history(item: Any) -> ObjectHistory | None:
    """Return what an object of a system tells of itself; None for any other."""
    histories = (system.history(item) for system in systems() if system.history is not None)
    return next((history for history in histories if history is not None), None)


def parts_of_namespace(store: Store, namespace: str, limits: Sequence[Limits]) -> Parts:
    """Return what all systems add to the explanation of a namespace: who makes pods there, then what is enforced."""
    makers_first = sorted(systems(), key=lambda system: system.pods is None)
    explaining = (system.explain_namespace for system in makers_first if system.explain_namespace is not None)
    return hold(*(part for explain in explaining for part in explain(store, namespace, limits)))


def assumed_of_object(store: Store, namespace: str, raw: Raw, server: Server) -> Iterator[Assumption]:
    """Yield what a new object of a namespace is taken to pass, as it is sent."""
    for system in systems():
        if system.admission is not None and system.admission.assumed is not None:
            yield from system.admission.assumed(store, namespace, raw, server)


def remedies_of_systems(store: Store, subject: Subject, analysis: Analysis) -> tuple[Remedy, ...]:
    """Return the changes, tried, that systems know of."""
    return tuple(
        remedy for system in systems() if system.remedies for remedy in system.remedies(store, subject, analysis)
    )


def quota_keepers() -> tuple[QuotaKeeper, ...]:
    """Return those who keep quotas."""
    return tuple(system.quotas for system in systems() if system.quotas is not None)


def ownership_of(metadata: Metadata) -> Ownership:
    """Return which system an object belongs to, by its labels and owners; ``by`` None: to none."""
    owners = (keeper.owner(metadata) for keeper in quota_keepers())
    return next((owner for owner in owners if owner is not None), Ownership(None))


def keeping_of(store: Store, metadata: Metadata) -> Keeping | None:
    """Return who applies an object again and again from elsewhere; None where no system knows of anybody."""
    kept = (system.keeping(store, metadata) for system in systems() if system.keeping is not None)
    return next((each for each in kept if each is not None), None)


def apply_admitters(
    store: Store, subject: Subject, options: EvaluationOptions, analysis: Analysis, target: Target = "pod"
) -> Analysis:
    """Return the analysis with what systems decide about any pod, or about the workload of a file itself."""
    for system in systems():
        if system.admission is not None and system.admission.apply is not None:
            analysis = system.admission.apply(store, subject, options, analysis, target)
    return analysis


def state_while_held(store: Store, kind: str, item: Any, state: RunState) -> RunState:
    """Return the state of an object that waits for its turn, as who decides about that says it; else as it was seen."""
    told = (system.holds.state(store, kind, item, state) for system in systems() if system.holds is not None)
    return next((each for each in told if each is not None), state)


def turn_of(store: Store, subject: Subject, analysis: Analysis | None = None) -> Turn | None:
    """Return what is said of an object's turn; None where nobody decides about it. ``analysis``: of its pods."""
    told = (system.holds.turn(store, subject, analysis) for system in systems() if system.holds is not None)
    return next((each for each in told if each is not None), None)


def pod_makers() -> tuple[PodMaker, ...]:
    """Return those who make pods beside the controllers of Kubernetes."""
    return tuple(system.pods for system in systems() if system.pods is not None)


def pod_maker(analysis: Analysis) -> PodMaker | None:
    """Return who makes the pod; None where Kubernetes' controllers, or a person, do."""
    name = analysis.made_pod.system if analysis.made_pod is not None else ""
    return next((system.pods for system in systems() if name and system.name == name), None)


def analysis_by_system(
    store: Store, subject: Subject, options: EvaluationOptions, *, journal: bool = True, another: bool = False
) -> Analysis | None:
    """Of a pod that some system makes; None for any other. Raises UsageError for an object that makes several pods."""
    analyses = (maker.analyse(store, subject, options, journal=journal, another=another) for maker in pod_makers())
    return next((analysis for analysis in analyses if analysis is not None), None)


def explanation_cache_key(store: Store, subject: Subject, options: EvaluationOptions) -> CacheKey | None:
    """Return the cache key of the object's explanation; None: nothing like it is known."""
    result = (maker.cache_key(store, subject, options) for maker in pod_makers())
    return next((likeness for likeness in result if likeness is not None), None)


def object_behind(store: Store, subject: Subject) -> Subject | None:
    """Return the subject if a system makes its pod, what made a live pod if a system's object did; None: neither."""
    ref = subject.ref
    for system in systems():
        if system.pods is not None and subject.kind.group == system.group:
            return subject if system.answers.get(ref.kind, _NOTHING).one_pod else None
    pod = store.get("Pod", ref.name, ref.namespace) if subject.raw is None and ref.kind == "Pod" else None
    kind, name = controller(pod) if isinstance(pod, Pod) else ("", "")
    if kind not in kinds_of("waits") or store.get(kind, name, ref.namespace) is None:
        return None
    return Subject(ObjectRef(kind, name, ref.namespace), BY_KIND[kind])


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
        raise UsageError(f"{kind.qualified_name} make a pod for each task", hint=instead)
    if is_explained(kind):
        asked = f"kubectl kres explain {kind.plural.removesuffix('s')}/NAME"
        raise UsageError(f"{kind.qualified_name} make no pods", hint=f"{asked} answers about them")
    raise UsageError(
        f"{kind.qualified_name} hold no pod template (spec.template.spec.containers)",
        hint="name pods, or what makes pods, as deployments",
    )


def is_shown(kind: Kind) -> bool:
    """Return whether an object of the kind can be opened on full screen."""
    return is_explained(kind) and answers_about(kind).on_screen


def is_explained(kind: Kind) -> bool:
    """Return whether its objects can be explained."""
    return bool(answers_about(kind).explained)
