"""A credential plugin as a process: what it prints, no more than credentials can be, in no more time than is given."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from threading import Event, Thread
from typing import Any

#: Bytes that a plugin may print: credentials are some kilobytes.
MOST_PRINTED = 1 << 20
#: Seconds that are waited for the end of the output of a plugin that has ended: a child of it may keep it open.
LINGER = 0.5
_PIECE = 1 << 16


class TooMuchOutput(Exception):
    """It printed more than credentials can be."""


def run(command: Sequence[str], env: Mapping[str, str], stdin: int | None, seconds: float) -> tuple[bytes, int]:
    """Return what a command printed and its exit code. ``seconds``: what it may take; 0: any time.

    Its error output goes to ours. Raises OSError and ValueError if it cannot be started, TimeoutError, TooMuchOutput.
    """
    # The pipe is closed by the thread that reads it: a child of the command may keep the other end open.
    process = subprocess.Popen(command, stdin=stdin, stdout=subprocess.PIPE, env=env)
    output = _Output(process)
    try:
        process.wait(seconds or None)
    except subprocess.TimeoutExpired:
        raise TimeoutError from None
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
    output.ended.wait(LINGER)
    if output.too_much:
        raise TooMuchOutput
    return bytes(output.content), process.returncode


class _Output:
    """What a process prints, read beside it; one that prints too much is killed."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process
        self.content, self.too_much, self.ended = bytearray(), False, Event()
        Thread(target=self._read, args=(process.stdout,), daemon=True).start()

    def _read(self, stream: Any) -> None:
        with stream:
            while piece := os.read(stream.fileno(), _PIECE):
                self.content += piece
                if len(self.content) > MOST_PRINTED:
                    self.too_much = True
                    self._process.kill()
                    break
        self.ended.set()
