"""What the server answers to fields that it does not know where it is told to be strict, as kubectl tells it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from kubectl_kres.admission.base.outcome import Finding, Refusal

_DIGITS = re.compile(r"(\d+)")


def strict(raw: Mapping[str, Any], kind: str, unknown: Sequence[str]) -> Refusal:
    """400 of kubectl's default ``--validate=strict``; ``unknown``: the texts of ``unknown_fields``, at least one.

    Source: apiserver endpoints/handlers/create.go.
    """
    texts = sorted(unknown, key=_order)
    message = f"strict decoding error: {', '.join(texts)}"
    findings = tuple(Finding(text, "kubectl/unknown-field", _path(text), resource=kind) for text in texts)
    text = f'{kind} in version "{version_of(raw)}" cannot be handled as a {kind}: {message}'
    return Refusal(400, "BadRequest", text, findings)


def version_of(raw: Mapping[str, Any]) -> str:
    """``v1`` of ``apps/v1``."""
    return str(raw.get("apiVersion", "v1")).rpartition("/")[2]


def _order(path: str) -> tuple[tuple[bool, int, str], ...]:
    """By name, and by number where they are numbers: kubectl sends fields in the order of their names."""
    parts = _DIGITS.split(path)
    return tuple((part.isdigit(), int(part) if part.isdigit() else 0, part) for part in parts)


def _path(text: str) -> str:
    return text.removeprefix("unknown field ").strip('"')
