"""The first frame, written before slow imports: the empty layout of the first screen."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, suppress
from io import StringIO

from kubectl_kres.render.text.line import sanitize_text, truncate_text

_ENTER, _LEAVE = "\x1b[?1049h\x1b[?25l\x1b[H\x1b[2J", "\x1b[?25h\x1b[?1049l"
#: Columns and rows below which no screen is drawn.
LEAST = (50, 15)
_MOST = 200


@contextmanager
def first_frame(origin: str, hint: str, *, ascii_only: bool) -> Iterator[None]:
    """The frame is on the terminal meanwhile, and what is typed is kept for whoever reads next, without an echo.

    ``origin``: what is looked at, ``hint``: the screen that is to come. When an error ends it, the terminal is as it
    was before, and the error can be said; what was said on stderr meanwhile follows. Nothing is drawn on a terminal
    that knows no positions.
    """
    if os.environ.get("TERM", "dumb") == "dumb" or sys.platform == "win32":
        yield
        return
    import termios  # noqa: PLC0415, not on every platform

    before = termios.tcgetattr(sys.stdin)
    silent = termios.tcgetattr(sys.stdin)
    # Ctrl-c still ends the program.
    silent[3] &= ~(termios.ECHO | termios.ICANON)
    text = StringIO()
    try:
        termios.tcsetattr(sys.stdin, termios.TCSANOW, silent)
        _write(_ENTER + frame_lines(origin, hint, os.get_terminal_size(sys.stdout.fileno()), ascii_only=ascii_only))
        with redirect_stderr(text):
            yield
    except BaseException:
        # The terminal itself may be gone.
        with suppress(OSError):
            _write(_LEAVE)
        raise
    finally:
        with suppress(termios.error):
            termios.tcsetattr(sys.stdin, termios.TCSANOW, before)
        if sys.stderr is not None:
            sys.stderr.write(text.getvalue())


def frame_lines(origin: str, hint: str, size: tuple[int, int], *, ascii_only: bool) -> str:
    """Return the lines where those of the screen will be; empty where there is no room for them."""
    width, height = size
    if width < LEAST[0] or height < LEAST[1]:
        return ""
    rule = "-" if ascii_only else "─"
    lines = {
        1: f" kres  {_format_text(origin)}  read-only",
        2: f" overview{f' > {_format_text(hint)}' if hint else ''}",
        4: "    reading",
        height - 2: f"{rule} reading ".ljust(width, rule),
        height: " ctrl-c quit",
    }
    return "".join(f"\x1b[{line};1H{text[: width - 1]}" for line, text in lines.items())


def _format_text(text: str) -> str:
    return sanitize_text(truncate_text(text, _MOST))


def _write(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()
