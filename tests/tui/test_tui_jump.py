"""Letters on what can be gone to: they stand where it stands, and the next key goes there."""

from __future__ import annotations

from typing import Any

import pytest
from tui.driving import LARGE, ML, demo, drive

from kubectl_kres.tui.screens.jump import LETTERS, JumpScreen, targets
from kubectl_kres.tui.table.row_table import Table
from kubectl_kres.tui.widgets.lines import Lines

pytestmark = pytest.mark.one_in(3)


def test_every_row_that_is_seen_has_a_letter_of_its_own_where_it_stands():
    def check(app: Any) -> None:
        places = list(targets(app.pane))
        table = app.pane.table
        rows = [target for target in places if table.region.contains(target.x, target.y)]
        assert [target.y for target in rows] == list(range(table.region.y + 1, table.region.bottom))
        assert len(rows) == len(table.seen_keys())

    drive(demo("pods", file=ML), ["down"], check)
    assert len(set(LETTERS)) == len(LETTERS) == 52


@pytest.mark.parametrize("steps", [0, 3, 9])
def test_a_letter_goes_to_its_row(steps: int):
    """Whatever stands above it: on this screen the text of the pane has the first letter."""
    found: list[Any] = []

    def note(app: Any) -> None:
        found.append((app.pane.table.line, app.screen is app.screen_stack[0], app.pane.table.has_focus))

    drive(demo("pods", file=ML), ["ctrl+o", LETTERS[1 + steps]], note)
    assert found == [(steps, True, True)]


def test_a_letter_goes_to_a_text_and_to_a_tab():
    def on_text(app: Any) -> None:
        assert isinstance(app.focused, Lines)

    drive(demo("pods", file=ML), ["ctrl+o", LETTERS[0]], on_text)
    assert "[text]" in drive(demo("claim sweep", file=ML), ["ctrl+o", LETTERS[1]], size=LARGE)


def test_the_screen_stays_in_sight_below_the_letters():
    letters: list[str] = []

    def look(app: Any) -> None:
        assert isinstance(app.screen, JumpScreen)
        letters.extend(str(label.render()) for label in app.screen.children)
        assert app.screen.styles.background.a == 0

    drive(demo("claim sweep", file=ML), ["ctrl+o"], look)
    assert letters[:4] == list("asdf")


@pytest.mark.one_in(6)
@pytest.mark.parametrize("key", ["escape", "enter", "ctrl+o", "1", "colon", "slash"])
def test_any_other_key_goes_back(key: str):
    def check(app: Any) -> None:
        assert app.screen is app.screen_stack[0]
        assert isinstance(app.focused, Table)

    shown = drive(demo("quotas", file=ML), ["ctrl+o", key], check)
    assert "overview > quotas" in shown
