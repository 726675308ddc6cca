"""Requests and limits from config-defaults for containers that have none of their own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import permutations

from kubectl_kres.admission.base.draft import SIDES
from kubectl_kres.model.pod import ResourceRequirements
from kubectl_kres.provenance.journal import Entry, Source
from kubectl_kres.quantity import Quantity
from kubectl_kres.tekton.rules.base.amounts import read
from kubectl_kres.tekton.rules.base.config import KEY
from kubectl_kres.tekton.rules.resources.container_draft import ContainerDraft, ResourceAmounts, note

DEFAULT, PREFIX = "default", "prefix-"

#: Containers that Tekton adds: they take an entry even where they have values.
INJECTED = frozenset({"prepare", "place-scripts", "working-dir-initializer", "sidecar-tekton-log-results"})

#: Up to this many prefixes that compete for a container every order is tried; beyond, each as the first.
MOST_COMPETING = 5

#: The order in which competing prefixes are met.
PrefixOrder = tuple[str, ...]


def prefix_orders(
    drafts: Sequence[ContainerDraft], entries: Mapping[str, ResourceRequirements]
) -> Iterator[PrefixOrder]:
    """Orders of prefixes that can make a difference: where two match one container, the first that is met wins.

    Tekton meets them in the order of a hash map, anew for each pod.
    """
    prefixes = [name for name in entries if name.startswith(PREFIX) and not _is_empty(entries[name])]
    rivals: dict[str, None] = {}
    for draft in drafts:
        if draft.empty or draft.name in INJECTED:
            matching = [name for name in prefixes if _matches(name, draft)]
            if len(matching) > 1 and not _has_own_entry(draft, entries):
                rivals.update(dict.fromkeys(matching))
    if len(rivals) <= MOST_COMPETING:
        yield from permutations(rivals)
        return
    for first in rivals:
        yield (first, *(name for name in rivals if name != first))


def apply(
    drafts: Sequence[ContainerDraft],
    entries: Mapping[str, ResourceRequirements],
    order: PrefixOrder,
    source: Source,
    journal: list[Entry] | None,
) -> None:
    """Give each container that is empty one entry as a whole: by name, else by prefix, else the default one.

    Containers with the same entry share its requests. Raises QuantityError.
    Source: defaultresourcerequirements/transformer.go updateResourceRequirements.
    """
    shared: dict[str, Mapping[str, ResourceAmounts | None]] = {}
    for draft in drafts:
        if not draft.empty and draft.name not in INJECTED:
            continue
        name = match_entry(draft, entries, order)
        if name is None:
            continue
        entry = entries[name]
        if name not in shared:
            shared[name] = {"limits": _list(entry.limits), "requests": _list(entry.requests)}
        before = {side: draft.amounts_of(side) or {} for side in SIDES}
        rule = _rule(name)
        for side in SIDES:
            values = shared[name][side]
            draft.put_side(side, values)
            for resource, quantity in (values or {}).items():
                field_source = source.at_path(f"{KEY}[{name}].{side}[{resource}]")
                note(draft, side, resource, quantity, before[side].get(resource), rule, field_source, journal)
        draft.claims = entry.claims or ()


def match_entry(draft: ContainerDraft, entries: Mapping[str, ResourceRequirements], order: PrefixOrder) -> str | None:
    """Return the name of the entry that a container gets; None: it gets none."""
    if _has_own_entry(draft, entries):
        return draft.name
    for name in (*order, *(other for other in entries if other.startswith(PREFIX) and other not in order)):
        if _matches(name, draft) and not _is_empty(entries[name]):
            return name
    return DEFAULT if DEFAULT in entries and not _is_empty(entries[DEFAULT]) else None


def _has_own_entry(draft: ContainerDraft, entries: Mapping[str, ResourceRequirements]) -> bool:
    """Return whether an entry has the container's own name."""
    name = draft.name
    return name in entries and name != DEFAULT and not name.startswith(PREFIX) and not _is_empty(entries[name])


def _matches(name: str, draft: ContainerDraft) -> bool:
    return name.startswith(PREFIX) and draft.name.startswith(f"{name.removeprefix(PREFIX)}-")


def _is_empty(entry: ResourceRequirements) -> bool:
    return not entry.requests and not entry.limits and not entry.claims


def _list(values: Mapping[str, object] | None) -> ResourceAmounts | None:
    """None only for an absent list: an empty one can be shared and filled."""
    quantities: dict[str, Quantity] | None = read(values)
    return {} if quantities is None and values is not None else quantities


def _rule(name: str) -> str:
    if name == DEFAULT:
        return "tekton/config-default"
    return "tekton/config-default-prefix" if name.startswith(PREFIX) else "tekton/config-default-named"
