"""The one LimitRange that Tekton makes of all in a namespace, as its steps meet it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from kubectl_kres.admission.limitrange.limitrange_object import Limits
from kubectl_kres.model.tekton_config import CONFIG_NAMES
from kubectl_kres.reports.common.system_parts import MergedLimit
from kubectl_kres.store.coverage import Need
from kubectl_kres.store.store import Store
from kubectl_kres.tekton.reports.config import configuration_needs
from kubectl_kres.tekton.rules.resources.container_draft import Sourced
from kubectl_kres.tekton.rules.resources.virtual_limitrange import virtuals


def tekton_needs_of_namespace(store: Store) -> tuple[Need, ...]:
    """One read that shows whether Tekton is installed."""
    return tuple(configuration_needs(store))[:1]


def is_installed(store: Store) -> bool:
    """Whether Tekton's configuration, or anything that it runs, was read."""
    return any(item.metadata.name in CONFIG_NAMES for item in store.all("ConfigMap")) or any(store.all("TaskRun"))


def merged_limits(limits: Sequence[Limits]) -> tuple[MergedLimit, ...]:
    """A row for each resource that a LimitRange gives steps something of; none without LimitRanges."""
    results = virtuals(limits)
    first = results[0].items[0] if results and results[0].items else None
    if first is None:
        return ()
    return tuple(_rows(first.default_request, first.minimum, len(results) - 1))


def _rows(defaults: Mapping[str, Sourced], minimums: Mapping[str, Sourced], others: int) -> Iterator[MergedLimit]:
    for resource in dict.fromkeys((*defaults, *minimums)):
        default, minimum = defaults.get(resource), minimums.get(resource)
        given = default is not None and default[0].nano > 0
        bounded = minimum is not None and minimum[0].nano > 0
        if given or bounded:
            yield MergedLimit(
                resource,
                str(default[0]) if default is not None and given else None,
                str(minimum[0]) if minimum is not None and bounded else None,
                default[1] if default is not None and given and default[1].kind else None,
                minimum[1] if minimum is not None and bounded and minimum[1].kind else None,
                others,
            )
