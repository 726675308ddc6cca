"""The answer of ``explain``: structs that the text, JSON and screens are made from.

Beside the ``Explanation`` stand what it is about (``Subject``), the server that it is for (``EvaluationOptions``), and
what could not be read (``Unseen``).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, ClassVar, Final, Literal

import msgspec
from msgspec import Struct, structs

from kubectl_kres.admission.base.outcome import Finding, QuotaCharge, StatusCause
from kubectl_kres.admission.base.server import Server
from kubectl_kres.admission.pod.aggregate import QoS
from kubectl_kres.errors import UsageError
from kubectl_kres.model.kinds import Kind, is_view, named_kind
from kubectl_kres.model.objects import ObjectRef, OwnerReference, decode_object
from kubectl_kres.model.pod import Pod, PodTemplateSpec
from kubectl_kres.model.workload import Workload, template_in
from kubectl_kres.model.workload_kinds import TEMPLATE_PATHS, WORKLOADS
from kubectl_kres.provenance.journal import Assumption, Derive, Journal, Source
from kubectl_kres.record import HOLDER, Record, Sentence, Wording
from kubectl_kres.reports.common.nodes import NodeReport
from kubectl_kres.reports.common.remedy import Remedy
from kubectl_kres.reports.common.replicas import Replicas
from kubectl_kres.reports.common.system_parts import Parts
from kubectl_kres.store.store import Coverage, ReadRequest, Store


class LastEdit(Record, frozen=True):
    """The last editor of a field: the field manager, how (Apply or Update) and when (RFC 3339, may be empty)."""

    TRANSIENT: ClassVar[frozenset[str]] = frozenset({"time"})

    manager: str
    operation: str = ""
    time: str = ""


class Alternative(Record, frozen=True):
    """Another value that the server's arbitrary order of LimitRanges can lead to, or Tekton's (``listed``)."""

    value: str
    rule: str = ""
    source: Source | None = None
    order: tuple[str, ...] = ()
    listed: tuple[str, ...] = ()


class ManifestPlace(Sentence, frozen=True):
    """Where admission starts from. ``place``: template, file, revision, applied (the last applied configuration), live.

    ``of``: the object of a template or revision, as KIND/NAME; empty: the subject. ``revision``: its name.
    """

    place: Literal["template", "file", "revision", "applied", "live"]
    of: str = ""
    file: str = ""
    revision: str = ""


class ResourceValue(Record, frozen=True):
    """One request or limit. ``written`` absent: nobody wrote it; ``value`` absent: nothing is stored.

    ``value`` is what admission would store today; ``live`` what a live pod has, where there is one. ``rule`` and
    ``source`` set ``value``. ``alternatives``: values under other orders (then ``value`` is one of several).
    ``note``: why ``live`` differs from ``value``.
    """

    path: str
    side: str
    resource: str
    written: str | None = None
    value: str | None = None
    live: str | None = None
    rule: str = ""
    source: Source | None = None
    alternatives: tuple[Alternative, ...] = ()
    steps: Journal = ()
    note: Wording = ""
    edited: LastEdit | None = None


class ContainerValues(Record, frozen=True):
    """A container, init container, sidecar or the pod level (``role`` pod) with its values."""

    name: str
    role: str
    path: str
    values: tuple[ResourceValue, ...]
    note: Wording = ""


class Total(Record, frozen=True):
    """The pod's effective figure of one resource; ``derivation`` says how it came about.

    ``unlimited``: the containers that have no such limit beside those that do: the API sums what is stated, and the pod
    is not limited. ``own_limits``: what containers may use by limits of their own, where the pod's is below that.
    """

    side: str
    resource: str
    value: str
    derivation: Derive
    unlimited: tuple[str, ...] = ()
    own_limits: str = ""


class QuotaCost(Record, frozen=True):
    """What one more pod costs a quota, per name that the quota limits.

    ``counted``: this pod is live and already in ``used``. ``fits``: how many more such pods there is room for; None: it
    costs nothing, or the quota demands something that the pod does not state. ``exceeded``: the names that one more pod
    would exceed.
    """

    quota: str
    charge: QuotaCharge
    counted: bool = False
    fits: int | None = None
    exceeded: tuple[str, ...] = ()


class Demand(Record, frozen=True):
    """The must-specify rule of one quota: what every container must state and no LimitRange fills in.

    ``missing``: the containers of the pod that do not state it, by name of the resource.
    """

    quota: str
    names: tuple[str, ...]
    unfilled: tuple[str, ...] = ()
    missing: Mapping[str, tuple[str, ...]] = {}


#: What controllers and the event recorder put before the server's sentence, and names that are new with each try.
_PREFIX = (
    r"^(\(combined from similar events\): )?"
    r"(Error creating(?: job)?: |[Cc]reate Pod \S+ in StatefulSet \S+ failed error: )?"
)
_NEW_NAME = r'(pod|jobs\.batch)s? "[^"]*"'


def normalize_message(text: str) -> str:
    """Return the text without what differs between two tries to create the same pod or job."""
    return re.sub(_NEW_NAME, r"\1s", strip_controller_prefix(text))


def strip_controller_prefix(text: str) -> str:
    """Return the server's words to a controller, without what the controller's event put before them."""
    return re.sub(_PREFIX, "", text)


class Fact(Record, frozen=True):
    """Something the cluster says: an event, a condition, a container state. ``time``: when last, ``first``: since when
    it says so, where that is another moment; both RFC 3339, may be empty. ``container``: the one that was killed.
    """

    ORDERED: ClassVar[bool] = False

    reason: str
    text: str
    source: Source
    time: str = ""
    count: int = 1
    first: str = ""
    container: str = ""

    def stable_fields(self) -> tuple[Any, ...]:
        """Return the fact without its times and count, so that another try with the same result is equal."""
        return self.reason, normalize_message(self.text), self.source


def merge_facts(facts: Iterable[Fact]) -> tuple[Fact, ...]:
    """Return the facts, those merged that differ only in the names of new pods."""
    merged: dict[tuple[str, str], Fact] = {}
    for fact in facts:
        key = fact.reason, normalize_message(fact.text)
        first = merged.get(key)
        latest = fact if first is None or fact.time > first.time else first
        count = fact.count + (first.count if first is not None else 0)
        merged[key] = structs.replace(latest, count=count)
    return tuple(merged.values())


#: Every verdict in one word: docs/verdicts.md has the table, ``reports.pod.verdict`` the rules.
OutcomeWord = Literal[
    "admitted",
    "full",
    "refused",
    "blocked",
    "partly",
    "depends-on-order",
    "no-answer",
    "admitted-as-far-as-seen",
    "full-as-far-as-seen",
    "refused-as-far-as-seen",
    "blocked-as-far-as-seen",
    "partly-as-far-as-seen",
    "depends-on-order-as-far-as-seen",
    "no-answer-as-far-as-seen",
]


def facts_that_say(message: str, facts: Iterable[Fact]) -> list[Fact]:
    """Return the facts in which the cluster says this message of a refusal, with whatever amounts were used then."""
    return [fact for fact in facts if _without_used(fact.text) == _without_used(message)]


def _without_used(text: str) -> str:
    """Return a message of the server without the used amounts, which differ between tries."""
    return normalize_message(text).partition(", used: ")[0]


class HiddenQuota(Record, frozen=True, omit_defaults=False, tag_field="type", tag="hidden-quota"):
    """A quota refused that is no ResourceQuota of the namespace, such as OpenShift's ClusterResourceQuota.

    The amounts are those of the refusal, or of the ClusterResourceQuota of that name; none where it says that values
    are missing. ``cluster``: there is one. ``users``: the other namespaces that use it, with how much.
    """

    quota: str
    requested: Mapping[str, str] = {}
    used: Mapping[str, str] = {}
    limited: Mapping[str, str] = {}
    cluster: bool = False
    users: Mapping[str, Mapping[str, str]] = {}


class LimitedResources(Record, frozen=True, omit_defaults=False, tag_field="type", tag="limited-resources"):
    """The server's configuration admits such pods only under a quota that names ``resources``, or has ``scopes``.

    Source: plugin/pkg/admission/resourcequota/apis/resourcequota LimitedResources.
    """

    resources: tuple[str, ...] = ()
    scopes: tuple[str, ...] = ()


class Injection(Record, frozen=True, omit_defaults=False, tag_field="type", tag="injection"):
    """The refused pod was not the template's: something added to it on its way.

    ``containers``: those that the template does not have. ``requested``: what the refused pod asked for, by name of a
    quota or resource, ``computed``: what the next pod would by all that is known; both empty where the refusal has no
    amounts. ``webhooks``: the configurations that may change such pods.
    """

    containers: tuple[str, ...] = ()
    requested: Mapping[str, str] = {}
    computed: Mapping[str, str] = {}
    webhooks: tuple[str, ...] = ()


UnseenCause = HiddenQuota | LimitedResources | Injection


class Refuser(Sentence, frozen=True):
    """Who refuses, by the rule of that refusal, and ``cause``, if it is one that only the refusal tells of.

    ``name``: of a quota, webhook, policy or account; of Pod Security the level and its version. ``kind``: of a policy.
    ``namespace``: that of the pods.
    """

    rule: str
    name: str = ""
    kind: str = ""
    namespace: str = ""
    cause: UnseenCause | None = None


class Blocked(Record, frozen=True):
    """The rejection of missing pods by something that is not computed here. ``by``: who.

    ``times``: how often it rejected them; 0: a condition says so, which has no count. ``last``: of its last rejection,
    or since when the condition holds (RFC 3339, may be empty). ``message``: the server's words. ``rule``: the code of
    such a rejection. ``cause``: what those words imply; absent where they name who refused, or nobody knows.
    """

    by: Refuser
    message: str
    times: int = 1
    last: str = ""
    rule: str = ""
    cause: UnseenCause | None = None


class LaterChange(Record, frozen=True):
    """Something that a refusal depends on and that changed after it.

    ``before`` and ``after``: of an amount that the refusal names. ``how``: created, deleted or edited, where no amount
    tells it. ``time``: when (RFC 3339), empty where nothing says it.
    """

    TRANSIENT: ClassVar[frozenset[str]] = frozenset({"time"})

    source: Source
    before: str = ""
    after: str = ""
    how: Literal["", "created", "deleted", "edited"] = ""
    time: str = ""


class Verdict(Record, frozen=True):
    """The answer for the object and for its next pod.

    ``outcome``: the answer in one word, for people and scripts alike. It ends in as-far-as-seen where something that
    could not be read may change it. Empty only while a verdict is made. ``allowed``: whether the next pod is admitted;
    None: that depends on the order of LimitRanges or quotas. ``message`` and ``causes`` are the server's own words of a
    refusal, ``findings`` what stands behind them; a finding without a text shares that of one before. ``missing``: pods
    that are wanted and do not exist; ``fits``: how many of them are admitted one after the other, absent where all are
    or none is. ``blocked``: who rejects them, where the next pod is admitted by all that is computed. ``changed``: what
    changed after the last refusal, so that missing pods would be admitted now.
    """

    allowed: bool | None
    code: int
    message: str = ""
    reason: str = ""
    causes: tuple[StatusCause, ...] = ()
    findings: tuple[Finding, ...] = ()
    others: tuple[str, ...] = ()
    outcome: OutcomeWord | Literal[""] = ""
    missing: int = 0
    fits: int | None = None
    blocked: Blocked | None = None
    changed: tuple[LaterChange, ...] = ()


class Shortfall(Record, frozen=True):
    """The amount that a quota lacks of one resource for all wanted pods."""

    quota: str
    resource: str
    short_by: str


class Autoscaled(Record, frozen=True):
    """How far a HorizontalPodAutoscaler can scale a workload before quotas stop it.

    ``max_replicas``: its maxReplicas. ``fits``: how many pods of those there can be, those that exist with them, under
    the least lucky order of LimitRanges. ``shortfalls``: what quotas lack for the rest; empty where there is room for
    all, or where a new pod is refused for another reason.
    """

    autoscaler: str
    max_replicas: int
    fits: int
    shortfalls: tuple[Shortfall, ...] = ()


class SparePod(Record, frozen=True):
    """The amount that one pod beyond the wanted ones would lack.

    ``short_by``: how much of ``resource``, where a quota has too little. ``text``: the server's sentence; ``source``:
    the object and field that refuse it.
    """

    text: str
    resource: str = ""
    short_by: str = ""
    source: Source | None = None


class FailedRead(Record, frozen=True):
    """A read that did not succeed, with the server's words. ``required``: the answer is partial without it.

    ``reason`` and ``hint``: of a read that failed, where the server gave them.
    """

    kind: str
    state: str
    namespace: str = ""
    name: str = ""
    message: Wording = ""
    required: bool = True
    reason: str = ""
    hint: str = ""


class UnknownNumber(Sentence, frozen=True):
    """An object of a kind of which it is not known how many pods it makes."""

    kind: str
    version: str


def not_computed(text: str) -> FailedRead:
    """Return what was not computed, ``KIND NAME is not computed: why``, as what was not read: the verdict may be
    another.
    """
    kind, _, rest = text.partition(" ")
    name, _, reason = rest.partition(" is not computed: ")
    return FailedRead(kind, "failed", name=name, message=f"not computed: {reason}", required=False)


#: How it fares. docs/verdicts.md has the table.
RunWord = Literal["runs", "starting", "waits", "fails", "off", "ended"]

#: Why it waits, fails or is off.
Reason = Literal[
    "",
    "NoNode",
    "SchedulingGate",
    "NoScheduler",
    "MissingVolumeClaim",
    "UnboundVolumeClaim",
    "MissingResourceClaim",
    "ResourceClaimNotAllocated",
    "MissingVolume",
    "MissingConfigMap",
    "MissingSecret",
    "MissingServiceAccount",
    "AffinityAssistant",
    "Quota",
    "Refused",
    "NotCreated",
    "NotReady",
    "NotStarted",
    "NodeLost",
    "ResizeDeferred",
    "ResizeInfeasible",
    "Queue",
    "TaskRunPending",
    "PipelineRunPending",
    "Image",
    "OOMKilled",
    "CrashLoop",
    "ContainerError",
    "Evicted",
    "JobFailed",
    "RunFailed",
    "ScaledToZero",
    "Suspended",
    "Paused",
]

#: Words that an answer "all is well" must not stand beside, and with which ``--exit-code`` ends with 1.
NEGATIVE: Final[frozenset[str]] = frozenset({"waits", "fails"})


class RunState(Record, frozen=True):
    """The state of an object: whether it runs, and why not. ``reason``: why it is in that state; empty for what runs as
    usual.

    ``since``: since when (RFC 3339, empty where nothing says it). ``pods`` of ``wanted``: how many of the wanted pods
    are in this state; ``wanted`` 0: it is a single pod or run. ``ready``: how many of those are ready. ``pod``: one of
    them. ``object``: what is missing, full or in the way. ``by``: who holds it up or turned it off. ``message``: the
    cluster's own words. ``detail``: a short summary of them, where that is more than the reason. ``next``: what to do
    next. ``container``: the one that it is about, by name; ``ended``: it has ended, and was not started again. Of one
    that was killed for memory ``memory_limit`` is the limit that it ran under, ``limit_today`` the one that it gets
    today, with what sets it; absent: not known.
    """

    TRANSIENT: ClassVar[frozenset[str]] = frozenset({"since"})

    state: RunWord
    reason: Reason = ""
    since: str = ""
    pods: int = 0
    wanted: int = 0
    ready: int = 0
    pod: str = ""
    object: ObjectRef | None = None
    by: Wording = ""
    message: str = ""
    detail: Wording = ""
    next: Wording = ""
    container: str = ""
    ended: bool = False
    memory_limit: str = ""
    limit_today: ResourceValue | None = None


def waits_or_fails(state: RunState | None) -> bool:
    """Return whether a wanted object waits or fails."""
    return state is not None and state.state in NEGATIVE


Unit = Literal["CPU", "byte", "millibyte"]


class SuspectFigure(Record, frozen=True):
    """A figure of a container that is probably mistyped.

    ``fields``: where it stands, as ``requests.cpu``; ``container``: with its role. ``figure``: as written, which is
    ``count`` of ``unit``. ``suggestion``: what was probably meant. ``refused``: a refusal of the pod is about it.
    """

    fields: tuple[str, ...]
    container: str
    figure: str
    count: int
    unit: Unit
    suggestion: str
    refused: bool = False


class Note(Sentence, frozen=True):
    """What there is to say beside the fixes, or where there is none.

    ``nothing``: admission asks for no change. ``idle``: why no pods are wanted (IdleReason). ``next``: what to do
    about a state. ``suspects``: figures that are probably mistyped. ``changed``: what a refusal depends on and that
    changed after it.
    ``search``: passes (a pod came after the last refusal), unread (what could not be read may refuse the next one),
    ended (no edits were found that let the pods in).
    """

    nothing: bool = False
    idle: Wording = ""
    next: Wording = ""
    suspects: tuple[SuspectFigure, ...] = ()
    search: Literal["", "passes", "unread", "ended"] = ""
    changed: tuple[LaterChange, ...] = ()

    @property
    def is_calm(self) -> bool:
        """Return whether it asks for nothing to be done."""
        return self.nothing or self.search == "unread"


class Explanation(Record, frozen=True):
    """Why a pod, or the next pod of a workload, gets the resources it gets.

    ``fixes``: ways to let in what is refused or missing, each complete alone; none where nothing is missing, and
    ``one_more`` then says what a further pod lacks. ``note``: why there is nothing to change, or what was probably
    meant. ``state``: why the object does not run, or that it is suspended or paused. ``run_state``: whether what is
    wanted runs, and why it does not; absent for what does not exist yet. ``start``: which manifest admission starts
    from. ``replicas``: the pods of a workload that exists. ``live``: the pod exists, and its values stand beside
    today's. ``certain`` False: values depend on the order of LimitRanges, and the figures are then those of ``order``
    and, where a system makes the pod, of ``listed``. ``complete`` False: something the answer needs could not be read.
    ``autoscaled``: absent where no autoscaler is known to scale the workload. ``scheduling``: the nodes for the pod
    that waits for one; absent where none waits or they could not be read. ``quota_parts``: of who keeps the quotas that
    refuse; ``pod_parts``: of who makes or admits the pod. ``further``: what LimitRanges and quotas refuse beside the
    verdict's findings, which the server does not come to. With ``-c`` or ``--for`` there are no more containers and
    values than were asked for, the verdict, and what these depend on.
    """

    subject: ObjectRef
    start: Wording
    verdict: Verdict
    fixes: tuple[Remedy, ...]
    note: Note | None = None
    containers: tuple[ContainerValues, ...] = ()
    totals: tuple[Total, ...] = ()
    qos: QoS | None = None
    qos_alternatives: tuple[str, ...] = ()
    replicas: Replicas | None = None
    live: bool = False
    live_qos: str = ""
    quotas: tuple[QuotaCost, ...] = ()
    demands: tuple[Demand, ...] = ()
    facts: tuple[Fact, ...] = ()
    scheduling: NodeReport | None = None
    warnings: tuple[str, ...] = ()
    assumptions: tuple[Assumption, ...] = ()
    unread: tuple[FailedRead, ...] = ()
    edits: Mapping[str, LastEdit] = {}
    overhead: Mapping[str, str] = {}
    quota_parts: Parts = msgspec.field(default_factory=dict, name=f"{HOLDER}quotas")
    certain: bool = True
    order: tuple[str, ...] = ()
    listed: tuple[str, ...] = ()
    complete: bool = True
    journal: Journal = ()
    pod_parts: Parts = msgspec.field(default_factory=dict, name=f"{HOLDER}pods")
    one_more: tuple[SparePod, ...] = ()
    state: str = ""
    autoscaled: Autoscaled | None = None
    run_state: RunState | None = None
    further: tuple[Finding, ...] = ()

    @property
    def about_another(self) -> bool:
        """Return whether the answer is about another object like this one, which has ended."""
        return any(part.about_another for part in self.pod_parts.values())


def find_unread(store: Store, reads: Iterable[ReadRequest]) -> Iterator[FailedRead]:
    """Yield each need whose objects are not all in the store; a kind that the server does not have is known to be
    empty.

    Missing reads for the scheduler are named by the report about nodes.
    """
    for read in reads:
        coverage = store.covered(read)
        if not coverage.is_known and not (coverage.state == "unread" and is_view(read.kind)):
            yield build_unseen(read, coverage)


def build_unseen(read: ReadRequest, coverage: Coverage) -> FailedRead:
    """Return a need whose objects are not all in the store."""
    return FailedRead(
        named_kind(read.kind),
        coverage.state,
        read.namespace,
        read.name,
        coverage.message,
        read.required,
        reason=coverage.reason if coverage.state == "failed" else "",
        hint=coverage.hint,
    )


class EvaluationOptions(Struct, frozen=True):
    """The server that admission is computed for, what was supposed about it, and the moment (RFC 3339).

    ``seen``: values that live pods got at their creation are expected of the next one. ``read_yaml``: how text in a
    ConfigMap is read; raises ValueError or KresError for what is no YAML. ``remedies`` False: none is looked for, which
    costs more than all else.
    """

    server: Server = Server()
    assumptions: tuple[str, ...] = ()
    now: str = ""
    read_yaml: Callable[[str], Any] = json.loads
    seen: bool = True
    remedies: bool = True


class Subject(Struct, frozen=True):
    """One object: in the store under ``ref``, or ``raw`` as a file would send it.

    ``locate`` gives the place of a field in the file, as ``web.yaml:14:19``. ``is_served`` False: the server has no
    such kind. ``maker``: the object of a file that would make this one; None for all others.
    """

    ref: ObjectRef
    kind: Kind
    raw: Mapping[str, Any] | None = None
    file: str = ""
    locate: Callable[[str], str] | None = None
    is_served: bool = True
    maker: Subject | None = None

    @property
    def written_subject(self) -> Subject:
        """The subject that a user has written and can change: the object itself, or what of a file would make it."""
        return self.maker or self


def raw_template(raw: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
    """Return the template in an object as sent, with its path; an empty one of a kind that must have one, which the API
    server refuses. Raises UsageError naming the path that is missing.
    """
    result = template_in(raw)
    if result is not None:
        return ".".join(result[0]), result[1]
    kind = raw.get("kind", "object")
    if kind in WORKLOADS:
        return ".".join(WORKLOADS[kind].template), {}
    raise no_template_error(kind, (raw.get("metadata") or {}).get("name", ""))


def no_template_error(kind: str, name: str, hint: str = "") -> UsageError:
    """Return the error about an object that holds no pod template."""
    fields = " and no ".join(f"{'.'.join(path)}.spec.containers" for path in TEMPLATE_PATHS if path[0] == "spec")
    return UsageError(f'{kind} "{name}" holds no pod template: there is no {fields}', hint=hint)


def manifest_pod(subject: Subject) -> Pod | None:
    """Return the pod that a manifest from a file describes; None if it is no pod and holds no template or does not
    decode.
    """
    if subject.raw is None:
        return None
    try:
        if subject.ref.kind == "Pod":
            return decode_object(subject.raw, Pod)
        return pod_of_template(decode_object(raw_template(subject.raw)[1], PodTemplateSpec), subject)
    except (msgspec.ValidationError, UsageError):
        return None


def manifest_workload(subject: Subject) -> Workload | None:
    """Return the workload of a manifest from a file; None if it is no manifest, a pod, or does not decode."""
    if subject.raw is None or subject.kind.struct is not Workload:
        return None
    try:
        return decode_object(subject.raw, Workload)
    except msgspec.ValidationError:
        return None


def pod_of_template(template: PodTemplateSpec, subject: Subject) -> Pod:
    """Return the pod that a controller would send; its name stands for the generated one, and the object for its
    owner.
    """
    owner = OwnerReference(subject.ref.kind, subject.ref.name, controller=True)
    metadata = msgspec.structs.replace(
        template.metadata, name=subject.ref.name, namespace=subject.ref.namespace, owner_references=(owner,)
    )
    return Pod(metadata, template.spec)
