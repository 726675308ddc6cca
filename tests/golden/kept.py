"""Texts that are kept in files; KRES_GOLDEN=write writes the files, to be read in review."""

from __future__ import annotations

import os
from difflib import unified_diff
from itertools import islice
from pathlib import Path

import pytest

WRITING = os.environ.get("KRES_GOLDEN") == "write"
#: Lines of a difference that are shown.
MOST = 60


def compare(file: Path, text: str) -> None:
    """Fails where the text is not what the file holds."""
    if WRITING:
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)
    golden = file.read_text() if file.exists() else ""
    # Not left to an assertion: pytest takes minutes to compare long texts.
    changes = unified_diff(golden.splitlines(), text.splitlines(), str(file), "now", lineterm="")
    if golden != text:
        pytest.fail("\n".join(islice(changes, MOST)), pytrace=False)
