"""Write kubectl_kres/policies/rules/merge_schema.json: how the API server merges fields of the kinds that are computed.

Usage: make_merge_schema.py FOLDER-OF-client-go
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

TARGET = Path(__file__).parents[1] / "kubectl_kres" / "policies" / "rules" / "merge_schema.json"
SOURCE = Path("applyconfigurations/internal/internal.go")
PREFIX = "io.k8s."
#: Kinds that a mutating policy is computed for.
ROOTS = (
    *(f"io.k8s.api.core.v1.{kind}" for kind in (
        "Pod", "PodTemplate", "ReplicationController", "Service", "PersistentVolumeClaim", "ConfigMap", "LimitRange",
        "ResourceQuota", "ServiceAccount", "Namespace",
    )),
    *(f"io.k8s.api.apps.v1.{kind}" for kind in ("Deployment", "ReplicaSet", "StatefulSet", "DaemonSet")),
    *(f"io.k8s.api.batch.v1.{kind}" for kind in ("Job", "CronJob")),
    "io.k8s.api.autoscaling.v1.HorizontalPodAutoscaler",
    "io.k8s.api.autoscaling.v2.HorizontalPodAutoscaler",
)  # fmt: skip


def main() -> None:
    text = (Path(sys.argv[1]) / SOURCE).read_text()
    match = re.search(r"YAMLObject\(`(.*?)`\)", text, re.DOTALL)
    types = {item["name"]: item for item in yaml.load(match.group(1), Loader=yaml.CSafeLoader)["types"]}
    kept: dict[str, Any] = {}
    todo = list(ROOTS)
    while todo:
        name = todo.pop()
        if name in kept:
            continue
        kept[name] = compact(types[name])
        todo.extend(named(types[name]))
    table = {short(name): kept[name] for name in sorted(kept)}
    TARGET.write_text(json.dumps(table, separators=(",", ":"), sort_keys=True) + "\n")


def short(name: str) -> str:
    return name.removeprefix(PREFIX)


def compact(item: dict[str, Any]) -> Any:
    """A type: a name, ``{"list": element, "keys": [...]}``, ``{"map": element}`` or ``{"fields": {...}}``.

    "keys" missing: the list is atomic, empty: it is a set. "atomic" stands beside maps and structs that are.
    """
    if "namedType" in item:
        name = short(item["namedType"])
        return {"named": name, "atomic": True} if item.get("elementRelationship") == "atomic" else name
    if "scalar" in item:
        return f"={item['scalar']}"
    if "list" in item:
        part = item["list"]
        out: dict[str, Any] = {"list": compact(part["elementType"])}
        if part["elementRelationship"] == "associative":
            out["keys"] = part.get("keys", [])
        return out
    part = item.get("map", {})
    out = {"atomic": True} if part.get("elementRelationship") == "atomic" else {}
    if "fields" in part:
        return out | {
            "fields": {field["name"]: compact(field["type"]) for field in part["fields"]},
            "defaults": {
                field["name"]: field["default"]
                for field in part["fields"]
                if isinstance(field.get("default"), str | int)
            },
        }
    return out | {"map": compact(part["elementType"]) if "elementType" in part else "=untyped"}


def named(item: Any) -> Iterator[str]:
    if isinstance(item, dict):
        if isinstance(item.get("namedType"), str):
            yield item["namedType"]
        for value in item.values():
            yield from named(value)
    elif isinstance(item, list):
        for value in item:
            yield from named(value)


if __name__ == "__main__":
    main()
