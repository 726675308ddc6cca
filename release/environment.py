"""The virtual environment that a release is built in: nothing but what goes into it, and tools of known digests."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from release.names import BUILD, ROOT

#: Whether a Python can be frozen: new enough, able to make environments, and with a library of itself.
_FITS = """
import ensurepip, os, sys, sysconfig, venv
shared = os.name == "nt" or sysconfig.get_config_var("Py_ENABLE_SHARED") or sysconfig.get_config_var("PYTHONFRAMEWORK")
sys.exit(sys.version_info < (3, 11) or not shared)
"""


def interpreter(environ: Mapping[str, str] = os.environ) -> str:
    """The Python to freeze: the one that PYTHON_DIST names, else 3.13 if there is one, else another.

    Raises SystemExit if none fits.
    """
    wanted = environ.get("PYTHON_DIST")
    tried = [wanted] if wanted else ["python3.13", sys.executable, "python3.14", "python3.12", "python3.11", "python3"]
    for name in tried:
        found = shutil.which(name)
        if found and subprocess.run([found, "-c", _FITS], check=False, capture_output=True).returncode == 0:
            return found
    raise SystemExit(
        f"error: of {', '.join(tried)} none is a Python >= 3.11 with venv and a shared library of its own"
        " (./configure --enable-shared; Debian and Ubuntu: libpython3-dev). Name one: make dist PYTHON_DIST=/path"
    )


class Environment:
    """The environment, and the settings under which everything in it is built."""

    def __init__(self, epoch: int) -> None:
        """Makes it anew. ``epoch``: the time that everything built gets."""
        folder = BUILD / "venv"
        base = interpreter()
        run([base, "-m", "venv", "--clear", str(folder)])
        self.folder = folder / ("Scripts" if os.name == "nt" else "bin")
        self.python = self.folder / ("python.exe" if os.name == "nt" else "python")
        self._settings = {
            "SOURCE_DATE_EPOCH": str(epoch),
            "PYTHONHASHSEED": "0",
            "PYTHONDONTWRITEBYTECODE": "",
            "PYINSTALLER_CONFIG_DIR": str(BUILD / "pyinstaller"),
            "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        }
        wheels = ("--only-binary", ":all:", "--no-deps", "--require-hashes")
        self("-m", "pip", "install", "-q", *wheels, "-r", "release/backend.txt", "-r", "release/tools.txt")

    def __call__(self, *words: str) -> None:
        """Runs a module of it, not of the folder we stand in. Raises SystemExit if that fails."""
        run([str(self.python), "-P", *words], self._settings)

    def own(self, *words: str) -> None:
        """Runs a module of ours in it. Raises SystemExit if that fails."""
        run([str(self.python), *words], self._settings)

    def install(self, wheel: Path) -> None:
        """Installs a wheel as a user would, with the exact versions that the tests ran with."""
        self("-m", "pip", "install", "-q", "--require-hashes", "-r", "release/runtime.txt")
        self("-m", "pip", "install", "-q", "--no-deps", str(wheel))


def run(words: Sequence[str], settings: Mapping[str, str] | None = None) -> None:
    """Runs a command. Its output is shown if it fails, which raises SystemExit."""
    done = subprocess.run(
        words,
        cwd=ROOT,
        env={**os.environ, **(settings or {})},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        check=False,
    )
    if done.returncode:
        print(done.stdout, file=sys.stderr)
        shown = " ".join(word for word in words if "\n" not in word)
        raise SystemExit(f"error: {shown} ended with {done.returncode}")
