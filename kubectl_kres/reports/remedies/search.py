"""Remedies found by trying: edits are made on a copy, evaluated by the engine, and reduced to as few as are enough.

Each remedy is complete alone: more room in quotas for a valid template, a template within the existing room, or fewer
pods. One that does not bring all wanted pods is reported with the refusal that stays.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from msgspec import Struct, structs

from kubectl_kres.admission.base.draft import Draft, Unparsable, parse_list
from kubectl_kres.admission.base.outcome import Finding, Outcome, Server
from kubectl_kres.admission.limitrange import Limits, ParsedItem
from kubectl_kres.admission.quota.quota_admission import amounts
from kubectl_kres.admission.request.new_pod import Policies, admit
from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.model.quota_objects import PersistentVolumeClaim
from kubectl_kres.model.workload import Workload
from kubectl_kres.quantity import ZERO, Quantity, parse
from kubectl_kres.reports.common.analysis import Analysis
from kubectl_kres.reports.common.explanation import Subject, manifest_workload
from kubectl_kres.reports.common.parts import Admits, Basis, Edit, EditClaim, Remedy, Scale, SetBound, SetValue
from kubectl_kres.reports.remedies import words
from kubectl_kres.reports.remedies.candidates import Candidate, remedies_of
from kubectl_kres.reports.remedies.plans import needed_room, plan_of, plan_of_rival
from kubectl_kres.reports.remedies.pods import (
    TRIED,
    OwnedPods,
    findings_of,
    judge,
    workplace,
)
from kubectl_kres.reports.remedies.rivals import Rivals, rivals_of
from kubectl_kres.reports.remedies.room import RaisedHard, lower_values, raised_for, smallest_raise, worst_outcome
from kubectl_kres.reports.remedies.shape import ResourceField, passing_values, write, written_value
from kubectl_kres.reports.remedies.words import raises
from kubectl_kres.store.store import Store

#: Refusals for a class that does not exist, and the field of the policies that then counts as not read.
_OF_CLASSES = {"priority/unknown-class": "priorities", "runtime-class/unknown": "runtimes"}
_OF_CLAIMS = frozenset({"limitrange/min", "limitrange/max"})
_MOST_BOUNDS = 12


class TrialEdits(Struct, frozen=True):
    """One set of edits: values of the template, bounds of LimitRanges, sizes of claims, and the hard of quotas."""

    values: Mapping[ResourceField, str | None]
    policies: Policies
    place: OwnedPods
    need: RaisedHard
    bounds: tuple[SetBound, ...] = ()
    claims: tuple[EditClaim, ...] = ()
    scale: int | None = None


def remedies(store: Store, subject: Subject, analysis: Analysis, server: Server) -> tuple[Remedy, ...]:
    """Return the remedies with which all wanted pods come; none where they come by themselves, or where none was found.

    A refusal that neither values nor room remedy is in ``stays``; the remedies of the others are found all the same.
    """
    if analysis.made is not None:
        return ()
    lacks_class = _without_class(analysis)
    # Computed before a class that is missing is taken to exist.
    remaining = list(_remaining(analysis, lacks_class))
    analysis = _with_classes(analysis, lacks_class)
    try:
        place = workplace(store, subject, analysis, server)
        if place is None:
            return ()
        beside = Rivals() if analysis.start.live is not None else rivals_of(store, subject, analysis.known, server)
        place = structs.replace(place, rivals=beside.counted)
        search = _PodSearch(store, subject, analysis, server, place)
        remedies = tuple(remedies_of(store, subject, search.candidates()))
    except Unparsable:
        return ()
    if beside.unknown:
        remedies = tuple(_mark_contested(remedy, beside.unknown) for remedy in remedies)
    others = dict.fromkeys(finding.text for outcome in remaining for finding in findings_of(outcome))
    if not others:
        return remedies
    have = sum(existing.pods for existing in place.existing if existing.newest)
    stays = "; ".join(others)
    return tuple(
        structs.replace(
            remedy, admits=Admits(have, remedy.admits.of), stays="; ".join(filter(None, (remedy.stays, stays)))
        )
        for remedy in remedies
        if remedy.admits is not None
    )


def remaining_outcomes(analysis: Analysis) -> tuple[Outcome, ...]:
    """Return the refusals for which no edit is found; also of pods that come once their template is valid."""
    return tuple(_remaining(analysis, _without_class(analysis)))


def _remaining(analysis: Analysis, lacks_class: Sequence[Outcome]) -> Iterator[Outcome]:
    known = dict.fromkeys(finding.text for outcome in analysis.outcomes for finding in findings_of(outcome))
    pods = (it for it in lacks_class if not known.keys() >= {finding.text for finding in findings_of(it)})
    for outcome in (*analysis.outcomes, *analysis.then, *pods):
        others = tuple(it for it in findings_of(outcome) if it.rule not in TRIED)
        if others and outcome.refusal is not None:
            yield structs.replace(outcome, refusal=structs.replace(outcome.refusal, findings=others))


def _without_class(analysis: Analysis) -> tuple[Outcome, ...]:
    """Return the refusals of the pod for a class that does not exist, behind which nothing else of it is looked at."""
    try:
        outcomes = admit(analysis.start.pod, analysis.known.policies, analysis.server, journal=False)
    except Unparsable:
        return ()
    return tuple(it for it in outcomes if any(finding.rule in _OF_CLASSES for finding in findings_of(it)))


def _with_classes(analysis: Analysis, lacks_class: Sequence[Outcome]) -> Analysis:
    """Return the analysis where a missing class that the pod names is taken to exist, so that all else is tried."""
    refusals = (finding for outcome in lacks_class for finding in findings_of(outcome))
    fields = {_OF_CLASSES[finding.rule] for finding in refusals if finding.rule in _OF_CLASSES}
    if not fields:
        return analysis
    policies = structs.replace(analysis.known.policies, **dict.fromkeys(fields))
    return structs.replace(analysis, known=structs.replace(analysis.known, policies=policies))


def _mark_shared(remedy: Remedy, refs: tuple[ObjectRef, ...]) -> Remedy:
    return structs.replace(remedy, text=f"{remedy.text}{words.shared_room_text(refs)}", shared=refs) if refs else remedy


def _mark_contested(remedy: Remedy, refs: tuple[ObjectRef, ...]) -> Remedy:
    stays = "; ".join(filter(None, (remedy.stays, words.contested_room_text(refs))))
    return structs.replace(remedy, stays=stays, contested=refs)


class _PodSearch:
    def __init__(self, store: Store, subject: Subject, analysis: Analysis, server: Server, place: OwnedPods) -> None:
        self.store, self.subject, self.analysis, self.server, self.place = store, subject, analysis, server, place
        self.pod, self.policies = analysis.start.pod, analysis.known.policies
        self.counted = analysis.start.live is not None and not place.lacking

    def candidates(self) -> Iterator[Candidate]:
        """Yield the sets of edits that bring all wanted pods, those that raise quotas first."""
        if self._has_all_pods():
            return
        for trial in self._trials():
            edits = tuple(self._edits(trial))
            if not edits:
                return
            finish = partial(self._with_sharing, trial)
            yield Candidate(edits, trial.place.wanted, trial.need.rest.updated, finish)
        if not self.counted:
            yield from self._freeing_remedies()

    def _with_sharing(self, trial: TrialEdits, remedy: Remedy) -> Remedy:
        return _mark_shared(remedy, self._who_shares(trial))

    def _freeing_remedies(self) -> Iterator[Candidate]:
        """Yield edits that raise no quota, for the template as it is."""
        evaluated = judge(self.pod, self.policies, self.server)
        if evaluated.faults:
            return
        short = tuple(smallest_raise(self.place, self.pod, evaluated, self.policies, self.server).hard)
        if not any(name.startswith("count/") for _, name in short):
            return
        from kubectl_kres.reports.remedies.freeing import freeing_edits

        args = (self.place, self.pod, evaluated, self.policies, self.server)
        for edits in freeing_edits(self.store, self.subject, *args, short):
            yield Candidate(edits, self.place.wanted)

    def _who_shares(self, trial: TrialEdits) -> tuple[ObjectRef, ...]:
        """Return the rivals that the room is shared with, so that more is made than without them."""
        place = structs.replace(trial.place, rivals=())
        alone = self._build_trial(trial.values, trial.policies, place, trial.bounds, trial.claims).need.hard
        more = {key for key, amount in trial.need.hard.items() if amount != alone.get(key)}
        plans = (
            {rival.ref: plan_of_rival(rival, trial.policies, self.server) for rival in trial.place.rivals}
            if more
            else {}
        )
        return tuple(ref for ref, plan in plans.items() if not more.isdisjoint(needed_room(plan)))

    def _has_all_pods(self) -> bool:
        """Return whether all wanted pods exist, or come without a change; for an existing pod: whether it would be
        admitted.
        """
        evaluated = judge(self.pod, self.policies, self.server)
        if self.counted:
            return not evaluated.faults
        if any(True for _, claim in self._templates() for _ in self._of_claim(claim, self.policies)):
            return False
        plan, used = plan_of(self.place, self.pod, evaluated, self.policies, self.server)
        return worst_outcome(plan, used, amounts(self.policies.quotas)[1]).complete

    def _trials(self) -> Iterator[TrialEdits]:
        """Yield every set of edits, those that raise quotas first."""
        shapes = [*self._template_trials()]
        fits = [trial for trial in shapes if trial.need.complete]
        yield from fits
        for trial in fits:
            if trial.need.hard and not self.counted:
                yield from self._lower_values(trial)
        for trial in fits:
            if trial.need.hard and not self.counted:
                yield from self._lower_replicas(trial)

    def _template_trials(self) -> Iterator[TrialEdits]:
        """Yield the changes to template, claims and LimitRanges that are needed whatever room quotas have."""
        result = []
        for place, policies, bounds, claims in self._claims():
            for way in ("lower", "raise"):
                values, evaluated = passing_values(self.pod, policies, self.server, way)
                if not evaluated.faults:
                    result.append(self._build_trial(values, policies, place, bounds, claims))
            if not result:
                widened, more = self._widen_limit_ranges(policies)
                if more:
                    values, evaluated = passing_values(self.pod, widened, self.server, "lower")
                    if not evaluated.faults:
                        result.append(self._build_trial(values, widened, place, (*bounds, *more), claims))
        yield from result

    def _build_trial(
        self,
        values: Mapping[ResourceField, str | None],
        policies: Policies,
        place: OwnedPods,
        bounds: tuple[SetBound, ...],
        claims: tuple[EditClaim, ...],
    ) -> TrialEdits:
        pod = write(self.pod, values)
        evaluated = judge(pod, policies, self.server)
        if self.counted:
            plan, used = plan_of(place, pod, evaluated, policies, self.server)
            need = raised_for(plan, used, {})
        else:
            need = smallest_raise(place, pod, evaluated, policies, self.server)
        return TrialEdits(values, policies, place, need, bounds, claims)

    def _lower_values(self, trial: TrialEdits) -> Iterator[TrialEdits]:
        values = lower_values(trial.place, self.pod, trial.values, trial.policies, self.server)
        if values is None or values == trial.values:
            return
        trial_edits = self._build_trial(values, trial.policies, trial.place, trial.bounds, trial.claims)
        if trial_edits.need.complete and not trial_edits.need.hard:
            yield trial_edits

    def _lower_replicas(self, trial: TrialEdits) -> Iterator[TrialEdits]:
        """Yield as many pods as there is room for, where a field has their number and no rollout is under way."""
        place = trial.place
        count = trial.need.rest.updated
        others = [existing for existing in place.existing if not existing.newest and (existing.pods or existing.wanted)]
        if self._replicas_field() is None or others or trial.values or not 0 < count < place.wanted:
            return
        replicas = structs.replace(place.replicas, wanted=count) if place.replicas is not None else None
        existing = tuple(structs.replace(existing, wanted=min(existing.wanted, count)) for existing in place.existing)
        fewer = structs.replace(place, wanted=count, replicas=replicas, existing=existing)
        trial_edits = self._build_trial(trial.values, trial.policies, fewer, trial.bounds, trial.claims)
        if trial_edits.need.complete and not trial_edits.need.hard:
            yield structs.replace(trial_edits, scale=count)

    def _replicas_field(self) -> str | None:
        """Return the field with the number of pods; None for an object whose number is not lowered here."""
        fields = {"Job": "spec.parallelism", "CronJob": "spec.jobTemplate.spec.parallelism"}
        if self.subject.ref.kind in {"Deployment", "StatefulSet", "ReplicaSet", "ReplicationController"}:
            return "spec.replicas"
        return fields.get(self.subject.ref.kind)

    def _claims(self) -> Iterator[tuple[OwnedPods, Policies, tuple[SetBound, ...], tuple[EditClaim, ...]]]:
        """Yield the claims unchanged, where LimitRanges admit them; else other bounds for them, and other claims."""
        templates = self._templates()
        refused = [(path, finding) for path, claim in templates for finding in self._of_claim(claim, self.policies)]
        if not refused:
            yield self.place, self.policies, (), ()
            return
        policies = self.policies
        bounds: list[SetBound] = []
        for _, finding in refused:
            changed = self._move_bound(policies, finding)
            if changed is not None:
                policies, edit = changed
                bounds = [
                    *(bound for bound in bounds if bound.field != edit.field or bound.object != edit.object),
                    edit,
                ]
        yield self.place, policies, tuple(bounds), ()
        edits = []
        sizes: dict[str, str] = {}
        for path, claim in templates:
            findings = [finding for where, finding in refused if where == path]
            if findings:
                to = self._size(claim, findings)
                if to is None:
                    return
                sizes[claim.metadata.name] = str(to)
                edits.append(self._edit_claim(path, claim, str(to)))
        claims = tuple(
            tuple(_resize_claim(persistent_volume_claim, sizes) for persistent_volume_claim in of_pod)
            for of_pod in self.place.claims
        )
        yield structs.replace(self.place, claims=claims), self.policies, (), tuple(edits)

    def _templates(self) -> Sequence[tuple[str, PersistentVolumeClaim]]:
        owner = self._workload()
        persistent_volume_claims = (
            owner.spec.volume_claim_templates if owner is not None and self.place.claims else None
        )
        return [
            (f"spec.volumeClaimTemplates[{index}]", persistent_volume_claim)
            for index, persistent_volume_claim in enumerate(persistent_volume_claims or ())
        ]

    def _workload(self) -> Workload | None:
        return self.analysis.start.owner or manifest_workload(self.subject)

    def _of_claim(self, claim: PersistentVolumeClaim, policies: Policies) -> Iterator[Finding]:
        from kubectl_kres.admission.request.volume_claims import admit_claim, with_default_class

        for outcome in admit_claim(with_default_class(claim, policies), policies, self.server):
            for finding in outcome.refusal.findings if outcome.refusal is not None else ():
                if finding.rule in _OF_CLAIMS:
                    yield finding

    def _size(self, claim: PersistentVolumeClaim, findings: Sequence[Finding]) -> Quantity | None:
        """Return a size within every LimitRange; None: there is none."""
        bounds = [
            item for limit in self.policies.limits for item in limit.items if item.type == "PersistentVolumeClaim"
        ]
        low = max((item.min["storage"] for item in bounds if "storage" in item.min), default=ZERO)
        high = min((item.max["storage"] for item in bounds if "storage" in item.max), default=None)
        if high is not None and low > high:
            return None
        resources = claim.spec.resources
        asked = parse_list(resources.requests if resources else None, "spec.resources.requests").get("storage", ZERO)
        return low if asked < low else high if findings and high is not None and asked > high else asked

    def _edit_claim(self, path: str, claim: PersistentVolumeClaim, to: str) -> EditClaim:
        resources = claim.spec.resources
        before = ((resources.requests if resources else None) or {}).get("storage")
        field = f"{path}.spec.resources.requests[storage]"
        return EditClaim(self.subject.ref, field, "storage", to, None if before is None else str(before))

    def _widen_limit_ranges(self, policies: Policies) -> tuple[Policies, tuple[SetBound, ...]]:
        """Return LimitRanges that admit the template, where no other values do."""
        edits: dict[tuple[ObjectRef, str], SetBound] = {}
        for _ in range(_MOST_BOUNDS):
            _, evaluated = passing_values(self.pod, policies, self.server, "lower")
            findings = [
                finding
                for outcome in evaluated.faults
                for finding in (outcome.refusal.findings if outcome.refusal is not None else ())
                if finding.rule in {"limitrange/min", "limitrange/max", "limitrange/ratio"}
            ]
            changed = next(
                (it for finding in findings if (it := self._move_bound(policies, finding)) is not None), None
            )
            if not evaluated.faults or changed is None:
                break
            policies, edit = changed
            before = edits.get((edit.object, edit.field))
            edits[edit.object, edit.field] = structs.replace(edit, from_=before.from_) if before is not None else edit
        return policies, tuple(edits.values())

    def _move_bound(self, policies: Policies, finding: Finding) -> tuple[Policies, SetBound] | None:
        """Return the refusing bound, moved to the requested value; None where no such bound refuses."""
        source = finding.source
        if source is None or source.kind != "LimitRange" or not finding.asked:
            return None
        ranges, edit = [], None
        for limit in policies.limits:
            items = []
            for item in limit.items:
                bound = (
                    _find_bound_field(item, finding.resource, source.field) if limit.source.name == source.name else ""
                )
                if bound:
                    ref = ObjectRef("LimitRange", source.name, self.subject.ref.namespace)
                    edit = SetBound(ref, source.field, finding.resource, finding.asked, finding.limit, bound, item.type)
                changed = _with_bound(item, bound, finding.resource, parse(finding.asked)) if bound else item
                items.append(changed)
            ranges.append(Limits(limit.source, tuple(items)))
        return (structs.replace(policies, limits=tuple(ranges)), edit) if edit is not None else None

    def _edits(self, trial: TrialEdits) -> Iterator[Edit]:
        yield from raises(self.policies, trial.need)
        yield from trial.bounds
        yield from trial.claims
        yield from self._values(trial.values)
        field = self._replicas_field()
        if trial.scale is not None and field is not None:
            yield Scale(self.subject.ref, field, trial.scale, self.place.wanted)

    def _values(self, values: Mapping[ResourceField, str | None]) -> Iterator[SetValue]:
        start = self.analysis.start
        draft: Draft | None = self.analysis.outcomes[0].draft
        slots = {slot.path: slot for slot in draft.slots()} if draft is not None else {}
        order = {path: at for at, path in enumerate(slots)}
        for place, to in sorted(
            values.items(), key=lambda it: (order.get(it[0].holder, 99), it[0].resource, it[0].side)
        ):
            slot = slots.get(place.holder)
            yield SetValue(
                start.source.ref if self.counted else self.subject.ref,
                f"{start.prefix}{place.path}",
                place.resource,
                to,
                written_value(self.pod, place),
                slot.name if slot is not None else "",
                place.side,
                slot.role if slot is not None else "container",
                basis=self._basis(place, to, values),
            )

    def _basis(self, place: ResourceField, to: str | None, values: Mapping[ResourceField, str | None]) -> Basis:
        """Return the origin of a value that the container does not state."""
        if to is None or written_value(self.pod, place) is not None:
            return ""
        from kubectl_kres.reports.remedies.resource_values import STATED

        other = place._replace(side="requests" if place.side == "limits" else "limits")
        if written_value(self.pod, other) == to and other not in values:
            return "request" if other.side == "requests" else "limit"
        return "unknown" if to == STATED.get(place.resource) else ""


def _find_bound_field(item: ParsedItem, resource: str, field: str) -> str:
    """Return whether the field of a LimitRange is min or max of the item; empty: neither."""
    return next((entry for entry in ("min", "max") if field == f"{item.path}.{entry}[{resource}]"), "")


def _with_bound(item: ParsedItem, bound: str, resource: str, value: Quantity) -> ParsedItem:
    twin = object.__new__(ParsedItem)
    for name in ParsedItem.__slots__:
        setattr(twin, name, getattr(item, name))
    if bound == "min":
        twin.min = {**item.min, resource: value}
    else:
        twin.max = {**item.max, resource: value}
    return twin


def _resize_claim(claim: PersistentVolumeClaim, sizes: Mapping[str, str]) -> PersistentVolumeClaim:
    for name, size in sizes.items():
        if claim.metadata.name.startswith(f"{name}-") and claim.spec.resources is not None:
            requests = {**(claim.spec.resources.requests or {}), "storage": size}
            resources = structs.replace(claim.spec.resources, requests=requests)
            return structs.replace(claim, spec=structs.replace(claim.spec, resources=resources))
    return claim
