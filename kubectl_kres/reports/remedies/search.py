"""The remedies of refused pods. Edits are tried on a copy, evaluated by the engine, and reduced to the needed ones.

Each remedy is complete by itself: larger quotas for a valid template, a template that fits into the quotas, or fewer
pods. A remedy that does not get all wanted pods admitted is reported with the refusal that remains.
"""

# ruff: noqa: PLC0415 - few quotas count objects, and few claims and values are refused
from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from typing import Any

from msgspec import Struct, structs

from kubectl_kres.admission.base.draft import Draft, Unparsable, parse_list
from kubectl_kres.admission.base.outcome import Finding, Outcome
from kubectl_kres.admission.base.server import Server
from kubectl_kres.admission.quota.quota_admission import Key, amounts
from kubectl_kres.admission.request.new_pod import Policies, admit
from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.model.pod import Pod, with_containers
from kubectl_kres.model.quota_objects import PersistentVolumeClaim
from kubectl_kres.model.workload_kinds import SCALED, WORKLOADS
from kubectl_kres.quantity import ZERO, Quantity
from kubectl_kres.record import joined
from kubectl_kres.reports.common.analysis import Analysis
from kubectl_kres.reports.common.explanation import Subject, manifest_workload
from kubectl_kres.reports.common.remedy import (
    OLD_PODS_FIRST,
    Admits,
    Basis,
    DeleteObject,
    Edit,
    EditClaim,
    RaiseQuota,
    Remedy,
    RoomTaken,
    Scale,
    SetBound,
    SetField,
    SetValue,
    SharedRoom,
)
from kubectl_kres.reports.remedies.compose import compose_remedy
from kubectl_kres.reports.remedies.engine import RemedySearch, State, changed_policies, with_moved_bound, with_storage
from kubectl_kres.reports.remedies.plans import build_rollout_plan, needed_room, plan_of_rival
from kubectl_kres.reports.remedies.pods import (
    TRIED,
    ExistingPods,
    OwnedPods,
    PodFaults,
    evaluate_pod,
    find_owned_pods,
    findings_of,
)
from kubectl_kres.reports.remedies.rivals import Rivals, find_rivals
from kubectl_kres.reports.remedies.room import RaisedHard, build_quota_raises, raised_for, smaller_values, starves
from kubectl_kres.reports.remedies.shape import STATED, Direction, ResourceField, write_values, written_value
from kubectl_kres.reports.rollout.wanted_pods import autoscaler_of
from kubectl_kres.store.store import Store

#: Refusals for a class that does not exist, and the field of the policies that then counts as not read.
_OF_CLASSES = {"priority/unknown-class": "priorities", "runtime-class/unknown": "runtimes"}
_OF_CLAIMS = frozenset({"limitrange/min", "limitrange/max"})
#: The bounds of a HorizontalPodAutoscaler.
_LEAST_REPLICAS, _MOST_REPLICAS = "spec.minReplicas", "spec.maxReplicas"
#: The order in which the edits of objects are named, before and behind the values of the template.
_BEFORE, _BEHIND = (RaiseQuota, SetBound, EditClaim), (SetField, Scale, DeleteObject)


class PodTrial(Struct, frozen=True, dict=True):
    """The pods of a workload after edits: what refuses them, and how much of the quotas they need.

    ``claims``: findings that refuse its volume claims, by template. ``hard``: of the quotas; empty if they count the
    pods already. ``freed``: how much less a quota counts, by resource.
    """

    owned_pods: OwnedPods
    pod: Pod
    policies: Policies
    server: Server
    faults: PodFaults
    claims: Sequence[tuple[str, Finding]]
    hard: Mapping[Key, int]
    freed: Mapping[str, int]

    @property
    def valid(self) -> bool:
        """Return whether nothing but full quotas refuses the pods."""
        return not self.faults.faults and not self.claims

    @cached_property
    def missing_room(self) -> RaisedHard:
        """Return what the quotas lack for all pods. Raises Unparsable."""
        plan, used = build_rollout_plan(self.owned_pods, self.pod, self.faults, self.policies, self.server)
        left = {key: amount - self.freed.get(key[1], 0) * 10**9 for key, amount in used.items()}
        return raised_for(plan, left, self.hard)


def remedies(store: Store, subject: Subject, analysis: Analysis, server: Server) -> tuple[Remedy, ...]:
    """Return the remedies that get all wanted pods admitted; empty if none is needed or none was found.

    A refusal that no edit of values or quotas remedies is in ``stays``, beside the remedies of the other refusals.
    """
    if analysis.made_pod is not None:
        return ()
    lacks_class = _without_class(analysis)
    # Computed before a class that is missing is taken to exist.
    remaining = list(_remaining(analysis, lacks_class))
    analysis = _with_classes(analysis, lacks_class)
    try:
        owned_pods = find_owned_pods(store, subject, analysis, server)
        if owned_pods is None:
            return ()
        if analysis.seen_pod is not None:
            existing = tuple(_as_seen(each, analysis.manifest.pod, analysis.seen_pod) for each in owned_pods.existing)
            owned_pods = structs.replace(owned_pods, existing=existing)
        beside = (
            Rivals() if analysis.manifest.live is not None else find_rivals(store, subject, analysis.policies, server)
        )
        owned_pods = structs.replace(owned_pods, rivals=beside.counted)
        remedies = tuple(PodSearch(store, subject, analysis, owned_pods).remedies())
    except Unparsable:
        return ()
    if beside.unknown:
        remedies = tuple(_mark_contested(remedy, beside.unknown) for remedy in remedies)
    others = dict.fromkeys(finding.text for outcome in remaining for finding in findings_of(outcome))
    if not others:
        return remedies
    have = sum(existing.pods for existing in owned_pods.existing if existing.newest)
    stays = "; ".join(others)
    return tuple(
        structs.replace(
            remedy,
            admits=Admits(have, remedy.admits.wanted),
            remaining_refusal=joined(remedy.remaining_refusal, stays),
        )
        for remedy in remedies
        if remedy.admits is not None
    )


def remaining_outcomes(analysis: Analysis) -> tuple[Outcome, ...]:
    """Return the refusals for which no edit is searched, including those behind the first refusal."""
    return tuple(_remaining(analysis, _without_class(analysis)))


def _remaining(analysis: Analysis, lacks_class: Sequence[Outcome]) -> Iterator[Outcome]:
    known = dict.fromkeys(finding.text for outcome in analysis.outcomes for finding in findings_of(outcome))
    pods = (
        outcome for outcome in lacks_class if not known.keys() >= {finding.text for finding in findings_of(outcome)}
    )
    for outcome in (*analysis.outcomes, *analysis.then, *pods):
        others = tuple(finding for finding in findings_of(outcome) if finding.rule not in TRIED)
        if others and outcome.refusal is not None:
            yield structs.replace(outcome, refusal=structs.replace(outcome.refusal, findings=others))


def _without_class(analysis: Analysis) -> tuple[Outcome, ...]:
    """Return the refusals of the pod for a class that does not exist; the server checks nothing else then."""
    try:
        outcomes = admit(analysis.manifest.pod, analysis.policies.policies, analysis.server, journal=False)
    except Unparsable:
        return ()
    return tuple(
        outcome for outcome in outcomes if any(finding.rule in _OF_CLASSES for finding in findings_of(outcome))
    )


def _with_classes(analysis: Analysis, lacks_class: Sequence[Outcome]) -> Analysis:
    """Return the analysis as if the missing classes of the pod existed, so that the rest is checked."""
    refusals = (finding for outcome in lacks_class for finding in findings_of(outcome))
    fields = {_OF_CLASSES[finding.rule] for finding in refusals if finding.rule in _OF_CLASSES}
    if not fields:
        return analysis
    policies = structs.replace(analysis.policies.policies, **dict.fromkeys(fields))
    return structs.replace(analysis, policies=structs.replace(analysis.policies, policies=policies))


def _mark_contested(remedy: Remedy, refs: tuple[ObjectRef, ...]) -> Remedy:
    remaining = joined(remedy.remaining_refusal, RoomTaken(refs))
    return structs.replace(remedy, remaining_refusal=remaining, contested=refs)


def _as_seen(existing: ExistingPods, written: Pod, seen: Pod) -> ExistingPods:
    """Return pods of a template with what all pods are given beside it. ``written``: the newest template, ``seen``: the
    same with that.
    """
    if existing.newest:
        return structs.replace(existing, pod=structs.replace(existing.pod, spec=seen.spec))
    have = _names(existing.pod) | _names(written)
    groups = (("containers", seen.spec.containers), ("initContainers", seen.spec.init_containers))
    added = tuple((key, item) for key, group in groups for item in group or () if item.name not in have)
    return structs.replace(existing, pod=with_containers(existing.pod, added))


def _containers(pod: Pod) -> Iterator[tuple[str, str]]:
    """Yield path and name of each container."""
    for path, group in (("spec.containers", pod.spec.containers), ("spec.initContainers", pod.spec.init_containers)):
        for index, container in enumerate(group or ()):
            yield f"{path}[{index}]", container.name


def _names(pod: Pod) -> set[str]:
    return {name for _, name in _containers(pod)}


class PodSearch(RemedySearch[PodTrial]):
    """The search over values, claims and pod count of a workload, and over LimitRanges and quotas of its namespace."""

    def __init__(self, store: Store, subject: Subject, analysis: Analysis, owned_pods: OwnedPods) -> None:
        super().__init__(store, subject)
        self.analysis, self.server, self.owned_pods = analysis, analysis.server, owned_pods
        self.pod, self.policies = analysis.seen_pod or analysis.manifest.pod, analysis.policies.policies
        #: Containers that only others show: no template holds them, so that nothing of them can be edited.
        self.added = {path for path, item in _containers(self.pod) if item not in _names(analysis.manifest.pod)}
        self.counted = analysis.manifest.live is not None and not owned_pods.lacking
        owner = analysis.manifest.owner or manifest_workload(subject)
        claims = owner.spec.volume_claim_templates if owner is not None and owned_pods.claims else None
        self.templates = {f"spec.volumeClaimTemplates[{index}]": claim for index, claim in enumerate(claims or ())}

    def evaluate(self, state: State) -> PodTrial:
        """Return the outcome of the pods with the changes of a state."""
        raised = {target: to for target, to in state.items() if isinstance(to, (RaiseQuota, DeleteObject))}
        if raised:
            from kubectl_kres.reports.remedies.freeing import count_freed

            base = self.trial(_drop_targets(state, raised))
            hard = amounts(changed_policies(self.policies, raised.values()).quotas)[1]
            return structs.replace(base, hard=base.hard and hard, freed=count_freed(raised.values()))
        policies = changed_policies(self.policies, state.values())
        pod = write_values(self.pod, _values_in(state))
        refused = [
            (path, finding)
            for path, claim in self.templates.items()
            for finding in self._claim_findings(
                with_storage(claim, state[path].to) if path in state else claim, policies
            )
        ]
        hard = {} if self.counted else amounts(policies.quotas)[1]
        faults = evaluate_pod(pod, policies, self.server)
        owned_pods, freed = self._change_owned_pods(state)
        return PodTrial(owned_pods, pod, policies, self.server, faults, refused, hard, freed)

    def passes(self, trial: PodTrial) -> bool:
        """Return whether all wanted pods exist or will be; for an existing pod, whether it would be admitted."""
        if self.counted:
            return not trial.faults.faults
        return not trial.claims and trial.missing_room.complete and not trial.missing_room.hard

    def parts(self, state: State) -> Iterator[Sequence[object]]:
        """Yield each request, then each limit, then each other change."""
        values = sorted(_values_in(state), key=lambda field: (field.side == "limits", field))
        yield from ((field,) for field in (*values, *_drop_targets(state, values)))

    def states(self) -> Iterator[State]:
        """Yield the states that edit nothing but what the template holds."""
        for state in self._all_states():
            if self.added.isdisjoint(field.holder for field in _values_in(state)):
                yield state

    def _all_states(self) -> Iterator[State]:
        """Yield the states that raise quotas, then those that fit into the quotas as they are."""
        if self.meets_goal({}, self.passes):
            return
        fits = [state for state in self._valid_states() if self.trial(state).missing_room.complete]
        for state in fits:
            trial = self.trial(state)
            room = trial.missing_room
            # Pods that end later take no room of the next one.
            first = {} if trial.owned_pods.kept else room.first
            edits = build_quota_raises(self.policies, room.hard, first)
            yield {**state, **{(edit.object, edit.field): edit for edit in edits}}
        if self.counted:
            return
        fits = [state for state in fits if self.trial(state).missing_room.hard]
        yield from self._old_pods_first(fits)
        for state in fits:
            lower = self.find(state, self._fit_values)
            if lower is not None and not self._starves(state, lower):
                yield lower
        for state in fits:
            yield from self._fewer_pods(state)
        yield from self._freeing_states()

    def _valid_states(self) -> Iterator[State]:
        """Yield the changes of template, claims and LimitRanges that are needed even with empty quotas."""
        valid: list[State] = []
        for start in self._claim_states():
            corrections = (partial(self._correct_values, "lower"), partial(self._correct_values, "raise"))
            valid += (state for correct in corrections if (state := self.find(start, correct, _is_valid)) is not None)
            if not valid and (state := self.find(start, self._widen, _is_valid)) is not None:
                valid.append(state)
        # What needs no correction comes out of both.
        yield from map(dict, dict.fromkeys(tuple(state.items()) for state in valid))

    def _correct_values(self, direction: Direction, state: State, trial: PodTrial) -> State | None:
        """Return the state with values of the template corrected as the first refusal requires; None: there is none."""
        if not trial.faults.faults:
            return None
        from kubectl_kres.reports.remedies.resource_values import corrected_values

        corrected = corrected_values(
            self.pod, _values_in(state), trial.faults.faults[0], trial.policies.limits, direction
        )
        return {**_drop_targets(state, _values_in(state)), **corrected}

    def _widen(self, state: State, _trial: PodTrial) -> State | None:
        """Return lower values if they are enough, else the state with one more bound of a LimitRange moved."""
        end = self.walk(state, partial(self._correct_values, "lower"), _is_valid)
        trial = self.trial(end)
        if trial.valid:
            return end
        findings = [finding for outcome in trial.faults.faults for finding in findings_of(outcome)]
        return with_moved_bound(state, trial.policies, findings, self.subject.ref.namespace)

    def _fit_values(self, state: State, trial: PodTrial) -> State | None:
        """Return the state with lower values of the resources that quotas lack."""
        if not trial.valid or not trial.missing_room.complete:
            return None
        values = smaller_values(
            trial.owned_pods, trial.pod, trial.faults, trial.missing_room.hard, trial.policies, self.server
        )
        return None if values is None else {**state, **values}

    def _starves(self, state: State, lower: State) -> bool:
        """Return whether a container gets less than half of the memory that it states: it would be killed."""
        before = _values_in(state)
        return any(
            starves(field.resource, before.get(field) or written_value(self.pod, field), to)
            for field, to in _values_in(lower).items()
        )

    def _fewer_pods(self, state: State) -> Iterator[State]:
        """Yield the number of pods that the quotas have room for, if a field holds it and no rollout is in progress."""
        count, field = self.trial(state).missing_room.rest.updated, self._replicas_field()
        old = any(not existing.newest and (existing.pods or existing.wanted) for existing in self.owned_pods.existing)
        if field is None or old or _values_in(state) or not 0 < count < self.owned_pods.wanted:
            return
        ref = self.subject.ref
        scaler = autoscaler_of(self.store, ref.kind, ref.name, ref.namespace) if ref.kind in SCALED else None
        if scaler is None:
            yield {**state, field: Scale(ref, field, count, self.owned_pods.wanted)}
            return
        # An autoscaler would undo it: its own bounds are lowered, the lower one first.
        autoscaler, bounds = ObjectRef("HorizontalPodAutoscaler", scaler.metadata.name, ref.namespace), {}
        minimum = 1 if scaler.spec.min_replicas is None else scaler.spec.min_replicas
        if minimum > count:
            bounds[_LEAST_REPLICAS] = Scale(autoscaler, _LEAST_REPLICAS, count, minimum)
        bounds[_MOST_REPLICAS] = Scale(autoscaler, _MOST_REPLICAS, count, scaler.spec.max_replicas)
        yield {**state, **bounds}

    def _old_pods_first(self, states: Iterable[State]) -> Iterator[State]:
        """Yield that old pods go before new ones come, where a rollout lacks the room for one pod more."""
        replicas = self.owned_pods.replicas
        if self.subject.ref.kind != "Deployment" or replicas is None or replicas.strategy != "RollingUpdate":
            return
        if replicas.unavailable or not any(pods.pods and not pods.newest for pods in self.owned_pods.existing):
            return
        ref = self.subject.ref
        first = {field: SetField(ref, field, to) for field, to in OLD_PODS_FIRST.items()}
        yield from ({**state, **first} for state in states)

    def _replicas_field(self) -> str | None:
        """Return the field that holds the number of pods; None if it is not lowered."""
        workload = WORKLOADS.get(self.subject.ref.kind)
        return workload.wanted or None if workload is not None else None

    def _freeing_states(self) -> Iterator[State]:
        """Yield deletions and limits that free quota for the template as it is."""
        trial = self.trial({})
        short = {name for _, name in trial.missing_room.hard}
        if trial.valid and any(name.startswith("count/") for name in short):
            from kubectl_kres.reports.remedies.freeing import (
                ended_jobs,
                fewer_kept_jobs,
                shorter_history,
                unused_objects,
            )

            stored = self.store.get(self.subject.ref.kind, self.subject.ref.name, self.subject.ref.namespace)
            workload = stored or manifest_workload(self.subject)
            unused = unused_objects(self.store, self.subject, stored, short)
            gone = self.find_fewest_parts(unused) or {}
            yield gone
            yield shorter_history(self.subject.ref, stored, unused, gone)
            yield self.walk({}, partial(fewer_kept_jobs, self.subject.ref, workload, short), self.passes)
            yield self.find_fewest_parts(ended_jobs(self.store, self.subject, short)) or {}

    def _change_owned_pods(self, state: State) -> tuple[OwnedPods, Mapping[str, int]]:
        """Return the pods with the claims and numbers of a state, and how much less the quotas count then."""
        owned_pods, field = self.owned_pods, self._replicas_field()
        claims = tuple(
            structs.replace(
                missing, claims=tuple(_resize_claim(claim, self.templates, state) for claim in missing.claims)
            )
            for missing in owned_pods.claims
        )
        owned_pods, freed = structs.replace(owned_pods, claims=claims), dict[str, int]()
        if owned_pods.replicas is not None and OLD_PODS_FIRST.keys() <= state.keys():
            owned_pods = structs.replace(
                owned_pods, replicas=structs.replace(owned_pods.replicas, surge=0, unavailable=1)
            )
        scales = [to for to in state.values() if isinstance(to, Scale)]
        for scale in scales:
            if scale.field in {field, _MOST_REPLICAS}:
                replicas = (
                    structs.replace(owned_pods.replicas, wanted=scale.to) if owned_pods.replicas is not None else None
                )
                existing = tuple(
                    structs.replace(pods, wanted=min(pods.wanted, scale.to)) for pods in owned_pods.existing
                )
                owned_pods = structs.replace(owned_pods, wanted=scale.to, replicas=replicas, existing=existing)
        limits = [scale for scale in scales if scale.field not in {field, _LEAST_REPLICAS, _MOST_REPLICAS}]
        if limits:
            from kubectl_kres.reports.remedies.freeing import unused_objects, with_fewer_kept

            short = {name for _, name in self.trial({}).missing_room.hard}
            stored = self.store.get(self.subject.ref.kind, self.subject.ref.name, self.subject.ref.namespace)
            owned_pods, freed = with_fewer_kept(
                owned_pods, limits, lambda: unused_objects(self.store, self.subject, stored, short)
            )
        return owned_pods, freed

    def _claim_states(self) -> Iterator[State]:
        """Yield no change if LimitRanges admit the claims; else other bounds, then other sizes."""
        if not self.trial({}).claims:
            yield {}
            return
        yield self.walk({}, self._widen_for_claims, lambda trial: not trial.claims)
        sizes: dict[str, EditClaim] = {}
        for path in dict.fromkeys(path for path, _ in self.trial({}).claims):
            size = self._size(self.templates[path])
            if size is None:
                return
            sizes[path] = self._edit_claim(path, str(size))
        yield sizes

    def _widen_for_claims(self, state: State, trial: PodTrial) -> State | None:
        findings = [finding for _, finding in trial.claims]
        return with_moved_bound(state, trial.policies, findings, self.subject.ref.namespace)

    def _claim_findings(self, claim: PersistentVolumeClaim, policies: Policies) -> Iterator[Finding]:
        from kubectl_kres.admission.request.volume_claims import admit_claim, with_default_class

        for outcome in admit_claim(with_default_class(claim, policies), policies, self.server):
            yield from (finding for finding in findings_of(outcome) if finding.rule in _OF_CLAIMS)

    def _size(self, claim: PersistentVolumeClaim) -> Quantity | None:
        """Return a size that every LimitRange admits; None: there is none."""
        bounds = [
            item for limit in self.policies.limits for item in limit.items if item.type == "PersistentVolumeClaim"
        ]
        low = max((item.min["storage"] for item in bounds if "storage" in item.min), default=ZERO)
        high = min((item.max["storage"] for item in bounds if "storage" in item.max), default=None)
        if high is not None and low > high:
            return None
        resources = claim.spec.resources
        asked = parse_list(resources.requests if resources else None, "spec.resources.requests").get("storage", ZERO)
        return low if asked < low else high if high is not None and asked > high else asked

    def _edit_claim(self, path: str, to: str) -> EditClaim:
        resources = self.templates[path].spec.resources
        before = ((resources.requests if resources else None) or {}).get("storage")
        field = f"{path}.spec.resources.requests[storage]"
        return EditClaim(self.subject.ref, field, "storage", to, None if before is None else str(before))

    def edits(self, state: State) -> Iterator[Edit]:
        """Yield quotas, bounds, claims, values of the template and numbers."""
        for kind in _BEFORE:
            yield from (to for to in state.values() if isinstance(to, kind))
        yield from self._values(_values_in(state))
        yield from (to for to in state.values() if isinstance(to, _BEHIND))

    def compose(self, state: State, edits: Sequence[Edit]) -> Remedy:
        """Return the remedy, with the other workloads that its larger quotas are for."""
        raised = {target: to for target, to in state.items() if isinstance(to, RaiseQuota)}
        wanted, base = self.trial(state).owned_pods.wanted, _drop_targets(state, raised)
        now = self.trial(base).missing_room.rest.updated
        remedy = compose_remedy(self.store, self.subject, edits, Admits(wanted, wanted), now)
        refs = self._sharing_rivals(self.trial(base)) if raised else ()
        text = joined(remedy.text, SharedRoom(refs), between=" ")
        return structs.replace(remedy, text=text, shared=refs) if refs else remedy

    def _sharing_rivals(self, trial: PodTrial) -> tuple[ObjectRef, ...]:
        """Return the other workloads for which the quotas are raised further than for the pods alone."""
        alone = structs.replace(trial, owned_pods=structs.replace(trial.owned_pods, rivals=())).missing_room.hard
        more = {key for key, amount in trial.missing_room.hard.items() if amount != alone.get(key)}
        plans = (
            (rival.ref, plan_of_rival(rival, trial.policies, self.server)) for rival in trial.owned_pods.rivals if more
        )
        return tuple(ref for ref, plan in plans if not more.isdisjoint(needed_room(plan)))

    def _values(self, values: Mapping[ResourceField, str | None]) -> Iterator[SetValue]:
        start = self.analysis.manifest
        draft: Draft | None = self.analysis.outcomes[0].draft
        slots = {slot.path: slot for slot in draft.slots()} if draft is not None else {}
        order = {path: index for index, path in enumerate(slots)}
        for field, to in sorted(
            values.items(), key=lambda item: (order.get(item[0].holder, 99), item[0].resource, item[0].side)
        ):
            slot = slots.get(field.holder)
            yield SetValue(
                start.source.ref if self.counted else self.subject.ref,
                f"{start.prefix}{field.path}",
                field.resource,
                to,
                written_value(self.pod, field),
                slot.name if slot is not None else "",
                field.side,
                slot.role if slot is not None else "container",
                basis=self._basis(field, to, values),
            )

    def _basis(self, field: ResourceField, to: str | None, values: Mapping[ResourceField, str | None]) -> Basis:
        """Return where a value comes from that the container does not state."""
        if to is None or written_value(self.pod, field) is not None:
            return ""
        other = structs.replace(field, side="requests" if field.side == "limits" else "limits")
        if written_value(self.pod, other) == to and other not in values:
            return "request" if other.side == "requests" else "limit"
        return "unknown" if to == STATED.get(field.resource) else ""


def _is_valid(trial: PodTrial) -> bool:
    return trial.valid


def _drop_targets(state: State, targets: Container[Any]) -> State:
    return {target: to for target, to in state.items() if target not in targets}


def _values_in(state: State) -> dict[ResourceField, str]:
    return {target: to for target, to in state.items() if isinstance(target, ResourceField)}


def _resize_claim(
    claim: PersistentVolumeClaim, templates: Mapping[str, PersistentVolumeClaim], state: State
) -> PersistentVolumeClaim:
    """Return the claim with the size that a state gives its template."""
    for path, template in templates.items():
        if path in state and claim.metadata.name.startswith(f"{template.metadata.name}-"):
            return with_storage(claim, state[path].to)
    return claim
