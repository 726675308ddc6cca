"""A line of the first screen."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.render.text.line import Tone
from kubectl_kres.reports.overview import Problem
from kubectl_kres.tui.location import Location
from kubectl_kres.tui.table.row_filter import Faces


class Notice(Struct, frozen=True):
    """``what``: an area, or an object; ``scope``: how many, or in which namespace.

    ``location``: where Enter goes; None: nowhere. ``indented``: it continues the line above. ``command``: the words of
    the command that says more. ``pods``, ``age``: how many pods there are of how many wanted, and since when.
    ``briefer``: the text in fewer and fewer words.
    """

    mark: tuple[str, Tone]
    what: str
    scope: str
    text: str
    location: Location | None
    bar: str = ""
    indented: bool = False
    command: str = ""
    pods: str = ""
    age: str = ""
    problem: Problem | None = None
    briefer: tuple[str, ...] = ()

    @property
    def ref(self) -> ObjectRef | None:
        """Return the object of the line; None for an area."""
        return self.location.ref if self.location is not None else None


def ref_of(row: Any) -> ObjectRef | None:
    """Return the object of a line; None for an area, or where there is no line."""
    return row.ref if row is not None else None


FACES = Faces(lambda row: f"{row.what} {row.scope} {row.text}", lambda _: {}, lambda row: bool(row.mark[0]))
