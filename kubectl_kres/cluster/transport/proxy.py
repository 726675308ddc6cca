"""The way to a server: its address as kubectl reads it, and the proxy of kubeconfig or environment as Go reads it."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator, Mapping
from urllib.parse import unquote, urlsplit

from msgspec import Struct

from kubectl_kres.errors import ConfigError

__all__ = ["Proxy", "choose", "parse", "parse_address", "strip_user_info"]


def parse_address(text: str) -> str:
    """Return the address with a lower-case scheme and without a slash at its end. Without a scheme it is http.

    Raises ConfigError, which shows no password, for what is no address; a user in it is refused too.
    Source: client-go rest.DefaultServerURL; kubectl decides on http before it looks at any field of TLS.
    """
    address = text
    if address != address.strip():
        raise ConfigError(f'the server "{strip_user_info(address)}" has blanks around its address')
    if "://" not in address:
        if address.rstrip("/").count("/"):
            raise ConfigError(f'host must be a URL or a host:port pair: "{strip_user_info(address)}"')
        address = f"http://{address}"
    try:
        parts = urlsplit(address.rstrip("/"))
        usable = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if usable and "@" in parts.netloc:
        raise ConfigError(
            f'the server "{strip_user_info(address)}" is given with a user; name and password belong to the user entry'
        )
    if not usable or parts.query or parts.fragment or not address.isprintable():
        raise ConfigError(f'the server "{strip_user_info(address)}" is not an address of the form https://HOST:PORT')
    return parts.geturl()


def strip_user_info(text: str) -> str:
    """Return the address without user and password."""
    scheme, mark, rest = text.partition("://") if "://" in text else ("", "", text)
    return f"{scheme}{mark}{rest.rpartition('@')[2]}"


_PORTS = {"http": 80, "https": 443, "socks5": 1080, "socks5h": 1080}
_OWN = ("http", "https", "socks5")


class Proxy(Struct, frozen=True):
    """``username`` and ``password`` are None where the address has none. Its ``repr`` hides both."""

    scheme: str
    host: str
    port: int
    username: str | None = None
    password: str | None = None

    def __repr__(self) -> str:
        return f"Proxy({self.url!r}, …)"

    @property
    def url(self) -> str:
        """The address without user and password."""
        return f"{self.scheme}://{f'[{self.host}]' if ':' in self.host else self.host}:{self.port}"


def choose(server: str, configured: str | None, environ: Mapping[str, str]) -> Proxy | None:
    """Return the proxy for ``server``; None: none. ``configured``, the kubeconfig's ``proxy-url``, wins over
    everything.

    Upper-case variables win over lower-case ones, as in Go; what is no address in them is no proxy. Raises ConfigError
    if ``configured`` is unusable. Source: Go net/http httpproxy, as kubectl is built with.
    """
    if configured:
        return parse(configured)
    parts = urlsplit(server)
    named = _variable(environ, "HTTPS_PROXY" if parts.scheme == "https" else "HTTP_PROXY")
    port = parts.port or _PORTS[parts.scheme]
    if named and parts.scheme == "http" and environ.get("REQUEST_METHOD"):
        raise ConfigError(
            "refusing to use HTTP_PROXY value in CGI environment; see golang.org/s/cgihttpproxy",
            hint="REQUEST_METHOD is set, and whoever sends a request to a CGI program chooses HTTP_PROXY",
        )
    if not named or not _reached_through(parts.hostname or "", port, _variable(environ, "NO_PROXY")):
        return None
    try:
        return parse(named if "://" in named else f"http://{named}", schemes=tuple(_PORTS))
    except ConfigError as error:
        raise ConfigError(
            f'the proxy "{strip_user_info(named)}" of the environment cannot be used: {error.message}'
        ) from error


def parse(text: str, schemes: tuple[str, ...] = _OWN) -> Proxy:
    """Return the parts of a proxy's address. Raises ConfigError, which does not show the address: it may hold a
    password.
    """
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError:
        raise ConfigError("it is no address") from None
    if parts.scheme not in schemes:
        raise ConfigError(f'unsupported scheme "{_scheme(text, parts.scheme)}", must be http, https, or socks5')
    if not parts.hostname or not text.isprintable() or not parts.hostname.isascii() or " " in parts.netloc:
        raise ConfigError("it names no host")
    user, password = (None if part is None else unquote(part) for part in (parts.username, parts.password))
    return Proxy(parts.scheme, parts.hostname, port or _PORTS[parts.scheme], user, password)


def _scheme(text: str, scheme: str) -> str:
    """Return the scheme to show; what stands before ``@`` in an address without one is no scheme but a user."""
    return scheme if "://" in text else ""


def _variable(environ: Mapping[str, str], name: str) -> str:
    return environ.get(name) or environ.get(name.lower()) or ""


def _reached_through(host: str, port: int, exempt: str) -> bool:
    """Return whether a proxy of the environment is for this host; never for this machine itself."""
    address = _address(host)
    if host == "localhost" or (address is not None and address.is_loopback):
        return False
    return not any(_matches(host.lower(), address, port, entry) for entry in _entries(exempt))


def _entries(exempt: str) -> Iterator[str]:
    return (entry for part in exempt.split(",") if (entry := part.strip().lower()))


def _matches(host: str, address: ipaddress.IPv4Address | ipaddress.IPv6Address | None, port: int, entry: str) -> bool:
    """Return whether an entry of ``NO_PROXY`` names the host: ``*``, a network, an address, a domain, with or without
    port.
    """
    if entry == "*":
        return True
    if "/" in entry:
        try:
            return address is not None and address in ipaddress.ip_network(entry, strict=False)
        except ValueError:
            pass
    name, entry_text = _split(entry)
    if not name or (entry_text and entry_text != str(port)):
        return False
    host_address = _address(name)
    if host_address is not None:
        return host_address == address
    if address is not None:
        return False
    name = name.removeprefix("*") if name.startswith("*.") else name
    return host.endswith(name) if name.startswith(".") else host == name or host.endswith(f".{name}")


def _split(entry: str) -> tuple[str, str]:
    """Host and port; a port only where it cannot be part of an IPv6 address."""
    if entry.startswith("["):
        name, _, rest = entry[1:].partition("]")
        return name, rest.removeprefix(":")
    name, colon, port = entry.partition(":")
    return (name, port) if colon and ":" not in port else (entry, "")


def _address(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        result = ipaddress.ip_address(text)
    except ValueError:
        return None
    return getattr(result, "ipv4_mapped", None) or result
