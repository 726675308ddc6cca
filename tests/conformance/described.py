"""How a recorded ``kubectl describe`` is put to ``kubectl_kres.render.describe``."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec
from conformance.namespace import Namespace

from kubectl_kres.model import objects as policy
from kubectl_kres.model.kinds import find
from kubectl_kres.render.describe import limit_range_lines, namespace_lines, pod_lines, quota_lines
from kubectl_kres.reports.quota.describe import LimitRangeBlock, limit_range_block, namespace_block, quota_block

Raw = Mapping[str, Any]
SPACE = "case"

#: What other plugins of the recorded server give a pod.
TOLERATIONS = [
    {"key": f"node.kubernetes.io/{key}", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}
    for key in ("not-ready", "unreachable")
]


def texts(namespace: Namespace, args: Sequence[str]) -> list[list[str]]:
    """Every output that is possible: the rows of a LimitRange's item come in any order."""
    kind = find(args[0]).kind
    held = {name: {**raw, "metadata": {**raw["metadata"], "namespace": SPACE}}
            for (of, name), raw in sorted(namespace.objects.items()) if of == kind}  # fmt: skip
    wanted = [held[name] for name in args[1:] if name in held] or list(held.values())
    if kind == "Pod":
        return [pod_lines(_returned(wanted[0], namespace))]
    if kind == "Namespace":
        return [*_of_namespace(namespace)]
    if kind == "ResourceQuota":
        return [quota_lines([quota_block(msgspec.convert(raw, policy.ResourceQuota)) for raw in wanted])]
    blocks = (limit_range_block(msgspec.convert(raw, policy.LimitRange)) for raw in wanted)
    return [limit_range_lines(chosen) for chosen in itertools.product(*map(_orders, blocks))]


def _orders(block: LimitRangeBlock) -> Iterator[LimitRangeBlock]:
    for items in itertools.product(*(itertools.permutations(rows) for rows in block.items)):
        yield msgspec.structs.replace(block, items=items)


def _of_namespace(namespace: Namespace) -> Iterator[list[str]]:
    held = [
        [
            msgspec.convert(raw, struct)
            for (kind, _), raw in sorted(namespace.objects.items())
            if kind == struct.__name__
        ]
        for struct in (policy.ResourceQuota, policy.LimitRange)
    ]
    labels = {"kubernetes.io/metadata.name": SPACE}
    raw = {"metadata": {"name": SPACE, "labels": labels}, "status": {"phase": "Active"}}
    block = namespace_block(msgspec.convert(raw, policy.Namespace), *held)
    for ranges in itertools.product(*map(_orders, block.limit_ranges)):
        yield namespace_lines(msgspec.structs.replace(block, limit_ranges=ranges))


def _returned(raw: Raw, namespace: Namespace) -> Raw:
    """The pod with what the server adds that resources do not depend on."""
    spec = raw["spec"]
    chosen = namespace.objects.get(("PriorityClass", spec.get("priorityClassName", "")), {})
    added = {"priority": chosen.get("value", 0), "tolerations": [*spec.get("tolerations", ()), *TOLERATIONS]}
    return {**raw, "spec": {**spec, **added}, "status": {"phase": "Pending", **raw.get("status", {})}}
