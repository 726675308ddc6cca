"""What validation finds in the policies of a Job: when a failed pod fails it, and when it has succeeded.

Source: batch/validation validatePodFailurePolicy, validateSuccessPolicy.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from kubectl_kres.admission.base.field_error import (
    FieldError,
    duplicate,
    invalid,
    not_supported,
    number,
    omitted,
    quote,
    required,
    too_long,
    too_many,
)
from kubectl_kres.admission.base.resource_names import qualified_faults
from kubectl_kres.model.raw import Raw, integer, items, mapping, pointer, text

_RULE, _CHOICE = "validation/job", "validation/choice"
_ACTIONS = ("Count", "FailIndex", "FailJob", "Ignore")
_OPERATORS, _STATES = ("In", "NotIn"), ("False", "True", "Unknown")
_MOST_RULES, _MOST_PATTERNS, _MOST_VALUES = 20, 20, 255
_LONGEST_INDEXES = 64 * 1024
_INTEGER = re.compile(r"[+-]?[0-9]+")


def failure_errors(spec: Raw, path: str) -> Iterator[FieldError]:
    """Of ``podFailurePolicy`` of a Job's spec that has one."""
    rules = items(mapping(spec, "podFailurePolicy"), "rules")
    if len(rules) > _MOST_RULES:
        yield too_many(f"{path}.rules", len(rules), _MOST_RULES, _RULE)
    pods = mapping(mapping(spec, "template"), "spec")
    names = {text(item, "name") for key in ("containers", "initContainers") for item in items(pods, key)}
    for index, rule in enumerate(rules):
        yield from _rule_errors(spec, rule, f"{path}.rules[{index}]", names)


def _rule_errors(spec: Raw, rule: Raw, path: str, names: set[str]) -> Iterator[FieldError]:
    action = text(rule, "action")
    if not action:
        yield required(f"{path}.action", _valid(_ACTIONS), _CHOICE)
    elif action == "FailIndex":
        if integer(spec, "backoffLimitPerIndex") is None:
            yield invalid(f"{path}.action", action, "requires the backoffLimitPerIndex to be set", _RULE, typed=True)
    elif action not in _ACTIONS:
        yield not_supported(f"{path}.action", action, _ACTIONS, _CHOICE)
    codes, patterns = pointer(rule, "onExitCodes"), items(rule, "onPodConditions")
    if codes is not None:
        yield from _code_errors(codes, f"{path}.onExitCodes", names)
    if len(patterns) > _MOST_PATTERNS:
        yield too_many(f"{path}.onPodConditions", len(patterns), _MOST_PATTERNS, _RULE)
    for index, pattern in enumerate(patterns):
        at = f"{path}.onPodConditions[{index}]"
        kind = text(pattern, "type")
        yield from (invalid(f"{at}.type", kind, fault, _RULE) for fault in qualified_faults(kind))
        yield from _choice(text(pattern, "status") or "True", f"{at}.status", _STATES)
    if codes is not None and patterns:
        yield omitted(path, "specifying both OnExitCodes and OnPodConditions is not supported", _RULE)
    if codes is None and not patterns:
        yield omitted(path, "specifying one of OnExitCodes and OnPodConditions is required", _RULE)


def _code_errors(codes: Raw, path: str, names: set[str]) -> Iterator[FieldError]:
    operator = text(codes, "operator")
    yield from _choice(operator, f"{path}.operator", _OPERATORS)
    name = codes.get("containerName")
    if isinstance(name, str) and name not in names:
        detail = "must be one of the container or initContainer names in the pod template"
        yield invalid(f"{path}.containerName", name, detail, _RULE)
    result = codes.get("values")
    values = [item if isinstance(item, int) else 0 for item in result] if isinstance(result, list | tuple) else []
    at = f"{path}.values"
    if not values:
        yield invalid(at, values if isinstance(result, list | tuple) else None, "at least one value is required", _RULE)
    elif len(values) > _MOST_VALUES:
        yield too_many(at, len(values), _MOST_VALUES, _RULE)
    for index, value in enumerate(values):
        if operator == "In" and value == 0:
            yield number(f"{at}[{index}]", value, "must not be 0 for the In operator", _RULE)
        if value in values[:index]:
            yield duplicate(f"{at}[{index}]", value, _RULE, typed=True)
    if values != sorted(values):
        yield invalid(at, values, "must be ordered", _RULE)


def _choice(value: str, path: str, choices: Sequence[str]) -> Iterator[FieldError]:
    if not value:
        yield required(path, _valid(choices), _CHOICE)
    elif value not in choices:
        yield not_supported(path, value, choices, _CHOICE)


def _valid(choices: Sequence[str]) -> str:
    return f"valid values: [{' '.join(map(quote, choices))}]"


def success_errors(policy: Raw, completions: int, path: str) -> Iterator[FieldError]:
    """Of ``successPolicy`` of an Indexed Job with so many ``completions``."""
    rules = items(policy, "rules")
    if not rules:
        detail = "at least one rules must be specified when the successPolicy is specified"
        yield required(f"{path}.rules", detail, _RULE)
    elif len(rules) > _MOST_RULES:
        yield too_many(f"{path}.rules", len(rules), _MOST_RULES, _RULE)
    for index, rule in enumerate(rules):
        yield from _success_errors(rule, completions, f"{path}.rules[{index}]")


def _success_errors(rule: Mapping[str, object], completions: int, path: str) -> Iterator[FieldError]:
    count, indexes = integer(rule, "succeededCount"), rule.get("succeededIndexes")
    if count is None and not isinstance(indexes, str):
        yield required(path, "at least one of succeededCount or succeededIndexes must be specified", _RULE)
    total, fault = _counted(indexes, completions) if isinstance(indexes, str) else (0, "")
    if isinstance(indexes, str) and len(indexes.encode("utf-8", "surrogatepass")) > _LONGEST_INDEXES:
        yield too_long(f"{path}.succeededIndexes", _LONGEST_INDEXES, _RULE)
    if fault:
        yield invalid(f"{path}.succeededIndexes", indexes, f"error parsing succeededIndexes: {fault}", _RULE)
    if count is None:
        return
    at = f"{path}.succeededCount"
    if count < 0:
        yield number(at, count, "must be greater than or equal to 0", "validation/non-negative")
    if count > completions:
        detail = f"must be less than or equal to {completions} (the number of specified completions)"
        yield number(at, count, detail, _RULE)
    if isinstance(indexes, str) and count > total:
        what = "the number of indexes in the specified succeededIndexes field"
        yield number(at, count, f"must be less than or equal to {total} ({what})", _RULE)


def _counted(text_: str, completions: int) -> tuple[int, str]:
    """How many indexes a list of ranges names, or 0 and what is wrong with it. Source: validateIndexesFormat."""
    total, last = 0, -1
    for part in text_.split(",") if text_ else ():
        ends = part.split("-")
        if len(ends) > 2:
            most = "at most two parts separated by '-'"
            return 0, f"the fragment {quote(part)} violates the requirement that an index interval can have {most}"
        numbers: list[int] = []
        for end in ends:
            if not _INTEGER.fullmatch(end):
                return 0, f"cannot convert string to integer for index: {quote(end)}"
            if int(end) >= completions:
                return 0, f"too large index: {quote(end)}"
            numbers.append(int(end))
        if len(numbers) == 2 and numbers[0] >= numbers[1]:
            return 0, f"non-increasing order, previous: {numbers[0]}, current: {numbers[1]}"
        if total and last >= numbers[0]:
            return 0, f"non-increasing order, previous: {last}, current: {numbers[0]}"
        total, last = total + numbers[-1] - numbers[0] + 1, numbers[-1]
    return total, ""
