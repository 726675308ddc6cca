"""A live cluster as a source that stays as the cluster is."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from kubectl_kres.cli.args.options import Options
from kubectl_kres.cli.args.selector import fields_match, labels_match
from kubectl_kres.cli.source.live import LiveSource
from kubectl_kres.cli.source.object_source import Input
from kubectl_kres.cluster.connection.api_connection import Connection
from kubectl_kres.cluster.kubeconfig.target import Target
from kubectl_kres.cluster.transport.backoff import LONGEST_ASKED
from kubectl_kres.cluster.watch.feed import Feed
from kubectl_kres.cluster.watch.feed_state import FeedState
from kubectl_kres.model.meta import ObjectRef
from kubectl_kres.reports.common.subject import Subject
from kubectl_kres.reports.pod.manifest_source import missing
from kubectl_kres.store.changes import Changes
from kubectl_kres.store.coverage import Need

#: Seconds that a server asks to wait which are told at once.
FAR = 10.0
#: States that a user should know of, each with the failures in a row from which on it is no mere hiccup.
_TROUBLE = {"retrying": 2, "failed": 1, "polling": 0}


class Followed(LiveSource):
    """What an answer asked for once is read at once, and watched from then on."""

    def __init__(self, options: Options, target: Target, connection: Connection, given: Input) -> None:
        super().__init__(options, target, connection, given)
        self._feed = Feed(connection, kinds=self._kinds, chunk_size=options.chunk_size)
        self._asked: dict[Need, None] = {}
        self._watched = 0
        self._trouble: dict[Need, tuple[FeedState, str]] = {}

    def changes(self) -> Changes:
        """What changed since it was asked last, of all that answers asked for so far."""
        if len(self._asked) > self._watched:
            self._watched = len(self._asked)
            self._feed.want(self._asked)
        changes = self._feed.drain(self.store)
        if changes:
            self._given.lay_over(self.store)
        return changes

    def trouble(self) -> tuple[str, ...]:
        """What is not up to date, and why, a line each; it is until it is watched again."""
        for need, state in self._feed.states().items():
            if state.tries >= _TROUBLE.get(state.phase, 1 << 30) or (state.phase in _TROUBLE and state.asked >= FAR):
                self._trouble[need] = self._told(need, state)
            elif state.current:
                self._trouble.pop(need, None)
        return tuple(dict.fromkeys(text for _, text in self._trouble.values()))

    def _told(self, need: Need, state: FeedState) -> tuple[FeedState, str]:
        """The line about a need, the same until something else is wrong with it, or nothing."""
        same = FeedState(state.phase, why=state.why, asked=state.asked)
        before = self._trouble.get(need)
        if before is not None and before[0] == same:
            return before
        since = f" since {self._moment(state.heard)}" if state.heard else ""
        return same, f"{self._kinds[need.kind].qualified} {_how(state, since)}: {state.why}"

    def _moment(self, heard: float) -> str:
        """A moment of the feed's clock as a time of day."""
        return time.strftime("%H:%M:%S", time.localtime(time.time() - (self._feed.clock.now() - heard)))

    def close(self) -> None:
        """Stop watching."""
        self._feed.close()

    def fill(self, needs: Iterable[Need]) -> None:
        wanted = tuple(needs)
        self._asked |= dict.fromkeys(wanted)
        super().fill(wanted)

    def fill_along(self, needs: Iterable[Need]) -> None:
        """All at once, since it stays in the store."""
        self.fill(Need(need.kind, required=need.required) for need in needs)

    def namespaces_of(self, needs: Sequence[Need]) -> Iterator[str]:
        """All at once, for the same reason."""
        self.fill(needs)
        yield ""

    def pages(self, need: Need) -> Iterator[list[Any]]:
        """The whole list at once, since it stays in the store."""
        self.fill([need])
        covered = self.store.covered(need)
        if covered.state in {"denied", "absent"}:
            raise missing(self.store, Subject(ObjectRef(need.kind, "", need.namespace), self._kinds[need.kind]))
        if not covered.known:
            raise covered.error()
        labels, fields = labels_match(need.label_selector), fields_match(need.field_selector, need.kind)
        yield [
            item
            for item in self.store.all(need.kind, need.namespace or None)
            if labels(item.metadata.labels or {}) and fields(item)
        ]


def _how(state: FeedState, since: str) -> str:
    """How objects that are not up to date are read. ``since``: the last moment at which they were, if it is known."""
    if state.phase == "polling":
        return "cannot be watched and are read again every half minute"
    if state.asked < FAR:
        return f"may be out of date{since}; trying again"
    wait = min(state.asked, LONGEST_ASKED)
    return (
        f"may be out of date{since}; the server asks to wait {state.asked:.0f} seconds, the next try is in {wait:.0f}"
    )
