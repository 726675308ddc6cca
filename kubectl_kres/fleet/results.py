"""The folder that a run leaves behind: for each cluster a file of rows and a status, which ``--resume`` goes by."""

from __future__ import annotations

import hashlib
import uuid
from pathlib import Path
from urllib.parse import quote

import msgspec
from msgspec import Struct

from kubectl_kres import __version__
from kubectl_kres.errors import UsageError
from kubectl_kres.fleet.clusters import FleetCluster, stamp
from kubectl_kres.fleet.rows import ENDINGS
from kubectl_kres.fleet.status import ClusterStatus, decode, encode

#: Bytes of a file's name, without ending; file systems take 255.
_LONGEST = 180


class _SavedResult(Struct, frozen=True):
    """A status and what it was made of: the version, the questions, and the source as it was."""

    maker: str
    status: ClusterStatus


_DECODER = msgspec.json.Decoder(_SavedResult)


class Results:
    """Below ``folder`` a folder for the report. ``asked``: what else the answers depend on, as one text."""

    def __init__(self, folder: str, report: str, form: str, asked: str) -> None:
        self.folder = Path(folder, report).absolute()
        self._form, self._parameters = form, asked

    def prepare(self) -> None:
        """Make the folder, and writes and removes a file in it. Raises UsageError: before any work is done."""
        probe = self.folder / f".{uuid.uuid4().hex}.part"
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            probe.write_bytes(b"kres")
            probe.unlink()
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise UsageError(f"--out {self.folder.parent}: it cannot be written to: {reason}") from error

    def file(self, cluster: FleetCluster) -> Path:
        """Return where the rows of a cluster go."""
        return self.folder / (_file_name(cluster.name) + ENDINGS[self._form])

    def part(self, cluster: FleetCluster) -> Path:
        """Return where they are until they are whole: a name of its own for each try."""
        file = self.file(cluster)
        return file.with_name(f".{file.name[:_LONGEST]}.{uuid.uuid4().hex[:8]}.part")

    def saved_status(self, cluster: FleetCluster) -> ClusterStatus | None:
        """Return what an earlier run found, if nothing has changed since and it has an answer."""
        try:
            result = decode(self._status(cluster).read_bytes(), _DECODER)
        except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
            return None
        status = result.status
        is_complete = status.state == "answered" and status.cluster == cluster.name and self.file(cluster).is_file()
        return status if is_complete and result.maker == self._maker_of(cluster) else None

    def clear(self, cluster: FleetCluster) -> None:
        """Remove what an earlier run left of a cluster. Raises UsageError."""
        try:
            for path in (self._status(cluster), self.file(cluster)):
                path.unlink(missing_ok=True)
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise UsageError(f"--out {self.folder.parent}: what is there cannot be replaced: {reason}") from error

    def save_status(self, cluster: FleetCluster, status: ClusterStatus) -> None:
        """Write the status, whole or not at all. Raises OSError."""
        path, part = self._status(cluster), self.part(cluster)
        try:
            part.write_bytes(encode(_SavedResult(self._maker_of(cluster), status)))
            part.chmod(0o600)
            part.replace(path)
        except BaseException:
            part.unlink(missing_ok=True)
            raise

    def _status(self, cluster: FleetCluster) -> Path:
        return self.folder / f"{_file_name(cluster.name)}.status.json"

    def _maker_of(self, cluster: FleetCluster) -> str:
        return "\n".join(
            (
                __version__,
                self._form,
                self._parameters,
                str(Path(cluster.snapshot).absolute()) if cluster.snapshot else cluster.context,
                stamp(cluster),
            )
        )


def _file_name(name: str) -> str:
    """Return a cluster's name as that of a file, on every system; names that differ in case alone do not meet."""
    shown = quote(name, safe=" @+,=", errors="surrogateescape")
    if shown == name and name == name.lower() and len(name) <= _LONGEST and name.strip(". ") == name:
        return name
    mark = hashlib.sha256(name.encode("utf-8", "surrogateescape")).hexdigest()[:8]
    return f"{shown[:_LONGEST].strip('. ')}-{mark}"
