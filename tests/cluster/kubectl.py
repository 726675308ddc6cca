"""The real kubectl, to compare with: what it sends for the same kubeconfig and flags."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

BUILD = Path(__file__).parents[1] / "controlplane" / "build.py"


def _cache() -> Path:
    """Where the control plane of the tests is built. Loaded by its file: ``controlplane`` is a module elsewhere."""
    spec = importlib.util.spec_from_file_location("controlplane_build", BUILD)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module.cache_folder()


def _found() -> str:
    """The kubectl that was built with the control plane, whose version is known, else the one on PATH; empty: none."""
    built = _cache() / "kubectl"
    return str(built) if os.access(built, os.X_OK) else shutil.which("kubectl") or ""


FOUND = _found()


@cache
def minor() -> int:
    """The 36 of kubectl 1.36."""
    done = subprocess.run([FOUND, "version", "--client", "-o", "json"], capture_output=True, check=True)
    return int(json.loads(done.stdout)["clientVersion"]["minor"].rstrip("+"))


def raw(flags: Sequence[str], environ: Mapping[str, str], folder: Path) -> subprocess.CompletedProcess[str]:
    """What ``kubectl get --raw`` did: exactly one request, or an error."""
    command = [FOUND, "get", "--raw", "/x", *flags]
    return subprocess.run(
        command,
        env=environ,
        cwd=folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
