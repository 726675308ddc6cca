"""A change of a whole cluster: each step is simulated in its namespace; what systems make of it become steps, too."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import msgspec
from msgspec import Struct

from kubectl_kres.admission.base.server import Server
from kubectl_kres.model.kinds import BY_KIND
from kubectl_kres.model.objects import Raw, items, mapping, text
from kubectl_kres.model.pod import AddedContainers
from kubectl_kres.model.workload import template_in
from kubectl_kres.simulate import change
from kubectl_kres.simulate.change import PlacedStep
from kubectl_kres.simulate.explore import MOST_STATES, FinalStates
from kubectl_kres.simulate.final_states import FinalState
from kubectl_kres.simulate.live import OF_CLUSTER, build_world, raw_of, state_of, with_binding_mode
from kubectl_kres.simulate.moves import Kubelet, State
from kubectl_kres.simulate.namespaces import known_namespaces, step_namespace
from kubectl_kres.simulate.plugins import POLICIES, parameters_of
from kubectl_kres.simulate.requests import StepAnswer
from kubectl_kres.simulate.simulation import NamespaceSimulation
from kubectl_kres.simulate.state import Key, pods_of
from kubectl_kres.simulate.system import controllers, kept_kinds
from kubectl_kres.simulate.tables import EvaluatedPods
from kubectl_kres.store.parameters import parameters
from kubectl_kres.store.store import ReadRequest, Store

#: What the controllers of systems look at, by the name of the system.
Worlds = Mapping[str, Any]
#: What webhooks add to pods with these labels, by namespace.
FindAdded = Callable[[str, Mapping[str, str]], AddedContainers]
#: So many workloads are named in what is said of many.
_MOST_NAMED = 3
_NUMEROUS = ("Pod", "ReplicaSet", "Deployment")
#: Ends that are put into words; of more only the outermost.
MOST_SHOWN = 32
#: Passes of an updater: each evicts up to half of the pods, so that what is refused stops it, or comes again and again.
_MOST_PASSES = 12
#: States that are looked at over all namespaces of a change, and at least in each.
MOST_OVER_ALL, LEAST_STATES = 40_000, 200


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
    worlds: Worlds

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

    ``choices``: by the title of a system how many ends its own choices can have, of which one is shown.
    """

    before: ClusterStates
    after: ClusterStates
    sent: tuple[SentStep, ...]
    choices: Mapping[str, int] = {}

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
        find_added: FindAdded | None = None,
    ) -> None:
        """``spaces``: the namespaces that are looked at, besides those of the steps.

        ``emptied``: what a namespace has most of is taken out of the store once it was played, so that less memory is
        used. ``settled`` False: what was read is not played on before the change; it is taken for a rest. ``maximum``:
        states that are looked at in a namespace before orders are drawn. ``seen``: what live pods were given is
        expected of the next ones. ``find_added``: tells what webhooks add to pods of templates that files bring.
        """
        self.find_added = find_added
        self.most, self.emptied, self.seen = maximum, emptied, seen
        self.store, self.steps, self.server, self.settled = store, steps, server, settled
        known = known_namespaces(store)
        self.worlds_before = {name: each.build(store, known) for name, each in controllers().items()}
        self.worlds, sent, self._internal, self.choices = _through_systems(store, self.worlds_before, steps)
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
            namespace.tables.has_account = partial(self._has_account, space)
            start = state_of(namespace, world, self.store, space, seen=self.seen)
            self._expect_added_containers(namespace, space, here)
            rest = _as_is(start)
            if self.settled:
                rest = namespace.after([start], [], Kubelet(), between=False, maximum=maximum)
            usual = rest.states[: rest.usual]
            final_states = namespace.after(usual, here, Kubelet(), between=False, maximum=maximum) if local else rest
            _note(self._sent_by_number, self.steps, local, namespace, final_states, space)
            old, new = (namespace, rest), (namespace, final_states)
            yield space, ClusterStates({space: old}, self.worlds_before), ClusterStates({space: new}, self.worlds)
            self._gaps.update(namespace.tables.gaps)
            for kind in _NUMEROUS if self.emptied else ():
                self.store.empty(kind, space)
            self._expected_by_space[space] = dict(namespace.tables.seen)

    def _expect_added_containers(
        self, namespace: NamespaceSimulation, space: str, steps: Iterable[change.Step]
    ) -> None:
        """Expect what webhooks add to the pods of templates that files bring, where no pod of theirs tells it."""
        tables = namespace.tables
        for step in steps if self.find_added is not None else ():
            found = template_in(step.object) if isinstance(step, change.Apply) else None
            key = change.key_of_step(step)
            if self.find_added is None or found is None or key in tables.seen:
                continue
            template = found[1]
            spec, added = mapping(template, "spec"), dict[str, list[Raw]](containers=[], initContainers=[])
            own_names = {text(item, "name") for group in added for item in items(spec, group)}
            for group, container in self.find_added(space, mapping(mapping(template, "metadata"), "labels")):
                if container.name not in own_names:
                    added[group].append(msgspec.to_builtins(container, enc_hook=str))
            if names := sorted(str(item["name"]) for group in added.values() for item in group):
                tables.expect(key, [added])
                tables.seen[key] = ", ".join(names)

    def _has_account(self, space: str, name: str) -> bool:
        """Return whether a ServiceAccount is there, comes with the change, or is not known; every namespace gets the
        default one.
        """
        if name == "default" or self.store.get("ServiceAccount", name, space) is not None:
            return True
        key = "ServiceAccount", name
        if any(step.namespace == space and change.key_of_step(step.step) == key for step in self.steps):
            return True
        return not self.store.covered(ReadRequest("ServiceAccount", space, name)).is_known

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
    find_added: FindAdded | None = None,
) -> ChangeOutcome:
    """Return every end of the steps in all namespaces; the arguments are those of ``Course``."""
    course = ClusterChange(
        store, steps, server, spaces, settled=settled, maximum=maximum, seen=seen, find_added=find_added
    )
    before: dict[str, tuple[NamespaceSimulation, FinalStates]] = {}
    after: dict[str, tuple[NamespaceSimulation, FinalStates]] = {}
    for _, old, new in course:
        before.update(old.spaces)
        after.update(new.spaces)
    return ChangeOutcome(
        ClusterStates(before, course.worlds_before),
        ClusterStates(after, course.worlds),
        course.sent_steps,
        course.choices,
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
    """A step of a system's controllers, or a user's (``number``)."""

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
    indexes_of: dict[int, list[int]] = {}
    for index, number in enumerate(asked):
        indexes_of.setdefault(number, []).append(index)
    for number, indexes in indexes_of.items():
        if number < 0:
            continue
        answers = dict.fromkeys(
            _join_answers([request_answers[state.answers[index]] for index in indexes]) for state in usual
        )
        sent[number] = _sent_step(number, PlacedStep(steps[number].step, space), tuple(answers))


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
    return {change.Apply: "apply", change.Delete: "delete", change.Patch: "set", change.Evict: "evict"}.get(
        type(step), "wait"
    )


def _through_systems(
    store: Store, worlds: Worlds, steps: Sequence[PlacedStep]
) -> tuple[Worlds, dict[int, SentStep], list[_Local], dict[str, int]]:
    """Steps about namespaces and what systems keep, played; what becomes of Kubernetes' objects are steps, too.

    By the title of a system among how many worlds it chose.
    """
    result: list[_Local] = []
    sent: dict[int, SentStep] = {}
    choices: dict[str, int] = {}
    namespaces = known_namespaces(store)
    for number, placed_step in enumerate(steps):
        step, space = placed_step.step, placed_step.namespace
        kind, name = change.key_of_step(step)
        if isinstance(step, change.WaitForControllers):
            result.append(_Local(step, space))
            continue
        if isinstance(step, change.Apply) and step.refused:
            answer = StepAnswer(allowed=False, code=404, message=step.refused)
            sent[number] = _sent_step(number, placed_step, (answer,))
            continue
        played = {system: each.play(worlds[system], placed_step) for system, each in controllers().items()}
        worlds = {system: each.world for system, each in played.items()}
        for system, each in played.items():
            result += (_Local(made.step, made.namespace) for made in each.steps)
            title = controllers()[system].title
            choices[title] = max(choices.get(title, 1), each.ways)
        if kind in kept_kinds():
            answers = tuple(answer for each in played.values() for answer in each.answers)
            words = [each.word for each in played.values() if each.word]
            sent[number] = _sent_step(number, placed_step, answers, *words)
        elif kind == "Namespace":
            answer, namespaces = step_namespace(namespaces, step)
            sent[number] = _sent_step(number, placed_step, (answer,))
            if name in namespaces:
                # Its labels say which standard of Pod Security is enforced, and which policies are bound to it.
                result.append(_Local(change.Apply(raw_of(namespaces[name])), name))
            elif answer.allowed:
                objects = build_world(store, name).objects
                result += (_Local(change.Delete(*key), name) for key in objects if BY_KIND[key[0]].namespaced)
        else:
            changed = next((each.sent for each in played.values() if each.sent is not None), step)
            result.append(_Local(changed, space, number))
    return worlds, sent, result, choices


def _sent_step(number: int, placed_step: PlacedStep, answers: tuple[StepAnswer, ...], word: str = "") -> SentStep:
    """``word``: what the step does, where a system has a word of its own."""
    step = placed_step.step
    kind, name = change.key_of_step(step)
    label, what = getattr(step, "label", ""), word or _format_step(step)
    return SentStep(number + 1, label, what, kind, name, placed_step.namespace, answers)
