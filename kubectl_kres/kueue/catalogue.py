"""The catalogue of rules of Kueue, by their codes."""

from __future__ import annotations

from collections.abc import Mapping

from kubectl_kres.provenance.catalogued_rule import CataloguedRule

_RESOURCES = "kueue pkg/workload/resources.go"

RULES: Mapping[str, CataloguedRule] = {
    "kueue/default-limit": CataloguedRule(
        "Kueue fills in the default limit of a LimitRange before it charges a pod.", _RESOURCES, refuses=False
    ),
    "kueue/default-request": CataloguedRule(
        "Kueue fills in the default request of a LimitRange, and only then takes limits as requests; the API server "
        "does it the other way round.",
        _RESOURCES,
        refuses=False,
    ),
    "kueue/request-from-limit": CataloguedRule(
        "Kueue takes a limit as the request that is still missing.", _RESOURCES, refuses=False
    ),
}
