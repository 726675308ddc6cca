"""Objects that an expression makes: ``Object.spec{...}`` and ``JSONPatch{...}``."""

from __future__ import annotations

from typing import Any

from kubectl_kres.cel.base.errors import EvalError
from kubectl_kres.cel.base.values import Made, Optional, shown, type_name


def some(value: Any, name: Any) -> bool:
    """Whether an optional entry has a value. Raises EvalError for what is no optional."""
    if not isinstance(value, Optional):
        raise EvalError(f"cannot initialize optional entry '{shown(name)}' from non-optional value {shown(value)}")
    return bool(value.present)


def made(name: str, fields: dict[str, Any]) -> Made:
    """Raises EvalError for fields that a patch does not have."""
    if name == "JSONPatch":
        for key in ("op", "path", "from"):
            if key in fields and not isinstance(fields[key], str):
                kind = {"int": "int64", "double": "float64", "null_type": "structpb.NullValue"}
                told = kind.get(type_name(fields[key]), type_name(fields[key]))
                raise EvalError(f"unexpected type {told} for JSONPatchType '{key}' field")
        for key in fields:
            if key not in ("op", "path", "from", "value"):
                raise EvalError(f"unexpected JSONPatchType field: {key}")
    return Made(name, fields)
