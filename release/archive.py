"""Archives that krew unpacks: packed so that the same files give the same bytes, and checked as krew would."""

from __future__ import annotations

import gzip
import hashlib
import io
import stat
import tarfile
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

#: Bytes that a packed archive may have.
LARGEST = 20_000_000


class Entry(NamedTuple):
    """A member: ``kind`` is file, folder or what krew refuses; ``executable`` also where the format has no modes."""

    name: str
    kind: str
    executable: bool = False


def pack(folder: Path, target: Path, epoch: int) -> None:
    """Pack what is in a folder, in the order of the names, without owners, all of the time ``epoch``.

    Links are followed: krew refuses them.
    """
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    if target.suffix == ".zip":
        _zip(folder, files, target, epoch)
        return
    plain = io.BytesIO()
    with tarfile.open(fileobj=plain, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for path in files:
            info = tarfile.TarInfo(path.relative_to(folder).as_posix())
            info.size, info.mtime, info.mode = path.stat().st_size, epoch, _mode(path)
            with path.open("rb") as content:
                tar.addfile(info, content)
    with target.open("wb") as raw, gzip.GzipFile("", "wb", 9, raw, mtime=0) as packed:
        packed.write(plain.getvalue())


def _zip(folder: Path, files: list[Path], target: Path, epoch: int) -> None:
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as packed:
        for path in files:
            info = zipfile.ZipInfo(path.relative_to(folder).as_posix(), time.gmtime(epoch)[:6])
            info.external_attr = (stat.S_IFREG | _mode(path)) << 16
            info.compress_type = zipfile.ZIP_DEFLATED
            packed.writestr(info, path.read_bytes(), compresslevel=9)


def _mode(path: Path) -> int:
    return 0o755 if path.stat().st_mode & stat.S_IXUSR else 0o644


def sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def entries(path: Path) -> tuple[Entry, ...]:
    """The members of an archive. Raises ValueError if it is no tar.gz and no zip, whatever its name is."""
    with path.open("rb") as file:
        start = file.read(4)
    try:
        if start[:2] == b"\x1f\x8b":
            with tarfile.open(path, "r:gz") as tar:
                return tuple(_of_tar(one) for one in tar)
        if start[:4] == b"PK\x03\x04":
            with zipfile.ZipFile(path) as packed:
                return tuple(_of_zip(one) for one in packed.infolist())
    except (tarfile.TarError, zipfile.BadZipFile, EOFError, OSError) as error:
        raise ValueError(f"it cannot be unpacked: {error}") from error
    raise ValueError("it is neither a tar.gz nor a zip")


def _of_tar(one: tarfile.TarInfo) -> Entry:
    kind = "file" if one.isreg() else "folder" if one.isdir() else "link" if one.issym() or one.islnk() else "device"
    return Entry(one.name, kind, bool(one.mode & 0o100))


def _of_zip(one: zipfile.ZipInfo) -> Entry:
    link = stat.S_ISLNK(one.external_attr >> 16)
    return Entry(one.filename, "link" if link else "folder" if one.is_dir() else "file", executable=True)


def unpack(path: Path, folder: Path) -> None:
    """Unpack a tar.gz of our own making. Raises SystemExit for members that would land outside ``folder``.

    Python before 3.11.4, which Debian 12 has, knows no filters; so the members are looked at here.
    """
    for one in entries(path):
        if one.kind not in {"file", "folder"} or one.name.startswith("/") or ".." in one.name.split("/"):
            raise SystemExit(f"error: {path.name}: {one.name} is a {one.kind} that is not unpacked")
    with tarfile.open(path) as tar:
        if hasattr(tarfile, "data_filter"):
            tar.extractall(folder, filter="data")
        else:
            tar.extractall(folder)


def faults(path: Path, program: str) -> Iterator[str]:
    """What krew or its index would refuse, or what would not run once it is installed. ``program``: the ``bin``."""
    size = path.stat().st_size
    if size > LARGEST:
        yield f"it has {size} bytes, more than {LARGEST}"
    try:
        found = entries(path)
    except ValueError as error:
        yield str(error)
        return
    for one in found:
        if one.kind not in {"file", "folder"}:
            yield f"{one.name} is a {one.kind}"
        if ".." in one.name:
            yield f'{one.name} has ".." in its name'
        if one.name.startswith(("/", "\\")) or one.name[1:2] == ":":
            yield f"{one.name} is an absolute path"
    by_name = {one.name.removeprefix("./"): one for one in found}
    if program not in by_name:
        yield f"{program} is missing"
    elif not by_name[program].executable:
        yield f"{program} is not executable"
    if not any(name.rpartition("/")[2].upper().startswith(("LICENSE", "COPYING")) for name in by_name):
        yield "there is no LICENSE"
