"""Namespaces in a simulation: which there are, and what a step about one comes to."""

from __future__ import annotations

from collections.abc import Mapping

from kubectl_kres.model.kinds import BY_KIND
from kubectl_kres.model.objects import ManagedMetadata, Namespace, decode_object, with_name_label
from kubectl_kres.simulate.change import (
    Apply,
    Delete,
    Patch,
    Step,
    apply_step,
    difference,
    key_of_step,
    strategic_merge,
)
from kubectl_kres.simulate.live import raw_of
from kubectl_kres.simulate.requests import StepAnswer
from kubectl_kres.simulate.system import kept_kinds
from kubectl_kres.store.store import Store


def known_namespaces(store: Store) -> dict[str, Namespace]:
    """Return the namespaces by name: those that were read, and those of quotas and of what systems keep."""
    namespaces = {item.metadata.name: with_name_label(item) for item in store.all("Namespace")}
    named = {item.metadata.namespace for kind in ("ResourceQuota", *kept_kinds()) for item in store.all(kind)}
    for name in sorted(named - namespaces.keys() - {""}):
        namespaces[name] = with_name_label(Namespace(ManagedMetadata(name)))
    return namespaces


def step_namespace(namespaces: Mapping[str, Namespace], step: Step) -> tuple[StepAnswer, dict[str, Namespace]]:
    """Return the server's answer to a step about a namespace, and all of them after it."""
    kind, name = key_of_step(step)
    stored = namespaces.get(name)
    if stored is None and not isinstance(step, Apply):
        message = f'{BY_KIND[kind].qualified_name} "{name}" not found'
        return StepAnswer(allowed=False, code=404, message=message), dict(namespaces)
    if isinstance(step, Delete):
        left = {other: namespace for other, namespace in namespaces.items() if other != name}
        return StepAnswer(allowed=True, code=200), left
    if stored is None:
        sent = {key: value for key, value in apply_step(step, None).items() if key != "status"}
        created = with_name_label(decode_object(sent, Namespace))
        return StepAnswer(allowed=True, code=201), {**namespaces, name: created}
    raw = raw_of(stored)
    patch = step.patch if isinstance(step, Patch) else difference(raw, apply_step(step, raw))
    changed = decode_object(strategic_merge(raw, patch), Namespace)
    return StepAnswer(allowed=True, code=200), {**namespaces, name: changed}
