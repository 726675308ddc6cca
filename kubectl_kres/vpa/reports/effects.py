"""What a vertical autoscaler makes of the pods of its controller: the next one, and those that its updater evicts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import Literal

from msgspec import structs

from kubectl_kres.admission.base.draft import Quantities, Slot, Unparsable
from kubectl_kres.admission.base.outcome import Outcome, QuotaCharge
from kubectl_kres.admission.limitrange import Limits
from kubectl_kres.admission.pod.defaulting import decoded_draft
from kubectl_kres.admission.quota.quota_admission import Quota, charges, pod_request
from kubectl_kres.admission.request.new_pod import admit, quota_request
from kubectl_kres.errors import KresError, NotFound
from kubectl_kres.model.kinds import BY_KIND, WORKLOADS
from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.model.pod import Pod
from kubectl_kres.model.workload import Workload
from kubectl_kres.quantity import Quantity, parse
from kubectl_kres.reports.common.analysis import Analysis
from kubectl_kres.reports.common.explanation import ContainerValues, EvaluationOptions, FailedRead, Subject, find_unread
from kubectl_kres.reports.common.parts import Record
from kubectl_kres.reports.common.replicas import controller, replicas_of
from kubectl_kres.reports.explain.explain import analysis_of
from kubectl_kres.reports.pod.needs import list_read_requests
from kubectl_kres.reports.pod.values import ValueTable
from kubectl_kres.reports.resize import resize
from kubectl_kres.store.store import ReadRequest, Store
from kubectl_kres.vpa.model import KIND, VerticalPodAutoscaler
from kubectl_kres.vpa.reports.installed import is_registered, parsed, registered_webhook
from kubectl_kres.vpa.rules.amounts import WebhookFault
from kubectl_kres.vpa.rules.autoscaler import Autoscaler
from kubectl_kres.vpa.rules.updater import EVICTING, MIN_REPLICAS, follow_evictions, outside_requests
from kubectl_kres.vpa.rules.webhook import scaled_containers, top_owner

#: Why pods are let alone, or what comes of it: one word each, for scripts.
Result = Literal["off", "no-recommendation", "no-pods", "as-recommended", "too-few", "comes-back", "refused", "again"]
_ENDED = ("Succeeded", "Failed")


#: By quota and its name for a resource an amount.
_Costs = dict[str, dict[str, Quantity]]


class OutsideValue(Record, frozen=True):
    """A request of a pod that is outside of what is recommended. Amounts as text, empty: there is none."""

    pod: str
    container: str
    resource: str
    request: str = ""
    lower: str = ""
    upper: str = ""


class Eviction(Record, frozen=True):
    """What comes of it if the updater runs now.

    ``pods``: how many run; ``outside``: what of them is outside of the recommendation. ``evicted``, ``kept``, ``come``
    and ``missing``: how many pods it ends with. ``message``: the refusal of the pods that are missing. ``again``:
    what of a pod that comes is outside once more, so that it is evicted again without an end; ``ends``: what would
    end that, or let the pods in. ``in_place``: what the API server says to the resize that is tried first; empty: it
    passes, or none is tried.
    """

    result: Result
    pods: int = 0
    outside: tuple[OutsideValue, ...] = ()
    evicted: int = 0
    kept: int = 0
    come: int = 0
    missing: int = 0
    message: str = ""
    again: tuple[OutsideValue, ...] = ()
    ends: tuple[str, ...] = ()
    resized: bool = False
    in_place: str = ""


class VpaEffects(Record, frozen=True):
    """``registered``: whether the webhook is; absent: not known. ``failure_policy``: of the webhook.

    ``allowed``: whether the next pod is admitted, absent where that is not known; ``message``: the refusal.
    ``fault``: why the admission controller changes nothing.
    """

    object: ObjectRef
    target: str
    mode: str
    registered: bool | None = None
    failure_policy: str = ""
    recommends: bool = True
    containers: tuple[ContainerValues, ...] = ()
    allowed: bool | None = None
    message: str = ""
    fault: str = ""
    eviction: Eviction | None = None
    unseen: tuple[FailedRead, ...] = ()
    complete: bool = True


def effects_needs(store: Store, subject: Subject) -> tuple[ReadRequest, ...]:
    """Return the autoscaler, the webhook, the controller and all that its next pod depends on, and the pods."""
    ref = subject.ref
    wanted = [
        ReadRequest(KIND, ref.namespace, ref.name),
        ReadRequest(KIND, ref.namespace),
        ReadRequest("MutatingWebhookConfiguration", required=False),
    ]
    vpa = store.get(KIND, ref.name, ref.namespace)
    target = _target(vpa) if isinstance(vpa, VerticalPodAutoscaler) else None
    if target is not None:
        wanted += [*list_read_requests(store, target), ReadRequest("Pod", ref.namespace)]
    return tuple(dict.fromkeys(wanted))


def _target(vpa: VerticalPodAutoscaler) -> Subject | None:
    """Return the controller, of a kind whose template is known."""
    reference = vpa.spec.target_ref
    if reference is None or reference.kind not in WORKLOADS:
        return None
    return Subject(ObjectRef(reference.kind, reference.name, vpa.metadata.namespace), BY_KIND[reference.kind])


def vpa_effects(store: Store, subject: Subject, ask: EvaluationOptions) -> VpaEffects:
    """Raises NotFound where there is no such autoscaler, and KresError where an amount of it does not parse."""
    ref = subject.ref
    vpa = store.get(KIND, ref.name, ref.namespace)
    if not isinstance(vpa, VerticalPodAutoscaler):
        raise NotFound(f'{subject.kind.qualified_name} "{ref.name}" not found', code=404, reason="NotFound")
    autoscalers, left_out = parsed(store, ref.namespace)
    autoscaler = next((each for each in autoscalers if each.source.name == ref.name), None)
    registered = registered_webhook(store)
    unseen = tuple(find_unread(store, effects_needs(store, subject)))
    effects = VpaEffects(
        ref,
        str(vpa.spec.target_ref or ""),
        autoscaler.mode if autoscaler is not None else "",
        is_registered(store),
        registered[1].failure_policy if registered is not None else "",
        autoscaler is not None and autoscaler.recommended is not None,
        unseen=unseen,
        complete=not any(each.required for each in unseen),
    )
    target = _target(vpa)
    if autoscaler is None:
        return structs.replace(effects, fault="; ".join(each.text for each in left_out if ref.name in each.text))
    try:
        analysis = analysis_of(store, target, ask) if target is not None else None
    except KresError:
        analysis = None
    if target is None or analysis is None:
        return effects
    first = analysis.outcomes[0]
    return structs.replace(
        effects,
        containers=ValueTable(store, analysis.start, analysis.outcomes).containers(),
        allowed=first.allowed,
        message="" if first.refusal is None else first.refusal.message,
        fault=_fault(autoscaler, first, analysis.known.policies.limits),
        eviction=_Updater(store, ask, autoscaler, target, analysis).eviction(),
    )


def _fault(autoscaler: Autoscaler, outcome: Outcome, limits: Sequence[Limits]) -> str:
    try:
        scaled_containers(autoscaler, outcome.draft.containers if outcome.draft is not None else (), limits)
    except WebhookFault as fault:
        return str(fault)
    return ""


class _Updater:
    """One run of the updater, over the pods of one controller."""

    def __init__(
        self, store: Store, ask: EvaluationOptions, autoscaler: Autoscaler, target: Subject, analysis: Analysis
    ) -> None:
        self.store, self.ask, self.autoscaler, self.target, self.analysis = store, ask, autoscaler, target, analysis
        self.policies = analysis.known.policies
        self.pods = tuple(self._pods())
        self.moved: tuple[Pod, ...] = ()

    def _pods(self) -> Iterator[Pod]:
        """Yield those that the updater sees: it reads none without a node. Source: pkg/updater/main.go."""
        key = (self.target.ref.kind, self.target.ref.name)
        for pod in self.store.all("Pod", self.target.ref.namespace):
            if pod.spec.node_name and pod.status.phase not in _ENDED and not pod.metadata.deletion_timestamp:
                owner = controller(pod)
                if owner[0] and top_owner(owner, (key,)) == key:
                    yield pod

    def eviction(self) -> Eviction:
        """Return what comes of it if it runs now."""
        count, autoscaler = len(self.pods), self.autoscaler
        if autoscaler.mode not in EVICTING:
            return Eviction("off", count)
        if autoscaler.recommended is None:
            return Eviction("no-recommendation", count)
        if not count:
            return Eviction("no-pods")
        try:
            outside = tuple(
                value
                for pod in self.pods
                for value in self._find_outside_values(pod.metadata.name, _find_live_slots(pod, self))
            )
        except (WebhookFault, Unparsable):
            return Eviction("as-recommended", count)
        if not outside:
            return Eviction("as-recommended", count)
        least = autoscaler.min_replicas
        if count < (MIN_REPLICAS if least is None else least):
            return Eviction("too-few", count, outside, kept=count, ends=(_FEW,))
        return self._simulate_eviction(count, outside)

    def _find_outside_values(self, pod: str, slots: Sequence[Slot]) -> Iterator[OutsideValue]:
        for each in outside_requests(self.autoscaler, slots, self.policies.limits):
            amounts = ("" if amount is None else str(amount) for amount in (each.request, each.lower, each.upper))
            yield OutsideValue(pod, each.container, each.resource, *amounts)

    def _simulate_eviction(self, count: int, outside: tuple[OutsideValue, ...]) -> Eviction:
        names = {value.pod for value in outside}
        self.moved = moved = tuple(pod for pod in self.pods if pod.metadata.name in names)
        in_place = self._resize_refusal(moved[0]) if self.autoscaler.mode == "InPlaceOrRecreate" else None
        if in_place == "":
            return Eviction("comes-back", count, outside, kept=count, resized=True)
        wanted = max(count, self._count_wanted_pods())
        result = follow_evictions(
            wanted,
            len(moved),
            self.autoscaler.min_replicas,
            lambda old, new: self._is_next_pod_admitted(len(moved) - old, new),
        )
        first = self.analysis.outcomes[0]
        again = tuple(self._find_outside_values("", first.draft.containers)) if first.draft is not None else ()
        message = self._message(result.evicted, result.new) if result.missing else ""
        eviction = Eviction(
            "refused" if result.missing else "again" if again else "comes-back",
            count, outside, result.evicted, result.old + count - len(moved), result.new, result.missing, message,
            in_place=in_place or "",
        )  # fmt: skip
        if result.missing:
            return structs.replace(eviction, ends=(_MAX_ALLOWED, _INITIAL))
        return structs.replace(eviction, again=again, ends=tuple(self._ends())) if again else eviction

    def _ends(self) -> Iterator[str]:
        if is_registered(self.store) is False:
            yield "register the webhook vpa.k8s.io again"
        yield _INITIAL

    def _count_wanted_pods(self) -> int:
        owner = self.analysis.start.owner
        replicas = replicas_of(self.target.ref.kind, owner) if isinstance(owner, Workload) else None
        return replicas.wanted if replicas is not None else 0

    @cached_property
    def _old_costs(self) -> tuple[_Costs, ...]:
        """What each pod that moves is in quotas with."""
        requests = (pod_request(pod, self.ask.server) for pod in self.moved)
        return tuple(_sum_costs(charges(request, self.policies.quotas)) for request in requests)

    @cached_property
    def _new_costs(self) -> _Costs:
        """What a pod that comes costs quotas."""
        draft = self.analysis.outcomes[0].draft
        if draft is None:
            return {}
        return _sum_costs(charges(quota_request(self.analysis.start.pod, draft), self.policies.quotas))

    def _quotas(self, gone: int, new: int) -> tuple[Quota, ...]:
        """Return the quotas once so many old pods have gone and so many new ones came."""
        return tuple(quota.with_used(self._compute_used(quota, gone, new)) for quota in self.policies.quotas)

    def _compute_used(self, quota: Quota, gone: int, new: int) -> Quantities:
        used = dict(quota.used)
        for costs in self._old_costs[:gone]:
            for name, amount in costs.get(quota.name, {}).items():
                used[name] -= amount
        for name, amount in self._new_costs.get(quota.name, {}).items():
            used[name] += Quantity(amount.nano * new, amount.format)
        return used

    def _admit_next_pod(self, quotas: tuple[Quota, ...]) -> Outcome:
        policies = structs.replace(self.policies, quotas=quotas)
        return admit(self.analysis.start.pod, policies, self.ask.server, journal=False)[0]

    def _is_next_pod_admitted(self, gone: int, new: int) -> bool:
        return self._admit_next_pod(self._quotas(gone, new)).allowed

    def _message(self, gone: int, new: int) -> str:
        refusal = self._admit_next_pod(self._quotas(gone, new)).refusal
        return "" if refusal is None else refusal.message

    def _resize_refusal(self, pod: Pod) -> str:
        """Return what the API server says to the resize of a pod; empty: it passes."""
        changes = scaled_containers(self.autoscaler, _find_live_slots(pod, self), self.policies.limits)
        containers = [
            {
                "name": each.slot.name,
                "resources": {
                    side: {name: str(amount.quantity) for name, amount in amounts.items()}
                    for side, amounts in (("requests", each.requests), ("limits", each.limits))
                    if amounts
                },
            }
            for each in changes
            if each.requests or each.limits
        ]
        meta = pod.metadata
        subject = Subject(ObjectRef("Pod", meta.name, meta.namespace), BY_KIND["Pod"])
        verdict = resize(self.store, subject, {"spec": {"containers": containers}}, self.ask).verdict
        return "" if verdict.allowed else verdict.message


_FEW = "it leaves single pods alone: set minReplicas of the autoscaler to 1 if it shall not"
_MAX_ALLOWED = "raise what refuses the pods, or set maxAllowed in the autoscaler's resourcePolicy to what is admitted"
_INITIAL = "set updateMode Initial or Off: nothing is evicted then"


def _find_live_slots(pod: Pod, updater: _Updater) -> Sequence[Slot]:
    """Return the requests and limits of a pod that exists: those in its status where the kubelet reports them."""
    draft = decoded_draft(pod, updater.ask.server)
    statuses = {status.name: status.resources for status in pod.status.container_statuses or ()}
    for slot in draft.containers:
        reported = statuses.get(slot.name)
        if reported is not None:
            slot.requests = {name: parse(str(value)) for name, value in (reported.requests or {}).items()}
            slot.limits = {name: parse(str(value)) for name, value in (reported.limits or {}).items()}
    return draft.containers


def _sum_costs(charged: Iterable[QuotaCharge]) -> _Costs:
    """By quota and name what is counted."""
    return {
        charge.quota: {name: parse(amount) for name, amount in charge.requested.items() if name in charge.used}
        for charge in charged
    }
