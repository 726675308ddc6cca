"""The objects that ``-f`` names, in order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, BinaryIO

from kubectl_kres.documents import json_text
from kubectl_kres.documents.document import Document, PathStep
from kubectl_kres.documents.number import Number
from kubectl_kres.errors import InputError, InputErrors
from kubectl_kres.manifests import files
from kubectl_kres.manifests.manifest import Manifest

#: Faults that are listed; whoever has more mends these first.
LISTED = 20
_TEMPLATE = "this looks like a template: render it first, as helm template NAME CHART | kubectl kres explain -f - does"


def read(
    paths: Sequence[str],
    *,
    recursive: bool,
    stdin: BinaryIO,
    faults: list[InputError] | None = None,
    notes: list[InputError] | None = None,
) -> list[Manifest]:
    """The objects in the files, directories and standard input (``-``, read once) that ``paths`` name, in that order.

    Lists are flattened, empty documents left out. Every object has a kind and a name or ``generateName``.
    faults: gets what is wrong with single documents and files of a directory, if there is an object beside them; not
    given: any fault is raised. notes: gets what is read as kubectl reads it, but hardly meant.
    Raises InputError, or InputErrors if there are several faults; also if there is no object at all, and for a path
    that does not exist.
    """
    input_errors: list[InputError] = []
    absent: list[InputError] = []
    manifests: list[Manifest] = []
    for file in _files(dict.fromkeys(paths), absent, recursive=recursive):
        try:
            text = files.text(file, stdin)
        except InputError as error:
            input_errors.append(error)
            continue
        for document, value in _documents(files.STDIN if file == "-" else file, text, input_errors, notes):
            manifests += _objects(document, value, (), input_errors)
    if not manifests and not input_errors and not absent:
        shown = " ".join(files.STDIN if path == "-" else path for path in paths)
        input_errors.append(InputError("holds no objects", file=shown))
    if absent or not manifests or faults is None:
        refuse([*input_errors, *absent])
    else:
        faults += input_errors
    return manifests


def refuse(faults: Sequence[InputError]) -> None:
    """Raises what was gathered: nothing, the one fault, or the first LISTED together."""
    if len(faults) == 1:
        raise faults[0]
    if faults:
        raise InputErrors(faults[:LISTED], len(faults) - LISTED)


def _files(paths: Iterable[str], absent: list[InputError], *, recursive: bool) -> Iterator[str]:
    """``absent`` gets the paths that name nothing, without which there is no answer, as from kubectl."""
    for path in paths:
        try:
            yield from files.named(path, recursive=recursive)
        except InputError as error:
            absent.append(error)


def _documents(
    file: str, text: str, faults: list[InputError], notes: list[InputError] | None
) -> Iterator[tuple[Document, Any]]:
    """Each document with its value. A text that begins with ``{`` is JSON as long as it can be, then YAML.

    Source: apimachinery util/yaml YAMLOrJSONDecoder.Decode (v0.36), which turns to YAML after at most one JSON value.
    """
    count = end = 0
    broken: json_text.JsonSyntaxError | None = None
    if text.lstrip().startswith("{"):
        try:
            for document, value in json_text.stream(file, text, notes):
                count += 1
                yield document, value
        except json_text.JsonSyntaxError as error:
            if count > 1:
                faults.append(error)
                return
            broken, end = error, error.end
        except InputError as error:
            faults.append(error)
            return
        if broken is None:
            return
    yield from _yaml(file, text, end, count, broken, faults, notes)


def _yaml(
    file: str,
    text: str,
    start: int,
    index: int,
    broken: InputError | None,
    faults: list[InputError],
    notes: list[InputError] | None,
) -> Iterator[tuple[Document, Any]]:
    """Each YAML document from ``start`` on.

    broken: why it is no JSON, told instead if the first document is no YAML either but was meant as JSON.
    """
    from kubectl_kres.documents import yaml_text  # noqa: PLC0415 - a tenth of an answer that reads no YAML

    documents = yaml_text.split(file, text, start=start, index=index)
    while True:
        try:
            document = next(documents, None)
            if document is None:
                return
            yield document, yaml_text.parse(document, notes)
        except InputError as error:
            if broken and text[start:].lstrip()[1:].lstrip()[:1] in {'"', "}"}:
                faults.append(broken)
                return
            if not error.hint and "{{" in "".join(text.splitlines()[error.line - 1 : error.line]):
                error.hint = _TEMPLATE
            faults.append(error)
        broken = None


def _objects(
    document: Document, value: Any, within: tuple[PathStep, ...], faults: list[InputError]
) -> Iterator[Manifest]:
    """The object that a document is, or the items of the List that it is."""
    if value is None:
        return
    manifest = Manifest(value, document.file, document.index, document, within)
    if not isinstance(value, dict):
        faults.append(manifest.fault(f"an object was expected, not {word(value)}"))
        return
    kind = value.get("kind")
    if not isinstance(kind, str) or not kind:
        faults.append(manifest.fault("Object 'Kind' is missing", ("kind",)))
    elif kind.endswith("List") and "items" in value:
        yield from _items(manifest, faults)
    elif fault := _unnamed(manifest):
        faults.append(fault)
    else:
        yield manifest


def _items(manifest: Manifest, faults: list[InputError]) -> Iterator[Manifest]:
    """The items of a List; a PodList may leave out what each item is."""
    document, items = manifest.document, manifest.raw["items"]
    assert document is not None
    if items is not None and not isinstance(items, list):
        faults.append(manifest.fault(f"items: a list was expected, not {word(items)}", ("items",)))
        return
    common = {"apiVersion": manifest.api_version, "kind": manifest.kind.removesuffix("List")}
    for index, item in enumerate(items or ()):
        given = {**common, **item} if isinstance(item, dict) and common["kind"] else item
        yield from _objects(document, given, (*manifest.within, "items", index), faults)


def _unnamed(manifest: Manifest) -> InputError | None:
    """What is wrong with the metadata, if anything is."""
    metadata = manifest.raw.get("metadata")
    if metadata is not None and not isinstance(metadata, dict):
        return manifest.fault(f"metadata: an object was expected, not {word(metadata)}", ("metadata",))
    for key in ("name", "generateName", "namespace"):
        text = manifest.metadata.get(key)
        if text is not None and word(text) != "a string":
            return manifest.fault(f"metadata.{key}: a string was expected, not {word(text)}", ("metadata", key))
    if not manifest.ref.name:
        return manifest.fault(f"{manifest.kind} without a name: metadata.name may not be empty", ("metadata",))
    return None


def versioned(manifests: Iterable[Manifest], faults: list[InputError]) -> list[Manifest]:
    """Those with an ``apiVersion``: kubectl sends no others. Each of these is a fault."""
    kept: list[Manifest] = []
    for manifest in manifests:
        if manifest.api_version:
            kept.append(manifest)
        else:
            faults.append(manifest.fault("error validating data: apiVersion not set", ("kind",)))
    return kept


def word(value: Any) -> str:
    """What a JSON value is, with its article."""
    match value:
        case None:
            return "null"
        case bool():
            return "a boolean"
        case int() | Number():
            return "a number"
        case str():
            return "a string"
        case dict():
            return "an object"
    return "a list"
