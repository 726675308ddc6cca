"""Several LimitRanges: the orders in which the real server applies them are turns of one, as it is inferred."""

from __future__ import annotations

import random
import time
from typing import Any

import msgspec
import pytest
from controlplane import ControlPlane
from e2e.asking import Asking
from e2e.seed import SEED

from kubectl_kres.admission.limitrange import parse
from kubectl_kres.admission.request.new_pod import orders
from kubectl_kres.model.objects import LimitRange

pytestmark = pytest.mark.e2e

ASKED = 60
POD: dict[str, Any] = {
    "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "i"}]},
}  # fmt: skip


@pytest.mark.parametrize("count", [3, 6, 8])
def test_orders(controlplane: ControlPlane, namespace: str, count: int) -> None:
    """The first one sets the memory, the last one writes the annotation: with its own resource each shows both."""
    names = random.Random(f"{SEED}/{count}").sample("abcdefgh", count)
    with Asking(controlplane) as asking:
        for place, name in enumerate(names, 1):
            defaults = {"memory": f"{place}Gi", f"example.com/{name}": "1"}
            spec = {"limits": [{"type": "Container", "default": defaults}]}
            asking.create(
                {"apiVersion": "v1", "kind": "LimitRange", "metadata": {"name": name}, "spec": spec}, namespace
            )
        filled: set[str] = set()
        while len(filled) < count + 1:
            time.sleep(0.2)
            filled = set(_answer(asking, namespace)["resources"]["limits"])
        active = [parse(msgspec.convert(one, LimitRange)) for one in asking.get("LimitRange", namespace)["items"]]
        possible = {(order[0].source.name, order[-1].source.name) for order in orders(active)}
        seen = {_ends(asking, namespace, names) for _ in range(ASKED)}
    assert seen <= possible


def _answer(asking: Asking, namespace: str) -> Any:
    return asking.create(POD, namespace, dry=True).body["spec"]["containers"][0]


def _ends(asking: Asking, namespace: str, names: list[str]) -> tuple[str, str]:
    body = asking.create(POD, namespace, dry=True).body
    memory = body["spec"]["containers"][0]["resources"]["limits"]["memory"]
    annotation = body["metadata"]["annotations"]["kubernetes.io/limit-ranger"]
    last = next(name for name in names if f"example.com/{name} " in annotation)
    return names[int(memory.removesuffix("Gi")) - 1], last
