"""The plan of a controller: the pods it has and wants, and what they cost each quota."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import structs

from kubectl_kres.admission.base.server import Server
from kubectl_kres.admission.quota import quota_admission
from kubectl_kres.admission.request.new_pod import Policies
from kubectl_kres.model.pod import Pod
from kubectl_kres.reports.common.replicas import Replicas
from kubectl_kres.reports.pod.pod_claims import MissingClaims
from kubectl_kres.reports.remedies.pods import (
    ExistingPods,
    OwnedPods,
    PodFaults,
    Rival,
    cost_beside,
    evaluate_pod,
    objects_price,
    same_template,
)
from kubectl_kres.simulate.replicas import Replica, count_pods, joined
from kubectl_kres.simulate.rollout import PodCosts, RolloutPlan
from kubectl_kres.simulate.state import DaemonSetState, DeploymentState, ReplicaSetState, StatefulSetState


def claim_prices(
    claims: Sequence[MissingClaims], policies: Policies, server: Server, first: int = 0
) -> tuple[tuple[range, quota_admission.Price], ...]:
    """Return the costs of the claims of each missing pod, by rows of ordinals; the first missing pod has the ordinal
    ``first``. Raises Unparsable.
    """
    result = []
    for missing in claims:
        total: quota_admission.Price = {}
        for claim in missing.claims:
            total = quota_admission.with_price(
                total,
                quota_admission.sum_price(
                    quota_admission.charges(quota_admission.claim_request(claim, server), policies.quotas)
                ),
            )
        if total:
            result.append((range(first, first + missing.pods), total))
        first += missing.pods
    return tuple(result)


def build_rollout_plan(
    owned_pods: OwnedPods, pod: Pod, evaluated: PodFaults, policies: Policies, server: Server
) -> tuple[RolloutPlan, dict[quota_admission.Key, int]]:
    """Return the controller's plan where ``pod`` is its template, and what the quotas count before. Raises Unparsable.

    An edit that restores an older template counts as a new template, which needs at least as much.
    """
    used, _ = quota_admission.amounts(policies.quotas)
    once = (
        quota_admission.sum_price(
            quota_admission.charges(quota_admission.count_request(owned_pods.counted, "new"), policies.quotas)
        )
        if owned_pods.counted
        else {}
    )
    once = quota_admission.with_price(
        once, objects_price((*owned_pods.first, *owned_pods.lacking, *owned_pods.kept), policies)
    )
    price = dict(evaluated.price)
    beside = cost_beside(pod, policies, server)
    same = [existing for existing in owned_pods.existing if existing.newest and same_template(existing.pod, pod)]
    others = [existing for existing in owned_pods.existing if existing not in same]
    back = next(
        (quota_admission.with_price(existing.back, beside) for existing in same if existing.back is not None), price
    )
    if owned_pods.fresh:
        for other in others:
            for key, amount in (other.back or price).items():
                used[key] = used.get(key, 0) - amount * other.pods
        others = []
    # Where only some orders of LimitRanges refuse, more pods of an older template may come meanwhile.
    costs = PodCosts({NEW: price, _THERE: back}, {} if evaluated.faults else {NEW: NEW})
    for template, other in enumerate(others, 1):
        older = evaluate_pod(other.pod, policies, server)
        new_price = older.price or other.back or price
        gone = (
            quota_admission.with_price(other.back, cost_beside(other.pod, policies, server))
            if other.back
            else new_price
        )
        made = {template: 2 * template} if len(older.faults) < len(older.outcomes) else {}
        pods = {**costs.pods, 2 * template: new_price, 2 * template + 1: gone}
        costs = PodCosts(pods, {**costs.shape_of, **made})
    have = sum(existing.pods for existing in same)
    state = _state(owned_pods, others, have, max((existing.wanted for existing in same), default=0))
    if isinstance(state, StatefulSetState):
        claims = claim_prices(owned_pods.claims, policies, server, count_pods(state.pods))
        costs = structs.replace(costs, claims=claims)
    plan = RolloutPlan(state, costs, once)
    return _add_rivals(owned_pods, plan, policies, server), used


#: The template of new pods, and the shapes of those to come and of those that are there. Older ones follow in pairs.
NEW, _THERE = 0, 1


def _state(
    owned_pods: OwnedPods, others: Sequence[ExistingPods], have: int, wanted_of_newest: int
) -> DeploymentState | StatefulSetState | ReplicaSetState:
    """Return the workload as its controller sees it, with ``have`` pods of the newest template."""
    replicas = owned_pods.replicas or Replicas(owned_pods.wanted, have)
    shapes = [(2 * template + 1, other.pods) for template, other in enumerate(others, 1)]
    shapes += [(_THERE, have)] if have else []
    if owned_pods.kind == "StatefulSet":
        pods: list[Replica] = []
        for shape, number in shapes:
            pods.append(Replica(count_pods(pods), shape // 2, shape, number=number))
        current = 1 if others else NEW
        return StatefulSetState(
            "", NEW, current, owned_pods.wanted, partition=replicas.kept, on_delete=replicas.strategy == "OnDelete",
            pods=joined(pods),
        )  # fmt: skip
    if owned_pods.kind not in {"Deployment", "DaemonSet"} or replicas.strategy == "OnDelete":
        # Pods of an older template stay and count for what is wanted.
        return ReplicaSetState(
            NEW, owned_pods.wanted, tuple((shape, True, number) for shape, number in shapes if number)
        )
    sets = [
        ReplicaSetState(shape // 2, wanted, ((shape, True, number),) if number else (), owned_pods.wanted)
        for (shape, number), wanted in zip(
            shapes, [*(other.wanted for other in others), wanted_of_newest], strict=False
        )
    ]
    kind = DaemonSetState if owned_pods.kind == "DaemonSet" else DeploymentState
    surge, unavailable, recreate = replicas.surge, replicas.unavailable, replicas.strategy == "Recreate"
    return kind(NEW, owned_pods.wanted, surge, unavailable, recreate, sets=tuple(sets))


def _add_rivals(owned_pods: OwnedPods, plan: RolloutPlan, policies: Policies, server: Server) -> RolloutPlan:
    """Return the plan with the rivals that need the same quotas."""
    if not owned_pods.rivals:
        return plan
    keys = {
        key
        for price in (plan.costs.pods[NEW], *(price for _, price in plan.costs.claims), plan.once)
        for key in price or ()
    }
    others = (plan_of_rival(rival, policies, server) for rival in owned_pods.rivals)
    return structs.replace(plan, rivals=[other for other in others if keys.intersection(needed_room(other))])


def needed_room(plan: RolloutPlan) -> Iterator[quota_admission.Key]:
    """Yield the costs of further pods of the newest template, and of what comes before them; nothing where something
    other than room refuses them.
    """
    if plan.price is not None:
        yield from (key for price in (plan.price, plan.once) for key, amount in price.items() if amount > 0)


def plan_of_rival(rival: Rival, policies: Policies, server: Server) -> RolloutPlan:
    """Return the plan of another workload's controller. Raises Unparsable."""
    if rival.last_faults is None or rival.last_faults[0] is not policies:
        rival.last_faults = policies, evaluate_pod(rival.pod, policies, server)
    return build_rollout_plan(rival.owned_pods, rival.pod, rival.last_faults[1], policies, server)[0]
