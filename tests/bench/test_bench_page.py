"""Figures of the bench go where the page has a place for them, and nowhere else."""

from __future__ import annotations

import re

from bench.page import PAGE, with_figures

_PAGE = """# Performance

<!-- bench pods 100 -->
old
<!-- end -->

Between.

<!-- bench pods 1000 -->
older
<!-- end -->
"""


def test_figures_take_the_place_of_those_of_the_same_key() -> None:
    page = with_figures(_PAGE, "pods 1000", r"new \1 figures" + "\n\n")
    assert page == _PAGE.replace("older", r"new \1 figures")
    assert with_figures(page, "pods 1000", "older") == _PAGE


def test_a_page_without_a_place_is_left_alone() -> None:
    assert with_figures(_PAGE, "pods 10", "new") is None
    assert with_figures(_PAGE, "claims 100", "new") is None


def test_the_page_has_places_that_the_bench_can_fill() -> None:
    text = PAGE.read_text()
    places = re.findall(r"<!-- bench (.+) -->", text)
    assert places
    assert len(places) == len(set(places)) == text.count("<!-- end -->")
    for key in places:
        assert "new figures" in (with_figures(text, key, "new figures") or "")
