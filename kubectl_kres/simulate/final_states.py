"""A state at rest in words: how far each workload got, what refuses its next object, and what the quotas hold."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from kubectl_kres.admission.base.outcome import Outcome
from kubectl_kres.admission.quota.quota_admission import count_request, evaluate
from kubectl_kres.admission.request.new_pod import ObjectReview, Policies
from kubectl_kres.model.ordinals import Names, merged_rows
from kubectl_kres.quantity import Quantity
from kubectl_kres.simulate import controllers
from kubectl_kres.simulate.controllers import sync_deployment
from kubectl_kres.simulate.moves import State
from kubectl_kres.simulate.replicas import count_pods, gaps
from kubectl_kres.simulate.requests import Requests, StepAnswer
from kubectl_kres.simulate.shapes import SUFFIX, Shape, shape_fields
from kubectl_kres.simulate.state import (
    DeploymentState,
    JobState,
    Key,
    ReplicaSetState,
    StatefulSetState,
    WorkloadState,
    World,
    count,
    count_outdated,
    count_updated_pods,
    count_wanted_pods,
    pods_of,
    ready,
    revision_of,
    shapes_of,
)
from kubectl_kres.simulate.tables import claim_raw


class RefusedObject(Struct, frozen=True):
    """The next object that a controller would create and the server refuses. ``answers``: any of them can come; more
    than one only where the order of quotas or LimitRanges decides.
    """

    kind: str
    name: str
    answers: tuple[StepAnswer, ...]
    owner: Key

    @property
    def messages(self) -> tuple[str, ...]:
        return tuple(answer.message for answer in self.answers)


class FinalReplicaSet(Struct, frozen=True):
    """A ReplicaSet of a Deployment at rest."""

    wanted: int
    pods: int


class FinalWorkload(Struct, frozen=True, omit_defaults=True):
    """A workload at rest. ``updated``: pods of its newest template. ``behind``: pods that its rollout is to replace.
    ``stored``: its pods as stored, with their number.

    newest, older: the ReplicaSets of a Deployment; newest None: it could not be made. at_once: of a Job the most pods
    that it can still have side by side, below ``wanted`` where fewer are left to complete.
    """

    kind: str
    name: str
    wanted: int
    pods: int
    ready: int
    updated: int | None = None
    behind: int = 0
    newest: FinalReplicaSet | None = None
    older: tuple[FinalReplicaSet, ...] = ()
    ordinals: tuple[range, ...] = ()
    updated_ordinals: tuple[range, ...] = ()
    succeeded: int = 0
    failed: int = 0
    at_once: int = 0
    conditions: tuple[str, ...] = ()
    stored: tuple[tuple[int, Mapping[str, Any]], ...] = ()
    refused: tuple[RefusedObject, ...] = ()

    @property
    def key(self) -> Key:
        return self.kind, self.name

    @property
    def names(self) -> tuple[str, ...]:
        """The names of a StatefulSet's pods, however many there are."""
        return tuple(f"{self.name}-{ordinal}" for row in self.ordinals for ordinal in row)

    @property
    def updated_names(self) -> tuple[str, ...]:
        """Those of its newest template."""
        return tuple(f"{self.name}-{ordinal}" for row in self.updated_ordinals for ordinal in row)


class FinalQuota(Struct, frozen=True):
    """``hard`` and ``used`` of a quota once its controller has counted."""

    name: str
    hard: Mapping[str, str]
    used: Mapping[str, str]


class FinalState(Struct, frozen=True):
    """One rest of a namespace. ``answers``: what the server said to each step, in order."""

    workloads: tuple[FinalWorkload, ...]
    quotas: tuple[FinalQuota, ...]
    claims: Names
    answers: tuple[StepAnswer, ...]


class StateReader:
    """Puts states of one simulation into words."""

    def __init__(self, requests: Requests) -> None:
        self.requests, self.tables = requests, requests.tables
        #: Workloads that lack nothing, by identity: they are the same in most states.
        self._complete_workloads: dict[int, tuple[WorkloadState, FinalWorkload]] = {}
        self._looks: dict[int, str] = {}

    def describe_final_state(self, state: State) -> FinalState:
        """Return the state, with the server's words to what is refused in it."""
        world = self.tables.worlds[state.world]
        policies = self.requests.policies(state)
        workloads = tuple(
            self._workload(key, workload, state, world, policies) for key, workload in sorted(state.workloads)
        )
        answers = tuple(self.requests.answers[number] for number in state.answers)
        workloads = tuple(sorted((*workloads, *self._bare_pod_states(world)), key=lambda workload: workload.key))
        return FinalState(workloads, tuple(self.quotas(state)), state.claims, answers)

    def workload(self, state: State, index: int) -> FinalWorkload:
        """Return one workload of a state, with the server's words to what is refused of it."""
        world, policies = self.tables.worlds[state.world], self.requests.policies(state)
        return self._workload(*state.workloads[index], state, world, policies)

    def quotas(self, state: State) -> Iterator[FinalQuota]:
        """Yield the quotas by name."""
        measures = self.tables.measures
        for quota in self.tables.worlds[state.world].quotas:
            hard: dict[str, str] = {}
            used: dict[str, str] = {}
            for resource, number in measures.numbers(quota):
                hard[resource] = str((quota.spec.hard or {})[resource])
                if measures.is_counted(number):
                    notation = measures.formats.get(number, "DecimalSI")
                    used[resource] = str(Quantity(state.used[number], notation))
            yield FinalQuota(quota.metadata.name, hard, used)

    def _workload(
        self, key: Key, workload: WorkloadState, state: State, world: World, policies: Policies
    ) -> FinalWorkload:
        known = self._complete_workloads.get(id(workload))
        if known is not None and known[1].key == key:
            return known[1]
        refused = tuple(self._list_refused(key, workload, state, world, policies))
        kind, name = key
        base = FinalWorkload(kind, name, count_wanted_pods(workload), pods_of(workload), 0, refused=refused)
        fields: dict[str, Any] = {"stored": tuple(self._list_stored_pods(workload))}
        match workload:
            case DeploymentState():
                fields |= _deployment(workload)
            case StatefulSetState():
                fields |= _stateful_set(workload)
            case JobState():
                fields |= _job(workload)
            case ReplicaSetState():
                fields["ready"] = ready(workload.pods)
        workload_end = replace(base, **fields)
        if _is_whole(workload) and not refused:
            self._complete_workloads[id(workload)] = workload, workload_end
        return workload_end

    def _bare_pod_states(self, world: World) -> Iterator[FinalWorkload]:
        """Pods that no controller made."""
        for raw in world.of_kind("Pod"):
            is_ready = int((raw.get("status") or {}).get("phase") == "Running")
            name, stored = str(raw["metadata"]["name"]), shape_fields(raw)
            yield FinalWorkload("Pod", name, 1, 1, is_ready, stored=((1, stored),))

    def _list_stored_pods(self, workload: WorkloadState) -> Iterator[tuple[int, Mapping[str, Any]]]:
        counts = list(shapes_of(workload))
        if len(counts) == 1:
            [(number, many)] = counts
            yield many, self.tables.shapes[number].stored
            return
        shapes: dict[str, tuple[int, Shape]] = {}
        for number, many in counts:
            shape = self.tables.shapes[number]
            key = self._looks.get(number)
            if key is None:
                key = self._looks[number] = repr(shape.stored)
            shapes[key] = (shapes[key][0] + many if key in shapes else many, shape)
        for many, shape in shapes.values():
            yield many, shape.stored

    def _list_refused(
        self, key: Key, workload: WorkloadState, state: State, world: World, policies: Policies
    ) -> Iterator[RefusedObject]:
        match workload:
            case DeploymentState():
                after = sync_deployment(workload, may_create=lambda: True)
                if after is not None and len(after.sets) > len(workload.sets):
                    review = self.tables.revision_review(key, workload.template, world)
                    yield from self.refused_revision(key, revision_of(workload), policies, review)
                for item in workload.sets:
                    if count(item.pods) < item.wanted:
                        yield from self._refused_pod(key, item.template, world, policies)
            case StatefulSetState():
                if self.tables.lacks_revision(workload):
                    review = self.tables.revision_review(key, workload.template, world)
                    yield from self.refused_revision(key, revision_of(workload), policies, review)
                else:
                    yield from self._refused_replica(key, workload, state, world, policies)
            case _:
                if count(workload.pods) < workload.wanted:
                    yield from self._refused_pod(key, workload.template, world, policies)

    def refused_revision(
        self, key: Key, revision: tuple[str, str], policies: Policies, review: ObjectReview
    ) -> Iterator[RefusedObject]:
        """Yield what refuses the ReplicaSet or ControllerRevision of a template, by its kind and resource; none:
        nothing.

        ``review``: what policies say of it, before any quota.
        """
        (kind, resource), name = revision, f"{key[1]}-*"
        if review.refusals:
            outcomes = tuple(Outcome(False, refusal.code, refusal) for refusal in review.refusals)
            yield RefusedObject(kind, name, _answers(outcomes), key)
            return
        verdict = evaluate(count_request(resource, name), policies.quotas, self.tables.server.limited_resources)
        answers = [
            StepAnswer(allowed=False, code=refusal.code, message=refusal.message, findings=refusal.findings)
            for refusal in verdict.refusals
        ]
        if answers:
            yield RefusedObject(kind, name, tuple(answers), key)

    def _refused_pod(
        self, key: Key, template: int, world: World, policies: Policies, name: str = ""
    ) -> Iterator[RefusedObject]:
        answers = _answers(self.tables.outcomes(template, world, policies, name))
        if answers:
            yield RefusedObject("Pod", name or f"{key[1]}-*", answers, key)
            return
        # The pod is taken; a claim without which it never starts is not.
        for kind, refusal in self.tables.refusals_of_objects(template, policies):
            answer = StepAnswer(allowed=False, code=refusal.code, message=refusal.message, findings=refusal.findings)
            yield RefusedObject(kind, name or f"{key[1]}-*", (answer,), key)
            return

    def _refused_replica(
        self, key: Key, workload: StatefulSetState, state: State, world: World, policies: Policies
    ) -> Iterator[RefusedObject]:
        absent = next(gaps(workload.pods, workload.ordinals), None)
        if absent is None:
            return
        ordinal, result = absent.start, False
        for claim, base in zip(workload.claims, workload.claim_bases, strict=True):
            name = f"{base}-{ordinal}"
            if name in state.claims:
                continue
            raw = claim_raw(world.objects[key], claim, name)
            answers = _answers(self.tables.claim_outcomes(raw, policies))
            if answers:
                result = True
                yield RefusedObject("PersistentVolumeClaim", name, answers, key)
        if not result:
            template = controllers.template_of(workload, ordinal)
            yield from self._refused_pod(key, template, world, policies, f"{key[1]}-{ordinal}")


def _is_whole(workload: WorkloadState) -> bool:
    """Return whether nothing that it wants is missing, so that nothing of it can be refused."""
    match workload:
        case DeploymentState():
            made = all(count(item.pods) >= item.wanted for item in workload.sets)
            return made and workload.newest is not None
        case StatefulSetState():
            return count_pods(workload.pods) >= workload.replicas and not controllers.missing_ordinals(workload)
    return count(workload.pods) >= workload.wanted


def _answers(outcomes: tuple[Outcome, ...]) -> tuple[StepAnswer, ...]:
    """Return the refusals among the outcomes, each text once."""
    step_answers: dict[str, StepAnswer] = {}
    for outcome in outcomes:
        if not outcome.allowed and outcome.refusal is not None:
            text = outcome.message.replace(f'{SUFFIX}"', '-*"', 1)
            step_answers.setdefault(
                text, StepAnswer(allowed=False, code=outcome.code, message=text, findings=outcome.refusal.findings)
            )
    return tuple(step_answers.values())


def _deployment(workload: DeploymentState) -> dict[str, Any]:
    new = workload.newest
    older = tuple(
        FinalReplicaSet(item.wanted, count(item.pods))
        for item in workload.sets
        if item is not new and (item.wanted or count(item.pods))
    )
    return {
        "ready": sum(ready(item.pods) for item in workload.sets),
        "updated": count_updated_pods(workload),
        "behind": count_outdated(workload),
        "newest": FinalReplicaSet(new.wanted, count(new.pods)) if new is not None else None,
        "older": older,
    }


def _stateful_set(workload: StatefulSetState) -> dict[str, Any]:
    updated = (replica for replica in workload.pods if replica.template == workload.template)
    return {
        "ready": count_pods(replica for replica in workload.pods if replica.ready),
        "updated": count_updated_pods(workload),
        "behind": count_outdated(workload),
        "ordinals": merged_rows(replica.ordinals for replica in workload.pods),
        "updated_ordinals": merged_rows(replica.ordinals for replica in updated),
    }


def _job(workload: JobState) -> dict[str, Any]:
    conditions: tuple[str, ...] = ()
    if workload.ended:
        conditions = ("Complete", "SuccessCriteriaMet") if workload.ended == "Complete" else ("Failed", "FailureTarget")
    elif workload.suspended:
        conditions = ("Suspended",)
    return {
        "ready": ready(workload.pods),
        "at_once": workload.at_once,
        "succeeded": workload.succeeded,
        "failed": workload.failed,
        "conditions": conditions,
    }
