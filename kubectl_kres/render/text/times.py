"""How long ago something was."""

from __future__ import annotations

from datetime import datetime


def since(moment: str, now: str) -> str:
    """How long ago, in the largest unit; empty if that is not known. Both as RFC 3339."""
    try:
        seconds = int((datetime.fromisoformat(now) - datetime.fromisoformat(moment)).total_seconds())
    except (ValueError, TypeError):
        return ""
    for unit, length in (("d", 86_400), ("h", 3600), ("m", 60)):
        if seconds >= length:
            return f"{seconds // length}{unit}"
    return f"{max(0, seconds)}s"
