"""Whether a label selector selects labels, and how the server shows it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kubectl_kres.model.raw import Raw, items, mapping, text, texts


def selects(selector: Raw, labels: Raw) -> bool:
    """Of a selector that is valid."""
    if any(labels.get(key) != value for key, value in mapping(selector, "matchLabels").items()):
        return False
    return all(_meets(item, labels) for item in items(selector, "matchExpressions"))


def _meets(expression: Raw, labels: Raw) -> bool:
    key, listed = text(expression, "key"), texts(expression, "values")
    match text(expression, "operator"):
        case "In":
            return labels.get(key) in listed
        case "NotIn":
            return labels.get(key) not in listed
        case "Exists":
            return key in labels
        case "DoesNotExist":
            return key not in labels
    return True


def shown_selector(selector: Raw) -> dict[str, Any]:
    """As Go prints it: without what is empty, labels sorted."""
    shown: dict[str, Any] = {}
    labels = mapping(selector, "matchLabels")
    if labels:
        shown["matchLabels"] = {key: value or "" for key, value in sorted(labels.items())}
    expressions: Sequence[Raw] = items(selector, "matchExpressions")
    if expressions:
        shown["matchExpressions"] = [
            {"key": text(expression, "key"), "operator": text(expression, "operator")}
            | ({"values": texts(expression, "values")} if texts(expression, "values") else {})
            for expression in expressions
        ]
    return shown
