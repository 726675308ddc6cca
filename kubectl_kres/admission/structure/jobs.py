"""Validation of Jobs and CronJobs beside their pods: names, policies, schedules.

Source: batch/validation validatePodFailurePolicy, validateSuccessPolicy; github.com/robfig/cron/v3 parser.go
ParseStandard.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import NamedTuple
from zoneinfo import available_timezones

from kubectl_kres import durations
from kubectl_kres.admission.base.field_errors import (
    FieldError,
    duplicate,
    invalid,
    invalid_field,
    not_supported,
    number,
    required,
    too_long,
    too_many,
)
from kubectl_kres.admission.base.resource_names import label_faults, qualified_faults, subdomain_faults
from kubectl_kres.admission.base.text_rules import selector_matches, shown_selector
from kubectl_kres.admission.structure.metadata_structure import label_value_faults, name_of
from kubectl_kres.admission.structure.placing_structure import selector_errors
from kubectl_kres.go_text import as_json, quote
from kubectl_kres.model.objects import Raw, integer, items, mapping, pointer, text

_MONTHS = dict(
    zip(("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"), range(1, 13), strict=True)
)
_DAYS = dict(zip(("sun", "mon", "tue", "wed", "thu", "fri", "sat"), range(7), strict=True))
_NAMED = {"@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly"}
_EVERY = "@every "
#: Names that load, and are none of a place.
_OTHER_ZONES = frozenset({"", "UTC", "Local", "localtime", "posixrules"})


class _Bounds(NamedTuple):
    least: int
    most: int
    names: Mapping[str, int] = {}


#: Minute, hour, day of the month, month, day of the week.
_FIELDS = (_Bounds(0, 59), _Bounds(0, 23), _Bounds(1, 31), _Bounds(1, 12, _MONTHS), _Bounds(0, 6, _DAYS))


class _FaultError(ValueError):
    """The argument is the parser's sentence."""


def schedule_fault(schedule: str) -> str:
    """Return the parser's sentence; empty if it takes the text.

    Source: robfig/cron v3.0.1 parser.go Parse, parseDescriptor; pkg/util/parsers ParseCronScheduleWithPanicRecovery.
    """
    if schedule.startswith(("TZ=", "CRON_TZ=")):
        zone, space, rest = schedule.partition("=")[2].partition(" ")
        if not space:
            return "invalid schedule format: runtime error: slice bounds out of range [:-1]"
        if fault := zone_fault(zone):
            return f"provided bad location {zone}: {fault}"
        schedule = rest.strip()
    if schedule.startswith("@"):
        return _descriptor_fault(schedule)
    fields = schedule.split()
    if len(fields) != len(_FIELDS):
        return f"expected exactly {len(_FIELDS)} fields, found {len(fields)}: [{' '.join(fields)}]"
    try:
        for text, bounds in zip(fields, _FIELDS, strict=True):
            for part in filter(None, text.split(",")):
                _check_range(part, bounds)
    except _FaultError as error:
        return str(error)
    return ""


def _descriptor_fault(schedule: str) -> str:
    if not schedule.startswith(_EVERY):
        return "" if schedule in _NAMED else f"unrecognized descriptor: {schedule}"
    try:
        durations.parse(schedule.removeprefix(_EVERY))
    except durations.DurationError as error:
        return f"failed to parse duration {schedule}: {error}"
    return ""


def zone_fault(name: str) -> str:
    """Return what Go says of a time zone that it cannot load; empty where no zones are installed to look it up in.

    Source: Go src/time/zoneinfo.go LoadLocation.
    """
    if ".." in name or name.startswith(("/", "\\")):
        return "time: invalid location name"
    zones = _zones()
    if not zones or name in zones or name in _OTHER_ZONES or name.startswith(("posix/", "right/")):
        return ""
    is_folder = any(zone.startswith(f"{name}/") for zone in zones)
    return "is a directory" if is_folder else f"unknown time zone {name}"


@cache
def _zones() -> frozenset[str]:
    return frozenset(available_timezones())


def _check_range(text: str, bounds: _Bounds) -> None:
    """Raises _FaultError."""
    span, *steps = text.split("/")
    low, *high = span.split("-")
    if low in {"*", "?"}:
        start, end = bounds.least, bounds.most
    else:
        start = end = _number(low, bounds.names)
        if len(high) > 1:
            raise _FaultError(f"too many hyphens: {text}")
        if high:
            end = _number(high[0], bounds.names)
    step = 1
    if len(steps) > 1:
        raise _FaultError(f"too many slashes: {text}")
    if steps:
        step = _number(steps[0], {})
        end = end if high else bounds.most
    _check_bounds(start, end, step, bounds, text)


def _check_bounds(start: int, end: int, step: int, bounds: _Bounds, text: str) -> None:
    if start < bounds.least:
        raise _FaultError(f"beginning of range ({start}) below minimum ({bounds.least}): {text}")
    if end > bounds.most:
        raise _FaultError(f"end of range ({end}) above maximum ({bounds.most}): {text}")
    if start > end:
        raise _FaultError(f"beginning of range ({start}) beyond end of range ({end}): {text}")
    if not step:
        raise _FaultError(f"step of range should be a positive number: {text}")


def _number(text: str, names: Mapping[str, int]) -> int:
    if text.lower() in names:
        return names[text.lower()]
    if not re.fullmatch("[+-]?[0-9]+", text):
        raise _FaultError(f'failed to parse int from {text}: strconv.Atoi: parsing "{text}": invalid syntax')
    value = int(text)
    if not -(2**63) <= value < 2**63:
        raise _FaultError(f'failed to parse int from {text}: strconv.Atoi: parsing "{text}": value out of range')
    if value < 0:
        raise _FaultError(f"negative number ({value}) not allowed: {text}")
    return value


_POLICY_RULE, _POLICY_CHOICE = "validation/job", "validation/choice"
_ACTIONS = ("Count", "FailIndex", "FailJob", "Ignore")
_OPERATORS, _STATES = ("In", "NotIn"), ("False", "True", "Unknown")
_MOST_RULES, _MOST_PATTERNS, _MOST_VALUES = 20, 20, 255
_LONGEST_INDEXES = 64 * 1024
_INTEGER = re.compile(r"[+-]?[0-9]+")


def failure_errors(spec: Raw, path: str) -> Iterator[FieldError]:
    """Of ``podFailurePolicy`` of a Job's spec that has one."""
    rules = items(mapping(spec, "podFailurePolicy"), "rules")
    if len(rules) > _MOST_RULES:
        yield too_many(f"{path}.rules", len(rules), _MOST_RULES, _POLICY_RULE)
    pods = mapping(mapping(spec, "template"), "spec")
    names = {text(item, "name") for key in ("containers", "initContainers") for item in items(pods, key)}
    for index, rule in enumerate(rules):
        yield from _rule_errors(spec, rule, f"{path}.rules[{index}]", names)


def _rule_errors(spec: Raw, rule: Raw, path: str, names: set[str]) -> Iterator[FieldError]:
    action = text(rule, "action")
    if not action:
        yield required(f"{path}.action", _valid(_ACTIONS), _POLICY_CHOICE)
    elif action == "FailIndex":
        if integer(spec, "backoffLimitPerIndex") is None:
            yield invalid(
                f"{path}.action", action, "requires the backoffLimitPerIndex to be set", _POLICY_RULE, typed=True
            )
    elif action not in _ACTIONS:
        yield not_supported(f"{path}.action", action, _ACTIONS, _POLICY_CHOICE)
    codes, patterns = pointer(rule, "onExitCodes"), items(rule, "onPodConditions")
    if codes is not None:
        yield from _code_errors(codes, f"{path}.onExitCodes", names)
    if len(patterns) > _MOST_PATTERNS:
        yield too_many(f"{path}.onPodConditions", len(patterns), _MOST_PATTERNS, _POLICY_RULE)
    for index, pattern in enumerate(patterns):
        item_path = f"{path}.onPodConditions[{index}]"
        kind = text(pattern, "type")
        yield from (invalid(f"{item_path}.type", kind, fault, _POLICY_RULE) for fault in qualified_faults(kind))
        yield from _choice(text(pattern, "status") or "True", f"{item_path}.status", _STATES)
    if codes is not None and patterns:
        yield invalid_field(path, "specifying both OnExitCodes and OnPodConditions is not supported", _POLICY_RULE)
    if codes is None and not patterns:
        yield invalid_field(path, "specifying one of OnExitCodes and OnPodConditions is required", _POLICY_RULE)


def _code_errors(codes: Raw, path: str, names: set[str]) -> Iterator[FieldError]:
    operator = text(codes, "operator")
    yield from _choice(operator, f"{path}.operator", _OPERATORS)
    name = codes.get("containerName")
    if isinstance(name, str) and name not in names:
        detail = "must be one of the container or initContainer names in the pod template"
        yield invalid(f"{path}.containerName", name, detail, _POLICY_RULE)
    result = codes.get("values")
    values = [item if isinstance(item, int) else 0 for item in result] if isinstance(result, list | tuple) else []
    item_path = f"{path}.values"
    if not values:
        yield invalid(
            item_path,
            values if isinstance(result, list | tuple) else None,
            "at least one value is required",
            _POLICY_RULE,
        )
    elif len(values) > _MOST_VALUES:
        yield too_many(item_path, len(values), _MOST_VALUES, _POLICY_RULE)
    for index, value in enumerate(values):
        if operator == "In" and value == 0:
            yield number(f"{item_path}[{index}]", value, "must not be 0 for the In operator", _POLICY_RULE)
        if value in values[:index]:
            yield duplicate(f"{item_path}[{index}]", value, _POLICY_RULE, typed=True)
    if values != sorted(values):
        yield invalid(item_path, values, "must be ordered", _POLICY_RULE)


def _choice(value: str, path: str, choices: Sequence[str]) -> Iterator[FieldError]:
    if not value:
        yield required(path, _valid(choices), _POLICY_CHOICE)
    elif value not in choices:
        yield not_supported(path, value, choices, _POLICY_CHOICE)


def _valid(choices: Sequence[str]) -> str:
    return f"valid values: [{' '.join(map(quote, choices))}]"


def success_errors(policy: Raw, completions: int, path: str) -> Iterator[FieldError]:
    """Of ``successPolicy`` of an Indexed Job with so many ``completions``."""
    rules = items(policy, "rules")
    if not rules:
        detail = "at least one rules must be specified when the successPolicy is specified"
        yield required(f"{path}.rules", detail, _POLICY_RULE)
    elif len(rules) > _MOST_RULES:
        yield too_many(f"{path}.rules", len(rules), _MOST_RULES, _POLICY_RULE)
    for index, rule in enumerate(rules):
        yield from _success_errors(rule, completions, f"{path}.rules[{index}]")


def _success_errors(rule: Mapping[str, object], completions: int, path: str) -> Iterator[FieldError]:
    count, indexes = integer(rule, "succeededCount"), rule.get("succeededIndexes")
    if count is None and not isinstance(indexes, str):
        yield required(path, "at least one of succeededCount or succeededIndexes must be specified", _POLICY_RULE)
    total, fault = _count_indexes(indexes, completions) if isinstance(indexes, str) else (0, "")
    if isinstance(indexes, str) and len(indexes.encode("utf-8", "surrogatepass")) > _LONGEST_INDEXES:
        yield too_long(f"{path}.succeededIndexes", _LONGEST_INDEXES, _POLICY_RULE)
    if fault:
        yield invalid(f"{path}.succeededIndexes", indexes, f"error parsing succeededIndexes: {fault}", _POLICY_RULE)
    if count is None:
        return
    item_path = f"{path}.succeededCount"
    if count < 0:
        yield number(item_path, count, "must be greater than or equal to 0", "validation/non-negative")
    if count > completions:
        detail = f"must be less than or equal to {completions} (the number of specified completions)"
        yield number(item_path, count, detail, _POLICY_RULE)
    if isinstance(indexes, str) and count > total:
        what = "the number of indexes in the specified succeededIndexes field"
        yield number(item_path, count, f"must be less than or equal to {total} ({what})", _POLICY_RULE)


def _count_indexes(text_: str, completions: int) -> tuple[int, str]:
    """Return how many indexes a list of ranges names, or 0 and what is wrong with it. Source: validateIndexesFormat."""
    total, last = 0, -1
    for part in text_.split(",") if text_ else ():
        bounds = part.split("-")
        if len(bounds) > 2:
            most = "at most two parts separated by '-'"
            return (
                0,
                f"the fragment {quote(part)} violates the requirement that an index interval can have {most}",
            )
        numbers: list[int] = []
        for bound in bounds:
            if not _INTEGER.fullmatch(bound):
                return 0, f"cannot convert string to integer for index: {quote(bound)}"
            if int(bound) >= completions:
                return 0, f"too large index: {quote(bound)}"
            numbers.append(int(bound))
        if len(numbers) == 2 and numbers[0] >= numbers[1]:
            return 0, f"non-increasing order, previous: {numbers[0]}, current: {numbers[1]}"
        if total and last >= numbers[0]:
            return 0, f"non-increasing order, previous: {last}, current: {numbers[0]}"
        total, last = total + numbers[-1] - numbers[0] + 1, numbers[-1]
    return total, ""


_RULE, _SELECTOR, _CHOICE = "validation/job", "validation/selector", "validation/choice"
#: What stands for the UID that the server gives the job.
UID = "UID"
_UIDS = ("controller-uid", "batch.kubernetes.io/controller-uid")
_NAMES = ("job-name", "batch.kubernetes.io/job-name")
_MOST_INDEXED = 100_000
_MANY_AT_ONCE = 10_000
_HTTP_PATH = r"[A-Za-z0-9/\-._~%!$&'()*+,;=:]+"
_LONGEST_MANAGER = 63
_ZONE = r"[A-Za-z.\-_0-9+]{1,14}"


def job_errors(spec: Raw, path: str) -> Iterator[FieldError]:
    """Source: batch/validation validateJobSpec."""
    yield from _index_errors(spec, path)
    manager = spec.get("managedBy")
    if isinstance(manager, str):
        yield from _path_errors(manager, f"{path}.managedBy")
    yield from _policy_errors(spec, path)


def _index_errors(spec: Raw, path: str) -> Iterator[FieldError]:
    mode = text(spec, "completionMode") or "NonIndexed"
    per_index, most_failed = integer(spec, "backoffLimitPerIndex"), integer(spec, "maxFailedIndexes")
    for key, value in (("backoffLimitPerIndex", per_index), ("maxFailedIndexes", most_failed)):
        if value is not None and value < 0:
            yield number(f"{path}.{key}", value, "must be greater than or equal to 0", "validation/non-negative")
        if value is not None and mode == "NonIndexed":
            yield number(f"{path}.{key}", value, "requires indexed completion mode", _RULE)
    if most_failed is not None and per_index is None:
        yield required(f"{path}.backoffLimitPerIndex", "when maxFailedIndexes is specified", _RULE)
    if mode not in {"NonIndexed", "Indexed"}:
        yield not_supported(f"{path}.completionMode", mode, ("NonIndexed", "Indexed"), _RULE, in_order=True)
    if mode == "Indexed":
        yield from _indexed_errors(spec, most_failed, per_index, path)


def _indexed_errors(spec: Raw, most_failed: int | None, per_index: int | None, path: str) -> Iterator[FieldError]:
    completions, parallelism = integer(spec, "completions"), integer(spec, "parallelism")
    # Without both there is one.
    if completions is None and parallelism is not None:
        yield required(f"{path}.completions", "when completion mode is Indexed", _RULE)
    if parallelism is not None and parallelism > _MOST_INDEXED:
        detail = f"must be less than or equal to {_MOST_INDEXED} when completion mode is Indexed"
        yield number(f"{path}.parallelism", parallelism, detail, _RULE)
    if most_failed is not None and completions is not None and most_failed > completions:
        yield number(f"{path}.maxFailedIndexes", most_failed, "must be less than or equal to completions", _RULE)
    if most_failed is not None and most_failed > _MOST_INDEXED:
        yield number(f"{path}.maxFailedIndexes", most_failed, f"must be less than or equal to {_MOST_INDEXED}", _RULE)
    if per_index is None or completions is None or completions <= _MOST_INDEXED:
        return
    detail = (
        f"must be less than or equal to {_MANY_AT_ONCE} when completions are above {_MOST_INDEXED} "
        "and used with backoff limit per index"
    )
    if most_failed is None:
        text_ = f"must be specified when completions is above {_MOST_INDEXED}"
        yield required(f"{path}.maxFailedIndexes", text_, _RULE)
    for key, value in (("parallelism", parallelism), ("maxFailedIndexes", most_failed)):
        if value is not None and value > _MANY_AT_ONCE:
            yield number(f"{path}.{key}", value, detail, _RULE)


def _policy_errors(spec: Raw, path: str) -> Iterator[FieldError]:
    if pointer(spec, "podFailurePolicy") is not None:
        yield from failure_errors(spec, f"{path}.podFailurePolicy")
    success, mode = pointer(spec, "successPolicy"), text(spec, "completionMode")
    completions = integer(spec, "completions")
    if completions is None and integer(spec, "parallelism") is None:
        completions = 1
    if success is not None and mode == "Indexed" and completions is not None:
        yield from success_errors(success, completions, f"{path}.successPolicy")
    elif success is not None and mode != "Indexed":
        detail = "requires indexed completion mode"
        yield invalid(f"{path}.successPolicy", _success(success), detail, _RULE)
    replaced, on_failure = spec.get("podReplacementPolicy"), pointer(spec, "podFailurePolicy")
    choices = ("Failed",) if on_failure is not None else ("Failed", "TerminatingOrFailed")
    if isinstance(replaced, str) and replaced not in choices:
        yield not_supported(f"{path}.podReplacementPolicy", replaced, choices, _RULE)
    policy = text(mapping(mapping(spec, "template"), "spec"), "restartPolicy") or "Always"
    item_path = f"{path}.template.spec.restartPolicy"
    if policy == "Always":
        yield required(item_path, 'valid values: "OnFailure", "Never"', _CHOICE)
    elif policy not in {"OnFailure", "Never"}:
        yield not_supported(item_path, policy, ("OnFailure", "Never"), _CHOICE, in_order=True)
    elif on_failure is not None and policy != "Never":
        yield invalid(
            item_path, policy, 'only "Never" is supported when podFailurePolicy is specified', _CHOICE, typed=True
        )


def _success(policy: Raw) -> dict[str, object]:
    """As Go prints the server's own struct."""
    rules = [
        {"SucceededIndexes": rule.get("succeededIndexes"), "SucceededCount": rule.get("succeededCount")}
        for rule in items(policy, "rules")
    ]
    return {"Rules": rules if isinstance(policy.get("rules"), list) else None}


def _path_errors(manager: str, path: str) -> Iterator[FieldError]:
    """Source: apimachinery util/validation IsDomainPrefixedPath."""
    domain, _, rest = manager.partition("/")
    if not manager:
        yield required(path, rule=_RULE)
    elif not domain or not rest:
        yield invalid(path, manager, 'must be a domain-prefixed path (such as "acme.io/foo")', _RULE)
    else:
        yield from (invalid(path, domain, fault, _RULE) for fault in subdomain_faults(domain))
        if not re.fullmatch(_HTTP_PATH, rest):
            detail = f"Invalid path (regex used for validation is '{_HTTP_PATH}')"
            yield invalid(path, rest, detail, _RULE)
    if len(manager.encode("utf-8", "surrogatepass")) > _LONGEST_MANAGER:
        yield too_long(path, _LONGEST_MANAGER, _RULE)


def own_errors(raw: Raw, *, created: bool) -> Iterator[FieldError]:
    """Of the selector, which the server makes unless ``manualSelector`` says otherwise. Without a UID it is a new job.

    ``created`` False: an update is not asked whether the server made it.

    Source: batch/validation validateGeneratedSelector, ValidateJobSpec; registry/batch/job generateSelector.
    """
    spec = mapping(raw, "spec")
    template, selector = mapping(mapping(spec, "template"), "metadata"), pointer(spec, "selector")
    labels, name = dict(mapping(template, "labels")), name_of(raw)
    manual = spec.get("manualSelector") is True
    if not manual:
        uid = text(mapping(raw, "metadata"), "uid") or UID
        yield from _name_errors(raw) if created else ()
        wanted = {**dict.fromkeys(_UIDS, uid), **dict.fromkeys(_NAMES, name)}
        labels = {**wanted, **labels}
        selector = {**(selector or {})}
        selector["matchLabels"] = {_UIDS[1]: uid, **mapping(selector, "matchLabels")}
        yield from _generated_errors(selector, labels, wanted) if created else ()
    elif selector is None:
        yield required("spec.selector", rule=_SELECTOR)
    faults = [*selector_errors(selector, "spec.selector", _SELECTOR)]
    yield from faults
    if not faults and (selector is None or not selector_matches(selector, labels)):
        shown = None if manual and template.get("labels") is None else dict(sorted(labels.items()))
        text_ = "`selector` does not match template `labels`"
        yield invalid("spec.template.metadata.labels", shown, text_, _SELECTOR)
    completions = integer(spec, "completions") or 0
    last = f"{name}-{completions - 1}"
    if text(spec, "completionMode") == "Indexed" and completions > 0 and [*label_faults(last)]:
        detail = f"will not able to create pod with invalid DNS label: {last}"
        yield invalid("metadata.name", name, detail, "validation/name")


def _generated_errors(selector: Raw, labels: Raw, wanted: Mapping[str, str]) -> Iterator[FieldError]:
    """``wanted``: the labels that the server gives the pods of a job."""
    for key, value in wanted.items():
        if labels[key] != value:
            shown, path = as_json(dict(sorted(labels.items()))), f"spec.template.metadata.labels[{key}]"
            yield FieldError(path, "FieldValueInvalid", f"Invalid value: {shown}: must be '{value}'", _SELECTOR)
    if not [*selector_errors(selector, "", _SELECTOR)] and not selector_matches(selector, wanted):
        yield invalid("spec.selector", shown_selector(selector), "`selector` not auto-generated", _SELECTOR)


def _name_errors(raw: Raw) -> Iterator[FieldError]:
    """Yield the faults of a job's name, which becomes two labels of its pods, and of the job where it has none of its
    own.
    """
    metadata, name = mapping(raw, "metadata"), name_of(raw)
    template = mapping(mapping(mapping(raw, "spec"), "template"), "metadata")
    shared = not metadata.get("labels") and isinstance(template.get("labels"), dict)
    paths = ["spec.template.labels", *(["metadata.labels"] if shared or not metadata.get("labels") else [])]
    count = sum(key not in mapping(template, "labels") for key in _NAMES)
    for fault in label_value_faults(name):
        yield from (invalid(path, name, fault, "validation/name") for path in paths for _ in range(count))


def cron_errors(raw: Raw) -> Iterator[FieldError]:
    """Source: batch/validation validateCronJobSpec, validateScheduleFormat."""
    spec = mapping(raw, "spec")
    inner = mapping(mapping(spec, "jobTemplate"), "spec")
    schedule = text(spec, "schedule")
    if not schedule:
        yield required("spec.schedule", rule=_RULE)
    elif fault := schedule_fault(schedule):
        yield invalid("spec.schedule", schedule, fault, _RULE)
    if "TZ" in schedule:
        detail = "cannot use TZ or CRON_TZ in schedule, use timeZone field instead"
        yield invalid("spec.schedule", schedule, detail, _RULE)
    for key in ("startingDeadlineSeconds", "successfulJobsHistoryLimit", "failedJobsHistoryLimit"):
        value = integer(spec, key)
        if value is not None and value < 0:
            yield number(f"spec.{key}", value, "must be greater than or equal to 0", "validation/non-negative")
    zone = spec.get("timeZone")
    if isinstance(zone, str):
        yield from _zone_errors(zone)
    policy = text(spec, "concurrencyPolicy")
    if policy and policy not in {"Allow", "Forbid", "Replace"}:
        yield not_supported("spec.concurrencyPolicy", policy, ("Allow", "Forbid", "Replace"), _RULE, in_order=True)
    selector = pointer(inner, "selector")
    if selector is not None:
        detail = "`selector` will be auto-generated"
        yield invalid("spec.jobTemplate.spec.selector", shown_selector(selector), detail, _SELECTOR)
    if inner.get("manualSelector") is True:
        path = "spec.jobTemplate.spec.manualSelector"
        text_ = 'Unsupported value: true: supported values: "nil", "false"'
        yield FieldError(path, "FieldValueNotSupported", text_, _SELECTOR)


def _zone_errors(zone: str) -> Iterator[FieldError]:
    """Source: batch/validation validateTimeZone."""
    path = "spec.timeZone"
    if not zone:
        yield invalid(path, zone, "timeZone must be nil or non-empty string", _RULE)
    elif any(part in {".", ".."} or part.startswith("-") or not re.fullmatch(_ZONE, part) for part in zone.split("/")):
        yield invalid(path, zone, f"unknown time zone {zone}", _RULE)
    elif zone.lower() == "local":
        detail = "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones"
        yield invalid(path, zone, detail, _RULE)
        if zone != "Local":
            yield invalid(path, zone, f"unknown time zone {zone}", _RULE)
    elif fault := zone_fault(zone):
        yield invalid(path, zone, fault, _RULE)
