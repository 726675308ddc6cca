"""Durations against Go. ``durations.json`` was printed by Go 1.26.8: what ParseDuration returns, what String makes of
it, or the error.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kubectl_kres import durations

ROWS = json.loads((Path(__file__).parent / "durations.json").read_text("utf-8"))


def _answer(text: str) -> dict[str, Any]:
    try:
        length = durations.parse(text)
    except durations.DurationError as error:
        return {"text": text, "error": error.message}
    return {"text": text, "nanoseconds": length, "written": durations.to_text(length)}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["text"][:40])
def test_as_go_reads_and_writes_them(row: dict[str, Any]) -> None:
    assert _answer(row["text"]) == row


def test_both_are_recorded() -> None:
    errors = sum("error" in row for row in ROWS)
    assert min(errors, len(ROWS) - errors) >= 100


def test_what_is_none() -> None:
    assert durations.parse_or_none("5d") is None
    assert durations.parse_or_none("5m") == 5 * durations.MINUTE


def test_digits_without_end_are_no_trouble() -> None:
    assert durations.parse("0" * 9000 + "1s") == durations.SECOND
    assert durations.parse(f"1.{'3' * 9000}s") == 1_333_333_333
    assert durations.parse_or_none("9" * 9000 + "s") is None
