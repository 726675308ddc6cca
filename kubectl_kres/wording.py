"""Lists of names as a sentence has them."""

from __future__ import annotations

from collections.abc import Iterable


def join_words(words: Iterable[str], last: str = "and") -> str:
    """Return the words as ``a, b and c``; empty for none. ``last``: the word before the last one."""
    texts = list(words)
    return f" {last} ".join(filter(None, (", ".join(texts[:-1]), *texts[-1:])))


def join_some(words: Iterable[str], most: int = 6) -> str:
    """Return the words likewise; beyond ``most`` only how many more there are."""
    texts = list(words)
    return join_words(texts if len(texts) <= most + 1 else [*texts[:most], f"{len(texts) - most} more"])
