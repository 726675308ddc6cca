"""How many examples a property is tried on: fewer in the profile of `make test`, in proportion."""

from __future__ import annotations

from typing import Any

from hypothesis import settings

_WHOLE = 100
"""What the whole profile takes where a test asks for no number."""


def examples(count: int, **others: Any) -> settings:
    """Settings for a test that wants ``count`` examples of the whole profile."""
    return settings(max_examples=max(1, count * settings.default.max_examples // _WHOLE), **others)
