"""``-w``: a command that answers again whenever its answer changes. A command opts in with one line, ``@repeated``."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps

from kubectl_kres.cli.options import Options
from kubectl_kres.errors import UsageError

Run = Callable[[Options, tuple[str, ...]], int]


def repeated(run: Run) -> Run:
    """The command, which is run again and again with ``-w``. Raises UsageError for flags that do not go together."""

    @wraps(run)
    def watched(options: Options, words: tuple[str, ...]) -> int:
        if not options.watch:
            for flag in ("until", "timeout"):
                if getattr(options, flag):
                    raise UsageError(f"--{flag} goes with -w")
            return run(options, words)
        for flag in ("offline", "demo", "snapshot"):
            if getattr(options, flag):
                raise UsageError(f"-w follows a cluster; it does not go with --{flag}")
        from kubectl_kres.cli.following import follow  # noqa: PLC0415, only what is needed is loaded

        return follow(options, lambda: run(options, words))

    return watched
