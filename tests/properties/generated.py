"""Pods, LimitRanges and quotas as a server could meet them: few names and few quantities, so that they collide."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
from examples import examples
from hypothesis import strategies as st

from kubectl_kres.admission.request.new_pod import Policies, policies_of
from kubectl_kres.model.objects import LimitRange, PriorityClass, ResourceQuota, RuntimeClass
from kubectl_kres.model.pod import Pod
from kubectl_kres.quantity import parse

Raw = dict[str, Any]

#: A pod takes some milliseconds to make, so these properties see fewer of them than cheap ones.
FEW = examples(60)

#: Texts in growing order, some in notations that the server changes, some finer than a thousandth.
CPU = ["0", "0.0005", "100m", "0.25", "1.2345", "1500m", "2", "4"]
MEMORY = ["0", "64Mi", "131072Ki", "0.25Gi", "268435456500m", "512Mi", "1Gi", "2G", "4Gi"]
GPU = ["1", "2"]
HUGE = ["2Mi", "4Mi"]
QUANTITIES = {"cpu": CPU, "memory": MEMORY, "example.com/gpu": GPU, "hugepages-2Mi": HUGE}
COMMON = ("cpu", "memory")


def resource_lists(names: tuple[str, ...]) -> st.SearchStrategy[Raw]:
    """Some of the resources with one of their quantities."""
    return st.fixed_dictionaries({}, optional={name: st.sampled_from(QUANTITIES[name]) for name in names})


@st.composite
def requirements(draw: st.DrawFn, *, rare: bool = True) -> Raw:
    """Limits and requests; mostly in order, sometimes with a request above its limit."""
    names = COMMON if not rare or draw(st.integers(0, 4)) else tuple(QUANTITIES)
    limits, requests = draw(resource_lists(names)), draw(resource_lists(names))
    if draw(st.integers(0, 5)):
        requests = {
            name: limits[name] if name in limits and parse(text) > parse(limits[name]) else text
            for name, text in requests.items()
        }
    return {side: values for side, values in (("limits", limits), ("requests", requests)) if values}


@st.composite
def pods(draw: st.DrawFn, *, rare: bool = True, level: bool = True) -> Raw:
    """One to three containers, up to two init containers or sidecars, sometimes a pod level, overhead, a class."""
    containers = [
        {"name": f"c{index}", "resources": draw(requirements(rare=rare))} for index in range(draw(st.integers(1, 3)))
    ]
    inits: list[Raw] = [
        {
            "name": f"i{index}",
            "resources": draw(requirements(rare=rare)),
            **({"restartPolicy": "Always"} if draw(st.booleans()) else {}),
        }
        for index in range(draw(st.integers(0, 2)))
    ]
    spec: Raw = {"containers": containers, **({"initContainers": inits} if inits else {})}
    if level and not draw(st.integers(0, 3)):
        spec["resources"] = draw(requirements(rare=rare))
    if not draw(st.integers(0, 5)):
        spec["runtimeClassName"] = "kata"
    if not draw(st.integers(0, 5)):
        spec["activeDeadlineSeconds"] = 60
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "namespace": "ns"}, "spec": spec}


@st.composite
def items(draw: st.DrawFn, kind: str) -> Raw:
    """An item that validation lets pass: min <= defaultRequest <= default <= max, a ratio of at least 1."""
    fields = ("min", "defaultRequest", "default", "max") if kind == "Container" else ("min", "max")
    item: Raw = {"type": kind}
    for name in COMMON:
        texts = sorted((draw(st.sampled_from(QUANTITIES[name][1:])) for _ in fields), key=parse)
        for field, text in zip(fields, texts, strict=True):
            if draw(st.integers(0, 1 if field.startswith("default") else 4)) == 0:
                item.setdefault(field, {})[name] = text
        if name not in item.get("min", {}) and not draw(st.integers(0, 5)):
            item.setdefault("maxLimitRequestRatio", {})[name] = draw(st.sampled_from(["1", "1.5", "2", "4"]))
    return item


@st.composite
def limit_ranges(draw: st.DrawFn, name: str) -> LimitRange:
    """Mostly a Container item, sometimes a Pod item too, sometimes nothing that concerns pods."""
    kinds = draw(st.sampled_from([("Container",), ("Container",), ("Container",), ("Container", "Pod"), ()]))
    limits = [draw(items(kind)) for kind in kinds]
    if not limits:
        limits = [{"type": "PersistentVolumeClaim", "max": {"storage": "1Gi"}}]
    return msgspec.convert({"metadata": {"name": name, "namespace": "ns"}, "spec": {"limits": limits}}, LimitRange)


#: Names that a quota may limit, with a hard value and what is used of it.
_HARD = {
    "pods": ["1", "5"],
    "count/pods": ["1", "5"],
    "requests.cpu": ["1", "40"],
    "limits.cpu": ["2", "80"],
    "requests.memory": ["1Gi", "80Gi"],
    "memory": ["1Gi", "80Gi"],
    "limits.memory": ["1Gi", "80Gi"],
    "requests.example.com/gpu": ["1", "9"],
}
_USED = {"pods": ["0", "1"], "count/pods": ["0", "1"], "requests.example.com/gpu": ["0", "1"]}


@st.composite
def quotas(draw: st.DrawFn, name: str) -> ResourceQuota:
    """A settled quota; sometimes with a scope."""
    names = draw(st.lists(st.sampled_from(sorted(_HARD)), unique=True, min_size=1, max_size=2))
    hard = {key: draw(st.sampled_from(_HARD[key])) for key in names}
    used = {key: draw(st.sampled_from(_USED.get(key, ["0", "500m", "512M"]))) for key in names}
    scopes = draw(st.sampled_from([(), (), ("NotBestEffort",), ("NotTerminating",), ("Terminating",)]))
    spec: Raw = {"hard": hard, **({"scopes": scopes} if scopes else {})}
    raw = {"metadata": {"name": name, "namespace": "ns"}, "spec": spec, "status": {"hard": hard, "used": used}}
    return msgspec.convert(raw, ResourceQuota)


KATA = msgspec.convert(
    {"metadata": {"name": "kata"}, "overhead": {"podFixed": {"cpu": "250m", "memory": "160Mi"}}}, RuntimeClass
)
STANDARD = msgspec.convert({"metadata": {"name": "standard"}, "value": 1, "globalDefault": True}, PriorityClass)


def range_lists(most: int = 3) -> st.SearchStrategy[list[LimitRange]]:
    """None to ``most`` LimitRanges."""
    return (
        st.integers(0, most).flatmap(lambda count: st.tuples(*(limit_ranges(f"lr{n}") for n in range(count)))).map(list)
    )


def quota_lists(most: int = 2) -> st.SearchStrategy[list[ResourceQuota]]:
    counts = st.sampled_from([0, *range(most + 1)])
    return counts.flatmap(lambda count: st.tuples(*(quotas(f"q{n}") for n in range(count)))).map(list)


def policies(limits: int = 3, quota: int = 2) -> st.SearchStrategy[Policies]:
    """The policies of a namespace, with one runtime class and sometimes a global default priority."""
    return st.builds(
        policies_of,
        range_lists(limits),
        quota_lists(quota),
        st.sampled_from([[], [STANDARD]]),
        st.just([KATA]),
    )


def pod(raw: Mapping[str, Any]) -> Pod:
    return msgspec.convert(raw, Pod)


def written(raw: Mapping[str, Any]) -> dict[str, str]:
    """Every quantity of a pod as sent, by its path."""
    spec = raw["spec"]
    places = [("spec", spec.get("resources"))]
    for key in ("containers", "initContainers"):
        places += [(f"spec.{key}[{index}]", one.get("resources")) for index, one in enumerate(spec.get(key) or ())]
    found = {
        f"{path}.resources.{side}[{name}]": text
        for path, resources in places
        for side in ("limits", "requests")
        for name, text in ((resources or {}).get(side) or {}).items()
    }
    return found | {f"spec.overhead[{name}]": text for name, text in (spec.get("overhead") or {}).items()}
