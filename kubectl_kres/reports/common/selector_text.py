"""A label selector as the query parameter of a list."""

from __future__ import annotations

from typing import Any


def selector_text(selector: Any) -> str:
    """A selector as the query parameter: of a LabelSelector as decoded, or the plain map of a ReplicationController."""
    if not isinstance(selector, dict):
        return ""
    if "matchLabels" not in selector and "matchExpressions" not in selector:
        return ",".join(f"{key}={value}" for key, value in sorted(selector.items()))
    parts = [f"{key}={value}" for key, value in sorted((selector.get("matchLabels") or {}).items())]
    for expression in selector.get("matchExpressions") or ():
        key, values = expression.get("key", ""), ",".join(expression.get("values") or ())
        operator = expression.get("operator", "")
        shown = {"Exists": key, "DoesNotExist": f"!{key}", "In": f"{key} in ({values})"}
        parts.append(shown.get(operator, f"{key} notin ({values})"))
    return ",".join(parts)
