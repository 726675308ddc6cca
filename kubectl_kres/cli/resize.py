"""``kubectl kres explain --resize``: what a resize of a running pod would do."""

from __future__ import annotations

from typing import Any

from kubectl_kres.cli.answers import Turn, answer
from kubectl_kres.cli.options import Options
from kubectl_kres.cli.output import Items, colored, put, width
from kubectl_kres.cli.patch import read_patch
from kubectl_kres.cli.tally import Tally
from kubectl_kres.errors import KresError, UsageError
from kubectl_kres.render import resize as render
from kubectl_kres.reports.node import needs_with_node
from kubectl_kres.reports.resize import resize
from kubectl_kres.reports.verdict import is_negative
from kubectl_kres.store.store import Origin


def run(options: Options, words: tuple[str, ...]) -> int:
    """The same patch for every pod that is named."""
    for flag, given in (("-c", options.container), ("--for", options.question), ("--steps", options.steps)):
        if given:
            raise UsageError(f"{flag} does not go with --resize")
    patch = read_patch(options.resize)
    with Items(options.output) as items:
        page = Page(options, items, patch)
        return answer(options, words, page.show, page.end, needs_with_node, needed=True)


class Page:
    """Shows the answers as they are made, in the format asked for."""

    def __init__(self, options: Options, items: Items, patch: Any) -> None:
        self._options, self._items, self._patch = options, items, patch
        self._width = width(wide=options.output == "wide")
        self._color = colored(options.color)

    def show(self, turn: Turn, tally: Tally) -> None:
        """A bad patch ends the run, since it is bad for every pod."""
        for subject in turn.found.subjects:
            try:
                found = resize(turn.store, subject, self._patch, turn.ask)
            except UsageError:
                raise
            except KresError as error:
                tally.missed(error)
                continue
            if not self._items.take(subject, found):
                put(render.lines(found, color=self._color, width=self._width))
                put([""] * turn.many)
            negative = self._options.exit_code and is_negative(found.verdict)
            tally.answered(found.unseen, complete=found.complete, negative=negative)

    def end(self, origin: Origin, tally: Tally) -> None:
        """The document."""
        tally.document(self._items, "Resize", origin)
