"""The time that ``--request-timeout`` allows, read as kubectl reads it."""

from __future__ import annotations

import re

from kubectl_kres.errors import UsageError

_UNITS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "μs": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}
_SECONDS = re.compile(r"\+?[0-9]+")
_PART = r"(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:ns|us|µs|μs|ms|s|m|h)"
_DURATION = re.compile(rf"[-+]?(?:0|(?:{_PART})+)")
_BAD = (
    "Invalid timeout value. Timeout must be a single integer in seconds, "
    "or an integer followed by a corresponding time unit (e.g. 1s | 2m | 3h)"
)


def seconds(text: str) -> float:
    """Seconds of a whole number or a Go duration such as ``1m30s``; 0, for no limit, if empty, zero or negative.

    Raises UsageError with kubectl's sentence for anything else.
    Source: client-go clientcmd ParseTimeout, Go time.ParseDuration.
    """
    if not text:
        return 0.0
    if _SECONDS.fullmatch(text):
        return float(text)
    if not _DURATION.fullmatch(text):
        raise UsageError(_BAD)
    if text.startswith("-"):
        return 0.0
    return sum(float(part.rstrip("nuµμmsh")) * _UNITS[part.lstrip("0123456789.")] for part in re.findall(_PART, text))
