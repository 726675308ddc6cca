"""When no garbage is looked for: what is loaded stays, and what an answer leaves behind holds no cycles."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def gc_disabled() -> Iterator[None]:
    """Turn garbage collection off, which takes half of the time with a whole cluster in memory, and finds nothing."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


@contextmanager
def loading() -> Iterator[None]:
    """Within, modules are loaded: what they make is looked through neither meanwhile nor later."""
    with gc_disabled():
        try:
            yield
        finally:
            gc.freeze()
