"""Keys, signs and words, for the screen that help was asked on and for all others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest

from textual.app import ComposeResult

from kubectl_kres.render.text.line import Line, Tone, pad_text, size, tone_lines, wrap_text
from kubectl_kres.tui.keys import CHANGING, ELSEWHERE, MOVING, groups, hints
from kubectl_kres.tui.lists.list_registry import LISTINGS
from kubectl_kres.tui.location import Location
from kubectl_kres.tui.screens.pane import Pane
from kubectl_kres.tui.session import Session
from kubectl_kres.tui.widgets.lines import Lines

_SIGNS: Sequence[tuple[str, Tone, str]] = (
    ("x", "bad", "a fault: refused, full, impossible"),
    ("!", "warn", "near its limit, differs from what admission would set today, or depends on LimitRange order"),
    ("?", "warn", "not known: not readable, or no status yet"),
)


#: Width from which two columns stand side by side.
_TWO = 100


class HelpPane(Pane):
    """``about``: what the screen below shows. ``for_keys``: those of its footer; ``key_groups``: all that it has."""

    DEFAULT_CSS = """
    HelpPane > Lines { height: 1fr; }
    """

    def __init__(
        self, session: Session, place: Location, about: str, for_keys: Sequence[str], key_groups: Sequence[str]
    ) -> None:
        super().__init__(session, place)
        self._about, self._keys, self._groups = about, tuple(for_keys), tuple(key_groups)
        self.page = Lines(self._lines)

    def compose(self) -> ComposeResult:
        yield self.page

    def on_mount(self) -> None:
        self.page.put(self._lines)
        self.page.focus()

    def _lines(self, width: int) -> Iterator[Line]:
        if self._about:
            yield from tone_lines("strong", wrap_text(self._about, width))
        if self._keys:
            yield [("quiet", "  ".join(f"{shown} {word}" for shown, word in hints(self._keys)))]
        if width < _TWO:
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
        """Yield the keys of the screen below first, then those of every screen."""
        known = groups()
        for group in (*(group for group in self._groups if group != "everywhere"), "everywhere"):
            yield _section_lines(_TITLES[group], [(key.shown, key.text) for key in known[group]], width)
        yield _section_lines("moving", MOVING, width)
        yield _sign_lines(width)
        yield _section_lines(
            "screens for :", [(" ".join(listing.names[:2]), listing.about) for listing in LISTINGS.values()], width
        )
        rows = [(shown, f"{what} in k9s: nothing here changes a cluster") for shown, what in CHANGING.values()]
        rows += [(shown, f"{what} in k9s; here {instead or 'nothing'}") for shown, what, instead in ELSEWHERE.values()]
        yield _section_lines("keys of k9s", rows, width)

    def hints(self) -> Sequence[str]:
        return ("up", "kinds", "command", "palette")

    def breadcrumb(self) -> str:
        return "help"

    def command(self) -> str:
        return "kubectl kres tui --help"


def _sign_lines(width: int) -> Iterator[Line]:
    yield [("", "")]
    yield [("strong", "signs")]
    for sign, tone, text in _SIGNS:
        first, *rest = wrap_text(text, width, first=f"  {sign}   ", rest=" " * 6)
        yield [(tone, first[:6]), ("", first[6:])]
        yield from tone_lines("", rest)


_TITLES = {
    "everywhere": "everywhere",
    "lists": "in lists",
    "objects": "on a pod or workload",
    "quota": "on a quota",
}


def _section_lines(title: str, rows: Sequence[tuple[str, str]], width: int) -> Iterator[Line]:
    yield [("", "")]
    yield [("strong", title)]
    column = min(28, max(size(left) for left, _ in rows)) + 4
    for left, right in rows:
        first = f"  {pad_text(left, column - 2)}" if size(left) <= column - 2 else f"  {left}"
        if size(left) > column - 2:
            yield [("", first)]
            first = " " * column
        yield from tone_lines("", wrap_text(right, width, first=first, rest=" " * column))
