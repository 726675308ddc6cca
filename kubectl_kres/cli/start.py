"""The entry point of the program: Ctrl-C ends it in silence from here on, also while it is still being loaded."""

from __future__ import annotations

_INTERRUPTED = 130


def entry() -> int:
    """Run the command line and returns the exit code."""
    try:
        from kubectl_kres.cli.main import entry as run  # what takes time must be within

        return run()
    except KeyboardInterrupt:
        return _INTERRUPTED
