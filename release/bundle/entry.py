"""Where the bundle begins."""

from __future__ import annotations

import os
import sys
from contextlib import suppress


def restore() -> None:
    """Undo what the bundle's loader set for itself: credential plugins would load our libraries with it."""
    for name in ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "LIBPATH"):
        before = os.environ.pop(f"{name}_ORIG", None)
        if before is not None:
            os.environ[name] = before
        elif getattr(sys, "_MEIPASS", "\0") in os.environ.get(name, ""):
            del os.environ[name]
    for name in [one for one in os.environ if one.startswith("_PYI_")]:
        del os.environ[name]


def leave(code: int) -> None:
    """End at once. Otherwise Python would end the threads that wait for a server by a function of glibc that needs
    libgcc_s, which a small container does not have.
    """
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError, AttributeError):
            stream.flush()
    os._exit(code)


if __name__ == "__main__":
    restore()
    from kubectl_kres.cli.start import entry

    leave(entry())
