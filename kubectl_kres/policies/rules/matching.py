"""Which requests a policy, a binding or a webhook is about. Source: apiserver admission/plugin/policy/matching."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import structs

from kubectl_kres.policies.rules.namespaces import CLUSTER_WIDE
from kubectl_kres.policies.rules.objects import EQUIVALENT
from kubectl_kres.policies.rules.request import Request

Raw = Mapping[str, Any]


def selects(selector: Raw | None, labels: Raw | None) -> bool:
    """A label selector; an absent or empty one selects everything."""
    labels = labels or {}
    selector = selector or {}
    if any(labels.get(key) != value for key, value in (selector.get("matchLabels") or {}).items()):
        return False
    return all(_holds(match_expression, labels) for match_expression in selector.get("matchExpressions") or ())


def _holds(expression: Raw, labels: Raw) -> bool:
    key, values = expression.get("key", ""), expression.get("values") or ()
    operator = expression.get("operator")
    if operator == "In":
        return key in labels and labels[key] in values
    if operator == "NotIn":
        return key not in labels or labels[key] not in values
    return (key in labels) is (operator == "Exists")


def matched(constraints: Raw | None, request: Request, namespace: Raw | None) -> Request | None:
    """The request as the policy sees it, perhaps in another version of the kind; None: it is not about it."""
    if not constraints:
        return request
    if not _namespace_selected(constraints.get("namespaceSelector"), request, namespace):
        return None
    if not _object_selected(constraints.get("objectSelector"), request):
        return None
    policy = constraints.get("matchPolicy", "Equivalent")
    if _first(constraints.get("excludeResourceRules"), request, policy) is not None:
        return None
    rules = constraints.get("resourceRules")
    return _first(rules, request, policy) if rules else request


def _namespace_selected(selector: Raw | None, request: Request, namespace: Raw | None) -> bool:
    if not selector:
        return True
    if request.kind == "Namespace":
        source = request.object or request.old or {}
        return selects(selector, (source.get("metadata") or {}).get("labels"))
    if request.kind in CLUSTER_WIDE:
        return True
    labels = dict(((namespace or {}).get("metadata") or {}).get("labels") or {})
    labels.setdefault("kubernetes.io/metadata.name", request.namespace)
    return selects(selector, labels)


def _object_selected(selector: Raw | None, request: Request) -> bool:
    """Either the new or the old object has to be selected."""
    if not selector:
        return True
    present = [mapping for mapping in (request.object, request.old) if mapping is not None]
    return any(selects(selector, (mapping.get("metadata") or {}).get("labels")) for mapping in present)


def _first(rules: Sequence[Raw] | None, request: Request, policy: str) -> Request | None:
    if any(rule_matches(rule, request) for rule in rules or ()):
        return request
    if policy != "Equivalent":
        return None
    for other in _equivalents(request):
        if any(rule_matches(rule, other) for rule in rules or ()):
            return other
    return None


def _equivalents(request: Request) -> Iterator[Request]:
    for version in EQUIVALENT.get((request.kind, request.api_version), ()):
        yield structs.replace(request, api_version=version)


def rule_matches(rule: Raw, request: Request) -> bool:
    """Groups, versions, operations, resources, scope and names of one rule."""
    names = rule.get("resourceNames")
    return (
        _listed(rule.get("apiGroups"), request.group)
        and _listed(rule.get("apiVersions"), request.version)
        and _listed(rule.get("operations"), request.operation)
        and _in_scope(rule.get("scope"), request)
        and any(_resource(resource, request) for resource in rule.get("resources") or ())
        and (not names or request.name in names)
    )


def _listed(values: Sequence[str] | None, wanted: str) -> bool:
    return "*" in (values or ()) or wanted in (values or ())


def _in_scope(scope: str | None, request: Request) -> bool:
    cluster = request.kind in CLUSTER_WIDE
    return scope in (None, "", "*") or (scope == "Cluster") is cluster


def _resource(pattern: str, request: Request) -> bool:
    wanted, _, sub = pattern.partition("/")
    if wanted not in ("*", request.resource):
        return False
    return sub in ("*", request.subresource)
