"""What alike objects are found by: bytes that are equal where the content is."""

from __future__ import annotations

from typing import Any

import msgspec

_ENCODER = msgspec.msgpack.Encoder(enc_hook=str)


def content_key(value: Any) -> bytes:
    """Return bytes that equal values share and others do not; for structs, mappings in their order, lists and scalars.

    Also of what no JSON of a server holds, but a snapshot or file can: half a surrogate pair, an integer of 40 digits.
    """
    try:
        return _ENCODER.encode(value)
    except (UnicodeEncodeError, OverflowError):
        return repr(value).encode("utf-8", "surrogatepass")
