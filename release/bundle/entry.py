"""Where the bundle begins."""

from __future__ import annotations

import os
import sys


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


if __name__ == "__main__":
    restore()
    from kubectl_kres.cli.main import entry

    sys.exit(entry())
