"""The systems beside Kubernetes' own controllers that are explained: each is a folder of its own.

A further one is such a folder and one entry here. What they register is loaded by name: no common folder knows them.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from types import ModuleType
from typing import Any, Final

#: Each system with the layers that it has something for: ``kubectl_kres.NAME.LAYER`` holds it as ``SYSTEM``, the
#: module ``kubectl_kres.NAME.model`` its kinds as ``KINDS``, ``kubectl_kres.NAME.reports.overview`` its ``AREAS``.
SYSTEMS: Final = {
    "capsule": ("model", "reports", "reports.overview", "text", "commands", "screens"),
    "tekton": ("model", "manifests", "reports", "reports.overview", "text", "commands", "screens"),
    "vpa": ("model", "reports", "text", "commands"),
    "policies": ("reports", "commands", "screens"),
}


@cache
def modules(layer: str) -> tuple[ModuleType, ...]:
    """Return what systems have for a layer, in the order above."""
    names = [name for name, layers in SYSTEMS.items() if layer in layers]
    return tuple(import_module(f"kubectl_kres.{name}.{layer}") for name in names)


@cache
def registered_systems(layer: str) -> tuple[Any, ...]:
    """Return what systems register in a layer, in the order above."""
    return tuple(module.SYSTEM for module in modules(layer))
