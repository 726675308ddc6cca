"""The snapshot that comes with the program, for a first look without a cluster."""

from __future__ import annotations

from pathlib import Path


def path() -> Path:
    """The bundled snapshot of a made-up shop."""
    return Path(__file__).parents[1] / "demo" / "shop.kres"
