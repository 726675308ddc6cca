"""Help where one is: what the keys of the screen below do, what its words mean, which page says what to do."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tui.driving import ML, demo, drive, typed

from kubectl_kres.tui.app import Kres
from kubectl_kres.tui.glossary import HEADS, LABELS, WORDS, words_in
from kubectl_kres.tui.keys import BY_ID
from kubectl_kres.tui.lists.list_registry import LISTINGS
from kubectl_kres.tui.screens.help import HelpPane

#: One column.
SINGLE = (99, 40)
ROOT = Path(__file__).parents[2]


def help_text(words: str, keys: tuple[str, ...] = ()) -> str:
    found: list[str] = []

    def collect(app):
        assert isinstance(app.pane, HelpPane)
        found.append(app.pane.page.text)

    drive(demo(words, file=ML), [*keys, "question_mark"], collect, size=SINGLE)
    return " ".join(found[0].split())


def test_the_glossary_of_the_docs_is_that_of_the_program():
    page = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (?!label|word|---)(.+?) \| (.+) \|$", page, re.MULTILINE)
    assert dict(rows) == {**LABELS, **WORDS}


def test_it_says_what_the_keys_and_words_of_the_screen_mean_and_which_page_helps():
    shown = help_text("quotas")
    assert "docs/runbooks/quota-refuses.md" in shown
    assert BY_ID["users"].text in shown.partition("signs")[0]
    assert "words on this screen TIGHTEST the name of the quota" in shown
    assert "PLACE the place" not in shown
    shown = help_text("", (":", *typed("claim sweep"), "enter"))
    assert "docs/runbooks/claim-waits.md" in shown
    assert "fix, fix 1, fix 2 a change that is complete alone" in shown
    assert "exhausted the pool has too little left" in shown


@pytest.mark.parametrize("runbook", sorted({listing.wording.runbook for listing in LISTINGS.values()} - {""}))
def test_the_pages_exist(runbook: str):
    assert (ROOT / "docs" / "runbooks" / f"{runbook}.md").is_file()


def test_words_are_found_whole_and_where_they_stand():
    assert dict(words_in("NAME  FREE  USED\nfix     raise it")) == {
        "FREE, LEFT": HEADS["FREE, LEFT"],
        "fix, fix 1, fix 2": LABELS["fix, fix 1, fix 2"],
    } | {"fix": WORDS["fix"]}
    assert not dict(words_in("prefixes  poolside"))


def first_start() -> Kres:
    """The app as whoever has just started it sees it."""
    app = demo(file=ML)
    app.session.greets = True
    return app


def test_the_first_screen_says_the_first_steps_once():
    for size in ((80, 24), (140, 40), (200, 50)):
        shown = drive(first_start(), size=size)
        assert "first steps" in shown and "ctrl-y  copies the command of a screen; nothing is written to the" in shown
        assert "deploy/checkout" in shown and "fix  " in shown
        back = drive(first_start(), [":", *typed("pods"), "enter", "escape"], size=size)
        assert "overview" in back and "first steps" not in back
    assert "first steps" not in drive(first_start(), size=(50, 15))
