"""The systems beside Kubernetes' own controllers that are explained: each has folders of its own in the layers.

A further one is such folders and one entry here. What they register is loaded by name: no common room knows them.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any, Final

#: Each system with the layers in which ``kubectl_kres.LAYER.NAME.system`` holds what it registers, as ``SYSTEM``.
SYSTEMS: Final = {
    "tekton": ("reports",),
    "capsule": ("reports",),
    "policing": ("reports",),
}


@cache
def registered(layer: str) -> tuple[Any, ...]:
    """What the systems register in a layer, in the order above."""
    return tuple(
        import_module(f"kubectl_kres.{layer}.{name}.system").SYSTEM
        for name, layers in SYSTEMS.items()
        if layer in layers
    )
