"""Connections through a SOCKS proxy; loaded only where one is used, for it needs PySocks."""

from __future__ import annotations

from typing import Any

from urllib3 import connectionpool
from urllib3.contrib import socks

from kubectl_kres.cluster.transport.deadline import TimedConnection, TimedTlsConnection
from kubectl_kres.cluster.transport.proxy import Proxy


class _Connection(socks.SOCKSConnection, TimedConnection):
    pass


class _TlsConnection(socks.SOCKSHTTPSConnection, TimedTlsConnection):
    pass


class _PlainPool(connectionpool.HTTPConnectionPool):
    ConnectionCls = _Connection


class _EncryptedPool(connectionpool.HTTPSConnectionPool):
    ConnectionCls = _TlsConnection


def pool(proxy_used: Proxy, settings: dict[str, Any]) -> Any:
    """Return the connections. Names of servers are looked up by the proxy, as Go has it do."""
    url = f"socks5h://{proxy_used.url.partition('://')[2]}"
    manager = socks.SOCKSProxyManager(url, username=proxy_used.username, password=proxy_used.password, **settings)
    manager.pool_classes_by_scheme = {"http": _PlainPool, "https": _EncryptedPool}
    return manager
