"""The snapshot that comes with the program, for a first look without a cluster."""

from __future__ import annotations

from importlib import resources
from pathlib import Path


def path() -> Path:
    """The bundled snapshot of a made-up shop."""
    return Path(str(resources.files("kubectl_kres") / "demo" / "shop.kres"))
