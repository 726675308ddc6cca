"""The requests and limits of an explanation: as written, as computed, as in the live pod, and what set them."""

# ruff: noqa: PLC0415 - only live pods differ from what is computed, and only --steps names who edited
from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

from kubectl_kres.admission.base.draft import SIDES, Draft, Side, Slot
from kubectl_kres.admission.base.outcome import Outcome
from kubectl_kres.admission.pod.aggregate import both_sums, explain_total, sum_containers, sum_pod
from kubectl_kres.errors import QuantityError
from kubectl_kres.model.objects import ManagedFields, ManagedMetadata, Raw
from kubectl_kres.model.pod import Container as PodContainer
from kubectl_kres.model.pod import Pod, ResourceRequirements
from kubectl_kres.provenance.journal import Entry, Set, Source, by_path
from kubectl_kres.quantity import Quantity, stored_quantity
from kubectl_kres.record import Wording
from kubectl_kres.reports.common.analysis import PodManifest
from kubectl_kres.reports.common.explanation import Alternative, ContainerValues, LastEdit, ResourceValue, Total
from kubectl_kres.store.store import ReadRequest, Store

#: What LimitRanges mostly fill in, and what stands there where nobody could read them.
_FILLED = {(side, resource) for side in SIDES for resource in ("cpu", "memory")}
_UNREAD = "what LimitRanges fill in is not known: they could not be read"


class ValueTable:
    """The values of one pod, from its manifest, its outcomes and the live pod."""

    def __init__(
        self, store: Store, manifest: PodManifest, outcomes: Sequence[Outcome], listed: Sequence[tuple[str, ...]] = ()
    ) -> None:
        self.store, self.manifest, self.outcomes = store, manifest, outcomes
        self.first = outcomes[0]
        # Of one draft there can be as many refusals as LimitRanges: its values and steps are those of the first.
        by_draft: dict[int, tuple[Outcome, tuple[str, ...]]] = {}
        for outcome, names in zip(outcomes, listed or [()] * len(outcomes), strict=True):
            by_draft.setdefault(id(outcome.draft), (outcome, names))
        self._of_drafts = tuple(by_draft.values())
        self._steps = [by_path(outcome.journal) for outcome, _ in self._of_drafts]
        self._values_of = [_draft_values(outcome.draft) for outcome, _ in self._of_drafts]
        self.written, self.names = _by_path(manifest.pod), names_of(manifest.pod)
        self.live, self._added_values = (
            _live_by_path(manifest.live, self.names) if manifest.live is not None else ({}, {})
        )
        self._edits: dict[tuple[Source, str], LastEdit | None] = {}

    def containers(self) -> tuple[ContainerValues, ...]:
        """Return the pod level if there is one, containers, init containers; then the containers that only the live pod
        has.
        """
        draft: Draft | None = self.first.draft
        if draft is None:
            return tuple(self._undecoded_values())
        slots = sorted(draft.slots(), key=lambda slot: slot.role != "pod")
        if draft.pod is None and self.manifest.pod.spec.resources is not None:
            slots.insert(0, Slot("spec", "", "pod", {}, {}))
        return (*map(self._container, slots), *self._injected_containers())

    def _container(self, slot: Slot) -> ContainerValues:
        values = tuple(self._values(slot))
        stated = {(value.side, value.resource) for value in values if value.value is not None}
        unread = not self.store.covered(ReadRequest("LimitRange", self.manifest.source.namespace)).is_known
        note = _UNREAD if unread and self.manifest.live is None and slot.role != "pod" and not stated >= _FILLED else ""
        return ContainerValues(slot.name, slot.role, slot.path, values, note)

    def edits(self) -> dict[str, LastEdit]:
        """Return the last editor of each policy or template field that set a value or refused one, by ``Kind/name
        field``.
        """
        for outcome in self.outcomes:
            for finding in outcome.refusal.findings if outcome.refusal else ():
                source = finding.source
                # What is enforced is the status, which the controller copies from what somebody wrote.
                self._edit(source and source.at_path(source.field.replace("status.hard", "spec.hard", 1)))
        return {
            str(source): edit
            for (source, _), edit in sorted(self._edits.items(), key=lambda item: repr(item[0][0]))
            if edit is not None
        }

    def _values(self, slot: Slot) -> Iterator[ResourceValue]:
        for resource in _resources(slot, (self.written, self.live, *self._values_of)):
            for side in reversed(SIDES):
                path = slot.path_of(side, resource)
                value = self._value(slot, side, resource, path)
                if value is not None:
                    yield value

    def _value(self, slot: Slot, side: Any, resource: str, path: str) -> ResourceValue | None:
        computed = slot.amounts_of(side).get(resource)
        written, live = self.written.get(path), self.live.get(path)
        others = tuple(self._alternatives(path, None if computed is None else str(computed)))
        if computed is None and written is None and live is None and not others:
            return None
        taken = self._steps[0].get(path, ())
        rule, source = self._set_by(path, taken, written)
        edited = self._edit(source)
        note: Wording = ""
        if self.manifest.live is not None and not _is_same_amount(live, None if computed is None else str(computed)):
            from kubectl_kres.reports.pod.live_differences import why_different

            unread = not self.store.covered(ReadRequest("LimitRange", self.manifest.live.metadata.namespace)).is_known
            note = why_different(self.manifest.live, path, self.names, source, edited, unread=unread)
        shown = None if computed is None else str(computed)
        return ResourceValue(path, side, resource, written, shown, live, rule, source, others, taken, note, edited)

    def _set_by(self, path: str, taken: Sequence[Entry], written: str | None) -> tuple[str, Source | None]:
        sets = [entry for entry in taken if isinstance(entry, Set) and (entry.source or entry.after is None)]
        if sets:
            return sets[-1].rule, self._locate_source(sets[-1].source)
        if written is None:
            return "", None
        return "manifest/written", self._at_start(path)

    def _at_start(self, path: str) -> Source:
        field = f"{self.manifest.prefix}{path}" if not self.manifest.source.field else self.manifest.source.field
        return self.manifest.source.at_path(field)

    def _locate_source(self, source: Source | None) -> Source | None:
        """Return where in the manifest a value of the pod itself was written: in the template that made it."""
        if source is not None and source.kind == "Pod" and not source.field.startswith("sum of"):
            return self._at_start(source.field)
        return source

    def _alternatives(self, path: str, shown: str | None) -> Iterator[Alternative]:
        seen = {shown}
        results_by_order = zip(self._of_drafts, self._values_of, self._steps, strict=True)
        for (outcome, listed), values, entries in list(results_by_order)[1:]:
            value = str(values[path]) if path in values else None
            if value in seen or value is None:
                continue
            seen.add(value)
            sets = [entry for entry in entries.get(path, ()) if isinstance(entry, Set) and entry.source]
            last = sets[-1] if sets else None
            source = last.source if last else None
            yield Alternative(value, last.rule if last else "", source, outcome.order, listed)

    def _edit(self, source: Source | None) -> LastEdit | None:
        if source is None:
            return None
        key = (source.at_path(source.field.partition("[")[0] if source.kind == "LimitRange" else source.field), "")
        if key not in self._edits:
            result = self.store.get(source.kind, source.name, source.namespace)
            metadata = result.metadata if result is not None else None
            managed = metadata.managed_fields if isinstance(metadata, ManagedMetadata) else None
            self._edits[key] = self._last_edit(managed, source.field) if managed else None
        return self._edits[key]

    def _last_edit(self, managed: Sequence[ManagedFields], path: str) -> LastEdit | None:
        from kubectl_kres.reports.common.last_editor import last_edit

        return last_edit(managed, path, self._names_at_start)

    @cached_property
    def _names_at_start(self) -> dict[str, str]:
        """Return the names of containers by their path in the object that holds the template."""
        return {f"{self.manifest.prefix}{path}": name for path, name in self.names.items()}

    @property
    def injected_containers(self) -> tuple[str, ...]:
        """Yield the containers that only the live pod has."""
        return tuple(container.name for container in self._added_values.values())

    def _injected_containers(self) -> Iterator[ContainerValues]:
        if self.manifest.live is None:
            return
        from kubectl_kres.reports.pod.live_differences import injection_note

        texts = _by_path(self.manifest.live)
        for path, container in self._added_values.items():
            values = tuple(
                ResourceValue(item_path, side, resource, live=text)
                for item_path, side, resource, text in _path_values(texts, path)
            )
            role = (
                "container" if path.startswith("spec.containers") else "sidecar" if container.restart_policy else "init"
            )
            yield ContainerValues(
                container.name, role, path, values, injection_note(self.manifest.live, container.name, path)
            )

    def _undecoded_values(self) -> Iterator[ContainerValues]:
        """Yield the written values, for a pod that was not computed because a quantity does not parse."""
        for path, name in ({"spec": ""} | self.names).items():
            values = tuple(
                ResourceValue(item_path, side, resource, written=text)
                for item_path, side, resource, text in _path_values(self.written, path)
            )
            role = "pod" if path == "spec" else "init" if path.startswith("spec.init") else "container"
            if values:
                yield ContainerValues(name, role, path, values)


def _path_values(texts: Raw, path: str) -> Iterator[tuple[str, str, str, str]]:
    """Yield path, side, resource and text of each value of one container: cpu, memory, the others; requests first."""
    heads = {side: f"{path}.resources.{side}[" for side in reversed(SIDES)}
    pairs = [
        (item_path, side, item_path[len(head) : -1])
        for side, head in heads.items()
        for item_path in texts
        if item_path.startswith(head)
    ]
    for item_path, side, resource in sorted(pairs, key=lambda texts: _rank(texts[2])):
        yield item_path, side, resource, texts[item_path]


def _draft_values(draft: Draft | None) -> Mapping[str, Quantity]:
    return draft.values() if draft is not None else {}


def _resources(slot: Slot, holders: Iterable[Raw]) -> list[str]:
    """Return the resource names that the container has in any outcome or source, each by its paths: cpu, memory, then
    the others.
    """
    holders = tuple(holders)
    texts = {name for side in SIDES for name in slot.amounts_of(side)}
    for side in SIDES:
        head = f"{slot.path}.resources.{side}["
        for paths in holders:
            texts |= {path[len(head) : -1] for path in paths if path.startswith(head)}
    return sorted(texts, key=_rank)


def _rank(resource: str) -> tuple[bool, bool, str]:
    """Return the sort key of a resource: cpu, memory, then the others by name."""
    return resource != "cpu", resource != "memory", resource


def _containers(pod: Pod) -> dict[str, PodContainer]:
    """Return containers and init containers by their path."""
    lists = (("containers", pod.spec.containers), ("initContainers", pod.spec.init_containers))
    return {f"spec.{key}[{index}]": container for key, group in lists for index, container in enumerate(group or ())}


def names_of(pod: Pod) -> dict[str, str]:
    """Return the names of containers by their path."""
    return {path: container.name for path, container in _containers(pod).items()}


def _live_by_path(live: Pod, names: Mapping[str, str]) -> tuple[dict[str, str], dict[str, PodContainer]]:
    """Return the live values at the paths of the manifest, since injectors move containers; and the containers they
    added.
    """
    by_name = {(path.partition("[")[0], name): path for path, name in names.items()}
    moved, additions = {"spec": "spec"}, {}
    for path, container in _containers(live).items():
        home = by_name.get((path.partition("[")[0], container.name))
        if home is None:
            additions[path] = container
        else:
            moved[path] = home
    at_home = {}
    for path, text in _by_path(live).items():
        holder, resources, rest = path.partition(".resources.")
        if holder in moved:
            at_home[f"{moved[holder]}{resources}{rest}"] = text
    return at_home, additions


def _by_path(pod: Pod) -> dict[str, str]:
    """Return every written request and limit by its path, as text."""
    spec = pod.spec
    holders: list[tuple[str, ResourceRequirements | None]] = [("spec", spec.resources)]
    for key, group in (("containers", spec.containers), ("initContainers", spec.init_containers)):
        holders += [(f"spec.{key}[{index}]", container.resources) for index, container in enumerate(group or ())]
    return {
        f"{path}.resources.{side}[{name}]": "0" if value is None else str(value)
        for path, resources in holders
        if resources is not None
        for side, values in (("limits", resources.limits), ("requests", resources.requests))
        for name, value in (values or {}).items()
    }


def _is_same_amount(a: str | None, b: str | None) -> bool:
    if a is None or b is None:
        return a is b
    try:
        return stored_quantity(a) == stored_quantity(b)
    except QuantityError:
        return a == b


def totals(draft: Draft) -> Iterator[Total]:
    """Yield the effective requests and limits of the pod, cpu and memory first."""
    sums = {side: sum_pod(draft, side) for side in SIDES}
    parts = {side: both_sums(draft, side) for side in SIDES}
    names = sorted({name for values in sums.values() for name in values}, key=lambda n: (n != "cpu", n != "memory", n))
    for name in names:
        for side in reversed(SIDES):
            if name in sums[side]:
                value = sums[side][name]
                derived = explain_total(draft, side, name, value, parts[side])
                yield Total(side, name, str(value), derived, _open(draft, side, name), _own_limits(draft, side, name))


def _own_limits(draft: Draft, side: Side, resource: str) -> str:
    """Return what the containers' own limits add up to, where the pod's own is below that; else empty."""
    limit = draft.pod.limits.get(resource) if draft.pod is not None and side == "limits" else None
    total = sum_containers(draft.running_slots(), (), side).get(resource) if limit is not None else None
    return str(total) if total is not None and limit is not None and total > limit else ""


def _open(draft: Draft, side: Side, resource: str) -> tuple[str, ...]:
    """Return the containers without such a limit, where the sum of the others looks like one of the pod."""
    level = draft.pod.amounts_of(side) if draft.pod is not None else {}
    if side != "limits" or resource not in {"cpu", "memory"} or resource in level:
        return ()
    return tuple(slot.name for slot in draft.running_slots() if resource not in slot.limits)
