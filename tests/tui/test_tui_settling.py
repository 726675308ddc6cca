"""The garbage collector does not look again at what is loaded, and seldom looks while keys are pressed."""

from __future__ import annotations

import gc
import subprocess
import sys
from time import monotonic

import pytest
from tui.driving import drive, shop

from kubectl_kres.tui import gc_tuning

pytestmark = pytest.mark.thorough

_SCRIPT = """
import gc
from kubectl_kres.tui import gc_tuning as garbage
before = len(gc.callbacks)
garbage.settle_down()
early, asked = gc.get_freeze_count(), len(gc.callbacks) - before
kept = [[] for _ in range(1000)]
gc.collect()
print(early > 1000, asked, gc.get_freeze_count() >= early + 1000, len(gc.callbacks) - before)
"""


def test_what_stays_is_left_alone():
    found = subprocess.run([sys.executable, "-c", _SCRIPT], capture_output=True, text=True, check=True)
    assert found.stdout.split() == ["True", "1", "True", "0"]


_HOLES = """
import ctypes
from kubectl_kres.tui.gc_tuning import settle_down

class Info(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in
                ("arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks", "uordblks", "fordblks", "keep")]

info = getattr(ctypes.CDLL(None), "mallinfo2", None)
if info is None:
    print("no glibc with mallinfo2")
else:
    info.restype = Info
    settle_down()
    first = bytes(20_000_000)
    del first
    before, second = info().hblkhd, bytes(20_000_000)
    print(info().hblkhd - before >= 20_000_000)
"""


def test_a_large_block_leaves_no_hole():
    """Also after one was freed, from which on glibc would take blocks of that size from among the small ones."""
    found = subprocess.run([sys.executable, "-c", _HOLES], capture_output=True, text=True, check=True).stdout.strip()
    if found.startswith("no glibc"):
        pytest.skip(f"{found}: only its mallopt is asked for anything")
    assert found == "True"


@pytest.mark.thorough
@pytest.mark.parametrize(("since", "made", "looks"), [(0.9, 1, True), (0.9, 0, False), (0.1, 1, False)])
def test_garbage_is_collected_where_there_is_some_and_no_key_was_pressed(since, made, looks, monkeypatch):
    app, looked = gc_tuning.IdleCollectingApp(shop()), []

    async def act(pilot):
        app._pressed_at = 0.0
        await pilot.press("down")
        assert app._pressed_at > 0
        monkeypatch.setattr(gc, "get_count", lambda: (0, made, 0))
        monkeypatch.setattr(gc, "collect", looked.append)
        app._pressed_at = monotonic() - since
        app.look()
        monkeypatch.undo()

    drive(app, act=act)
    assert bool(looked) == looks
