"""Label selectors in words."""

from __future__ import annotations

from kubectl_kres.capsule.rules.selection import fault, is_empty
from kubectl_kres.model.meta import LabelSelector, Requirement


def selector_words(selector: LabelSelector) -> str:
    """``team=solar, env in (dev, test)`` as kubectl takes it; for one that selects nothing, that and why."""
    if is_empty(selector):
        return "{}, which selects nothing in a pool"
    wrong = fault(selector)
    labels = [f"{key}={value}" for key, value in sorted((selector.match_labels or {}).items())]
    shown = ", ".join([*labels, *map(_expression, selector.match_expressions or ())])
    return f"{shown}, which does not parse and so selects nothing: {wrong}" if wrong else shown


def _expression(one: Requirement) -> str:
    values = f"({', '.join(one.values or ())})"
    match one.operator:
        case "In":
            return f"{one.key} in {values}"
        case "NotIn":
            return f"{one.key} notin {values}"
        case "Exists":
            return one.key
        case "DoesNotExist":
            return f"!{one.key}"
        case _:
            return f"{one.key} {one.operator} {values if one.values else ''}".rstrip()
