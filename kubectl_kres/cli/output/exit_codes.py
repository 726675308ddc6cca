"""How the program ends: errors as lines on stderr in kubectl's words and as exit codes, and what a signal does before
that.
"""

from __future__ import annotations

import errno
import io
import os
import platform
import re
import signal
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from types import FrameType
from typing import Any, BinaryIO

import click

from kubectl_kres import ISSUES, __version__, errors

#: What a time limit of a CI sends, and what goes out when a terminal is closed.
ENDING = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))


class SignalReceived(BaseException):
    """A signal came; ``number`` is its own."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


#: Seconds after which the signal is raised once more: what is raised while a module is loaded may be lost there.
AGAIN = 5.0


@contextmanager
def handle_signals() -> Iterator[None]:
    """Within, the signals raise Ended once. Who started us ignoring one, as nohup does, is obeyed."""
    before = {}
    for number in ENDING:
        if signal.getsignal(number) is signal.SIG_DFL:
            try:
                before[number] = signal.signal(number, _raise_ended)
            except ValueError:  # not the main thread: the program is part of another one
                break
    try:
        yield
    finally:
        _set_signal_timer(0)
        for number, handler in before.items():
            signal.signal(number, handler)


def _raise_ended(number: int, _frame: FrameType | None) -> None:
    # The next one ends the program at once.
    signal.signal(number, signal.SIG_DFL)
    _set_signal_timer(number)
    raise SignalReceived(number)


def _set_signal_timer(number: int) -> None:
    """Raise Ended again and again until it has come through; 0: it has. Windows has no such timer."""
    if not hasattr(signal, "setitimer"):
        return
    if number:
        signal.signal(signal.SIGALRM, partial(_raise_again, number))
        signal.setitimer(signal.ITIMER_REAL, AGAIN, AGAIN)
    elif isinstance(signal.getsignal(signal.SIGALRM), partial):
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, signal.SIG_DFL)


def _raise_again(number: int, _alarm: int, _frame: FrameType | None) -> None:
    raise SignalReceived(number)


def end_by_signal(number: int) -> None:
    """End by the signal, as whoever sent it expects."""
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)


#: Of several objects' codes the first of these that occurs is the run's.
_ORDER = (
    errors.Exit.BUG,
    errors.Exit.INTERRUPTED,
    errors.Exit.USAGE,
    errors.Exit.UNREAD,
    errors.Exit.PARTIAL,
    errors.Exit.NEGATIVE,
)

#: What a full or broken disk behind a redirected stdout answers.
_FULL = {errno.ENOSPC, errno.EIO, errno.EFBIG, errno.EBADF, getattr(errno, "EDQUOT", errno.ENOSPC)}

#: Sentences that kubectl prints without ``error:`` before them.
_WHOLE = (
    "Unable to connect to the server",
    "The connection to the server",
    "Error in configuration",
    "Error from server",
)

_CANNOT = (
    r'cannot (?P<verb>[a-z]+) resource "(?P<resource>[a-z0-9.-]+)" in API group "(?P<group>[a-z0-9.-]*)"'
    r'(?: in the namespace "(?P<namespace>[a-z0-9-]+)"|(?P<wide> at the cluster scope))?'
)


def worst_code(codes: Iterable[int]) -> int:
    """Return the exit code of a run over several objects."""
    numbers = set(codes)
    return next((code for code in _ORDER if code in numbers), errors.Exit.ANSWERED)


def print_stderr(text: str) -> None:
    """One line on stderr; text of a server or file in it cannot move the cursor."""
    from kubectl_kres.render.text.line import truncate_text  # --help must stay fast

    _write(truncate_text(text))


def _write(text: str, *, keep_newlines: bool = False) -> None:
    if sys.stderr is None:
        return
    from kubectl_kres.render.text.line import sanitize_text

    text = sanitize_text(text, keep_newlines=keep_newlines)
    try:
        sys.stderr.write(f"{text}\n")
    except OSError:
        # It is closed, or what it goes to is full: the exit code still tells.
        _abandon(sys.stderr)


class Closed(io.TextIOBase):
    """Standard output of a program that was started without one: what is written to it is an error."""

    encoding = "utf-8"

    def write(self, _text: str) -> int:
        raise OSError(errno.EBADF, os.strerror(errno.EBADF))

    @property
    def buffer(self) -> BinaryIO:
        """Raises OSError: there is nothing to write to."""
        raise OSError(errno.EBADF, os.strerror(errno.EBADF))


class _BrokenPipeOutput:
    """Standard output whose reader may go: what follows is lost, and the exit code still tells what was asked."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        return int(self._ignore_broken_pipe(lambda: self._stream.write(text)))

    def flush(self) -> None:
        self._ignore_broken_pipe(self._stream.flush)

    def _ignore_broken_pipe(self, deed: Callable[[], Any]) -> Any:
        try:
            return deed()
        except BrokenPipeError:
            _abandon(self._stream)
            return 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def run_guarded(run: Callable[[], int], *, verbose: bool = False, whole: bool = False) -> int:
    """Return what ``run`` returns, or the code of the error that it ended with, which is printed on stderr.

    A closed stdout ends quietly. ``verbose``: with a traceback for every error. ``whole``: the exit code is asked for,
    and needs the whole run even if nobody reads what it prints. What nobody raises on purpose is a bug, printed with
    its traceback.
    """
    stdout = sys.stdout
    if whole:
        sys.stdout = _BrokenPipeOutput(stdout)
    try:
        return _run_to_exit_code(run, verbose=verbose)
    finally:
        sys.stdout = stdout


def _run_to_exit_code(run: Callable[[], int], *, verbose: bool) -> int:
    code: int | None = None
    try:
        code = run()
        sys.stdout.flush()
    except BrokenPipeError:
        _abandon(sys.stdout)
        return errors.Exit.ANSWERED if code is None else code
    except KeyboardInterrupt:
        return errors.Exit.INTERRUPTED
    except click.exceptions.Exit as end:
        return end.exit_code
    except click.UsageError as error:
        _print_usage_hint(error)
        return errors.Exit.USAGE
    except errors.KresError as error:
        print_error(error)
        if verbose:
            _trace(error)
        return error.exit_code
    except MemoryError:
        print_stderr("error: the memory does not suffice: ask about fewer objects, or with a smaller --chunk-size")
        return errors.Exit.UNREAD
    except Exception as error:  # noqa: BLE001, whatever it is, it is a bug
        if isinstance(error, OSError) and error.errno in _FULL:
            print_stderr(f"error: writing the output: {(error.strerror or str(error)).lower()}")
            _abandon(sys.stdout)
            return errors.Exit.UNREAD
        _print_bug(error)
        return errors.Exit.BUG
    return code


def print_error(error: errors.KresError) -> None:
    """The error on stderr, and what to do about it."""
    for line in lines(error, error.access):
        print_stderr(line)


def lines(error: errors.KresError, access: str) -> Iterator[str]:
    """Yield the error as kubectl words it, then what to do. ``access``: the flags that choose server and user."""
    if isinstance(error, errors.InputErrors):
        yield from (f"error: {error.message}" for error in error.errors)
        if error.more > 0:
            yield f"error: and {error.more} more like these"
    elif isinstance(error, errors.Unauthenticated):
        yield f"error: You must be logged in to the server ({error.message})"
    elif isinstance(error, errors.StatusError):
        yield (
            f"Error from server ({error.reason}): {error.message}"
            if error.reason
            else (f"Error from server: {error.message}")
        )
    elif isinstance(error, errors.Unreachable | errors.TimedOut) or error.message.startswith(_WHOLE):
        yield error.message
    else:
        yield f"error: {error.message}"
    if isinstance(error, errors.Forbidden):
        yield f"kres cannot answer without it. {may_i(error.message, access)}".rstrip()
    if error.hint:
        yield from error.hint.split("\n")


def may_i(message: str, access: str) -> str:
    """Return a line with the command that shows whether a refused read is allowed by now; empty if unclear.

    ``message``: the server's own words of a 403. ``access``: the flags that choose server and user.
    Source: apiserver rbac authorizer, responsewriters.Forbidden.
    """
    match = re.search(_CANNOT, message)
    if match is None:
        return ""
    resource = f"{match['resource']}.{match['group']}" if match["group"] else match["resource"]
    namespace_flag = f" -n {match['namespace']}" if match["namespace"] else " -A" if match["wide"] else ""
    return f"Check with: kubectl auth can-i {match['verb']} {resource}{namespace_flag}{f' {access}' if access else ''}"


def _print_usage_hint(error: click.UsageError) -> None:
    # What was typed has no line of its own; the suggestion is ours, in kubectl's lines.
    typed, mark, commands = error.message.partition("\n\nDid you mean this?")
    print_stderr(f"error: {typed}")
    if mark:
        _write(f"{mark}{commands}".removeprefix("\n"), keep_newlines=True)
    if error.ctx is not None:
        print_stderr(f"See '{error.ctx.command_path} --help' for usage.")


def _print_bug(error: Exception) -> None:
    _trace(error)
    system = f"{platform.system()} {platform.machine()}"
    print_stderr(f"kubectl-kres {__version__}, Python {platform.python_version()}, {system}")
    print_stderr(f"error: this is a bug in kubectl-kres. Please report it, with all of the above, on {ISSUES}.")


def _trace(error: Exception) -> None:
    import traceback  # one start in a thousand needs it

    _write("".join(traceback.format_exception(error)).rstrip(), keep_newlines=True)


def _abandon(stream: Any) -> None:
    """Let the interpreter's last flush of a closed stream go nowhere."""
    try:
        number = stream.fileno()
    except (AttributeError, OSError, ValueError):
        return
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, number)
    os.close(nowhere)
