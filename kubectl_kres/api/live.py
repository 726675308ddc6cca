"""Live clusters, read through our own connection or the caller's ``kubernetes.client.ApiClient``."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlencode

from urllib3 import exceptions

from kubectl_kres.api.clusters import Cluster, ReadObjects
from kubectl_kres.cluster.connection import Connection, Query, connect
from kubectl_kres.cluster.kubeconfig.current_context import ConnectOptions, load
from kubectl_kres.cluster.read import discovery, fill_store
from kubectl_kres.cluster.transport import response as errors
from kubectl_kres.cluster.transport.response import Response
from kubectl_kres.errors import UsageError
from kubectl_kres.model.kinds import BY_KIND, Kind, Kinds
from kubectl_kres.store.store import Origin, ReadRequest, Store


class LiveReading:
    """What one answer reads from a cluster."""

    def __init__(self, connection: Connection, context: str) -> None:
        self._connection = connection
        self._kinds = Kinds(BY_KIND)
        now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        self.store = Store(Origin("cluster", connection.server, fill_store.version(connection), now, context))

    def fill(self, reads: Iterable[ReadRequest]) -> None:
        read_requests = [read for read in dict.fromkeys(reads) if self.store.should_read(read)]
        if read_requests:
            fill_store.fill(self._connection, self.store, read_requests, kinds=self._kinds)

    def kind(self, text: str) -> Kind:
        kind = discovery.find_kind(self._connection, text)
        self._kinds.setdefault(kind.kind, kind)
        return kind


class LiveCluster(Cluster):
    """An API server behind a connection. Each answer reads anew, GETs only."""

    def __init__(self, connection: Connection, namespace: str, context: str = "") -> None:
        self.connection, self.namespace, self.context = connection, namespace, context

    def reading(self) -> ReadObjects:
        return LiveReading(self.connection, self.context)


def connect_with_kubeconfig(kubeconfig: str, context: str, namespace: str, request_timeout: float) -> LiveCluster:
    """As kubectl finds it. Raises ConfigError."""
    options = ConnectOptions(
        kubeconfig=kubeconfig, context=context, namespace=namespace, request_timeout=request_timeout
    )
    target = load(options)
    return LiveCluster(connect(target, options), target.namespace, target.context)


def connect_with_client(api_client: Any, namespace: str, request_timeout: float) -> LiveCluster:
    """Raises UsageError for what is no ``kubernetes.client.ApiClient``."""
    kind = type(api_client)
    if kind.__module__.partition(".")[0] == "kubernetes_asyncio" or not callable(getattr(kind, "call_api", None)):
        name = f"{kind.__module__}.{kind.__qualname__}"
        hint = "leave it out: the kubeconfig is used then, or the service account inside a cluster"
        raise UsageError(f"api_client: a kubernetes.client.ApiClient was expected, not {name}", hint=hint)
    return LiveCluster(ClientConnection(api_client, request_timeout), namespace or "default")


class ClientConnection(Connection):
    """GETs through an ApiClient, with its login, proxy, certificates and retries.

    The pool of connections is the client's, so nothing of what a connection of ours sets up is needed.
    """

    def __init__(self, api_client: Any, request_timeout: float) -> None:
        self.server = str(api_client.configuration.host).rstrip("/")
        self._client = api_client
        self._limit = request_timeout or None

    @property
    def warnings(self) -> tuple[str, ...]:
        """None are kept: the client has its own way to tell them."""
        return ()

    def close(self) -> None:
        """The client is closed by whoever opened it."""

    def request(self, path: str, query: Query = (), accept: str = "application/json") -> Response:
        pairs, headers = tuple(query), {"Accept": accept}
        with self._faults():
            # Version 37 and later prepares a request first; before, one call did both.
            if hasattr(self._client, "param_serialize"):
                return self._get_serialized(f"{path}?{urlencode(pairs)}" if pairs else path, headers)
            return self._call_api(path, list(pairs), headers)

    def _get_serialized(self, path: str, headers: Mapping[str, str]) -> Response:
        client = self._client
        method, url, sent, *_ = client.param_serialize(
            method="GET", resource_path=path, header_params=dict(headers), auth_settings=["BearerToken"]
        )
        response = client.call_api(method, url, sent, _request_timeout=self._limit)
        content = response.read() or b""
        return Response(response.status, content, response.getheader("Content-Type") or "", _pause(response))

    def _call_api(self, path: str, query: list[tuple[str, str]], headers: Mapping[str, str]) -> Response:
        refusal = _refusal_of(self._client)
        try:
            response = self._client.call_api(
                path,
                "GET",
                query_params=query,
                header_params=dict(headers),
                auth_settings=["BearerToken"],
                _preload_content=False,
                _return_http_data_only=True,
                _request_timeout=self._limit,
            )
        except refusal as fault:
            body = fault.body or b""
            content = body.encode() if isinstance(body, str) else body
            return Response(int(fault.status), content, (fault.headers or {}).get("Content-Type", ""))
        return Response(response.status, response.data, response.headers.get("Content-Type", ""), _pause(response))

    @contextmanager
    def _faults(self) -> Iterator[None]:
        """Raises Unreachable and TimedOut, as a connection of ours does."""
        try:
            yield
        except (exceptions.HTTPError, OSError) as fault:
            raise errors.connection_error(fault, self.server) from fault

    def watch(self, path: str, query: Query, silence: float) -> Any:
        """Raises UsageError."""
        del path, query, silence
        raise UsageError("an ApiClient is not watched through")

    def whoami(self) -> Response:
        """Raises UsageError: nothing but GETs goes through somebody else's client."""
        raise UsageError("an ApiClient is not asked who it is")


def _pause(response: Any) -> float:
    text = str(response.headers.get("Retry-After", "")) if response.headers else ""
    return float(text) if text.isascii() and text.isdigit() else -1.0


def _refusal_of(client: Any) -> type[Any]:
    """Return the exception that a client raises for an answer that is no success: of its own package, which is
    loaded.
    """
    package = type(client).__module__.rpartition(".")[0]
    api_exception: type[Any] = sys.modules[f"{package}.exceptions"].ApiException
    return api_exception
