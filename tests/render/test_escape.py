"""Hostile text is harmless after plain(), harmless text is left alone, and widths are those of a terminal."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubectl_kres.render.text.line import cells, sanitize_text, truncate_text

HOSTILE = [
    *map(chr, range(0x20)),
    *map(chr, range(0x7F, 0xA0)),
    "\u061c",
    "\u200e",
    "\u200f",
    "\u200b",
    *map(chr, range(0x2060, 0x2065)),
    "\ufeff",
    "\U000e0001",
    "\U000e0041",
    *map(chr, range(0x2028, 0x202F)),
    *map(chr, range(0x2066, 0x206A)),
    "\ud800",
    "\udfff",
]
HARMLESS = ["", "web-0", "größe", "日本", "e\u0301", "👩\u200d💻", "[bold]", "\ufffd"]


@pytest.mark.parametrize("character", HOSTILE, ids=lambda character: f"U+{ord(character):04X}")
def test_what_a_terminal_would_obey_is_replaced(character: str):
    assert sanitize_text(f"a{character}b") == "a\ufffdb"
    kept = character in "\t\n"
    assert sanitize_text(f"a{character}b", keep_newlines=True) == (f"a{character}b" if kept else "a\ufffdb")


@pytest.mark.parametrize("text", HARMLESS)
def test_harmless_text_is_left_alone(text: str):
    assert sanitize_text(text) == text


@given(st.text(alphabet=st.characters(codec=None)))
def test_nothing_unsafe_is_left(text: str):
    made = sanitize_text(text)
    assert len(made) == len(text)
    assert sanitize_text(made) == made
    assert not {unicodedata.category(character) for character in made} & {"Cc", "Cs", "Zl", "Zp"}
    assert not {unicodedata.bidirectional(character) for character in made} & {"LRE", "RLO", "PDF", "LRI", "PDI"}


@pytest.mark.parametrize(
    ("text", "width"),
    [
        ("", 0),
        ("web", 3),
        ("日本", 4),
        ("e\u0301", 1),
        ("ﾊﾟ", 2),
        ("\uff57", 2),
        ("한", 2),
        ("\u1112\u1161", 2),
        ("🚀", 2),
    ],
)
def test_cells(text: str, width: int):
    assert cells(text) == width


def test_a_long_text_is_capped_and_says_so():
    assert truncate_text("x" * 2000) == "x" * 2000
    assert truncate_text("x" * 2003) == "x" * 2000 + "… (3 more characters)"
    assert truncate_text("abcd", 3) == "abc… (1 more characters)"
