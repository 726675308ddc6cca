"""An expression cut into tokens, and the value that a token of a literal has. Source: cel-go parser/gen/CEL.g4."""

from __future__ import annotations

import re
from typing import NamedTuple

from kubectl_kres.policies.cel.base.errors import Issue

_SIMPLE = {
    "a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v",
    '"': '"', "'": "'", "\\": "\\", "?": "?", "`": "`",
}  # fmt: skip
_SEQUENCE = re.compile(
    r"\\(?:([abfnrtv\"'\\?`])|[xX]([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-3][0-7]{2}))"
)

_ESCAPE = r"""\\(?:[abfnrtv"'\\?`]|[xX][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[0-3][0-7][0-7])"""
_STRING = (
    r'"""(?:' + _ESCAPE + r'|[^\\])*?"""'
    r"|'''(?:" + _ESCAPE + r"|[^\\])*?'''"
    r'|"(?:' + _ESCAPE + r'|[^\\"\n\r])*"'
    r"|'(?:" + _ESCAPE + r"|[^\\'\n\r])*'"
    r'|[rR]"""[\s\S]*?"""|[rR]\'\'\'[\s\S]*?\'\'\''
    r'|[rR]"[^"\n\r]*"|[rR]\'[^\'\n\r]*\''
)  # fmt: skip
_TOKEN = re.compile(
    r"(?P<skip>[\t \r\n\f]+|//[^\n]*)"
    r"|(?P<BYTES>[bB](?:" + _STRING + r"))"
    r"|(?P<STRING>" + _STRING + r")"
    r"|(?P<FLOAT>\d+\.\d+(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+|\.\d+(?:[eE][+-]?\d+)?)"
    r"|(?P<UINT>0x[0-9a-fA-F]+[uU]|\d+[uU])"
    r"|(?P<INT>0x[0-9a-fA-F]+|\d+)"
    r"|(?P<ESCAPED>`[A-Za-z0-9_.\-/ ]+`)"
    r"|(?P<IDENT>[A-Za-z_][A-Za-z0-9_]*)"
    r"|(?P<op>==|!=|<=|>=|&&|\|\||[\[\]{}().,\-!?:+*/%<>])",
    re.ASCII,
)
#: The start of a string that does not end: everything up to what breaks it.
_BROKEN = re.compile(r"[bB]?(?:\"(?:" + _ESCAPE + r"|[^\\\"\n\r])*|'(?:" + _ESCAPE + r"|[^\\'\n\r])*|=|&|\|)")
_WORDS = ("in", "true", "false", "null")


class Token(NamedTuple):
    """``kind`` is the text of an operator, or INT, UINT, FLOAT, STRING, BYTES, IDENT, ESCAPED, EOF."""

    kind: str
    text: str
    offset: int


def tokens_of(source: str) -> tuple[list[Token], list[Issue]]:
    """Every token and the end of input; what is no token is an issue and left out."""
    pairs: list[Token] = []
    issues: list[Issue] = []
    at = 0
    while at < len(source):
        match = _TOKEN.match(source, at)
        if match is None:
            at = _unknown(source, at, issues)
            continue
        kind, text = match.lastgroup or "", match.group()
        if kind == "op" or (kind == "IDENT" and text in _WORDS):
            kind = text
        if kind != "skip":
            pairs.append(Token(kind, text, at))
        at = match.end()
    return [*pairs, Token("EOF", "<EOF>", len(source))], issues


def _unknown(source: str, at: int, issues: list[Issue]) -> int:
    """Record what is no token; where to go on. The lexer has read one character more than fits, which it skips."""
    broken = _BROKEN.match(source, at)
    end = broken.end() if broken else at
    if broken and source[end : end + 1] == "\\":
        end += _escape_length(source[end:])
    end = min(max(end, at) + 1, len(source))
    text = source[at:end].replace("\n", "\\n").replace("\t", "\\t").replace("\r", "\\r")
    issues.append(Issue(at, f"Syntax error: token recognition error at: '{text}'"))
    return end


def _escape_length(text: str) -> int:
    """How much of a wrong escape fits before the character that does not."""
    good = re.match(r"\\(?:[xX][0-9a-fA-F]?|u[0-9a-fA-F]{0,3}|U[0-9a-fA-F]{0,7}|[0-3][0-7]?)?", text)
    return good.end() if good else 1


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
    for match in _SEQUENCE.finditer(body):
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
