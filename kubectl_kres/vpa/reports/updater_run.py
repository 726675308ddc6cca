"""What comes of it if the updater of a vertical autoscaler runs now over the pods of one controller, as values."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING, ClassVar, Literal, Self, cast
from weakref import ref

from msgspec import structs

from kubectl_kres.admission.base.draft import Quantities, Slot, Unparsable
from kubectl_kres.admission.base.outcome import Finding, Outcome, QuotaCharge
from kubectl_kres.admission.pod.defaulting import decoded_draft
from kubectl_kres.admission.quota.quota_admission import Quota, charges, pod_request
from kubectl_kres.admission.request.new_pod import Policies, admit, quota_request
from kubectl_kres.admission.resize import resize as put_resize
from kubectl_kres.model.pod import Pod
from kubectl_kres.model.workload import Workload
from kubectl_kres.quantity import ZERO, Quantity, parse
from kubectl_kres.record import Record
from kubectl_kres.reports.changes.report import StepPart
from kubectl_kres.reports.common.analysis import Analysis
from kubectl_kres.reports.common.explanation import EvaluationOptions, Subject
from kubectl_kres.reports.common.nodes import node_of
from kubectl_kres.reports.common.owners import controller
from kubectl_kres.reports.common.replicas import replicas_of
from kubectl_kres.reports.resize import patch_pod
from kubectl_kres.store.store import Store
from kubectl_kres.vpa.model import BUDGET
from kubectl_kres.vpa.registration import find_top_maker
from kubectl_kres.vpa.rules.autoscaler import Autoscaler, WebhookFault
from kubectl_kres.vpa.rules.updater import (
    EVICTING,
    VIOLATED,
    EvictionDecision,
    HealthyPods,
    MovedPods,
    decide_eviction,
    disruption_budget,
    follow_evictions,
    healthy_pods,
)
from kubectl_kres.vpa.rules.webhook import scaled_containers, top_owner

if TYPE_CHECKING:
    from kubectl_kres.simulate.requests import StepAnswer
    from kubectl_kres.vpa.simulation.updater_pass import UpdaterPass

#: Why pods are let alone, or what comes of it: one word each, for scripts.
Result = Literal[
    "off",
    "no-recommendation",
    "no-pods",
    "as-recommended",
    "held",
    "budget",
    "too-few",
    "comes-back",
    "refused",
    "again",
]
#: Ends that are no good news.
BAD = ("refused", "again")


class OutsideValue(Record, frozen=True):
    """A request of a pod that is outside of what is recommended. Amounts as text, empty: there is none."""

    pod: str
    container: str
    resource: str
    request: str = ""
    lower: str = ""
    upper: str = ""


class Eviction(StepPart, frozen=True):
    """What comes of it if the updater runs now.

    ``pods``: how many run; ``outside``: what of them is outside of the recommendation; ``held``: so many of them are
    kept by evictionRequirements. ``evicted``, ``kept``, ``recreated`` and ``missing``: how many pods it ends with.
    ``message``: the refusal of the pods that are missing, or of the evictions. ``budgets``: the PodDisruptionBudgets
    that select the pods, by name, which want ``healthy`` of them to run. ``again``: what of a pod that comes is
    outside once more, so that it is evicted again without an end. ``resized``: pods are resized in place;
    ``in_place``: what the API server says to the resize that is refused; empty: it passes, or none is tried.
    """

    KEY: ClassVar[str] = "eviction"

    result: Result
    pods: int = 0
    outside: tuple[OutsideValue, ...] = ()
    held: int = 0
    evicted: int = 0
    kept: int = 0
    recreated: int = 0
    missing: int = 0
    message: str = ""
    budgets: tuple[str, ...] = ()
    healthy: int = 0
    again: tuple[OutsideValue, ...] = ()
    resized: bool = False
    in_place: str = ""

    @property
    def is_worse(self) -> bool:
        """Return whether pods are evicted without an end, or those that come instead are refused."""
        return self.result in BAD

    def with_refusal(self, message: str) -> Self:
        """Return it with the refusal of the pods that are missing."""
        return structs.replace(self, message=message) if self.missing else self


def eviction_of(answers: Iterable[StepAnswer]) -> Eviction | None:
    """Return the end with the fewest pods; None: the step was none of an updater."""
    evictions = [_eviction_of(answer.passes) for answer in answers if answer.passes]
    return max(evictions, key=lambda eviction: eviction.missing, default=None)


def _eviction_of(passes: tuple[UpdaterPass, ...]) -> Eviction:
    first, last = passes[0], passes[-1]
    outside = tuple(OutsideValue("", *texts) for texts in first.values)
    evicted = min(sum(done.evicted for done in passes), first.outside)
    resized = any(done.resized for done in passes)
    refused = next((done.in_place for done in passes if done.in_place), "")
    if not evicted and not resized:
        result = cast("Result", first.reason or "as-recommended")
        return Eviction(
            result, first.running, outside, first.held, kept=first.running, in_place=refused,
            message=VIOLATED if result == "budget" else "", budgets=first.budgets, healthy=first.healthy,
        )  # fmt: skip
    kept = first.running - evicted
    missing = max(0, last.wanted - last.running)
    again = bool(last.evicted or last.resized)
    word: Result = "again" if again else "refused" if missing else "comes-back"
    return Eviction(
        word, first.running, outside, first.held, evicted, kept, max(0, last.running - kept), missing,
        again=tuple(OutsideValue("", *texts) for texts in last.values) if again else (),
        resized=resized, in_place=refused, budgets=first.budgets, healthy=first.healthy,
    )  # fmt: skip


_ENDED = ("Succeeded", "Failed")


#: By quota and its name for a resource an amount.
_Costs = dict[str, dict[str, Quantity]]


class UpdaterRun:
    """One run of the updater, over the pods of one controller."""

    def __init__(
        self, store: Store, options: EvaluationOptions, autoscaler: Autoscaler, target: Subject, analysis: Analysis
    ) -> None:
        self.store, self.options, self.autoscaler, self.target, self.analysis = (
            store,
            options,
            autoscaler,
            target,
            analysis,
        )
        self.policies = analysis.policies.policies
        self.pods = tuple(self._pods())
        self.moved: tuple[Pod, ...] = ()
        #: What refuses a pod that is missing at the end.
        self.refused: tuple[Finding, ...] = ()

    def _pods(self) -> Iterator[Pod]:
        """Yield those that the updater sees: it reads none without a node. Source: pkg/updater/main.go."""
        key = (self.target.ref.kind, self.target.ref.name)
        maker = partial(find_top_maker, ref(self.store), self.target.ref.namespace)
        for pod in self.store.all("Pod", self.target.ref.namespace):
            if pod.spec.node_name and pod.status.phase not in _ENDED and not pod.metadata.deletion_timestamp:
                owner = controller(pod)
                if owner[0] and top_owner(owner, (key,), maker) == key:
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
            checked_pods = [
                (pod, decide_eviction(autoscaler, _slots(pod, self), self.policies.limits)) for pod in self.pods
            ]
        except (WebhookFault, Unparsable):
            return Eviction("as-recommended", count)
        outside = tuple(value for pod, checked in checked_pods for value in _values(pod.metadata.name, checked))
        held_back = sum(checked.held and bool(checked.outside) for _, checked in checked_pods)
        if not outside:
            return Eviction("as-recommended", count)
        moved = sorted((checked.sort_key, index) for index, (_, checked) in enumerate(checked_pods) if checked.evicted)
        if not moved:
            return Eviction("held", count, outside, held_back, kept=count)
        if count < disruption_budget(autoscaler, count).least:
            return Eviction("too-few", count, outside, held_back, kept=count)
        self.moved = tuple(self.pods[index] for _, index in moved)
        return self._evicted(count, outside, held_back)

    def _evicted(self, count: int, outside: tuple[OutsideValue, ...], held_back: int) -> Eviction:
        moved = self.moved
        in_place = self.autoscaler.mode == "InPlaceOrRecreate"
        wanted_count, beside = max(count, self._wanted_replicas()), count - len(moved)
        healthy = self._healthy(wanted_count)
        budget = disruption_budget(self.autoscaler, wanted_count, healthy.least)
        result = follow_evictions(budget, len(moved), beside, self._admits, self._resizes if in_place else None)
        again = self._values_outside_again() if result.evicted else ()
        bounded = bool(healthy.budgets) and result.old > 0 and not result.missing
        if bounded and not result.evicted and not result.sized:
            return Eviction(
                "budget", count, outside, held_back, kept=count, message=healthy.message, budgets=healthy.budgets,
                healthy=healthy.least,
            )  # fmt: skip
        end = MovedPods(result.old, result.new, result.sized)
        message = self._message(end) if result.missing else ""
        in_place_refusal = self._resize_refusal(end) if in_place and result.evicted else ""
        eviction = Eviction(
            "refused" if result.missing else "again" if again else "comes-back",
            count, outside, held_back, result.evicted, result.old + result.sized + beside, result.new, result.missing,
            message, healthy.budgets, healthy.least, resized=bool(result.sized), in_place=in_place_refusal,
        )  # fmt: skip
        return structs.replace(eviction, again=again) if again and not result.missing else eviction

    def _healthy(self, wanted_count: int) -> HealthyPods:
        """Return how many pods have to run by PodDisruptionBudgets, as far as these were read."""
        budgets = list(self.store.all(BUDGET, self.target.ref.namespace))
        labels = self.moved[0].metadata.labels or {}
        return healthy_pods(budgets, labels, wanted_count, len(self.pods)) if budgets else HealthyPods()

    def _values_outside_again(self) -> tuple[OutsideValue, ...]:
        """Return what of a pod that comes is outside once more."""
        draft = self.analysis.outcomes[0].draft
        if draft is None:
            return ()
        checked = decide_eviction(self.autoscaler, draft.containers, self.policies.limits)
        return tuple(_values("", checked)) if checked.evicted else ()

    @property
    def missing_pods(self) -> int:
        """Return how many pods are missing before anything is evicted."""
        return max(0, self._wanted_replicas() - len(self.pods))

    def _wanted_replicas(self) -> int:
        owner = self.analysis.manifest.owner
        replicas = replicas_of(self.target.ref.kind, owner) if isinstance(owner, Workload) else None
        return replicas.wanted if replicas is not None else 0

    @cached_property
    def _old_costs(self) -> tuple[_Costs, ...]:
        """Return what each pod that moves is in quotas with."""
        requests = (pod_request(pod, self.options.server) for pod in self.moved)
        return tuple(_costs(charges(request, self.policies.quotas)) for request in requests)

    @cached_property
    def _new_costs(self) -> _Costs:
        """Return what a pod that comes costs quotas."""
        draft = self.analysis.outcomes[0].draft
        if draft is None:
            return {}
        return _costs(charges(quota_request(self.analysis.manifest.pod, draft), self.policies.quotas))

    @cached_property
    def _sized_costs(self) -> _Costs:
        """Return what a pod that was resized costs quotas."""
        request = pod_request(self._resized(self.moved[0]), self.options.server)
        return _costs(charges(request, self.policies.quotas))

    def _policies(self, now: MovedPods) -> Policies:
        """Return the policies, whose quotas count what is there by now."""
        return structs.replace(
            self.policies,
            quotas=tuple(quota.with_used(self._used_amounts(quota, now)) for quota in self.policies.quotas),
        )

    def _used_amounts(self, quota: Quota, now: MovedPods) -> Quantities:
        """Return what is in use by now; names that the status does not count yet stay out, and refuse every pod."""
        used = dict(quota.used)
        for costs in self._old_costs[: len(self.moved) - now.old]:
            for name, amount in costs.get(quota.name, {}).items():
                if name in used:
                    used[name] -= amount
        more = [(self._new_costs, now.new)] + ([(self._sized_costs, now.sized)] if now.sized else [])
        for costs, times in more:
            for name, amount in costs.get(quota.name, {}).items():
                if name in used:
                    used[name] += Quantity(amount.nano * times, amount.format)
        return used

    def _next(self, now: MovedPods) -> Outcome:
        return admit(self.analysis.manifest.pod, self._policies(now), self.options.server, journal=False)[0]

    def _admits(self, now: MovedPods) -> bool:
        return self._next(now).allowed

    def _message(self, now: MovedPods) -> str:
        refusal = self._next(now).refusal
        self.refused = () if refusal is None else refusal.findings
        return "" if refusal is None else refusal.message

    def highest_usage(self, quota: Quota) -> Quantities:
        """Return what a quota counts at most until all pods have come anew."""
        after = self._used_amounts(quota, MovedPods(0, len(self.moved) + self.missing_pods))
        return {name: max(amount, quota.used.get(name, ZERO)) for name, amount in after.items()}

    def _resizes(self, now: MovedPods) -> bool:
        return not self._resize_refusal(now)

    def _resize_refusal(self, now: MovedPods) -> str:
        """Return what the API server says to the resize of the next pod; empty: it passes."""
        pod = self.moved[min(len(self.moved) - now.old, len(self.moved) - 1)]
        node = node_of(self.store, pod)
        outcome = put_resize(
            pod, self._resized(pod), self._policies(now), self.options.server, node=node, journal=False
        )[0]
        return "" if outcome.allowed else outcome.message

    def _resized(self, pod: Pod) -> Pod:
        """Return a pod with what the updater would send to its resize subresource."""
        changes = scaled_containers(self.autoscaler, _slots(pod, self), self.policies.limits)
        containers = [
            {"name": scaled.slot.name, "resources": resources}
            for scaled in changes
            if (resources := scaled.resources())
        ]
        return patch_pod(pod, {"spec": {"containers": containers}})[0]


def _values(pod: str, checked: EvictionDecision) -> Iterator[OutsideValue]:
    for each in checked.outside:
        amounts = ("" if amount is None else str(amount) for amount in (each.request, each.lower, each.upper))
        yield OutsideValue(pod, each.container, each.resource, *amounts)


def _slots(pod: Pod, updater: UpdaterRun) -> Sequence[Slot]:
    """Return the requests and limits of a pod that exists: those in its status where the kubelet reports them."""
    draft = decoded_draft(pod, updater.options.server)
    statuses = {status.name: status.resources for status in pod.status.container_statuses or ()}
    for slot in draft.containers:
        reported = statuses.get(slot.name)
        if reported is not None:
            slot.requests = {name: parse(str(value)) for name, value in (reported.requests or {}).items()}
            slot.limits = {name: parse(str(value)) for name, value in (reported.limits or {}).items()}
    return draft.containers


def _costs(charged: Iterable[QuotaCharge]) -> _Costs:
    """By quota and name what is counted."""
    return {
        charge.quota: {name: parse(amount) for name, amount in charge.requested.items() if name in charge.used}
        for charge in charged
    }
