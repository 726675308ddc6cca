"""What validation finds in a Job, or in the Jobs of a CronJob, beside their pods."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from kubectl_kres.admission.base.field_error import (
    FieldError,
    as_json,
    invalid,
    not_supported,
    number,
    required,
    too_long,
)
from kubectl_kres.admission.base.resource_names import label_faults, subdomain_faults
from kubectl_kres.admission.base.selectors import selects, shown_selector
from kubectl_kres.admission.structure.jobs.cron_schedule import schedule_fault
from kubectl_kres.admission.structure.jobs.job_policies import failure_errors, success_errors
from kubectl_kres.admission.structure.labels import label_value_faults
from kubectl_kres.admission.structure.metadata_structure import name_of
from kubectl_kres.admission.structure.placing_structure import selector_errors
from kubectl_kres.model.raw import Raw, integer, items, mapping, pointer, text

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
    at = f"{path}.template.spec.restartPolicy"
    if policy == "Always":
        yield required(at, 'valid values: "OnFailure", "Never"', _CHOICE)
    elif policy not in {"OnFailure", "Never"}:
        yield not_supported(at, policy, ("OnFailure", "Never"), _CHOICE, in_order=True)
    elif on_failure is not None and policy != "Never":
        yield invalid(at, policy, 'only "Never" is supported when podFailurePolicy is specified', _CHOICE, typed=True)


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


def own_errors(raw: Raw) -> Iterator[FieldError]:
    """Of the selector, which the server makes unless ``manualSelector`` says otherwise. Without a UID it is a new job.

    Source: batch/validation validateGeneratedSelector, ValidateJobSpec; registry/batch/job generateSelector.
    """
    spec = mapping(raw, "spec")
    template, selector = mapping(mapping(spec, "template"), "metadata"), pointer(spec, "selector")
    labels, name = dict(mapping(template, "labels")), name_of(raw)
    manual = spec.get("manualSelector") is True
    if not manual:
        uid = text(mapping(raw, "metadata"), "uid") or UID
        yield from _name_errors(raw)
        wanted = {**dict.fromkeys(_UIDS, uid), **dict.fromkeys(_NAMES, name)}
        labels = {**wanted, **labels}
        selector = {**(selector or {})}
        selector["matchLabels"] = {_UIDS[1]: uid, **mapping(selector, "matchLabels")}
        yield from _generated_errors(selector, labels, wanted)
    elif selector is None:
        yield required("spec.selector", rule=_SELECTOR)
    faults = [*selector_errors(selector, "spec.selector", _SELECTOR)]
    yield from faults
    if not faults and (selector is None or not selects(selector, labels)):
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
    if not [*selector_errors(selector, "", _SELECTOR)] and not selects(selector, wanted):
        yield invalid("spec.selector", shown_selector(selector), "`selector` not auto-generated", _SELECTOR)


def _name_errors(raw: Raw) -> Iterator[FieldError]:
    """A job's name becomes two labels of its pods, and of the job where it has none of its own."""
    metadata, name = mapping(raw, "metadata"), name_of(raw)
    template = mapping(mapping(mapping(raw, "spec"), "template"), "metadata")
    shared = not metadata.get("labels") and isinstance(template.get("labels"), dict)
    places = ["spec.template.labels", *(["metadata.labels"] if shared or not metadata.get("labels") else [])]
    count = sum(key not in mapping(template, "labels") for key in _NAMES)
    for fault in label_value_faults(name):
        yield from (invalid(place, name, fault, "validation/name") for place in places for _ in range(count))


def cron_errors(raw: Raw) -> Iterator[FieldError]:
    """Which time zones there are is not looked at. Source: batch/validation validateCronJobSpec."""
    spec = mapping(raw, "spec")
    inner = mapping(mapping(spec, "jobTemplate"), "spec")
    schedule = text(spec, "schedule")
    if not schedule:
        yield required("spec.schedule", rule=_RULE)
    elif schedule_fault(schedule):
        yield invalid("spec.schedule", schedule, schedule_fault(schedule), _RULE)
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
    """Which zones there are is not known here. Source: batch/validation validateTimeZone."""
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
