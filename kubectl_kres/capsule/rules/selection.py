"""The namespaces of a pool, and which of its selectors chose each."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from kubectl_kres.capsule.model import ResourcePool
from kubectl_kres.model.meta import LabelSelector, Requirement
from kubectl_kres.model.policy import Namespace

_NAME = re.compile(r"[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?")
_PREFIX = re.compile(r"[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*")
_LONGEST_PREFIX = 253


def selected(pool: ResourcePool, namespaces: Iterable[Namespace]) -> dict[str, tuple[int, ...]]:
    """Names of the namespaces that the pool selects, sorted, each with the places of the selectors that match it.

    A pool that is being deleted selects nothing; selectors without fields and those that do not parse do not either.
    A namespace that is being deleted, or whose phase is not Active, is left out; no phase counts as Active.
    Source: capsule internal/controllers/resourcepools/pool_controller.go gatherMatchingNamespaces.
    """
    if pool.metadata.deletion_timestamp:
        return {}
    usable = [(place, selector) for place, selector in enumerate(pool.spec.selectors or ()) if is_usable(selector)]
    result: dict[str, tuple[int, ...]] = {}
    for space in namespaces:
        if not is_active(space):
            continue
        labels = space.metadata.labels or {}
        places = tuple(place for place, label_selector in usable if fits(label_selector, labels))
        if places:
            result[space.metadata.name] = places
    return dict(sorted(result.items()))


def is_active(namespace: Namespace) -> bool:
    """Whether a namespace can belong to a pool."""
    return not namespace.metadata.deletion_timestamp and namespace.status.phase in {"", "Active"}


def is_empty(selector: LabelSelector) -> bool:
    """Whether a selector has no fields: in a pool it selects nothing."""
    return not selector.match_labels and not selector.match_expressions


def is_usable(selector: LabelSelector) -> bool:
    """Whether a selector can select anything: it has fields and they parse."""
    return not is_empty(selector) and not fault(selector)


def fault(selector: LabelSelector) -> str:
    """Why a selector does not parse; empty if it does. The controller skips such a selector without a word.

    Source: apimachinery meta/v1/helpers.go LabelSelectorAsSelector, labels.NewRequirement.
    """
    for key, value in (selector.match_labels or {}).items():
        if not _is_key(key):
            return f"matchLabels: {key!r} is no label key"
        if not _is_value(value):
            return f"matchLabels[{key}]: {value!r} is no label value"
    for expression in selector.match_expressions or ():
        wrong = _expression_fault(expression)
        if wrong:
            return f"matchExpressions: {wrong}"
    return ""


def fits(selector: LabelSelector, labels: Mapping[str, str]) -> bool:
    """Whether labels fit a selector that parses: all of its labels and all of its expressions."""
    wanted = selector.match_labels or {}
    if any(labels.get(key) != value for key, value in wanted.items()):
        return False
    return all(_holds(match_expression, labels) for match_expression in selector.match_expressions or ())


def _holds(expression: Requirement, labels: Mapping[str, str]) -> bool:
    value, values = labels.get(expression.key), expression.values or ()
    match expression.operator:
        case "In":
            return value in values
        case "NotIn":
            return value not in values
        case "Exists":
            return value is not None
        case _:
            return value is None


def _expression_fault(expression: Requirement) -> str:
    operator, values = expression.operator, expression.values or ()
    if operator in {"In", "NotIn"}:
        if not values:
            return f"{operator} needs values"
    elif operator in {"Exists", "DoesNotExist"}:
        if values:
            return f"{operator} takes no values"
    else:
        return f"{operator!r} is no operator"
    if not _is_key(expression.key):
        return f"{expression.key!r} is no label key"
    wrong = [value for value in values if not _is_value(value)]
    return f"{wrong[0]!r} is no label value" if wrong else ""


def _is_key(key: str) -> bool:
    prefix, slash, name = key.rpartition("/")
    if slash and not (len(prefix) <= _LONGEST_PREFIX and _PREFIX.fullmatch(prefix)):
        return False
    return _NAME.fullmatch(name) is not None


def _is_value(value: str) -> bool:
    return not value or _NAME.fullmatch(value) is not None
