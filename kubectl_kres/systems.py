"""The systems beside Kubernetes' own controllers that are explained: each is a folder of its own.

A further one is such a folder and one entry here. What they register is loaded by name: no common folder knows them.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from types import ModuleType
from typing import Any, Final

#: Each system with the layers that it has something for: ``kubectl_kres.NAME.LAYER`` holds it as ``SYSTEM``; ``model``
#: its kinds as ``KINDS``, ``catalogue`` its ``RULES``, ``reports.overview`` its ``AREAS``, ``snapshot`` what snapshots
#: keep of its objects, as ``redact``.
SYSTEMS: Final = {
    "capsule": "model catalogue simulation reports reports.overview checks changes text api commands screens",
    "tekton": "model catalogue manifests snapshot simulation reports reports.overview checks changes text commands"
    " screens",
    "vpa": "model catalogue simulation reports checks changes text commands screens",
    "kueue": "model catalogue simulation reports checks changes text commands screens",
    "policies": "reports changes commands screens",
    "gitops": "model reports",
}


@cache
def modules(layer: str) -> tuple[ModuleType, ...]:
    """Return what systems have for a layer, in the order above."""
    names = [name for name, layers in SYSTEMS.items() if layer in layers.split()]
    return tuple(import_module(f"kubectl_kres.{name}.{layer}") for name in names)


@cache
def registered_systems(layer: str) -> tuple[Any, ...]:
    """Return what systems register in a layer, in the order above."""
    return tuple(module.SYSTEM for module in modules(layer))
