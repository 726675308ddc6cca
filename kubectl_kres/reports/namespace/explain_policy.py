"""The explanation of policies: quotas, LimitRanges, a namespace, and what claims and services cost.

It also merges all LimitRanges of a namespace: the bound in force of each resource, and what each object contributes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Struct, structs

from kubectl_kres.admission import limitrange as limitrange_object
from kubectl_kres.admission.base.draft import Unparsable
from kubectl_kres.admission.base.outcome import Outcome
from kubectl_kres.admission.limitrange import Limits, ParsedItem
from kubectl_kres.admission.quota.quota_admission import charges, request_of
from kubectl_kres.admission.request.create import create, create_decoded
from kubectl_kres.admission.request.new_pod import Policies
from kubectl_kres.admission.request.update import update
from kubectl_kres.admission.request.volume_claims import given_class, with_default_class
from kubectl_kres.errors import NotFound, UsageError
from kubectl_kres.model.kinds import BY_KIND
from kubectl_kres.model.objects import LimitRange, ManagedMetadata, ObjectRef, ResourceQuota, to_wire
from kubectl_kres.model.pod import ANY_IMAGE
from kubectl_kres.model.quota_objects import PersistentVolumeClaim, ResourceClaim, Service
from kubectl_kres.provenance.journal import Assumption, GivenStorageClass, Source
from kubectl_kres.quantity import Quantity
from kubectl_kres.record import Record, Wording
from kubectl_kres.reports.common import explanation, system
from kubectl_kres.reports.common.effective_policies import NamespacePolicies, demands, policies
from kubectl_kres.reports.common.last_editor import last_edit
from kubectl_kres.reports.common.remedy import untested_remedies
from kubectl_kres.reports.explain.explain import explain, quota_costs
from kubectl_kres.reports.namespace.allowed_ranges import Contradiction, bands, contradictions, defaults
from kubectl_kres.reports.namespace.claim_binding import binding_needs, binding_state
from kubectl_kres.reports.namespace.counted_object import counted_needs, explain_counted, is_counted_object
from kubectl_kres.reports.namespace.policy_explanation import Band, PolicyExplanation
from kubectl_kres.reports.pod.needs import list_read_requests, storage_needs
from kubectl_kres.reports.pod.preflight import namespace_needs, namespace_refusal, refuse_unknown_fields
from kubectl_kres.reports.pod.verdict import verdict_of, with_outcome
from kubectl_kres.reports.quota.quota_report import quota_reports, shared_needs, shared_reports
from kubectl_kres.reports.remedies.commands import add_access_flags
from kubectl_kres.reports.remedies.context import RemedyContext, RemedyTexts, quota_excess
from kubectl_kres.reports.remedies.pod_remedy import remedies
from kubectl_kres.reports.remedies.refusal_fixes import AskWithin, Bound, GrowLess
from kubectl_kres.store.store import ReadRequest, Store


def namespace_of(ref: ObjectRef) -> str:
    """Return the namespace whose policies bear on an object."""
    return ref.name if ref.kind == "Namespace" else ref.namespace


def policy_needs(store: Store, subject: explanation.Subject) -> tuple[ReadRequest, ...]:
    """Return the reads that the answer depends on: the object, the policies beside it, and the reads of a bare pod."""
    ref = subject.ref
    if is_counted_object(subject.kind):
        return counted_needs(store, subject)
    own_read = ReadRequest(ref.kind, ref.namespace, ref.name, required=ref.kind != "Namespace")
    namespace_reads = namespace_needs(store, ref.namespace) if ref in store.files else ()
    more_reads = _system_read_requests(store, ref.name) if ref.kind == "Namespace" else ()
    item = store.get(ref.kind, ref.name, ref.namespace) if ref in store.files else None
    classes = storage_needs(store, ref.namespace, [item]) if isinstance(item, PersistentVolumeClaim) else ()
    if isinstance(item, PersistentVolumeClaim) and (before := find_replaced_object(store, ref)) is not None:
        grows = item.spec.resources != before.spec.resources
        classes = (*classes, ReadRequest("StorageClass")) if grows else classes
    return tuple(
        dict.fromkeys(
            (
                own_read,
                *list_read_requests(store, _build_bare_pod(namespace_of(ref))),
                *classes,
                *binding_needs(store, ref),
                *namespace_reads,
                *more_reads,
            )
        )
    )


def _system_read_requests(store: Store, namespace: str) -> tuple[ReadRequest, ...]:
    """Return the reads of systems' quotas, once the namespace's own tell whether there may be some, and their further
    reads.
    """
    is_known = store.covered(ReadRequest("ResourceQuota", namespace)).is_known
    quotas: tuple[ResourceQuota, ...] = tuple(store.all("ResourceQuota", namespace)) if is_known else ()
    return (
        *(shared_needs(store, namespace, quotas) if is_known else ()),
        *system.reads_for(store, system.AboutNamespace(namespace)),
        *system.reads_for(store, system.AboutPolicies(namespace)),
    )


def _build_bare_pod(namespace: str) -> explanation.Subject:
    """Return a pod of one container without requests and limits."""
    metadata = {"name": "bare", "namespace": namespace}
    raw = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": metadata,
        "spec": {"containers": [{"name": "bare", "image": ANY_IMAGE}]},
    }
    return explanation.Subject(ObjectRef("Pod", "bare", namespace), BY_KIND["Pod"], raw)


def explain_policy(
    store: Store, subject: explanation.Subject, options: explanation.EvaluationOptions
) -> PolicyExplanation:
    """Return the explanation of a policy. Raises NotFound if the object is not in the store, UsageError if a value is
    no quantity.
    """
    ref = subject.ref
    if is_counted_object(subject.kind):
        return explain_counted(store, subject, options)
    item = store.get(ref.kind, ref.name, ref.namespace)
    if item is None and ref.kind != "Namespace":
        raise NotFound(f'{subject.kind.qualified_name} "{ref.name}" not found', code=404, reason="NotFound")
    try:
        return _build_explanation(store, subject, item, options)
    except Unparsable as fault:
        raise UsageError(f"{ref}: {fault}", hint="no API server stores such an object") from fault


class _NamespaceContext(Struct, frozen=True):
    """The input of every answer. ``unread``: what it needs and could not be read. ``raw``: the object of a file."""

    store: Store
    ref: ObjectRef
    item: Any
    policies: NamespacePolicies
    options: explanation.EvaluationOptions
    unread: tuple[explanation.FailedRead, ...]
    raw: Mapping[str, Any] | None = None

    def unfilled(self, demanded: tuple[explanation.Demand, ...]) -> tuple[explanation.Demand, ...]:
        """Return the demands that no LimitRange meets: none where LimitRanges could not be read."""
        return () if any(failed_read.kind == "LimitRange" for failed_read in self.unread) else demanded


def _build_explanation(
    store: Store, subject: explanation.Subject, item: Any, options: explanation.EvaluationOptions
) -> PolicyExplanation:
    ref = subject.ref
    namespace_policies = policies(store, namespace_of(ref), options.server)
    reads = policy_needs(store, explanation.Subject(ref, BY_KIND[ref.kind]))
    failed_reads = tuple(failed_read for failed_read in explanation.find_unread(store, reads) if failed_read.required)
    context = _NamespaceContext(store, ref, item, namespace_policies, options, failed_reads, subject.raw)
    make = {"ResourceQuota": _quota, "LimitRange": _limit_range, "Namespace": _namespace}.get(
        ref.kind, _explain_counted_object
    )
    policy_explanation = _refuse_without_namespace(context, make(context))
    of_policy = ref.kind in {"LimitRange", "ResourceQuota"}
    owner = system.ownership_of(item.metadata) if of_policy else system.Ownership(None)
    return structs.replace(
        policy_explanation,
        warnings=(*policy_explanation.warnings, *([owner.by] if owner.distributed and owner.by is not None else ())),
        assumptions=(*namespace_policies.assumptions, *policy_explanation.assumptions),
        unread=failed_reads,
        complete=not failed_reads,
        verdict=with_outcome(policy_explanation.verdict, failed_reads)
        if policy_explanation.verdict is not None
        else None,
        edits=_edits(item) if item is not None else {},
    )


def _refuse_without_namespace(context: _NamespaceContext, policy_explanation: PolicyExplanation) -> PolicyExplanation:
    """Return the answer, or that an object of a file cannot be stored, since its namespace does not exist."""
    refusal = (
        namespace_refusal(context.store, context.ref, BY_KIND[context.ref.kind].qualified_name)
        if context.ref in context.store.files
        else None
    )
    if refusal is None or (policy_explanation.verdict is not None and policy_explanation.verdict.code == 400):
        return policy_explanation
    outcomes = (Outcome(False, refusal.code, refusal),)
    return structs.replace(
        policy_explanation,
        verdict=verdict_of(outcomes),
        fixes=untested_remedies(add_access_flags(context.store.origin, remedies(outcomes))),
    )


def _quota(context: _NamespaceContext) -> PolicyExplanation:
    item = context.item
    policies = context.policies.policies
    own_demands = tuple(
        demand for demand in demands(policies.quotas, policies.limits) if demand.quota == item.metadata.name
    )
    verdict, fixes, warnings = _find_policy_verdict(context)
    return PolicyExplanation(
        context.ref,
        verdict,
        untested_remedies(fixes),
        quotas=tuple(quota_reports(context.store, [item], context.options)),
        demands=own_demands,
        warnings=warnings,
        contradictions=tuple(
            contradictions(
                (),
                [quota for quota in policies.quotas if quota.name == item.metadata.name],
                context.unfilled(own_demands),
            )
        ),
        pod_without_values=explain(context.store, _build_bare_pod(context.ref.namespace), context.options),
    )


def _limit_range(context: _NamespaceContext) -> PolicyExplanation:
    """Return the explanation of a LimitRange: its own defaults and bounds, and its contradictions in the namespace."""
    limits = limitrange_object.parse(context.item)
    verdict, fixes, warnings = _find_policy_verdict(context)
    alone = Store(context.store.origin)
    alone.add("LimitRange", context.item)
    return PolicyExplanation(
        context.ref,
        verdict,
        untested_remedies(fixes),
        defaults=tuple(defaults(context.item)),
        bands=bands([limits]),
        warnings=warnings,
        contradictions=_with_others(context, limits),
        pod_without_values=explain(
            alone, _build_bare_pod(context.ref.namespace), structs.replace(context.options, assumptions=())
        ),
    )


def _with_others(context: _NamespaceContext, limits: limitrange_object.Limits) -> tuple[Contradiction, ...]:
    """Return the contradictions of a LimitRange by itself, and with the quotas and LimitRanges beside it."""
    policies = context.policies.policies
    own = contradictions([limits], policies.quotas, ())
    beside = contradictions(policies.limits, policies.quotas, ())
    named = {str(limits.source.ref), limits.source.name}
    return tuple(dict.fromkeys((*own, *(each for each in beside if named & each.stated_by))))


def _namespace(context: _NamespaceContext) -> PolicyExplanation:
    policies, space = context.policies.policies, namespace_of(context.ref)
    demanded = tuple(demands(policies.quotas, policies.limits))
    resource_quotas: Sequence[ResourceQuota] = tuple(context.store.all("ResourceQuota", space))
    outcomes = _new_namespace(context)
    fixes = add_access_flags(context.store.origin, remedies(outcomes)) if outcomes else ()
    return PolicyExplanation(
        context.ref,
        verdict_of(outcomes) if outcomes else None,
        untested_remedies(fixes),
        quotas=(*quota_reports(context.store, resource_quotas, context.options), *shared_reports(context.store, space)),
        demands=demanded,
        bands=bands(policies.limits),
        contradictions=tuple(
            dict.fromkeys(contradictions(policies.limits, policies.quotas, context.unfilled(demanded)))
        ),
        pod_without_values=explain(context.store, _build_bare_pod(space), context.options),
        namespace_parts=system.parts_of_namespace(context.store, space, policies.limits),
    )


def _new_namespace(context: _NamespaceContext) -> tuple[Outcome, ...]:
    """Return why a namespace of a file is refused, as far as that is computed; nothing where it passes."""
    ref = context.ref
    if ref not in context.store.files or find_replaced_object(context.store, ref) is not None:
        return ()
    refusal = context.policies.policies.denial(_build_raw_object(context.item, ref))
    return () if refusal is None else (Outcome(False, refusal.code, refusal),)


def _explain_counted_object(context: _NamespaceContext) -> PolicyExplanation:
    """Return the explanation of an object that quotas count and that makes no pods. A stored one is in ``used``
    already: only LimitRanges could refuse it now.

    An object of a file costs the difference to the stored one of its name.
    """
    item, policies, server = context.item, context.policies.policies, context.options.server
    stored = context.ref not in context.store.files
    evaluated = Policies(policies.limits) if stored else policies
    before = None if stored else find_replaced_object(context.store, context.ref)
    assert isinstance(item, PersistentVolumeClaim | Service | ResourceClaim)
    outcomes = _outcomes(context, item, before, evaluated)
    counted = with_default_class(item, policies) if isinstance(item, PersistentVolumeClaim) and not stored else item
    request = request_of(counted, server, extended=policies.extended)
    old = request_of(before, server, extended=policies.extended) if before is not None else None
    costs = charges(request, policies.quotas, old)
    fixes = add_access_flags(
        context.store.origin, remedies(outcomes, special=_OF_GROWTH if old is not None else _OF_CLAIMS)
    )
    return PolicyExplanation(
        context.ref,
        verdict_of(outcomes),
        untested_remedies(fixes),
        bands=tuple(band for band in bands(policies.limits) if band.type == context.ref.kind),
        costs=tuple(quota_costs(costs, counted=stored)),
        counted=stored,
        warnings=outcomes[0].warnings,
        assumptions=()
        if stored
        else (
            *_class_assumptions(item, policies),
            *system.assumed_of_object(
                context.store, context.ref.namespace, context.raw or _build_raw_object(item, context.ref), server
            ),
        ),
        run_state=binding_state(context.store, item) if stored and isinstance(item, PersistentVolumeClaim) else None,
    )


def _outcomes(context: _NamespaceContext, item: Any, before: Any, evaluated: Policies) -> tuple[Outcome, ...]:
    """Return every answer to creating the object, or to changing the one that is there."""
    server, raw = context.options.server, context.raw
    if before is None:
        return (
            create_decoded(item, evaluated, server)
            if raw is None
            else tuple(refuse_unknown_fields(raw, create(raw, evaluated, server)))
        )
    old = _build_raw_object(before, context.ref)
    new = _build_raw_object(item, context.ref)
    wanted = {**old, "spec": {**(old.get("spec") or {}), **(new.get("spec") or {})}}
    outcomes = update(old, wanted, evaluated, server)
    return outcomes if raw is None else tuple(refuse_unknown_fields(raw, outcomes))


def _build_raw_object(item: Any, ref: ObjectRef) -> dict[str, Any]:
    kind = BY_KIND[ref.kind]
    return {**to_wire(item), "kind": kind.kind, "apiVersion": kind.api_version}


def find_replaced_object(store: Store, ref: ObjectRef) -> Any:
    """Return the stored object that one of a file replaces; None: there is none, or it is not known."""
    return store.beneath.get(ref) or (store.get(ref.kind, ref.name, ref.namespace) if ref not in store.files else None)


def _class_assumptions(item: Any, policies: Policies) -> Iterator[Assumption]:
    """Yield which storage class a claim gets that it does not name, and what webhooks take as given."""
    if not isinstance(item, PersistentVolumeClaim):
        return
    yield from filter(None, (webhook.gap(item) for webhook in policies.claim_webhooks))
    given, named = given_class(item, policies), item.spec.storage_class_name
    if given.name == named:
        return
    text = GivenStorageClass(given.name or "", named, str(given.source or ""))
    yield Assumption("spec.storageClassName", "claim/default-class", text)


def _size_remedies(case: RemedyContext) -> Iterator[Wording]:
    bound: Bound = "at most" if case.finding.rule == "limitrange/max" else "at least"
    yield AskWithin(case.finding.resource, bound, case.finding.limit)


#: A claim has no containers whose requests could be another.
_OF_CLAIMS: Mapping[str, RemedyTexts] = dict.fromkeys(("limitrange/max", "limitrange/min"), _size_remedies)


def _growth_remedies(case: RemedyContext) -> Iterator[Wording]:
    """Yield the names that a quota counts for the growth of a stored object."""
    finding = case.finding
    amount = quota_excess(finding)
    quota = finding.source.name if finding.source is not None else ""
    if amount is None:
        return
    left = amount.hard - amount.used
    less = str(left) if finding.resource.endswith("storage") and left.nano > 0 else ""
    yield GrowLess(finding.resource, quota, str(amount.after), str(amount.shortage), less)


_OF_GROWTH = {**_OF_CLAIMS, "quota/exceeded": _growth_remedies}


def _find_policy_verdict(
    context: _NamespaceContext,
) -> tuple[explanation.Verdict | None, tuple[Wording, ...], tuple[str, ...]]:
    """Return whether the server would accept a policy from a file, what to change, and its warnings; None for a stored
    one.
    """
    if context.ref not in context.store.files:
        return None, (), ()
    # A quota does not count itself, and what exists already costs nothing.
    own_fault = context.ref.name if context.ref.kind == "ResourceQuota" else ""
    new = find_replaced_object(context.store, context.ref) is None
    quotas = tuple(quota for quota in context.policies.policies.quotas if new and quota.name != own_fault)
    outcomes = create(_raw(context.ref.kind, context.item), Policies(quotas=quotas), context.options.server)
    allowed = all(outcome.allowed for outcome in outcomes)
    fixes = () if allowed else (*remedies(outcomes),) or ("change what the message names",)
    return verdict_of(outcomes), fixes, outcomes[0].warnings


def _raw(kind: str, item: Any) -> Mapping[str, Any]:
    raw: dict[str, Any] = msgspec.to_builtins(item, enc_hook=str)
    return {"kind": kind, "apiVersion": BY_KIND[kind].api_version, **raw}


def _edits(item: LimitRange | ResourceQuota | Any) -> Mapping[str, explanation.LastEdit]:
    """Return the last editor of each limited field."""
    metadata = item.metadata
    if not isinstance(metadata, ManagedMetadata):
        return {}
    fields = [f"spec.hard[{name}]" for name in item.spec.hard or ()] if isinstance(item, ResourceQuota) else []
    fields = fields or (["spec.limits"] if isinstance(item, LimitRange) else [])
    last_edits = {field: last_edit(metadata.managed_fields, field) for field in fields}
    return {field: edit for field, edit in last_edits.items() if edit is not None}


class LimitRangePart(Record, frozen=True):
    """The contribution of one LimitRange. ``field`` as in the object. ``force``: it is in force, or may be, for a
    default.
    """

    field: str
    value: str
    source: Source
    force: bool = True


class EffectiveLimit(Record, frozen=True):
    """One resource of one type in one namespace.

    ``band``: the bounds in force. ``requests``, ``limits``: the defaults; several where LimitRanges differ, since the
    server applies them in an arbitrary order. ``assumptions``: LimitRanges that were left out.
    """

    namespace: str
    type: str
    resource: str
    band: Band
    requests: tuple[str, ...] = ()
    limits: tuple[str, ...] = ()
    parts: tuple[LimitRangePart, ...] = ()
    assumptions: tuple[Assumption, ...] = ()

    @property
    def certain(self) -> bool:
        """Return whether a container without values gets the same defaults, whatever the order."""
        return len(self.requests) < 2 and len(self.limits) < 2


_FIELDS = ("min", "max", "maxLimitRequestRatio", "defaultRequest", "default")


def effective_limits(store: Store, namespace: str) -> Iterator[EffectiveLimit]:
    """Yield the limits by type and resource."""
    namespace_policies = policies(store, namespace)
    limits = tuple(namespace_policies.policies.limits)
    result = {(band.type, band.resource): band for band in bands(limits)}
    left_out = tuple(assumption for assumption in namespace_policies.assumptions if assumption.path == "LimitRange")
    for type_, resource in sorted({*result, *_default_names(limits)}):
        band = result.get((type_, resource), Band(type_, resource))
        parts = tuple(_band_parts(limits, band))
        yield EffectiveLimit(
            namespace,
            type_,
            resource,
            band,
            _values(parts, "defaultRequest"),
            _values(parts, "default"),
            parts,
            left_out,
        )


def _default_names(limits: Iterable[Limits]) -> Iterator[tuple[str, str]]:
    for limit in limits:
        for item in limit.items:
            yield from ((item.type, name) for name in {*item.default, *item.default_request})


def _band_parts(limits: Iterable[Limits], band: Band) -> Iterator[LimitRangePart]:
    forced = {"min": band.low_source, "max": band.high_source, "maxLimitRequestRatio": band.ratio_source}
    for field in _FIELDS:
        for limit in limits:
            for item in limit.items:
                value = _value(item, field, band)
                if value is not None:
                    source = limit.source.at_path(f"{item.path}.{field}[{band.resource}]")
                    yield LimitRangePart(field, str(value), source, field not in forced or forced[field] == source)


def _value(item: ParsedItem, field: str, band: Band) -> Quantity | None:
    if item.type != band.type:
        return None
    quantities = {
        "min": item.min,
        "max": item.max,
        "maxLimitRequestRatio": item.ratio,
        "defaultRequest": item.default_request,
        "default": item.default,
    }
    return quantities[field].get(band.resource)


def _values(parts: Iterable[LimitRangePart], field: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(part.value for part in parts if part.field == field))
