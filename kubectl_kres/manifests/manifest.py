"""One object of an input, with the place of each of its fields."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any

from msgspec import Struct

from kubectl_kres.documents import json_text
from kubectl_kres.documents.document import Document, PathStep, Position
from kubectl_kres.errors import InputError
from kubectl_kres.model.objects import ObjectRef

#: A step of a path: the index of a list, the name of a field, or a key in brackets.
_STEP = re.compile(r"\[([0-9]+)\]|([^.\[\]]+)(?![^\[]*\])|\[([^\]]*)\]")


class Manifest(Struct, frozen=True):
    """An object as kubectl would send it.

    raw: JSON-like data, read-only since aliases share values; numbers are int or ``number.Number``. file: as given,
    ``STDIN`` for ``-``. index: of the document in the file, from 0. within: path of the object in its document, empty
    unless a List held it.
    """

    raw: dict[str, Any]
    file: str = ""
    index: int = 0
    document: Document | None = None
    within: tuple[PathStep, ...] = ()

    @property
    def kind(self) -> str:
        return str(self.raw.get("kind", ""))

    @property
    def api_version(self) -> str:
        return str(self.raw.get("apiVersion", ""))

    @property
    def metadata(self) -> dict[str, Any]:
        return self.raw.get("metadata") or {}

    @property
    def namespace(self) -> str:
        """Empty if the object names none."""
        return self.metadata.get("namespace") or ""

    @property
    def ref(self) -> ObjectRef:
        """Kind, name and namespace; ``generateName`` stands for a name that the server would make from it."""
        name = self.metadata.get("name") or self.metadata.get("generateName") or ""
        return ObjectRef(self.kind, name, self.namespace)

    def position_text(self, path: str) -> str:
        """Return where the field at a path of the server stands: ``web.yaml:14:19``; the file alone without a text."""
        line, column = self.position_of(path)
        return f"{self.file}:{line}:{column}" if line else self.file

    def position_of(self, path: str) -> Position:
        """Line and column of the field at a path of the server, as ``position`` has them."""
        return self.position([int(index) if index else name or key for index, name, key in _STEP.findall(path)])

    def position(self, path: Sequence[PathStep] = ()) -> Position:
        """Line and column (1-based) of the value at ``path``, or of the innermost value around it that was written.

        (0, 0) if the object came from no text. Reads the document again: for errors, not for loops.
        """
        if self.document is None:
            return 0, 0
        if self.document.form == "json":
            locate = json_text.locate
        else:
            from kubectl_kres.documents.yaml_text import locate  # noqa: PLC0415 - only where there is YAML

        return locate(self.document, (*self.within, *path))

    def fault(self, message: str, path: Sequence[PathStep] = ()) -> InputError:
        """Return an error at the field ``path``, which is located when the error is shown."""
        return InputError(message, file=self.file, locate=partial(self.position, tuple(path)))


def first_lines(manifests: Iterable[Manifest]) -> list[int]:
    """Return the line on which each object begins, 0 if it came from no text. Reads each document once more."""
    manifests = tuple(manifests)
    within: dict[int, set[tuple[PathStep, ...]]] = {}
    documents: dict[int, Document] = {}
    for manifest in manifests:
        if manifest.document is not None:
            documents[id(manifest.document)] = manifest.document
            within.setdefault(id(manifest.document), set()).add(manifest.within)
    positions = {key: _find_starts(document, within[key]) for key, document in documents.items()}
    return [positions.get(id(manifest.document), {}).get(manifest.within, (0, 0))[0] for manifest in manifests]


def _find_starts(document: Document, paths: set[tuple[PathStep, ...]]) -> dict[tuple[PathStep, ...], Position]:
    if document.form == "json":
        return json_text.value_positions(document, paths)
    from kubectl_kres.documents import yaml_text  # noqa: PLC0415 - only where there is YAML

    return yaml_text.value_positions(document, paths)
