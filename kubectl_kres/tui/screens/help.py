"""Keys, signs and words, for the screen that help was asked on and for all others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from textual.app import ComposeResult

from kubectl_kres.render.line import Line, Tone, padded, size, toned, wrapped
from kubectl_kres.tui.catalogue import LISTINGS
from kubectl_kres.tui.keys import CHANGING, MOVING, groups, hints
from kubectl_kres.tui.place import Place
from kubectl_kres.tui.screens.pane import Pane
from kubectl_kres.tui.session import Session
from kubectl_kres.tui.widgets.lines import Lines

_SIGNS: Sequence[tuple[str, Tone, str]] = (
    ("x", "bad", "a fault: refused, full, impossible"),
    ("!", "warn", "near its limit, or not what admission would set today, or left to chance"),
    ("?", "warn", "not known: not readable, or no status yet"),
)


class HelpPane(Pane):
    """``for_keys``: those of the screen below."""

    DEFAULT_CSS = """
    HelpPane > Lines { height: 1fr; }
    """

    def __init__(self, session: Session, place: Place, about: str, for_keys: Sequence[str]) -> None:
        super().__init__(session, place)
        self._about, self._keys = about, tuple(for_keys)
        self.page = Lines(self._lines)

    def compose(self) -> ComposeResult:
        yield self.page

    def on_mount(self) -> None:
        self.page.put(self._lines)
        self.page.focus()

    def _lines(self, width: int) -> Iterator[Line]:
        if self._about:
            yield from toned("strong", wrapped(self._about, width))
        if self._keys:
            yield [("quiet", "  ".join(f"{shown} {word}" for shown, word in hints(self._keys)))]
            yield [("", "")]
        yield [("strong", "signs")]
        for sign, tone, text in _SIGNS:
            first, *rest = wrapped(text, width, first=f"  {sign}   ", rest=" " * 6)
            yield [(tone, first[:6]), ("", first[6:])]
            yield from toned("", rest)
        yield from _listed("moving", MOVING, width)
        for group, keys in groups().items():
            yield from _listed(_TITLES[group], [(key.shown, key.text) for key in keys], width)
        yield [("", "")]
        refused = ", ".join(f"{shown} {what}" for shown, what in CHANGING.values())
        text = f"In k9s {refused}. Here nothing changes a cluster: these keys only say so."
        yield from toned("quiet", wrapped(text, width))
        yield from _listed("screens for :", [(" ".join(one.names), one.about) for one in LISTINGS.values()], width)

    def hints(self) -> Sequence[str]:
        return ("up", "kinds", "command", "palette")

    def crumb(self) -> str:
        return "help"

    def command(self) -> str:
        return "kubectl kres tui --help"


_TITLES = {
    "everywhere": "everywhere",
    "lists": "in lists",
    "objects": "on a pod or workload",
    "quota": "on a quota",
}


def _listed(title: str, rows: Sequence[tuple[str, str]], width: int) -> Iterator[Line]:
    yield [("", "")]
    yield [("strong", title)]
    column = min(28, max(size(left) for left, _ in rows)) + 4
    for left, right in rows:
        first = f"  {padded(left, column - 2)}" if size(left) <= column - 2 else f"  {left}"
        if size(left) > column - 2:
            yield [("", first)]
            first = " " * column
        yield from toned("", wrapped(right, width, first=first, rest=" " * column))
