"""How tekton-kueue is configured, and a PipelineRun as its webhook leaves it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct


class RunConfig(Struct, frozen=True):
    """The configuration. ``unusable``: why it is none; the webhook then goes on with the one it had, if any."""

    queue: str = ""
    expressions: tuple[str, ...] = ()
    unusable: str = ""


class QueuedRun(Struct, frozen=True):
    """The run as it is stored. ``refused``: why it is not created; ``unknown``: what cannot be computed."""

    run: Mapping[str, Any]
    refused: str = ""
    unknown: str = ""
