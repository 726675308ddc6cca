"""A snapshot or the bundled example for the terminal interface."""

from __future__ import annotations

from kubectl_kres.cli.args.options import Options
from kubectl_kres.cli.args.repeat_flags import same_source
from kubectl_kres.cli.args.selector import labels_match
from kubectl_kres.cli.args.target_version import described
from kubectl_kres.cli.output.printer import speaks_unicode
from kubectl_kres.cli.run.run_loop import read_yaml
from kubectl_kres.cli.source.object_source import moment
from kubectl_kres.cli.source.offline import open_held
from kubectl_kres.model.kinds import Kind
from kubectl_kres.store.store import Store
from kubectl_kres.tui.data_feed import ReadOnce
from kubectl_kres.tui.session import Moment, Session, Setting


def held(options: Options) -> Session:
    """A session whose moment is that of the snapshot. Raises SnapshotError."""
    return at_moment(options, ascii_only=options.ascii or not speaks_unicode())


def at_moment(options: Options, at: Moment | None = None, *, ascii_only: bool) -> Session:
    """The same; ``at``: where the snapshot stands among others. Raises SnapshotError."""
    source, _ = open_held(options)
    origin = source.store.origin
    now = origin.time or moment()
    feed = ReadOnce(source)

    def places(kind: Kind, name: str) -> tuple[str, ...]:
        return tuple(filter(None, feed.look(lambda: source.places(kind, name))))

    setting = Setting(
        described(options),
        lambda: now,
        labels_match,
        places=places,
        supposed=source.supposed,
        flags=same_source(options),
        read_yaml=read_yaml,
        ascii_only=ascii_only,
        aliases=dict(options.aliases),
        hotkeys=dict(options.hotkeys),
        at=at,
        columns={name: heads for name, heads, _ in options.columns},
    )
    spaces = () if options.all_namespaces else options.namespaces
    return Session(Store(origin), feed, setting, spaces[0] if spaces else "")
