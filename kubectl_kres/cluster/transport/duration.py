"""The time that ``--request-timeout`` allows, read as kubectl reads it."""

from __future__ import annotations

import re

from kubectl_kres import durations
from kubectl_kres.errors import UsageError

_SECONDS = re.compile(r"\+?0*([0-9]{1,19})")
_BAD = (
    "Invalid timeout value. Timeout must be a single integer in seconds, "
    "or an integer followed by a corresponding time unit (e.g. 1s | 2m | 3h)"
)


def seconds(text: str) -> float:
    """Seconds of a whole number or a Go duration such as ``1m30s``; 0, for no limit, if empty, zero or negative.

    Raises UsageError with kubectl's sentence for anything else. Source: client-go clientcmd ParseTimeout.
    """
    if not text:
        return 0.0
    whole = _SECONDS.fullmatch(text)
    if whole is not None and int(whole[1]) < 2**63:
        return float(whole[1])
    length = durations.parse_or_none(text)
    if length is None:
        raise UsageError(_BAD)
    return max(0, length) / durations.SECOND
