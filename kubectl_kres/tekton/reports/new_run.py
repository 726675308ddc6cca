"""That a new run is to be started, as a value."""

from __future__ import annotations

from typing import Literal

from kubectl_kres.record import Sentence


class NewRun(Sentence, frozen=True):
    """Start a new run: ``after`` a fix (then, and), or since this one has failed, for ``reason`` if it says one."""

    after: Literal["then", "and", "failed"]
    reason: str = ""
