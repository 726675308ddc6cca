"""What Tekton registers with simulations: what its runs depend on."""

from __future__ import annotations

from kubectl_kres.simulate.system import SimulatedSystem

SYSTEM = SimulatedSystem("tekton", held=("Task", "StepAction", "ConfigMap"))
