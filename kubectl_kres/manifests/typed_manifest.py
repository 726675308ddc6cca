"""A manifest as the struct of its kind, with the wrong field named where it does not fit, and what a system adds to
that.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any, cast

import msgspec

from kubectl_kres.admission.decoding import TypeMismatch, first_mistyped
from kubectl_kres.documents.document import PathStep
from kubectl_kres.documents.scalar import Number
from kubectl_kres.errors import InputError
from kubectl_kres.manifests.manifest import Manifest
from kubectl_kres.model import kinds
from kubectl_kres.model.kinds import Kind
from kubectl_kres.systems import registered_systems

#: A manifest, decoded.
Raw = Mapping[str, Any]


class ManifestSystem:
    """The hooks of a system; each adds nothing unless a subclass says otherwise."""

    #: Kinds whose objects make pods.
    makes_pods: frozenset[str] = frozenset()
    #: Names of the ConfigMaps that configure it.
    configuration: frozenset[str] = frozenset()
    #: The API group of its kinds, whose objects are kept as they were written, too.
    group = ""

    def to_stored_version(self, raw: Raw) -> Raw:
        """Return the object in the version that is stored."""
        return raw

    def misnamed_fields(self, raw: Raw) -> Iterator[tuple[tuple[str | int, ...], str]]:
        """Fields of another version, each with its path and its name in this one."""
        yield from ()

    def empty_items(self, raw: Any) -> Any:
        """Return the object with empty values for nulls in lists, where its decoder takes them as such."""
        return raw

    def fault(self, raw: Raw, field: str) -> str:
        """Return what its webhook would say of an object whose ``field`` is of a wrong type; empty: nothing."""
        return ""


def systems() -> tuple[ManifestSystem, ...]:
    """Return all of them, in the order of registration."""
    return cast("tuple[ManifestSystem, ...]", registered_systems("manifests"))


def system_of(raw: Raw) -> ManifestSystem:
    """Return the system whose kinds the object is of; one without hooks for any other."""
    group = str(raw.get("apiVersion", "")).partition("/")[0]
    return next((system for system in systems() if system.group == group), _NONE)


_NONE = ManifestSystem()


#: The group of kinds whose structs keep a spec as it is written.
_POLICIES = "admissionregistration.k8s.io"
_MESSAGE = re.compile(r"Expected `([^`]*)`, got `([^`]*)`(?: - at `\$([^`]*)`)?")
_STEP = re.compile(r"\.([^.\[]+)|\[([0-9]+|\.\.\.)\]")
_WORDS = {"int": "integer", "str": "string", "bool": "boolean", "float": "number", "object": "map"}


def kind_of(manifest: Manifest) -> Kind | None:
    """Return the kind that a manifest is of; None if it is unknown, or of another API group with the same name."""
    kind = kinds.BY_KIND.get(manifest.kind)
    group = manifest.api_version.rpartition("/")[0]
    return kind if kind is not None and kind.group == group else None


def decode_manifest(manifest: Manifest, kind: Kind) -> Any:
    """Return the struct of a kind. As on the server, null is as good as absent, and other versions are stored as one.

    In a list of Tekton's null is an empty value. Raises InputError at the first field that is of the wrong type, saying
    what was expected, and at one that Tekton's other API version has, which would be dropped without a word.
    """
    system = system_of(manifest.raw)
    for path, name in system.misnamed_fields(manifest.raw):
        field = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path).lstrip(".")
        text = f'unknown field "{field}": {manifest.api_version} calls it {name}'
        raise manifest.fault(f"{manifest.ref}: {text}", path)
    raw: Any = system.to_stored_version(manifest.raw)
    while True:
        try:
            msgspec.convert(_numbers_as(float, raw), kind.struct)
            result = msgspec.convert(_numbers_as(str, raw), kind.struct)
        except msgspec.ValidationError as error:
            path, expected, got = _parse_type_message(str(error), raw)
            changed = _drop_null(system, raw, path) if got == "null" and path else raw
            if changed == raw:
                raise _fault(manifest, path, expected, got) from error
            raw = changed
        else:
            # What the struct of a policy leaves as it is written.
            wrong = first_mistyped(manifest.raw, manifest.kind) if kind.group == _POLICIES else None
            if wrong is not None:
                raise _build_type_error(manifest, wrong)
            return result


def _build_type_error(manifest: Manifest, wrong: TypeMismatch) -> InputError:
    text = f'{manifest.ref}: {wrong.path}: invalid type: got "{wrong.actual}", expected "{wrong.expected}"'
    locate = partial(manifest.position_of, wrong.path)
    hint = f"the API server would say: {wrong.text}"
    return InputError(text, file=manifest.file, hint=hint, locate=locate)


def _drop_null(system: ManifestSystem, raw: Any, path: Sequence[PathStep]) -> Any:
    """Return the object without the null at ``path``; as it is, if that stands in a list where nothing takes its
    place.
    """
    return system.empty_items(raw) if isinstance(path[-1], int) else _drop_path(raw, path)


#: What msgspec calls the types of what was read.
_TYPES = {str: "str", int: "int", float: "float", bool: "bool", list: "array", dict: "object", type(None): "null"}


def _parse_type_message(message: str, raw: Any) -> tuple[tuple[PathStep, ...], str, str]:
    """Path, expected and found type of what msgspec complains of.

    It names no keys of maps; the first value of a wrong type is meant.
    """
    match = _MESSAGE.match(message)
    if match is None:
        return (), message, ""
    value, path = raw, []
    for name, index in _STEP.findall(match[3] or ""):
        step: PathStep = name or (0 if index == "..." else int(index))
        if index == "...":
            step = _key(value, match[2])
        path.append(step)
        value = value[step]
    names = [name for name in match[1].split(" | ") if name != "null"]
    return tuple(path), " or ".join(_WORDS.get(name, name) for name in names), _WORDS.get(match[2], match[2])


def _key(value: Mapping[str, Any], got: str) -> PathStep:
    """Return the first key of a map whose value is of the type that was found, else of any but a text's."""
    of_type = (key for key, item in value.items() if _TYPES.get(type(item)) == got)
    other = (key for key, item in value.items() if not isinstance(item, str) or isinstance(item, Number))
    return next(of_type, None) or next(other, None) or next(iter(value))


def _fault(manifest: Manifest, path: Sequence[PathStep], expected: str, got: str) -> InputError:
    field = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path).lstrip(".")
    text = f'invalid type: got "{got}", expected "{expected}"' if got else expected
    fault = manifest.fault(f"{manifest.ref}: {field}: {text}" if field else f"{manifest.ref}: {text}", path)
    wrong = first_mistyped(manifest.raw, manifest.kind)
    if wrong is not None and wrong.path == field:
        fault.hint = f"the API server would say: {wrong.text}"
    texts = system_of(manifest.raw).fault(manifest.raw, field)
    fault.hint = texts or fault.hint
    return fault


def _numbers_as(form: type, value: Any) -> Any:
    """Return the value with another type for numbers.

    As floats, a number where a string belongs is seen. As plain text they can be a quantity, and be encoded again.
    """
    match value:
        case Number():
            return form(value)
        case dict():
            return {key: _numbers_as(form, item) for key, item in value.items()}
        case list():
            return [_numbers_as(form, item) for item in value]
    return value


def _drop_path(value: Any, path: Sequence[PathStep]) -> Any:
    """Return the value without the key that ``path`` ends with."""
    step, rest = path[0], path[1:]
    if isinstance(value, list):
        return [_drop_path(item, rest) if index == step else item for index, item in enumerate(value)]
    if rest:
        return {**value, step: _drop_path(value[step], rest)}
    return {key: item for key, item in value.items() if key != step}
