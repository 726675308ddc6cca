"""Files and folders that the pages for contributors name are there: steps that lead nowhere are worse than none."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
#: Stand for a name that a contributor chooses.
CHOSEN = re.compile(r"NAME|/x\.py$|[*{]")


@pytest.mark.parametrize("page", ["CONTRIBUTING.md", "docs/architecture.md"])
def test_what_a_page_names_is_there(page: str):
    text = (ROOT / page).read_text(encoding="utf-8")
    named = {path for path in re.findall(r"`([\w./{},*-]+(?:\.py|/))`", text) if not CHOSEN.search(path)}
    assert len(named) > 20
    folders = [ROOT, ROOT / "kubectl_kres", *(path for path in (ROOT / "kubectl_kres").rglob("*") if path.is_dir())]
    assert {path for path in named if not any((folder / path).exists() for folder in folders)} == set()
