"""A number that is tried: the change that it makes, what that comes to, and a session on the state it leads to.

The change is one of ``simulate``; what is typed is ``NAME=VALUE``, as ``replicas=3`` or ``requests.memory=5Gi``.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from kubectl_kres.cluster.watch.feed_state import FeedState
from kubectl_kres.errors import QuantityError, UsageError
from kubectl_kres.model.kinds import BY_KIND
from kubectl_kres.model.objects import ObjectRef, Raw
from kubectl_kres.model.pod import Pod
from kubectl_kres.model.workload import template_in
from kubectl_kres.model.workload_kinds import SCALED
from kubectl_kres.quantity import parse
from kubectl_kres.render.text.line import Line, clip_text
from kubectl_kres.render.text.sentences import sentence_text
from kubectl_kres.reports.changes.altered_objects import AlteredObjects, altered_objects
from kubectl_kres.reports.changes.compare import report_with_pods
from kubectl_kres.reports.changes.given_steps import cluster_needs, namespace_needs, plugin_needs
from kubectl_kres.reports.changes.nodes import change_node_needs, with_nodes
from kubectl_kres.reports.changes.report import ChangeReport
from kubectl_kres.reports.common.explanation import find_unread
from kubectl_kres.reports.common.remedy import RaiseQuota, Remedy, SetValue
from kubectl_kres.reports.quota.usage_tree import workload_of
from kubectl_kres.reports.remedies.keepers import kept_by
from kubectl_kres.reports.rollout.injected_containers import find_added
from kubectl_kres.simulate.change import Patch, PlacedStep, ScaleStep, key_of_step
from kubectl_kres.simulate.cluster import simulate_steps
from kubectl_kres.simulate.live import raw_of
from kubectl_kres.simulate.system import cluster_kinds
from kubectl_kres.store.store import Changes, ReadRequest, Store
from kubectl_kres.tui.session import Session

#: Where amounts by name stand in an object.
_AMOUNTS: Mapping[str, tuple[str, ...]] = {
    "ResourceQuota": ("spec", "hard"),
    "ResourcePool": ("spec", "quota", "hard"),
    "ResourcePoolClaim": ("spec", "claim"),
}
#: Cells of a text that is no number.
_SHOWN = 20
_SIDES = ("requests", "limits")
_GROUPS = ("containers", "initContainers")


class TypedNumber(Struct, frozen=True):
    """A number that was typed: the step that it is, what it was called, and the lines that would make it so.

    ``flag``: of ``simulate``. ``command``: of kubectl. ``field``: the path with the value. ``owner``: who would undo
    the command, and what to change instead; empty: nobody.
    """

    placed_step: PlacedStep
    words: str
    flag: str
    command: str
    field: str = ""
    owner: str = ""

    @property
    def lasting(self) -> str:
        """Return what makes it so: the command; where the object's owner would undo that, the field with its value."""
        return self.field if self.owner else self.command

    @property
    def value(self) -> str:
        """Which number of which object it is."""
        return self.words.partition("=")[0]


class WhatIf(Struct, frozen=True):
    """``real``: the session that is left for it. ``refs``: the objects that are different."""

    real: Session
    typed_numbers: tuple[TypedNumber, ...]
    report: ChangeReport
    refs: frozenset[ObjectRef]

    def is_changed(self, ref: ObjectRef) -> bool:
        """Return whether an object, or something in a namespace, is different."""
        return ref in self.refs or (
            ref.kind == "Namespace" and any(object_ref.namespace == ref.name for object_ref in self.refs)
        )

    @property
    def words(self) -> str:
        """Return what was typed, one after the other."""
        return ", ".join(typed_number.words for typed_number in self.typed_numbers)

    @property
    def short(self) -> str:
        """The same without kinds."""
        return ", ".join(typed_number.words.partition("/")[2] for typed_number in self.typed_numbers)

    @property
    def flags(self) -> str:
        """The words with which ``simulate`` prints what it comes to."""
        spaces = [
            typed_number.placed_step.namespace
            for typed_number in self.typed_numbers
            if typed_number.placed_step.namespace
        ]
        namespace_flag = f" -n {shlex.quote(spaces[0])}" if spaces else ""
        return f"simulate {' '.join(typed_number.flag for typed_number in self.typed_numbers)}{namespace_flag}"


class Proposal(Struct, frozen=True):
    """The object whose number can be tried, and what the prompt begins with; whether that is a fix, or what it has.

    ``row``: the object that was chosen, which may be another one than the fix is made on; None: none was.
    """

    ref: ObjectRef
    text: str
    is_fix: bool = False
    row: ObjectRef | None = None

    def ref_for(self, text: str) -> ObjectRef:
        """Return the object that a number is typed for: replicas are those of what was chosen, whatever its fix."""
        is_scaled = self.row is not None and self.row.kind in SCALED
        return self.row if self.row is not None and is_scaled and text.startswith("replicas=") else self.ref


def number_of_fix(remedies: Sequence[Remedy]) -> tuple[ObjectRef, str, str] | None:
    """Return the object, name and number of the first fix that is one number to try; None: none is."""
    for remedy in remedies:
        edit = remedy.edits[0] if len(remedy.edits) == 1 else None
        if isinstance(edit, RaiseQuota):
            return edit.object, edit.resource, edit.to
        if isinstance(edit, SetValue) and edit.to is not None and edit.container:
            return edit.object, f"{edit.container}.{edit.side}.{edit.resource}", edit.to
    return None


def proposal(store: Store, ref: ObjectRef | None, name: str = "", now: str = "") -> Proposal | None:
    """For an object, and one of its names with a number, the one that it has if none is given; of a pod what made it;
    None: there is no number to try.
    """
    item = store.get(ref.kind, ref.name, ref.namespace) if ref is not None else None
    if ref is None or item is None:
        return None
    if isinstance(item, Pod):
        kind, _, maker = workload_of(item, store).partition("/")
        return proposal(store, ObjectRef(kind, maker, ref.namespace), name, now) if kind != "Pod" else None
    if ref.kind in _AMOUNTS:
        amounts = _read_path(raw_of(item), _AMOUNTS[ref.kind])
        if name not in amounts:
            now = ""
            name = max(amounts, key=lambda name: _share(item, name, amounts[name]), default="")
        return Proposal(ref, f"{name}={now or amounts[name]}", bool(now)) if name else None
    if name and template_in(raw_of(item)) is not None:
        return Proposal(ref, f"{name}={now}", bool(now))
    if ref.kind in SCALED:
        replicas = item.spec.replicas
        return Proposal(ref, f"replicas={1 if replicas is None else replicas}")
    return None


def merge_numbers(before: Iterable[TypedNumber], typed: Iterable[TypedNumber]) -> tuple[TypedNumber, ...]:
    """Return the numbers that were tried and those that are: one that is tried again takes the place of the one before,
    and where several objects need another amount of one quota the largest is tried.
    """
    now: dict[str, TypedNumber] = {}
    for typed_number in typed:
        known = now.get(typed_number.value)
        if known is None or _amount_of(typed_number) > _amount_of(known):
            now[typed_number.value] = typed_number
    return (*(other for other in before if other.value not in now), *now.values())


def _amount_of(typed_number: TypedNumber) -> int:
    return parse(typed_number.words.rpartition("=")[2]).nano


def is_maker_unread(store: Store, ref: ObjectRef | None) -> bool:
    """Return whether an object is a pod that something made which has not been read, and which has a screen."""
    pod = store.get("Pod", ref.name, ref.namespace) if ref is not None and ref.kind == "Pod" else None
    kind, _, name = workload_of(pod, store).partition("/") if isinstance(pod, Pod) else ("Pod", "", "")
    is_known = kind != "Pod" and kind in BY_KIND
    return is_known and store.get(kind, name, ref.namespace if ref is not None else "") is None


def _share(item: Any, name: str, hard: Any) -> float:
    """Return how much of a name is used, as far as the object says so."""
    used = (getattr(item.status, "used", None) or {}).get(name)
    try:
        limit = parse(str(hard)).nano
        return parse(str(used)).nano / limit if used is not None and limit else 0.0
    except QuantityError:
        return 0.0


def parse_step(store: Store, ref: ObjectRef, text: str) -> TypedNumber:
    """Return what was typed, as a step. Raises UsageError where it cannot be one."""
    # A name that was typed behind the name that stood there takes its place.
    name, value = (part.strip() for part in text.split("=")[-2:]) if "=" in text else ("", "")
    if not name or not value:
        raise UsageError("a name and a value are needed, as replicas=3 or requests.memory=5Gi")
    item = store.get(ref.kind, ref.name, ref.namespace)
    owner = sentence_text(kept_by(store, item.metadata) or "") if item is not None else ""
    kind, label = ref.kind.lower(), f"{ref.kind.lower()}/{ref.name} {name}={value}"
    access = f" {store.origin.flags}" if store.origin.flags else ""
    namespace_flag = f" -n {shlex.quote(ref.namespace)}" if ref.namespace else ""
    if name == "replicas":
        if ref.kind not in SCALED or not value.isascii() or not value.isdecimal() or len(value) > 9:
            raise UsageError(f"{label}: a whole number of replicas is needed, of a kind that is scaled")
        flag = f"--scale {shlex.quote(f'{kind}/{ref.name}={value}')}"
        command = f"kubectl scale {kind} {shlex.quote(ref.name)}{namespace_flag} --replicas={value}{access}"
        placed_step = PlacedStep(ScaleStep(ref.kind, ref.name, int(value), flag), ref.namespace)
        return TypedNumber(placed_step, label, flag, command, f"spec.replicas: {value}", owner)
    try:
        parse(value)
    except QuantityError as error:
        raise UsageError(f"{clip_text(value, _SHOWN)} is no quantity: 5Gi, 512Mi, 500m, 2 are") from error
    path = _path(store, ref, name, label)
    shown = "".join(f"[{step}]" if bracketed else f".{step}" for step, bracketed in path).removeprefix(".")
    flag = f"--set {shlex.quote(f'{kind}/{ref.name}:{shown}={value}')}"
    patch = _nest_value(path, value)
    how = "strategic" if ref.kind not in _AMOUNTS else "merge"
    wire = json.dumps(patch, separators=(",", ":"))
    command = (
        f"kubectl patch {kind} {shlex.quote(ref.name)}{namespace_flag} --type {how} -p {shlex.quote(wire)}{access}"
    )
    placed_step = PlacedStep(Patch(ref.kind, ref.name, patch, flag), ref.namespace)
    return TypedNumber(placed_step, label, flag, command, f"{shown}: {value}", owner)


def _path(store: Store, ref: ObjectRef, name: str, label: str) -> list[tuple[str, bool]]:
    """Return the steps to a value, each with whether it is written in brackets: a key of a map, or an element's
    name.
    """
    if ref.kind in _AMOUNTS:
        return [*((step, False) for step in _AMOUNTS[ref.kind]), (name, True)]
    raw = raw_of(store.get(ref.kind, ref.name, ref.namespace))
    found_template = template_in(raw)
    container, _, rest = name.partition(".")
    side, _, resource = rest.partition(".")
    if found_template is None or side not in _SIDES or not resource:
        raise UsageError(f"{label}: replicas, or CONTAINER.requests.NAME or CONTAINER.limits.NAME is expected")
    steps, template = found_template
    for group in _GROUPS:
        if any(item.get("name") == container for item in template["spec"].get(group) or ()):
            path = [*steps, "spec", group]
            return [*((step, False) for step in path), (container, True), ("resources", False), (side, False),
                    (resource, True)]  # fmt: skip
    raise UsageError(f"{label}: there is no container {container}")


def _nest_value(path: Sequence[tuple[str, bool]], value: str) -> Any:
    """Return the patch that sets it; an element of a list is found by its name."""
    (step, _), rest = path[0], path[1:]
    if not rest:
        return {step: value}
    if step in _GROUPS:
        return {step: [{"name": rest[0][0], **_nest_value(rest[1:], value)}]}
    return {step: _nest_value(rest, value)}


def _read_path(raw: Raw, path: Iterable[str]) -> Mapping[str, Any]:
    node: Any = raw
    for step in path:
        node = node.get(step) or {}
    result: Mapping[str, Any] = node
    return result


def list_read_requests(store: Store, typed_numbers: Sequence[TypedNumber]) -> Iterator[ReadRequest]:
    """Yield what has to be read before it can be said what becomes of the change."""
    spaces = tuple(
        dict.fromkeys(
            typed_number.placed_step.namespace for typed_number in typed_numbers if typed_number.placed_step.namespace
        )
    )
    kinds = {key_of_step(typed_number.placed_step.step)[0] for typed_number in typed_numbers}
    # A pool changes quotas of any namespace.
    yield from namespace_needs([""] if kinds & cluster_kinds() else spaces)
    yield from plugin_needs(store, spaces)
    if kinds & cluster_kinds():
        yield from cluster_needs()


def simulate_change(
    session: Session, typed_numbers: Sequence[TypedNumber]
) -> tuple[ChangeReport, AlteredObjects, tuple[ReadRequest, ...]]:
    """Return what becomes of the change, as ``simulate`` says it, the objects that it leaves behind, and what tells
    whether nodes take the pods that it makes.
    """
    store, steps = session.store, tuple(typed_number.placed_step for typed_number in typed_numbers)
    spaces = tuple(dict.fromkeys(step.namespace for step in steps if step.namespace))
    outcome = simulate_steps(store, steps, session.server, spaces, seen=True, find_added=find_added(store))
    failed_reads = tuple(find_unread(store, (read for read in namespace_needs(spaces) if read.required)))
    change = report_with_pods(outcome, steps)
    change_report = with_nodes(change.report, store, change.pods, steps, session.server.version[1])
    notes = (*change_report.notes, *session.assumptions)
    change_report = replace(
        change_report, notes=notes, unread=(*failed_reads, *change_report.unread), complete=not failed_reads
    )
    reads = change_node_needs(store, change.pods, steps) if change.pods.created else ()
    return change_report, altered_objects(store, steps, outcome, change_report), reads


def build_session(
    real: Session, typed_numbers: Sequence[TypedNumber], change_report: ChangeReport, after: AlteredObjects
) -> Session:
    """Return a session on the state that the change leads to. What else arrives from the cluster is in it, too."""
    store = real.store.copied()
    after.apply_to(store)
    session = Session(store, _Mirror(real, after.refs), real.setting, real.namespace)
    session.recent = list(real.recent)
    session.what_if = WhatIf(real, tuple(typed_numbers), change_report, after.refs)
    session.adder.touch(ObjectRef("Pod", name, space) for space, name in store.keys("Pod"))
    return session


def mark_new_lines(lines: Iterable[Line], before: Iterable[Line] | None) -> Iterator[Line]:
    """Yield the lines, with a sign before those that did not stand there before; None: nothing is tried."""
    if before is None:
        yield from lines
        return
    known_names = {"".join(text for _, text in line) for line in before}
    for line in lines:
        text = "".join(part for _, part in line)
        if not text or text in known_names or not line:
            yield line
            continue
        tone, first = line[0]
        yield [("warn", "~"), (tone, first.removeprefix(" ")), *line[1:]]


class _Mirror:
    """The feed of the session that was left: what it brings is in both, but for the objects that the change made."""

    def __init__(self, real: Session, refs: frozenset[ObjectRef]) -> None:
        self._real, self._refs = real, refs

    @property
    def idle(self) -> bool:
        """Return whether all that was wanted has been read, as far as the feed can say."""
        return bool(getattr(self._real.feed, "idle", True))

    @property
    def on_arrival(self) -> Callable[[], None]:
        return self._real.feed.on_arrival

    @on_arrival.setter
    def on_arrival(self, call: Callable[[], None]) -> None:
        self._real.feed.on_arrival = call

    def request_reads(self, reads: Iterable[ReadRequest]) -> None:
        self._real.feed.request_reads(reads)

    def stop(self) -> None:
        self._real.feed.stop()

    def states(self) -> Mapping[ReadRequest, FeedState]:
        return self._real.feed.states()

    def close(self) -> None:
        self._real.feed.close()

    def drain(self, store: Store, *, maximum: int = 5_000) -> Changes:
        del maximum
        came, changes = self._real.drain(), Changes()
        for ref in (*came.added, *came.changed):
            item = self._real.get(ref)
            if ref not in self._refs and item is not None:
                changes.put(ref, new=store.get(ref.kind, ref.name, ref.namespace) is None)
                store.add(ref.kind, item)
        for ref in came.removed:
            if ref not in self._refs:
                store.remove(ref.kind, ref.name, ref.namespace)
                changes.take(ref)
        for read in came.reads:
            store.cover(read, self._real.store.covered(read))
            changes.reads[read] = None
        return changes
