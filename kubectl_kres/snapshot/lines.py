"""The lines of a stream of bytes, through one buffer that is used again."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol

_BUFFER = 1 << 18

#: A page of objects is at most this long: etcd takes 1.5 MiB of each.
LONGEST = 1 << 28


class Readable(Protocol):
    """A binary stream, gzipped or not."""

    def readinto(self, buffer: Any, /) -> int | None: ...


def lines(stream: Readable, *, size: int = _BUFFER) -> Iterator[memoryview]:
    """Each line with its line feed, which a last line may lack. A line is valid until the next one is asked for.

    Raises EOFError if none ends within LONGEST bytes.
    """
    buffer = bytearray(size)
    start = seen = end = 0
    while True:
        number = buffer.find(b"\n", seen, end)
        if number >= 0:
            line = memoryview(buffer)[start : number + 1]
            yield line
            start = seen = number + 1
            continue
        if start:
            buffer[: end - start] = buffer[start:end]
            start, end = 0, end - start
        seen = end
        if end == len(buffer):
            if end >= LONGEST:
                raise EOFError
            buffer = buffer + bytearray(len(buffer))
        with memoryview(buffer) as view:
            read = stream.readinto(view[end:]) or 0
        if not read:
            break
        end += read
    if end:
        yield memoryview(buffer)[:end]
