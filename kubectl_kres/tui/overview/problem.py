"""What the first screen says: a line for an area, and a line for each thing that is wrong in it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from msgspec import Struct

from kubectl_kres.render.text.line import Tone
from kubectl_kres.tui.location import Location
from kubectl_kres.tui.session import Session

#: Findings of an area that are listed; its list has all of them.
MOST = 20


class Notice(Struct, frozen=True):
    """A line: an area with its counts, or one thing that is wrong. ``place``: where Enter goes; None: a heading."""

    sign: tuple[str, Tone]
    what: str
    where: str
    said: str
    place: Location | None


class Area(Struct, frozen=True):
    """An area's own line without its number, and what is wrong in it."""

    sign: tuple[str, Tone]
    count: int
    said: str
    notices: tuple[Notice, ...] = ()


class Making(Struct, frozen=True):
    """How an area is made. ``kinds``: what from, the counted one first. ``absent``: that the server has none of it.

    ``everywhere``: its list is not of one namespace.
    """

    kinds: tuple[str, ...]
    make: Callable[[Session], Area]
    absent: str = ""
    everywhere: bool = False


def under(heading: str, column: str, notices: Iterable[Notice]) -> Iterator[Notice]:
    """The notices below their heading, which also heads the second column; nothing if there are none."""
    held = list(notices)
    if held:
        yield Notice(("", ""), heading, column, "", None)
    yield from held


def worst(notices: Sequence[Notice]) -> tuple[str, Tone]:
    """The mark of an area in which these were noticed."""
    signs = {one.sign for one in notices}
    return ("x", "bad") if ("x", "bad") in signs else ("!", "warn") if signs else ("", "")
