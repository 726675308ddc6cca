"""What keeps a text from being a schedule of a CronJob. Source: github.com/robfig/cron/v3 parser.go ParseStandard."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

_MONTHS = dict(
    zip(("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"), range(1, 13), strict=True)
)
_DAYS = dict(zip(("sun", "mon", "tue", "wed", "thu", "fri", "sat"), range(7), strict=True))
_NAMED = {"@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly"}
_EVERY = "@every "


class _Bounds(NamedTuple):
    least: int
    most: int
    names: Mapping[str, int] = {}


#: Minute, hour, day of the month, month, day of the week.
_FIELDS = (_Bounds(0, 59), _Bounds(0, 23), _Bounds(1, 31), _Bounds(1, 12, _MONTHS), _Bounds(0, 6, _DAYS))


class _FaultError(ValueError):
    """The argument is the parser's sentence."""


def schedule_fault(schedule: str) -> str:
    """The parser's sentence; empty if it takes the text. Time zones and the length of ``@every`` are taken as valid."""
    if schedule.startswith(("TZ=", "CRON_TZ=")):
        return ""
    if schedule.startswith("@"):
        known = schedule in _NAMED or schedule.startswith(_EVERY)
        return "" if known else f"unrecognized descriptor: {schedule}"
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
