"""How a recorded request is merged into the stored object before it is sent."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

#: Keys whose value replaces the stored one as a whole.
REPLACED = {"resources", "hard", "scopes", "limits", "requests", "overhead", "scopeSelector", "ports"}
BY_POSITION = {"containers", "initContainers"}


def merged(stored: Mapping[str, Any], sent: Mapping[str, Any]) -> dict[str, Any]:
    """The stored object with what was sent: maps merge, containers by position, null removes a key."""
    result = copy.deepcopy(dict(stored))
    for key, value in sent.items():
        held = result.get(key)
        if value is None:
            result.pop(key, None)
        elif key in REPLACED:
            result[key] = copy.deepcopy(value)
        elif isinstance(value, Mapping):
            result[key] = merged(held if isinstance(held, Mapping) else {}, value)
        elif key in BY_POSITION and isinstance(held, list) and len(held) == len(value):
            result[key] = [merged(*pair) for pair in zip(held, value, strict=True)]
        else:
            result[key] = copy.deepcopy(value)
    return result
