"""Values as lines of JSON, between processes and in files. Their texts may be paths of any bytes."""

from __future__ import annotations

import json
from typing import Final, TypeVar

import msgspec
from msgspec import Struct

T = TypeVar("T")

_ENCODER: Final = msgspec.json.Encoder()
#: How a byte of a path that is no UTF-8 is written: half a surrogate pair, which msgspec neither writes nor reads.
_HALF: Final = b"\\ud"


def encode(value: Struct) -> bytes:
    """Return one line, with its line feed. A path may hold any bytes."""
    try:
        return _ENCODER.encode(value) + b"\n"
    except UnicodeEncodeError:
        return json.dumps(msgspec.to_builtins(value)).encode() + b"\n"


def decode(line: bytes, decoder: msgspec.json.Decoder[T]) -> T:
    """Return what ``encode`` wrote. Raises msgspec.MsgspecError."""
    if _HALF not in line:
        return decoder.decode(line)
    try:
        return msgspec.convert(json.loads(line), decoder.type)
    except (ValueError, RecursionError) as error:
        raise msgspec.DecodeError(str(error)) from error
