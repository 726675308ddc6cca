"""Validation of the ResourceQuota object itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from kubectl_kres.admission.base.draft import Quantities
from kubectl_kres.admission.base.field_errors import FieldError, invalid, required
from kubectl_kres.admission.base.resource_names import is_standard_quota, quota_name_errors
from kubectl_kres.admission.pod.validation import value_errors
from kubectl_kres.model.objects import ResourceQuotaSpec, ScopedRequirement, ScopeSelector
from kubectl_kres.quantity import read_back

_POD = frozenset({"pods", "cpu", "memory", "limits.cpu", "limits.memory", "requests.cpu", "requests.memory"})
#: Scope to the standard names that may be limited under it.
ALLOWED = {
    "Terminating": _POD,
    "NotTerminating": _POD,
    "NotBestEffort": _POD,
    "PriorityClass": _POD,
    "CrossNamespacePodAffinity": _POD,
    "BestEffort": frozenset({"pods"}),
    "VolumeAttributesClass": frozenset({"persistentvolumeclaims", "requests.storage"}),
}
_BARE = frozenset(ALLOWED) - {"PriorityClass", "VolumeAttributesClass"}
_PAIRS = ({"BestEffort", "NotBestEffort"}, {"Terminating", "NotTerminating"})
_RULE = "quota/object-scope"


def validate(spec: ResourceQuotaSpec, hard: Quantities, path: str = "spec") -> list[FieldError]:
    """Return what the server refuses in a quota, all of it. Source: validation.go ValidateResourceQuotaSpec."""
    errors: list[FieldError] = []
    for name, quantity in hard.items():
        item_path = f"{path}.hard[{name}]"
        errors += quota_name_errors(name, item_path)
        errors += value_errors(name, quantity, item_path)
    standard = [name for name in sorted(hard) if is_standard_quota(name)]
    errors += _scope_errors(spec.scopes or (), standard)
    if spec.scope_selector is not None:
        errors += _selector_errors(spec, spec.scope_selector, standard)
    return errors


def warnings(hard: Quantities) -> Iterator[str]:
    """Requests that are allowed more than limits. Source: registry/core/resourcequota strategy.go WarningsOnCreate."""
    for resource in ("cpu", "memory", "storage", "ephemeral-storage"):
        names = (f"requests.{resource}", *((resource,) if resource in {"cpu", "memory"} else ()))
        request = next((name for name in names if name in hard), "")
        limit = f"limits.{resource}"
        if request and limit in hard and hard[request] > hard[limit]:
            yield f"ResourceQuota {request} ({hard[request]}) should be less than {limit} ({hard[limit]})"


def validate_update(
    spec: ResourceQuotaSpec, hard: Quantities, old: ResourceQuotaSpec, path: str = "spec"
) -> list[FieldError]:
    """Return the same, and that scopes never change. Source: validation.go ValidateResourceQuotaUpdate."""
    errors = validate(spec, hard, path)
    if set(spec.scopes or ()) != set(old.scopes or ()):
        shown = list(spec.scopes) if spec.scopes is not None else None
        errors.append(invalid(f"{path}.scopes", shown, "field is immutable", "quota/scopes-immutable"))
    return errors


def stored_spec(raw: Mapping[str, Any], hard: Quantities) -> dict[str, Any]:
    """Return the spec as stored: what is empty or unknown is left out, quantities are canonical."""
    spec = raw.get("spec") or {}
    shown: dict[str, Any] = (
        {"hard": {name: str(read_back(quantity)) for name, quantity in hard.items()}} if hard else {}
    )
    if spec.get("scopes"):
        shown["scopes"] = spec["scopes"]
    selector = spec.get("scopeSelector")
    if selector is not None:
        known = ("scopeName", "operator", "values")
        expressions = [
            {key: match_expression.get(key) for key in known if key != "values" or match_expression.get(key)}
            for match_expression in selector.get("matchExpressions") or ()
        ]
        shown["scopeSelector"] = {"matchExpressions": expressions} if expressions else {}
    return shown


def _scope_errors(scopes: Sequence[str], standard: Sequence[str]) -> Iterator[FieldError]:
    shown = list(scopes)
    for scope in scopes:
        if scope not in ALLOWED:
            yield invalid("spec.scopes", shown, "unsupported scope", _RULE)
        for name in standard:
            if scope in ALLOWED and name not in ALLOWED[scope]:
                yield invalid("spec.scopes", shown, "unsupported scope applied to resource", _RULE)
    yield from _scope_conflict_errors(scopes, "spec.scopes", shown)


def _scope_conflict_errors(scopes: Sequence[str], path: str, shown: object) -> Iterator[FieldError]:
    for pair in _PAIRS:
        if pair <= set(scopes):
            yield invalid(path, shown, "conflicting scopes", _RULE)


def _selector_errors(spec: ResourceQuotaSpec, selector: ScopeSelector, standard: Sequence[str]) -> Iterator[FieldError]:
    expressions = selector.match_expressions or ()
    path = "spec.scopeSelector.matchExpressions"
    for expression in expressions:
        scope = expression.scope_name
        if scope not in ALLOWED:
            yield invalid(f"{path}.scopeName", scope, "unsupported scope", _RULE, typed=True)
        for name in standard:
            if scope in ALLOWED and name not in ALLOWED[scope]:
                yield invalid(path, _dump_selector(selector), "unsupported scope applied to resource", _RULE)
        yield from _operator_errors(expression, path)
    # The server shows spec.scopes here, null where only the selector is used.
    shown = list(spec.scopes) if spec.scopes is not None else None
    yield from _scope_conflict_errors([expression.scope_name for expression in expressions], path, shown)


def _operator_errors(expression: ScopedRequirement, path: str) -> Iterator[FieldError]:
    operator, values = expression.operator, expression.values or ()
    if expression.scope_name in _BARE and operator != "Exists":
        scopes = [f"ResourceQuotaScope{name}" for name in ("Terminating", "NotTerminating", "BestEffort")]
        text = (
            f"must be 'Exists' when scope is any of {', '.join(scopes)}, "
            "ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity"
        )
        yield invalid(f"{path}.operator", operator, text, _RULE, typed=True)
    if operator in {"In", "NotIn"}:
        if not values:
            text = "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector"
            yield required(f"{path}.values", text, _RULE)
    elif operator in {"Exists", "DoesNotExist"}:
        if values:
            text = "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector"
            yield invalid(f"{path}.values", list(values), text, _RULE)
    else:
        yield invalid(f"{path}.operator", operator, "not a valid selector operator", _RULE, typed=True)


def _dump_selector(selector: ScopeSelector) -> dict[str, Any]:
    """Return the selector as the server's internal type prints, with Go's field names."""
    return {
        "MatchExpressions": [
            {"ScopeName": e.scope_name, "Operator": e.operator, "Values": None if e.values is None else list(e.values)}
            for e in selector.match_expressions or ()
        ]
    }
