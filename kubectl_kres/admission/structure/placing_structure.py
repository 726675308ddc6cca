"""Validation of where a pod may run: selectors, affinities, tolerations, spread constraints."""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_kres.admission.base.field_errors import (
    FieldError,
    duplicate,
    forbidden,
    invalid,
    not_supported,
    number,
    required,
)
from kubectl_kres.admission.base.resource_names import label_faults, qualified_faults, subdomain_faults
from kubectl_kres.admission.base.server import Server
from kubectl_kres.admission.structure.metadata_structure import label_errors, label_value_faults
from kubectl_kres.model.objects import Raw, integer, items, mapping, pointer, text, texts

RULE = "validation/placing"
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
_EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")
_ACTIONS = ("DoNotSchedule", "ScheduleAnyway")
_POLICIES = ("Honor", "Ignore")
_MOST_WEIGHT = 100
_LISTED = "must be specified when `operator` is 'In' or 'NotIn'"
_UNLISTED = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
_OPERATOR = "not a valid selector operator"


def placing_errors(spec: Raw, labels: Raw, server: Server) -> Iterator[FieldError]:
    """``labels``: of a pod, none of a template.

    Source: validation.go validateAffinity, ValidateTolerations, validateTopologySpreadConstraints.
    """
    yield from label_errors(spec.get("nodeSelector"), "spec.nodeSelector", RULE)
    affinity = mapping(spec, "affinity")
    yield from _node_errors(mapping(affinity, "nodeAffinity"), "spec.affinity.nodeAffinity")
    for kind in ("podAffinity", "podAntiAffinity"):
        path = f"spec.affinity.{kind}"
        for index, term in enumerate(items(mapping(affinity, kind), _REQUIRED)):
            yield from _term_errors(term, labels, f"{path}.{_REQUIRED}[{index}]")
        for index, weighted in enumerate(items(mapping(affinity, kind), _PREFERRED)):
            item_path = f"{path}.{_PREFERRED}[{index}]"
            yield from _weight_errors(weighted, item_path)
            yield from _term_errors(mapping(weighted, "podAffinityTerm"), labels, f"{item_path}.podAffinityTerm")
    for index, toleration in enumerate(items(spec, "tolerations")):
        yield from _toleration_errors(toleration, f"spec.tolerations[{index}]")
    constraints = items(spec, "topologySpreadConstraints")
    for index, constraint in enumerate(constraints):
        path = f"spec.topologySpreadConstraints[{index}]"
        yield from _spread_errors(constraint, constraints[index + 1 :], labels, path, server)


def selector_errors(selector: Raw | None, path: str, rule: str = RULE) -> Iterator[FieldError]:
    """Of a label selector. Source: apimachinery meta/v1/validation ValidateLabelSelector."""
    if selector is None:
        return
    yield from label_errors(selector.get("matchLabels"), f"{path}.matchLabels", rule)
    for index, requirement in enumerate(items(selector, "matchExpressions")):
        item_path, operator = f"{path}.matchExpressions[{index}]", text(requirement, "operator")
        values, key = texts(requirement, "values"), text(requirement, "key")
        if operator in {"In", "NotIn"}:
            if not values:
                yield required(f"{item_path}.values", _LISTED, rule)
        elif operator in {"Exists", "DoesNotExist"}:
            if values:
                yield forbidden(f"{item_path}.values", _UNLISTED, rule)
        else:
            yield invalid(f"{item_path}.operator", operator, _OPERATOR, rule, typed=True)
        yield from (invalid(f"{item_path}.key", key, fault, rule) for fault in qualified_faults(key))
        for position, value in enumerate(values):
            faults = label_value_faults(value)
            yield from (invalid(f"{item_path}.values[{position}]", value, fault, rule) for fault in faults)


def _node_errors(affinity: Raw, path: str) -> Iterator[FieldError]:
    wanted = pointer(affinity, _REQUIRED)
    if wanted is not None:
        item_path, terms = f"{path}.{_REQUIRED}.nodeSelectorTerms", items(wanted, "nodeSelectorTerms")
        if not terms:
            yield required(item_path, "must have at least one node selector term", RULE)
        for index, term in enumerate(terms):
            yield from _node_term_errors(term, f"{item_path}[{index}]", values=True)
    for index, weighted in enumerate(items(affinity, _PREFERRED)):
        item_path = f"{path}.{_PREFERRED}[{index}]"
        yield from _weight_errors(weighted, item_path)
        yield from _node_term_errors(mapping(weighted, "preference"), f"{item_path}.preference", values=False)


def _weight_errors(weighted: Raw, path: str) -> Iterator[FieldError]:
    weight = integer(weighted, "weight") or 0
    if not 1 <= weight <= _MOST_WEIGHT:
        yield number(f"{path}.weight", weight, "must be in the range 1-100", RULE)


def _node_term_errors(term: Raw, path: str, *, values: bool) -> Iterator[FieldError]:
    """``values``: they must be such as labels can have. Source: validation.go ValidateNodeSelectorTerm."""
    for index, requirement in enumerate(items(term, "matchExpressions")):
        yield from _node_requirement_errors(requirement, f"{path}.matchExpressions[{index}]", values=values)
    for index, requirement in enumerate(items(term, "matchFields")):
        item_path, operator = f"{path}.matchFields[{index}]", text(requirement, "operator")
        listed, key = texts(requirement, "values"), text(requirement, "key")
        if operator not in {"In", "NotIn"}:
            yield invalid(f"{item_path}.operator", operator, _OPERATOR, RULE, typed=True)
        elif len(listed) != 1:
            detail = "must be only one value when `operator` is 'In' or 'NotIn' for node field selector"
            yield required(f"{item_path}.values", detail, RULE)
        if key != "metadata.name":
            yield invalid(f"{item_path}.key", key, "not a valid field selector key", RULE)
            continue
        for position, value in enumerate(listed):
            yield from (
                invalid(f"{item_path}.values[{position}]", value, fault, RULE) for fault in subdomain_faults(value)
            )


def _node_requirement_errors(requirement: Raw, path: str, *, values: bool) -> Iterator[FieldError]:
    operator, listed, key = text(requirement, "operator"), texts(requirement, "values"), text(requirement, "key")
    if operator in {"In", "NotIn"}:
        if not listed:
            yield required(f"{path}.values", _LISTED, RULE)
    elif operator in {"Exists", "DoesNotExist"}:
        if listed:
            yield forbidden(f"{path}.values", _UNLISTED, RULE)
    elif operator in {"Gt", "Lt"}:
        if len(listed) != 1:
            yield required(f"{path}.values", "must be specified single value when `operator` is 'Lt' or 'Gt'", RULE)
    else:
        yield invalid(f"{path}.operator", operator, _OPERATOR, RULE, typed=True)
    yield from (invalid(f"{path}.key", key, fault, RULE) for fault in qualified_faults(key))
    for index, value in enumerate(listed if values else ()):
        yield from (invalid(f"{path}.values[{index}]", value, fault, RULE) for fault in label_value_faults(value))


def _term_errors(term: Raw, labels: Raw, path: str) -> Iterator[FieldError]:
    """Source: validation.go validatePodAffinityTerm."""
    for key in ("labelSelector", "namespaceSelector"):
        yield from selector_errors(pointer(term, key), f"{path}.{key}")
    for name in texts(term, "namespaces"):
        yield from (invalid(f"{path}.namespace", name, fault, RULE) for fault in label_faults(name))
    yield from _key_errors(term, labels, path)
    key = text(term, "topologyKey")
    if not key:
        yield required(f"{path}.topologyKey", "can not be empty", RULE)
    yield from (invalid(f"{path}.topologyKey", key, fault, RULE) for fault in qualified_faults(key))


def _key_errors(term: Raw, labels: Raw, path: str) -> Iterator[FieldError]:
    """Yield what a pod's own labels say of the keys is put into its selector before.

    Source: validation.go ValidateMatchLabelKeysAndMismatchLabelKeys; registry/core/pod strategy.go
    mutateMatchLabelKeysAndMismatchLabelKeys.
    """
    selector = pointer(term, "labelSelector")
    matched, mismatched = texts(term, "matchLabelKeys"), texts(term, "mismatchLabelKeys")
    for name, keys in (("matchLabelKeys", matched), ("mismatchLabelKeys", mismatched)):
        if keys and selector is None:
            yield forbidden(f"{path}.{name}", "must not be specified when labelSelector is not set", RULE)
            continue
        for index, key in enumerate(keys):
            yield from (invalid(f"{path}.{name}[{index}]", key, fault, RULE) for fault in qualified_faults(key))
    if selector is not None:
        selected, index_of = (
            set(mapping(selector, "matchLabels")),
            {key: position for position, key in enumerate(matched)},
        )
        merged = [key for key in (*matched, *mismatched) if key in labels]
        for key in (*(text(item, "key") for item in items(selector, "matchExpressions")), *merged):
            if key in index_of and key in selected:
                yield invalid(
                    f"{path}[{index_of[key]}]", key, "exists in both matchLabelKeys and labelSelector", RULE
                )  # fmt: skip
            selected.add(key)
    for index, key in enumerate(matched):
        if key in mismatched:
            detail = "exists in both matchLabelKeys and mismatchLabelKeys"
            yield invalid(f"{path}.matchLabelKeys[{index}]", key, detail, RULE)


def _toleration_errors(toleration: Raw, path: str) -> Iterator[FieldError]:
    """Source: validation.go ValidateTolerations."""
    key, operator, value, effect = (text(toleration, name) for name in ("key", "operator", "value", "effect"))
    if key:
        yield from (invalid(f"{path}.key", key, fault, RULE) for fault in qualified_faults(key))
    elif operator != "Exists":
        detail = 'operator must be Exists when `key` is empty, which means "match all values and all keys"'
        yield invalid(f"{path}.operator", operator, detail, RULE, typed=True)
    if toleration.get("tolerationSeconds") is not None and effect != "NoExecute":
        detail = "effect must be 'NoExecute' when `tolerationSeconds` is set"
        yield invalid(f"{path}.effect", effect, detail, RULE, typed=True)
    item_path = f"{path}.operator"
    match operator:
        case "" | "Equal":
            faults = [*label_value_faults(value)]
            if faults:
                yield invalid(item_path, value, ";".join(faults), RULE)
        case "Exists":
            if value:
                yield invalid(item_path, value, "value must be empty when `operator` is 'Exists'", RULE)
        case "Lt" | "Gt":
            yield not_supported(item_path, operator, ("Equal", "Exists", "Lt", "Gt"), RULE, in_order=True)
        case _:
            yield not_supported(item_path, operator, ("Equal", "Exists"), RULE, in_order=True)
    if effect and effect not in _EFFECTS:
        yield not_supported(f"{path}.effect", effect, _EFFECTS, RULE, in_order=True)


def _spread_errors(constraint: Raw, others: list[Raw], labels: Raw, path: str, server: Server) -> Iterator[FieldError]:
    skew, domains = integer(constraint, "maxSkew") or 0, integer(constraint, "minDomains")
    key, action = text(constraint, "topologyKey"), text(constraint, "whenUnsatisfiable")
    if skew <= 0:
        yield number(f"{path}.maxSkew", skew, "must be greater than zero", RULE)
    if not key:
        yield required(f"{path}.topologyKey", "can not be empty", RULE)
    if action not in _ACTIONS:
        yield not_supported(f"{path}.whenUnsatisfiable", action, _ACTIONS, RULE)
    if any((key, action) == (text(other, "topologyKey"), text(other, "whenUnsatisfiable")) for other in others):
        yield duplicate(f"{path}.{{topologyKey, whenUnsatisfiable}}", f"{{{key}, {action}}}", RULE)
    if domains is not None:
        yield from _domain_errors(domains, action, f"{path}.minDomains")
    for name in ("nodeAffinityPolicy", "nodeTaintsPolicy"):
        policy = constraint.get(name)
        if isinstance(policy, str) and policy not in _POLICIES:
            yield not_supported(f"{path}.{name}", policy, _POLICIES, RULE)
    if server.is_enabled("MatchLabelKeysInPodTopologySpreadSelectorMerge"):
        yield from _key_errors({**constraint, "mismatchLabelKeys": None}, labels, path)
    else:
        yield from _older_key_errors(constraint, f"{path}.matchLabelKeys")
    yield from selector_errors(pointer(constraint, "labelSelector"), f"{path}.labelSelector")


def _domain_errors(domains: int, action: str, path: str) -> Iterator[FieldError]:
    if domains <= 0:
        yield number(path, domains, "must be greater than zero", RULE)
    if action != "DoNotSchedule":
        detail = f"can only use minDomains if whenUnsatisfiable=DoNotSchedule, not {action}"
        yield number(path, domains, detail, RULE)


def _older_key_errors(constraint: Raw, path: str) -> Iterator[FieldError]:
    """Source: validation.go ValidateMatchLabelKeysInTopologySpread."""
    selector, keys = pointer(constraint, "labelSelector"), texts(constraint, "matchLabelKeys")
    if keys and selector is None:
        yield forbidden(path, "must not be specified when labelSelector is not set", RULE)
    selected = set(mapping(selector or {}, "matchLabels"))
    selected |= {text(item, "key") for item in items(selector or {}, "matchExpressions")}
    for index, key in enumerate(keys):
        yield from (invalid(f"{path}[{index}]", key, fault, RULE) for fault in qualified_faults(key))
        if key in selected:
            yield invalid(f"{path}[{index}]", key, "exists in both matchLabelKeys and labelSelector", RULE)
