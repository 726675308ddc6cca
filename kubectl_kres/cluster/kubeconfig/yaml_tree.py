"""A kubeconfig's YAML as plain values, and errors that quote nothing of it: it may hold secrets."""

from __future__ import annotations

import re
from typing import Any

from yaml import events

from kubectl_kres.documents import yaml_text
from kubectl_kres.documents.document import Document
from kubectl_kres.documents.number import Number
from kubectl_kres.documents.yaml_values import Build
from kubectl_kres.errors import InputError


class TreeError(Exception):
    """The text is no YAML. The message names the line, and never quotes the text."""


class _Values(Build):
    """Numbers are no text here: a token of ``1.5`` is a mistake."""

    def put(self, event: Any, value: Any, size: int, depth: int, anchor: str | None) -> None:
        super().put(event, float(value) if isinstance(value, Number) else value, size, depth, anchor)


def parse(content: bytes) -> Any:
    """The first document; None if there is none.

    Raises TreeError. Source: client-go tools/clientcmd/latest, which reads through sigs.k8s.io/yaml as manifests are.
    """
    try:
        document = Document("", content.decode("utf-8-sig"), "yaml")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise TreeError(f"line {line}: is no UTF-8") from None
    build = _Values(document)
    try:
        for event in yaml_text.events(document):
            build.take(event)
            if isinstance(event, events.DocumentEndEvent):
                break
    except InputError as error:
        raise TreeError(f"line {error.line}: {_unquoted(error.text)}") from None
    return build.root


def _unquoted(text: str) -> str:
    return re.sub(r"'[^']*'|\"[^\"]*\"|`[^`]*`", "'…'", text)
