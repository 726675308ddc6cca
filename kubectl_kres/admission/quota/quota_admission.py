"""The ResourceQuota plugin: what a request of each kind asks of quotas, which quotas that concerns, and which of them
refuse.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Any, Protocol

from msgspec import Struct, structs

from kubectl_kres.admission.base.draft import Draft, Quantities, Unparsable, draft_pod, parse_list
from kubectl_kres.admission.base.outcome import Finding, QuotaCharge, Refusal, forbidden_object
from kubectl_kres.admission.base.resource_names import given_name, is_pod_level
from kubectl_kres.admission.base.server import LimitedResource, Server
from kubectl_kres.admission.pod import aggregate as qos
from kubectl_kres.admission.quota.usage import (
    IGNORED,
    claim_names,
    claim_usage,
    compute_usage,
    device_names,
    device_usage,
    is_terminal,
    matches_claim,
    matches_pod,
    object_usage,
    pod_names,
    requirements,
    service_names,
    service_usage,
    stored_pod_usage,
)
from kubectl_kres.model.content_key import content_key
from kubectl_kres.model.kinds import BY_KIND, served_kind_name
from kubectl_kres.model.objects import Metadata, ResourceQuota, ScopedRequirement
from kubectl_kres.model.pod import Pod
from kubectl_kres.model.quota_objects import PersistentVolumeClaim, ResourceClaim, Service
from kubectl_kres.provenance.journal import Check, Entry, Source
from kubectl_kres.quantity import ZERO, Quantity, parse, read_back

#: Names that, once a quota limits them, every container must state.
MUST_SPECIFY = frozenset({"cpu", "memory", "requests.cpu", "requests.memory", "limits.cpu", "limits.memory"})


class Quota:
    """A ResourceQuota as the plugin sees it: ``hard`` and ``used`` are those of its status.

    ``words``: of a quota that a webhook enforces, before the plugin is asked; None: the plugin enforces it.
    ``hard_at``: the field of its object that is changed to raise it.
    """

    __slots__ = ("hard", "hard_at", "name", "scopes", "source", "used", "words")

    def __init__(
        self,
        name: str,
        source: Source,
        scopes: tuple[ScopedRequirement, ...],
        hard: Quantities,
        used: Quantities,
        words: RefusalFormat | None = None,
        hard_at: str = "spec.hard",
    ) -> None:
        self.name, self.source, self.scopes, self.hard, self.used = name, source, scopes, hard, used
        self.words, self.hard_at = words, hard_at

    def with_used(self, used: Quantities) -> Quota:
        """Return the quota with another use."""
        return Quota(self.name, self.source, self.scopes, self.hard, used, self.words, self.hard_at)

    def with_hard(self, hard: Quantities) -> Quota:
        """Return the quota with other amounts that it limits to."""
        return Quota(self.name, self.source, self.scopes, hard, self.used, self.words, self.hard_at)


class RefusalFormat(Protocol):
    """How a webhook that enforces a quota words its refusals."""

    def exceeded(self, quota: Quota, delta: Quantities) -> str:
        """Return the sentence for a request that adds this; empty where it has room."""

    def must_specify(self, quota: Quota, missing: str) -> str:
        """Return the sentence for containers that state too little."""

    def refusal(self, findings: Sequence[Finding]) -> Refusal:
        """Return the API server's answer."""


def parse_quota(quota: ResourceQuota) -> Quota:
    """Raises Unparsable."""
    meta, status = quota.metadata, quota.status
    source = Source("ResourceQuota", meta.name, meta.namespace)
    hard, used = parse_list(status.hard, "status.hard"), parse_list(status.used, "status.used")
    return Quota(meta.name, source, requirements(quota.spec), hard, used)


class QuotaRequest(Struct, frozen=True):
    """An object as the plugin sees it, in a request or where it is stored.

    resource: the plural with its group. usage: what the object counts for. names: which names of a quota concern the
    kind. in_scope: whether the object matches one scope expression (False for kinds that no scope takes).
    containers: per container name what it states, for the must-specify rule; None: the rule does not apply.
    """

    resource: str
    name: str
    usage: Mapping[str, Quantity]
    names: Callable[[Iterable[str]], list[str]]
    in_scope: Callable[[ScopedRequirement], bool]
    containers: Sequence[tuple[str, frozenset[str]]] | None = None


class QuotaVerdict(Struct, frozen=True):
    """Every refusal that could be the answer (the server's order over quotas is arbitrary), or what it costs."""

    refusals: tuple[Refusal, ...] = ()
    charges: tuple[QuotaCharge, ...] = ()


def stated_names(draft: Draft) -> list[tuple[str, frozenset[str]]] | None:
    """Per container the quota names that it states; None where a pod-level value lifts the rule."""
    pod = draft.pod
    if pod is not None and any(is_pod_level(name) for name in (*pod.limits, *pod.requests)):
        return None
    return [
        (slot.name, frozenset(compute_usage(slot.requests, slot.limits))) for slot in (*draft.containers, *draft.inits)
    ]


def evaluate(
    request: QuotaRequest,
    quotas: Sequence[Quota],
    limited: Sequence[LimitedResource],
    journal: list[Entry] | None = None,
    *,
    counted: bool = False,
    old: QuotaRequest | None = None,
) -> QuotaVerdict:
    """Source: apiserver resourcequota/controller.go CheckRequest.

    ``counted``: the object exists and is in ``used`` already, so that no quota is asked for room. ``old``: the stored
    object that an update would replace; a quota that counts it is charged for what grows, any other for the whole.

    First every quota that is concerned must be usable (must-specify, status known); then limited resources must be
    covered; then each quota must have room. Quotas that a webhook enforces come before all of that.
    """
    shared = [quota for quota in quotas if quota.words is not None]
    before = _webhook_refusals(request, shared, journal, counted=counted, old=old) if shared else QuotaVerdict()
    if before.refusals:
        return before
    own_quotas = [quota for quota in quotas if quota.words is None] if shared else quotas
    verdict = _plugin_refusals(request, own_quotas, limited, journal, counted=counted, old=old)
    return verdict if verdict.refusals or not shared else QuotaVerdict((), (*verdict.charges, *before.charges))


def _webhook_refusals(
    request: QuotaRequest,
    quotas: Sequence[Quota],
    journal: list[Entry] | None,
    *,
    counted: bool,
    old: QuotaRequest | None,
) -> QuotaVerdict:
    """Return every refusal of quotas that a webhook enforces: it asks one after the other, in any order."""
    refusals: list[Refusal] = []
    charges: list[QuotaCharge] = []
    for quota in matching_quotas(request, quotas):
        delta = _delta(request, old if old and matching_quotas(old, [quota]) else None)
        refusal = _must_specify(request, quota, journal)
        if refusal is None and not counted:
            charge, exceeded = _charge(quota, delta)
            if charge is None:
                continue
            text = quota.words.exceeded(quota, delta) if quota.words is not None else ""
            if journal is not None:
                _record(journal, request, quota, delta, exceeded)
            if not text:
                charges.append(charge)
                continue
            # What is over its hard already refuses, too, whatever is asked of it.
            names = exceeded or [name for name in quota.hard if quota.used.get(name, ZERO) > quota.hard[name]]
            refusal = _refused_by(quota, delta, names, text, request)
        if refusal is not None:
            refusals.append(refusal)
    return QuotaVerdict(tuple(refusals)) if refusals else QuotaVerdict((), tuple(charges))


def _plugin_refusals(
    request: QuotaRequest,
    quotas: Sequence[Quota],
    limited: Sequence[LimitedResource],
    journal: list[Entry] | None,
    *,
    counted: bool,
    old: QuotaRequest | None,
) -> QuotaVerdict:
    matching = matching_quotas(request, quotas)
    unusable = tuple(
        refusal for quota in matching for refusal in (_must_specify(request, quota, journal), _status(request, quota))
        if refusal is not None
    )  # fmt: skip
    if unusable:
        return QuotaVerdict(unusable)
    negative = sorted(name for name, quantity in request.usage.items() if quantity.nano < 0)
    if negative:
        text = f"quota usage is negative for resource(s): {','.join(negative)}"
        return QuotaVerdict((_forbidden(request, [Finding(text, "quota/negative-usage")]),))
    costs = [(quota, _delta(request, old if old and matching_quotas(old, [quota]) else None)) for quota in matching]
    if not any(delta for _, delta in costs) and (matching or not _delta(request, old)):
        return QuotaVerdict()
    uncovered = _refuse_uncovered(request, quotas, matching, limited)
    if uncovered is not None:
        return QuotaVerdict((uncovered,))
    return QuotaVerdict() if counted else _charge_quotas(request, costs, journal)


def _delta(request: QuotaRequest, old: QuotaRequest | None) -> Quantities:
    """Return what is used more than before, names without any left out. Source: quota SubtractWithNonNegativeResult."""
    before = old.usage if old is not None else {}
    more = {name: quantity - before[name] if name in before else quantity for name, quantity in request.usage.items()}
    return {name: quantity for name, quantity in more.items() if quantity.nano > 0}


def _charge_quotas(
    request: QuotaRequest, costs: Sequence[tuple[Quota, Quantities]], journal: list[Entry] | None
) -> QuotaVerdict:
    over: list[Refusal] = []
    quota_charges: list[QuotaCharge] = []
    for quota, delta in costs:
        charge, exceeded = _charge(quota, delta)
        if exceeded:
            over.append(_build_exceeded_refusal(request, quota, delta, exceeded))
        if charge is not None:
            quota_charges.append(charge)
        if journal is not None:
            _record(journal, request, quota, delta, exceeded)
    return QuotaVerdict(tuple(over)) if over else QuotaVerdict((), tuple(quota_charges))


def charges(request: QuotaRequest, quotas: Sequence[Quota], old: QuotaRequest | None = None) -> tuple[QuotaCharge, ...]:
    """Return what the request would cost each quota that is concerned, whether it fits or not. ``old``: see
    ``evaluate``.
    """
    if old is not None:
        costs = ((quota, _delta(request, old if matching_quotas(old, [quota]) else None)) for quota in quotas)
        of_change = (_charge(quota, delta)[0] for quota, delta in costs if matching_quotas(request, [quota]))
        return tuple(charge for charge in of_change if charge is not None)
    delta = {name: quantity for name, quantity in request.usage.items() if quantity}
    quota_charges = (_charge(quota, delta)[0] for quota in matching_quotas(request, quotas))
    return tuple(charge for charge in quota_charges if charge is not None)


def with_used(quotas: Iterable[Quota], costs: Iterable[QuotaCharge]) -> tuple[Quota, ...]:
    """Return the quotas as they are once the costs are in ``used``."""
    after = {cost.quota: {name: parse(text) for name, text in cost.after.items()} for cost in costs}
    return tuple(quota.with_used({**quota.used, **after.get(quota.name, {})}) for quota in quotas)


def matching_quotas(request: QuotaRequest, quotas: Sequence[Quota]) -> list[Quota]:
    """Return the quotas that name something of the kind and whose scopes all match. Source: generic.Matches."""
    return [quota for quota in quotas if request.names(quota.hard) and all(map(request.in_scope, quota.scopes))]


def _must_specify(request: QuotaRequest, quota: Quota, journal: list[Entry] | None) -> Refusal | None:
    """Source: evaluator/core/pods.go Constraints."""
    needed = sorted(MUST_SPECIFY & set(request.names(quota.hard)))
    if request.containers is None or not needed:
        return None
    missing = {name: [container for container, stated in request.containers if name not in stated] for name in needed}
    if quota.words is None:
        missing = {name: sorted(set(containers)) for name, containers in missing.items()}
    texts = [f"{name} for: {','.join(containers)}" for name, containers in missing.items() if containers]
    if journal is not None:
        bound = ", ".join(needed)
        message = f"must specify {'; '.join(texts)}" if texts else ""
        journal.append(Check("pod", "quota/must-specify", not texts, "", bound, message, quota.source))
    if not texts:
        return None
    text = f"failed quota: {quota.name}: must specify {'; '.join(texts)}"
    if quota.words is not None:
        text = quota.words.must_specify(quota, "; ".join(texts))
    findings = [
        Finding(text, "quota/must-specify", container, name, source=quota.source.at_path(f"status.hard[{name}]"))
        for name, containers in missing.items()
        for container in containers
    ]
    return _forbidden(request, findings) if quota.words is None else quota.words.refusal(findings)


def _status(request: QuotaRequest, quota: Quota) -> Refusal | None:
    names = sorted(request.names(quota.hard))
    if all(name in quota.used for name in names):
        return None
    text = f"status unknown for quota: {quota.name}, resources: {','.join(names)}"
    return _forbidden(request, [Finding(text, "quota/status-unknown", source=quota.source)])


def _forbidden(request: QuotaRequest, findings: Sequence[Finding]) -> Refusal:
    return forbidden_object(request.resource, request.name, findings)


def _charge(quota: Quota, delta: Quantities) -> tuple[QuotaCharge | None, list[str]]:
    names = sorted(name for name in delta if name in quota.hard)
    if not names:
        return None, []
    used = {name: quota.used.get(name, ZERO) for name in names}
    after = {name: used[name] + delta[name] for name in names}
    exceeded = [name for name in names if after[name] > quota.hard[name]]
    texts = {name: as_stored(after[name]) for name in names}
    charge = QuotaCharge(
        quota.name,
        _format_amounts(delta, names),
        _format_amounts(used, names),
        texts,
        _format_amounts(quota.hard, names),
    )
    return charge, exceeded


def as_stored(quantity: Quantity) -> str:
    """Return how a status that was written shows when it is read back: 1000000000 of binary notation has become 1G.

    What is finer than thousandths was rounded up. Source: apis/core/v1/defaults.go SetDefaults_ResourceList.
    """
    return str(read_back(quantity.round_up()))


def _format_amounts(values: Mapping[str, Quantity], names: Sequence[str]) -> dict[str, str]:
    return {name: str(values[name]) for name in names}


def _build_exceeded_refusal(request: QuotaRequest, quota: Quota, delta: Quantities, names: Sequence[str]) -> Refusal:
    def amount_text(values: Mapping[str, Quantity]) -> str:
        return ",".join(f"{name}={values.get(name, ZERO)}" for name in names)

    text = (
        f"exceeded quota: {quota.name}, requested: {amount_text(delta)}, used: {amount_text(quota.used)}, "
        f"limited: {amount_text(quota.hard)}"
    )
    return _refused_by(quota, delta, names, text, request)


def _refused_by(quota: Quota, delta: Quantities, names: Sequence[str], text: str, request: QuotaRequest) -> Refusal:
    findings = [
        Finding(
            text,
            "quota/exceeded",
            resource=name,
            used=str(quota.used.get(name, ZERO)),
            requested=str(delta.get(name, ZERO)),
            limit=str(quota.hard[name]),
            source=quota.source.at_path(f"status.hard[{name}]"),
        )
        for name in names
    ]
    return _forbidden(request, findings) if quota.words is None else quota.words.refusal(findings)


def _record(
    journal: list[Entry], request: QuotaRequest, quota: Quota, delta: Quantities, exceeded: Sequence[str]
) -> None:
    for name in sorted(name for name in delta if name in quota.hard):
        observed = f"used {quota.used.get(name, ZERO)} + {delta[name]}"
        passed = name not in exceeded
        message = "" if passed else f"exceeded quota: {quota.name}"
        source = quota.source.at_path(f"status.hard[{name}]")
        entry = Check(request.resource, "quota/exceeded", passed, observed, str(quota.hard[name]), message, source)
        journal.append(entry)


def _refuse_uncovered(
    request: QuotaRequest, quotas: Sequence[Quota], matching: Sequence[Quota], limited: Sequence[LimitedResource]
) -> Refusal | None:
    """Resources and scopes that the server's configuration allows only under a quota that names them."""
    wanted = {
        name
        for entry in limited
        if _qualified_resource(entry) == request.resource
        for name, quantity in request.usage.items()
        if quantity.nano > 0 and any(part in name for part in entry.match_contains)
    }
    covered = {name for quota in matching for name in request.names(quota.hard)}
    short = sorted(wanted - covered)
    if short:
        text = f"insufficient quota to consume: {','.join(short)}"
        return _forbidden(request, [Finding(text, "quota/limited-resource", resource=name) for name in short])
    scopes = [scope for entry in limited for scope in entry.match_scopes if request.in_scope(scope)]
    scope_names = {scope.scope_name for quota in quotas for scope in quota.scopes if request.in_scope(scope)}
    bare = [scope for scope in scopes if scope.scope_name not in scope_names]
    if bare:
        shown = " ".join(f"{{{s.scope_name} {s.operator} [{' '.join(s.values or ())}]}}" for s in bare)
        text = f"insufficient quota to match these scopes: [{shown}]"
        return Refusal(500, "", text, (Finding(text, "quota/limited-scope"),))
    return None


def _qualified_resource(entry: LimitedResource) -> str:
    return f"{entry.resource}.{entry.api_group}" if entry.api_group else entry.resource


RESOURCE_CLAIMS = "resourceclaims.resource.k8s.io"
Names = Callable[[Iterable[str]], list[str]]


def matches_no_scope(_: ScopedRequirement) -> bool:
    """No scope takes kinds other than pods and claims."""
    return False


def resource_of(kind: str, api_version: str) -> str:
    """Plural and group of a kind; of one that is in no table by the rule that API types follow."""
    known_kind = BY_KIND.get(kind)
    if known_kind is not None:
        return known_kind.qualified_name
    group = api_version.rpartition("/")[0]
    word = served_kind_name(kind).lower()
    plural = (
        word
        if word == "endpoints"
        else f"{word}es"
        if word.endswith(("s", "x", "ch", "sh"))
        else f"{word[:-1]}ies"
        if word.endswith("y")
        else f"{word}s"
    )
    return f"{plural}.{group}" if group else plural


def names_of(resource: str, server: Server, extended: Mapping[str, str] | None = None) -> Names:
    """Picks the names of a quota that objects of a resource count for. ``extended``: see ``device_names``."""
    special: dict[str, Names] = {"pods": pod_names, "persistentvolumeclaims": claim_names, "services": service_names}
    if resource == RESOURCE_CLAIMS and server.is_enabled("DynamicResourceAllocation"):
        return lambda hard: device_names(hard, server, extended or {})
    if resource in special:
        return special[resource]
    usage = {} if resource in IGNORED else object_usage(resource)
    return lambda hard: [name for name in hard if name in usage]


def count_request(resource: str, name: str) -> QuotaRequest:
    """Any object without an evaluator of its own counts as one."""
    usage = {} if resource in IGNORED else object_usage(resource)
    return QuotaRequest(resource, name, usage, lambda hard: [name for name in hard if name in usage], matches_no_scope)


def claim_request(claim: PersistentVolumeClaim, server: Server) -> QuotaRequest:
    """Raises Unparsable."""
    resources = claim.spec.resources
    requests = parse_list(resources.requests, "spec.resources.requests") if resources else {}
    allocated = parse_list(claim.status.allocated_resources, "status.allocatedResources")
    usage = claim_usage(claim, requests, allocated, server)

    def in_scope(scope: ScopedRequirement) -> bool:
        return server.is_enabled("VolumeAttributesClass") and matches_claim(scope, claim)

    return QuotaRequest("persistentvolumeclaims", _name(claim.metadata), usage, claim_names, in_scope)


def service_request(service: Service) -> QuotaRequest:
    return QuotaRequest("services", _name(service.metadata), service_usage(service), service_names, matches_no_scope)


def device_request(claim: ResourceClaim, server: Server, extended: Mapping[str, str] | None = None) -> QuotaRequest:
    """``extended``: device class to the extended resource that it stands for; None: not known, none does."""
    name = _name(claim.metadata)
    if not server.is_enabled("DynamicResourceAllocation"):
        return count_request(RESOURCE_CLAIMS, name)
    usage = device_usage(claim, server, extended or {})
    return QuotaRequest(RESOURCE_CLAIMS, name, usage, names_of(RESOURCE_CLAIMS, server, extended), matches_no_scope)


def pod_request(pod: Pod, server: Server, *, draft: Draft | None = None, now: datetime | None = None) -> QuotaRequest:
    """Return a pod that exists, as the plugin and the controller see it: status included. Raises Unparsable.

    ``draft``: its quantities, where they were read already.
    """
    if draft is None:
        draft = _draft_existing(pod, server)
    qos_class = pod.status.qos_class or qos.compute_class(draft)
    in_scope = partial(matches_pod, spec=pod.spec, priority_class=pod.spec.priority_class_name, qos_class=qos_class)
    usage = stored_pod_usage(pod, draft, now)
    return QuotaRequest("pods", _name(pod.metadata), usage, pod_names, in_scope, stated_names(draft))


def _draft_existing(pod: Pod, server: Server) -> Draft:
    """Raises Unparsable, which names the pod."""
    try:
        return draft_pod(pod, server)
    except Unparsable as fault:
        raise Unparsable(fault.path, fault.error, f"Pod/{pod.metadata.namespace}/{pod.metadata.name}") from fault


class PodRequests:
    """The requests of many pods that exist: those that are alike, as pods of one template are, are summed up once."""

    def __init__(self, server: Server, now: datetime | None = None) -> None:
        self._server, self._now = server, now
        self._request_cache: dict[bytes, tuple[QuotaRequest, str]] = {}

    def request_of(self, pod: Pod) -> QuotaRequest:
        """As ``pod_request``."""
        spec, status = pod.spec, pod.status
        reported = [
            (container_status.name, container_status.resources, container_status.allocated_resources)
            for container_status in (*(status.container_statuses or ()), *(status.init_container_statuses or ()))
            if container_status.resources is not None or container_status.allocated_resources is not None
        ]
        result = (spec.containers, spec.init_containers, spec.resources, spec.overhead)
        conditions = [(condition.type, condition.reason) for condition in status.conditions or ()]
        texts = (reported, conditions if reported else (), status.qos_class, is_terminal(pod, self._now))
        key = content_key((result, texts))
        quota_requests = self._request_cache.get(key)
        if quota_requests is None:
            draft = _draft_existing(pod, self._server)
            alike = pod_request(pod, self._server, draft=draft, now=self._now)
            quota_requests = self._request_cache[key] = alike, status.qos_class or qos.compute_class(draft)
        request, qos_class = quota_requests
        in_scope = partial(matches_pod, spec=spec, priority_class=spec.priority_class_name, qos_class=qos_class)
        return structs.replace(request, name=_name(pod.metadata), in_scope=in_scope)


def request_of(
    item: Any, server: Server, *, now: datetime | None = None, extended: Mapping[str, str] | None = None
) -> QuotaRequest:
    """Return the request of an object that exists, by its struct. Raises Unparsable."""
    if isinstance(item, Pod):
        return pod_request(item, server, now=now)
    if isinstance(item, PersistentVolumeClaim):
        return claim_request(item, server)
    if isinstance(item, Service):
        return service_request(item)
    if isinstance(item, ResourceClaim):
        return device_request(item, server, extended)
    return count_request(resource_of(item.kind, item.api_version), _name(item.metadata))


def _name(metadata: Metadata) -> str:
    return given_name(metadata.name, metadata.generate_name)


#: A quota and one of its names.
Key = tuple[str, str]
#: Amounts in billionths.
Price = Mapping[Key, int]


def sum_price(costs: Iterable[QuotaCharge]) -> dict[Key, int]:
    """Return the charges as amounts by quota and name."""
    return {(cost.quota, name): parse(text).nano for cost in costs for name, text in cost.requested.items()}


def with_price(price: Price, other: Price) -> dict[Key, int]:
    """Return the sum of both prices."""
    return {key: price.get(key, 0) + other.get(key, 0) for key in (*price, *(key for key in other if key not in price))}


def amounts(quotas: Iterable[Quota]) -> tuple[dict[Key, int], dict[Key, int]]:
    """Return ``used`` and ``hard`` by quota and name."""
    used = {(quota.name, name): value.nano for quota in quotas for name, value in quota.used.items()}
    hard = {(quota.name, name): value.nano for quota in quotas for name, value in quota.hard.items()}
    return used, hard


def required_hard(quotas: Iterable[Quota], price: Price) -> dict[Key, int]:
    """Return what the hard of quotas has to be for a price, where it is less."""
    used, hard = amounts(quotas)
    requested = {key: used.get(key, 0) + amount for key, amount in price.items() if amount > 0 and key in hard}
    return {key: nano for key, nano in requested.items() if nano > hard[key]}


def without_price(quotas: Iterable[Quota], price: Price) -> tuple[Quota, ...]:
    """Return the quotas once what costs so much is gone."""
    return tuple(
        quota.with_used({
            name: Quantity(max(0, used.nano - price.get((quota.name, name), 0)), used.format)
            for name, used in quota.used.items()
        })
        for quota in quotas
    )  # fmt: skip
