"""What validation finds in what makes pods, beside the pods: counts, the selector, how its pods restart."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from kubectl_kres.admission.field import FieldError, forbidden, invalid, not_supported, number, required
from kubectl_kres.admission.names import label_faults
from kubectl_kres.admission.tags import label_value_faults
from kubectl_kres.model.raw import Raw

_RULE, _CHOICE, _DEADLINE = "validation/selector", "validation/choice", "validation/deadline"

_JOB = ("activeDeadlineSeconds", "backoffLimit", "completions", "parallelism", "ttlSecondsAfterFinished")
_COUNTS = {
    "Deployment": ("minReadySeconds", "replicas", "revisionHistoryLimit"),
    "ReplicaSet": ("minReadySeconds", "replicas"),
    "ReplicationController": ("minReadySeconds", "replicas"),
    "StatefulSet": ("minReadySeconds", "replicas"),
    "DaemonSet": ("minReadySeconds", "revisionHistoryLimit"),
    "Job": _JOB,
}
#: Kinds whose pods go on for ever, with the kind that their validation speaks of.
_LASTING = {
    "Deployment": "ReplicaSet",
    "ReplicaSet": "ReplicaSet",
    "StatefulSet": "StatefulSet",
    "DaemonSet": "DaemonSet",
    "ReplicationController": "ReplicationController",
}
#: What an empty selector is said to be invalid for.
_SELECTING = {
    "Deployment": "deployment",
    "ReplicaSet": "deployment",
    "StatefulSet": "statefulset",
    "DaemonSet": "daemonset",
}
#: Kinds whose names become those of pods and their hosts.
_NAMING = ("Deployment", "ReplicaSet", "ReplicationController", "Job", "CronJob")


def workload_errors(raw: Raw, path: str) -> Iterator[FieldError]:
    """``path`` leads to the template.

    Source: apps/validation, batch/validation; validation.go ValidateReplicationController.
    """
    kind, spec = str(raw.get("kind", "")), _map(raw, "spec")
    template: Any = raw
    for key in path.split("."):
        template = _map(template, key)
    counted = _map(_map(spec, "jobTemplate"), "spec") if kind == "CronJob" else spec
    at = "spec.jobTemplate.spec" if kind == "CronJob" else "spec"
    for key in _COUNTS.get("Job" if kind == "CronJob" else kind, ()):
        value = counted.get(key)
        if isinstance(value, int) and value < 0:
            yield number(f"{at}.{key}", value, "must be greater than or equal to 0", "validation/non-negative")
    yield from _pod_errors(kind, _map(template, "spec"), f"{path}.spec")
    yield from _selector_errors(kind, spec.get("selector"), _map(template, "metadata").get("labels"), path)
    if kind == "Job" and counted.get("manualSelector") is not True:
        yield from _job_labels(raw, path)


def workload_warnings(raw: Raw) -> Iterator[str]:
    """Of the name. Source: registry/apps/deployment strategy.go WarningsOnCreate and those of the other kinds."""
    name, kind = _map(raw, "metadata").get("name"), raw.get("kind")
    faults = [*label_faults(name)] if isinstance(name, str) and name and kind in _NAMING else []
    if faults:
        text = "this is used in Pod names and hostnames, which can result in surprising behavior"
        yield f"metadata.name: {text}; a DNS label is recommended: [{' '.join(faults)}]"


def _map(held: Any, key: str) -> Raw:
    value = held.get(key) if isinstance(held, Mapping) else None
    return value if isinstance(value, Mapping) else {}


def _pod_errors(kind: str, spec: Raw, path: str) -> Iterator[FieldError]:
    policy = spec.get("restartPolicy") or "Always"
    if kind in _LASTING:
        if policy != "Always":
            yield not_supported(f"{path}.restartPolicy", str(policy), ("Always",), _CHOICE)
        if spec.get("activeDeadlineSeconds") is not None:
            text = f"activeDeadlineSeconds in {_LASTING[kind]} is not Supported"
            yield forbidden(f"{path}.activeDeadlineSeconds", text, _DEADLINE)
    elif kind in {"Job", "CronJob"} and policy not in {"OnFailure", "Never"}:
        yield required(f"{path}.restartPolicy", 'valid values: "OnFailure", "Never"', _CHOICE)


def _selector_errors(kind: str, selector: Any, labels: Any, path: str) -> Iterator[FieldError]:
    """A ReplicationController without one selects the labels of its template."""
    held = selector if isinstance(selector, Mapping) else None
    if kind == "ReplicationController":
        held = {"matchLabels": held} if held else {}
    elif kind not in _SELECTING:
        return
    elif held is None and kind != "DaemonSet":
        yield required("spec.selector", rule=_RULE)
    if held is not None and not held.get("matchLabels") and not held.get("matchExpressions"):
        if kind in _SELECTING:
            yield invalid("spec.selector", {}, f"empty selector is invalid for {_SELECTING[kind]}", _RULE)
        return
    tags = labels if isinstance(labels, Mapping) else {}
    if held is None or not _selects(held, tags):
        shown = dict(sorted(tags.items())) or None
        yield invalid(f"{path}.metadata.labels", shown, "`selector` does not match template `labels`", _RULE)


def _selects(selector: Raw, labels: Raw) -> bool:
    if any(labels.get(key) != value for key, value in _map(selector, "matchLabels").items()):
        return False
    expressions = selector.get("matchExpressions")
    return all(_meets(one, labels) for one in (expressions if isinstance(expressions, list) else ()))


def _meets(expression: Any, labels: Raw) -> bool:
    """What is no expression is for another check, which is not made."""
    key, values = _text(expression, "key"), expression.get("values") if isinstance(expression, Mapping) else None
    listed: Sequence[Any] = values if isinstance(values, list) else ()
    match _text(expression, "operator"):
        case "In":
            return labels.get(key) in listed
        case "NotIn":
            return labels.get(key) not in listed
        case "Exists":
            return key in labels
        case "DoesNotExist":
            return key not in labels
    return True


def _text(held: Any, key: str) -> str:
    return str(held.get(key)) if isinstance(held, Mapping) else ""


def _job_labels(raw: Raw, path: str) -> Iterator[FieldError]:
    """A job's name becomes two labels of its pods, and of the job where it has none of its own."""
    metadata = _map(raw, "metadata")
    name = metadata.get("name")
    faults = [*label_value_faults(name)] if isinstance(name, str) else []
    places = (f"{path}.labels",) if metadata.get("labels") else (f"{path}.labels", "metadata.labels")
    for fault in faults:
        yield from (invalid(place, name, fault, "validation/name") for place in places for _ in range(2))
