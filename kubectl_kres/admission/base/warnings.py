"""The Warning headers that the server sends for resources: fractions of a byte, and hidden environment variables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from kubectl_kres.admission.base.draft import SIDES, Draft
from kubectl_kres.model.raw import items, text
from kubectl_kres.quantity import Quantity

_BYTES = ("memory", "ephemeral-storage")


def pod_warnings(draft: Draft) -> Iterator[str]:
    """Source: api/pod/warnings.go warningsForPodSpecAndMeta. Pod-level resources are not looked at."""
    for name in _BYTES:
        if name in draft.overhead:
            yield from fraction(f"spec.overhead[{name}]", draft.overhead[name])
    for slot in (*draft.inits, *draft.containers):
        for name in _BYTES:
            for side in SIDES:
                if name in slot.side(side):
                    yield from fraction(slot.at(side, name), slot.side(side)[name])


def fraction(path: str, quantity: Quantity) -> Iterator[str]:
    if quantity.milli_value() % 1000:
        yield f'{path}: fractional byte value "{quantity}" is invalid, must be an integer'


def hidden_env(containers: Sequence[Mapping[str, Any]], path: str) -> Iterator[str]:
    """Variables that a later one of the same name replaces, in containers as sent: values are read here and dropped."""
    for place, container in enumerate(containers):
        seen: set[str] = set()
        for index, variable in enumerate(items(container, "env")):
            name, value = text(variable, "name"), text(variable, "value")
            reference = f"$({name})"
            extends = variable.get("valueFrom") is None and reference in value and value != reference
            if name in seen and not extends:
                told = f'hides previous definition of "{name}", which may be dropped when using apply'
                yield f"{path}[{place}].env[{index}]: {told}"
            seen.add(name)
