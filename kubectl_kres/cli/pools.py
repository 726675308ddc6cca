"""``kubectl kres pools``: what Capsule's resource pools share out, among whom, who waits, and what is odd."""

from __future__ import annotations

from functools import partial
from typing import Any

from msgspec import structs

from kubectl_kres.cli.answers import Turn, answer
from kubectl_kres.cli.command import Command
from kubectl_kres.cli.exit import say
from kubectl_kres.cli.options import ALLOW_PARTIAL, ASCII, EXIT_CODE, INPUT, OUTPUT, SERVER, WATCHING, Options
from kubectl_kres.cli.output import Items, colored, put, speaks_unicode, width
from kubectl_kres.cli.pooled import pools
from kubectl_kres.cli.tally import Tally
from kubectl_kres.cli.watching import repeated
from kubectl_kres.errors import UsageError
from kubectl_kres.render import pools as render
from kubectl_kres.reports.capsule.pool import PoolReport
from kubectl_kres.reports.capsule.pool_glimpse import pool_glimpse
from kubectl_kres.reports.capsule.pools import pool_report
from kubectl_kres.reports.capsule.predicted import predicted
from kubectl_kres.reports.capsule.scene import Scene
from kubectl_kres.reports.capsule.unseen import unseen_of_pool
from kubectl_kres.store.store import Origin


@repeated
def run(options: Options, words: tuple[str, ...]) -> int:
    """All pools, or some in full."""
    with Items(options.output) as items:
        page = Page(options, items, whole=bool(words))
        return answer(options, words, page.show, partial(page.end, "Pools"), choose=pools)


class Page:
    """Shows pools in the format asked for. ``whole``: with namespaces, holders and queue."""

    def __init__(self, options: Options, items: Items, *, whole: bool) -> None:
        self._options, self._items, self._whole = options, items, whole
        self._width = width(wide=options.output == "wide")
        self._color = colored(options.color)
        self._plain = options.ascii or not speaks_unicode()
        self._shown = 0

    def show(self, turn: Turn, tally: Tally) -> None:
        """The pools of a turn, which is one for all of them."""
        found = predicted(turn.store)
        scene = Scene(found.store)
        for text in found.supposed:
            say(f"assumed: {text}")
        for subject in turn.found.subjects:
            if subject.ref in found.refused:
                tally.missed(UsageError(f"{subject.ref}: {found.refused[subject.ref]}"))
                continue
            report = self._report(scene, subject.ref.name)
            report = structs.replace(report, predicted=subject.ref in found.made)
            if not self._items.take(subject, report):
                self._put(report)
            self._shown += 1
            bad = report.exhausted or bool(report.queue) or report.ready is False
            tally.answered(report.unseen, complete=report.complete, negative=bad and self._options.exit_code)

    def _report(self, scene: Scene, name: str) -> PoolReport:
        """Of a pool that may not be read what the user's own namespaces tell of it."""
        pool: Any = scene.store.get("ResourcePool", name)
        if pool is None:
            return pool_glimpse(scene, name)
        return structs.replace(pool_report(scene, pool), unseen=unseen_of_pool(scene, pool))

    def _put(self, report: PoolReport) -> None:
        put([""] * bool(self._shown))
        whole = self._whole or self._options.output == "wide"
        put(render.lines(report, whole=whole, ascii_only=self._plain, color=self._color, width=self._width))

    def end(self, kind: str, origin: Origin, tally: Tally) -> None:
        """The document."""
        tally.document(self._items, kind, origin)


command = Command(
    "pools",
    run,
    text="""
        Show Capsule's resource pools: what they share out, what claims hold and pods use of it, what is left, and
        what is odd about them.

        Of one pool also its namespaces and which selector chose each, who holds what, and the queue.
        """,
    examples="""
        # All pools
        kubectl kres pools

        # Who holds what of this pool, and who waits?
        kubectl kres pools green

        # For scripts: is any pool exhausted?
        kubectl kres pools --exit-code -o json

        # What would become of these pools and claims, without a cluster?
        kubectl kres pools -f pools.yaml --offline

        # On the bundled example, without a cluster
        kubectl kres pools --demo
        """,
    usage="[NAME...]",
    flags=(ASCII, *INPUT, OUTPUT, EXIT_CODE, ALLOW_PARTIAL, *WATCHING, *SERVER),
    formats=("text", "wide", "json", "yaml", "name"),
    completes="resourcepools",
)
