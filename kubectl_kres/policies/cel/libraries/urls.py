"""URLs as Go's net/url parses them for a request."""

from __future__ import annotations

import re
from urllib.parse import unquote

from msgspec import Struct

from kubectl_kres.policies.cel.libraries.addresses import BadAddress, parse_address
from kubectl_kres.policies.cel.libraries.strings import go_quoted

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+\-.]*:")


class BadURL(ValueError):
    """No URL; the text is Go's."""


class URL(Struct, frozen=True):
    """The parts of a URL; ``host`` has the port."""

    text: str
    scheme: str = ""
    host: str = ""
    path: str = ""
    query: str = ""

    @property
    def hostname(self) -> str:
        if self.host.startswith("["):
            return self.host[1 : self.host.index("]")]
        return self.host.partition(":")[0]

    @property
    def port(self) -> str:
        tail = self.host.rpartition("]")[2] if self.host.startswith("[") else self.host
        return tail.rpartition(":")[2] if ":" in tail else ""


def parse_url(text: str) -> URL:
    """Raises BadURL."""
    if any(ord(char) < 0x20 or ord(char) == 0x7F for char in text):
        raise BadURL("net/url: invalid control character in URL")
    if not text:
        raise BadURL("empty url")
    if text == "*":
        return URL(text, path="*")
    if text.startswith(":"):
        raise BadURL("missing protocol scheme")
    match = _SCHEME.match(text)
    scheme, rest = (match.group()[:-1].lower(), text[match.end() :]) if match else ("", text)
    rest, _, query = rest.partition("?")
    if not rest.startswith("/"):
        if scheme:
            return URL(text, scheme, query=query)
        raise BadURL("invalid URI for request")
    host = ""
    if scheme and rest.startswith("//"):
        authority, slash, path = rest[2:].partition("/")
        rest = slash + path
        host = _host(authority.rpartition("@")[2])
    _check_escapes(rest)
    return URL(text, scheme, host, rest, query.partition("#")[0])


def _check_escapes(path: str) -> None:
    match = re.search(r"%(?![0-9A-Fa-f]{2})", path)
    if match:
        raise BadURL(f"invalid URL escape {go_quoted(path[match.start() : match.start() + 3])}")


def _host(host: str) -> str:
    if "[" in host:
        if not host.startswith("["):
            raise BadURL("invalid IP-literal")
        if "]" not in host:
            raise BadURL("missing ']' in host")
        inner, _, port = host[1:].rpartition("]")
        _check_port(port)
        try:
            parse_address(inner.partition("%25")[0])
        except BadAddress as error:
            raise BadURL(f"invalid host: {str(error).rpartition('string: ')[2]}") from None
        return host
    if ":" in host:
        _check_port(host[host.index(":") :])
    match = re.search(r"[ \"<>\\^`{|}]", host)
    if match:
        raise BadURL(f"invalid character {go_quoted(match.group())} in host name")
    _check_escapes(host)
    return unquote(host)


def _check_port(port: str) -> None:
    if port and not re.fullmatch(r":[0-9]*", port, re.ASCII):
        raise BadURL(f"invalid port {go_quoted(port)} after host")
