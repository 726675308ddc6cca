"""Which steps are about objects that admission policies take parameters from, and whether these can be played."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from msgspec import structs

from kubectl_kres.cli.simulation.steps import Wanted
from kubectl_kres.cli.source.object_source import ObjectSource
from kubectl_kres.errors import ClusterError
from kubectl_kres.model.admitting import kind_name, parameter_kind
from kubectl_kres.model.kinds import BY_KIND, Kind
from kubectl_kres.reports.common.explanation import Unseen
from kubectl_kres.simulate.change import Apply, key_of_step
from kubectl_kres.simulate.live import raw_of
from kubectl_kres.simulate.parameters import Parameters, parameters_of
from kubectl_kres.simulate.plugins import POLICIES
from kubectl_kres.store.parameters import parameter_need
from kubectl_kres.store.store import Store


def policies_in(wanted: Iterable[Wanted], store: Store) -> list[Any]:
    """Policies and bindings that there are, and those of the change."""
    stored = [raw_of(item) for kind in POLICIES for item in store.all(kind)]
    return [*stored, *(item.step.object for item in wanted if isinstance(item.step, Apply))]


def with_kinds(wanted: Sequence[Wanted], source: ObjectSource) -> list[Wanted]:
    """With the kinds of parameters that no table here has, as far as it is known where their objects stand."""
    parameters = parameters_of(policies_in(wanted, source.store))
    return [_with_kind(item, parameters, source) for item in wanted]


def _with_kind(item: Wanted, parameters: Parameters, source: ObjectSource) -> Wanted:
    kind, _ = key_of_step(item.step)
    if item.kind is not None or not parameters.concern(item.step):
        return item
    name = kind_name(parameters.versions[kind], kind)
    spaces = {stored.metadata.namespace for stored in source.store.all(name)}
    namespaced = True if item.namespace else all(spaces) if spaces else _is_namespaced(name, source)
    known = parameter_kind(name)
    if namespaced is None or known is None:
        return item
    return structs.replace(item, kind=structs.replace(known, kind=kind, namespaced=namespaced))


def _is_namespaced(name: str, source: ObjectSource) -> bool | None:
    """None: nobody can be asked."""
    try:
        kind: Kind = source.kind(name.lower())
    except ClusterError:
        return None
    return kind.namespaced


def unplayed(wanted: Iterable[Wanted], store: Store, default: str) -> Iterator[tuple[Wanted, Unseen]]:
    """The steps about parameters of which it is not known what they leave. ``default``: where the others stand."""
    parameters = parameters_of(policies_in(wanted, store))
    for item in wanted:
        kind, name = key_of_step(item.step)
        if not parameters.concern(item.step) or (kind in BY_KIND and BY_KIND[kind] != item.kind):
            continue
        if item.kind is None:
            yield item, Unseen(kind, "failed", "", name, f"whether a {kind} stands in a namespace is not known")
            continue
        space = (item.namespace or default) if item.kind.namespaced else ""
        need = parameter_need(parameters.versions[kind], kind, space, {"name": name})
        present = any(stored.metadata.name == name for stored in store.all(need.kind, space))
        if not isinstance(item.step, Apply) and not present and not store.covered(need).known:
            yield item, Unseen(kind, "failed", space, name, "policies take parameters from it, and it is not read")
