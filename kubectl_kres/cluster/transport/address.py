"""The address of a server, read as kubectl reads it."""

from __future__ import annotations

from urllib.parse import urlsplit

from kubectl_kres.errors import ConfigError


def parse(text: str) -> str:
    """The address with a lower-case scheme and without a slash at its end. Without a scheme it is http.

    Raises ConfigError, which shows no password, for what is no address; a user in it is refused too.
    Source: client-go rest.DefaultServerURL; kubectl decides on http before it looks at any field of TLS.
    """
    given = text
    if given != given.strip():
        raise ConfigError(f'the server "{shown(given)}" has blanks around its address')
    if "://" not in given:
        if given.rstrip("/").count("/"):
            raise ConfigError(f'host must be a URL or a host:port pair: "{shown(given)}"')
        given = f"http://{given}"
    try:
        parts = urlsplit(given.rstrip("/"))
        usable = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if usable and "@" in parts.netloc:
        raise ConfigError(
            f'the server "{shown(given)}" is given with a user; name and password belong to the user entry'
        )
    if not usable or parts.query or parts.fragment or not given.isprintable():
        raise ConfigError(f'the server "{shown(given)}" is not an address of the form https://HOST:PORT')
    return parts.geturl()


def shown(text: str) -> str:
    """The address without user and password."""
    scheme, mark, rest = text.partition("://") if "://" in text else ("", "", text)
    return f"{scheme}{mark}{rest.rpartition('@')[2]}"
