"""Fields of policies and bindings that this program does not know, because the server that stored them is newer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import structs

from kubectl_kres.policies.rules.policy import BoundPolicy, name_of

Raw = Mapping[str, Any]
_TEXTS: Raw = {}
_SELECTOR = {
    "matchLabels": _TEXTS,
    "matchExpressions": {"key": _TEXTS, "operator": ("In", "NotIn", "Exists", "DoesNotExist"), "values": _TEXTS},
}
_RULE = dict.fromkeys(("apiGroups", "apiVersions", "resources", "resourceNames"), _TEXTS) | {
    "operations": ("*", "CREATE", "UPDATE", "DELETE", "CONNECT"),
    "scope": ("*", "Cluster", "Namespaced"),
}
_MATCH = {
    "namespaceSelector": _SELECTOR,
    "objectSelector": _SELECTOR,
    "resourceRules": _RULE,
    "excludeResourceRules": _RULE,
    "matchPolicy": ("Equivalent", "Exact"),
}
_NAMED = {"name": _TEXTS, "expression": _TEXTS}
_POLICY = {
    "paramKind": {"apiVersion": _TEXTS, "kind": _TEXTS},
    "matchConstraints": _MATCH,
    "matchConditions": _NAMED,
    "variables": _NAMED,
    "failurePolicy": ("Fail", "Ignore"),
}
_VALIDATION = dict.fromkeys(("expression", "message", "messageExpression", "reason"), _TEXTS)
_VALIDATING = {"validations": _VALIDATION, "auditAnnotations": {"key": _TEXTS, "valueExpression": _TEXTS}}
_MUTATION = {
    "patchType": ("ApplyConfiguration", "JSONPatch"),
    "applyConfiguration": {"expression": _TEXTS},
    "jsonPatch": {"expression": _TEXTS},
}
_MUTATING = {"mutations": _MUTATION, "reinvocationPolicy": ("Never", "IfNeeded")}
_BINDING = {
    "policyName": _TEXTS,
    "paramRef": {
        "name": _TEXTS,
        "namespace": _TEXTS,
        "selector": _SELECTOR,
        "parameterNotFoundAction": ("Allow", "Deny"),
    },
    "matchResources": _MATCH,
    "validationActions": ("Deny", "Warn", "Audit"),
}
_POLICIES: Raw = {**_POLICY, **_VALIDATING, **_MUTATING}


def known_bindings(bound: BoundPolicy) -> tuple[BoundPolicy | None, list[str]]:
    """Return the policy with the bindings of which everything is known, and what is not; None: nothing can be
    computed.
    """
    last = bound.policy.familiar
    if last is None or last[0] is not bound.bindings:
        last = bound.policy.familiar = (bound.bindings, *_select_known_bindings(bound))
    return last[1:]


def answerable(bound: BoundPolicy, withheld: frozenset[str]) -> tuple[BoundPolicy | None, list[str]]:
    """As ``known_bindings``, of a request of which the fields ``withheld`` were not read."""
    words = bound.policy.words & withheld
    return (None, [f"it asks for {', '.join(sorted(words))}, which is not read"]) if words else known_bindings(bound)


def _select_known_bindings(bound: BoundPolicy) -> tuple[BoundPolicy | None, list[str]]:
    strange = list(_find_unknown_fields(bound.policy.spec, _POLICIES, "spec"))
    if strange:
        return None, [f"it has {strange[0]}, which is newer than this program"]
    kept, gaps = [], []
    for binding in bound.bindings:
        strange = list(_find_unknown_fields(binding.get("spec") or {}, _BINDING, "spec"))
        if strange:
            gaps.append(f"its binding {name_of(binding)} has {strange[0]}, which is newer than this program")
        else:
            kept.append(binding)
    return (structs.replace(bound, bindings=tuple(kept)) if gaps else bound) if kept else None, gaps


def _find_unknown_fields(value: Any, known_fields: Any, path: str) -> Iterator[str]:
    """Yield the paths of fields, and values with their paths, that are not known. ``known`` without entries: anything
    is.
    """
    if not known_fields or value is None:
        return
    if isinstance(value, Sequence) and not isinstance(value, str):
        for index, item in enumerate(value):
            yield from _find_unknown_fields(item, known_fields, f"{path}[{index}]")
    elif isinstance(value, Mapping) and isinstance(known_fields, Mapping):
        for name, item in value.items():
            if name in known_fields:
                yield from _find_unknown_fields(item, known_fields[name], f"{path}.{name}")
            else:
                yield f"{path}.{name}"
    elif isinstance(known_fields, tuple) and value not in ("", *known_fields):
        yield f'{path} "{value}"'
