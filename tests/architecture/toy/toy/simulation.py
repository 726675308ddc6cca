"""What the toy registers with simulations: its webhook answers steps about Budgets, its controller makes quotas."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kubectl_kres.toy.model import Budget

from kubectl_kres.model.objects import Namespace, decode_object
from kubectl_kres.simulate.change import Apply, Delete, PlacedStep, apply_step, key_of_step
from kubectl_kres.simulate.live import raw_of
from kubectl_kres.simulate.requests import StepAnswer
from kubectl_kres.simulate.system import Controller, Played, SimulatedSystem
from kubectl_kres.store.store import Store

#: Budgets by namespace and name.
World = Mapping[tuple[str, str], Budget]


def _build(store: Store, namespaces: Mapping[str, Namespace]) -> World:
    del namespaces
    return {(budget.metadata.namespace, budget.metadata.name): budget for budget in store.all("Budget")}


def _play(world: World, placed_step: PlacedStep) -> Played:
    step, space = placed_step.step, placed_step.namespace
    kind, name = key_of_step(step)
    if kind != "Budget":
        return Played(world)
    stored = world.get((space, name))
    if isinstance(step, Delete):
        left = {key: budget for key, budget in world.items() if key != (space, name)}
        made = (PlacedStep(Delete("ResourceQuota", name), space),)
        return Played(left, (StepAnswer(allowed=True, code=200),), made)
    raw = apply_step(step, raw_of(stored) if stored is not None else None)
    budget = decode_object(raw, Budget)
    if not budget.spec.team:
        return Played(world, (StepAnswer(allowed=False, code=403, message="a budget names a team"),))
    quota: dict[str, Any] = {"kind": "ResourceQuota", "metadata": {"name": name, "namespace": space}}
    quota["spec"] = {"hard": {"pods": str(budget.spec.pods)}}
    answer = StepAnswer(allowed=True, code=201)
    return Played({**world, (space, name): budget}, (answer,), (PlacedStep(Apply(quota), space),))


SYSTEM = SimulatedSystem("toy", controller=Controller("The toy", ("Budget",), _build, _play))
