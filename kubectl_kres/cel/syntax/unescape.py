"""The value of a string or bytes literal. Source: cel-go parser/unescape.go."""

from __future__ import annotations

import re

_SIMPLE = {
    "a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v",
    '"': '"', "'": "'", "\\": "\\", "?": "?", "`": "`",
}  # fmt: skip
_ESCAPE = re.compile(
    r"\\(?:([abfnrtv\"'\\?`])|[xX]([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-3][0-7]{2}))"
)


def unescape(text: str, *, is_bytes: bool) -> str | bytes:
    """What stands between the quotes, escapes resolved. Raises ValueError with cel-go's words."""
    raw = text[0] in "rR"
    body = text[raw:]
    quotes = 3 if body[:3] in ('"""', "'''") else 1
    body = body[quotes:-quotes].replace("\r\n", "\n").replace("\r", "\n")
    if raw or "\\" not in body:
        return body.encode() if is_bytes else body
    pieces: list[bytes] = []
    at = 0
    for match in _ESCAPE.finditer(body):
        pieces.append(body[at : match.start()].encode())
        pieces.append(_one(match, is_bytes=is_bytes))
        at = match.end()
    joined = b"".join([*pieces, body[at:].encode()])
    return joined if is_bytes else joined.decode()


def _one(match: re.Match[str], *, is_bytes: bool) -> bytes:
    simple, hexed, short, long, octal = match.groups()
    if simple is not None:
        return _SIMPLE[simple].encode()
    if hexed is not None or octal is not None:
        code = int(hexed, 16) if hexed is not None else int(octal, 8)
        return bytes([code]) if is_bytes else chr(code).encode()
    if is_bytes:
        raise ValueError("unable to unescape string")
    code = int(short or long, 16)
    if code > 0x10FFFF or 0xD800 <= code < 0xE000:
        raise ValueError("invalid unicode code point")
    return chr(code).encode()
