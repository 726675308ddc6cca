"""A rule: its code and words, and what finds violations."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Literal

from msgspec import Struct

from kubectl_kres.reports.check.finding import Broken, Severity
from kubectl_kres.reports.check.scene import Scene


class Rule(Struct, frozen=True):
    """``message`` has the names of ``Broken.values`` in braces. ``reason``: why it matters; ``remedy``: what to do.

    ``about``: the scenes that it looks at: each namespace, what stands beside namespaces, or both.
    """

    code: str
    title: str
    severity: Severity
    reason: str
    remedy: str
    message: str
    find: Callable[[Scene], Iterator[Broken]]
    about: Literal["namespace", "cluster", "both"] = "namespace"
