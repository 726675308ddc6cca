"""A rule: its code and words, what finds what breaks it, and an example of each."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Literal

from msgspec import Struct

from kubectl_kres.reports.check.finding import Broken, Severity
from kubectl_kres.reports.check.scene import Scene


class Rule(Struct, frozen=True):
    """``message`` has the names of ``Broken.values`` in braces. ``reason``: why it matters; ``remedy``: what to do.

    ``failing`` and ``passing``: YAML of objects as a cluster has them, one that breaks the rule, and a near miss.
    ``about``: the scenes that it looks at: each namespace, what stands beside namespaces, or both.
    """

    code: str
    title: str
    severity: Severity
    reason: str
    remedy: str
    message: str
    find: Callable[[Scene], Iterator[Broken]]
    failing: str
    passing: str
    about: Literal["namespace", "cluster", "both"] = "namespace"
