"""Which clusters there are: snapshots of a folder or pattern, contexts of a kubeconfig; and one shard of them."""

from __future__ import annotations

import glob
import hashlib
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from msgspec import Struct, structs

from kubectl_kres.cluster.kubeconfig import files
from kubectl_kres.cluster.kubeconfig.files import MergedKubeconfig
from kubectl_kres.errors import UsageError
from kubectl_kres.snapshot import read


class FleetCluster(Struct, frozen=True):
    """One cluster. ``name``: how rows call it, no two alike. ``snapshot`` or ``context``: where its objects come from.

    ``server``: the address in the kubeconfig. ``other_contexts``: other contexts of the same cluster. ``earlier``: the
    snapshot that it is compared with. ``kubeconfig``: where its context is; empty: in the user's own.
    """

    name: str
    snapshot: str = ""
    context: str = ""
    server: str = ""
    other_contexts: tuple[str, ...] = ()
    earlier: str = ""
    kubeconfig: str = ""

    @property
    def source(self) -> str:
        """The file or the context, to be shown."""
        return readable(self.snapshot or self.context)


def readable(path: str) -> str:
    """Return a path as text: a byte that is no UTF-8 is written out, as backslash and ``xe9``."""
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def snapshots(patterns: Iterable[str], flag: str = "--snapshots") -> tuple[FleetCluster, ...]:
    """Return the snapshots in folders and of patterns, each file once, by name. ``flag``: where the patterns stood.

    A cluster is called as its file is, with the folders that tell it from another file of that name. Raises UsageError
    for a pattern without files.
    """
    files: dict[str, None] = {}
    for pattern in patterns:
        texts = sorted(_files(pattern))
        if not texts:
            raise UsageError(f"{flag} {pattern}: there is no snapshot", hint=read.WRITTEN)
        files.update(dict.fromkeys(texts))
    names = _names([*files])
    return tuple(sorted(map(FleetCluster, names, files), key=lambda fleet_cluster: fleet_cluster.name))


def _files(pattern: str) -> Iterator[str]:
    if Path(pattern).is_dir():
        yield from read.files(pattern)
    else:
        texts = glob.glob(pattern, recursive=True)  # noqa: PTH207, Path.glob takes no absolute patterns
        yield from (path for path in texts if Path(path).is_file())


def _names(files: Sequence[str]) -> list[str]:
    """The names of files without ending; those of the same name with more and more of their folders."""
    paths = [Path(file).resolve() for file in files]
    stems = [tuple(map(readable, path.with_name(_file_stem(path.name)).parts)) for path in paths]
    depths = [1] * len(stems)
    while True:
        names = ["/".join(parts[-depth:]) for parts, depth in zip(stems, depths, strict=True)]
        counts = Counter(names)
        longer = [index for index, name in enumerate(names) if counts[name] > 1 and depths[index] < len(stems[index])]
        if not longer:
            # Files that differ in nothing but their ending keep it.
            return [name if counts[name] == 1 else readable(str(path)) for name, path in zip(names, paths, strict=True)]
        for index in longer:
            depths[index] += 1


def _file_stem(name: str) -> str:
    return next((name.removesuffix(end) for end in (*read.ENDINGS[::-1], ".gz") if name.endswith(end)), name) or name


def contexts(patterns: Iterable[str], config: MergedKubeconfig) -> tuple[FleetCluster, ...]:
    """Return the contexts that a pattern matches; of several contexts of one cluster the first, by name, stands for
    all.

    Of one cluster are contexts with the same server, reached in the same way. Raises UsageError for a pattern that
    matches none.
    """
    chosen: set[str] = set()
    for pattern in patterns:
        contexts = {name for name in config.contexts if fnmatchcase(name, pattern)}
        if not contexts:
            known = ", ".join(sorted(config.contexts)[:10]) or "none"
            raise UsageError(f"--contexts {pattern}: no context matches; the kubeconfig has {known}")
        chosen |= contexts
    clusters: dict[tuple[str, ...], FleetCluster] = {}
    for name in sorted(chosen):
        cluster = config.clusters.get(config.contexts[name].cluster or "")
        # A context without a usable cluster is one of its own: its worker says what is wrong with it.
        server = server_key(cluster.server or "") if cluster else ""
        address = (server, cluster.proxy_url or "", cluster.tls_server_name or "") if cluster and server else None
        key = address or ("", name)
        fleet_cluster = clusters.get(key)
        clusters[key] = (
            FleetCluster(name, context=name, server=key[0])
            if fleet_cluster is None
            else structs.replace(fleet_cluster, other_contexts=(*fleet_cluster.other_contexts, name))
        )
    return tuple(clusters.values())


def server_key(server: str) -> str:
    """Return an address as others of the same server have it."""
    return server.rstrip("/").lower()


def shard(clusters: Sequence[FleetCluster], index: int, count: int) -> tuple[FleetCluster, ...]:
    """Return the clusters of one shard, ``index`` from 0. A cluster's shard depends on its name and ``count`` alone."""
    return tuple(cluster for cluster in clusters if _shard_index(cluster.name, count) == index)


def _shard_index(name: str, count: int) -> int:
    return int.from_bytes(hashlib.sha256(name.encode("utf-8", "surrogateescape")).digest()[:8], "big") % count


def with_earlier(
    clusters: Iterable[FleetCluster], patterns: Iterable[str]
) -> tuple[tuple[FleetCluster, ...], tuple[str, ...]]:
    """Return the clusters, each with the earlier snapshot of its name, empty where there is none; and the names that
    only earlier snapshots have.

    Raises UsageError for a pattern without files.
    """
    earlier = {cluster.name: cluster.snapshot for cluster in snapshots(patterns, "--from")}
    paired = tuple(structs.replace(cluster, earlier=earlier.pop(cluster.name, "")) for cluster in clusters)
    return paired, tuple(earlier)


def stamp(cluster: FleetCluster) -> str:
    """Return what tells files from what they were before; of a context its server. Empty for a file that is gone."""
    now = _file_stamp(cluster.snapshot) if cluster.snapshot else cluster.server
    return f"{now}\n{_file_stamp(cluster.earlier)}" if cluster.earlier else now


def _file_stamp(path: str) -> str:
    try:
        numbers = os.stat(path)  # noqa: PTH116, the path may be any text
    except OSError:
        return ""
    return f"{numbers.st_size}-{numbers.st_mtime_ns}"


def read_contexts(patterns: Iterable[str], kubeconfig: str, environ: Mapping[str, str]) -> tuple[FleetCluster, ...]:
    """``contexts`` of the kubeconfig that flag and environment name. Raises ConfigError, UsageError."""
    return contexts(patterns, files.read(files.paths(kubeconfig, environ)))
