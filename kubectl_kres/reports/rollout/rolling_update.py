"""The rollout of a workload, under way or started now, limited by quotas: its final state."""

# ruff: noqa: PLC0415 - few pods have volumes of their own, and few quotas count what a rollout makes beside them
from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct

from kubectl_kres.admission.base.outcome import Outcome, QuotaCharge
from kubectl_kres.admission.quota.quota_admission import Key, PodRequests, Price, amounts, charges, sum_price
from kubectl_kres.admission.request.new_pod import admit, quota_request
from kubectl_kres.model.ordinals import length, overlap
from kubectl_kres.model.pod import Pod
from kubectl_kres.model.workload import Workload, template_of
from kubectl_kres.record import Record
from kubectl_kres.reports.common.analysis import Analysis
from kubectl_kres.reports.common.explanation import Subject, manifest_workload, pod_of_template
from kubectl_kres.reports.common.owners import owned_by
from kubectl_kres.reports.common.replicas import Replicas, newest_set, revision_of, wanted_of_set
from kubectl_kres.reports.pod.needs import makes_objects
from kubectl_kres.reports.pod.pod_claims import add_charges, has_account, ordinals_without_claims
from kubectl_kres.simulate.replicas import Replica, gaps, joined
from kubectl_kres.simulate.rollout import PodCosts, RolloutPlan, SettledRollout, is_stuck, settle_rollout
from kubectl_kres.simulate.state import (
    DaemonSetState,
    DeploymentState,
    Pods,
    ReplicaSetState,
    StatefulSetState,
    count,
    with_pod,
)
from kubectl_kres.store.store import Store

#: Template and shape of new pods; those of older templates count on from the next.
_NEW = 0
#: Pods that have ended count for nothing that a rollout waits for.
_ENDED = {"Succeeded", "Failed"}


class RolloutResult(Record, frozen=True):
    """The final state of a rollout: pods of the newest template, the wanted number, and pods of older ones.

    ``gives_back``: what one old pod frees, per quota.
    """

    updated: int
    wanted: int
    old: int = 0
    gives_back: Mapping[str, Mapping[str, str]] = {}

    @property
    def complete(self) -> bool:
        """Return whether all pods are of the newest template that should be."""
        return self.updated >= self.wanted


def rollout_in_progress(
    store: Store, subject: Subject, analysis: Analysis, pods: Replicas, applied: Workload | None = None
) -> RolloutResult | None:
    """Return the final state of the rollout that is under way; None if none is, or if it is paused.

    ``applied``: the workload with the changes of a file of the same pods.
    """
    owner = analysis.manifest.owner or applied
    if owner is None or owner.spec.paused or not pods.old_pods or not pods.missing_pods:
        return None
    return _Rollout(store, subject, owner, analysis, pods).finish(restart=False)


def if_started(store: Store, subject: Subject, analysis: Analysis, pods: Replicas) -> RolloutResult | None:
    """Return the final state of a restart of all pods, with the present template; None for kinds that replace none, and
    if paused.
    """
    owner = analysis.manifest.owner or manifest_workload(subject)
    if owner is None or owner.spec.paused or pods.strategy in {"", "OnDelete"} or not pods.wanted:
        return None
    return _Rollout(store, subject, owner, analysis, pods).finish(restart=True)


Charges = tuple[QuotaCharge, ...]


class _Set(Struct, frozen=True):
    """Pods of one template: how many its controller wants, and what existing ones cost, the oldest first: so many of
    each cost.
    """

    wanted: int
    costs: tuple[tuple[Charges, int], ...]


def _slice(costs: Iterable[tuple[Charges, int]], first: int, stop: int) -> tuple[tuple[Charges, int], ...]:
    """Return what the pods from one place up to another cost."""
    result, place = [], 0
    for charged, number in costs:
        common = overlap(range(place, place + number), range(first, stop))
        if common:
            result.append((charged, length(common)))
        place += number
    return tuple(result)


def _amounts_by_quota(charged: Charges) -> dict[str, Mapping[str, str]]:
    return {charge.quota: charge.requested for charge in charged}


def _costs_of_new_pods(charged: Charges | None) -> PodCosts:
    return PodCosts({}, {}) if charged is None else PodCosts({0: sum_price(charged)}, {_NEW: 0})


class _Rollout:
    def __init__(self, store: Store, subject: Subject, owner: Workload, analysis: Analysis, pods: Replicas) -> None:
        self.store, self.subject, self.owner, self.analysis, self.pods = store, subject, owner, analysis, pods
        self.policies, self.server = analysis.policies.policies, analysis.server
        self.name, self.namespace = subject.ref.name, subject.ref.namespace
        stored = store.get(subject.ref.kind, self.name, self.namespace)
        self.stored = stored if isinstance(stored, Workload) else None
        self.used, self.hard = amounts(self.policies.quotas)
        self.requests = PodRequests(self.server)
        #: What alike pods are charged, where no scope of a quota tells pods apart.
        self.alike: dict[int, Charges] | None = None if any(quota.scopes for quota in self.policies.quotas) else {}
        #: The number of pods that its sets were last scaled to: a file may change it together with the template.
        self.scaled = pods.wanted
        if subject.raw is not None and subject.ref.kind == "Deployment" and self.stored is not None:
            self.scaled = 1 if self.stored.spec.replicas is None else self.stored.spec.replicas
        #: The index of each way in which a pod is charged.
        self.shapes: dict[tuple[tuple[Key, int], ...], int] = {}

    def _shape(self, charged: Charges) -> int:
        """Return the index of pods that cost this."""
        return self.shapes.setdefault(tuple(sum_price(charged).items()), len(self.shapes))

    def finish(self, *, restart: bool) -> RolloutResult:
        """Return the worst final state that any order of LimitRanges and of the controllers' moves can lead to."""
        wanted = self.pods.wanted - min(self.pods.kept, self.pods.wanted)
        if (restart or self._lacks_revision()) and not self._room_for_revision():
            return RolloutResult(0 if restart else min(self.pods.newest, wanted), wanted, self.pods.existing)
        new = [self._cost_of_outcome(outcome) for outcome in self.analysis.outcomes]
        price = next((charged for charged in new if charged is not None), ())
        if restart and self._is_stuck(new):
            return RolloutResult(0, wanted, self.pods.existing, _amounts_by_quota(self._first_cost(price)))
        old, newest = self._sets(price, restart=restart)
        rests = [rest for charged in new for rest in self._find_final_states(charged, old, newest)]
        worst = min(rests, key=lambda rest: (min(rest.updated, wanted), -rest.old))
        gone = next((charged for item in old for charged, _ in item.costs), ())
        return RolloutResult(min(worst.updated, wanted), wanted, worst.old, _amounts_by_quota(gone))

    def _is_stuck(self, new: Sequence[Charges | None]) -> bool:
        """Return whether some answer to the first new pod makes the rollout end before it began. What the old pods cost
        decides nothing then, and there may be many.
        """
        pods = self.pods
        if self.subject.ref.kind != "Deployment" or pods.strategy != "RollingUpdate":
            return False
        sizes = [(wanted_of_set(item), item.status.replicas) for item in self._owned_sets()]
        if not any(number for _, number in sizes):
            sizes = [(pods.existing, pods.existing)]
        most = self.scaled + pods.surge
        sets = (ReplicaSetState(1, wanted, ((1, True, number),), self.scaled, most) for wanted, number in sizes)
        state = DeploymentState(_NEW, pods.wanted, pods.surge, pods.unavailable, sets=tuple(sets))
        return any(is_stuck(RolloutPlan(state, _costs_of_new_pods(charged)), self.used, self.hard) for charged in new)

    def _first_cost(self, price: Charges) -> Charges:
        """Return the cost of the oldest pod of the oldest ReplicaSet that has some. ``price``: that of a new one."""
        for item in self._owned_sets():
            if item.status.replicas:
                pods = self._pods(("ReplicaSet", item.metadata.name))
                return self._cost_of_pod(pods[0]) if pods else self._cost_of_template(item, price)
        return price

    def _cost_of_outcome(self, outcome: Outcome) -> Charges | None:
        """Return the cost of a new pod; None if it is refused whatever room there is."""
        refusal = outcome.refusal
        findings = refusal.findings if refusal is not None else ()
        if outcome.draft is None or any(finding.rule != "quota/exceeded" for finding in findings):
            return None
        quotas, account = self.policies.quotas, self.analysis.account
        pod_charges = charges(quota_request(self.analysis.manifest.pod, outcome.draft), quotas)
        if account is None:
            return pod_charges
        from kubectl_kres.admission.request.pod_objects import object_charges

        return tuple(add_charges((*pod_charges, *object_charges(account.with_pod, quotas))))

    def _room_for_revision(self) -> bool:
        if not has_account(self.subject, self.analysis):
            return True
        from kubectl_kres.reports.account import room_for_revision

        return room_for_revision(self.analysis, self.subject)

    def _lacks_revision(self) -> bool:
        """Return whether the newest template cannot be used before its ReplicaSet, or ControllerRevision, exists."""
        account = self.analysis.account
        kinds = {"ReplicaSet", "ControllerRevision"}
        return account is not None and any(creation.kind in kinds for creation in account.first)

    def _find_final_states(
        self, new: Charges | None, old: Sequence[_Set], newest: _Set | None
    ) -> tuple[SettledRollout, ...]:
        """Return every rest that the workload can come to."""
        shape_of = {
            number: self._shape(item.costs[0][0] if item.costs else new or ()) for number, item in enumerate(old, 1)
        }
        sets = [self._set(number, item) for number, item in enumerate(old, 1)]
        if newest is not None:
            sets.append(self._set(_NEW, newest))
        if new is not None:
            shape_of[_NEW] = self._shape(new)
        pods = self.pods
        claims: list[tuple[range, Price | None]] = []
        state: DeploymentState | StatefulSetState
        if self.subject.ref.kind == "StatefulSet":
            state = self._stateful_set(sets, restart=newest is None)
            price_of_claims = self._price_of_claims()
            claims = [(row, price_of_claims) for row in self._without_claims(state)]
        else:
            kind = DaemonSetState if self.subject.ref.kind == "DaemonSet" else DeploymentState
            recreate = pods.strategy == "Recreate"
            state = kind(_NEW, pods.wanted, pods.surge, pods.unavailable, recreate, sets=tuple(sets))
        costs = PodCosts({shape: dict(cost) for cost, shape in self.shapes.items()}, shape_of, claims)
        plan = RolloutPlan(state, costs)
        return tuple(settle_rollout(plan, self.used, self.hard, order) for order in plan.orders)

    def _set(self, template: int, item: _Set) -> ReplicaSetState:
        pods: Pods = ()
        for charged, number in item.costs:
            pods = with_pod(pods, self._shape(charged), number)
        return ReplicaSetState(template, item.wanted, pods, self.scaled, self.scaled + self.pods.surge)

    def _price_of_claims(self) -> Price | None:
        """Return the cost of the claims of one pod; None: they are refused whatever room there is."""
        made = self.analysis.claims
        if made is None:
            return {}
        findings = (finding for refusal in made.refusals for finding in refusal.findings)
        return None if any(finding.rule != "quota/exceeded" for finding in findings) else sum_price(made.charges)

    def _without_claims(self, state: StatefulSetState) -> Iterator[range]:
        """Yield the ordinals whose claims are not there, by rows."""
        for row in ordinals_without_claims(self.store, self.subject, self.owner):
            yield from gaps(state.pods, overlap(row, state.ordinals))

    def _stateful_set(self, sets: Sequence[ReplicaSetState], *, restart: bool) -> StatefulSetState:
        spec = self.owner.spec
        start = spec.ordinals.start if spec.ordinals is not None else 0
        replicas = tuple(self._read_replicas(restart=restart)) or tuple(self._assumed_replicas(sets, start))
        current = 1 if any(replica.template for replica in replicas) else _NEW
        return StatefulSetState(
            self.name, _NEW, current, self.pods.wanted, start, spec.pod_management_policy == "Parallel",
            self.pods.kept, pods=joined(replicas),
        )  # fmt: skip

    def _read_replicas(self, *, restart: bool) -> Iterator[Replica]:
        """Yield the pods of a StatefulSet that were read."""
        newest = self.stored.status.update_revision if self.stored is not None else ""
        for pod in self._pods((self.subject.ref.kind, self.name)):
            ordinal = pod.metadata.name.rpartition("-")[2]
            revision = (pod.metadata.labels or {}).get("controller-revision-hash", "")
            older = restart or (bool(newest) and revision != newest)
            if ordinal.isdecimal() and len(ordinal) < 10:
                yield Replica(int(ordinal), 1 if older else _NEW, self._shape(self._cost_of_pod(pod)))

    def _assumed_replicas(self, sets: Sequence[ReplicaSetState], start: int) -> Iterator[Replica]:
        """Yield pods that were not read: an update goes from the highest ordinal down."""
        for item in sets:
            first = start if item.template != _NEW else start + max(0, self.pods.wanted - count(item.pods))
            for shape, _, number in item.pods:
                yield Replica(first, item.template, shape, number=number)
                first += number

    def _sets(self, price: Charges, *, restart: bool) -> tuple[list[_Set], _Set | None]:
        """Return the pods of older templates, the oldest first, and those of the newest; with a restart all are of
        older ones.

        ``price``: the cost of a pod that was not read.
        """
        pairs = list(self._replica_sets(price)) if self.subject.ref.kind == "Deployment" else []
        newest = newest_set(self.store, self.stored) if self.stored is not None else None
        if not pairs:
            known = self._list_pod_costs((self.subject.ref.kind, self.name))
            # What a file changes, the pods that are there do not have.
            of_file = restart and self.subject.raw is not None and self.stored is not None
            stored_price = self._cost_of_template(self.stored, price) if of_file and self.stored else price
            costs = [*known, (stored_price, max(0, self.pods.existing - len(known)))]
            old_pods = min(self.pods.old_pods, self.pods.existing)
            old, new = _slice(costs, 0, old_pods), _slice(costs, old_pods, self.pods.existing)
            pairs = [(None, _Set(old_pods, old))] if old else []
            if new or not old:
                pairs.append((self.name, _Set(self.scaled - (old_pods if old else 0), new)))
        else:
            pairs = [
                (None if newest is None or name != newest.metadata.name else self.name, item) for name, item in pairs
            ]
        if restart:
            return [item for _, item in pairs if item.wanted or item.costs], None
        return [item for name, item in pairs if name is None], next((item for name, item in pairs if name), None)

    def _replica_sets(self, price: Charges) -> Iterator[tuple[str | None, _Set]]:
        """Yield the ReplicaSets of the Deployment, the oldest first."""
        for item in self._owned_sets():
            number = item.status.replicas
            costs = self._list_pod_costs(("ReplicaSet", item.metadata.name))
            # A template is admitted only where pods of it count that were not read: most ReplicaSets have none.
            if len(costs) < number:
                costs = [*costs, (self._cost_of_template(item, price), number - len(costs))]
            yield item.metadata.name, _Set(wanted_of_set(item), _slice(costs, 0, number))

    def _owned_sets(self) -> list[Workload]:
        """Return the ReplicaSets of the Deployment, the oldest first."""
        owned = owned_by(self.store, "ReplicaSet", self.namespace, ("Deployment", self.name))
        return sorted(owned, key=revision_of)

    def _cost_of_template(self, item: Workload, price: Charges) -> Charges:
        """Return the cost of a pod of a ReplicaSet without any read pod."""
        template = template_of(item)[1]
        if template is None or template.spec.containers is None:
            return price
        from kubectl_kres.simulate.shapes import without_quotas

        pod = pod_of_template(template, self.subject)
        for outcome in admit(pod, without_quotas(self.policies), self.server, journal=False):
            if outcome.draft is not None:
                pod_charges = charges(quota_request(pod, outcome.draft), self.policies.quotas)
                return self._with_objects(pod_charges, pod)
        return price

    def _list_pod_costs(self, owner: tuple[str, str]) -> list[tuple[Charges, int]]:
        """Return the costs of an owner's existing pods, the oldest first: one pod of each."""
        return [(self._cost_of_pod(pod), 1) for pod in self._pods(owner)]

    def _cost_of_pod(self, pod: Pod) -> Charges:
        """Return the cost of an existing pod, with the objects that were made for it."""
        request = self.requests.request_of(pod)
        if self.alike is None:
            return self._with_objects(charges(request, self.policies.quotas), pod)
        if id(request.usage) not in self.alike:
            # The requests of alike pods share one, which stays for as long as these requests are kept.
            self.alike[id(request.usage)] = charges(request, self.policies.quotas)
        return self._with_objects(self.alike[id(request.usage)], pod)

    def _with_objects(self, pod_charges: Charges, pod: Pod) -> Charges:
        if not makes_objects(pod.spec):
            return pod_charges
        from kubectl_kres.admission.request.pod_objects import object_charges, objects_of
        from kubectl_kres.reports.common.objects import absent_objects

        objects = objects_of(pod, self.policies, self.server)
        absent = {(made.kind, made.name) for made in absent_objects(self.store, pod, objects)}
        existing = [made for made in objects if (made.kind, made.name) not in absent]
        return tuple(add_charges((*pod_charges, *object_charges(existing, self.policies.quotas))))

    def _pods(self, owner: tuple[str, str]) -> list[Pod]:
        pods = [
            pod
            for pod in owned_by(self.store, "Pod", self.namespace, owner)
            if isinstance(pod, Pod) and pod.status.phase not in _ENDED
        ]
        return sorted(pods, key=lambda pod: pod.metadata.creation_timestamp or "")
