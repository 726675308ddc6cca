"""The entry point of the program. From here on Ctrl-C ends it silently, even while modules are still being loaded."""

from __future__ import annotations

_INTERRUPTED = 130


def entry() -> int:
    """Run the command line and return the exit code."""
    try:
        from kubectl_kres.cli.main import entry as run  # what takes time must be within

        return run()
    except KeyboardInterrupt:
        return _INTERRUPTED
