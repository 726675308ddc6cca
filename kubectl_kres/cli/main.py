"""The entry point behind ``start``: runs the command that the arguments name and returns its exit code."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from io import TextIOWrapper
from pathlib import PurePath
from typing import cast

from kubectl_kres.cli.output import exit_codes as ending
from kubectl_kres.cli.output.exit_codes import SignalReceived, end_by_signal, handle_signals
from kubectl_kres.cli.program import COMPLETE, COMPLETER, FLEET_WORKER, Program

#: Asks for tracebacks; looked for in the words, since it counts also when they cannot be understood.
_LOUDEST = re.compile(r"(^| )--?v[ =]?9( |$)")


def program_name(called: str) -> str:
    """Return the name of the program as a user would type it."""
    path = PurePath(called)
    if path.name == "__main__.py":
        return "python -m kubectl_kres"
    return "kubectl kres" if path.name.startswith("kubectl-") else path.name


def entry(arguments: Sequence[str] | None = None) -> int:
    """Run the command line, by default ``sys.argv``, and return the exit code."""
    if sys.stdout is None:
        sys.stdout = ending.Closed()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            # Whatever the locale is: pipes carry UTF-8, as kubectl's do, and no character ends the program.
            stream.reconfigure(encoding=None if stream.isatty() else "utf-8", errors="replace")
    words = list(sys.argv[1:] if arguments is None else arguments)
    if words[:1] == [COMPLETE] or PurePath(sys.argv[0]).name.startswith(COMPLETER):
        from kubectl_kres.cli.complete import complete

        return complete(words[words[:1] == [COMPLETE] :])
    if words == [FLEET_WORKER]:
        from kubectl_kres.cli.fleet import run_worker

        return run_worker()
    name = program_name(sys.argv[0])
    verbose = _LOUDEST.search(" ".join(words)) is not None
    try:
        with handle_signals():
            return ending.run_guarded(lambda: _run(name, words), verbose=verbose, whole="--exit-code" in words)
    except SignalReceived as end:
        end_by_signal(end.number)
        return 128 + end.number


def _run(name: str, words: list[str]) -> int:
    program = Program()
    with program.make_context(name, words) as ctx:
        return cast("int", program.invoke(ctx))
