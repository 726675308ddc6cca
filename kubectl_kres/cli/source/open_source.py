"""The source that the flags choose. The modules of sources are loaded with the first one that is opened."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager

from kubectl_kres.cli.args.options import Options
from kubectl_kres.cli.output.exit_codes import print_stderr
from kubectl_kres.cli.source.object_source import Input, ObjectSource
from kubectl_kres.errors import ConfigError, TimedOut, Unreachable, UsageError
from kubectl_kres.store.store import Kept

_HINT = "--offline explains the files by themselves"


def check_source_flags(options: Options) -> None:
    """Raises UsageError for sources that exclude each other."""
    chosen = [f"--{flag}" for flag in ("offline", "demo", "snapshot") if getattr(options, flag)]
    if len(chosen) > 1:
        raise UsageError(f"{' and '.join(chosen)} exclude each other")


@contextmanager
def open_source(
    options: Options, unread: Collection[str] = (), lean: Kept | None = None
) -> Iterator[tuple[ObjectSource, Input]]:
    """The source that the flags choose, with what ``-f`` named; in the end the server's warnings go to stderr.

    ``unread``: kinds that need not be kept of a snapshot. ``lean``: what is kept of objects, by kind.

    Raises UsageError for flags that exclude each other, InputError and SnapshotError for bad files, ClusterError.
    """
    check_source_flags(options)
    if options.offline and not options.filenames:
        raise UsageError("--offline needs the files to read, given with -f")
    if options.recursive and not options.filenames:
        raise UsageError("-R goes with -f DIR")
    try:
        source, inputs = _choose(options, unread, lean or {})
        source.store.lean.update(lean or {})
        try:
            yield source, inputs
        finally:
            for warning in source.warnings:
                print_stderr(f"Warning: {warning}")
    except (ConfigError, Unreachable, TimedOut) as error:
        if options.filenames and not error.hint:
            error.hint = _HINT
        raise


def _choose(options: Options, unread: Collection[str], lean: Kept) -> tuple[ObjectSource, Input]:
    if options.offline or options.demo or options.snapshot:
        from kubectl_kres.cli.source.offline import open_held

        return open_held(options, unread, lean)
    from kubectl_kres.cli.source.live import open_live  # a quarter of a second

    return open_live(options)
