"""A change of a whole cluster: each step is simulated in its namespace; steps of Capsule change managed quotas."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import msgspec
from msgspec import Struct

from kubectl_kres.admission.base.outcome import Server
from kubectl_kres.capsule.model import ResourcePoolClaim
from kubectl_kres.capsule.replay import events
from kubectl_kres.capsule.replay.world import PoolWorld as Pools
from kubectl_kres.capsule.replay.world import build_pool_world as pools_of
from kubectl_kres.capsule.rules.conditions import is_in_use
from kubectl_kres.capsule.rules.webhooks import RELEASE
from kubectl_kres.model.kinds import BY_KIND
from kubectl_kres.model.objects import ManagedMetadata, Raw, decode_object
from kubectl_kres.model.objects import Namespace as NamespaceObject
from kubectl_kres.simulate import change
from kubectl_kres.simulate.explore import MOST_STATES, FinalStates
from kubectl_kres.simulate.final_states import FinalState
from kubectl_kres.simulate.live import OF_CLUSTER, build_world, raw_of, state_of, with_binding_mode
from kubectl_kres.simulate.moves import Kubelet, State
from kubectl_kres.simulate.plugins import POLICIES, parameters_of
from kubectl_kres.simulate.requests import StepAnswer
from kubectl_kres.simulate.simulation import NamespaceSimulation
from kubectl_kres.simulate.state import HOOKS, Key, pods_of
from kubectl_kres.simulate.tables import EvaluatedPods
from kubectl_kres.store.parameters import parameters
from kubectl_kres.store.store import Store

#: Kinds that Capsule's webhooks and controllers act on.
POOLED = ("ResourcePool", "ResourcePoolClaim", "Namespace")
_NAME_LABEL = "kubernetes.io/metadata.name"
#: So many workloads are named in what is said of many.
_MOST_NAMED = 3
_SELF = frozenset({"Namespace"})
#: What a world holds that does not go with its namespace.
_OF_NO_NAMESPACE = frozenset({*OF_CLUSTER, "Namespace", HOOKS})
_NUMEROUS = ("Pod", "ReplicaSet", "Deployment")
#: Ends that are put into words; of more only the outermost.
MOST_SHOWN = 32
#: Passes of an updater: each evicts up to half of the pods, so that what is refused stops it, or comes again and again.
_MOST_PASSES = 12
#: States that are looked at over all namespaces of a change, and at least in each.
MOST_OVER_ALL, LEAST_STATES = 40_000, 200


class PlacedStep(Struct, frozen=True):
    """A step and the namespace of its object; empty for a cluster-scoped object."""

    step: change.Step
    namespace: str = ""


class SentStep(Struct, frozen=True):
    """A step as it was carried out: place in the order given, and the server's answers, more than one only where
    arbitrary order decides.
    """

    number: int
    label: str
    what: str
    kind: str
    name: str
    namespace: str
    answers: tuple[StepAnswer, ...]

    @property
    def is_refused(self) -> bool:
        return any(not answer.allowed for answer in self.answers)


class ClusterStates(Struct, frozen=True):
    """Namespaces before or after a change, each in every state in which its controllers can come to rest."""

    spaces: Mapping[str, tuple[NamespaceSimulation, FinalStates]]
    pools: Pools

    def final_states(self, space: str) -> tuple[FinalState, ...]:
        """Return the descriptions of ``states``."""
        return self.words(space, self.states(space))

    def words(self, space: str, states: Iterable[State]) -> tuple[FinalState, ...]:
        """Return the descriptions of some states."""
        return tuple(self.spaces[space][0].describe_final_state(state) for state in states)

    def states(self, space: str) -> tuple[State, ...]:
        """Return the usual states of a namespace; of many those in which a workload has the fewest or the most pods."""
        if space not in self.spaces:
            return ()
        _, final_states = self.spaces[space]
        usual = final_states.states[: final_states.usual]
        if len(usual) <= MOST_SHOWN:
            return usual
        first = usual[0].workloads
        kept = {0: None}
        # Most workloads are the same in all states.
        for index in sorted({index for state in usual for index in first.differing_indexes(state.workloads)}):
            counts = [pods_of(state.workloads[index][1]) if index < len(state.workloads) else 0 for state in usual]
            kept |= dict.fromkeys((counts.index(min(counts)), counts.index(max(counts))))
        return tuple(usual[number] for number in kept)


class ChangeOutcome(Struct, frozen=True):
    """The cluster before and after a change, and the server's answer to each step.

    several: so many ends of Capsule's own choices were possible, of which one is shown.
    """

    before: ClusterStates
    after: ClusterStates
    sent: tuple[SentStep, ...]
    several: int = 1

    @property
    def gaps(self) -> tuple[str, ...]:
        """Policies that could not be computed, so that they may refuse or change what is shown."""
        gaps = (gap for namespace, _ in self.after.spaces.values() for gap in namespace.tables.gaps)
        return tuple(dict.fromkeys(gaps))

    @property
    def expected_values(self) -> tuple[str, ...]:
        """Return what next pods are expected to get since live pods have it."""
        return tuple(
            _expected_container_lines(
                {space: namespace.tables.seen for space, (namespace, _) in self.after.spaces.items()}
            )
        )


class ClusterChange:
    """A change over a whole cluster, to be carried out in one namespace after the other.

    Iterating gives each namespace with what it is before and after the change, its name first; who needs one of them no
    longer lets it go. ``sent`` and ``gaps`` are whole once all were given.
    """

    def __init__(
        self,
        store: Store,
        steps: Sequence[PlacedStep],
        server: Server,
        spaces: Iterable[str],
        *,
        settled: bool = True,
        maximum: int = MOST_STATES,
        emptied: bool = False,
        seen: bool = False,
    ) -> None:
        """``spaces``: the namespaces that are looked at, besides those of the steps.

        ``emptied``: what a namespace has most of is taken out of the store once it was played, so that less memory is
        used. ``settled`` False: what was read is not played on before the change; it is taken for a rest. ``maximum``:
        states that are looked at in a namespace before orders are drawn. ``seen``: what live pods were given is
        expected of the next ones.
        """
        self.most, self.emptied, self.seen = maximum, emptied, seen
        self.store, self.steps, self.server, self.settled = store, steps, server, settled
        self.pools_before = _pools(store)
        self.pools, sent, self._internal, self.several = _through_capsule(store, self.pools_before, steps)
        named = {step.namespace for step in steps} | {local.namespace for local in self._internal}
        of_policies = [raw_of(item) for kind in POLICIES for item in store.all(kind)]
        self.parameters = parameters_of(
            [*of_policies, *(step.step.object for step in steps if isinstance(step.step, change.Apply))]
        )
        namespaces = {item.namespace for item in self._internal if self.parameters.is_parameter_step(item.step)}
        # Where a parameter stands it is known first whether the server takes it.
        self._spaces = sorted({*spaces, *named - {""}}, key=lambda space: (space not in namespaces, space))
        self._sent_by_number: dict[int, SentStep] = dict(sent)
        self._gaps: dict[str, None] = {}
        self._expected_by_space: dict[str, dict[Key, str]] = {}

    @property
    def sent_steps(self) -> tuple[SentStep, ...]:
        return tuple(self._sent_by_number[number] for number in sorted(self._sent_by_number))

    @property
    def gaps(self) -> tuple[str, ...]:
        """Policies that could not be computed, so that they may refuse or change what is shown."""
        return tuple(self._gaps)

    @property
    def expected_values(self) -> tuple[str, ...]:
        """Return what next pods are expected to get since live pods have it."""
        return tuple(_expected_container_lines(self._expected_by_space))

    def __iter__(self) -> Iterator[tuple[str, ClusterStates, ClusterStates]]:
        maximum = min(self.most, max(LEAST_STATES, MOST_OVER_ALL // max(1, len(self._spaces))))
        classes = [with_binding_mode(item, self.store) for kind in OF_CLUSTER for item in self.store.all(kind)]
        steps, evaluated = _by_namespace(self._internal), EvaluatedPods()
        for space in self._spaces:
            local = self._local(steps, space)
            here = [step for _, step in local]
            world = build_world(self.store, space, classes)
            namespace = NamespaceSimulation(self.server, world, here, evaluated, partial(parameters, self.store))
            start = state_of(namespace, world, self.store, space, seen=self.seen)
            rest = _as_is(start)
            if self.settled:
                rest = namespace.after([start], [], Kubelet(), between=False, maximum=maximum)
            usual = rest.states[: rest.usual]
            final_states = namespace.after(usual, here, Kubelet(), between=False, maximum=maximum) if local else rest
            _note(self._sent_by_number, self.steps, local, namespace, final_states, space)
            old, new = (namespace, rest), (namespace, final_states)
            yield space, ClusterStates({space: old}, self.pools_before), ClusterStates({space: new}, self.pools)
            self._gaps.update(namespace.tables.gaps)
            for kind in _NUMEROUS if self.emptied else ():
                self.store.empty(kind, space)
            self._expected_by_space[space] = dict(namespace.tables.seen)

    def _local(self, steps: _Places, space: str) -> list[tuple[int, change.Step]]:
        """Return the steps of one namespace, with those about classes of the cluster and parameters, each with its
        number.
        """
        result: list[tuple[int, _Local]] = [*steps.get(space, ())]
        for namespace, numbers in steps.items() if space else ():
            if namespace != space and (not namespace or namespace in self.parameters.spaces):
                result += [item for item in numbers if self._concerns_all(item[1])]
        seen = (self._seen_from(space, local) for _, local in sorted(result, key=lambda numbers: numbers[0]))
        return [item for number, step in seen for item in _passes(number, step)]

    def _concerns_all(self, local: _Local) -> bool:
        if self.parameters.is_parameter_step(local.step):
            sent_step = self._sent_by_number.get(local.number)
            return sent_step is None or not sent_step.is_refused
        return not local.namespace and change.key_of_step(local.step)[0] in OF_CLUSTER

    def _seen_from(self, space: str, local: _Local) -> tuple[int, change.Step]:
        step = self.parameters.step(local.step, local.namespace, space)
        if step is None:
            return local.number, local.step
        return local.number if step.in_namespace else -1, step


def simulate_steps(
    store: Store,
    steps: Sequence[PlacedStep],
    server: Server,
    spaces: Iterable[str],
    *,
    settled: bool = True,
    maximum: int = MOST_STATES,
    seen: bool = False,
) -> ChangeOutcome:
    """Return every end of the steps in all namespaces; the arguments are those of ``Course``."""
    course = ClusterChange(store, steps, server, spaces, settled=settled, maximum=maximum, seen=seen)
    before: dict[str, tuple[NamespaceSimulation, FinalStates]] = {}
    after: dict[str, tuple[NamespaceSimulation, FinalStates]] = {}
    for _, old, new in course:
        before.update(old.spaces)
        after.update(new.spaces)
    return ChangeOutcome(
        ClusterStates(before, course.pools_before),
        ClusterStates(after, course.pools),
        course.sent_steps,
        course.several,
    )


def current_final_states(store: Store, server: Server, spaces: Iterable[str], *, seen: bool = False) -> ClusterStates:
    """Return the namespaces of a store as they come to rest when nobody changes anything."""
    return simulate_steps(store, (), server, spaces, seen=seen).before


def _expected_container_lines(spaces: Mapping[str, Mapping[Key, str]]) -> Iterator[str]:
    """Yield which containers are expected since live pods were given them, by namespace and workload."""
    workloads: dict[str, list[str]] = {}
    for space, seen in spaces.items():
        for (kind, name), containers in seen.items():
            workloads.setdefault(containers, []).append(f"{kind}/{name} in {space}")
    for containers, names in workloads.items():
        whose = ", ".join(names[:_MOST_NAMED]) + f" and {len(names) - _MOST_NAMED} more" * (len(names) > _MOST_NAMED)
        yield f"as live pods have it, the next pods are expected to get {containers}: {whose}"


def _as_is(state: State) -> FinalStates:
    return FinalStates((state,), 1)


class _Local(Struct, frozen=True):
    """A step of Capsule's controllers, or a user's (``number``)."""

    step: change.Step
    namespace: str
    number: int = -1


#: Steps by their namespace, each with its place in the order of all.
_Places = Mapping[str, Sequence[tuple[int, _Local]]]


def _by_namespace(internal: Sequence[_Local]) -> _Places:
    result: dict[str, list[tuple[int, _Local]]] = {}
    for index, local in enumerate(internal):
        result.setdefault(local.namespace, []).append((index, local))
    return result


def _note(
    sent: dict[int, SentStep],
    steps: Sequence[PlacedStep],
    local: Sequence[tuple[int, change.Step]],
    namespace: NamespaceSimulation,
    final_states: FinalStates,
    space: str,
) -> None:
    """Note the server's answers to the user's steps in one namespace."""
    # To a wait there is no answer.
    asked = [number for number, step in local if not isinstance(step, change.WaitForControllers)]
    usual, request_answers = final_states.states[: final_states.usual], namespace.requests.answers
    for number in dict.fromkeys(number for number in asked if number >= 0):
        indexes = [index for index, other in enumerate(asked) if other == number]
        answers = dict.fromkeys(
            _join_answers([request_answers[state.answers[index]] for index in indexes]) for state in usual
        )
        user_step = steps[number].step
        kind, name = change.key_of_step(user_step)
        sent[number] = SentStep(
            number + 1, getattr(user_step, "label", ""), _format_step(user_step), kind, name, space, tuple(answers)
        )


def _passes(number: int, step: change.Step) -> Iterator[tuple[int, change.Step]]:
    """Yield a step; that of an updater as its passes, before and after each of which controllers come to rest."""
    if not isinstance(step, change.Evict):
        yield number, step
        return
    for _ in range(_MOST_PASSES):
        yield -1, change.WaitForControllers()
        yield number, step


def _join_answers(answers: Sequence[StepAnswer]) -> StepAnswer:
    """Return the answer to a step; of one that has several passes those of all."""
    passes = tuple(done for answer in answers for done in answer.passes)
    return answers[0] if len(answers) == 1 else msgspec.structs.replace(answers[0], passes=passes)


def _format_step(step: change.Step) -> str:
    """Return what a step does, in a word."""
    if isinstance(step, change.ScaleStep):
        return f"scale to {step.replicas}"
    if isinstance(step, change.Patch) and _is_release(step):
        return "release"
    return {change.Apply: "apply", change.Delete: "delete", change.Patch: "set", change.Evict: "evict"}.get(
        type(step), "wait"
    )


def _pools(store: Store) -> Pools:
    spaces = {item.metadata.name: with_name_label(item) for item in store.all("Namespace")}
    named = {item.metadata.namespace for kind in ("ResourcePoolClaim", "ResourceQuota") for item in store.all(kind)}
    for name in sorted(named - spaces.keys()):
        spaces[name] = with_name_label(NamespaceObject(ManagedMetadata(name)))
    return pools_of(
        spaces.values(), store.all("ResourcePool"), store.all("ResourcePoolClaim"), store.all("ResourceQuota")
    )


def with_name_label(namespace: NamespaceObject) -> NamespaceObject:
    """Return the namespace with the label that the API server gives every namespace."""
    meta = namespace.metadata
    labels = {_NAME_LABEL: meta.name, **(meta.labels or {})}
    return msgspec.structs.replace(namespace, metadata=msgspec.structs.replace(meta, labels=labels))


def _through_capsule(
    store: Store, pools: Pools, steps: Sequence[PlacedStep]
) -> tuple[Pools, dict[int, SentStep], list[_Local], int]:
    """Steps about pools, claims and namespaces played through Capsule; what changes of its quotas become steps, too."""
    result: list[_Local] = []
    sent: dict[int, SentStep] = {}
    several = 1
    for number, placed_step in enumerate(steps):
        step = placed_step.step
        kind, name = change.key_of_step(step)
        if isinstance(step, change.WaitForControllers):
            result.append(_Local(step, placed_step.namespace))
            continue
        if isinstance(step, change.Apply) and step.refused:
            answer = StepAnswer(allowed=False, code=404, message=step.refused)
            sent[number] = SentStep(
                number + 1, step.label, _format_step(step), kind, name, placed_step.namespace, (answer,)
            )
            continue
        if kind not in POOLED:
            result.append(_Local(step, placed_step.namespace, number))
            pools = _with_own_quota(pools, placed_step, step)
            continue
        answers, worlds = _replay_step(pools, step, kind, name, placed_step.namespace)
        several = max(several, len(worlds))
        label = getattr(step, "label", "")
        sent[number] = SentStep(number + 1, label, _format_step(step), kind, name, placed_step.namespace, answers)
        result += _changed_quotas(pools, worlds[0])
        if kind == "Namespace" and isinstance(step, change.Delete):
            objects = build_world(store, name).objects
            result += [_Local(change.Delete(*key), name) for key in objects if key[0] not in _OF_NO_NAMESPACE]
        elif kind == "Namespace" and name in worlds[0].namespaces:
            # Its labels say which standard of Pod Security is enforced, and which policies are bound to it.
            result.append(_Local(change.Apply(raw_of(worlds[0].namespaces[name])), name))
        pools = worlds[0]
    return pools, sent, result, several


def _with_own_quota(pools: Pools, placed_step: PlacedStep, step: change.Step) -> Pools:
    """Return Capsule's world without a deleted quota of the namespace, and with any other unchanged."""
    kind, name = change.key_of_step(step)
    key = (placed_step.namespace, name)
    if kind != "ResourceQuota":
        return pools
    if isinstance(step, change.Delete):
        return msgspec.structs.replace(pools, quotas={k: v for k, v in pools.quotas.items() if k != key})
    return pools


def _replay_step(
    pools: Pools, step: change.Step, kind: str, name: str, namespace: str
) -> tuple[tuple[StepAnswer, ...], tuple[Pools, ...]]:
    exists = _find_stored_object(pools, kind, name, namespace)
    event = _event(step, kind, name, namespace, exists)
    code = 200 if exists is not None or not isinstance(step, change.Apply) else 201
    if event is None:
        known = BY_KIND[kind].qualified_name
        return (StepAnswer(allowed=False, code=404, message=f'{known} "{name}" not found'),), (pools,)
    if isinstance(step, change.Patch) and isinstance(exists, ResourcePoolClaim) and _is_idle_release(step, exists):
        text = (
            "the webhook takes the release annotation off again: the claim is unused, "
            "so that it can be edited or deleted without a release"
        )
        return (StepAnswer(allowed=False, code=200, message=text),), (pools,)
    answers: dict[StepAnswer, None] = {}
    worlds: list[Pools] = []
    for outcome in events.replay(pools, event):
        if outcome.refusal is not None:
            refusal = outcome.refusal
            answers[
                StepAnswer(allowed=False, code=refusal.code, message=refusal.message, findings=refusal.findings)
            ] = None
        else:
            answers[StepAnswer(allowed=True, code=code)] = None
        if outcome.world not in worlds:
            worlds.append(outcome.world)
    if isinstance(step, change.Delete) and kind != "ResourcePoolClaim":
        worlds = [later.world for world in worlds for later in events.replay(world, events.TimePasses())]
    return tuple(answers), tuple(worlds)


def _is_idle_release(step: change.Patch, claim: ResourcePoolClaim) -> bool:
    """Return whether a claim is to be released that no pod uses. Source: capsule claim_mutating.go."""
    return _is_release(step) and not is_in_use(claim)


def _is_release(step: change.Patch) -> bool:
    annotations = (step.patch.get("metadata") or {}).get("annotations") or {}
    return str(annotations.get(RELEASE, "")).lower() == "true"


def _find_stored_object(pools: Pools, kind: str, name: str, namespace: str) -> Any:
    if kind == "Namespace":
        return pools.namespaces.get(name)
    return pools.pools.get(name) if kind == "ResourcePool" else pools.claims.get((namespace, name))


def _event(step: change.Step, kind: str, name: str, namespace: str, stored: Any) -> events.WorldEvent | None:
    struct = BY_KIND[kind].struct
    if isinstance(step, change.Apply) and stored is None:
        raw = step.object
        if kind == "ResourcePoolClaim":
            raw = {**raw, "metadata": {**raw["metadata"], "namespace": namespace}}
        item = decode_object({key: value for key, value in raw.items() if key != "status"}, struct)
        return events.Create(with_name_label(item) if kind in _SELF else item)
    if stored is None:
        return None
    if isinstance(step, change.Delete):
        return events.DeleteEvent(kind, name, namespace)
    patch = (
        step.patch
        if isinstance(step, change.Patch)
        else difference(raw_of(stored), change.apply_step(step, raw_of(stored)))
    )
    return events.PatchEvent(kind, name, patch, namespace)


def difference(old: Raw, new: Raw) -> dict[str, Any]:
    """Return a merge patch that makes of the stored object what a file holds: labels and annotations stay, the spec is
    the file's.
    """
    patch: dict[str, Any] = {}
    metadata = new.get("metadata") or {}
    tags = {key: metadata[key] for key in ("labels", "annotations") if metadata.get(key)}
    if tags:
        patch["metadata"] = tags
    spec = _build_patch(old.get("spec") or {}, new.get("spec") or {})
    return {**patch, "spec": spec} if spec else patch


def _build_patch(old: Raw, new: Raw) -> dict[str, Any]:
    """Return the merge patch that turns ``old`` into ``new``; removed keys are null."""
    result: dict[str, Any] = {}
    for key, value in new.items():
        outcome = old.get(key)
        if isinstance(value, Mapping) and isinstance(outcome, Mapping):
            inner = _build_patch(outcome, value)
            if inner:
                result[key] = inner
        elif value != outcome:
            result[key] = value
    # The pool that a webhook chose stays where a file names none.
    return result | {key: None for key in old if key not in new and key != "pool"}


def _changed_quotas(before: Pools, after: Pools) -> list[_Local]:
    """Return what a step of Capsule's did to quotas, as steps of the namespaces."""
    result: list[_Local] = []
    for key, quota in after.quotas.items():
        old = before.quotas.get(key)
        if old is None or old.spec != quota.spec:
            raw = {name: value for name, value in raw_of(quota).items() if name != "status"}
            for owner in raw.get("metadata", {}).get("ownerReferences", ()):
                # A pool of a file has no uid yet; the server gives it one before its controller sees it.
                owner["uid"] = owner.get("uid") or owner.get("name", "")
            result.append(_Local(change.Apply(raw), key[0]))
    result += [
        _Local(change.Delete("ResourceQuota", name), space)
        for space, name in before.quotas
        if (space, name) not in after.quotas
    ]
    return result
