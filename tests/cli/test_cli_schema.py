"""The printed JSON Schemas describe what the commands print."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from cli.running import Kres
from golden.kept import WRITING

from kubectl_kres.cli.commands.schema import ANSWERS
from kubectl_kres.snapshot import read as demo


def misfits(value: Any, schema: dict[str, Any], definitions: dict[str, Any], path: str = "$") -> list[str]:
    """Where a value is not as its schema says: types, constants, missing and unknown keys."""
    if "$ref" in schema:
        return misfits(value, definitions[schema["$ref"].removeprefix("#/$defs/")], definitions, path)
    if "anyOf" in schema:
        found = [misfits(value, one, definitions, path) for one in schema["anyOf"]]
        return [] if [] in found else found[0]
    if "const" in schema and value != schema["const"]:
        return [f"{path}: {value!r} is not {schema['const']!r}"]
    if "enum" in schema and value not in schema["enum"]:
        return [f"{path}: {value!r}"]
    types = {
        "object": dict,
        "array": list,
        "string": str,
        "integer": int,
        "number": int | float,
        "boolean": bool,
        "null": type(None),
    }
    if "type" in schema and not isinstance(value, types[schema["type"]]):
        return [f"{path}: {value!r} is no {schema['type']}"]
    faults: list[str] = []
    if isinstance(value, dict):
        known, extra = schema.get("properties", {}), schema.get("additionalProperties")
        faults += [f"{path}: no {key}" for key in schema.get("required", ()) if key not in value]
        faults += [f"{path}.{key}: unknown" for key in value if key not in known and known and extra is None]
        for key, item in value.items():
            below = known.get(key, extra)
            if isinstance(below, dict):
                faults += misfits(item, below, definitions, f"{path}.{key}")
    if isinstance(value, list) and "items" in schema:
        for index, item in enumerate(value):
            faults += misfits(item, schema["items"], definitions, f"{path}[{index}]")
    return faults


GOLDEN = Path(__file__).parents[1] / "golden"
#: Pools and claims in every state.
ESTATE = GOLDEN / "estate.yaml"
#: What 1.37 answers otherwise.
UPGRADE = GOLDEN / "upgrade.yaml"
#: The fields that scripts may read.
KEPT = GOLDEN / "schema.txt"

#: Name of a schema to command lines whose documents it describes.
LINES = {
    "overview": ["overview", "overview -n shop", "overview -n ml-training"],
    "timeline": ["timeline", "timeline -n shop", "timeline -n ml-training", "timeline -n ci"],
    "explain": [
        "explain deploy -n checkout",
        "explain ns/shop",
        "explain quota",
        "explain pvc",
        "explain limits",
        f"explain -f {ESTATE}",
    ],
    "tenant": ["explain tenant/ml --by value"],
    "quota": ["quota --recount --by workload", "quota -n shop", "quota --by value"],
    "fit": ["quota --fit deploy/checkout", "quota --fit job/thumbnails", "quota --fit pod/sessions-0"],
    "denied": ["quota --denied"],
    "pools": [f"pools -f {ESTATE}", "pools --by value"],
    "claims": [f"claims -f {ESTATE}", f"claims train late gone none web -f {ESTATE}"],
    "sizing": [f"claims --for deploy/checkout -n checkout -f {ESTATE.with_name('checkout-pool.yaml')}"],
    "diff": ["diff deploy -n shop"],
    "moments": [f"diff --from {demo.demo_path()} -A", f"diff --from {demo.demo_path()} -n checkout"],
    "check": ["check", "check -n checkout"],
    "simulate": [
        "simulate --scale deploy/storefront=9 --delete deploy/none -n shop",
        "simulate --set quota/team:spec.hard.pods=3 -n shop",
    ],
    "upgrade": ["simulate --kube-version 1.37", f"simulate --kube-version 1.37 -f {UPGRADE} --offline"],
    "qos": ["qos -n shop", "qos deploy/checkout --cgroup v2"],
    "summary": ["qos --summary"],
    "open": ["qos --open"],
    "fleet": [
        f"fleet {report} --snapshots {demo.demo_path()}" for report in ("qos", "quota", "overview", "check", "claims")
    ],
    "resize": ['explain pod/sessions-0 --resize {"spec":{}}'],
}


def test_each_schema_is_tried():
    assert LINES.keys() == ANSWERS.keys()


@pytest.mark.parametrize(("command", "text"), [(name, text) for name, texts in LINES.items() for text in texts])
def test_a_document_fits_its_schema(kres: Kres, command: str, text: str):
    schema = json.loads(kres(f"schema {command}").out)
    source = "" if command == "fleet" or "--offline" in text else " --demo"
    found = json.loads(kres(f"{text}{source} -o json").out)
    assert found["items"]
    assert misfits(found, schema, schema["$defs"]) == []
    for broken in ({**found, "kind": "Other"}, {**found, "items": [{"zz": 1}]}, {**found, "more": 1}, {"items": []}):
        assert misfits(broken, schema, schema["$defs"]) != []


def test_definitions_are_referred_to_and_exist(kres: Kres):
    for command in ANSWERS:
        text = kres(f"schema {command}").out
        names = set(json.loads(text)["$defs"])
        referred = {part.partition('"')[0] for part in text.split("#/$defs/")[1:]}
        assert referred == names


def test_descriptions_are_plain_text(kres: Kres):
    assert [command for command in ANSWERS if "\\n   " in kres(f"schema {command}").out] == []


def shape(schema: dict[str, Any]) -> str:
    """The type of a field in one word."""
    if "anyOf" in schema:
        return "|".join(sorted(map(shape, schema["anyOf"])))
    if schema.get("type") == "array":
        return f"[{shape(schema.get('items') or {})}]"
    return str(schema.get("$ref", "").removeprefix("#/$defs/") or schema.get("const") or schema.get("type", "any"))


def fields(command: str, schema: dict[str, Any]) -> set[str]:
    """Every field of the documents of a command, with its type."""
    found = {f"{command} {key} {shape(value)}" for key, value in schema["properties"].items()}
    for name, one in schema["$defs"].items():
        found |= {f"{command} {name}.{key} {shape(value)}" for key, value in one.get("properties", {}).items()}
    return found


def test_no_field_goes_and_none_changes_its_type(kres: Kres):
    """Scripts depend on them: docs/releasing.md says what may change when. New ones are written with KRES_GOLDEN."""
    now = {line for command in ANSWERS for line in fields(command, json.loads(kres(f"schema {command}").out))}
    if WRITING:
        KEPT.write_text("".join(f"{line}\n" for line in sorted(now)))
    assert [line for line in KEPT.read_text().splitlines() if line not in now] == []
