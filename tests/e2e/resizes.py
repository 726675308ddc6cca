"""Resizes: pods that stand in a namespace, the nodes that run some of them, and what is asked to change in them."""

from __future__ import annotations

import copy
import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from e2e.amounts import NEGATIVE, UNPARSABLE, ordered, quantity
from e2e.pods import Object, shape

#: Changes a stored pod into the one that is sent.
Edit = Callable[[Object], None]

_FEATURES = ["InPlacePodLevelResourcesVerticalScaling", "InPlacePodVerticalScalingInitContainers"]


def _node(name: str, system: str, *, cpu: str = "64", features: list[str]) -> Object:
    status = {"allocatable": {"cpu": cpu, "memory": "64Gi"}, "capacity": {"cpu": cpu, "memory": "64Gi"}}
    metadata = {"name": name, "labels": {"kubernetes.io/os": system}}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": metadata,
        "status": {**status, "declaredFeatures": features},
    }


#: The last one is what a run waits for.
NODES = (
    _node("small", "linux", cpu="2", features=_FEATURES),
    _node("old", "linux", features=[]),
    _node("foreign", "windows", features=_FEATURES),
    _node("large", "linux", features=_FEATURES),
)


@dataclass
class Resize:
    """What is asked of the pod of a name; ``says`` is for people."""

    pod: str
    says: str
    edit: Edit = field(repr=False)

    def of(self, stored: Object) -> Object:
        """The pod to send: the stored one, changed."""
        sent = copy.deepcopy(stored)
        for key in ("managedFields", "resourceVersion"):
            sent["metadata"].pop(key, None)
        self.edit(sent)
        return sent


def standing(rng: random.Random, name: str) -> Object:
    """A pod that the server takes as a rule, on a node or on none."""
    found = shape(rng, name)
    if rng.random() < 0.5:
        found["spec"]["nodeName"] = rng.choice(("small", "old", "large", "large", "nowhere"))
    return found


def resizes(rng: random.Random, pod: Object, count: int) -> list[Resize]:
    """Random resizes of a pod: most of them change a value or two, some do what no resize may."""
    found = []
    for _ in range(count):
        made = [rng.choice(_EDITS)(rng, pod) for _ in range(rng.choice((1, 1, 2)))]
        name = pod["metadata"]["name"]
        found.append(Resize(name, ", ".join(says for says, _ in made), every([edit for _, edit in made])))
    return found


def every(edits: Iterable[Edit]) -> Edit:
    """One edit after the other."""
    edits = list(edits)

    def edit(sent: Object) -> None:
        for one in edits:
            one(sent)

    return edit


Made = tuple[str, Edit]
#: A place of a pod that holds resources: a key of the spec and an index, or nothing for the pod level.
Place = tuple[str, int] | None


def _place(rng: random.Random, pod: Object, *, level: float = 0.3) -> Place:
    spec = pod["spec"]
    if "resources" in spec and rng.random() < level:
        return None
    places = [(key, index) for key in ("containers", "initContainers") for index in range(len(spec.get(key, ())))]
    return rng.choice(places)


def put(place: Place, side: str, resource: str, value: Any) -> Edit:
    """Sets one value."""

    def edit(sent: Object) -> None:
        _held(sent, place).setdefault("resources", {}).setdefault(side, {})[resource] = value

    return edit


def _held(sent: Object, place: Place) -> Object:
    if place is None:
        return sent["spec"]
    held = sent["spec"].get(place[0], ())
    return held[place[1]] if place[1] < len(held) else {}


def _values(rng: random.Random, pod: Object) -> Made:
    """New request and limit that fit each other."""
    place, resource = _place(rng, pod), rng.choice(("cpu", "memory"))
    low, high = ordered(rng, resource, 2)
    low = high if rng.random() < 0.4 else low
    sides = rng.choice((("requests", "limits"), ("requests", "limits"), ("requests",), ("limits",)))
    values = {"requests": low, "limits": high}
    return f"{place} {resource} {values}", every([put(place, side, resource, values[side]) for side in sides])


def _present(rng: random.Random, _: Object) -> Made:
    """Other values wherever one resource is set: equal ones stay equal, so that the QoS class mostly stays."""
    resource = rng.choice(("cpu", "memory"))
    low, high = ordered(rng, resource, 2)

    def edit(sent: Object) -> None:
        for one in (sent["spec"], *sent["spec"]["containers"], *sent["spec"].get("initContainers", ())):
            resources = one.get("resources") or {}
            values = {side: held[resource] for side, held in resources.items() if resource in held}
            equal = len(values) == 2 and len({str(value) for value in values.values()}) == 1
            for side in values:
                resources[side][resource] = high if equal or side == "limits" else low

    return f"every {resource} {low} or {high}", edit


def _removed(rng: random.Random, pod: Object) -> Made:
    place, side = _place(rng, pod), rng.choice(("requests", "limits"))
    resource = rng.choice(("cpu", "memory"))

    def edit(sent: Object) -> None:
        held = _held(sent, place).get("resources", {})
        held.get(side, {}).pop(resource, None)

    return f"{place} without {side}.{resource}", edit


def _odd_value(rng: random.Random, pod: Object) -> Made:
    place, side = _place(rng, pod), rng.choice(("requests", "limits"))
    resource = rng.choice(("cpu", "memory", "ephemeral-storage", "example.com/gpu", "hugepages-2Mi", "gpu"))
    value = rng.choice((rng.choice(NEGATIVE), rng.choice(UNPARSABLE), "1", "0", quantity(rng, "cpu"), "2Mi"))
    return f"{place} {side}.{resource}={value!r}", put(place, side, resource, value)


def _other_containers(rng: random.Random, pod: Object) -> Made:
    key = "initContainers" if "initContainers" in pod["spec"] and rng.random() < 0.4 else "containers"
    what = rng.choice(("added", "removed", "renamed", "reversed"))

    def edit(sent: Object) -> None:
        held = sent["spec"][key]
        if what == "added":
            held.append({"name": f"new{len(held)}", "image": "img"})
        elif what == "removed" and len(held) > 1:
            held.pop()
        elif what == "reversed":
            held.reverse()
        else:
            held[0]["name"] = f"other-{key.lower()}"

    return f"{key} {what}", edit


def _other_fields(rng: random.Random, pod: Object) -> Made:
    """Fields that a resize takes from the stored pod."""
    what = rng.choice(("image", "deadline", "labels", "class"))

    def edit(sent: Object) -> None:
        if what == "image":
            sent["spec"]["containers"][0]["image"] = "other"
        elif what == "deadline":
            sent["spec"]["activeDeadlineSeconds"] = 5
        elif what == "labels":
            sent["metadata"]["labels"] = {"a": "b"}
        else:
            sent["status"]["qosClass"] = "Guaranteed"

    return f"another {what}", edit


def _policy(rng: random.Random, pod: Object) -> Made:
    place = _place(rng, pod, level=0)
    policy = [{"resourceName": "cpu", "restartPolicy": rng.choice(("NotRequired", "RestartContainer", "Never"))}]

    def edit(sent: Object) -> None:
        _held(sent, place)["resizePolicy"] = policy

    return f"{place} {policy}", edit


def _level(rng: random.Random, _: Object) -> Made:
    """The pod level gone, empty or put there."""
    choice = rng.choice((None, {}, {"limits": {"cpu": "4", "memory": "8Gi"}}, {"requests": {"cpu": "4"}}))

    def edit(sent: Object) -> None:
        sent["spec"].pop("resources", None)
        if choice is not None:
            sent["spec"]["resources"] = copy.deepcopy(choice)

    return f"pod level {choice}", edit


_EDITS: tuple[Callable[[random.Random, Object], Made], ...] = (
    *(_values, _values, _values, *[_present] * 8),
    *(_removed, _odd_value, _other_containers, _other_fields, _policy, _level),
)
