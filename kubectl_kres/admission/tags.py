"""What validation finds in the labels and annotations of an object or a template."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from kubectl_kres.admission.field import FieldError, invalid
from kubectl_kres.admission.names import qualified_faults

_RULE = "validation/tag"
_LONGEST = 63
_VALUE = r"(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?"
_VALUE_RULE = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and "
    f"end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is "
    f"'{_VALUE}')"
)


def tag_errors(metadata: Any, path: str) -> Iterator[FieldError]:
    """Of ``metadata`` at ``path``; lengths are not looked at.

    Source: apimachinery api/validation ValidateLabels, ValidateAnnotations.
    """
    held = metadata if isinstance(metadata, Mapping) else {}
    for key, value in _tags(held, "labels"):
        yield from (invalid(f"{path}.labels", key, fault, _RULE) for fault in qualified_faults(key))
        yield from (invalid(f"{path}.labels", value, fault, _RULE) for fault in label_value_faults(value))
    for key, _ in _tags(held, "annotations"):
        yield from (invalid(f"{path}.annotations", key, fault, _RULE) for fault in qualified_faults(key.lower()))


def label_value_faults(text: str) -> Iterator[str]:
    """Source: apimachinery validate/content IsLabelValue."""
    if len(text.encode("utf-8", "surrogatepass")) > _LONGEST:
        yield f"must be no more than {_LONGEST} bytes"
    if not re.fullmatch(_VALUE, text):
        yield _VALUE_RULE


def _tags(held: Mapping[str, Any], key: str) -> Iterator[tuple[str, str]]:
    tags = held.get(key)
    for name, value in tags.items() if isinstance(tags, Mapping) else ():
        yield str(name), value if isinstance(value, str) else ""
