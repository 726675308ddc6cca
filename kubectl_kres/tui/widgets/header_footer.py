"""Texts of header and footer: the location, the age of the data, and the keys."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import ceil

from kubectl_kres.cluster.watch.feed_state import FeedState
from kubectl_kres.render.text.line import Line, Tone, clip_text, size
from kubectl_kres.store.store import ReadRequest
from kubectl_kres.tui.keys import hints
from kubectl_kres.tui.session import Session, is_connecting
from kubectl_kres.tui.table.strips import safe_text
from kubectl_kres.tui.widgets.prompt import SIGNS

#: Seconds without a word from the server that are worth a remark; it is asked after ten where watches are silent.
_QUIET = 12.0
#: Width from which there is room for the namespaces behind the digits.
_WIDE = 100
#: Width below which only what changes is said.
_NARROW = 72
#: Width below which a moment is said without its year.
_SHORT = 60
#: Cells of the name of an object before a prompt.
_ABOUT = 32
#: Columns that the name of the cluster and the namespace keep.
_PLACE = 44


#: Seconds in which a server answers.
_SOON = 5


def where_line(session: Session, width: int, room: int) -> Line:
    """Return which cluster or file, which namespace, which version; as many of the digits' namespaces as there is
    ``room``.
    """
    origin = session.store.origin
    name = origin.context or origin.name
    # Of a live one it is still to come.
    version = origin.version or ("" if session.setting.live else "version not known")
    line: list[tuple[Tone, str]] = [
        ("strong", " kres"),
        ("quiet", "  from " if not session.setting.live else "  context "),
        ("", name),
        ("quiet", "  ns "),
        ("strong", session.namespace or "all"),
        ("quiet", f"  {version}" if version else ""),
        ("quiet", "  read-only" if width >= _NARROW else ""),
    ]
    if width >= _WIDE:
        room -= sum(size(text) for _, text in line)
        for digit, space in enumerate(("all", *session.digits())):
            text = f"{'  ' if digit else '   '}{digit} {space}"
            room -= size(text)
            if room < 0:
                break
            line.append(("quiet", text))
    return line


def fresh_line(session: Session, width: int, *, paused: bool) -> Line:
    """Return how fresh it is, and why it is not, as far as there is room; screens say it too where rows are missing."""
    if paused:
        return [("warn", "paused (p) ")]
    if not session.setting.live:
        time = session.store.origin.time[:16].replace("T", " ")
        if width >= _SHORT or not time:
            return [("quiet", f"as of {time or 'unknown'} ")]
        # The name of the cluster needs the room.
        return [("quiet", f"{time[5:]} ")]
    states = list(session.feed.states().values())
    retrying = [state for state in states if state.phase == "retrying"]
    if retrying:
        return [
            ("bad", _stale(states, max(retrying, key=lambda state: state.attempts), session.setting.clock(), width))
        ]
    if any(state.phase == "connecting" for state in states):
        other = " (esc: another context)" if is_connecting(session) else ""
        seconds = int(session.setting.clock() - session.began)
        since = f" for {seconds} s" if seconds >= _SOON else ""
        return [("warn", f"connecting{since}{other} ")]
    listing = [state for state in states if state.phase == "listing"]
    if listing:
        read, about = sum(state.read for state in listing), sum(state.estimate for state in listing)
        return [("warn", f"reading {read:,}{f' of about {about:,}' if about else ''} ")]
    heard = [state.answered_at for state in states if state.phase == "watching"]
    if not heard:
        return [("bad", "nothing can be read ")] if any(state.reason for state in states) else []
    age = int(session.setting.clock() - max(heard))
    if age > _QUIET:
        return [("warn", f"no word for {age} s ")]
    return [("good", "live ")]


def _stale(states: Sequence[FeedState], worst: FeedState, now: float, width: int) -> str:
    """Return how old it is, when it is tried again, and why; the server's words come last, as far as there is room."""
    answered_at = max(state.answered_at for state in states)
    age = f" {int(now - answered_at)} s" if answered_at else ""
    word = f"stale{age}" if any(state.has_objects for state in states) else "no answer"
    left = max(0, ceil(worst.next_try - now))
    text = f"{word}, retry in {left} s" if left else f"{word}, try {worst.attempts + 1}"
    if width < _WIDE:
        return f"{text} "
    text = f"{text} (ctrl-r now): "
    reason, room = safe_text(worst.reason or "no connection"), max(width - _PLACE - len(text), 0)
    return f"{text}{reason if len(reason) <= room else f'{reason[: max(room - 1, 0)]}…'} "


def crumb_line(crumbs: Sequence[str], width: int) -> Line:
    """Return the way here; what is too long is left out from the left."""
    shown = [safe_text(crumb) for crumb in crumbs]
    cut = False
    while len(shown) > 1 and len(" > ".join(shown)) > width - 8:
        shown, cut = shown[1:], True
    line: list[tuple[Tone, str]] = [("quiet", " … > " if cut else " ")]
    line += [("quiet", f"{name} > ") for name in shown[:-1]]
    return [*line, ("strong", shown[-1] if shown else "")]


def crumb_at(index: int, pieces: int, crumbs: int) -> int:
    """Return which crumb the piece of ``crumb_line`` is, of which it has so many; the first ones may have been left
    out.
    """
    return max(0, index - 1) + crumbs - (pieces - 1)


def count_text(session: Session, reads: Iterable[ReadRequest], shown: int, known: int, *, so_far: bool) -> str:
    """Return how many rows there are, and whether more are to come; ``?`` where none could be read."""
    count = f"{shown:,}" if shown == known else f"{shown:,} of {known:,}"
    reads = tuple(reads)
    loading = [state for _, state in session.unread_requests(reads)]
    unknown = reads and not session.store.covered(reads[0]).is_known
    if unknown and not (known or loading or so_far):
        return "?"
    about = sum(state.estimate for state in loading)
    if loading and not known:
        # Nothing was heard so far: that is no number.
        return f"..{f' so far, about {about:,} to come' if about else ''}"
    if loading or so_far:
        count += f" so far{f', about {about:,} to come' if about else ''}"
    return count


def gap_count(session: Session, reads: Iterable[ReadRequest]) -> Line:
    """Return how much of what a list needs could not be read."""
    gaps = [read for read in reads if session.store.covered(read).state in {"denied", "failed"}]
    if any(read.required for read in gaps):
        return [("warn", f"  incomplete: {len(gaps)} not readable (ctrl-a)")]
    return [("quiet", f"  {len(gaps)} not visible (ctrl-a)")] if gaps else []


def digit_of(text: str) -> str:
    """Return the key behind a piece of ``where_line``: ``ns-all``, ``ns-3``; empty for what is no digit with its
    namespace.
    """
    digit, blank, name = text.strip().partition(" ")
    if not (text.startswith("  ") and digit.isdigit() and blank and name):
        return ""
    return "ns-all" if digit == "0" else f"ns-{digit}"


def key_line(ids: Iterable[str], width: int) -> Line:
    """Return the footer: as many keys as there is room for."""
    line: list[tuple[Tone, str]] = []
    room = width
    for shown, word in hints(ids):
        before = "  " if line else " "
        room -= len(before) + len(shown) + 1 + len(word)
        if room < 0:
            break
        line += [("", before), ("strong", shown), ("quiet", f" {word}")]
    return line


_TYPING = {
    "command": (("enter", "go"), ("tab", "complete"), ("up down", "earlier ones"), ("esc", "leave")),
    "filter": (("enter", "keep"), ("esc", "clear"), ("!", "all but"), ("-l", "labels"), ("-f", "fuzzy")),
    "save": (("enter", "write"), ("esc", "leave"), (".svg", "a picture"), (".csv", "the table")),
    "suppose": (("enter", "try"), ("up down", "another value"), ("esc", "leave"), ("VALUE", "or NAME=VALUE")),
}


def sign_line(purpose: str, about: str) -> Line:
    """Return what stands before what is typed; ``about``: the object that a number is typed for."""
    return [("strong", f" {SIGNS[purpose]}"), ("", f"{clip_text(safe_text(about), _ABOUT)} " if about else "")]


def typing_line(purpose: str) -> Line:
    """Return the footer while something is typed."""
    line: list[tuple[Tone, str]] = [("", " ")]
    for shown, word in _TYPING[purpose]:
        line += [("strong", shown), ("quiet", f" {word}  ")]
    return line
