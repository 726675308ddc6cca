"""Garbage collection between key presses; long-lived objects are exempt from it, and large blocks leave no holes."""

from __future__ import annotations

import gc
import sys
from collections.abc import Mapping
from contextlib import suppress
from time import monotonic

from textual import events

from kubectl_kres.tui.app import Kres

#: Objects that are made between two looks of the garbage collector, and how many of these make one at older ones: what
#: is drawn is full of cycles, so it looks often, but at little. The last generation is everything.
_OFTEN, _OLDEST = (5_000, 10, 10), 2
#: Seconds without a key after which nobody is taken to be typing, and looks at what is new before one at everything.
_QUIET, _FEW = 0.3, 3
#: Seconds after which a thread lets another one go on.
_TURN = 0.001
#: Of glibc's mallopt: the size from which a block is mapped by itself, and so goes back whole. It is the usual size,
#: which glibc raises with each such block that is freed unless it was set. M_MMAP_THRESHOLD in mallopt(3).
_THRESHOLD, _LARGE = -3, 128 * 1024


class IdleCollectingApp(Kres):
    """The app as it is run: garbage is collected while no key is pressed, where some has come together."""

    _pressed_at = 0.0

    async def on_event(self, event: events.Event) -> None:
        if isinstance(event, events.Key):
            self._pressed_at = monotonic()
        await super().on_event(event)

    def look(self) -> None:
        super().look()
        _, new, older = gc.get_count()
        if new and monotonic() - self._pressed_at > _QUIET:
            gc.collect(_OLDEST if older >= _FEW else _OLDEST - 1)


def settle_down() -> None:
    """Has the garbage collector leave alone what is loaded, and later what the first screen consists of.

    A look at all of that takes a tenth of a second. Rows, and what is read of a cluster, are nothing that it looks at.
    Pages of lists would leave holes among the objects that are made of them: of 100,000 pods 11 MiB.
    """

    def looked(phase: str, facts: Mapping[str, int]) -> None:
        if phase == "stop" and facts["generation"] == _OLDEST:
            gc.callbacks.remove(looked)
            gc.freeze()

    gc.freeze()
    gc.set_threshold(*_OFTEN)
    # What reads and decodes gives way to what draws sooner than usual.
    sys.setswitchinterval(_TURN)
    gc.callbacks.append(looked)
    # Other systems, and other libraries than glibc, have no such call.
    with suppress(ImportError, AttributeError, OSError, TypeError):
        import ctypes  # noqa: PLC0415 - a Python may be built without it

        ctypes.CDLL(None).mallopt(_THRESHOLD, _LARGE)
