"""Answers ``kubectl_complete-kres``: what may stand at the end of a command line, as kubectl's protocol has it.

A line for each candidate, with a tab before what it does, then a colon and a number for the shell. What takes longer
than a moment, fails or would ask is left out: a shell that waits for a cluster is worse than one that completes less.
Source: kubectl cmd/plugin_completion.go.
"""

from __future__ import annotations

import os
import re
import signal
import sys
from collections.abc import Iterable, Sequence
from contextlib import suppress
from functools import partial
from time import monotonic

from kubectl_kres.cli.complete.context import find
from kubectl_kres.cli.complete.cursor import NO_FILES, CompletionContext

#: Seconds that all of it may take.
LIMIT = 1.5

#: Shells expand some of the words that they are given to choose from: only harmless ones are.
_SAFE = re.compile(r"[A-Za-z0-9@_][A-Za-z0-9@._:/+=,%~-]*")


def complete(words: Sequence[str]) -> int:
    """Prints the answer for the words typed so far. Ends the process, and all that was started to get the answer."""
    began = monotonic()
    _withdraw()
    try:
        text = answer(words, began)
    except (Exception, KeyboardInterrupt):  # noqa: BLE001, as above all a prompt must come back
        text = f":{NO_FILES}\n"
    with suppress(OSError, ValueError):
        sys.stdout.write(text)
        sys.stdout.flush()
    _end()
    return 0


def answer(words: Sequence[str], began: float) -> str:
    """The candidates and the directive, in lines. ``began``: the monotonic time from which the limit counts."""
    slot = find(words)
    known = [f"{slot.before}{word}\t{about}".rstrip("\t") for word, about in slot.words if word.startswith(slot.typed)]
    read = [f"{slot.before}{name}" for name in _read(slot, began + LIMIT)]
    return "\n".join([*known, *read, f":{slot.directive}"]) + "\n"


def _read(slot: CompletionContext, until: float) -> list[str]:
    """The names that are not known before something is read, in order; none if they are not there in time."""
    if not (slot.type or slot.entries):
        return []
    from kubectl_kres.cli.complete import names
    from kubectl_kres.cluster.transport.parallel import start

    try:
        if slot.entries:
            entries: Iterable[str] = names.entries(slot.options, slot.entries)
        else:
            left = until - monotonic()
            entries = start(partial(names.names, slot.options, slot.type, left)).result(max(left, 0.0))
    except Exception:  # noqa: BLE001, at a prompt nobody can read of an error
        return []
    return sorted(
        {
            entry
            for entry in entries
            if entry.startswith(slot.typed) and entry not in slot.taken and _SAFE.fullmatch(entry)
        }
    )


def _withdraw() -> None:
    """Leave the terminal, so that no credential plugin can ask there: no input, no error output, no session of it."""
    if hasattr(os, "setsid"):
        with suppress(OSError):  # it leads its group already
            os.setsid()
    sys.stdin = None
    with suppress(OSError):
        nowhere = os.open(os.devnull, os.O_RDWR)
        os.dup2(nowhere, 0)
        os.dup2(nowhere, 2)


def _end() -> None:
    """End at once, threads that wait for a server included, and with us the plugins that were started."""
    if hasattr(os, "killpg") and os.getpgrp() == os.getpid() == os.getsid(0):
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        with suppress(OSError):
            os.killpg(0, signal.SIGTERM)
    os._exit(0)
