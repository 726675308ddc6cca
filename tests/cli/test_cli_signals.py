"""Signals that end programs are not lost where an exception is."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

_LOSES_IT = """
import os, signal, time
from kubectl_kres.cli.output import exit_codes as signals
signals.AGAIN = 0.1
try:
    with signals.handle_signals():
        try:
            os.kill(os.getpid(), signal.SIGTERM)
            time.sleep(60)
        except signals.SignalReceived:
            pass  # as a finalizer, or the loading of a module, may swallow it
        time.sleep(60)
except signals.SignalReceived as end:
    time.sleep(0.5)  # nothing comes any more
    print("ended by", end.number, flush=True)
"""


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="Windows has no timer that raises")
def test_a_signal_whose_exception_is_swallowed_comes_again():
    done = subprocess.run([sys.executable, "-c", _LOSES_IT], capture_output=True, text=True, timeout=50, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, f"ended by {int(signal.SIGTERM)}\n", "")
