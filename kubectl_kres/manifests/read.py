"""What ``-f`` names: the files, the text of each, and the objects in it, in order."""

from __future__ import annotations

import glob
import os
import select
import stat
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from time import monotonic, sleep
from typing import Any, BinaryIO

from kubectl_kres.documents import json_text
from kubectl_kres.documents.document import Document, PathStep, position_at
from kubectl_kres.documents.scalar import Number
from kubectl_kres.errors import InputError, InputErrors
from kubectl_kres.manifests.manifest import Manifest

EXTENSIONS = (".json", ".yaml", ".yml")
STDIN = "STDIN"

#: Bytes of one file. The largest list that etcd serves in one piece is far below.
LARGEST = 256 * 1024 * 1024
#: Seconds to wait for somebody who writes to a pipe, and between two looks.
PATIENCE, _LOOK = 5.0, 0.05
_PIECE = 1 << 16


def list_files(argument: str, *, recursive: bool) -> list[str]:
    """Return the files that an argument of ``-f`` names, sorted; ``-`` is itself.

    In a directory only EXTENSIONS count; directories below it with ``recursive``. Links to directories are not followed
    below the argument, so a circle of links ends. Raises InputError if there is nothing to read.
    Source: cli-runtime resource/visitor.go ExpandPathsToFileVisitors, resource/builder.go Path.
    """
    if argument == "-":
        return [argument]
    if argument.startswith(("http://", "https://")):
        raise InputError("addresses are not read; download the file and pass its path", file=argument)
    if not os.path.lexists(argument):
        matches = sorted(glob.glob(argument))  # noqa: PTH207 (keeps the spelling of the argument, "./" too)
        if not matches:
            raise InputError("the path does not exist", file=argument)
        return [file for match in matches for file in list_files(match, recursive=recursive)]
    if not Path(argument).is_dir():
        return [argument]
    try:
        texts = list(_list_directory_files(argument, recursive=recursive))
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", file=str(error.filename or argument)) from error
    if not texts:
        hint = "" if recursive else "-R also reads the directories below it"
        known = " ".join(EXTENSIONS)
        raise InputError(f"no file here has a recognized extension [{known}]", file=argument, hint=hint)
    return texts


def read_text(file: str, stdin: BinaryIO) -> str:
    """Return the text of a file or, for ``-``, of standard input, without a byte order mark.

    UTF-16 is read where a mark says so, as PowerShell writes it. Raises InputError for a file that cannot be read, is
    larger than LARGEST or is not UTF-8.
    """
    shown = STDIN if file == "-" else file
    try:
        data = stdin.read(LARGEST + 1) if file == "-" else content(file)
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", file=shown) from error
    if len(data) > LARGEST:
        raise InputError(f"is larger than {LARGEST >> 20} MiB", file=shown, hint="split it into several files")
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        try:
            return data.decode("utf-16")
        except UnicodeDecodeError as error:
            raise InputError("begins as UTF-16, but is not", file=shown, line=1, column=1) from error
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line, column = position_at(before := data[: error.start].decode("utf-8-sig"), len(before))
        raise InputError(
            f"byte 0x{data[error.start]:02x} is not UTF-8", file=shown, line=line, column=column
        ) from error


def content(file: str) -> bytes:
    """Return what is in a file, up to one byte more than LARGEST, or what comes through a pipe as of ``<(command)``,
    however long that takes. Raises OSError, and InputError for a pipe that nobody opens to write.
    """
    handle = os.open(file, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    try:
        if stat.S_ISFIFO(os.fstat(handle).st_mode):
            return b"".join(_read_pipe(handle, file))
        with open(handle, "rb", closefd=False) as opened:
            return opened.read(LARGEST + 1)
    finally:
        os.close(handle)


def _read_pipe(handle: int, file: str) -> Iterator[bytes]:
    """Yield what comes until the last writer is gone. One that writes nothing yet is reported from none by what reading
    says.
    """
    size, end = 0, monotonic() + PATIENCE
    opened = False
    while size <= LARGEST:
        try:
            piece = os.read(handle, _PIECE)
        except BlockingIOError:
            opened = True
            select.select([handle], [], [])
            continue
        if piece:
            size += len(piece)
            yield piece
        elif size or opened:
            return
        elif monotonic() >= end:
            raise InputError("is a pipe that nobody writes to", file=file)
        else:
            sleep(_LOOK)


def _list_directory_files(directory: str, *, recursive: bool) -> Iterator[str]:
    with os.scandir(directory) as listed:
        entries = sorted(listed, key=lambda entry: entry.name)
    for entry in entries:
        if entry.is_dir(follow_symlinks=False):
            if recursive:
                yield from _list_directory_files(entry.path, recursive=True)
        elif entry.name.endswith(EXTENSIONS) and not entry.is_dir():
            yield entry.path


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
    """Return the objects in the files, directories and standard input (``-``, read once) that ``paths`` name, in that
    order.

    Lists are flattened, empty documents left out. Every object has a kind and a name or ``generateName``. faults: gets
    what is wrong with single documents and files of a directory, if there is an object beside them; not given: any
    fault is raised. notes: gets what is read as kubectl reads it, but hardly meant. Raises InputError, or InputErrors
    if there are several faults; also if there is no object at all, and for a path that does not exist.
    """
    input_errors: list[InputError] = []
    absent: list[InputError] = []
    manifests: list[Manifest] = []
    for file in _files(dict.fromkeys(paths), absent, recursive=recursive):
        try:
            text = read_text(file, stdin)
        except InputError as error:
            input_errors.append(error)
            continue
        for document, value in _documents(STDIN if file == "-" else file, text, input_errors, notes):
            manifests += _objects(document, value, (), input_errors)
    if not manifests and not input_errors and not absent:
        shown = " ".join(STDIN if path == "-" else path for path in paths)
        input_errors.append(InputError("holds no objects", file=shown))
    if absent or not manifests or faults is None:
        raise_faults([*input_errors, *absent])
    else:
        faults += input_errors
    return manifests


def raise_faults(faults: Sequence[InputError]) -> None:
    """Raises what was gathered: nothing, the one fault, or the first LISTED together."""
    if len(faults) == 1:
        raise faults[0]
    if faults:
        raise InputErrors(faults[:LISTED], len(faults) - LISTED)


def _files(paths: Iterable[str], absent: list[InputError], *, recursive: bool) -> Iterator[str]:
    """``absent`` gets the paths that name nothing, without which there is no answer, as from kubectl."""
    for path in paths:
        try:
            yield from list_files(path, recursive=recursive)
        except InputError as error:
            absent.append(error)


def _documents(
    file: str, text: str, faults: list[InputError], notes: list[InputError] | None
) -> Iterator[tuple[Document, Any]]:
    """Yield each document with its value. A text that begins with ``{`` is JSON as long as it can be, then YAML.

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
    """Yield each YAML document from ``start`` on.

    broken: why it is no JSON, reported instead if the first document is no YAML either but was meant as JSON.
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
    """Yield the object that a document is, or the items of the List that it is."""
    if value is None:
        return
    manifest = Manifest(value, document.file, document.index, document, within)
    if not isinstance(value, dict):
        faults.append(manifest.fault(f"an object was expected, not {describe_json_type(value)}"))
        return
    kind, version = value.get("kind"), value.get("apiVersion")
    if not kind or describe_json_type(kind) != "a string":
        faults.append(manifest.fault("Object 'Kind' is missing", ("kind",)))
    elif version is not None and describe_json_type(version) != "a string":
        text = f"apiVersion: a string was expected, not {describe_json_type(version)}"
        faults.append(manifest.fault(text, ("apiVersion",)))
    elif kind.endswith("List") and "items" in value:
        yield from _items(manifest, faults)
    elif fault := _find_metadata_fault(manifest):
        faults.append(fault)
    else:
        yield manifest


def _items(manifest: Manifest, faults: list[InputError]) -> Iterator[Manifest]:
    """Yield the items of a List; a PodList may leave out what each item is."""
    document, items = manifest.document, manifest.raw["items"]
    assert document is not None
    if items is not None and not isinstance(items, list):
        faults.append(manifest.fault(f"items: a list was expected, not {describe_json_type(items)}", ("items",)))
        return
    common = {"apiVersion": manifest.api_version, "kind": manifest.kind.removesuffix("List")}
    for index, item in enumerate(items or ()):
        completed = {**common, **item} if isinstance(item, dict) and common["kind"] else item
        yield from _objects(document, completed, (*manifest.within, "items", index), faults)


def _find_metadata_fault(manifest: Manifest) -> InputError | None:
    """Return what is wrong with the metadata, if anything is."""
    metadata = manifest.raw.get("metadata")
    if metadata is not None and not isinstance(metadata, dict):
        return manifest.fault(f"metadata: an object was expected, not {describe_json_type(metadata)}", ("metadata",))
    for key in ("name", "generateName", "namespace"):
        text = manifest.metadata.get(key)
        if text is not None and describe_json_type(text) != "a string":
            return manifest.fault(
                f"metadata.{key}: a string was expected, not {describe_json_type(text)}", ("metadata", key)
            )
    if not manifest.ref.name:
        return manifest.fault(f"{manifest.kind} without a name: metadata.name may not be empty", ("metadata",))
    return None


def drop_unversioned(manifests: Iterable[Manifest], faults: list[InputError]) -> list[Manifest]:
    """Return those with an ``apiVersion``: kubectl sends no others. Each of these is a fault."""
    kept: list[Manifest] = []
    for manifest in manifests:
        if manifest.api_version:
            kept.append(manifest)
        else:
            faults.append(manifest.fault("error validating data: apiVersion not set", ("kind",)))
    return kept


def describe_json_type(value: Any) -> str:
    """Return what a JSON value is, with its article."""
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
