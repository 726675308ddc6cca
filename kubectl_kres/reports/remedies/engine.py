"""The search for remedies that pods, Tekton runs, claims, autoscalers and pools have in common.

A state is what is changed: a mapping from a place, as a request of a container, to what stands there then. What may be
changed, and what becomes of it, differs: a subclass of `Search` says it. All else stands here: each state is evaluated
once, and only so many are; a state is corrected by what refuses it until nothing does; what is needless is left out;
and what is given out was evaluated with all of its changes made.

Policies and claims with edits made to them, to try what becomes of a pod or a run then.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Generic, TypeVar

from msgspec import convert, structs

from kubectl_kres.admission.base.outcome import Finding
from kubectl_kres.admission.limitrange import Limits, ParsedItem
from kubectl_kres.admission.limitrange import parse as parsed_range
from kubectl_kres.admission.quota.quota_admission import Quota
from kubectl_kres.admission.request.new_pod import Policies
from kubectl_kres.model.objects import LimitRange, ObjectRef
from kubectl_kres.model.pod import ResourceRequirements
from kubectl_kres.model.quota_objects import PersistentVolumeClaim
from kubectl_kres.quantity import parse
from kubectl_kres.reports.common.explanation import Subject
from kubectl_kres.reports.common.remedy import Admits, CreateObject, Edit, RaiseQuota, Remedy, SetBound
from kubectl_kres.reports.remedies.compose import compose_remedy
from kubectl_kres.store.store import Store

Trial = TypeVar("Trial")
#: New values by target. Targets and values are hashable, and targets of different kinds are never equal.
State = Mapping[Any, Any]
#: How much trials of one search may cost.
BUDGET = 5_000


class Search(Generic[Trial]):
    """The trials of one problem. ``budget``: what they may cost; once it is spent, no untried state passes."""

    def __init__(self, budget: int = BUDGET) -> None:
        self.budget = budget
        self._trials: dict[Hashable, Trial] = {}

    def evaluate(self, state: State) -> Trial:
        """Return the outcome once the changes of a state are made."""
        raise NotImplementedError

    def passes(self, trial: Trial) -> bool:
        """Return whether an outcome solves the problem."""
        raise NotImplementedError

    def states(self) -> Iterator[State]:
        """Yield the states to propose if they pass, the best first."""
        raise NotImplementedError

    def cost(self, _state: State) -> int:
        """Return what the trial of a state costs."""
        return 1

    def parts(self, state: State) -> Iterable[Sequence[Any]]:
        """Return the groups of targets that are left out together where not all of a state is needed."""
        return [(target,) for target in state]

    def cached_trial(self, state: State) -> Trial | None:
        """Return the outcome of a state that was tried; None: it was not tried."""
        return self._trials.get(tuple(state.items()))

    def trial(self, state: State) -> Trial:
        """Return the outcome of a state, which is evaluated once."""
        key = tuple(state.items())
        if key not in self._trials:
            self.budget -= self.cost(state)
            self._trials[key] = self.evaluate(state)
        return self._trials[key]

    def meets_goal(self, state: State, goal: Callable[[Trial], bool]) -> bool:
        """Return whether a state meets a goal; False for an untried state once the budget is spent."""
        return (self.budget > 0 or tuple(state.items()) in self._trials) and goal(self.trial(state))

    def walk(
        self, state: State, correct: Callable[[State, Trial], State | None], goal: Callable[[Trial], bool]
    ) -> State:
        """Return the first state that meets the goal, or the last one if none does.

        Each state is made from the one before by ``correct``, which sees its outcome.
        """
        seen: list[State] = []
        while not self.meets_goal(state, goal) and self.budget > 0:
            seen.append(state)
            after = correct(state, self.trial(state))
            if after is None or after in seen:
                break
            state = after
        return state

    def find(
        self,
        start: State,
        correct: Callable[[State, Trial], State | None],
        goal: Callable[[Trial], bool] | None = None,
    ) -> State | None:
        """Return the first state on the way that meets the goal, without needless changes; None: there is none."""
        goal = goal or self.passes
        state = self.walk(start, correct, goal)
        return self.reduce(state, goal) if self.meets_goal(state, goal) else None

    def reduce(self, state: State, goal: Callable[[Trial], bool]) -> State:
        """Return the state without the changes that its goal does not need.

        After each removal all groups are tried again, since one removal may make another change needless.
        """
        changed = True
        while changed:
            changed = False
            for part in [*self.parts(state)]:
                fewer = {target: to for target, to in state.items() if target not in part}
                if len(fewer) < len(state) and self.meets_goal(fewer, goal):
                    state, changed = fewer, True
        return state

    def find_first_passing(self, states: Iterable[State]) -> State | None:
        """Return the first state that passes; None: none does."""
        return next((state for state in states if self.meets_goal(state, self.passes)), None)

    def find_fewest_parts(self, parts: Sequence[tuple[Any, Any]]) -> State | None:
        """Return the shortest run of parts, from the first one on, that passes; None: not even all of them do."""
        return self.find_first_passing(dict(parts[:count]) for count in range(1, len(parts) + 1))

    def proven(self) -> Iterator[State]:
        """Yield each state that passes with all of its changes made, once."""
        seen: list[State] = []
        for state in self.states():
            if state and state not in seen and self.meets_goal(state, self.passes):
                seen.append(state)
                yield state


class RemedySearch(Search[Trial]):
    """A search whose states are edits of objects in a store."""

    def __init__(self, store: Store, subject: Subject, budget: int = BUDGET) -> None:
        super().__init__(budget)
        self.store, self.subject = store, subject

    def edits(self, state: State) -> Iterable[Edit]:
        """Return the edits of a state, in the order in which a sentence names them."""
        return state.values()

    def compose(self, _state: State, edits: Sequence[Edit]) -> Remedy:
        """Return the remedy of a state that passes."""
        return compose_remedy(self.store, self.subject, edits, Admits(1, 1), 0)

    def remedies(self) -> Iterator[Remedy]:
        """Yield the remedies of the states that pass; of equal edits the first."""
        seen: list[tuple[Edit, ...]] = []
        for state in self.proven():
            edits = tuple(self.edits(state))
            if edits not in seen:
                seen.append(edits)
                yield self.compose(state, edits)


#: The lists of an item that an edit can change.
_LISTS = {"min": "min", "max": "max", "default": "default", "defaultRequest": "default_request"}
_MOVED = {"limitrange/min": "min", "limitrange/max": "max"}


def with_storage(claim: PersistentVolumeClaim, amount: str) -> PersistentVolumeClaim:
    """Return the claim with another size."""
    resources = claim.spec.resources or ResourceRequirements()
    resized = structs.replace(resources, requests={**(resources.requests or {}), "storage": amount})
    return structs.replace(claim, spec=structs.replace(claim.spec, resources=resized))


def changed_policies(policies: Policies, edits: Iterable[object]) -> Policies:
    """Return the policies after edits of quotas and LimitRanges; the same where no edit is of them."""
    edits = [*edits]
    raised = [edit for edit in edits if isinstance(edit, RaiseQuota)]
    bounds = [edit for edit in edits if isinstance(edit, SetBound)]
    new = [edit for edit in edits if isinstance(edit, CreateObject) and edit.object.kind == "LimitRange"]
    if not (raised or bounds or new):
        return policies
    made = (parsed_range(convert(edit.manifest, LimitRange, strict=False)) for edit in new)
    return structs.replace(
        policies,
        quotas=tuple(_raise_quota(quota, raised) for quota in policies.quotas),
        limits=(*(_set_bounds(limits, bounds) for limits in policies.limits), *made),
    )


def _raise_quota(quota: Quota, edits: Iterable[RaiseQuota]) -> Quota:
    fields = {(quota.source.ref, f"{quota.hard_at}[{name}]") for name in quota.hard}
    more = {edit.resource: parse(edit.to) for edit in edits if (edit.object, edit.field) in fields}
    return quota.with_hard({**quota.hard, **more}) if more else quota


def _set_bounds(limits: Limits, edits: Iterable[SetBound]) -> Limits:
    matching = [edit for edit in edits if edit.object.name == limits.source.name]
    return (
        Limits(limits.source, tuple(_item(item, matching) for item in limits.items), limits.created)
        if matching
        else limits
    )


def _item(item: ParsedItem, edits: Iterable[SetBound]) -> ParsedItem:
    matching = [edit for edit in edits if edit.field == f"{item.path}.{edit.bound}[{edit.resource}]"]
    for edit in matching:
        amount = {edit.resource: parse(edit.to)}
        item = item.with_amounts(_LISTS[edit.bound], amount)
        if edit.bound == "default":
            # The server makes the default request of it where there is none.
            item = item.with_amounts("default_request", {**amount, **item.default_request})
    return item


def moved_bound(policies: Policies, finding: Finding, namespace: str) -> SetBound | None:
    """Return the bound that refuses, moved to what was asked for; None where it is none that can be moved."""
    source, bound = finding.source, _MOVED.get(finding.rule)
    if source is None or bound is None or not finding.requested:
        return None
    for limits in policies.limits:
        for item in limits.items:
            if limits.source.name == source.name and source.field == f"{item.path}.{bound}[{finding.resource}]":
                ref = ObjectRef("LimitRange", source.name, namespace)
                return SetBound(ref, source.field, finding.resource, finding.requested, finding.limit, bound, item.type)
    return None


def with_moved_bound(state: State, policies: Policies, findings: Iterable[Finding], namespace: str) -> State | None:
    """Return the state with one more bound moved, the first of those that refuse; None: none of them can be."""
    edit = next((edit for finding in findings if (edit := moved_bound(policies, finding, namespace))), None)
    if edit is None:
        return None
    before = state.get((edit.object, edit.field))
    return {**state, (edit.object, edit.field): structs.replace(edit, from_=before.from_) if before else edit}
