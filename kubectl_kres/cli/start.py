"""The entry point of the program. From here on Ctrl-C ends it silently, even while modules are still being loaded."""

from __future__ import annotations

import gc

_INTERRUPTED = 130


def entry() -> int:
    """Run the command line and return the exit code."""
    try:
        from kubectl_kres.cli.garbage import loading

        with loading():
            from kubectl_kres.cli.main import entry as run  # what takes time must be within

        return run()
    except KeyboardInterrupt:
        return _INTERRUPTED
    finally:
        # What is left goes with the process: the end of the interpreter need not look through it.
        gc.freeze()
