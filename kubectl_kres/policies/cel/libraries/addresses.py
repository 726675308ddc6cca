"""Addresses as Go reads them, with its errors: IP addresses and networks (net/netip), URLs (net/url)."""

from __future__ import annotations

import re
from ipaddress import IPv4Address, IPv6Address
from urllib.parse import unquote

from msgspec import Struct

from kubectl_kres.go_text import quote


class BadAddress(ValueError):
    """No address; the text is the server's."""


class _Fault(Exception):
    def __init__(self, message: str, position_text: str = "") -> None:
        super().__init__(message)
        self.message, self.position = message, position_text


def parse_address(text: str) -> IPv4Address | IPv6Address:
    """Raises BadAddress."""
    try:
        address, zone = _address(text)
    except _Fault as fault:
        intro = f"IP Address {quote(text)} parse error during conversion from string: "
        raise BadAddress(intro + _parse_error(text, fault)) from None
    if zone:
        raise BadAddress(f"IP address {quote(text)} with zone value is not allowed")
    if isinstance(address, IPv6Address) and address.ipv4_mapped is not None:
        raise BadAddress(f"IPv4-mapped IPv6 address {quote(text)} is not allowed")
    return address


def parse_prefix(text: str) -> tuple[IPv4Address | IPv6Address, int]:
    """Return the address and the length of its prefix. Raises BadAddress."""
    head, slash, tail = text.rpartition("/")
    words = f"network address parse error during conversion from string: netip.ParsePrefix({quote(text)}): "
    if not slash:
        raise BadAddress(words + "no '/'")
    try:
        address, zone = _address(head)
    except _Fault as fault:
        raise BadAddress(words + _parse_error(head, fault)) from None
    if zone:
        raise BadAddress(words + "IPv6 zones cannot be present in a prefix")
    digits = tail[1:] if tail[:1] in ("+", "-") and len(tail) > 1 else tail
    if (len(tail) > 1 and not "1" <= tail[0] <= "9") or not (digits.isascii() and digits.isdigit()):
        raise BadAddress(words + f"bad bits after slash: {quote(tail)}")
    if int(tail) > address.max_prefixlen:
        raise BadAddress(words + "prefix length out of range")
    if isinstance(address, IPv6Address) and address.ipv4_mapped is not None:
        raise BadAddress(f"IPv4-mapped IPv6 address {quote(text)} is not allowed")
    return address, int(tail)


def _parse_error(text: str, fault: _Fault) -> str:
    position_text = f" (at {quote(fault.position)})" if fault.position else ""
    return f"ParseAddr({quote(text)}): {fault.message}{position_text}"


def _address(text: str) -> tuple[IPv4Address | IPv6Address, str]:
    kind = next((char for char in text if char in ".:%"), "")
    if kind == ".":
        return IPv4Address(bytes(_four(text))), ""
    if kind == ":":
        return _parse_ipv6(text)
    raise _Fault("missing IPv6 address" if kind else "unable to parse IP")


def _four(text: str) -> list[int]:
    fields: list[int] = []
    value = digits = 0
    for index, char in enumerate(text):
        if "0" <= char <= "9":
            if digits == 1 and value == 0:
                raise _Fault("IPv4 field has octet with leading zero")
            value, digits = value * 10 + int(char), digits + 1
            if value > 255:
                raise _Fault("IPv4 field has value >255")
        elif char == ".":
            if index in (0, len(text) - 1) or text[index - 1] == ".":
                raise _Fault("IPv4 field must have at least one digit", text[index:])
            if len(fields) == 3:
                raise _Fault("IPv4 address too long")
            fields.append(value)
            value = digits = 0
        else:
            raise _Fault("unexpected character", text[index:])
    if len(fields) < 3:
        raise _Fault("IPv4 address too short")
    return [*fields, value]


def _parse_ipv6(text: str) -> tuple[IPv6Address, str]:
    rest, percent, zone = text.partition("%")
    if percent and not zone:
        raise _Fault("zone must be a non-empty string")
    octets, ellipsis = _groups(rest)
    if len(octets) < 16:
        if ellipsis < 0:
            raise _Fault("address string too short")
        octets[ellipsis:ellipsis] = [0] * (16 - len(octets))
    elif ellipsis >= 0:
        raise _Fault("the :: must expand to at least one field of zeros")
    return IPv6Address(bytes(octets)), zone


def _groups(rest: str) -> tuple[list[int], int]:
    """Return the octets written, and where ``::`` stands among them; -1: nowhere."""
    octets: list[int] = []
    ellipsis = -1
    if rest.startswith("::"):
        ellipsis, rest = 0, rest[2:]
    while rest and len(octets) < 16:
        rest = _group(rest, octets, ellipsis)
        if not rest:
            break
        if rest[0] != ":":
            raise _Fault("unexpected character, want colon", rest)
        if len(rest) == 1:
            raise _Fault("colon must be followed by more characters", rest)
        rest = rest[1:]
        if rest[0] == ":":
            if ellipsis >= 0:
                raise _Fault("multiple :: in address", rest)
            ellipsis, rest = len(octets), rest[1:]
    if rest:
        raise _Fault("trailing garbage after address", rest)
    return octets, ellipsis


def _group(rest: str, octets: list[int], ellipsis: int) -> str:
    """Read one group of digits, or an IPv4 address at the end; what is left."""
    count = 0
    while count < len(rest) and rest[count] in "0123456789abcdefABCDEF":
        count += 1
        if count > 4:
            raise _Fault("each group must have 4 or less digits", rest)
    if count == 0:
        raise _Fault("each colon-separated field must have at least one digit", rest)
    if rest[count : count + 1] == ".":
        if ellipsis < 0 and len(octets) != 12:
            raise _Fault("embedded IPv4 address must replace the final 2 fields of the address", rest)
        if len(octets) + 4 > 16:
            raise _Fault("too many hex fields to fit an embedded IPv4 at the end of the address", rest)
        octets.extend(_four(rest))
        return ""
    octets.extend(divmod(int(rest[:count], 16), 256))
    return rest[count:]


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
        raise BadURL(f"invalid URL escape {quote(path[match.start() : match.start() + 3])}")


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
        raise BadURL(f"invalid character {quote(match.group())} in host name")
    _check_escapes(host)
    return unquote(host)


def _check_port(port: str) -> None:
    if port and not re.fullmatch(r":[0-9]*", port, re.ASCII):
        raise BadURL(f"invalid port {quote(port)} after host")
