"""The QoS class of a pod, and which value decides it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec import Struct

from kubectl_kres.admission.base.draft import Draft, Quantities, Side, Slot
from kubectl_kres.admission.base.resource_names import is_pod_level

CONSIDERED = ("cpu", "memory")


class QoS(Struct, frozen=True, omit_defaults=True, rename="camel"):
    """The class, one sentence why, and the paths that keep the pod from Guaranteed (empty if it is)."""

    name: str
    because: str
    culprits: tuple[str, ...] = ()


def _positive(values: Quantities) -> Quantities:
    return {name: value for name, value in values.items() if name in CONSIDERED and value.nano > 0}


def _sums(slots: Iterable[Slot], side: Side) -> Quantities:
    sums: Quantities = {}
    for slot in slots:
        for name, value in _positive(slot.side(side)).items():
            sums[name] = sums[name] + value if name in sums else value
    return sums


def deciding(draft: Draft) -> tuple[Slot, ...]:
    """What decides the class: the pod level, or all containers."""
    pod = draft.pod
    if pod is not None and (
        not draft.server.behaves("qos/empty-pod-level") or any(map(is_pod_level, (*pod.limits, *pod.requests)))
    ):
        return (pod,)
    return (*draft.containers, *draft.inits)


def class_of(draft: Draft) -> str:
    """Guaranteed, Burstable or BestEffort.

    A pod-level stanza hides the containers; up to 1.36 even an empty one. Only cpu and memory count, only above zero;
    overhead, huge pages and extended resources do not. Source: apis/core/v1/helper/qos ComputePodQOS.
    """
    slots = deciding(draft)
    requests, limits = _sums(slots, "requests"), _sums(slots, "limits")
    if not requests and not limits:
        return "BestEffort"
    complete = all(len(_positive(slot.limits)) == len(CONSIDERED) for slot in slots)
    return "Guaranteed" if complete and requests == limits else "Burstable"


def explain(draft: Draft, brought: str = "") -> QoS:
    """The class with what decides it. ``brought``: what the pod says of itself, which the server stores unchecked.

    Source: registry/core/pod strategy.go PrepareForCreate; apis/core/v1/helper/qos GetPodQOS.
    """
    name = class_of(draft)
    if brought and brought != name:
        return QoS(brought, f"the manifest brings status.qosClass, which is kept; its values alone are {name}")
    slots = deciding(draft)
    if draft.pod is not None and draft.pod in slots:
        where = "spec.resources"
        if name == "BestEffort":
            return QoS(name, f"{where} is present and sets no cpu or memory, which hides the containers", (where,))
    elif name == "BestEffort":
        return QoS(name, "no container has a cpu or memory request or limit")
    else:
        where = "every container"
    if name == "Guaranteed":
        return QoS(name, f"{where} has cpu and memory limits equal to its requests")
    culprits = tuple(culprit for slot in slots for culprit in _short_of_guaranteed(slot))
    texts = [text for _, text in culprits]
    because = texts[0] if texts else "requests and limits differ in sum"
    return QoS(name, because, tuple(path for path, _ in culprits))


def _short_of_guaranteed(slot: Slot) -> Iterator[tuple[str, str]]:
    who = slot.title
    limits, requests = _positive(slot.limits), _positive(slot.requests)
    for name in CONSIDERED:
        if name not in limits:
            yield slot.at("limits", name), f"{who} has no {name} limit"
        elif requests.get(name) != limits[name]:
            shown = requests.get(name, 0)
            yield slot.at("requests", name), f"{who} requests {name} {shown}, not its limit {limits[name]}"
