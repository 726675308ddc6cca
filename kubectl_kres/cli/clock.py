"""The moment that an answer is made for: below the command line the clock is an argument."""

from __future__ import annotations

from datetime import UTC, datetime


def moment() -> str:
    """Now, as Kubernetes writes times: RFC 3339 in UTC, whole seconds."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
