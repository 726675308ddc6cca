"""Keys, signs and words, for the screen that help was asked on and for all others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest

from textual.app import ComposeResult

from kubectl_kres import page_address
from kubectl_kres.render.text.line import Line, labelled_lines, pad_text, size, tone_lines, wrap_text
from kubectl_kres.tui.glossary import words_in
from kubectl_kres.tui.keys import BY_ID, CHANGING, ELSEWHERE, MOVING, SORTS, groups
from kubectl_kres.tui.lists.list_registry import LISTINGS
from kubectl_kres.tui.location import Location
from kubectl_kres.tui.screens.pane import PICKS, FrameChanged, Pane
from kubectl_kres.tui.session import Session
from kubectl_kres.tui.widgets.lines import Lines

_SIGNS: Sequence[tuple[str, str]] = (
    ("x", "a fault: refused, full, impossible"),
    ("!", "near its limit, differs from what admission would set today, or depends on LimitRange order"),
    ("?", "not known: not readable, or no status yet"),
)
#: Width from which two columns stand side by side.
_TWO = 100


class HelpPane(Pane):
    """``about``: what the screen shows that help was asked on; ``below``: that screen, None where it is not known."""

    def __init__(self, session: Session, location: Location, about: str, below: Pane | None) -> None:
        super().__init__(session, location)
        self._topic = about
        self._keys = tuple(below.hints()) if below is not None else ()
        self._groups = tuple(below.KEY_GROUPS if below is not None else groups())
        self._words = tuple(words_in(below.shown_text())) if below is not None else ()
        self._page = page_address(f"docs/runbooks/{below.runbook}.md") if below is not None and below.runbook else ""
        self._filter = ""
        self.page = Lines(self._lines)

    def compose(self) -> ComposeResult:
        yield self.page

    def on_mount(self) -> None:
        self.page.put(self._lines)
        self.page.focus()

    def _lines(self, width: int) -> Iterator[Line]:
        if self._topic and not self._filter:
            yield from tone_lines("strong", wrap_text(self._topic, width))
        if self._page and not self._filter:
            yield from labelled_lines("page", self._page, width, tone="quiet")
        if width < _TWO or self._filter:
            for section in self._sections(width):
                yield from section
            return
        half = (width - 2) // 2
        blocks = [list(section) for section in self._sections(half)]
        left: list[Line] = []
        right: list[Line] = []
        for block in blocks:
            # In reading order: the left column is filled before the right one.
            (left if len(left) < sum(map(len, blocks)) / 2 else right).extend(block)
        for first, second in zip_longest(left, right, fillvalue=()):
            taken = sum(size(text) for _, text in first)
            yield [*first, ("", " " * (half + 2 - taken)), *second]

    def _sections(self, width: int) -> Iterator[Iterator[Line]]:
        """Yield the keys of the screen below first, then those of every screen; with a filter what it lets through."""
        keys_by_group = groups()
        here = [(key.shown, key.text, key.word) for name in self._keys for key in (BY_ID[name],)]
        yield self._section_lines("keys of this screen", here, width)
        yield self._section_lines("signs", _SIGNS, width)
        yield self._section_lines("words on this screen", self._words, width)
        order = {key.id for key in keys_by_group["lists"] if key.id in SORTS or key.id in PICKS}
        for group in (*(group for group in self._groups if group != "everywhere"), "everywhere"):
            keys = [(key.shown, key.text, key.word) for key in keys_by_group[group] if key.id not in order]
            yield self._section_lines(_TITLES[group], keys, width)
        yield self._section_lines("moving", MOVING, width)
        if "lists" in self._groups:
            yield self._section_lines(
                "order of a list",
                [(key.shown, key.text, key.word) for key in keys_by_group["lists"] if key.id in order],
                width,
            )
        yield self._section_lines(
            "screens for :", [(" ".join(listing.names[:2]), listing.about) for listing in LISTINGS.values()], width
        )
        rows = [(shown, f"{what} in k9s: nothing here changes a cluster") for shown, what in CHANGING.values()]
        rows += [(shown, f"{what} in k9s; here {instead or 'nothing'}") for shown, what, instead in ELSEWHERE.values()]
        yield self._section_lines("keys of k9s", rows, width)

    def _section_lines(self, title: str, rows: Sequence[Sequence[str]], width: int) -> Iterator[Line]:
        """Return a section, or what the filter lets through of it. Of a row two texts are shown, all are searched."""
        expected = self._filter.lower()
        matching = [(row[0], row[1]) for row in rows if expected in " ".join(row).lower()]
        return _section(title, matching, width) if matching else iter(())

    @property
    def filters(self) -> bool:
        return True

    @property
    def filter_summary(self) -> str:
        return self._filter

    def filter(self, text: str) -> None:
        self._filter = text
        self.page.put(self._lines)
        self.post_message(FrameChanged())

    def act(self, action: str) -> bool:
        if action == "up" and self._filter:
            self.filter("")
            return True
        return super().act(action)

    def hints(self) -> Sequence[str]:
        return ("filter", "up", "kinds", "command", "palette")

    def breadcrumb(self) -> str:
        return "help"

    def command(self) -> str:
        return "kubectl kres tui --help"


_TITLES = {
    "everywhere": "everywhere",
    "lists": "in lists",
    "objects": "on a pod or workload",
    "quota": "on a quota",
}


def _section(title: str, rows: Sequence[tuple[str, str]], width: int) -> Iterator[Line]:
    yield [("", "")]
    yield [("strong", title)]
    column = min(28, max(size(left) for left, _ in rows)) + 4
    for left, right in rows:
        first = f"  {pad_text(left, column - 2)}" if size(left) <= column - 2 else f"  {left}"
        if size(left) > column - 2:
            yield [("", first)]
            first = " " * column
        yield from tone_lines("", wrap_text(right, width, first=first, rest=" " * column))
