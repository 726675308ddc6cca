"""Lines: wrapping, columns, clipping, colours."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubectl_kres.render.text.line import cells, clip_text, draw, pad_text, size, wrap_text
from kubectl_kres.render.verdict.headline import one_line_message
from kubectl_kres.reports.common.explanation import Verdict

words = st.text(alphabet="ab日e\u0301\x1b\u202e", min_size=1, max_size=12)


@given(st.lists(words, max_size=20).map(" ".join), st.integers(10, 40))
def test_wrapped_lines_hold_the_width_and_all_words(text, width):
    lines = list(wrap_text(text, width, first="- ", rest="  "))
    assert " ".join(lines).replace("-", "", 1).split() == text.split()
    for line in lines:
        assert size(line) <= width or len(line.split()) <= 1 + (line is lines[0])


def test_a_long_word_stands_alone():
    assert list(wrap_text("a " + "x" * 30 + " b", 20, first="> ", rest="  ")) == ["> a", "  " + "x" * 30, "  b"]


def test_a_huge_text_is_capped():
    lines = list(wrap_text("word " * 5000, 80))
    assert sum(map(len, lines)) < 2100
    assert lines[-1].endswith("more characters)")


@pytest.mark.parametrize("piece", ["n", "日", "e\u0301"], ids=ascii)
def test_the_size_of_a_huge_text_is_that_of_what_is_drawn(piece):
    text = piece * 5000
    assert size(text) == cells(draw([("", text)], color=False))
    assert size(clip_text(text, 40)) <= 40


@given(words, st.integers(0, 20))
def test_padding_and_clipping_hold_cells(text, width):
    assert size(pad_text(text, width)) == max(width, size(text))
    short = clip_text(text, max(1, width))
    assert size(short) <= max(1, width)
    assert short == text or (short.endswith("…") and text.startswith(short[:-1]))


@pytest.mark.parametrize(
    ("line", "plain", "coloured"),
    [
        ([("", "a"), ("bad", "b")], "ab", "a\x1b[31mb\x1b[0m"),
        ([("strong", ""), ("", "a  ")], "a", "a"),
        ([("good", "\x1b[31mred")], "\ufffd[31mred", "\x1b[32m\ufffd[31mred\x1b[0m"),
        ([("warn", "[bold]")], "[bold]", "\x1b[33m[bold]\x1b[0m"),
    ],
)
def test_drawing(line, plain, coloured):
    assert draw(line, color=False) == plain
    assert draw(line, color=True) == coloured


def test_the_faults_of_a_message_stand_in_one_line():
    assert (
        one_line_message(Verdict(allowed=False, code=400, message="validation failed: a\nb"))
        == "validation failed: a; b"
    )
