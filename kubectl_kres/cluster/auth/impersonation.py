"""Acting as somebody else: the headers that ask the server for it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from kubectl_kres.cluster.kubeconfig.types import UserEntry
from kubectl_kres.errors import ConfigError

_EXTRA = "Impersonate-Extra-"
#: What must not stand in the name of a header. Source: client-go transport headerKeyEscape.
_OTHER = re.compile(rb"[^!#$&'*+.0-9A-Z^_`a-z|~-]")
_CONTROL = re.compile("[\x00-\x08\x0a-\x1f\x7f]")


def headers(user: UserEntry) -> Iterator[tuple[str, str]]:
    """Name and value of each header, one for each group and each value of an extra; none without impersonation.

    Raises ConfigError for what no header can carry. Source: client-go transport impersonatingRoundTripper.
    """
    if not user.impersonate:
        return
    yield _header("Impersonate-User", user.impersonate)
    if user.impersonate_uid:
        yield _header("Impersonate-Uid", user.impersonate_uid)
    for group in user.impersonate_groups or ():
        yield _header("Impersonate-Group", group)
    for key, values in (user.impersonate_extra or {}).items():
        name = _EXTRA + _OTHER.sub(lambda match: b"%%%02X" % ord(match[0]), key.encode()).decode()
        for value in values:
            yield _header(name, value)


def _header(name: str, value: str) -> tuple[str, str]:
    return name, carried(value, name)


def carried(value: str, name: str) -> str:
    """The value as http.client sends it: in UTF-8. Raises ConfigError, which does not show it, for control characters.

    Source: golang.org/x/net/http/httpguts ValidHeaderFieldValue.
    """
    if _CONTROL.search(value):
        raise ConfigError(f'Unable to connect to the server: net/http: invalid header field value for "{name}"')
    return value.strip(" \t").encode("utf-8", "surrogatepass").decode("latin-1")
