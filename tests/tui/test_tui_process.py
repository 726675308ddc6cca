"""The real program in a pseudo-terminal."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

pytestmark = pytest.mark.one_in(3)

#: For a loaded machine; what is waited for comes in well under a second.
_DEADLINE = 30.0
_UNSET = {"NO_COLOR", "KUBECONFIG", "COLUMNS", "LINES"}
_COLOURED = re.compile(rb"\x1b\[[0-9;]*(3[0-7]|4[0-7]|38;|48;|9[0-7]|10[0-7])[0-9;]*m")


class Terminal:
    """A program on a terminal of its own."""

    def __init__(
        self, *words: str, size: tuple[int, int] = (80, 24), folder: Path | None = None, **environment: str
    ) -> None:
        self.master, slave = pty.openpty()
        self.resize(size)
        kept = {name: value for name, value in os.environ.items() if name not in _UNSET}
        self.program = subprocess.Popen(
            [sys.executable, "-m", "kubectl_kres", *words],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            start_new_session=True,
            cwd=folder,
            env={**kept, "TERM": "xterm-256color", "LC_ALL": "C.UTF-8", "HOME": "/nonexistent", **environment},
        )
        os.close(slave)
        self.seen = b""

    def resize(self, size: tuple[int, int]) -> None:
        width, height = size
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", height, width, 0, 0))

    def read_until(self, part: bytes) -> None:
        """Until the program has written this since the last call."""
        found, end = b"", time.monotonic() + _DEADLINE
        while part not in found:
            ready, _, _ = select.select([self.master], [], [], max(0.0, end - time.monotonic()))
            assert ready, (part, found[-2000:])
            found += self._some()
            self.seen += found[-4096:]

    def _some(self) -> bytes:
        try:
            return os.read(self.master, 65_536)
        except OSError:
            return b""

    def ended(self) -> int:
        """The exit code, with all that was written until then read."""
        end = time.monotonic() + _DEADLINE
        while self.program.poll() is None and time.monotonic() < end:
            if select.select([self.master], [], [], 0.05)[0]:
                self.seen += self._some()
        assert self.program.poll() is not None, "it does not end"
        while select.select([self.master], [], [], 0.05)[0] and (more := self._some()):
            self.seen += more
        return self.program.returncode

    def close(self) -> None:
        if self.program.poll() is None:
            self.program.kill()
        self.program.wait()
        os.close(self.master)


@pytest.fixture
def terminal() -> Iterator[type[Terminal]]:
    opened: list[Terminal] = []

    class Kept(Terminal):
        def __init__(self, *words: str, **settings) -> None:
            super().__init__(*words, **settings)
            opened.append(self)

    yield Kept
    for one in opened:
        one.close()


def test_first_paint_keys_resize_copy_and_quit(terminal):
    screen = terminal("tui", "--demo")
    screen.read_until(b"deployment/checkout")
    os.write(screen.master, b":quota cpu-budget\r")
    screen.read_until(b"StatefulSet/sessions")
    screen.resize((140, 40))
    os.killpg(screen.program.pid, signal.SIGWINCH)
    screen.read_until(b"0 all")
    os.write(screen.master, b"\x19")
    screen.read_until(b"\x1b]52;c;")
    os.write(screen.master, b":q\r")
    assert screen.ended() == 0
    assert screen.seen.rstrip().endswith(b"\x1b[?25h") or b"\x1b[?1049l" in screen.seen


def test_alone_on_a_terminal_it_is_the_interface(terminal):
    screen = terminal("--demo")
    screen.read_until(b"deployment/checkout")
    os.write(screen.master, b"q")
    assert screen.ended() == 0


@pytest.mark.parametrize("_start", [0, *(pytest.param(number, marks=pytest.mark.thorough) for number in range(1, 8))])
def test_what_is_typed_over_a_number_in_one_go_is_tried_whole(terminal, _start):
    """A key that edits takes another way through Textual than a letter: no letter behind it may come before it."""
    screen = terminal("tui", "wl", "-n", "checkout", "--demo", size=(140, 40))
    # Of a list that is still read G goes to the last row so far.
    screen.read_until(b"5 workloads  sort")
    os.write(screen.master, b"Gk  s\x15replicas=12\x7f\r")
    screen.read_until(b"~ pricing replicas=1, sessions replicas=1 ")
    os.write(screen.master, b"\x03")
    assert screen.ended() == 0


@pytest.mark.thorough
def test_alone_without_a_cluster_it_says_what_there_is(terminal):
    screen = terminal()
    assert screen.ended() == 3
    assert b"error: no kubeconfig" in screen.seen
    assert b"Commands:" in screen.seen


@pytest.mark.thorough
def test_without_colour(terminal):
    screen = terminal("tui", "quotas", "--demo", NO_COLOR="1")
    screen.read_until(b"best-effort")
    os.write(screen.master, b"\x03")
    assert screen.ended() == 0
    assert not _COLOURED.search(screen.seen)


@pytest.mark.thorough
def test_ascii_and_no_mouse(terminal):
    screen = terminal("tui", "quotas", "--demo", "--ascii", "--no-mouse")
    screen.read_until(b"########")
    os.write(screen.master, b"qq")
    assert screen.ended() == 0
    assert "█".encode() not in screen.seen
    assert b"\x1b[?1000h" not in screen.seen


@pytest.mark.thorough
def test_a_terminal_that_goes_away_ends_it(terminal):
    screen = terminal("tui", "--demo")
    screen.read_until(b"deployment/checkout")
    os.killpg(screen.program.pid, signal.SIGHUP)
    assert screen.ended() != 70


@pytest.mark.parametrize("words", [["tui", "--demo"], ["tui"], ["tui", "pods", "--snapshot", "x"]])
def test_without_a_terminal_it_says_so(words):
    result = subprocess.run(
        [sys.executable, "-m", "kubectl_kres", *words],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=_DEADLINE,
        check=False,
    )
    assert result.returncode == 2
    assert result.stdout == ""
    assert result.stderr.splitlines()[0] == "error: tui needs a terminal on standard input, output and error"


def test_an_error_stream_that_leads_elsewhere_is_no_terminal(tmp_path):
    master, slave = pty.openpty()
    with (tmp_path / "errors").open("w+b") as errors:
        ended = subprocess.run(
            [sys.executable, "-m", "kubectl_kres", "tui", "--demo"],
            stdin=slave,
            stdout=slave,
            stderr=errors,
            timeout=_DEADLINE,
            check=False,
        )
        errors.seek(0)
        assert (ended.returncode, errors.read()[:6]) == (2, b"error:")
    os.close(master)
    os.close(slave)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["tui", "podz", "--demo"], 2, b'no screen "podz"'),
        (["tui", "--demo", "--theme", "nrd"], 2, b"the nearest is nord"),
        (["tui", "--demo", "--snapshot", "x"], 2, b"exclude each other"),
        (["tui", "--snapshot", "nowhere.kres"], 2, b"nowhere.kres"),
    ],
)
def test_what_cannot_be_shown_is_said_in_a_line(terminal, words, code, said):
    screen = terminal(*words)
    assert screen.ended() == code
    assert b"Traceback" not in screen.seen
    assert said in screen.seen.rpartition(b"\x1b[?1049l")[2], "it is said on the screen that stays"


@pytest.mark.thorough
@pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_gives_the_terminal_back(terminal, sent):
    """The alternate screen is left, the mouse is not reported any more, the cursor is shown, and lines are edited."""
    screen = terminal("tui", "--demo")
    screen.read_until(b"deployment/checkout")
    screen.program.send_signal(sent)
    assert screen.ended() == -sent
    for left in (b"\x1b[?1049l", b"\x1b[?1000l", b"\x1b[?25h"):
        assert left in screen.seen, left
    assert screen.seen.rindex(b"\x1b[?1049l") > screen.seen.rindex(b"\x1b[?1049h")
    assert b"Traceback" not in screen.seen


@pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_while_the_screens_are_loaded(terminal, sent):
    screen = terminal("tui", "--demo")
    screen.read_until(b"\x1b[?1049h")
    screen.program.send_signal(sent)
    assert screen.ended() == -sent
    assert b"\x1b[?1049l" in screen.seen
    assert b"Traceback" not in screen.seen


@pytest.mark.thorough
def test_a_terminal_that_is_closed(terminal):
    """Whoever closes the window leaves no program behind."""
    screen = terminal("tui", "--demo")
    screen.read_until(b"deployment/checkout")
    master, screen.master = screen.master, os.open(os.devnull, os.O_RDONLY)
    os.close(master)
    screen.program.send_signal(signal.SIGHUP)
    assert screen.program.wait(30) in {-signal.SIGHUP, 128 + signal.SIGHUP, 3}


@pytest.mark.thorough
def test_a_terminal_that_is_closed_without_a_signal(terminal):
    """Nothing is drawn anew that could fail, and no key comes: it ends all the same."""
    screen = terminal("tui", "--demo")
    screen.read_until(b"deployment/checkout")
    master, screen.master = screen.master, os.open(os.devnull, os.O_RDONLY)
    os.close(master)
    assert screen.program.wait(30) == 128 + signal.SIGHUP


@pytest.mark.thorough
@pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGHUP])
def test_a_terminal_that_goes_away_while_much_is_drawn(terminal, sent):
    """What still waits to be written must not hold the program: it ends within seconds, whatever is pressed before."""
    screen = terminal("tui", "pods", "--demo")
    screen.read_until(b"thumbnails")
    os.write(screen.master, b"jjjjkkkkGg" * 20)
    master, screen.master = screen.master, os.open(os.devnull, os.O_RDONLY)
    os.close(master)
    screen.program.send_signal(sent)
    assert screen.program.wait(30) in {-sent, 128 + sent, 128 + signal.SIGHUP, 3}


@pytest.mark.thorough
def test_a_terminal_that_takes_nothing_more_does_not_hold_a_program_that_is_ended(terminal):
    """As after ctrl-s: what is drawn fills the terminal, and the signal ends the program all the same."""
    screen = terminal("tui", "pods", "--demo")
    screen.read_until(b"thumbnails")
    for key in b"jk" * 200:
        os.write(screen.master, bytes([key]))
        time.sleep(0.01)
    screen.program.send_signal(signal.SIGTERM)
    assert screen.program.wait(30) in {-signal.SIGTERM, 128 + signal.SIGTERM}
