"""The arguments of ``-f``: which files they name, and the text of each."""

from __future__ import annotations

import glob
import os
import select
import stat
from collections.abc import Iterator
from pathlib import Path
from time import monotonic, sleep
from typing import BinaryIO

from kubectl_kres.documents.document import place
from kubectl_kres.errors import InputError

EXTENSIONS = (".json", ".yaml", ".yml")
STDIN = "STDIN"

#: Bytes of one file. The largest list that etcd serves in one piece is far below.
LARGEST = 256 * 1024 * 1024
#: Seconds to wait for somebody who writes to a pipe, and between two looks.
PATIENCE, _LOOK = 5.0, 0.05
_PIECE = 1 << 16


def named(argument: str, *, recursive: bool) -> list[str]:
    """The files that an argument of ``-f`` names, sorted; ``-`` is itself.

    In a directory only EXTENSIONS count; directories below it with ``recursive``. Links to directories are not
    followed below the argument, so a circle of links ends. Raises InputError if there is nothing to read.
    Source: cli-runtime resource/visitor.go ExpandPathsToFileVisitors, resource/builder.go Path.
    """
    if argument == "-":
        return [argument]
    if argument.startswith(("http://", "https://")):
        raise InputError("addresses are not read; download the file and pass its path", file=argument)
    if not os.path.lexists(argument):
        matches = sorted(glob.glob(argument))  # noqa: PTH207 (keeps the spelling of the argument, "./" too)
        if not matches:
            raise InputError("the path does not exist", file=argument)
        return [file for match in matches for file in named(match, recursive=recursive)]
    if not Path(argument).is_dir():
        return [argument]
    try:
        texts = list(_inside(argument, recursive=recursive))
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", file=str(error.filename or argument)) from error
    if not texts:
        hint = "" if recursive else "-R also reads the directories below it"
        known = " ".join(EXTENSIONS)
        raise InputError(f"no file here has a recognized extension [{known}]", file=argument, hint=hint)
    return texts


def text(file: str, stdin: BinaryIO) -> str:
    """The text of a file or, for ``-``, of standard input, without a byte order mark.

    UTF-16 is read where a mark says so, as PowerShell writes it. Raises InputError for a file that cannot be read, is
    larger than LARGEST or is not UTF-8.
    """
    shown = STDIN if file == "-" else file
    try:
        data = stdin.read(LARGEST + 1) if file == "-" else content(file)
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", file=shown) from error
    if len(data) > LARGEST:
        raise InputError(f"is larger than {LARGEST >> 20} MiB", file=shown, hint="split it into several files")
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        try:
            return data.decode("utf-16")
        except UnicodeDecodeError as error:
            raise InputError("begins as UTF-16, but is not", file=shown, line=1, column=1) from error
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line, column = place(before := data[: error.start].decode("utf-8-sig"), len(before))
        raise InputError(
            f"byte 0x{data[error.start]:02x} is not UTF-8", file=shown, line=line, column=column
        ) from error


def content(file: str) -> bytes:
    """What is in a file, up to one byte more than LARGEST, or what comes through a pipe as of ``<(command)``, however
    long that takes. Raises OSError, and InputError for a pipe that nobody opens to write.
    """
    handle = os.open(file, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    try:
        if stat.S_ISFIFO(os.fstat(handle).st_mode):
            return b"".join(_piped(handle, file))
        with open(handle, "rb", closefd=False) as opened:
            return opened.read(LARGEST + 1)
    finally:
        os.close(handle)


def _piped(handle: int, file: str) -> Iterator[bytes]:
    """What comes until the last writer is gone. One that writes nothing yet is told from none by what reading says."""
    size, end = 0, monotonic() + PATIENCE
    opened = False
    while size <= LARGEST:
        try:
            piece = os.read(handle, _PIECE)
        except BlockingIOError:
            opened = True
            select.select([handle], [], [])
            continue
        if piece:
            size += len(piece)
            yield piece
        elif size or opened:
            return
        elif monotonic() >= end:
            raise InputError("is a pipe that nobody writes to", file=file)
        else:
            sleep(_LOOK)


def _inside(directory: str, *, recursive: bool) -> Iterator[str]:
    with os.scandir(directory) as listed:
        entries = sorted(listed, key=lambda entry: entry.name)
    for entry in entries:
        if entry.is_dir(follow_symlinks=False):
            if recursive:
                yield from _inside(entry.path, recursive=True)
        elif entry.name.endswith(EXTENSIONS) and not entry.is_dir():
            yield entry.path
