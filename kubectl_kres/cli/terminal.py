"""What the terminal interface reads: a live cluster, a snapshot or the example, or a folder of snapshots with a session
a moment.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from msgspec.structs import force_setattr

from kubectl_kres.cli.args.arguments import labels_match
from kubectl_kres.cli.args.flags import access_flags, same_source
from kubectl_kres.cli.args.options import Options
from kubectl_kres.cli.args.target_version import server_from_flags
from kubectl_kres.cli.complete_names import entries
from kubectl_kres.cli.output.printer import speaks_unicode
from kubectl_kres.cli.run_loop import read_yaml
from kubectl_kres.cli.source.live import open_connection
from kubectl_kres.cli.source.object_source import current_time
from kubectl_kres.cli.source.offline import open_held
from kubectl_kres.cluster.read import fill_store
from kubectl_kres.cluster.transport.parallel import start
from kubectl_kres.cluster.watch.feed import Feed
from kubectl_kres.errors import ConfigError, UsageError
from kubectl_kres.model.kinds import Kind
from kubectl_kres.model.objects import BOUND_PODS
from kubectl_kres.model.pod import Pod
from kubectl_kres.snapshot.read import SnapshotFolder, list_snapshots
from kubectl_kres.store.store import Origin, Store
from kubectl_kres.tui.data_feed import ReadOnce
from kubectl_kres.tui.session import Session, Setting, SnapshotView

#: Seconds for which a list that was left is kept: whoever looks at something else often comes back.
_LINGER = 60.0


def live(options: Options) -> Session:
    """Return a session that watches. Nothing has been sent yet but the question for the version. Raises ConfigError."""
    return _live(options, ascii_only=options.ascii or not speaks_unicode())


def _live(options: Options, *, ascii_only: bool) -> Session:
    target, connection = open_connection(options)
    feed = Feed(connection, namespaces=options.namespaces, chunk_size=options.chunk_size, linger=_LINGER)
    asked = start(partial(fill_store.version, connection))

    def version() -> str:
        return "" if not asked.done() or asked.exception() is not None else asked.result()

    flags = access_flags(options)
    setting = Setting(
        server_from_flags(options),
        current_time,
        labels_match,
        clock=feed.clock.now,
        version=version,
        candidate_namespaces=lambda _kind, _name: (target.namespace,),
        flags=flags,
        read_yaml=read_yaml,
        ascii_only=ascii_only,
        aliases=dict(options.aliases),
        hotkeys=dict(options.hotkeys),
        columns={name: heads for name, heads, _ in options.columns},
        live=True,
        contexts=partial(_contexts, options),
        # Another cluster, and the namespace that its context says.
        switch=lambda name: _live(
            options._replace(context=name, namespaces=(), server="", cluster="", user=""), ascii_only=ascii_only
        ),
    )
    store = Store(Origin("cluster", target.server, "", current_time(), target.context, flags))
    store.lean.update({"Pod": _drop_uid, BOUND_PODS: _reduce_bound_pod})
    spaces = options.namespaces or (target.namespace,)
    return Session(store, feed, setting, "" if options.all_namespaces else spaces[0])


def _drop_uid(pod: Pod) -> Pod:
    """Return a pod of a list without its uid: only the screen of the pod tells it, and that reads the pod by its
    name.
    """
    if type(pod) is Pod:
        force_setattr(pod.metadata, "uid", "")
    return pod


def _reduce_bound_pod(pod: Any) -> Any:
    """Of a pod on a node what the scheduler counts there."""
    from kubectl_kres.scheduling.node_info import place_pod

    return place_pod(pod)


def _contexts(options: Options) -> tuple[str, ...]:
    """Return those of the kubeconfig; none once it cannot be read any more."""
    try:
        return tuple(entries(options, "contexts"))
    except ConfigError:
        return ()


def open_snapshot_session(options: Options) -> Session:
    """Return a session whose moment is that of the snapshot. Raises SnapshotError."""
    return open_snapshot_view(options, ascii_only=options.ascii or not speaks_unicode())


def open_snapshot_view(options: Options, view: SnapshotView | None = None, *, ascii_only: bool) -> Session:
    """Return the same; ``view``: where the snapshot stands among others. Raises SnapshotError."""
    source, _ = open_held(options)
    origin = source.store.origin
    now = origin.time or current_time()
    feed = ReadOnce(source)

    def replacements(kind: Kind, name: str) -> tuple[str, ...]:
        return tuple(filter(None, feed.look(lambda: source.candidate_namespaces(kind, name))))

    setting = Setting(
        server_from_flags(options),
        lambda: now,
        labels_match,
        candidate_namespaces=replacements,
        assumptions=source.assumptions,
        flags=same_source(options),
        read_yaml=read_yaml,
        ascii_only=ascii_only,
        aliases=dict(options.aliases),
        hotkeys=dict(options.hotkeys),
        snapshot_view=view,
        columns={name: heads for name, heads, _ in options.columns},
    )
    spaces = () if options.all_namespaces else options.namespaces
    return Session(Store(origin), feed, setting, spaces[0] if spaces else "")


def newest(options: Options) -> Session:
    """Of ``--snapshot``, a folder. Raises UsageError, SnapshotError."""
    result = list_snapshots(options.snapshot)
    # Once: while the screen is drawn, standard output is another one.
    ascii_only = options.ascii or not speaks_unicode()
    return _open_snapshot(options, result, len(result.paths) - 1, ascii_only=ascii_only)


def _open_snapshot(options: Options, result: SnapshotFolder, number: int, *, ascii_only: bool) -> Session:
    if not 0 <= number < len(result.paths):
        raise UsageError("this is the newest snapshot" if number > 0 else "this is the oldest snapshot")
    words = f"snapshot {number + 1} of {len(result.paths)}"
    if result.broken:
        words += f"; cannot be read: {', '.join(result.broken)}"
    steps = {
        direction: partial(_open_snapshot, options, result, number + direction, ascii_only=ascii_only)
        for direction in (-1, 1)
    }
    view = SnapshotView(words, steps[-1], steps[1])
    return open_snapshot_view(options._replace(snapshot=result.paths[number]), view, ascii_only=ascii_only)
