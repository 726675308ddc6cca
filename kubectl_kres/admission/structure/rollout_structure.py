"""What validation finds in how a workload replaces its pods."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from kubectl_kres.admission.base.field_error import (
    FieldError,
    as_json,
    forbidden,
    invalid,
    not_supported,
    number,
    required,
)
from kubectl_kres.admission.base.raw_fields import integer, mapping, pointer, text
from kubectl_kres.model.raw import Raw

_RULE = "validation/rollout"
_ROLLING, _RECREATE, _ON_DELETE = "RollingUpdate", "Recreate", "OnDelete"
_PERCENT = "[0-9]+%"
_PERCENT_RULE = (
    "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for "
    f"validation is '{_PERCENT}')"
)
_WHOLE = 100
_PROGRESS = 600


def rollout_errors(kind: str, spec: Raw) -> Iterator[FieldError]:
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
            yield forbidden(f"{path}.rollingUpdate", "may not be specified when strategy `type` is 'Recreate'", _RULE)
    elif kind == _ROLLING:
        unavailable, surge = (_of(rolling or {}, key, "25%") for key in ("maxUnavailable", "maxSurge"))
        at = f"{path}.rollingUpdate"
        yield from _share_errors(unavailable, f"{at}.maxUnavailable", whole=True)
        yield from _share_errors(surge, f"{at}.maxSurge", whole=False)
        if not _amount(unavailable) and not _amount(surge):
            yield _not_valid(f"{at}.maxUnavailable", unavailable, "may not be 0 when `maxSurge` is 0")
    else:
        shown = {"Type": kind, "RollingUpdate": None if rolling is None else _internal(rolling)}
        yield _unsupported(path, shown, (_RECREATE, _ROLLING))
    deadline, ready = integer(spec, "progressDeadlineSeconds"), integer(spec, "minReadySeconds") or 0
    at = "spec.progressDeadlineSeconds"
    if deadline is not None and deadline < 0:
        yield _negative(at, deadline)
    if (_PROGRESS if deadline is None else deadline) <= ready:
        shown_deadline = _PROGRESS if deadline is None else deadline
        yield number(at, shown_deadline, "must be greater than minReadySeconds", _RULE)


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
        yield _unsupported(path, shown, (_ROLLING, _ON_DELETE))
        return
    unavailable, surge = _of(rolling or {}, "maxUnavailable", 1), _of(rolling or {}, "maxSurge", 0)
    at = f"{path}.rollingUpdate"
    yield from _share_errors(unavailable, f"{at}.maxUnavailable", whole=True)
    yield from _share_errors(surge, f"{at}.maxSurge", whole=True)
    if _amount(unavailable) and _amount(surge):
        yield _not_valid(f"{at}.maxSurge", surge, "may not be set when maxUnavailable is non-zero")
    elif not _amount(unavailable) and not _amount(surge):
        yield required(f"{at}.maxUnavailable", "cannot be 0 when maxSurge is 0", _RULE)


def _stateful_set_errors(spec: Raw) -> Iterator[FieldError]:
    order, strategy = text(spec, "podManagementPolicy"), mapping(spec, "updateStrategy")
    if order and order not in {"OrderedReady", "Parallel"}:
        detail = "must be 'OrderedReady' or 'Parallel'"
        yield invalid("spec.podManagementPolicy", order, detail, _RULE, typed=True)
    path, kind, rolling = "spec.updateStrategy", text(strategy, "type") or _ROLLING, pointer(strategy, "rollingUpdate")
    partition = integer(rolling or {}, "partition") or 0
    unavailable = (rolling or {}).get("maxUnavailable")
    shown = None if rolling is None else {"Partition": partition, "MaxUnavailable": unavailable}
    if kind == _ON_DELETE:
        if rolling is not None:
            text_ = f"only allowed for updateStrategy '{_ROLLING}'"
            yield invalid(f"{path}.rollingUpdate", shown, text_, _RULE)
    elif kind != _ROLLING:
        yield invalid(
            path, {"Type": kind, "RollingUpdate": shown}, f"must be '{_ROLLING}' or '{_ON_DELETE}'", _RULE
        )  # fmt: skip
    elif partition < 0:
        yield _negative(f"{path}.rollingUpdate.partition", partition)
    kept = pointer(spec, "persistentVolumeClaimRetentionPolicy")
    for key in ("whenDeleted", "whenScaled") if kept is not None else ():
        policy = text(kept or {}, key) or "Retain"
        if policy not in {"Retain", "Delete"}:
            at = f"spec.persistentVolumeClaimRetentionPolicy.{key}"
            yield not_supported(at, policy, ("Retain", "Delete"), _RULE, in_order=True)
    start = integer(mapping(spec, "ordinals"), "start") or 0
    if start < 0:
        yield _negative("spec.ordinals.start", start)


def _of(rolling: Raw, key: str, default: Any) -> Any:
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
    return FieldError(path, "FieldValueInvalid", f"Invalid value: {as_json(value)}: {detail}", _RULE)


def _unsupported(path: str, value: Mapping[str, Any], choices: tuple[str, ...]) -> FieldError:
    shown = ", ".join(f'"{choice}"' for choice in choices)
    text_ = f"Unsupported value: {as_json(value)}: supported values: {shown}"
    return FieldError(path, "FieldValueNotSupported", text_, _RULE)


def _negative(path: str, value: int) -> FieldError:
    return number(path, value, "must be greater than or equal to 0", "validation/non-negative")
