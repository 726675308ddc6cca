"""The Go types of the API's fields, read from the published modules: what the server's decoder names in its errors."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

MODULE = Path(__file__).resolve().parents[1] / "tests" / "controlplane" / "kubernetes"
SCALARS = ("string", "bool", "int32", "int64")

_STRUCT = re.compile(r"^type (\w+) struct \{\n(.*?)^\}", re.MULTILINE | re.DOTALL)
_FIELD = re.compile(r'^\t(?:(\w+)\s+)?([\w.*\[\]]+)\s+`json:"([^",]*)([^"]*)"', re.MULTILINE)
_NAMED = re.compile(r"^type (\w+) ([\w.\[\]]+)$", re.MULTILINE)


class Field(NamedTuple):
    """A Go type, and the names of the structs that are inlined on the way to it, each with a dot behind it.

    omitempty: what the tag says, so that an empty value is not written.
    """

    go: str
    inlined: str
    omitempty: bool = False


class Package(NamedTuple):
    """The fields of each struct, by their JSON names, and what each other type is made of."""

    structs: Mapping[str, Mapping[str, Field]]
    named: Mapping[str, str]


def packages() -> dict[str, Package]:
    """By the beginning of the OpenAPI names of their types."""
    api, machinery = (_folder(f"k8s.io/{name}") for name in ("api", "apimachinery"))
    found = {
        f"io.k8s.api.{group}.v1": _package(api / group / "v1")
        for group in ("core", "apps", "batch", "node", "admissionregistration")
    }
    found["io.k8s.api.scheduling.v1"] = _package(api / "scheduling" / "v1")
    found["io.k8s.apimachinery.pkg.apis.meta.v1"] = _package(machinery / "pkg" / "apis" / "meta" / "v1")
    return found


def leaf(full: str, field: str, found: Mapping[str, Package]) -> str:
    """What holds no fields, as ``KIND`` or ``KIND:NAME``, with ``[]`` or ``map[string]`` before it; empty: not known.

    Types with a decoder of their own are not known. ``map:NAME``: a map whose values have one.
    """
    home = full.rpartition(".")[0]
    go = _field(full, field, found).go.lstrip("*")
    for mark in ("[]", "map[string]"):
        if go.startswith(mark):
            inner = _scalar(go.removeprefix(mark).lstrip("*"), home, found)
            return f"{mark}{inner}" if inner else ""
    return _scalar(go, home, found)


def inlined(full: str, field: str, found: Mapping[str, Package]) -> str:
    """What the decoder names between the struct and its field; empty as a rule."""
    return _field(full, field, found).inlined


def omitted(full: str, field: str, found: Mapping[str, Package]) -> bool:
    """Whether the server writes no empty value of the field: no pointer, and no struct."""
    home = full.rpartition(".")[0]
    go, _, omitempty = _field(full, field, found)
    if not go or go.startswith("*") or not omitempty:
        return False
    return go.startswith(("[]", "map[")) or bool(_scalar(go, home, found))


def _field(full: str, field: str, found: Mapping[str, Package]) -> Field:
    home, _, struct = full.rpartition(".")
    package = found.get(home)
    return package.structs.get(struct, {}).get(field, _NONE) if package is not None else _NONE


_NONE = Field("", "")


def _scalar(go: str, home: str, found: Mapping[str, Package]) -> str:
    if go in SCALARS:
        return go
    prefix, _, name = go.rpartition(".")
    where = {"": home, "metav1": "io.k8s.apimachinery.pkg.apis.meta.v1"}.get(prefix, "io.k8s.api.core.v1")
    if go in {"types.UID", "types.NodeName"}:
        return f"string:{go}"
    base = found[where].named.get(name, "") if where in found else ""
    if base in SCALARS:
        return f"{base}:v1.{name}"
    return f"map:v1.{name}" if base.startswith("map[") else ""


def _folder(module: str) -> Path:
    command = ["go", "list", "-m", "-f", "{{.Dir}}", module]
    return Path(subprocess.run(command, cwd=MODULE, capture_output=True, text=True, check=True).stdout.strip())


def _package(folder: Path) -> Package:
    texts = [path.read_text() for path in sorted(folder.glob("*.go")) if not path.name.endswith("_test.go")]
    bodies = {name: body for text in texts for name, body in _STRUCT.findall(text)}
    structs = {name: dict(_fields(name, bodies)) for name in bodies}
    # A map's type is cut off at the bracket of its key.
    maps = {name: "map[" for text in texts for name in re.findall(r"^type (\w+) map\[", text, re.MULTILINE)}
    return Package(structs, {**dict(pair for text in texts for pair in _NAMED.findall(text)), **maps})


def _fields(name: str, bodies: Mapping[str, str], within: str = "") -> Iterator[tuple[str, Field]]:
    """Also those of structs that are inlined: embedded, with the tag ``,inline`` up to 1.36, an empty one since."""
    for called, go, json_name, options in _FIELD.findall(bodies.get(name, "")):
        if json_name:
            yield json_name, Field(go, within, "omitempty" in options)
        elif not called:
            yield from _fields(go, bodies, f"{within}{go}.")
