"""The server's plugins around one request, in their order: every answer that it can get.

Mutating: namespace, LimitRange defaults, service account, priority, tolerations, overhead, policies; once more from the
start where a policy changed something. Then the object's own validation, LimitRange bounds, Pod Security, validating
policies, quota. Source: apiserver endpoints/handlers, kubernetes pkg/kubeapiserver/options/plugins.go.

What plugins look up around a request, and what they can answer.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice, permutations
from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec import Struct, structs

from kubectl_kres.admission.base.draft import Draft, Unparsable, draft_pod
from kubectl_kres.admission.base.outcome import Finding, Outcome, Refusal
from kubectl_kres.admission.base.server import Server
from kubectl_kres.admission.base.versions import CHANGES, NEWEST, Version
from kubectl_kres.admission.decoding import drop_gated_fields, table, unknown_fields
from kubectl_kres.admission.limitrange import Limits
from kubectl_kres.admission.pod import aggregate as qos
from kubectl_kres.admission.pod.defaulting import default_pod
from kubectl_kres.admission.request.create import create as create_object
from kubectl_kres.admission.request.new_pod import ObjectReview, Policies, admit, orders
from kubectl_kres.admission.request.policy_answer import not_valid, undecodable
from kubectl_kres.admission.structure.metadata_structure import owner_notices
from kubectl_kres.admission.structure.pod_structure import pod_errors
from kubectl_kres.admission.structure.pod_warnings import pod_notices
from kubectl_kres.model.objects import ObjectRef, decode_object
from kubectl_kres.model.pod import Pod, unread_fields
from kubectl_kres.model.workload_kinds import CONTROLLER_REVISION, MADE_BY
from kubectl_kres.policies.cel.base.values import PER_CALL, NotComputed
from kubectl_kres.policies.rules import pod_security, security_fields, service_account
from kubectl_kres.policies.rules import request as namespaces
from kubectl_kres.policies.rules.objects import with_defaults
from kubectl_kres.policies.rules.policy import BoundPolicy, FindParams, RequestContext, bind_policies
from kubectl_kres.policies.rules.request import POLICY_KINDS, Request, Review, User, match_request
from kubectl_kres.policies.rules.request import creation as creation_of
from kubectl_kres.policies.rules.resources import canonical_object, decoded_copy, with_draft
from kubectl_kres.provenance.journal import Entry

if TYPE_CHECKING:
    from kubectl_kres.policies.rules.mutating import Mutation, MutationRun


Raw = Mapping[str, Any]


def _no_params(_version: str, _kind: str, _namespace: str, _reference: Raw | None) -> None:
    return None


class PolicyObjects(Struct, frozen=True):
    """What plugins look up beside LimitRanges, quotas and classes.

    namespace None: there is none. accounts None: not read, the plugin refuses nothing. user None: not known.
    most: cost of one expression after which it is not computed. added: names of a pod's containers whose security
    fields were not read, and which others like it were admitted with.
    """

    namespace: Raw | None = None
    accounts: service_account.Accounts | None = None
    validating: tuple[BoundPolicy, ...] = ()
    mutating: tuple[BoundPolicy, ...] = ()
    params: FindParams = _no_params
    user: User | None = None
    pods: tuple[Raw, ...] = ()
    most: int = PER_CALL
    added: frozenset[str] = frozenset()


class PolicyAnswer(Struct, frozen=True):
    """One possible answer. ``stored_object``: the object as stored; ``steps``: what mutating policies did.

    no_answer: the server closes the connection. unknown: what was not computed, so that the answer may be another one.
    """

    outcome: Outcome
    stored_object: Raw | None = None
    audit: Mapping[str, str] = {}
    unknown: tuple[str, ...] = ()
    steps: tuple[Mutation, ...] = ()
    no_answer: bool = False


def build_policy_objects(
    namespace: Raw | None,
    accounts: service_account.Accounts | None = None,
    validating_policies: tuple[Sequence[Raw], Sequence[Raw]] = ((), ()),
    mutating_policies: tuple[Sequence[Raw], Sequence[Raw]] = ((), ()),
    *,
    params: FindParams = _no_params,
    user: User | None = None,
    pods: Sequence[Raw] = (),
    maximum: int = PER_CALL,
    version: Version = NEWEST,
) -> PolicyObjects:
    """From policies and their bindings as read."""
    return PolicyObjects(
        namespace, accounts, bind_policies(*validating_policies, version), bind_policies(*mutating_policies, version),
        params, user, tuple(pods), maximum,
    )  # fmt: skip


#: Orders of mutating policies that are tried.
MOST_ORDERS = 24
BAD_REQUEST = 400
#: What is written of a pod with scheduling gates when it is created.
_GATED: Raw = {
    "type": "PodScheduled", "status": "False", "lastProbeTime": None, "lastTransitionTime": "1970-01-01T00:00:00Z",
    "reason": "SchedulingGated", "message": "Scheduling is blocked due to non-empty scheduling gates",
}  # fmt: skip


class Chain:
    def __init__(self, request: Request, policies: Policies, server: Server, world: PolicyObjects) -> None:
        self.request, self.policies, self.server, self.world = request, policies, server, world
        self.context = RequestContext(world.namespace, world.params, server, world.most)
        #: At which mutations the server drops the connection, in the order of policies that is tried.
        self.dropped: list[Finding] = []

    def build_refusal(self, refusal: Refusal, warnings: Sequence[str] = (), **more: Any) -> PolicyAnswer:
        outcome = Outcome(allowed=False, code=refusal.code, refusal=refusal, warnings=tuple(sorted(set(warnings))))
        return PolicyAnswer(outcome, **more)

    def review(self, request: Request, *, only_pod: bool = False) -> Iterator[Review]:
        """Yield what the validating plugins before the quota say, until one refuses; ``only_pod``: up to Pod
        Security.
        """
        refusal = service_account.review(request, self.world.accounts)
        if refusal is not None:
            yield Review((refusal,))
            return
        minor = self.server.version[1]
        if not self.server.has_change("pod-security/sysctls"):
            minor = min(minor, CHANGES["pod-security/sysctls"].minor - 1)
        review = (
            pod_security.review_namespace(request, self.world.pods, minor)
            if request.kind == "Namespace"
            else pod_security.review(_drop_containers(request, self.world.added), self.world.namespace or {}, minor)
        )
        yield review
        if self.world.validating and not review.refusals and not only_pod and request.kind not in POLICY_KINDS:
            from kubectl_kres.policies.rules import validating  # noqa: PLC0415, only policies load the engine

            yield validating.review(request, self.world.validating, self.context)

    def evaluate(
        self,
        request: Request,
        admitted: Callable[[Policies], Sequence[Outcome]],
        steps: tuple[Mutation, ...] = (),
        unknown: tuple[str, ...] = (),
    ) -> Iterator[PolicyAnswer]:
        """Yield the object's own checks, then the plugins, then the quota."""
        without_quota = structs.replace(self.policies, quotas=())
        for outcome in admitted(without_quota):
            late = _is_late_refusal(outcome)
            if not outcome.allowed and not late:
                yield PolicyAnswer(outcome, request.object, {}, unknown, steps)
                continue
            request_seen = request.with_object(object_to_validate(request, outcome.draft))
            reviews = list(self.review(request_seen, only_pod=late))
            audit = {key: text for review in reviews for key, text in review.audit.items()}
            gaps = (*unknown, *(gap for review in reviews for gap in review.unknown))
            warnings = [*outcome.warnings, *(text for review in reviews for text in review.warnings)]
            refusals = [refusal for review in reviews for refusal in review.refusals]
            for refusal in refusals:
                yield self.build_refusal(
                    refusal, warnings, stored_object=request_seen.object, audit=audit, unknown=gaps, steps=steps
                )
            if refusals:
                continue
            if late:
                yield PolicyAnswer(outcome, request_seen.object, audit, gaps, steps)
                continue
            for last in admitted(self.policies):
                if last.allowed or last.refusal is not None:
                    texts = structs.replace(last, warnings=tuple(sorted({*warnings, *last.warnings})))
                    yield PolicyAnswer(texts, _build_stored_object(request_seen, last), audit, gaps, steps)


def _drop_containers(request: Request, names: frozenset[str]) -> Request:
    """Return the request without some of its pod's containers."""
    if not names or request.object is None:
        return request
    spec = request.object.get("spec") or {}
    lists = {
        key: [container for container in spec[key] if container.get("name") not in names]
        for key in ("containers", "initContainers")
        if spec.get(key)
    }
    return request.with_object({**request.object, "spec": {**spec, **lists}})


def _is_late_refusal(outcome: Outcome) -> bool:
    """Return whether the refusal is RuntimeClass's, which looks at a pod after Pod Security."""
    refusal = outcome.refusal
    return refusal is not None and any(
        finding.rule == "runtime-class/overhead-unexplained" for finding in refusal.findings
    )


def _build_stored_object(request: Request, outcome: Outcome) -> Raw | None:
    canonical = request.object
    if canonical is None or request.kind != "Pod" or outcome.draft is None or not outcome.allowed:
        return canonical
    return with_draft(canonical, outcome.draft)


def object_to_validate(request: Request, draft: Draft | None) -> Raw | None:
    """Return what storage makes of a new pod before the validating plugins see it."""
    canonical = request.object
    if canonical is None or request.kind != "Pod" or request.operation != "CREATE" or draft is None:
        return canonical
    pod = with_draft(canonical, draft)
    pod["metadata"] = {**pod["metadata"], "generation": 1}
    brought = "" if draft.server.has_change("qos/not-brought") else (pod.get("status") or {}).get("qosClass")
    qos_class = brought or qos.compute_class(draft)
    pod["status"] = {"phase": "Pending", "qosClass": qos_class}
    if (pod.get("spec") or {}).get("schedulingGates"):
        pod["status"]["conditions"] = [dict(_GATED)]
    return pod


def create(
    raw: Raw, namespace: str, policies: Policies, server: Server, world: PolicyObjects
) -> tuple[PolicyAnswer, ...]:
    """Return every answer to a CREATE of the object as sent."""
    texts = {*unknown_fields(raw, str(raw.get("kind", ""))), *owner_notices(raw)}
    answers = _created_of(raw, namespace, policies, server, world)
    return tuple(_with_warnings(answer, texts) if answer.outcome.code != BAD_REQUEST else answer for answer in answers)


def _with_warnings(answer: PolicyAnswer, texts: set[str]) -> PolicyAnswer:
    """With what was said when the object was decoded, whatever came of it."""
    if texts <= set(answer.outcome.warnings):
        return answer
    warnings = tuple(sorted({*answer.outcome.warnings, *texts}))
    return structs.replace(answer, outcome=structs.replace(answer.outcome, warnings=warnings))


def _created_of(
    raw: Raw, namespace: str, policies: Policies, server: Server, world: PolicyObjects
) -> tuple[PolicyAnswer, ...]:
    request = creation_of(raw, namespace, world.user)
    chain = Chain(request, policies, server, world)
    undecoded = undecodable(raw)
    if undecoded is not None:
        return (PolicyAnswer(undecoded),)
    refusal = namespaces.refusal(request, world.namespace)
    if refusal is not None:
        return (chain.build_refusal(refusal),)
    try:
        canonical = fill_metadata(canonical_object(raw, server), namespace)
    except Unparsable:
        return tuple(PolicyAnswer(outcome) for outcome in create_object(raw, policies, server))
    request = request.with_object(canonical)
    if request.kind in POLICY_KINDS:
        from kubectl_kres.policies.rules import creation  # noqa: PLC0415, for objects that are policies

        errors = creation.errors_of(raw, server.version[1], server)
        outcome = not_valid(request.kind, request.name, errors, server) if errors else Outcome(allowed=True, code=201)
        refused_kind = f"{request.kind}.{request.group}"
        if errors and outcome.refusal is not None:
            message = outcome.refusal.message.replace(request.kind, refused_kind, 1)
            outcome = structs.replace(outcome, refusal=structs.replace(outcome.refusal, message=message))
        return (PolicyAnswer(outcome, canonical),)
    policy_answers: list[PolicyAnswer] = []
    for entries, mutated in _mutations(chain, request, raw):
        if isinstance(mutated, PolicyAnswer):
            answers: Iterable[PolicyAnswer] = (mutated,)
        else:
            answers = _create_pods(chain, request, raw, mutated, entries)
        policy_answers.extend(drop_answers(answers, chain.dropped))
    return distinct_answers(policy_answers)


class _Mutated(NamedTuple):
    """An object after the mutating plugins. ``rewritten``: a policy wrote it and read it once more, changed or not."""

    object: dict[str, Any]
    steps: tuple[Mutation, ...]
    unknown: tuple[str, ...]
    rewritten: bool


def _create_pods(
    chain: Chain,
    request: Request,
    raw: Raw,
    mutated: _Mutated,
    entries: tuple[Entry, ...],
) -> Iterator[PolicyAnswer]:
    new, steps, unknown, rewritten = mutated
    mismatch = namespaces.refusal(request.with_object(new), chain.world.namespace)
    if mismatch is not None:
        yield chain.build_refusal(mismatch, steps=steps, unknown=unknown)
        return
    pod = request.kind == "Pod"

    synced = copy.deepcopy(dict(new))
    if pod:
        known = drop_gated_fields(synced, chain.server)
        synced = synced if known is synced else decoded_copy(known)
    texts = security_fields.sync_app_armor(synced) if pod else []

    def admitted(policies: Policies) -> Sequence[Outcome]:
        if not pod:
            return create_object(new if rewritten else raw, policies, chain.server)
        policies = structs.replace(policies, limits=tuple(_bounds_only(limit) for limit in policies.limits))
        # Both look at security fields: what they agree on is said once.
        faults = (*security_fields.errors(synced), *pod_errors(synced, chain.server))
        outcomes = admit(
            decode_object(synced if rewritten else _with_empty_claims(synced, raw), Pod),
            policies,
            chain.server,
            decoded=texts,
            warnings=tuple(pod_notices(synced)),
            faults=tuple({str(fault): fault for fault in faults}.values()),
        )
        return [structs.replace(outcome, journal=(*entries, *outcome.journal)) for outcome in outcomes]

    new = synced

    yield from chain.evaluate(request.with_object(new), admitted, steps, unknown)


def _with_empty_claims(pod: dict[str, Any], raw: Raw) -> dict[str, Any]:
    """Return the pod with the empty list of claims that was sent at the pod level, which is refused though not shown.

    What a policy looked at was written and read once more, which loses it.
    """
    sent = (raw.get("spec") or {}).get("resources") or {}
    stored_resources = pod["spec"].get("resources")
    if sent.get("claims") != [] or stored_resources is None:
        return pod
    return {**pod, "spec": {**pod["spec"], "resources": {**stored_resources, "claims": []}}}


def _bounds_only(limits: Limits) -> Limits:
    """Return the LimitRange without its defaults, which have been set already."""
    items = []
    for item in limits.items:
        bare = copy.copy(item)
        bare.default, bare.default_request = {}, {}
        items.append(bare)
    return Limits(limits.source, tuple(items))


def fill_metadata(canonical: dict[str, Any], namespace: str) -> dict[str, Any]:
    """Return the metadata that the server fills in before any plugin sees the object."""
    metadata = {**(canonical.get("metadata") or {})}
    if str(canonical.get("kind", "")) not in namespaces.CLUSTER_WIDE:
        metadata["namespace"] = metadata.get("namespace") or namespace
    if not metadata.get("name") and metadata.get("generateName"):
        metadata["name"] = f"{metadata['generateName']}xxxxx"
    metadata.pop("uid", None)
    metadata["creationTimestamp"] = "1970-01-01T00:00:00Z"
    canonical["metadata"] = metadata
    return canonical


def _mutations(chain: Chain, request: Request, raw: Raw) -> Iterator[tuple[tuple[Entry, ...], _Mutated | PolicyAnswer]]:
    """Yield the object after the mutating plugins, once for every order of LimitRanges and of policies."""
    if request.kind != "Pod":
        for session in sessions(chain):
            yield (), mutate_once(chain, request, session)
        return
    limits = [limit for limit in chain.policies.limits if _has_defaults(limit)]
    if "LimitRanger" in chain.server.disabled_plugins:
        limits = []
    for order in orders(limits):
        for session in sessions(chain):
            entries = list(_journal_defaults(raw, chain.server))
            mutated = _pod(chain, request, order, session, entries)
            yield tuple(entries), mutated


def _journal_defaults(raw: Raw, server: Server) -> list[Entry]:
    """Return what defaults do before any plugin. It was done already, so that nothing can be wrong with it."""
    steps: list[Entry] = []
    draft = draft_pod(decode_object(with_defaults(raw), Pod), server, steps)
    default_pod(draft, ObjectRef("Pod", ""), steps)
    return steps


def _has_defaults(limits: Limits) -> bool:
    return any(item.type == "Container" and (item.default or item.default_request) for item in limits.items)


def sessions(chain: Chain) -> Iterator[MutationRun]:
    """Yield one for each order of policies and of their bindings."""
    from kubectl_kres.policies.rules.mutating import MutationRun  # noqa: PLC0415, for mutating policies

    single = [BoundPolicy(bound.policy, (binding,)) for bound in chain.world.mutating for binding in bound.bindings]
    for order in islice(permutations(single), MOST_ORDERS):
        run = MutationRun(order, chain.context, chain.server)
        chain.dropped = run.dropped
        yield run


def mutate_once(chain: Chain, request: Request, session: MutationRun) -> _Mutated | PolicyAnswer:
    canonical = dict(request.object or {})
    unknown: tuple[str, ...] = ()
    try:
        mutated, refusal = session.run(request.with_object(canonical))
        if refusal is None and session.again:
            mutated, refusal = session.run(request.with_object(mutated), reinvoked=True)
    except NotComputed as gap:
        mutated, refusal, unknown = canonical, None, _format_gap(chain, gap)
    if refusal is not None:
        return chain.build_refusal(refusal, steps=tuple(session.steps))
    return _Mutated(dict(mutated), tuple(session.steps), unknown, session.rewritten)


def _format_gap(chain: Chain, gap: NotComputed) -> tuple[str, ...]:
    names = ", ".join(sorted({bound.policy.name for bound in chain.world.mutating}))
    return (f"MutatingAdmissionPolicy {names} is not computed: {gap}",)


def drop_answers(answers: Iterable[PolicyAnswer], dropped: Sequence[Finding]) -> Iterator[PolicyAnswer]:
    """The answers; where the server drops the connection none of them, but what else would refuse is kept."""
    if not dropped:
        yield from answers
        return
    for answer in answers:
        refusal = answer.outcome.refusal
        findings = (*dropped, *(refusal.findings if refusal is not None else ()))
        message = "; then ".join((dropped[0].text, *((refusal.message,) if refusal is not None else ())))
        outcome = structs.replace(
            answer.outcome, allowed=False, code=0, refusal=Refusal(0, "NoAnswer", message, findings), object=None,
            charges=(),
        )  # fmt: skip
        yield structs.replace(answer, outcome=outcome, stored_object=None, audit={}, no_answer=True)


def _pod(
    chain: Chain, request: Request, order: Sequence[Limits], session: MutationRun, entries: list[Entry]
) -> _Mutated | PolicyAnswer:
    """Return the pod's way through the mutating plugins, twice where a policy changed it; ``entries`` tell of its
    values.
    """
    canonical: dict[str, Any] = dict(request.object or {})
    unknown: tuple[str, ...] = ()
    for reinvoked in (False, True):
        accounts, done = chain.world.accounts, len(session.steps)
        pod, refusal = service_account.run_plugins(
            request.with_object(canonical), order, chain.policies, accounts, chain.server, entries
        )
        if refusal is not None:
            return chain.build_refusal(refusal, steps=tuple(session.steps))
        try:
            mutated, refusal = session.run(request.with_object(pod), reinvoked=reinvoked)
        except NotComputed as gap:
            return _Mutated(pod, tuple(session.steps), _format_gap(chain, gap), session.rewritten)
        if refusal is not None:
            return chain.build_refusal(refusal, steps=tuple(session.steps))
        canonical = dict(mutated)
        entries.extend(entry for step in session.steps[done:] for entry in step.changed_resources(chain.server))
        if not session.again:
            break
    return _Mutated(canonical, tuple(session.steps), unknown, session.rewritten)


def distinct_answers(answers: Sequence[PolicyAnswer]) -> tuple[PolicyAnswer, ...]:
    """Answers that differ in what is said or stored."""
    policy_answers: dict[str, PolicyAnswer] = {}
    for answer in answers:
        outcome = answer.outcome
        key = repr(
            (outcome.code, outcome.message, outcome.warnings, answer.stored_object, outcome.charges, answer.unknown)
        )
        policy_answers.setdefault(key, answer)
    return tuple(policy_answers.values())


#: Kinds that hold a pod template, of which not all is read.
_OF_TEMPLATES = frozenset({*MADE_BY, CONTROLLER_REVISION.kind})
#: What is known of a pod that a system makes.
_BUILT = frozenset({
    *("name", "containers", "initContainers", "resources", "limits", "requests", "claims", "restartPolicy"),
    *("activeDeadlineSeconds", "priorityClassName", "runtimeClassName", "affinity"),
})  # fmt: skip


def unread_of(kind: str, *, whole: bool) -> frozenset[str]:
    """Return fields that policies may ask for and that were not read. ``whole``: the maker is as a file holds it."""
    if whole:
        return frozenset()
    if kind == "Pod":
        fields = (table().types[name] for name in ("PodSpec", "Container"))
        return frozenset({"labels", "annotations", *(field for names in fields for field in names)} - _BUILT)
    return unread_fields(whole=False, additions=False) if kind in _OF_TEMPLATES else frozenset()


def review_object(run: Chain, request: Request, raw: Raw, gaps: tuple[str, ...] = ()) -> ObjectReview:
    """Return what the policies of a chain say of the object of a request."""
    refusals: dict[str, Refusal] = {}
    changed, unknown = raw, list(gaps)
    for answer in _list_mutated_objects(run, request):
        if isinstance(answer, PolicyAnswer):
            if answer.outcome.refusal is not None:
                refusals[answer.outcome.message] = answer.outcome.refusal
            continue
        canonical, steps, more, _ = answer
        unknown += more
        changed = canonical if steps else changed
        for review in run.review(request.with_object(canonical)):
            unknown += review.unknown
            refusals.update((refusal.message, refusal) for refusal in review.refusals)
    return ObjectReview(changed, tuple(refusals.values()), tuple(dict.fromkeys(unknown)))


def _list_mutated_objects(run: Chain, request: Request) -> Iterator[_Mutated | PolicyAnswer]:
    """Yield the object after each order of the policies that change it; as it is where none is about it."""
    world = run.world
    about = [
        bound
        for bound in world.mutating
        if match_request(bound.policy.spec.get("matchConstraints"), request, world.namespace) is not None
    ]
    if not about:
        yield _Mutated(dict(request.object or {}), (), (), rewritten=False)
        return
    for session in sessions(run):
        yield mutate_once(run, request, session)
