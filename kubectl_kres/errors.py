"""Every error raised on purpose.

KresError                    message, hint; ``exit_code`` is what ``cli/output/exit_codes.py`` ends with
  UsageError                 a flag, an argument or an input file is wrong          (2)
    QuantityError            a text is no quantity; carries the text
    InputError               a file is wrong; carries file, line, column
      InputErrors            several faults of one input; carries each
    SnapshotError            a snapshot is cut off or no snapshot
      NewerSnapshot          it was written by a later version
  ClusterError               the cluster or the object asked for could not be read  (3)
    ConfigError              the kubeconfig is unusable
    Unreachable              no connection, or TLS failed
    TimedOut                 no answer within the time allowed
    StatusError              the server answered with a Status: code, reason, message
      Unauthenticated        401
      Forbidden              403
      NotFound               404 with a Status
        NoSuchPath           404 in the one sentence that any web server may say
      Expired                410

Errors carry data; ``cli/output/exit_codes.py`` words them.  A kind that may not be read is no error below ``cli/``: it
is coverage (see ``store/store.py``), and a report says what it could not see.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import IntEnum


class Exit(IntEnum):
    """How a run ends, for scripts."""

    #: It answered. For ``diff``: nothing differs.
    ANSWERED = 0
    #: It answered, and the answer is no: ``diff`` differs, ``--exit-code`` was asked, ``--until`` was not reached.
    NEGATIVE = 1
    #: A flag, an argument or an input file is wrong.
    USAGE = 2
    #: The cluster or the object could not be read, or the output not be written.
    UNREAD = 3
    #: It answered without something that the answer needs; ``--allow-partial`` takes that for an answer.
    PARTIAL = 4
    #: A bug of kubectl-kres.
    BUG = 70
    #: Stopped by Ctrl-C.
    INTERRUPTED = 130


class KresError(Exception):
    """An error with one clear line for the user; ``hint`` says what to do next, or is empty.

    ``access``: the flags of the command line that choose server and user, which a command that is proposed needs, too.
    """

    exit_code = Exit.NEGATIVE
    access = ""

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class UsageError(KresError):
    """A flag, an argument or an input file is wrong."""

    exit_code = Exit.USAGE


class QuantityError(UsageError):
    """``text`` is not a quantity; ``message`` is the API server's own sentence."""

    def __init__(self, message: str, text: str = "") -> None:
        super().__init__(message)
        self.text = text


class InputError(UsageError):
    """A manifest or another input file is wrong at ``line``, ``column`` (1-based; 0: unknown).

    ``locate`` finds both only when they are shown: it may have to read the whole file again.
    """

    def __init__(
        self,
        message: str,
        *,
        file: str,
        line: int = 0,
        column: int = 0,
        hint: str = "",
        locate: Callable[[], tuple[int, int]] | None = None,
    ) -> None:
        super().__init__(message, hint=hint)
        self.file, self.text = file, message
        self._locate, self._position = locate, (line, column)

    @property
    def line(self) -> int:
        return self._find_position()[0]

    @property
    def column(self) -> int:
        return self._find_position()[1]

    @property
    def message(self) -> str:
        """The file and the place before what is wrong."""
        position = ":".join([self.file, *(str(number) for number in self._find_position() if number)])
        return f"{position}: {self.text}"

    @message.setter
    def message(self, text: str) -> None:
        self.text = text

    def __str__(self) -> str:
        return self.message

    def _find_position(self) -> tuple[int, int]:
        if self._locate is not None:
            self._position, self._locate = self._locate(), None
        return self._position


class InputErrors(InputError):
    """Several faults of one input, in the order found; ``message`` has a line for each, the position is the first's.

    more: how many there are beside those.
    """

    def __init__(self, errors: Sequence[InputError], more: int = 0) -> None:
        first = errors[0]
        super().__init__("", file=first.file, hint=first.hint, locate=lambda: (first.line, first.column))
        self.errors = tuple(errors)
        self.more = more

    @property
    def message(self) -> str:
        return "\n".join(error.message for error in self.errors)

    @message.setter
    def message(self, text: str) -> None:
        """Each error has its own."""


class SnapshotError(UsageError):
    """A snapshot cannot be read, or not be read whole."""


class NewerSnapshot(SnapshotError):
    """A snapshot was written by a later version of this program."""


class ClusterError(KresError):
    """The cluster, or the object asked for, could not be read."""

    exit_code = Exit.UNREAD


class ConfigError(ClusterError):
    """The kubeconfig is unusable, or asks for what this program does not do."""


class Unreachable(ClusterError):
    """No connection to the server; ``refused`` if it turned the connection down."""

    def __init__(self, message: str, *, refused: bool = False, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.refused = refused


class TimedOut(ClusterError):
    """No answer within the time allowed."""


class StatusError(ClusterError):
    """The server's answer was a Status: ``code``, ``reason`` and the server's ``message``.

    ``retry_after``: the seconds that the server asks to wait, 0 if it does not say.
    """

    def __init__(self, message: str, *, code: int, reason: str = "", hint: str = "", retry_after: float = 0.0) -> None:
        super().__init__(message, hint=hint)
        self.code, self.reason, self.retry_after = code, reason, retry_after


class Unauthenticated(StatusError):
    """401."""


class Forbidden(StatusError):
    """403; the server's sentence names verb, resource and namespace."""


class NotFound(StatusError):
    """404, said by the API server itself: the object, or the whole resource type, does not exist."""


class NoSuchPath(NotFound):
    """404 as plain text. API servers say it of groups they do not serve, and so does many a gateway of every path."""


class Expired(StatusError):
    """410: a continue token or resource version is too old."""


def on_one_line(argument: str) -> str:
    """Return an argument as a message quotes it: what a terminal would obey is written out."""
    return "".join(char if char.isprintable() else repr(char)[1:-1] for char in argument)
