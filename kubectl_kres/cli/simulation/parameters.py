"""The kinds of objects that admission policies take parameters from, of which only the server knows more."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import structs

from kubectl_kres.cli.source.object_source import ObjectSource
from kubectl_kres.errors import ClusterError
from kubectl_kres.model.admitting import kind_name, parameter_kind
from kubectl_kres.model.kinds import Kind
from kubectl_kres.reports.changes.followed import GivenStep, policies_of
from kubectl_kres.simulate.change import key_of_step
from kubectl_kres.simulate.parameters import Parameters, parameters_of


def with_kinds(wanted: Sequence[GivenStep], source: ObjectSource) -> list[GivenStep]:
    """With the kinds of parameters that no table here has, as far as it is known where their objects stand."""
    parameters = parameters_of(policies_of(wanted, source.store))
    return [_with_kind(item, parameters, source) for item in wanted]


def _with_kind(item: GivenStep, parameters: Parameters, source: ObjectSource) -> GivenStep:
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
