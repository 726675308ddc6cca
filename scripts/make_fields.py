#!/usr/bin/env python3
"""Write kubectl_kres/admission/fields.json: the fields of each type, as the real API server describes them.

It starts the control plane of the tests for that. Only what can be reached from the kinds of ``KINDS`` is kept, and of
that only names: a field's type if it has fields of its own, with ``[]`` before it for a list of such, otherwise an
empty text. Maps (labels) and free-form objects (the data of a ControllerRevision) are empty texts, too. ``leaves`` are
the Go types of these, as the decoder names them (see ``go_types.leaf``).
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "controlplane"))

import build  # found by the line above
import go_types
from controlplane import ControlPlane, StartError

OUT = ROOT / "kubectl_kres" / "admission" / "fields.json"
REF = "#/components/schemas/"
KINDS = {
    "api/v1": [
        *("Pod", "PodTemplate", "ReplicationController", "PersistentVolumeClaim", "Service"),
        *("LimitRange", "ResourceQuota", "Namespace"),
    ],
    "apis/apps/v1": ["Deployment", "ReplicaSet", "StatefulSet", "DaemonSet", "ControllerRevision"],
    "apis/batch/v1": ["Job", "CronJob"],
    "apis/scheduling.k8s.io/v1": ["PriorityClass"],
    "apis/node.k8s.io/v1": ["RuntimeClass"],
    "apis/admissionregistration.k8s.io/v1": [
        *("ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding"),
        *("MutatingAdmissionPolicy", "MutatingAdmissionPolicyBinding"),
        *("ValidatingWebhookConfiguration", "MutatingWebhookConfiguration"),
    ],
}

Schemas = Mapping[str, Mapping[str, Any]]


def main() -> int:
    try:
        with ControlPlane(build.complete(), controllers=()) as plane:
            table = read(plane)
    except (StartError, build.NoBinaryError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    OUT.write_text(json.dumps(table, sort_keys=True, separators=(",", ":")).replace("},", "},\n") + "\n")
    print(f"{OUT.relative_to(ROOT)}: {len(table['types'])} types, {OUT.stat().st_size} bytes")
    return 0


def read(plane: ControlPlane) -> dict[str, Any]:
    """The table: the server's version, and the fields of each type; a kind's type has its name."""
    index = plane.request("GET", "/openapi/v3")[1]["paths"]
    types: dict[str, dict[str, str]] = {}
    names: dict[str, str] = {}
    leaves: dict[str, dict[str, str]] = {}
    inlined: dict[str, dict[str, str]] = {}
    omitted: dict[str, list[str]] = {}
    found = go_types.packages()
    for group, wanted in KINDS.items():
        schemas = plane.request("GET", index[group]["serverRelativeURL"])[1]["components"]["schemas"]
        for full in schemas:
            if any(full.endswith(f".{kind}") and served(schemas[full], group, kind) for kind in wanted):
                for name, fields in reachable(full, schemas):
                    if names.setdefault(short(name), name) != name:
                        raise StartError(f"two types are called {short(name)}: {name} and {names[short(name)]}")
                    types[short(name)] = fields
                    held = {field: go_types.leaf(name, field, found) for field, inner in fields.items() if not inner}
                    leaves[short(name)] = {field: go for field, go in held.items() if go}
                    omitted[short(name)] = [field for field in fields if go_types.omitted(name, field, found)]
                    between = {field: go_types.inlined(name, field, found) for field in fields}
                    inlined[short(name)] = {field: steps for field, steps in between.items() if steps}
    inlined = {name: held for name, held in inlined.items() if held}
    return {
        "version": plane.request("GET", "/version")[1]["gitVersion"],
        "types": types,
        "leaves": leaves,
        "inlined": inlined,
        "omitted": {name: fields for name, fields in omitted.items() if fields},
    }


def served(schema: Mapping[str, Any], group: str, kind: str) -> bool:
    """Whether a schema is that of the kind in the group, not of another type with the same last name."""
    parts = group.split("/")
    wanted = {"group": "" if len(parts) == 2 else parts[1], "version": parts[-1], "kind": kind}
    return wanted in schema.get("x-kubernetes-group-version-kind", ())


def reachable(root: str, schemas: Schemas) -> Iterator[tuple[str, dict[str, str]]]:
    """Each type that an object of type ``root`` can hold, with its fields."""
    waiting, seen = [root], {root}
    while waiting:
        name = waiting.pop()
        fields = {}
        for field, schema in schemas[name]["properties"].items():
            mark, inner = shape(schema, schemas)
            fields[field] = mark + short(inner)
            if inner and inner not in seen:
                seen.add(inner)
                waiting.append(inner)
        yield name, fields


def shape(schema: Mapping[str, Any], schemas: Schemas) -> tuple[str, str]:
    """How a field holds a type that has fields (directly or ``[]``), and which; both empty if it holds none."""
    values = schema.get("additionalProperties")
    if isinstance(values, Mapping) and named(values, schemas):
        raise StartError(f"a map of {named(values, schemas)}: admission/decoding.py does not look into maps yet")
    name = named(schema.get("items", schema), schemas)
    return "[]" if name and "items" in schema else "", name


def named(schema: Mapping[str, Any], schemas: Schemas) -> str:
    """The type that a schema refers to, empty if that has no fields."""
    for part in (schema, *schema.get("allOf", ())):
        name: str = part.get("$ref", "").removeprefix(REF)
        if name and schemas[name].get("properties"):
            return name
    return ""


def short(name: str) -> str:
    return name.rpartition(".")[2]


if __name__ == "__main__":
    sys.exit(main())
