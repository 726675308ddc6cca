"""Validation of objects that make pods, beside the pods: counts, the selector, the rollout strategy."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from kubectl_kres.admission.base.field_errors import FieldError, forbidden, invalid, not_supported, number, required
from kubectl_kres.admission.base.resource_names import label_faults
from kubectl_kres.admission.base.server import Server
from kubectl_kres.admission.base.text_rules import selector_matches, shown_selector
from kubectl_kres.admission.structure.jobs import cron_errors, job_errors, own_errors
from kubectl_kres.admission.structure.metadata_structure import metadata_errors
from kubectl_kres.admission.structure.placing_structure import selector_errors
from kubectl_kres.go_text import as_json
from kubectl_kres.model.objects import Raw, integer, items, mapping, pointer, text
from kubectl_kres.model.workload_kinds import LASTING, POD_MAKERS, WORKLOADS

_RULE_ROLLOUT = "validation/rollout"
_ROLLING, _RECREATE, _ON_DELETE = "RollingUpdate", "Recreate", "OnDelete"
_PERCENT = "[0-9]+%"
_PERCENT_RULE = (
    "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for "
    f"validation is '{_PERCENT}')"
)
_WHOLE = 100
_PROGRESS = 600

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
#: The kinds whose validation is that of another one, which its words name.
_VALIDATED_AS, _SELECTS_AS = {"Deployment": "ReplicaSet"}, {"ReplicaSet": "deployment"}
#: Kinds with a warning for names that are no names of hosts, as pods are called after them.
_NAMING = frozenset(POD_MAKERS) - {"StatefulSet", "DaemonSet"}
#: Kinds whose template nobody looks at while the selector is refused.
_SELECTOR_FIRST = frozenset(kind for kind in LASTING if WORKLOADS[kind].group == "apps") - {"DaemonSet"}


def skips_template(raw: Raw) -> bool:
    """Return whether nobody looks at the template: for a selector that is refused, or since there is none."""
    kind, spec = raw.get("kind"), mapping(raw, "spec")
    if kind == "ReplicationController":
        return spec.get("template") is None
    selector = pointer(spec, "selector")
    return kind in _SELECTOR_FIRST and any(selector_errors(selector, ""))


def checked_spec(raw: Raw, spec: Raw) -> Raw:
    """Return the pod's spec as it is validated: that of a StatefulSet has the volumes of its claims, and no name of a
    host.

    Source: apps/validation ValidateStatefulSetSpec, where several claims come in an arbitrary order.
    """
    if raw.get("kind") != "StatefulSet":
        return spec
    result = {key: value for key, value in spec.items() if key not in {"hostname", "subdomain"}}
    names = [text(mapping(claim, "metadata"), "name") for claim in items(mapping(raw, "spec"), "volumeClaimTemplates")]
    if names:
        claims = [{"name": name, "persistentVolumeClaim": {"claimName": name}} for name in dict.fromkeys(names)]
        result["volumes"] = [*claims, *(item for item in items(spec, "volumes") if text(item, "name") not in names)]
    return result


def workload_errors(raw: Raw, path: str, *, created: bool = True) -> Iterator[FieldError]:
    """``path`` leads to the template; ``created`` False: of an update.

    Source: apps/validation, batch/validation; validation.go ValidateReplicationController.
    """
    kind, spec = str(raw.get("kind", "")), mapping(raw, "spec")
    template = raw
    for key in path.split("."):
        template = mapping(template, key)
    counted = mapping(mapping(spec, "jobTemplate"), "spec") if kind == "CronJob" else spec
    item_path = "spec.jobTemplate.spec" if kind == "CronJob" else "spec"
    for key in _COUNTS.get("Job" if kind == "CronJob" else kind, ()):
        value = counted.get(key)
        if isinstance(value, int) and value < 0:
            yield number(f"{item_path}.{key}", value, "must be greater than or equal to 0", "validation/non-negative")
    yield from _rollout_errors(kind, spec)
    service = text(spec, "serviceName")
    if kind == "StatefulSet" and service:
        yield from (invalid("spec.serviceName", service, fault, "validation/name") for fault in label_faults(service))
    if kind in {"Job", "CronJob"}:
        yield from job_errors(counted, item_path)
        yield from own_errors(raw, created=created) if kind == "Job" else cron_errors(raw)
    if kind not in LASTING:
        return
    if kind in {"StatefulSet", "DaemonSet"} or not skips_template(raw):
        yield from _pod_errors(kind, mapping(template, "spec"), f"{path}.spec")
    if kind == "ReplicationController":
        yield from _older_selector_errors(spec, template, path)
    else:
        yield from _selector_errors(kind, pointer(spec, "selector"), mapping(template, "metadata"), path)


def workload_warnings(raw: Raw) -> Iterator[str]:
    """Of names and of revisions. Source: registry/apps strategy.go WarningsOnCreate of each kind."""
    name, kind = mapping(raw, "metadata").get("name"), raw.get("kind")
    faults = [*label_faults(name)] if isinstance(name, str) and name and kind in _NAMING else []
    if faults:
        use = "this is used in Pod names and hostnames, which can result in surprising behavior"
        yield f"metadata.name: {use}; a DNS label is recommended: [{' '.join(faults)}]"
    kept = integer(mapping(raw, "spec"), "revisionHistoryLimit")
    if kind == "StatefulSet" and kept is not None and kept < 0:
        advice = "a negative value retains all historical revisions; a value >= 0 is recommended"
        yield f"spec.revisionHistoryLimit: {advice}"


def _pod_errors(kind: str, spec: Raw, path: str) -> Iterator[FieldError]:
    policy = spec.get("restartPolicy") or "Always"
    if policy != "Always":
        yield not_supported(f"{path}.restartPolicy", str(policy), ("Always",), _CHOICE)
    if spec.get("activeDeadlineSeconds") is not None:
        detail = f"activeDeadlineSeconds in {_VALIDATED_AS.get(kind, kind)} is not Supported"
        yield forbidden(f"{path}.activeDeadlineSeconds", detail, _DEADLINE)


def _selector_errors(kind: str, selector: Raw | None, metadata: Raw, path: str) -> Iterator[FieldError]:
    if selector is None and kind != "DaemonSet":
        yield required("spec.selector", rule=_RULE)
    faults = [*selector_errors(selector, "spec.selector", _RULE)]
    yield from faults
    if selector is not None and not selector.get("matchLabels") and not selector.get("matchExpressions"):
        yield invalid(
            "spec.selector", {}, f"empty selector is invalid for {_SELECTS_AS.get(kind, kind.lower())}", _RULE
        )
    elif faults:
        if kind != "DaemonSet":
            shown = shown_selector(selector or {})
            error = invalid("spec.selector", shown, "invalid label selector", _RULE)
            whole = error.text.removesuffix(": invalid label selector")
            yield error if kind != "StatefulSet" else FieldError(error.field, error.reason, whole, _RULE)
    elif selector is None or not selector_matches(selector, mapping(metadata, "labels")):
        yield _label_mismatch_error(metadata, path)


def _older_selector_errors(spec: Raw, template: Raw, path: str) -> Iterator[FieldError]:
    """Of a ReplicationController, which selects the labels of its template if nothing else is said."""
    if spec.get("template") is None:
        yield required(path, rule=_RULE)
    metadata = mapping(template, "metadata")
    selector = mapping(spec, "selector") or mapping(metadata, "labels")
    if not selector:
        yield required("spec.selector", rule=_RULE)
    elif spec.get("template") is not None and not selector_matches(
        {"matchLabels": selector}, mapping(metadata, "labels")
    ):
        yield _label_mismatch_error(metadata, path)


def _label_mismatch_error(metadata: Raw, path: str) -> FieldError:
    labels: Any = metadata.get("labels")
    shown = dict(sorted(mapping(metadata, "labels").items())) if labels is not None else None
    return invalid(f"{path}.metadata.labels", shown, "`selector` does not match template `labels`", _RULE)


def _rollout_errors(kind: str, spec: Raw) -> Iterator[FieldError]:
    """Source: apps/validation ValidateDeploymentStrategy, ValidateDaemonSetUpdateStrategy, ValidateStatefulSetSpec."""
    match kind:
        case "Deployment":
            yield from _deployment_errors(spec)
        case "DaemonSet":
            yield from _daemon_set_errors(mapping(spec, "updateStrategy"))
        case "StatefulSet":
            yield from _stateful_set_errors(spec)


def _deployment_errors(spec: Raw) -> Iterator[FieldError]:
    strategy, path = mapping(spec, "strategy"), "spec.strategy"
    kind, rolling = text(strategy, "type") or _ROLLING, pointer(strategy, "rollingUpdate")
    if kind == _RECREATE:
        if rolling is not None:
            yield forbidden(
                f"{path}.rollingUpdate", "may not be specified when strategy `type` is 'Recreate'", _RULE_ROLLOUT
            )
    elif kind == _ROLLING:
        unavailable, surge = (_read_rollout_value(rolling or {}, key, "25%") for key in ("maxUnavailable", "maxSurge"))
        item_path = f"{path}.rollingUpdate"
        yield from _share_errors(unavailable, f"{item_path}.maxUnavailable", whole=True)
        yield from _share_errors(surge, f"{item_path}.maxSurge", whole=False)
        if not _amount(unavailable) and not _amount(surge):
            yield _not_valid(f"{item_path}.maxUnavailable", unavailable, "may not be 0 when `maxSurge` is 0")
    else:
        shown = {"Type": kind, "RollingUpdate": None if rolling is None else _internal(rolling)}
        yield _unsupported_type_error(path, shown, (_RECREATE, _ROLLING))
    deadline, ready = integer(spec, "progressDeadlineSeconds"), integer(spec, "minReadySeconds") or 0
    item_path = "spec.progressDeadlineSeconds"
    if deadline is not None and deadline < 0:
        yield _negative(item_path, deadline)
    if (_PROGRESS if deadline is None else deadline) <= ready:
        shown_deadline = _PROGRESS if deadline is None else deadline
        yield number(item_path, shown_deadline, "must be greater than minReadySeconds", _RULE_ROLLOUT)


def _internal(rolling: Raw) -> Mapping[str, Any]:
    return {
        "MaxUnavailable": rolling.get("maxUnavailable", 0),
        "MaxSurge": rolling.get("maxSurge", 0),
    }


def _daemon_set_errors(strategy: Raw) -> Iterator[FieldError]:
    path, kind = "spec.updateStrategy", text(strategy, "type") or _ROLLING
    rolling = pointer(strategy, "rollingUpdate")
    if kind == _ON_DELETE:
        return
    if kind != _ROLLING:
        shown = {"Type": kind, "RollingUpdate": None if rolling is None else _internal(rolling)}
        yield _unsupported_type_error(path, shown, (_ROLLING, _ON_DELETE))
        return
    unavailable, surge = (
        _read_rollout_value(rolling or {}, "maxUnavailable", 1),
        _read_rollout_value(rolling or {}, "maxSurge", 0),
    )
    item_path = f"{path}.rollingUpdate"
    yield from _share_errors(unavailable, f"{item_path}.maxUnavailable", whole=True)
    yield from _share_errors(surge, f"{item_path}.maxSurge", whole=True)
    if _amount(unavailable) and _amount(surge):
        yield _not_valid(f"{item_path}.maxSurge", surge, "may not be set when maxUnavailable is non-zero")
    elif not _amount(unavailable) and not _amount(surge):
        yield required(f"{item_path}.maxUnavailable", "cannot be 0 when maxSurge is 0", _RULE_ROLLOUT)


def _stateful_set_errors(spec: Raw) -> Iterator[FieldError]:
    order, strategy = text(spec, "podManagementPolicy"), mapping(spec, "updateStrategy")
    if order and order not in {"OrderedReady", "Parallel"}:
        detail = "must be 'OrderedReady' or 'Parallel'"
        yield invalid("spec.podManagementPolicy", order, detail, _RULE_ROLLOUT, typed=True)
    path, kind, rolling = "spec.updateStrategy", text(strategy, "type") or _ROLLING, pointer(strategy, "rollingUpdate")
    partition = integer(rolling or {}, "partition") or 0
    unavailable = (rolling or {}).get("maxUnavailable")
    shown = None if rolling is None else {"Partition": partition, "MaxUnavailable": unavailable}
    if kind == _ON_DELETE:
        if rolling is not None:
            text_ = f"only allowed for updateStrategy '{_ROLLING}'"
            yield invalid(f"{path}.rollingUpdate", shown, text_, _RULE_ROLLOUT)
    elif kind != _ROLLING:
        yield invalid(
            path, {"Type": kind, "RollingUpdate": shown}, f"must be '{_ROLLING}' or '{_ON_DELETE}'", _RULE_ROLLOUT
        )  # fmt: skip
    else:
        if partition < 0:
            yield _negative(f"{path}.rollingUpdate.partition", partition)
        if unavailable is not None:
            yield from _unavailable_errors(unavailable, f"{path}.rollingUpdate.maxUnavailable")
    kept = pointer(spec, "persistentVolumeClaimRetentionPolicy")
    for key in ("whenDeleted", "whenScaled") if kept is not None else ():
        policy = text(kept or {}, key) or "Retain"
        if policy not in {"Retain", "Delete"}:
            item_path = f"spec.persistentVolumeClaimRetentionPolicy.{key}"
            yield not_supported(item_path, policy, ("Retain", "Delete"), _RULE_ROLLOUT, in_order=True)
    start = integer(mapping(spec, "ordinals"), "start") or 0
    if start < 0:
        yield _negative("spec.ordinals.start", start)


def _unavailable_errors(value: Any, path: str) -> Iterator[FieldError]:
    """Source: ValidateRollingUpdateStatefulSet."""
    shares = [*_share_errors(value, path, whole=True)]
    yield from shares
    if not shares and _amount(value) == 0:
        yield _not_valid(path, value, "cannot be 0")


def _read_rollout_value(rolling: Raw, key: str, default: Any) -> Any:
    value = rolling.get(key)
    return default if value is None else value


def _share_errors(value: Any, path: str, *, whole: bool) -> Iterator[FieldError]:
    """``whole``: a percentage may not be more than all. Source: ValidatePositiveIntOrPercent."""
    if isinstance(value, str):
        if not re.fullmatch(_PERCENT, value):
            yield _not_valid(path, value, _PERCENT_RULE)
        elif whole and int(value[:-1]) > _WHOLE:
            yield _not_valid(path, value, "must not be greater than 100%")
    elif value < 0:
        yield _negative(path, value)


def _amount(value: Any) -> int:
    """Source: apps/validation getIntOrPercentValue."""
    if isinstance(value, str):
        digits = value[:-1] if re.fullmatch(_PERCENT, value) else value
        return int(digits) if re.fullmatch("[+-]?[0-9]+", digits) else 0
    return int(value)


def _not_valid(path: str, value: Any, detail: str) -> FieldError:
    return FieldError(path, "FieldValueInvalid", f"Invalid value: {as_json(value)}: {detail}", _RULE_ROLLOUT)


def _unsupported_type_error(path: str, value: Mapping[str, Any], choices: tuple[str, ...]) -> FieldError:
    shown = ", ".join(f'"{choice}"' for choice in choices)
    text_ = f"Unsupported value: {as_json(value)}: supported values: {shown}"
    return FieldError(path, "FieldValueNotSupported", text_, _RULE_ROLLOUT)


def _negative(path: str, value: int) -> FieldError:
    return number(path, value, "must be greater than or equal to 0", "validation/non-negative")


RULE = "validation/autoscaler"
_OWN = "must specify at least one Object or External metric to support scaling to zero replicas"


def autoscaler_errors(raw: Raw, server: Server) -> Iterator[FieldError]:
    """In the server's order. Source: autoscaling/validation.go validateHorizontalPodAutoscalerSpec."""
    yield from metadata_errors(raw, server)
    spec = mapping(raw, "spec")
    minimum, maximum = integer(spec, "minReplicas"), integer(spec, "maxReplicas") or 0
    bound = 0 if server.has_change("autoscaler/scale-to-zero") else 1
    if minimum is not None and minimum < bound:
        yield number("spec.minReplicas", minimum, f"must be greater than or equal to {bound}", RULE)
    if maximum == 0:
        detail = "" if server.has_change("autoscaler/most-required") else "must be set and greater than 0"
        yield required("spec.maxReplicas", detail, RULE)
    elif maximum < 0:
        yield number("spec.maxReplicas", maximum, "must be greater than or equal to 1", RULE)
    if minimum is not None and maximum < minimum:
        yield number("spec.maxReplicas", maximum, "must be greater than or equal to `minReplicas`", RULE)
    if minimum == 0 and not any(text(metric, "type") in {"Object", "External"} for metric in items(spec, "metrics")):
        yield forbidden("spec.metrics", _OWN, RULE)
