"""The figures in docs/performance.md: each table stands between two comments that name what measured it."""

from __future__ import annotations

import re
from pathlib import Path

PAGE = Path(__file__).resolve().parent.parent / "docs" / "performance.md"


def with_figures(page: str, key: str, figures: str) -> str | None:
    """The page with these figures in the place of those of the same key; None if it has no place for them.

    A place is ``<!-- bench KEY -->``, anything, ``<!-- end -->``.
    """
    start, end = re.escape(f"<!-- bench {key} -->"), re.escape("<!-- end -->")
    place = re.compile(f"({start}\n).*?({end})", re.DOTALL)
    if place.search(page) is None:
        return None
    return place.sub(lambda match: f"{match[1]}{figures.strip()}\n{match[2]}", page)
