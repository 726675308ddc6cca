"""``-w``: a command that answers again whenever its answer changes. A command opts in with ``build_watch_runner``."""

from __future__ import annotations

from collections.abc import Callable

from kubectl_kres.cli.args.options import Options
from kubectl_kres.cli.run_loop import Plan, answer
from kubectl_kres.errors import UsageError


def build_watch_runner(plan: Plan) -> Callable[[Options, tuple[str, ...]], int]:
    """Return the function that runs a command: once, or with ``-w`` until it is stopped.

    It raises UsageError for flags that do not go together.
    """

    def run(options: Options, words: tuple[str, ...]) -> int:
        if not options.watch:
            for flag in ("until", "timeout"):
                if getattr(options, flag):
                    raise UsageError(f"--{flag} goes with -w")
            return answer(options, plan(options, words))
        for flag in ("offline", "demo", "snapshot"):
            if getattr(options, flag):
                raise UsageError(f"-w follows a cluster; it does not go with --{flag}")
        from kubectl_kres.cli.watch import follow

        return follow(options, plan(options, words))

    return run
