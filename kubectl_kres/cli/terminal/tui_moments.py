"""A folder of snapshots for the terminal interface: one session for each moment, the newest first."""

from __future__ import annotations

from functools import partial

from kubectl_kres.cli.args.options import Options
from kubectl_kres.cli.output.printer import speaks_unicode
from kubectl_kres.cli.terminal.tui_offline import at_moment
from kubectl_kres.errors import UsageError
from kubectl_kres.snapshot.folder import Moments, moments
from kubectl_kres.tui.session import Moment, Session


def newest(options: Options) -> Session:
    """Of ``--snapshot``, a folder. Raises UsageError, SnapshotError."""
    result = moments(options.snapshot)
    # Once: while the screen is drawn, standard output is another one.
    ascii_only = options.ascii or not speaks_unicode()
    return _at(options, result, len(result.paths) - 1, ascii_only=ascii_only)


def _at(options: Options, result: Moments, number: int, *, ascii_only: bool) -> Session:
    if not 0 <= number < len(result.paths):
        raise UsageError("this is the newest snapshot" if number > 0 else "this is the oldest snapshot")
    words = f"snapshot {number + 1} of {len(result.paths)}"
    if result.broken:
        words += f"; cannot be read: {', '.join(result.broken)}"
    steps = {way: partial(_at, options, result, number + way, ascii_only=ascii_only) for way in (-1, 1)}
    at = Moment(words, steps[-1], steps[1])
    return at_moment(options._replace(snapshot=result.paths[number]), at, ascii_only=ascii_only)
