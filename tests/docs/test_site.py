"""The site that ``make docs`` makes: every page is in it, and those from outside docs/ are brought along."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
SETTINGS = yaml.safe_load((ROOT / "mkdocs.yml").read_text())


def listed(found: Any) -> list[str]:
    """The pages of the navigation."""
    if isinstance(found, str):
        return [found]
    return [page for part in (found.values() if isinstance(found, dict) else found) for page in listed(part)]


def test_every_page_is_in_the_navigation():
    pages = {path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*.md")}
    assert set(listed(SETTINGS["nav"])) == pages


def test_links_are_strict():
    assert SETTINGS["strict"] is True
    assert set(SETTINGS["validation"].values()) == {"warn"}


def test_every_page_is_in_the_index():
    text = (ROOT / "docs" / "index.md").read_text()
    pages = {path.name for path in (ROOT / "docs").glob("*.md")} - {"index.md"}
    assert {page for page in pages if f"({page}" not in text} == set()
    runbooks = (ROOT / "docs" / "runbooks" / "index.md").read_text()
    names = {path.name for path in (ROOT / "docs" / "runbooks").glob("*.md")} - {"index.md"}
    assert {name for name in names if f"({name}" not in runbooks} == set()


def test_links_to_what_is_brought_along():
    spec = importlib.util.spec_from_file_location("site_hook", ROOT / "release" / "site.py")
    hook = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(hook)
    page = SimpleNamespace(file=SimpleNamespace(src_uri="tui.md"))
    assert hook.on_page_markdown("[a](../screenshots/a.svg)", page=page) == "[a](screenshots/a.svg)"
    deep = SimpleNamespace(file=SimpleNamespace(src_uri="runbooks/a.md"))
    assert hook.on_page_markdown("[a](../../screenshots/a.svg)", page=deep) == "[a](../screenshots/a.svg)"
    assert hook._links_as_text("[x](../action.yml) [y](../docs/ci.md)") == "x [y](ci.md)"


def test_runbooks_have_their_parts():
    for path in sorted((ROOT / "docs" / "runbooks").glob("*.md")):
        if path.name == "index.md":
            continue
        text = path.read_text()
        assert [head for head in ("## Ask", "## Read it", "## Do", "## Worked") if head not in text] == [], path.name
        assert "**You " in text, path.name


def test_the_readme_is_short_and_shows_a_picture_early():
    lines = (ROOT / "README.md").read_text().splitlines()
    assert any("screenshots/" in line for line in lines[:12])
    assert len(" ".join(lines).split()) <= 900
    assert sum(line.strip().startswith("make ") for line in lines) >= 2


def test_the_readme_says_how_many_answers_are_recorded():
    count = 0
    for path in (file for name in ("vectors", "vectors-1.37") for file in (ROOT / "tests" / name).rglob("*.json*")):
        text = path.read_text()
        count += len(text.splitlines()) if path.suffix == ".jsonl" else len(json.loads(text)["cases"])
    assert f"with {count:,} recorded answers of real servers" in " ".join((ROOT / "README.md").read_text().split())


@pytest.mark.parametrize("page", sorted((ROOT / "docs").rglob("*.md")), ids=lambda page: page.name)
def test_a_page_begins_with_the_question_that_it_answers(page: Path):
    """A runbook with what one sees, wants or is about to do."""
    title, empty, first, *_ = page.read_text().splitlines()
    assert title.startswith("# ") and not empty
    asks = first.startswith("**") and first.endswith("?**")
    assert asks or (page.parent.name == "runbooks" and first.startswith("**You "))
