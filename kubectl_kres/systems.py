"""The systems beside Kubernetes' own controllers that are explained: each has folders of its own in the layers.

A further one is such folders and one entry here. What they register is loaded by name: no common room knows them.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from types import ModuleType
from typing import Any, Final

#: Each system with the layers that it has something for: ``kubectl_kres.LAYER.NAME.system`` holds it as ``SYSTEM``, in
#: ``model`` the module ``kubectl_kres.model.NAME`` as ``KINDS``.
SYSTEMS: Final = {
    "capsule": ("model", "reports", "render", "cli", "tui"),
    "tekton": ("model", "manifests", "reports", "render", "cli", "tui"),
    "policing": ("reports", "cli", "tui"),
}


@cache
def modules(layer: str) -> tuple[ModuleType, ...]:
    """What systems have for a layer, in the order above."""
    end = "" if layer == "model" else ".system"
    names = [name for name, layers in SYSTEMS.items() if layer in layers]
    return tuple(import_module(f"kubectl_kres.{layer}.{name}{end}") for name in names)


@cache
def registered(layer: str) -> tuple[Any, ...]:
    """What systems register in a layer, in the order above."""
    return tuple(module.SYSTEM for module in modules(layer))
