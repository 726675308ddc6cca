"""What validation finds in the labels and annotations of an object or a template."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from kubectl_kres.admission.base.field_error import FieldError, invalid, too_long
from kubectl_kres.admission.base.resource_names import qualified_faults

_RULE = "validation/tag"
_LONGEST = 63
#: Bytes of all annotations of an object.
_LARGEST = 256 * 1024
_VALUE = r"(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?"
_VALUE_RULE = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and "
    f"end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is "
    f"'{_VALUE}')"
)


def tag_errors(metadata: Any, path: str) -> Iterator[FieldError]:
    """Of ``metadata`` at ``path``.

    Source: apimachinery api/validation ValidateLabels, ValidateAnnotations.
    """
    result = metadata if isinstance(metadata, Mapping) else {}
    yield from label_errors(result.get("labels"), f"{path}.labels")
    size = 0
    for key, value in _tags(result.get("annotations")):
        yield from (invalid(f"{path}.annotations", key, fault, _RULE) for fault in qualified_faults(key.lower()))
        size += len(f"{key}{value}".encode("utf-8", "surrogatepass"))
    if size > _LARGEST:
        yield too_long(f"{path}.annotations", _LARGEST, _RULE)


def label_errors(labels: Any, path: str, rule: str = _RULE) -> Iterator[FieldError]:
    """Source: apimachinery meta/v1/validation ValidateLabels."""
    for key, value in _tags(labels):
        yield from (invalid(path, key, fault, rule) for fault in qualified_faults(key))
        yield from (invalid(path, value, fault, rule) for fault in label_value_faults(value))


def label_value_faults(text: str) -> Iterator[str]:
    """Source: apimachinery validate/content IsLabelValue."""
    if len(text.encode("utf-8", "surrogatepass")) > _LONGEST:
        yield f"must be no more than {_LONGEST} bytes"
    if not re.fullmatch(_VALUE, text):
        yield _VALUE_RULE


def _tags(tags: Any) -> Iterator[tuple[str, str]]:
    for name, value in tags.items() if isinstance(tags, Mapping) else ():
        yield str(name), value if isinstance(value, str) else ""
