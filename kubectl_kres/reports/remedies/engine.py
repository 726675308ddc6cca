"""The one engine that looks for remedies: for pods, runs of Tekton, claims, autoscalers and pools alike.

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
from kubectl_kres.reports.common.parts import Admits, CreateObject, Edit, RaiseQuota, Remedy, SetBound
from kubectl_kres.reports.remedies.words import compose_remedy
from kubectl_kres.store.store import Store

Trial = TypeVar("Trial")
#: Places with what stands there then; both can be hashed, and no two kinds of place are equal.
State = Mapping[Any, Any]
#: How much trials of one search may cost.
BUDGET = 5_000


class Search(Generic[Trial]):
    """The trials of one problem. ``budget``: what they may cost; once it is spent no further state passes."""

    def __init__(self, budget: int = BUDGET) -> None:
        self.budget = budget
        self._trials: dict[Hashable, Trial] = {}

    def evaluate(self, state: State) -> Trial:
        """Return what becomes of all once the changes are made."""
        raise NotImplementedError

    def passes(self, trial: Trial) -> bool:
        """Return whether all is as it is wanted then."""
        raise NotImplementedError

    def states(self) -> Iterator[State]:
        """Yield what to give out if it passes, the best first."""
        raise NotImplementedError

    def cost(self, _state: State) -> int:
        """Return what the trial of a state costs."""
        return 1

    def parts(self, state: State) -> Iterable[Sequence[Any]]:
        """Return the places that may be left out, alone or together, where not all of a state is needed."""
        return [(place,) for place in state]

    def known(self, state: State) -> Trial | None:
        """Return what became of a state that was tried; None: it was not."""
        return self._trials.get(tuple(state.items()))

    def trial(self, state: State) -> Trial:
        """Return what becomes of a state; each is evaluated once."""
        key = tuple(state.items())
        if key not in self._trials:
            self.budget -= self.cost(state)
            self._trials[key] = self.evaluate(state)
        return self._trials[key]

    def meets(self, state: State, goal: Callable[[Trial], bool]) -> bool:
        """Return whether a state meets a goal, which none does that is tried for the first time beyond the budget."""
        return (self.budget > 0 or tuple(state.items()) in self._trials) and goal(self.trial(state))

    def walk(
        self, state: State, correct: Callable[[State, Trial], State | None], goal: Callable[[Trial], bool]
    ) -> State:
        """Return the first state that meets the goal, each made from the one before by what is wrong with it; the last
        state where none does.
        """
        seen: list[State] = []
        while not self.meets(state, goal) and self.budget > 0:
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
        """Return the first state on the way that meets the goal, without what is needless; None: there is none."""
        goal = goal or self.passes
        state = self.walk(start, correct, goal)
        return self.reduce(state, goal) if self.meets(state, goal) else None

    def reduce(self, state: State, goal: Callable[[Trial], bool]) -> State:
        """Return a state that meets the goal without what is needless for it.

        All is tried again after a removal, which may make another part needless.
        """
        changed = True
        while changed:
            changed = False
            for part in [*self.parts(state)]:
                fewer = {place: to for place, to in state.items() if place not in part}
                if len(fewer) < len(state) and self.meets(fewer, goal):
                    state, changed = fewer, True
        return state

    def first(self, states: Iterable[State]) -> State | None:
        """Return the first state that passes; None: none does."""
        return next((state for state in states if self.meets(state, self.passes)), None)

    def fewest(self, parts: Sequence[tuple[Any, Any]]) -> State | None:
        """Return as few parts from the beginning as are enough; None: not even all are."""
        return self.first(dict(parts[:count]) for count in range(1, len(parts) + 1))

    def proven(self) -> Iterator[State]:
        """Yield the states that pass with all their changes made, each once."""
        seen: list[State] = []
        for state in self.states():
            if state and state not in seen and self.meets(state, self.passes):
                seen.append(state)
                yield state


class RemedySearch(Search[Trial]):
    """A search whose states are edits of objects in a store."""

    def __init__(self, store: Store, subject: Subject, budget: int = BUDGET) -> None:
        super().__init__(budget)
        self.store, self.subject = store, subject

    def edits(self, state: State) -> Iterable[Edit]:
        """Return the edits that a state is, in the order in which they are named."""
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
    own = structs.replace(resources, requests={**(resources.requests or {}), "storage": amount})
    return structs.replace(claim, spec=structs.replace(claim.spec, resources=own))


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
    places = {(quota.source.ref, f"{quota.hard_at}[{name}]") for name in quota.hard}
    more = {edit.resource: parse(edit.to) for edit in edits if (edit.object, edit.field) in places}
    return quota.with_hard({**quota.hard, **more}) if more else quota


def _set_bounds(limits: Limits, edits: Iterable[SetBound]) -> Limits:
    own = [edit for edit in edits if edit.object.name == limits.source.name]
    return Limits(limits.source, tuple(_item(item, own) for item in limits.items), limits.created) if own else limits


def _item(item: ParsedItem, edits: Iterable[SetBound]) -> ParsedItem:
    own = [edit for edit in edits if edit.field == f"{item.path}.{edit.bound}[{edit.resource}]"]
    if not own:
        return item
    twin = object.__new__(ParsedItem)
    for slot in ParsedItem.__slots__:
        setattr(twin, slot, getattr(item, slot))
    for edit in own:
        name = _LISTS[edit.bound]
        setattr(twin, name, {**getattr(twin, name), edit.resource: parse(edit.to)})
        if edit.bound == "default":
            # The server makes the default request of it where there is none.
            twin.default_request = {edit.resource: parse(edit.to), **twin.default_request}
    return twin


def moved_bound(policies: Policies, finding: Finding, namespace: str) -> SetBound | None:
    """Return the bound that refuses, moved to what was asked for; None where it is none that can be moved."""
    source, bound = finding.source, _MOVED.get(finding.rule)
    if source is None or bound is None or not finding.asked:
        return None
    for limits in policies.limits:
        for item in limits.items:
            if limits.source.name == source.name and source.field == f"{item.path}.{bound}[{finding.resource}]":
                ref = ObjectRef("LimitRange", source.name, namespace)
                return SetBound(ref, source.field, finding.resource, finding.asked, finding.limit, bound, item.type)
    return None


def with_moved_bound(state: State, policies: Policies, findings: Iterable[Finding], namespace: str) -> State | None:
    """Return the state with one more bound moved, the first of those that refuse; None: none of them can be."""
    edit = next((edit for finding in findings if (edit := moved_bound(policies, finding, namespace))), None)
    if edit is None:
        return None
    before = state.get((edit.object, edit.field))
    return {**state, (edit.object, edit.field): structs.replace(edit, from_=before.from_) if before else edit}
