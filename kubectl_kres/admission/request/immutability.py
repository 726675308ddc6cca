"""Whether an update changes a part of an object that may not change."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def changed(old: Any, new: Any) -> bool:
    """Whether ``new`` says something else than the stored ``old``, both as JSON values.

    What ``new`` leaves out is no change: the server fills it in as it did before. Empty and absent are the same.
    """
    if isinstance(new, Mapping):
        result = old if isinstance(old, Mapping) else {}
        return any(changed(result.get(key), value) for key, value in new.items())
    if isinstance(new, list | tuple):
        items = old if isinstance(old, list | tuple) else ()
        return len(items) != len(new) or any(changed(*pair) for pair in zip(items, new, strict=True))
    return bool(new != old and (new or old is not None) and new not in {None, ""})
