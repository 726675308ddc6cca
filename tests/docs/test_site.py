"""The site that ``make docs`` makes: every page is in it, and those from outside docs/ are brought along."""

from __future__ import annotations

import gzip
import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from release import site

ROOT = Path(__file__).parents[2]
SETTINGS = tomllib.loads((ROOT / "zensical.toml").read_text())["project"]


def listed(found: Any) -> list[str]:
    """The pages of the navigation."""
    if isinstance(found, str):
        return [found]
    return [page for part in (found.values() if isinstance(found, dict) else found) for page in listed(part)]


def test_every_page_is_in_the_navigation():
    pages = {path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*.md")}
    assert set(listed(SETTINGS["nav"])) == pages


def test_links_are_strict():
    assert "zensical build --strict" in (ROOT / "Makefile").read_text()


def test_every_page_is_in_the_index():
    text = (ROOT / "docs" / "index.md").read_text()
    pages = {path.name for path in (ROOT / "docs").glob("*.md")} - {"index.md"}
    assert {page for page in pages if f"({page}" not in text} == set()
    runbooks = (ROOT / "docs" / "runbooks" / "index.md").read_text()
    names = {path.name for path in (ROOT / "docs" / "runbooks").glob("*.md")} - {"index.md"}
    assert {name for name in names if f"({name}" not in runbooks} == set()


def test_links_to_what_is_brought_along():
    assert site.with_links("[a](../screenshots/a.svg)", "tui.md") == "[a](screenshots/a.svg)"
    assert site.with_links("[a](../../screenshots/a.svg)", "runbooks/a.md") == "[a](../screenshots/a.svg)"
    assert site.links_as_text("[x](../action.yml) [y](../docs/ci.md)") == "x [y](ci.md)"


def test_the_address_of_the_project_stands_in_the_pages_once_it_has_one():
    text = "repo: https://github.com/OWNER/kubectl-kres\n- uses: OWNER/kubectl-kres@v0.1.0\n--repo OWNER/REPOSITORY\n"
    assert site.with_address(text, "") == text
    home = "https://github.com/tools/kres"
    assert site.with_address(text, home) == f"repo: {home}\n- uses: tools/kres@v0.1.0\n--repo tools/kres\n"
    pages = "".join(path.read_text() for path in sorted((ROOT / "docs").rglob("*.md")))
    assert "OWNER" in pages and "OWNER/" not in site.with_address(pages, home)


def test_what_is_brought_along_is_there(tmp_path: Path):
    site.gather(tmp_path / "pages")
    assert (tmp_path / "pages" / "CONTRIBUTING.md").exists() and any((tmp_path / "pages" / "screenshots").iterdir())


def test_runbooks_have_their_parts():
    for path in sorted((ROOT / "docs" / "runbooks").glob("*.md")):
        if path.name == "index.md":
            continue
        text = path.read_text()
        assert [head for head in ("## Ask", "## Read it", "## Do", "## Worked") if head not in text] == [], path.name
        assert "**You " in text, path.name


def test_the_readme_is_short_and_shows_a_picture_early():
    text = (ROOT / "README.md").read_text()
    lines = text.splitlines()
    assert any("screenshots/" in line for line in lines[:12])
    written = re.sub(r"```console\n.*?```", "", text, flags=re.DOTALL)
    assert len(written.split()) <= 1000
    assert sum(line.strip().startswith("make ") for line in lines) >= 2


def test_the_readme_says_how_many_answers_are_recorded():
    count = 0
    for path in (file for name in ("vectors", "vectors-1.37") for file in (ROOT / "tests" / name).rglob("*.json*")):
        content = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        count += len(content.splitlines()) if ".jsonl" in path.name else len(json.loads(content)["cases"])
    assert f"{count:,} recorded answers of real servers" in " ".join((ROOT / "README.md").read_text().split())


@pytest.mark.parametrize("page", sorted((ROOT / "docs").rglob("*.md")), ids=lambda page: page.name)
def test_a_page_begins_with_the_question_that_it_answers(page: Path):
    """A runbook with what one sees, wants or is about to do."""
    title, empty, first, *_ = page.read_text().splitlines()
    assert title.startswith("# ") and not empty
    asks = first.startswith("**") and first.endswith("?**")
    assert asks or (page.parent.name == "runbooks" and first.startswith("**You "))
