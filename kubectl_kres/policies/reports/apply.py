"""What other admission plugins say of an analysis, and of what controllers make: refusals, changed values, warnings,
what is not computed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any
from weakref import ReferenceType

import msgspec
from msgspec import structs

from kubectl_kres.admission.base.draft import Unparsable
from kubectl_kres.admission.base.outcome import Finding, Outcome, Refusal
from kubectl_kres.admission.base.server import Server
from kubectl_kres.admission.request.new_pod import ObjectReview, Policies, for_owner_of
from kubectl_kres.model.objects import Raw, decode_object, to_wire
from kubectl_kres.model.pod import Container, PodSpec
from kubectl_kres.model.workload import template_in, template_of
from kubectl_kres.policies.reports.context import (
    PluginLookups,
    admission_context,
    computable,
    describe_gaps,
    list_unread_fields,
    with_kind,
)
from kubectl_kres.policies.rules import chain, service_account
from kubectl_kres.policies.rules import request as namespaces
from kubectl_kres.policies.rules.chain import Chain, PolicyObjects, review_object, unread_of
from kubectl_kres.policies.rules.pod_security import parse_enforced_levels
from kubectl_kres.policies.rules.policy import BoundPolicy
from kubectl_kres.policies.rules.request import Request, Review, creation, match_request
from kubectl_kres.policies.rules.resources import canonical_object, undecodable
from kubectl_kres.provenance.journal import Assumption
from kubectl_kres.reports.common.analysis import Analysis, PodManifest, with_refusal
from kubectl_kres.reports.common.explanation import EvaluationOptions, FailedRead, Subject
from kubectl_kres.store.store import Store


def review_made(
    kept: ReferenceType[Store], namespace: str, raw: Raw, server: Server, *, whole: bool = True
) -> ObjectReview:
    """Return the object as mutating policies leave it, every refusal, and what is not computed; ``whole``: all of it
    was read.

    ``kept``: the store, which the policies of a namespace must not keep alive.
    """
    store = kept()
    context = admission_context(store, namespace, server) if store is not None else None
    if context is None or undecodable(raw) is not None:
        return ObjectReview(raw)
    try:
        sent = creation(raw, namespace)
        request = sent.with_object(chain.fill_metadata(canonical_object(raw, server), namespace))
    except (Unparsable, msgspec.ValidationError):
        return ObjectReview(raw)
    withheld = unread_of(request.kind, whole=whole)
    built = not whole and request.kind == "Pod"
    validating, gaps = _computable(context.world.validating, request, context, withheld, built=built)
    mutating, others = _computable(context.world.mutating, request, context, withheld, built=built)
    run = Chain(request, Policies(), server, structs.replace(context.world, validating=validating, mutating=mutating))
    return review_object(run, request, raw, (*with_kind(gaps, _VALIDATING), *with_kind(others, _MUTATING)))


def asked_webhooks(store: Store, namespace: str, raw: Raw, server: Server) -> Iterator[Assumption]:
    """Yield the webhooks that are asked about a new object and whose answers are not computed."""
    context = admission_context(store, namespace, server)
    if context is None or not context.webhooks or undecodable(raw) is not None:
        return
    try:
        sent = creation(raw, namespace)
        request = sent.with_object(chain.fill_metadata(canonical_object(raw, server), namespace))
    except (Unparsable, msgspec.ValidationError):
        return
    yield from context.assumed(request)


def _computable(
    bound: Sequence[BoundPolicy], request: Request, context: PluginLookups, withheld: frozenset[str], *, built: bool
) -> tuple[tuple[BoundPolicy, ...], list[str]]:
    """``built``: of a pod that a system builds not all labels are known either, by which policies may select it."""
    kept, gaps = computable(bound, request, context, withheld)
    left = tuple(item for item in kept if not (built and _has_object_selector(item)))
    gaps += [
        f"{item.policy.name} is not computed: it asks for labels, which is not read"
        for item in kept
        if item not in left
    ]
    return left, gaps


def _has_object_selector(item: BoundPolicy) -> bool:
    specs = [
        item.policy.spec.get("matchConstraints"),
        *((webhook.get("spec") or {}).get("matchResources") for webhook in item.bindings),
    ]
    selectors = ((spec or {}).get("objectSelector") or {} for spec in specs)
    return any(selector.get("matchLabels") or selector.get("matchExpressions") for selector in selectors)


def next_pod(subject: Subject, manifest: PodManifest) -> Raw | None:
    """None: no template of it is known."""
    ref = subject.ref
    if subject.raw is not None:
        if ref.kind == "Pod":
            return _as_started(subject.raw, manifest)
        found_template = template_in(subject.raw)
        return (
            None
            if found_template is None
            else _build_pod(_as_started(found_template[1], manifest), ref.name, ref.namespace)
        )
    if manifest.owner is None:
        return None
    template = template_of(manifest.owner)[1]
    return None if template is None else _build_pod(_as_started(to_wire(template), manifest), ref.name, ref.namespace)


def added_to(subject: Subject, manifest: PodManifest) -> frozenset[str]:
    """The names of the containers that a stored object's pod is expected to get beside those of its template."""
    template = template_of(manifest.owner)[1] if subject.raw is None and manifest.owner is not None else None
    if template is None:
        return frozenset()
    return frozenset(_names(manifest.pod.spec)) - frozenset(_names(template.spec))


def _names(spec: PodSpec) -> list[str]:
    return [container.name for container in (*(spec.containers or ()), *(spec.init_containers or ()))]


def _as_started(raw: Raw, manifest: PodManifest) -> Raw:
    """With the amounts that are tried instead of those that it states, and the containers that it is expected to get.

    Those come behind its own; whatever is not different stays as it is written.
    """
    before, after = decode_object(raw.get("spec") or {}, PodSpec), manifest.pod.spec
    spec = _with_amounts(raw.get("spec") or {}, before, after)
    for key, attribute in (("containers", "containers"), ("initContainers", "init_containers")):
        items, changed = getattr(before, attribute) or (), getattr(after, attribute) or ()
        if items != changed:
            own_containers = [_with_amounts(*parts) for parts in zip(spec.get(key) or (), items, changed, strict=False)]
            spec = {**spec, key: [*own_containers, *map(to_wire, changed[len(own_containers) :])]}
    return {**raw, "spec": spec}


def _with_amounts(raw: Raw, before: PodSpec | Container, after: PodSpec | Container) -> Raw:
    if before.resources == after.resources:
        return raw
    bare = {key: value for key, value in raw.items() if key != "resources"}
    return bare if after.resources is None else {**bare, "resources": to_wire(after.resources)}


def _build_pod(template: Raw, name: str, namespace: str) -> dict[str, Any]:
    metadata = template.get("metadata") or {}
    kept = {key: metadata[key] for key in ("labels", "annotations", "finalizers") if metadata.get(key)}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {**kept, "name": name, "namespace": namespace},
        "spec": template.get("spec") or {},
    }


_VALIDATING, _MUTATING = "ValidatingAdmissionPolicy", "MutatingAdmissionPolicy"
_EXEMPT = Assumption(
    "metadata", "pod-security/exemptions", "the server's configuration exempts nobody from Pod Security"
)

_ADDED = Assumption("spec", "seen/added-on-create", "containers that live pods were given keep to Pod Security")


def apply_policies(store: Store, subject: Subject, options: EvaluationOptions, analysis: Analysis) -> Analysis:
    """Return the analysis of the next pod; a pod that exists was admitted."""
    if analysis.manifest.live is not None or analysis.made_pod is not None:
        return analysis
    context = admission_context(store, subject.ref.namespace, options.server)
    raw = next_pod(subject, analysis.manifest) if context is not None else None
    if context is None or raw is None or any(outcome.code == 400 for outcome in analysis.outcomes):
        return analysis
    if undecodable(raw) is not None:
        return analysis
    try:
        return _Next(subject, options, context, raw, added_to(subject, analysis.manifest)).next_pod_of(analysis)
    except (Unparsable, msgspec.ValidationError):
        return analysis


class _Next:
    """The next pod on its way through the plugins."""

    def __init__(
        self,
        subject: Subject,
        options: EvaluationOptions,
        context: PluginLookups,
        raw: Raw,
        additions: frozenset[str] = frozenset(),
    ) -> None:
        self.server, self.raw, self.space = options.server, raw, subject.ref.namespace
        sent = creation(raw, self.space)
        self.request = sent.with_object(chain.fill_metadata(canonical_object(raw, options.server), self.space))
        self.unread: list[FailedRead] = []
        withheld = list_unread_fields(subject, additions)
        validating, gaps = computable(context.world.validating, self.request, context, withheld)
        mutating, others = computable(context.world.mutating, self.request, context, withheld)
        world = structs.replace(context.world, validating=validating, mutating=mutating, added=additions)
        self.unread += [*describe_gaps(gaps, _VALIDATING), *describe_gaps(others, _MUTATING)]
        self.world: PolicyObjects = world
        bounded = (
            additions
            and not parse_enforced_levels(((world.namespace or {}).get("metadata") or {}).get("labels")).privileged
        )
        self.assumed = (*context.assumed(self.request), *((_ADDED,) if bounded else ()))

    def next_pod_of(self, analysis: Analysis) -> Analysis:
        if any(self._mutates()):
            outcomes = tuple(self._compute_outcomes(analysis))
        else:
            outcomes = tuple(item for outcome in analysis.outcomes for item in self._review_outcome(outcome, analysis))
        enforced = any(
            finding.rule == "pod-security/violated" for outcome in outcomes for finding in _findings(outcome)
        )
        return structs.replace(
            analysis,
            outcomes=outcomes,
            assumed=(*analysis.assumed, *self.assumed, *((_EXEMPT,) if enforced else ())),
            unread=(*analysis.unread, *dict.fromkeys(self.unread)),
        )

    def _mutates(self) -> Iterator[bool]:
        for bound in self.world.mutating:
            constraints = bound.policy.spec.get("matchConstraints")
            yield match_request(constraints, self.request, self.world.namespace) is not None

    def _compute_outcomes(self, analysis: Analysis) -> Iterator[Outcome]:
        """Yield all of it anew, with what policies change."""
        policies = for_owner_of(analysis.manifest.pod, analysis.policies.policies)
        for answer in chain.create(self.raw, self.space, policies, self.server, self.world):
            self._unknown(answer.unknown)
            outcome = answer.outcome
            yield outcome if outcome.draft is not None else _copy_draft(outcome, analysis.outcomes[0])

    def _review_outcome(self, outcome: Outcome, analysis: Analysis) -> Iterator[Outcome]:
        """Yield the outcome, or what refuses the pod before a quota does."""
        early = namespaces.refusal(self.request, self.world.namespace) if outcome.code != 422 else None
        refusal = early or self._refused_for_account
        if refusal is not None:
            yield with_refusal(outcome, refusal)
            return
        if outcome.draft is None or not (outcome.allowed or _by_quota(outcome)):
            yield outcome
            return
        run = chain.Chain(self.request, analysis.policies.policies, self.server, self.world)
        reviews = list(run.review(self.request.with_object(chain.object_to_validate(self.request, outcome.draft))))
        self._unknown(gap for review in reviews for gap in review.unknown)
        refusals = [refusal for review in reviews for refusal in review.refusals]
        if refusals:
            yield from (with_refusal(outcome, refusal, warned=True) for refusal in refusals)
            return
        yield _add_warnings(outcome, reviews)

    @cached_property
    def _refused_for_account(self) -> Refusal | None:
        return service_account.admit(self.request, self.world.accounts)[1]

    def _unknown(self, gaps: Iterable[str]) -> None:
        for gap in gaps:
            self.unread += describe_gaps([gap], _MUTATING if gap.startswith(_MUTATING) else _VALIDATING)


def _findings(outcome: Outcome) -> tuple[Finding, ...]:
    return outcome.refusal.findings if outcome.refusal is not None else ()


def _by_quota(outcome: Outcome) -> bool:
    return outcome.refusal is not None and outcome.refusal.findings[0].rule.startswith(("quota/", "capsule/rule-"))


def _copy_draft(outcome: Outcome, like: Outcome) -> Outcome:
    """Return a refusal before anything was computed, with the figures that the pod had without policies."""
    return structs.replace(outcome, draft=like.draft, journal=outcome.journal or like.journal)


def _add_warnings(outcome: Outcome, reviews: Iterable[Review]) -> Outcome:
    texts = {text for review in reviews for text in review.warnings}
    return structs.replace(outcome, warnings=tuple(sorted({*outcome.warnings, *texts}))) if texts else outcome


def apply_policies_to_object(
    store: Store, subject: Subject, options: EvaluationOptions, analysis: Analysis
) -> Analysis:
    """Return what policies say of the workload of a file itself, which is sent before any pod is made of it."""
    raw, ref = subject.raw, subject.ref
    context = admission_context(store, ref.namespace, options.server) if raw is not None and ref.kind != "Pod" else None
    if context is None or raw is None or undecodable(raw) is not None:
        return analysis
    try:
        request = _build_request(store, subject, raw, options)
    except (Unparsable, msgspec.ValidationError):
        return analysis
    validating, gaps = computable(context.world.validating, request, context)
    world = structs.replace(context.world, validating=validating)
    reviews = list(chain.Chain(request, analysis.policies.policies, options.server, world).review(request))
    failed_reads = [
        *describe_gaps(gaps, _VALIDATING),
        *describe_gaps((gap for review in reviews for gap in review.unknown), _VALIDATING),
    ]
    changing = [
        f"{bound.policy.name} is not computed: it changes the {ref.kind} itself"
        for bound in context.world.mutating
        if match_request(bound.policy.spec.get("matchConstraints"), request, context.world.namespace) is not None
    ]
    failed_reads += describe_gaps(changing, _MUTATING)
    analysis = structs.replace(analysis, unread=(*analysis.unread, *failed_reads))
    refusals = [refusal for review in reviews for refusal in review.refusals]
    if not refusals:
        return structs.replace(
            analysis, outcomes=tuple(_add_warnings(outcome, reviews) for outcome in analysis.outcomes)
        )
    outcomes = tuple(with_refusal(pod, refusal) for refusal in refusals for pod in analysis.outcomes)
    return structs.replace(analysis, outcomes=outcomes, then=(*analysis.outcomes, *analysis.then))


def _build_request(store: Store, subject: Subject, raw: Raw, options: EvaluationOptions) -> Request:
    request = creation(raw, subject.ref.namespace)
    canonical = chain.fill_metadata(canonical_object(raw, options.server), subject.ref.namespace)
    if store.get(subject.ref.kind, subject.ref.name, subject.ref.namespace) is not None:
        return structs.replace(request, operation="UPDATE", object=canonical, old=canonical)
    return request.with_object(canonical)
