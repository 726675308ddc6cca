"""CREATE of a pod: every step of the API server in order, and every outcome that its arbitrary orders allow."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import permutations
from typing import Any, Protocol

from msgspec import Struct, structs

from kubectl_kres.admission import limitrange as limitrange_admission
from kubectl_kres.admission.base.draft import (
    SIDES,
    Draft,
    Slot,
    Unparsable,
    draft_pod,
    drop_pod_level,
    pod_warnings,
    reread,
)
from kubectl_kres.admission.base.field_errors import FieldError
from kubectl_kres.admission.base.outcome import Outcome, Refusal, forbidden_object, invalid_object, unparsable
from kubectl_kres.admission.base.resource_names import given_name
from kubectl_kres.admission.base.server import Server
from kubectl_kres.admission.limitrange import Limits
from kubectl_kres.admission.pod import aggregate as qos
from kubectl_kres.admission.pod import defaulting
from kubectl_kres.admission.pod.validation import image_errors, validate_containers, validate_pod_level
from kubectl_kres.admission.quota import quota_admission
from kubectl_kres.admission.quota.usage import matches_pod, pod_names, pod_usage
from kubectl_kres.model.objects import LimitRange, ObjectRef, PriorityClass, ResourceQuota, RuntimeClass
from kubectl_kres.model.pod import Pod, ResizePolicy, ResourceClaimEntry
from kubectl_kres.model.quota_objects import PersistentVolumeClaim, ResourceClaimTemplate
from kubectl_kres.provenance.journal import Assumption, Derive, Entry, Set, Source

#: Up to this many LimitRanges with defaults, every order is tried; beyond, each pair of a first and a last one.
MOST_ORDERED = 5
#: Keys that Go keeps in one group of a map. Source: Go's internal/runtime/maps (since 1.24).
SLOTS = 8


class PodWebhook(Protocol):
    """A webhook whose answers about new pods are computed.

    ``configuration``: the name of the MutatingWebhookConfiguration that holds it, by which webhooks are ordered.
    ``reinvoked``: whether its reinvocationPolicy is IfNeeded.
    """

    @property
    def configuration(self) -> str: ...

    @property
    def reinvoked(self) -> bool: ...

    @property
    def simulated(self) -> bool:
        """Return whether simulations follow it."""

    @property
    def title(self) -> str:
        """Return what it does to pods, for a sentence: ``the rules of its Tenant``."""

    def for_owner(self, owner: tuple[str, str] | None) -> PodWebhook:
        """Return the same for pods that name no controller although this one makes them."""

    def with_limits(self, limits: tuple[Limits, ...]) -> PodWebhook:
        """Return the same among these LimitRanges, which it may look at."""

    def mutate(self, draft: Draft, journal: list[Entry] | None) -> bool:
        """Change the pod as one call does, and return whether anything changed. Where it fails it sets ``denied``."""

    def review(self, draft: Draft, name: str, journal: list[Entry] | None) -> tuple[Refusal, ...]:
        """Return every refusal that can be the answer to the pod of that name; none where it passes."""


class ClaimWebhook(Protocol):
    """A webhook whose answers about new PersistentVolumeClaims are computed."""

    def default(self, named: str | None) -> tuple[str, Source] | None:
        """Return the storage class that it gives to a claim of this one, and where that stands; None: it keeps its own.

        ``named`` None: the claim has none.
        """

    def review(self, claim: PersistentVolumeClaim) -> Refusal | None:
        """Return the refusal of a claim with the storage class that it gets; None where it passes."""

    def gap(self, claim: PersistentVolumeClaim) -> Assumption | None:
        """Return what it looks at of a claim that is not known, so that it is taken to pass; None: all is known."""


class ObjectWebhook(Protocol):
    """A webhook whose answers about objects that are neither pods nor PersistentVolumeClaims are computed."""

    def looks_at(self, kind: str, api_version: str) -> bool:
        """Return whether it may refuse objects of a kind that is known by its name alone."""

    def review(self, raw: Mapping[str, Any], *, update: bool = False) -> Refusal | None:
        """Return the refusal of an object as it is sent; None where it passes. ``update``: it is there already."""


class ObjectReview(Struct, frozen=True):
    """What policies say of an object that a controller makes: the object as they leave it, what refuses it.

    ``gaps``: what was not computed, so that the answer may be another one.
    """

    object: Mapping[str, Any]
    refusals: tuple[Refusal, ...] = ()
    gaps: tuple[str, ...] = ()


class Reviewer(Protocol):
    """Asks the policies of a namespace about an object as its controller sends it."""

    def __call__(self, raw: Mapping[str, Any], server: Server, *, whole: bool = True) -> ObjectReview:
        """``whole``: nothing of it was left out when it was read."""


class Policies(Struct, frozen=True):
    """What admission looks up for one namespace. Classes None: they could not be read and refuse nothing.

    extended: device class to the extended resource that it stands for. expandable: storage class to whether its claims
    may grow. default_storage: the storage class that claims without one get; empty: none, or it decides nothing.
    webhooks: those whose answers about pods are computed, in the order in which they are asked; claim_webhooks: about
    claims; object_webhooks: about other objects.
    claim_templates: what claims on devices are made from. reviewer: what else says of objects that controllers make;
    None: nothing does.
    """

    limits: tuple[Limits, ...] = ()
    quotas: tuple[quota_admission.Quota, ...] = ()
    priorities: Mapping[str, PriorityClass] | None = None
    runtimes: Mapping[str, RuntimeClass] | None = None
    extended: Mapping[str, str] | None = None
    expandable: Mapping[str, bool] | None = None
    default_storage: str = ""
    webhooks: tuple[PodWebhook, ...] = ()
    claim_webhooks: tuple[ClaimWebhook, ...] = ()
    object_webhooks: tuple[ObjectWebhook, ...] = ()
    claim_templates: Mapping[str, ResourceClaimTemplate] | None = None
    reviewer: Reviewer | None = None

    def review(self, raw: Mapping[str, Any], server: Server, *, whole: bool = True) -> ObjectReview:
        """Return what policies say of an object that a controller makes."""
        review = ObjectReview(raw) if self.reviewer is None else self.reviewer(raw, server, whole=whole)
        denied = self.denial(raw)
        return review if denied is None else structs.replace(review, refusals=(*review.refusals, denied))

    def denial(self, raw: Mapping[str, Any], *, update: bool = False) -> Refusal | None:
        """Return what webhooks say of an object as it is sent, the first that refuses; None where it passes."""
        refusals = (webhook.review(raw, update=update) for webhook in self.object_webhooks)
        return next((refusal for refusal in refusals if refusal is not None), None)


def for_owner_of(pod: Pod, policies: Policies) -> Policies:
    """Return the policies for pods like this one that do not name its controller."""
    owners = pod.metadata.owner_references or ()
    owner = next(((owner.kind, owner.name) for owner in owners if owner.controller), None)
    return structs.replace(policies, webhooks=tuple(webhook.for_owner(owner) for webhook in policies.webhooks))


def policies_of(
    limit_ranges: Iterable[LimitRange],
    quotas: Iterable[ResourceQuota],
    priorities: Iterable[PriorityClass] | None = None,
    runtimes: Iterable[RuntimeClass] | None = None,
) -> Policies:
    """Return the policies of one namespace, parsed once. Raises Unparsable for a policy that no server would have
    stored.
    """
    return Policies(
        tuple(limitrange_admission.parse(item) for item in sorted(limit_ranges, key=lambda item: item.metadata.name)),
        tuple(quota_admission.parse_quota(item) for item in sorted(quotas, key=lambda item: item.metadata.name)),
        None if priorities is None else {item.metadata.name: item for item in priorities},
        None if runtimes is None else {item.metadata.name: item for item in runtimes},
    )


def admit(
    pod: Pod,
    policies: Policies,
    server: Server,
    *,
    decoded: Sequence[str] = (),
    warnings: Sequence[str] = (),
    faults: Sequence[FieldError] | None = None,
    journal: bool = True,
    counted: bool = False,
) -> tuple[Outcome, ...]:
    """Return every answer that a CREATE of ``pod`` can get; exactly one unless LimitRanges or quotas compete.

    decoded: warnings that come with every answer (unknown fields); warnings: those that come only after validation.
    faults: what validation finds beside resources; None: a template that was stored has passed it, but for what only
    pods are refused for. journal False: keep only the outcome (lists of many pods). counted: the pod exists already and
    is in ``used`` of the quotas. Raises nothing: a quantity that does not parse is an outcome, too.
    Source: admission.md section 1; apiserver handlers/create.go.
    """
    pod = defaulting.without_unknown(pod, server)
    ref = ObjectRef("Pod", _name(pod), pod.metadata.namespace)
    steps: list[Entry] | None = [] if journal else None
    try:
        draft = draft_pod(pod, server, steps)
        defaulting.default_pod(draft, ref, steps)
    except Unparsable as fault:
        refusal = unparsable("Pod", "v1", fault.error.message, fault.path, fault.error.text)
        return (Outcome(allowed=False, code=400, refusal=refusal),)
    beside = tuple(image_errors(draft) if faults is None else faults)
    run = _Run(pod, ref, policies, server, tuple(decoded), tuple(warnings), beside, counted=counted)
    if policies.webhooks and not counted:
        # Whatever class a webhook gives, the plugin has looked at what was sent before.
        twin = draft.copy()
        denied = defaulting.set_priority(twin, ref.name, policies.priorities, None)
        draft.denied = denied or defaulting.check_priority(twin, ref.name, policies.priorities)
    return distinct_outcomes(
        outcome for order, twin, entries in _after_webhooks(draft, ref, policies, steps, server)
        for outcome in run.outcomes(order, twin, entries)
    )  # fmt: skip


def _name(pod: Pod) -> str:
    return given_name(pod.metadata.name, pod.metadata.generate_name)


def defaulted_drafts(
    draft: Draft, policies: Policies, steps: list[Entry] | None, server: Server
) -> Iterator[tuple[tuple[str, ...], Draft, list[Entry] | None]]:
    """Yield the pod after the LimitRanges' defaults, once for every order that can matter."""
    if "LimitRanger" in server.disabled_plugins:
        yield (), draft, steps
        return
    active = [limits for limits in policies.limits if any(limits.defaults)]
    if len(active) <= 1:
        for limits in active:
            limitrange_admission.mutate(draft, limits, steps)
        yield (), draft, steps
        return
    seen: set[Any] = set()
    for order in orders(active, len(policies.limits)):
        twin = draft.copy()
        entries = None if steps is None else list(steps)
        for limits in order:
            limitrange_admission.mutate(twin, limits, entries)
        look = _look(twin)
        if look not in seen:
            seen.add(look)
            yield tuple(limits.source.name for limits in order), twin, entries


def _after_webhooks(
    draft: Draft, ref: ObjectRef, policies: Policies, steps: list[Entry] | None, server: Server
) -> Iterator[tuple[tuple[str, ...], Draft, list[Entry] | None]]:
    """Yield the pod after LimitRanges and the mutating webhooks, once for every order of LimitRanges.

    What a webhook changed is defaulted and goes through LimitRanger again; where that changed it, each webhook that
    wants it is asked once more, else those whose pod a later one changed.
    Source: apiserver admission/reinvocation.go, plugin/webhook/mutating/dispatcher.go.
    """
    webhooks = tuple(webhook.with_limits(policies.limits) for webhook in policies.webhooks)
    for order, once, entries in defaulted_drafts(draft, policies, steps, server):
        changing = [index for index, webhook in enumerate(webhooks) if _call_webhook(webhook, once, ref, entries)]
        if not changing:
            yield order, once, entries
            continue
        steps_of_first = None if entries is None else list(entries)
        for _, twice, more in defaulted_drafts(once.copy(), policies, steps_of_first, server):
            everyone = twice.values() != once.values()
            for index, webhook in enumerate(webhooks):
                if webhook.reinvoked and (everyone or index < changing[-1]):
                    _call_webhook(webhook, twice, ref, more)
            if not server.is_enabled("PodLevelResources"):
                drop_pod_level(twice, more)
            yield order, twice, more


def _call_webhook(webhook: PodWebhook, draft: Draft, ref: ObjectRef, entries: list[Entry] | None) -> bool:
    """Ask one webhook, default what it changed, and return whether it changed anything."""
    if not webhook.mutate(draft, entries):
        return False
    defaulting.default_pod(draft, ref, entries)
    return True


def _look(draft: Draft) -> tuple[Any, ...]:
    """Return the same for drafts that nothing later tells apart."""
    sides = (slot.amounts_of(side) for slot in draft.slots() for side in SIDES)
    return draft.annotation, *(tuple((name, id(quantity)) for name, quantity in side.items()) for side in sides)


def orders(active: Sequence[Limits], count: int = 0) -> Iterator[tuple[Limits, ...]]:
    """Orders in which LimitRanges can be applied; ``count``: how many there are with those that set nothing.

    The plugin goes through the keys of a Go map. Up to SLOTS of them lie in one group, and Go begins at any slot and
    goes round, so that each order is a rotation of that in which the keys came: by name when the server started, by
    creation since. That is inferred from Go's runtime and from hundreds of answers; a LimitRange that was deleted and
    made again can have taken a slot in between. Of what is not stored, or more than a group, every order is possible:
    beyond MOST_ORDERED every first and last one that makes a difference.
    """
    if len(active) > 2 and max(count, len(active)) <= SLOTS and all(limits.created is not None for limits in active):
        by_name, by_creation = list(active), sorted(active, key=lambda limits: limits.created or ("", 0))
        turns = ((*base[turn:], *base[:turn]) for base in (by_name, by_creation) for turn in range(len(active)))
        yield from dict.fromkeys(turns)
        return
    if len(active) <= MOST_ORDERED:
        yield from permutations(active)
        return
    pairs = [(limits, _filled_names(limits)) for limits in active]
    alike: dict[object, tuple[Limits, frozenset[tuple[str, str]]]] = {}
    for pair in pairs:
        alike.setdefault(_given_amounts(pair[0]), pair)
    for first, filled in alike.values():
        others = [pair for pair in pairs if pair[0] is not first]
        for last in _different_lasts(filled, others):
            yield (first, *(limits for limits, _ in others if limits is not last), last)


def _different_lasts(
    filled: frozenset[tuple[str, str]], others: Sequence[tuple[Limits, frozenset[tuple[str, str]]]]
) -> Iterator[Limits]:
    """Yield the LimitRanges that make a difference at the end: those that fill in something behind those before them,
    and of the others, which add nothing anywhere, the first. ``filled``: what the first of all fills in.
    """
    added_nothing = False
    for limits, names in others:
        if not names <= filled:
            yield limits
        elif not added_nothing:
            added_nothing = True
            yield limits
        filled |= names


def _given_amounts(limits: Limits) -> frozenset[tuple[str, str, str]]:
    """Return the defaults by side and name, whichever LimitRange they are of."""
    sides = zip(SIDES, limits.defaults, strict=True)
    return frozenset((side, name, str(amount)) for side, values in sides for name, (amount, _) in values.items())


def _filled_names(limits: Limits) -> frozenset[tuple[str, str]]:
    return frozenset((side, name) for side, values in zip(SIDES, limits.defaults, strict=True) for name in values)


class _Run:
    """One request with everything that its later steps look up."""

    def __init__(
        self,
        pod: Pod,
        ref: ObjectRef,
        policies: Policies,
        server: Server,
        decoded: tuple[str, ...],
        warnings: tuple[str, ...],
        faults: tuple[FieldError, ...],
        *,
        counted: bool,
    ) -> None:
        self.pod, self.ref, self.policies, self.server = pod, ref, policies, server
        self.decoded, self.warnings, self.faults, self.counted = decoded, warnings, faults, counted

    def outcomes(self, order: tuple[str, ...], draft: Draft, entries: list[Entry] | None) -> Iterator[Outcome]:
        if draft.denied is not None:
            yield from self._refuse([draft.denied], draft, order, entries, self.decoded)
            return
        refusal = defaulting.set_priority(draft, self.ref.name, self.policies.priorities, entries)
        if refusal is None and not self.counted:
            refusal = defaulting.check_priority(draft, self.ref.name, self.policies.priorities)
        refusal = refusal or defaulting.set_overhead(draft, self.ref.name, self.policies.runtimes, entries)
        if refusal is not None:
            yield from self._refuse([refusal], draft, order, entries, self.decoded)
            return
        defaulting.complete_pod_level(draft, self.ref, entries)
        errors = [*self.faults, *validate_containers(draft, self.server), *validate_pod_level(draft)]
        if errors:
            refusal = invalid_object("Pod", self.ref.name, errors, self.server)
            yield from self._refuse([refusal], draft, order, entries, self.decoded)
            return
        warnings = tuple(sorted({*self.decoded, *self.warnings, *pod_warnings(draft)}))
        bounds = list(self._bounds(draft, entries))
        overhead = defaulting.check_overhead(draft, self.ref.name, self.policies.runtimes)
        if overhead and not bounds:
            bounds = [overhead]
        if bounds:
            yield from self._refuse(bounds, draft, order, entries, warnings)
            return
        denied = tuple(
            refusal
            for webhook in self.policies.webhooks
            for refusal in webhook.with_limits(self.policies.limits).review(draft, self.ref.name, entries)
        )
        if denied:
            # Validating webhooks are asked at the same time, and the first refusal to come back is the answer.
            shared = [quota for quota in self.policies.quotas if quota.words is not None]
            refusals = (*denied, *self._quota(draft, shared, entries).refusals)
            yield from self._refuse(refusals, draft, order, entries, warnings)
            return
        verdict = self._quota(draft, self.policies.quotas, entries)
        yield from self._refuse(verdict.refusals, draft, order, entries, warnings)
        if not verdict.refusals:
            yield self._build_admitted_outcome(draft, verdict, order, entries, warnings)

    def _bounds(self, draft: Draft, entries: list[Entry] | None) -> Iterator[Refusal]:
        """Yield one refusal for each violated LimitRange: any of them can be the one that answers."""
        if "LimitRanger" in self.server.disabled_plugins:
            return
        for limits in self.policies.limits:
            findings = limitrange_admission.violations(draft, limits, entries)
            if findings:
                yield forbidden_object("pods", self.ref.name, findings)

    def _quota(
        self, draft: Draft, quotas: Sequence[quota_admission.Quota], entries: list[Entry] | None
    ) -> quota_admission.QuotaVerdict:
        limited = self.server.limited_resources
        if "ResourceQuota" in self.server.disabled_plugins:
            quotas, limited = [quota for quota in quotas if quota.words is not None], ()
        return quota_admission.evaluate(quota_request(self.pod, draft), quotas, limited, entries, counted=self.counted)

    def _refuse(
        self,
        refusals: Iterable[Refusal],
        draft: Draft,
        order: tuple[str, ...],
        entries: list[Entry] | None,
        warnings: tuple[str, ...],
    ) -> Iterator[Outcome]:
        """Yield one answer for each refusal; any of them can be the one that answers, with the same steps before it."""
        journal = tuple(entries or ())
        for refusal in refusals:
            yield Outcome(False, refusal.code, refusal, warnings, journal=journal, order=order, draft=draft)

    def _build_admitted_outcome(
        self,
        draft: Draft,
        verdict: quota_admission.QuotaVerdict,
        order: tuple[str, ...],
        entries: list[Entry] | None,
        warnings: tuple[str, ...],
    ) -> Outcome:
        computed = qos.compute_class(draft)
        qos_class = initial_qos_class(self.pod, self.server) or computed
        if entries is not None:
            self._record(draft, qos_class, computed, entries)
        # The stored object is defaulted once more whenever it is read, which no check has seen.
        defaulting.default_pod_level(draft, self.ref, entries)
        reread(draft)
        stored = stored_pod(self.pod, draft, qos_class)
        return Outcome(True, 201, None, warnings, stored, verdict.charges, tuple(entries or ()), order, draft)

    def _record(self, draft: Draft, qos_class: str, computed: str, entries: list[Entry]) -> None:
        source = Source("Pod", self.ref.name, self.ref.namespace)
        if qos_class != computed:
            text = f"the request brings its own class {qos_class}, which is stored unchecked; computed: {computed}"
            entries.append(Assumption("status.qosClass", "qos/brought", text))
        entries.append(Derive("status.qosClass", "qos/class", qos_class, source=source))
        if draft.annotation is not None:
            path = f"metadata.annotations[{limitrange_admission.ANNOTATION}]"
            entries.append(Set(path, "limitrange/annotation", draft.annotation))


def quota_request(pod: Pod, draft: Draft) -> quota_admission.QuotaRequest:
    """Return the pod as the quota plugin sees it."""
    qos_class = initial_qos_class(pod, draft.server) or qos.compute_class(draft)
    in_scope = partial(matches_pod, spec=draft.spec, priority_class=draft.priority_class, qos_class=qos_class)
    return quota_admission.QuotaRequest(
        "pods", _name(pod), pod_usage(draft), pod_names, in_scope, quota_admission.stated_names(draft)
    )


def initial_qos_class(pod: Pod, server: Server) -> str:
    """Return the QoS class in the status of a new pod, which servers before 1.37 store unchecked; empty: it is
    computed.
    """
    return "" if server.has_change("qos/not-brought") else pod.status.qos_class


def stored_pod(pod: Pod, draft: Draft, qos_class: str) -> dict[str, Any]:
    """Return the pod as stored, pruned to what resources depend on; empty parts are left out, an empty pod level is
    not.
    """
    metadata: dict[str, Any] = {"name": _name(pod)}
    written = (pod.metadata.annotations or {}).get(limitrange_admission.ANNOTATION)
    annotation = draft.annotation or written
    if annotation is not None:
        metadata["annotations"] = {limitrange_admission.ANNOTATION: annotation}
    spec: dict[str, Any] = {}
    if draft.pod is not None:
        spec["resources"] = _format_resources(draft.pod)
    if draft.overhead:
        spec["overhead"] = {name: str(quantity) for name, quantity in draft.overhead.items()}
    if draft.priority_class:
        spec["priorityClassName"] = draft.priority_class
    for key, slots, containers in (
        ("containers", draft.containers, pod.spec.containers),
        ("initContainers", draft.inits, pod.spec.init_containers),
    ):
        if slots:
            spec[key] = [_container(slot, raw) for slot, raw in zip(slots, containers or (), strict=True)]
    return {"metadata": metadata, "spec": spec, "status": {"qosClass": qos_class}}


def _container(slot: Slot, raw: Any) -> dict[str, Any]:
    shown: dict[str, Any] = {"name": slot.name}
    # A server that knows no sidecars drops their policy.
    if raw.restart_policy and (slot.role != "init" or raw.restart_policy != "Always"):
        shown["restartPolicy"] = raw.restart_policy
    resources = _format_resources(slot)
    if raw.resources is not None and raw.resources.claims:
        resources["claims"] = shown_claims(raw.resources.claims)
    if resources:
        shown["resources"] = resources
    if raw.resize_policy:
        shown["resizePolicy"] = shown_policies(raw.resize_policy)
    return shown


def shown_claims(claims: Sequence[ResourceClaimEntry]) -> list[dict[str, str]]:
    """``resources.claims`` as JSON has it."""
    return [{"name": claim.name, **({"request": claim.request} if claim.request else {})} for claim in claims]


def shown_policies(policies: Sequence[ResizePolicy]) -> list[dict[str, str]]:
    """``resizePolicy`` as JSON has it."""
    return [{"resourceName": policy.resource_name, "restartPolicy": policy.restart_policy} for policy in policies]


def _format_resources(slot: Slot) -> dict[str, Any]:
    sides = (("limits", slot.limits), ("requests", slot.requests))
    return {side: {name: str(quantity) for name, quantity in values.items()} for side, values in sides if values}


def distinct_outcomes(outcomes: Iterator[Outcome]) -> tuple[Outcome, ...]:
    """Outcomes that differ in the answer or in the values behind it, each under the first order that leads to it."""
    every = tuple(outcomes)
    if len(every) == 1:
        return every
    result: dict[tuple[Any, ...], Outcome] = {}
    values_of: dict[int, str] = {}
    for outcome in every:
        values = repr(outcome.object) if outcome.object is not None else values_of.get(id(outcome.draft))
        if values is None:
            values = values_of[id(outcome.draft)] = repr(outcome.draft.values() if outcome.draft else None)
        key = (outcome.code, outcome.message, values, outcome.warnings, repr(outcome.charges))
        result.setdefault(key, outcome)
    return tuple(result.values())
