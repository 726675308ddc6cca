"""The server's answers to each step of a change, and the namespace after it in the controllers' numbers."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from typing import Any

import msgspec

from kubectl_kres.admission.base.draft import parse_list
from kubectl_kres.admission.base.field_errors import number as value_error
from kubectl_kres.admission.base.outcome import Finding, Outcome, Refusal, invalid_object, join_messages
from kubectl_kres.admission.base.server import Server
from kubectl_kres.admission.decoding import strict_refusal, unknown_fields
from kubectl_kres.admission.quota.quota_admission import Quota, resource_of
from kubectl_kres.admission.request.create import create
from kubectl_kres.admission.request.new_pod import Policies
from kubectl_kres.admission.request.update import update
from kubectl_kres.errors import UsageError
from kubectl_kres.model.kinds import BY_KIND
from kubectl_kres.model.objects import Raw, ResourceQuota, decode_object, to_wire
from kubectl_kres.model.ordinals import Names
from kubectl_kres.model.pod_places import PodPart, is_followed, parts_of
from kubectl_kres.model.workload import fenceposts, resolve_count
from kubectl_kres.model.workload_kinds import SCALED
from kubectl_kres.policies.rules.objects import with_defaults
from kubectl_kres.provenance.journal import Source
from kubectl_kres.quantity import Quantity
from kubectl_kres.simulate import change
from kubectl_kres.simulate.moves import State, deletes_claims, without_claims
from kubectl_kres.simulate.plugins import POLICIES, after_changes, parameter_key, plugins_of, stored_parameter
from kubectl_kres.simulate.replicas import outside, within
from kubectl_kres.simulate.state import (
    CONTROLLED,
    HISTORY,
    DeploymentState,
    JobState,
    Key,
    ReplicaSetState,
    StatefulSetState,
    WorkloadState,
    World,
    revisions_of,
    shapes_of,
    template_raw,
    without_deleted,
)
from kubectl_kres.simulate.system import pod_writers
from kubectl_kres.simulate.tables import Tables


def _number(value: Any, default: int) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else default


def _map(raw: Any, *path: str) -> Mapping[str, Any]:
    for key in path:
        raw = raw.get(key) if isinstance(raw, Mapping) else None
    return raw if isinstance(raw, Mapping) else {}


def initial_state(raw: Raw, template: int, server: Server) -> WorkloadState:
    """Return a workload that was just created and has no pods."""
    kind, spec = str(raw.get("kind")), _map(raw, "spec")
    if kind == "StatefulSet":
        return _stateful_set(raw, spec, template, server)
    if kind == "Job":
        parallelism = _number(spec.get("parallelism"), 1)
        completions = spec.get("completions")
        if completions is None and "parallelism" not in spec:
            completions = 1
        return JobState(
            template, parallelism, completions, _number(spec.get("backoffLimit"), 6), bool(spec.get("suspend"))
        )
    replicas = _number(spec.get("replicas"), 1)
    if kind == "Deployment":
        surge, unavailable = _fenceposts(spec, replicas)
        recreate = _map(spec, "strategy").get("type") == "Recreate"
        history, paused = _number(spec.get("revisionHistoryLimit"), HISTORY), bool(spec.get("paused"))
        return DeploymentState(template, replicas, surge, unavailable, recreate, paused, history=history)
    return ReplicaSetState(template, replicas)


def _fenceposts(spec: Raw, replicas: int) -> tuple[int, int]:
    """Return surge and unavailability as numbers; of what the server refuses, one pod after the other."""
    strategy = _map(spec, "strategy")
    if strategy.get("type") == "Recreate":
        return 0, 0
    rolling = _map(strategy, "rollingUpdate")
    try:
        return fenceposts(rolling.get("maxSurge"), rolling.get("maxUnavailable"), replicas)
    except UsageError:
        return 0, 1


def _stateful_set(raw: Raw, spec: Raw, template: int, server: Server) -> StatefulSetState:
    strategy = _map(spec, "updateStrategy")
    rolling = _map(strategy, "rollingUpdate")
    claims = tuple(str(_map(claim, "metadata").get("name", "")) for claim in spec.get("volumeClaimTemplates") or ())
    replicas = _number(spec.get("replicas"), 1)
    return StatefulSetState(
        str(_map(raw, "metadata").get("name", "")),
        template,
        template,
        replicas,
        _number(_map(spec, "ordinals").get("start"), 0),
        spec.get("podManagementPolicy") == "Parallel",
        _number(rolling.get("partition"), 0),
        strategy.get("type") == "OnDelete",
        _at_once(rolling.get("maxUnavailable"), replicas) if server.is_enabled("MaxUnavailableStatefulSet") else None,
        claims,
        history=_number(spec.get("revisionHistoryLimit"), HISTORY),
    )


def _at_once(share: Any, replicas: int) -> int:
    """Return how many pods may be away at once. Source: stateful_set_utils.go getStatefulSetMaxUnavailable."""
    try:
        return 1 if share is None else max(1, resolve_count(share, replicas, up=False))
    except UsageError:
        return 1


def updated_state(state: WorkloadState, raw: Raw, template: int, server: Server) -> WorkloadState:
    """Return the workload after its object was updated: pods stay, what is wanted is new."""
    new = initial_state(raw, template, server)
    match new, state:
        case DeploymentState(), DeploymentState():
            return new._replace(sets=state.sets)
        case StatefulSetState(), StatefulSetState():
            return new._replace(current=state.current, pods=state.pods, revisions=state.revisions)
        case JobState(), JobState():
            new = new._replace(pods=state.pods, finished=state.finished, ended=state.ended)
            return new._replace(succeeded=state.succeeded, failed=state.failed)
        case ReplicaSetState(), ReplicaSetState():
            return new._replace(pods=state.pods)
    return new


def _ordinal_in_name(name: str, base: str, workload: StatefulSetState) -> int | None:
    """Return the ordinal of the pod whose name is ``base`` and its ordinal, or that of its claim; None: it has no such
    pod.
    """
    ordinals = Names.of((name,)).rows.get(base)
    return ordinals[0].start if ordinals and within(workload.pods, ordinals[0]) else None


#: Kinds whose update strategies the server fills in.
_DEFAULTED = frozenset({"Deployment", "StatefulSet"})
#: The code of a refusal for what an object is, and the rules that a part of it stays as it is.
_RANGE = "validation/non-negative"
_INVALID, _IMMUTABLE = 422, frozenset({"update/immutable", "claim/immutable"})


class StepAnswer(msgspec.Struct, frozen=True, omit_defaults=True):
    """The server's answer to one step. ``passes``: what a system did in each pass over pods that it may evict."""

    allowed: bool
    code: int
    message: str = ""
    warnings: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()
    passes: tuple[Any, ...] = ()


class Requests:
    """Sends steps to the API server of one simulation."""

    def __init__(self, tables: Tables) -> None:
        self.tables = tables
        #: Whether pods that are created now get ready.
        self.ready = True
        self.answers: list[StepAnswer] = []
        self._numbers: dict[StepAnswer, int] = {}
        self._worlds: dict[tuple[int, int], int] = {}

    def begin(self, *, ready: bool) -> None:
        """Before other steps are sent: worlds are known by the place of the step that leads to them. ``ready``: whether
        pods that are created get ready.
        """
        self.ready = ready
        self._worlds.clear()

    def policies(self, state: State) -> Policies:
        """Return what admission looks up now: quotas with what is used of them."""
        world, measures = self.tables.worlds[state.world], self.tables.measures
        quotas = []
        for quota in world.quotas:
            hard: dict[str, Quantity] = {}
            used: dict[str, Quantity] = {}
            written = self._hard(quota)
            for resource, number in measures.numbers(quota):
                limit = state.limits[number]
                if limit is not None:
                    hard[resource] = written[resource] if written[resource].nano == limit else Quantity(limit)
                    notation = measures.formats.get(number, hard[resource].format)
                    used[resource] = Quantity(state.used[number], notation)
            name = quota.metadata.name
            source = Source("ResourceQuota", name, quota.metadata.namespace)
            scopes = measures.items[next(measures.numbers(quota))[1]].scopes if quota.spec.hard else ()
            quotas.append(Quota(name, source, scopes, hard, used))
        return msgspec.structs.replace(self.tables.policies(world), quotas=tuple(quotas))

    def _hard(self, quota: ResourceQuota) -> Mapping[str, Quantity]:
        return parse_list(quota.spec.hard, "spec.hard")

    def apply_step(self, state: State, step: change.Step) -> Iterator[State]:
        """Yield the namespace after each answer that the server can give to a step."""
        if isinstance(step, change.ParameterStep):
            yield from self._parameter(state, step)
            return
        world = self.tables.worlds[state.world]
        if isinstance(step, change.Apply):
            step = _set_generated_name(step, state.step)
        key = change.key_of_step(step)
        stored = world.objects.get(key)
        done = self._done(state, step, key, stored)
        if done is not None:
            yield done
            return
        answer = _unscalable(step) if isinstance(step, change.ScaleStep) else None
        if answer is not None:
            yield self._add_answer(state, answer)
            return
        raw, unknown = change.apply_step(step, stored), _unknown(step)
        if unknown and isinstance(step, change.Apply):
            refusal = strict_refusal(step.object, key[0], unknown)
            answer = StepAnswer(allowed=False, code=400, message=refusal.message, findings=refusal.findings)
            yield self._add_answer(state, answer)
            return
        policies = self.policies(state)
        outcomes = self._outcomes(world, raw, stored, policies, is_patch=not isinstance(step, change.Apply))
        seen: set[StepAnswer] = set()
        for outcome in outcomes:
            answer = _answer(outcome, unknown)
            if answer in seen:
                continue
            seen.add(answer)
            if outcome.allowed:
                yield self._store_object(state, step, stored, raw, outcome, answer)
            else:
                yield self._add_answer(state, answer)

    def _parameter(self, state: State, step: change.ParameterStep) -> Iterator[State]:
        """As any other object; nothing of one in another namespace is counted or refused here."""
        world, key = self.tables.worlds[state.world], parameter_key(step)
        stored, inner = stored_parameter(step, after_changes(self.tables.look, world.parameters)), step.step
        if stored is None and not isinstance(inner, change.Apply):
            yield self._add_answer(state, self._build_not_found_answer(change.key_of_step(inner)))
            return
        raw = (
            None
            if isinstance(inner, change.Delete)
            else {**change.apply_step(inner, stored), "apiVersion": step.api_version}
        )
        outcomes: tuple[Outcome, ...] = (Outcome(allowed=True, code=200),)
        if raw is not None:
            raw["metadata"] = {**raw["metadata"], **({"namespace": step.namespace} if step.namespace else {})}
            outcomes = self._outcomes(world, raw, stored, self.policies(state)) if step.in_namespace else outcomes
        for answer in dict.fromkeys(_answer(outcome, ()) for outcome in outcomes):
            next_state = self._add_answer(state, answer)
            if answer.allowed:
                next_state = next_state._replace(
                    world=self._find_world_number(state, lambda: world.with_parameter(key, raw))
                )
                for item, times in ((stored, -1), (raw, 1)) if step.in_namespace else ():
                    next_state = (
                        next_state.with_charge(self._cost(item, world), times) if item is not None else next_state
                    )
            yield next_state

    def _done(self, state: State, step: change.Step, key: Key, stored: Raw | None) -> State | None:
        """Return the namespace after a step that changes no object, or is about none; None: it is another step."""
        if isinstance(step, change.Delete):
            return self._delete_object(state, key, stored)
        if stored is None:
            return (
                None if isinstance(step, change.Apply) else self._add_answer(state, self._build_not_found_answer(key))
            )
        return self._evicted(state, stored) if isinstance(step, change.Evict) else None

    def _evicted(self, state: State, raw: Raw) -> State:
        evict = pod_writers()[str(raw["kind"])].evict
        assert evict is not None
        after, done = evict(self.tables, self.policies, state, raw)
        return self._add_answer(after, StepAnswer(allowed=True, code=200, passes=(done,)))

    def _outcomes(
        self, world: World, raw: dict[str, Any], stored: Raw | None, policies: Policies, *, is_patch: bool = False
    ) -> tuple[Outcome, ...]:
        """``is_patch``: the rest of the object is as it is stored."""
        kind, server = raw.get("kind"), self.tables.server
        if kind == "Namespace":  # it was answered before: see namespaces.step_namespace
            return (Outcome(allowed=True, code=200),)
        if kind in POLICIES:
            result = plugins_of(world, server, self.tables.gaps, self.tables.look).policy(
                raw, policies, exists=stored is not None
            )
            return tuple(result)
        if kind == "Pod" and stored is None and (missing := self.tables.missing_account(raw, world)) is not None:
            return (missing,)
        plugins = self.tables.plugins(world)
        if plugins is not None and kind == "Pod" and stored is None:
            return plugins.pod(raw, policies, whole=True)
        outcomes = create(raw, policies, server) if stored is None else update(stored, raw, policies, server)
        if stored is not None and any(outcome.code == _INVALID for outcome in outcomes):
            texts = self._faults_of_reading(stored, raw, outcomes, policies, is_patch=is_patch)
            outcomes = tuple(_drop_faults(outcome, texts) for outcome in outcomes)
        if plugins is None:
            return tuple(outcomes)
        return tuple(item for outcome in outcomes for item in plugins.object(raw, stored, policies, outcome))

    def _faults_of_reading(
        self, stored: Raw, raw: dict[str, Any], outcomes: Iterable[Outcome], policies: Policies, *, is_patch: bool
    ) -> set[str]:
        """Return the faults that are none of a step: what was read of the object is not all of it.

        Of a patch those that the object has without it; of a file that a part is not what it was, where that is so in
        nothing that was read.
        """
        server = self.tables.server
        if is_patch:
            before = dict(stored)
            own_outcomes = (*update(stored, before, policies, server), *create(before, policies, server))
            return {finding.text for finding in _findings(own_outcomes)}
        alike = {finding.path for finding in _findings(update(stored, _as_read(raw), policies, server))}
        faults = (finding for finding in _findings(outcomes) if finding.rule in _IMMUTABLE)
        return {finding.text for finding in faults if finding.path not in alike}

    def _add_answer(self, state: State, answer: StepAnswer) -> State:
        if answer not in self._numbers:
            self._numbers[answer] = len(self.answers)
            self.answers.append(answer)
        return state._replace(answers=(*state.answers, self._numbers[answer]), step=state.step + 1)

    def _build_not_found_answer(self, key: Key) -> StepAnswer:
        resource = resource_of(key[0], "v1")
        return StepAnswer(allowed=False, code=404, message=f'{resource} "{key[1]}" not found')

    def _find_world_number(self, state: State, after: Callable[[], World]) -> int:
        """Return the number of the world after a step that is allowed."""
        key = (state.world, state.step)
        if key not in self._worlds:
            self._worlds[key] = self.tables.world(after())
        return self._worlds[key]

    def _store_object(
        self,
        state: State,
        step: change.Step,
        stored: Raw | None,
        raw: dict[str, Any],
        outcome: Outcome,
        answer: StepAnswer,
    ) -> State:
        world, key = self.tables.worlds[state.world], change.key_of_step(step)
        if key[0] == "Pod":
            raw = self._stored_pod(raw, outcome)
        elif key[0] in _DEFAULTED and isinstance(step, change.Apply):
            raw = _with_defaults(raw)
        parts = [_build_part_object(key, part) for part in parts_of(raw) or ()]
        followed = is_followed(raw)
        number = self._find_world_number(state, lambda: _add_objects(world, step, raw, () if followed else parts))
        after, next_state = self.tables.worlds[number], self._add_answer(state, answer)._replace(world=number)
        if stored is not None:
            next_state = next_state.with_charge(self._cost(stored, world), -1)
        next_state = next_state.with_charge(self._cost(raw, after))
        if key[0] == "PersistentVolumeClaim":
            return next_state._replace(claims=next_state.claims.with_name(key[1]))
        if key[0] in CONTROLLED:
            return self._control_workload(next_state, key, raw, whole=key in after.complete)
        for part in parts if followed else ():
            next_state = self._control_workload(next_state, (key[0], part["metadata"]["name"]), part, whole=True)
        return next_state

    def _cost(self, raw: Raw, world: World) -> Any:
        return self.tables.object_cost(raw, world)

    def _stored_pod(self, raw: Raw, outcome: Outcome) -> dict[str, Any]:
        """Return a pod that no controller made, as it is once it runs."""
        stored = outcome.object or {}
        spec = {**(raw.get("spec") or {}), **(stored.get("spec") or {})}
        phase = "Running" if self.ready else "Pending"
        status = {**(raw.get("status") or {}), "phase": phase, **(stored.get("status") or {})}
        return {**raw, "spec": spec, "status": status}

    def _control_workload(self, state: State, key: Key, raw: Raw, *, whole: bool) -> State:
        template = self.tables.template_of(raw, whole=whole)
        index = state.workloads.index_of(key)
        if index is None:
            return state._replace(
                workloads=state.workloads.with_new(key, initial_state(raw, template, self.tables.server))
            )
        return state.with_entry(index, updated_state(state.workloads[index][1], raw, template, self.tables.server))

    def _delete_object(self, state: State, key: Key, stored: Raw | None) -> State:
        world = self.tables.worlds[state.world]
        if stored is None:
            next_state = self._replica(state, key) or self._delete_made_object(state, key)
            return next_state if next_state is not None else self._add_answer(state, self._build_not_found_answer(key))
        used_by_pod = key[0] == "PersistentVolumeClaim" and any(
            _ordinal_in_name(key[1], base, workload) is not None
            for _, workload in state.workloads
            if isinstance(workload, StatefulSetState)
            for base in workload.claim_bases
        )
        answer = StepAnswer(allowed=True, code=200)
        if used_by_pod:
            return self._add_answer(state, answer)
        number = self._find_world_number(state, lambda: world.without_entry(key))
        then = self._add_answer(state, answer)._replace(world=number)
        then = then.with_charge(self._cost(stored, world), -1)
        if key[0] == "PersistentVolumeClaim":
            return then._replace(claims=then.claims.without_name(key[1]))
        index = state.workloads.index_of(key)
        if index is None:
            return then
        workload = state.workloads[index][1]
        then = self._free_workload(then, workload)
        if isinstance(workload, StatefulSetState) and deletes_claims(stored, "whenDeleted"):
            rows = [replica.ordinals for replica in workload.pods]
            then = without_claims(then, self.tables, stored, workload, rows)
        return then._replace(workloads=state.workloads.without_index(index))

    def _free_workload(self, state: State, workload: WorkloadState, times: int = 1) -> State:
        """Without what the objects of a workload cost; with -1 times the same is charged."""
        for shape, number in shapes_of(workload):
            state = state.with_charge(self.tables.shapes[shape].cost, -number * times)
        for shape, _, number in getattr(workload, "finished", ()):
            state = state.with_charge(self.tables.finished_cost(shape), -number * times)
        return state.with_charge(self.tables.revision_cost(workload), -revisions_of(workload) * times)

    def _replica(self, state: State, key: Key) -> State | None:
        """Return the state without a deleted pod of a StatefulSet, which has a name of its own; None: it is not such a
        pod.
        """
        if key[0] != "Pod":
            return None
        for index, (_, workload) in enumerate(state.workloads):
            if isinstance(workload, StatefulSetState):
                ordinal = _ordinal_in_name(key[1], workload.name, workload)
                if ordinal is not None:
                    only = range(ordinal, ordinal + 1)
                    (replica,) = within(workload.pods, only)
                    next_state = state.with_entry(index, workload._replace(pods=outside(workload.pods, only)))
                    next_state = next_state.with_charge(self.tables.shapes[replica.shape].cost, -1)
                    return self._add_answer(next_state, StepAnswer(allowed=True, code=200))
        return None

    def _delete_made_object(self, state: State, key: Key) -> State | None:
        """Return a pod or a ReplicaSet that a controller made is deleted."""
        maker = self.tables.made.get(key)
        if maker is None:
            return None
        if maker.alone is not None:
            return self._add_answer(state.with_charge(maker.alone, -1), StepAnswer(allowed=True, code=200))
        for index, (other, workload) in enumerate(state.workloads):
            if other == maker.workload:
                left = without_deleted(workload, maker)
                next_state = self._free_workload(state, workload).with_entry(index, left)
                return self._add_answer(self._free_workload(next_state, left, -1), StepAnswer(allowed=True, code=200))
        return None


def _add_objects(world: World, step: change.Step, raw: Raw, parts: Iterable[Raw]) -> World:
    """Return the world with an object; of ``parts`` nothing but the next pod is evaluated."""
    after = world.with_entry(raw, whole=isinstance(step, change.Apply))
    for part in parts:
        after = after.with_entry(part, whole=True)
    return after


def _findings(outcomes: Iterable[Outcome]) -> Iterator[Finding]:
    for outcome in outcomes:
        yield from outcome.refusal.findings if outcome.refusal is not None else ()


def _as_read(raw: Raw) -> dict[str, Any]:
    """As much of an object as is kept of one that is read."""
    kind = BY_KIND.get(str(raw.get("kind")))
    if kind is None:
        return dict(raw)
    return {**to_wire(decode_object(raw, kind.struct)), "kind": kind.kind, "apiVersion": kind.api_version}


def _unscalable(step: change.ScaleStep) -> StepAnswer | None:
    """Return why the server does not scale; None: it does. The object that it names is the subresource.

    Source: autoscaling validation.go ValidateScale.
    """
    if step.kind not in SCALED:
        return StepAnswer(allowed=False, code=404, message="the server could not find the requested resource")
    if step.replicas >= 0:
        return None
    detail = "must be greater than or equal to 0"
    refusal = invalid_object("Scale", step.name, [value_error("spec.replicas", step.replicas, detail, _RANGE)])
    message = refusal.message.replace("Scale ", "Scale.autoscaling ", 1)
    return StepAnswer(allowed=False, code=refusal.code, message=message, findings=refusal.findings)


def _drop_faults(outcome: Outcome, texts: Container[str]) -> Outcome:
    """Return the outcome without some of its faults; of one that has no other the request is admitted."""
    refusal = outcome.refusal
    if refusal is None or outcome.code != _INVALID:
        return outcome
    findings = tuple(finding for finding in refusal.findings if finding.text not in texts)
    if not findings:
        return Outcome(allowed=True, code=200, warnings=outcome.warnings)
    head = refusal.message.partition(" is invalid: ")[0]
    message = f"{head} is invalid: {join_messages(finding.text for finding in findings)}"
    return msgspec.structs.replace(
        outcome, refusal=msgspec.structs.replace(refusal, message=message, findings=findings)
    )


def _with_defaults(raw: dict[str, Any]) -> dict[str, Any]:
    """Return a workload as the server stores it around its template: a patch of a later step meets what it
    filled in.
    """
    spec = with_defaults(raw)["spec"]
    return {**raw, "spec": {**spec, "template": template} if (template := template_raw(raw)) else spec}


def _build_part_object(key: Key, part: PodPart) -> dict[str, Any]:
    """Return a part of an object as if it were alone."""
    spec = {"replicas": part.count, "template": part.template}
    return {"kind": key[0], "metadata": {"name": part.called(key[1])}, "spec": spec}


def _set_generated_name(step: change.Apply, number: int) -> change.Apply:
    """With the name that the server gives where the object has only its beginning: another one in each step."""
    metadata = step.object.get("metadata") or {}
    if metadata.get("name") or not metadata.get("generateName"):
        return step
    named = {**metadata, "name": f"{metadata['generateName']}{number:x>5}"}
    return msgspec.structs.replace(step, object={**step.object, "metadata": named})


def _unknown(step: change.Step) -> tuple[str, ...]:
    """Return the server's words to fields that it does not know: kubectl apply has them refused, a patch goes without
    them.
    """
    if isinstance(step, change.Patch):
        return unknown_fields(step.patch, step.kind)
    return (
        unknown_fields(step.object, change.key_of_step(step)[0]) if isinstance(step, change.Apply) and step.kept else ()
    )


def _answer(outcome: Outcome, unknown: tuple[str, ...]) -> StepAnswer:
    refusal: Refusal | None = outcome.refusal
    findings = refusal.findings if refusal else ()
    warnings = tuple(dict.fromkeys((*outcome.warnings, *unknown)))
    return StepAnswer(outcome.allowed, outcome.code, outcome.message, warnings, findings)
