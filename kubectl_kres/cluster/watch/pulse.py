"""Whether the server still answers while all watches are silent, and when it answers again."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from threading import Event, Thread
from typing import TYPE_CHECKING

from kubectl_kres.cluster.connection.api_connection import Connection
from kubectl_kres.cluster.watch.clock import Clock
from kubectl_kres.errors import KresError

if TYPE_CHECKING:
    from kubectl_kres.cluster.watch.need_reader import Reader

#: Seconds of silence after which the server is asked, and seconds that it may take to answer.
SILENT, PATIENCE = 10.0, 5.0
#: Seconds between two looks at the watches.
LOOK = 2.0


class Pulse:
    """One thread beside the readers of a feed. Watches of a quiet cluster are silent for about a minute: only an answer
    tells them from those of a dead line, and only a question finds out that the server is back.
    """

    def __init__(self, connection: Connection, readers: Callable[[], Iterable[Reader]], clock: Clock) -> None:
        self._connection, self._readers, self._clock = connection, readers, clock
        self._over = Event()
        self._started = False
        #: When the server last answered; a moment of the clock, 0: it was not asked yet.
        self.heard = 0.0

    def start(self) -> None:
        """Begin, once."""
        if not self._started:
            self._started = True
            Thread(target=self._run, name="pulse", daemon=True).start()

    def stop(self) -> None:
        """End soon."""
        self._over.set()

    def _run(self) -> None:
        while not self._clock.wait(self._over, LOOK):
            readers = tuple(self._readers())
            watching = [reader for reader in readers if reader.state.phase == "watching"]
            lost = [reader for reader in readers if reader.lost]
            silent = bool(watching) and self._silent(watching)
            if not (silent or lost):
                continue
            if self._answers():
                self.heard = self._clock.now()
                for reader in lost:
                    reader.wake()
            elif silent and self._silent(watching):
                for reader in watching:
                    reader.hang_up()

    def _silent(self, watching: Iterable[Reader]) -> bool:
        """Whether nothing came for a while, by whichever way."""
        heard = max(self.heard, *(reader.state.heard for reader in watching))
        return self._clock.now() - heard >= SILENT

    def _answers(self) -> bool:
        try:
            self._connection.ping(PATIENCE)
        except KresError:
            return False
        return True
