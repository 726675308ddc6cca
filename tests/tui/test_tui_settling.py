"""What is loaded before the first screen is nothing that the garbage collector looks at again."""

from __future__ import annotations

import subprocess
import sys

_SCRIPT = """
import gc
from kubectl_kres.tui import garbage
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
