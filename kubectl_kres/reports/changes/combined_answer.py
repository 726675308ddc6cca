"""The objects of files evaluated together: the effect of their policies, and how many pods their workloads get."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from kubectl_kres.admission.base.server import Server
from kubectl_kres.model.kinds import BY_KIND
from kubectl_kres.model.objects import ObjectRef, ResourceQuota, ResourceQuotaStatus, decode_object
from kubectl_kres.model.pod_places import KINDS, parts_of
from kubectl_kres.model.workload_kinds import WORKLOADS
from kubectl_kres.quantity import Quantity
from kubectl_kres.record import Record
from kubectl_kres.reports.changes.given_steps import (
    MADE,
    application_order,
    cluster_needs,
    controller_of,
    namespace_needs,
    taking_needs,
)
from kubectl_kres.reports.common.explanation import FailedRead, find_unread
from kubectl_kres.reports.pod.verdict import AS_FAR_AS_SEEN
from kubectl_kres.reports.rollout.injected_containers import find_added
from kubectl_kres.simulate.change import Apply, PlacedStep, Step, WaitForControllers, apply_step, key_of_step
from kubectl_kres.simulate.cluster import ChangeOutcome, ClusterStates, simulate_steps
from kubectl_kres.simulate.final_states import FinalWorkload
from kubectl_kres.simulate.live import raw_of
from kubectl_kres.simulate.moves import State
from kubectl_kres.simulate.requests import initial_state
from kubectl_kres.simulate.state import (
    CONTROLLED,
    Key,
    count_outdated,
    count_wanted_pods,
    pods_of,
    template_key,
    template_raw,
)
from kubectl_kres.simulate.system import cluster_kinds
from kubectl_kres.store.store import ReadRequest, Store

#: Kinds whose objects are evaluated by the others of a file.
JUDGED = frozenset({"Pod", *WORKLOADS, *KINDS})
#: States that are looked at where one comes after the other: only what the cluster has already can compete with it.
_IN_TURN = 2_000
_FOLLOWED = frozenset({*CONTROLLED, "Pod", *KINDS})
#: What makes no pods, but takes of quotas.
_TAKING = frozenset({"PersistentVolumeClaim", "Service"})
#: Kinds of which some fields can be written once only.
_EDITED = frozenset({*_TAKING, *WORKLOADS})
#: Policies that the server validates before it stores them; what it refuses limits and gives nothing.
POLICIES = frozenset({"ResourceQuota", "LimitRange", "HorizontalPodAutoscaler"})


@cache
def counting_kinds() -> frozenset[str]:
    """Return the policies whose effect depends on what is there, so that it is read."""
    return frozenset({"ResourceQuota", "PersistentVolumeClaim", *cluster_kinds()})


class ReachablePods(Record, frozen=True):
    """The pods that a workload of the files gets beside the others. ``best``: with more luck in the race for room.

    ``old``: pods of an older template that stay, since its rollout stalls; they are no part of ``pods``. ``waits``: for
    a pod that is there and not ready, before the controller makes the next one.
    """

    subject: ObjectRef
    wanted: int
    pods: int
    best: int
    messages: tuple[str, ...] = ()
    old: int = 0
    waits: bool = False

    @property
    def short(self) -> bool:
        """Whether pods of it are refused, or old ones stay."""
        return self.pods < self.wanted and not self.waits


class QuotaLack(Record, frozen=True):
    """What a quota lacks for all that the files want: the amount of one resource."""

    quota: ObjectRef
    resource: str
    amount: str


class RefusedManifest(Record, frozen=True):
    """An object of the files that the server does not take, with its words."""

    subject: ObjectRef
    message: str


class CombinedAnswer(Record, frozen=True):
    """The answer whether the objects of the files, which ``subject`` stands for, fit together.

    outcome: admitted, partly or refused, and whether all that the answer needs could be read. ends: how many final
    states the race for room can have; the workloads are those of the end in which the first came first, or where all
    fit there, of the worst. exhaustive: no order was left out; otherwise there may be more ends. in_some_order: in
    other ends nothing is missing. refused: objects that the server does not take. unchanged: the cluster has all
    objects of the files as they stand there, as far as they are read: of containers neither env nor commands.
    """

    subject: ObjectRef
    outcome: str
    workloads: tuple[ReachablePods, ...]
    shortfalls: tuple[QuotaLack, ...] = ()
    refused: tuple[RefusedManifest, ...] = ()
    ends: int = 1
    in_some_order: bool = False
    unread: tuple[FailedRead, ...] = ()
    complete: bool = True
    exhaustive: bool = True
    unchanged: bool = False

    @property
    def negative(self) -> bool:
        """Return whether pods of the files are refused."""
        return not self.outcome.startswith("admitted")


class Files(Struct, frozen=True):
    """The objects of an input as steps, in the order in which they are applied."""

    steps: tuple[PlacedStep, ...]

    @property
    def needs_cluster_counts(self) -> bool:
        """Return whether what the cluster holds has to be counted for the answer."""
        kinds = self._kinds
        evaluated = any(kind in JUDGED for kind in kinds)
        return (
            self.several or (evaluated and any(kind in counting_kinds() for kind in kinds)) or "ResourceQuota" in kinds
        )

    @property
    def several(self) -> bool:
        """Whether one object can take the room of another: of a workload and one Service or ConfigMap neither does."""
        kinds = self._kinds
        claiming = sum(kind in JUDGED or kind == "PersistentVolumeClaim" for kind in kinds)
        return claiming > 1 or any(kinds.count(kind) > 1 for kind in {*kinds} if _only_counts(kind))

    @property
    def has_policies(self) -> bool:
        """Return whether there are policies that the server may refuse."""
        return not POLICIES.isdisjoint(self._kinds)

    @property
    def _kinds(self) -> list[str]:
        return [key_of_step(placed_step.step)[0] for placed_step in self.steps]

    @property
    def spaces(self) -> tuple[str, ...]:
        """The namespaces of the objects."""
        return tuple(dict.fromkeys(placed_step.namespace for placed_step in self.steps if placed_step.namespace))

    def reads(self) -> Iterator[ReadRequest]:
        """Yield what has to be read."""
        kinds = {*self._kinds}
        makes_pods = kinds & JUDGED or kinds & counting_kinds() - _TAKING
        yield from namespace_needs(self.spaces) if makes_pods else taking_needs(self.spaces)
        if not kinds.isdisjoint(cluster_kinds()):
            yield from cluster_needs()


def _only_counts(kind: str) -> bool:
    """Return whether objects of the kind make no pods and limit none, but take of quotas."""
    return kind in _TAKING or kind not in {*application_order(), *JUDGED}


def without_files(store: Store) -> Store:
    """Return the store as it is without the objects of files."""
    result = Store(store.origin)
    for read, coverage in store.coverages().items():
        result.cover(read, coverage)
    for kind in store.kinds():
        for item in store.all(kind):
            ref = ObjectRef(kind, item.metadata.name, item.metadata.namespace)
            if ref in store.files:
                item = store.beneath.get(ref)  # noqa: PLW2901 - what the file takes the place of
            if item is not None:
                result.add(kind, item)
    return result


def with_policies(store: Store, files: Files, server: Server) -> Store:
    """Return the store after the policies of the files were applied: their quotas count what is there, pools have made
    theirs.

    The workloads of the files are not there yet: each is evaluated by what is left.
    """
    others = [(key_of_step(placed.step)[0], placed) for placed in files.steps]
    policies = [placed for kind, placed in others if kind not in JUDGED | {"Job"} and not _only_counts(kind)]
    kinds = {key_of_step(placed_step.step)[0] for placed_step in policies}
    if not kinds & counting_kinds() or (store.origin.kind == "files" and not kinds & cluster_kinds()):
        return store
    return _after(store, files, policies, server)


def with_others(store: Store, files: Files, server: Server, asked: Iterable[ObjectRef]) -> Store:
    """Return the store after all of a change but the objects to explain; quotas count what the change adds."""
    own_names = {(ref.kind, ref.name) for ref in asked if ref.kind != "ResourceQuota"}
    others = [placed_step for placed_step in files.steps if key_of_step(placed_step.step) not in own_names]
    return _after(store, files, others, server) if others else store


def _after(store: Store, files: Files, steps: Sequence[PlacedStep], server: Server) -> Store:
    bare = without_files(store)
    outcome = simulate_steps(bare, steps, server, files.spaces, find_added=find_added(bare))
    after = _copy_store(store)
    for space in outcome.after.spaces:
        for quota in _quotas(outcome.after, space):
            after.add("ResourceQuota", quota)
    return after


def _copy_store(store: Store) -> Store:
    result = Store(store.origin)
    result.files.update(store.files)
    result.written.update(store.written)
    result.beneath.update(store.beneath)
    for read, coverage in store.coverages().items():
        result.cover(read, coverage)
    for kind in store.kinds():
        for item in store.all(kind):
            result.add(kind, item)
    return result


def _quotas(side: ClusterStates, space: str) -> Iterator[ResourceQuota]:
    """Yield the quotas of a namespace with what its controller writes into their status."""
    namespace, final_states = side.spaces[space]
    state = final_states.states[0]
    stored = {quota.metadata.name: quota for quota in namespace.tables.worlds[state.world].quotas}
    for end in namespace.reader.quotas(state):
        quota = stored[end.name]
        metadata = replace(quota.metadata, namespace=space)
        yield replace(quota, metadata=metadata, status=ResourceQuotaStatus(end.hard, end.used))


def evaluate_together(store: Store, files: Files, server: Server, *, in_turn: bool = False) -> CombinedAnswer:
    """Return how far the workloads of the files get, all applied at once.

    ``in_turn``: each once those before it have come to rest. That is the end in which who stands first in the files
    comes first, found without a search through all the others.
    """
    bare = without_files(store)
    given_steps = [placed_step for placed_step in files.steps if not _is_made(bare, placed_step)]
    if in_turn:
        outcome = simulate_steps(
            bare,
            [*_one_by_one(given_steps)],
            server,
            files.spaces,
            settled=False,
            maximum=_IN_TURN,
            find_added=find_added(bare),
        )
    else:
        outcome = simulate_steps(bare, given_steps, server, files.spaces, find_added=find_added(bare))
    reaches: list[ReachablePods] = []
    lacks: list[QuotaLack] = []
    final_states, certain, exhaustive = 1, False, True
    keys_in: dict[str, list[Key]] = {}
    for placed_step in given_steps:
        keys_in.setdefault(placed_step.namespace, []).extend(_keys(placed_step.step))
    for space in files.spaces:
        own_keys = keys_in.get(space, [])
        followed = [key for key in own_keys if key[0] in _FOLLOWED]
        pairs: list[tuple[ReachablePods, FinalWorkload | None]] = []
        if followed and space in outcome.after.spaces:
            state, is_short = _reported_state(outcome, space, followed)
            certain = certain or is_short
            pairs = list(_find_reaches(outcome, space, followed, state))
        reaches += [reach for reach, _ in pairs]
        if pairs:
            final_states *= max(1, outcome.after.spaces[space][1].usual)
            exhaustive = exhaustive and outcome.after.spaces[space][1].complete
        lacks += _quota_shortages(outcome, space) if any(reach.short for reach, _ in pairs) else []
    refused = _refused_objects(outcome)
    # Without a cluster there is nothing but the files.
    reads = [read for read in files.reads() if read.required] if store.origin.kind != "files" else []
    failed_reads = tuple(find_unread(store, reads))
    came = any(_only_counts(sent_step.kind) and sent_step.answers[0].allowed for sent_step in outcome.sent)
    come = came or any(reach.pods for reach in reaches)
    short = any(reach.short for reach in reaches) or bool(refused)
    word = "admitted" if not short else "partly" if come else "refused"
    outcome_word = f"{word}{AS_FAR_AS_SEEN}" if failed_reads and not short else word
    return CombinedAnswer(
        ObjectRef("Files", store.origin.name),
        outcome_word,
        tuple(reaches),
        tuple(lacks),
        refused,
        final_states,
        short and not refused and not certain,
        failed_reads,
        complete=not failed_reads,
        exhaustive=exhaustive,
        unchanged=not short and not failed_reads and is_unchanged(bare, files, server),
    )


def is_unchanged(store: Store, files: Files, server: Server) -> bool:
    """Return whether a store without the files holds all their objects already, as they are written there."""
    return bool(files.steps) and all(_is_stored(store, placed_step, server) for placed_step in files.steps)


def _is_stored(store: Store, placed_step: PlacedStep, server: Server) -> bool:
    kind, name = key_of_step(placed_step.step)
    known, stored = BY_KIND.get(kind), store.get(kind, name, placed_step.namespace)
    if known is None or stored is None or kind == "Pod" or kind in KINDS:
        return False
    before = raw_of(stored)
    after = apply_step(placed_step.step, before)
    if kind not in WORKLOADS:
        return bool(getattr(stored, "spec", None) == getattr(decode_object(after, known.struct), "spec", None))
    if template_key(template_raw(before)) != template_key(template_raw(after)):
        return False
    return initial_state(before, 0, server) == initial_state(after, 0, server)


def find_refused_objects(store: Store, files: Files, server: Server) -> CombinedAnswer | None:
    """Return what the server refuses of files that are not evaluated together: edits of what is there, and policies
    that it does not store as they are written; None if it takes all of them and any of them changes something.
    """
    bare = without_files(store)
    steps = [placed_step for placed_step in files.steps if _is_edit_or_policy(bare, placed_step)]
    refused = _refused_objects(simulate_steps(bare, steps, server, files.spaces)) if steps else ()
    if not refused:
        same = is_unchanged(bare, files, server)
        return CombinedAnswer(ObjectRef("Files", store.origin.name), "admitted", (), unchanged=True) if same else None
    outcome = "refused" if len(refused) == len(files.steps) else "partly"
    return CombinedAnswer(ObjectRef("Files", store.origin.name), outcome, (), (), refused)


def _is_edit_or_policy(store: Store, placed_step: PlacedStep) -> bool:
    kind, name = key_of_step(placed_step.step)
    if kind in POLICIES:
        return True
    stored = store.get(kind, name, placed_step.namespace) if kind in _EDITED else None
    return stored is not None and not _is_made(store, placed_step)


def _is_made(store: Store, placed_step: PlacedStep) -> bool:
    """Return whether it is there already, and is a pod or made by a controller: it is counted, and no part of a
    change.
    """
    kind, name = key_of_step(placed_step.step)
    stored = store.get(kind, name, placed_step.namespace) if kind in MADE else None
    return stored is not None and (kind == "Pod" or controller_of(stored) is not None)


def _refused_objects(outcome: ChangeOutcome) -> tuple[RefusedManifest, ...]:
    return tuple(
        RefusedManifest(ObjectRef(sent_step.kind, sent_step.name, sent_step.namespace), answer.message)
        for sent_step in outcome.sent
        for answer in sent_step.answers[:1]
        if not answer.allowed
    )


def _keys(step: Step) -> Iterator[Key]:
    """Yield the workloads of a step: of kinds with several templates one for each."""
    kind, name = key_of_step(step)
    parts = parts_of(step.object) if isinstance(step, Apply) else None
    yield from ((kind, part.called(name)) for part in parts) if parts is not None else ((kind, name),)


def _one_by_one(steps: Iterable[PlacedStep]) -> Iterator[PlacedStep]:
    for placed_step in steps:
        yield placed_step
        if key_of_step(placed_step.step)[0] in JUDGED:
            yield PlacedStep(WaitForControllers(), placed_step.namespace)


def _reported_state(outcome: ChangeOutcome, space: str, keys: Sequence[Key]) -> tuple[State, bool]:
    """Return the end that is reported, and whether pods are missing in it: that in which who stands first in the files
    came first; where nothing is missing then, the one with the fewest pods, since others must not come first.
    """
    namespace, final_states = outcome.after.spaces[space]
    usual, own_names = final_states.states[: final_states.usual], {*keys}
    first = max(usual, key=lambda state: [_pods(state, key) for key in keys])
    if any(
        item.refused or item.behind for item in namespace.describe_final_state(first).workloads if item.key in own_names
    ):
        return first, True
    return min(usual, key=lambda state: sum(_pods(state, key) for key in keys)), False


def _pods(state: State, key: Key) -> int:
    """Return the pods that are as wanted."""
    index = state.workloads.index_of(key)
    if index is None:
        return 0
    workload = state.workloads[index][1]
    return _as_wanted(pods_of(workload), count_wanted_pods(workload), count_outdated(workload))


def _as_wanted(pods: int, wanted_count: int, old: int) -> int:
    """Return how many of some pods count where a rollout is to replace ``old`` ones."""
    return min(pods, wanted_count) - old if old else pods


def _find_reaches(
    outcome: ChangeOutcome, space: str, keys: Sequence[Key], state: State
) -> Iterator[tuple[ReachablePods, FinalWorkload | None]]:
    namespace, final_states = outcome.after.spaces[space]
    final_state = namespace.describe_final_state(state)
    usual = final_states.states[: final_states.usual]
    reached_of = {workload.key: workload for workload in reversed(final_state.workloads)}
    for key in dict.fromkeys(keys):
        reached = reached_of.get(key)
        ref = ObjectRef(*key, space)
        if reached is None:
            yield ReachablePods(ref, 1, 0, 0, tuple(_answer_messages(outcome, key, space))), None
            continue
        pods = _as_wanted(reached.pods, reached.wanted, reached.behind)
        maximum = max((_pods(other, key) for other in usual), default=pods) if key[0] != "Pod" else 1
        messages = tuple(dict.fromkeys(text for refused in reached.refused for text in refused.messages))
        wanted_count = _count_wanted_pods(reached)
        # What the controller waits for is neither refused nor short of room.
        waits = pods < wanted_count and reached.ready < reached.pods and not messages and not reached.behind
        yield (
            ReachablePods(ref, wanted_count, pods, max(maximum, pods), messages, reached.behind, waits),
            reached,
        )


def _count_wanted_pods(final_workload: FinalWorkload) -> int:
    """Of a Job only as many pods as are not there and refused, or whose claims are, are wanting."""
    if final_workload.kind == "Job":
        return final_workload.at_once if final_workload.refused else final_workload.pods
    return final_workload.wanted


def _answer_messages(outcome: ChangeOutcome, key: Key, space: str) -> Iterator[str]:
    for sent_step in outcome.sent:
        if (sent_step.kind, sent_step.name, sent_step.namespace) == (*key, space):
            yield from (answer.message for answer in sent_step.answers if answer.message)


def _quota_shortages(outcome: ChangeOutcome, space: str) -> Iterator[QuotaLack]:
    """Yield what is used at the end, and what the missing pods would use, beyond what each quota allows."""
    namespace, _ = outcome.after.spaces[space]
    tables = namespace.tables
    state = outcome.after.states(space)[0]
    asked = list(state.used)
    world = tables.worlds[state.world]
    final_state = namespace.describe_final_state(state)
    final_states = {workload_end.key: workload_end for workload_end in reversed(final_state.workloads)}
    for key, workload in state.workloads:
        missing = _count_missing_pods(final_states.get(key))
        options = tables.options(workload.template, world)
        if missing and options:
            for number, amount in tables.shapes[options[0]].cost:
                asked[number] += amount * missing
    for number, limit in enumerate(state.limits):
        measure = tables.measures.items[number]
        if limit is not None and asked[number] > limit and asked[number] > state.used[number]:
            notation = tables.measures.formats.get(number, "DecimalSI")
            lacking = Quantity(asked[number] - limit, notation)
            yield QuotaLack(ObjectRef("ResourceQuota", measure.quota, space), measure.resource, str(lacking))


def _count_missing_pods(workload_end: FinalWorkload | None) -> int:
    """Return the pods that a workload lacks; of a rollout that stalls with all its pods the next one, if that is
    refused.
    """
    if workload_end is None or (workload_end.behind and not workload_end.refused):
        return 0
    return max(bool(workload_end.behind), _count_wanted_pods(workload_end) - workload_end.pods)


def steps_of(objects: Iterable[tuple[Any, str, str]]) -> Files:
    """``objects``: raw object, namespace and place in the file, in the order in which they are applied."""
    placed = []
    for raw, namespace, label in objects:
        kind = BY_KIND.get(str(raw.get("kind", "")))
        space = "" if kind is not None and not kind.namespaced else namespace
        placed.append(PlacedStep(Apply(raw, kept=True, label=label), space))
    return Files(tuple(placed))
