"""All rules, by their codes. A rule is added by its module and one line here."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Final, cast

from kubectl_kres.reports.check.rule import Rule

_HERE = "kubectl_kres.reports.check"
_MODULES = (
    "refused.pods_missing",
    "refused.next_pod",
    "refused.order",
    "refused.rollout",
    "refused.claim_never",
    "refused.claim_waits",
    "refused.run_never",
    "refused.pipeline_width",
    "refused.side_by_side",
    "refused.autoscaler",
    "refused.held_up",
    "refused.run_killed",
    "refused.object_refused",
    "conflicts.empty_range",
    "conflicts.default_outside",
    "conflicts.ratio",
    "conflicts.pod_below_container",
    "conflicts.order_of_defaults",
    "conflicts.unmet_requirement",
    "conflicts.quota_too_small",
    "conflicts.quota_of_runs",
    "conflicts.unknown_names",
    "conflicts.empty_scope",
    "conflicts.pools_overlap",
    "conflicts.selects_nothing",
    "conflicts.nothing_claimed",
    "conflicts.optional_values",
    "state.drift",
    "state.over_hard",
    "state.not_enforced",
    "state.stale_exhausted",
    "state.lost_claim",
    "state.unwritable_name",
    "state.tenant_overprovision",
    "surprises.no_memory_limit",
    "surprises.weaker_qos",
    "surprises.open_container",
    "surprises.unreachable_limit",
    "surprises.init_dominates",
    "surprises.fractional_bytes",
    "surprises.sum_of_steps",
    "rights.unread",
    "rights.no_answer",
    "rights.exemption",
)

RULES: Final[tuple[Rule, ...]] = tuple(cast("Rule", import_module(f"{_HERE}.{name}").RULE) for name in _MODULES)
BY_CODE: Final[Mapping[str, Rule]] = {rule.code: rule for rule in RULES}
