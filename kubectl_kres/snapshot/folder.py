"""A folder of snapshots: which there are, and those of one cluster in the order in which they were taken."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from kubectl_kres.errors import SnapshotError, UsageError
from kubectl_kres.snapshot.read import header

#: What snapshots in a folder are known by.
ENDINGS = (".kres", ".kres.gz")
WRITTEN = f"snapshots end in {' or '.join(ENDINGS)}; kubectl kres snapshot --out FILE writes one"


class SnapshotFolder(NamedTuple):
    """The snapshots of a folder, the oldest first. ``broken``: names of files that cannot be read as one."""

    paths: tuple[str, ...]
    broken: tuple[str, ...] = ()


def files(folder: str) -> list[str]:
    """Return the paths of its snapshots, by name; what they hold was not looked at."""
    return sorted(str(path) for path in Path(folder).iterdir() if path.name.endswith(ENDINGS) and path.is_file())


def moments(folder: str) -> SnapshotFolder:
    """Look at headers only. Raises UsageError where there is none, or where they are of several clusters."""
    headers, broken = {}, []
    for path in files(folder):
        try:
            headers[path] = header(path)
        except SnapshotError:
            broken.append(Path(path).name)
    if not headers:
        unreadable = f": none of {', '.join(broken)} can be read" if broken else ""
        raise UsageError(f"--snapshot {folder}: there is no snapshot in it{unreadable}", hint=WRITTEN)
    clusters = sorted({each.context or each.origin for each in headers.values()})
    if len(clusters) > 1:
        hint = "go through time in a folder of one cluster; kubectl kres fleet compares several"
        raise UsageError(
            f"--snapshot {folder}: its snapshots are of several clusters: {', '.join(clusters)}", hint=hint
        )
    return SnapshotFolder(tuple(sorted(headers, key=lambda path: (headers[path].time, path))), tuple(broken))
