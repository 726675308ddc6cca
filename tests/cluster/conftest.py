"""Servers on the loopback, certificates for them, and connections to them."""

from __future__ import annotations

import ssl
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from cluster.loopback import Server, serving

from kubectl_kres.cluster.connection import Connection, connect
from kubectl_kres.cluster.kubeconfig.current_context import ConnectOptions, Target


@pytest.fixture
def server() -> Iterator[Server]:
    yield from serving(Server())


@pytest.fixture
def opened() -> Iterator[Callable[..., Connection]]:
    """Opens connections that are closed after the test."""
    made: list[Connection] = []

    def open_one(target: Target | str, request_timeout: float = 0.0, **options: Any) -> Connection:
        if isinstance(target, str):
            target = Target(target, "default")
        made.append(connect(target, ConnectOptions(request_timeout=request_timeout), **options))
        return made[-1]

    yield open_one
    for connection in made:
        connection.close()


@pytest.fixture
def connection(server: Server, opened: Callable[..., Connection]) -> Connection:
    return opened(server.url, request_timeout=20.0)


@pytest.fixture(scope="session")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """``ca.crt`` without a key usage; ``server.crt`` for 127.0.0.1, ``other.crt`` for a name only; a client's pair."""
    folder = tmp_path_factory.mktemp("pki")
    (folder / "ca.cnf").write_text(
        "[req]\ndistinguished_name=dn\nx509_extensions=ca\nprompt=no\n[dn]\nCN=lab\n"
        "[ca]\nbasicConstraints=critical,CA:TRUE\nsubjectKeyIdentifier=none\nauthorityKeyIdentifier=none\n"
    )
    (folder / "server.ext").write_text("subjectAltName=IP:127.0.0.1\nauthorityKeyIdentifier=none\n")
    (folder / "other.ext").write_text("subjectAltName=DNS:kube.lab.test\n")
    (folder / "client.ext").write_text("extendedKeyUsage=clientAuth\n")

    def openssl(*words: str) -> None:
        subprocess.run(["openssl", *words], cwd=folder, check=True, capture_output=True)

    key = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")
    openssl("req", "-x509", *key, "-keyout", "ca.key", "-out", "ca.crt", "-days", "2", "-config", "ca.cnf")
    for name in ("server", "other", "client"):
        openssl("req", *key, "-keyout", f"{name}.key", "-out", f"{name}.csr", "-subj", f"/CN={name}")
        openssl(
            *("x509", "-req", "-in", f"{name}.csr", "-CA", "ca.crt", "-CAkey", "ca.key", "-CAcreateserial"),
            *("-days", "2", "-extfile", f"{name}.ext", "-out", f"{name}.crt"),
        )
    return folder


@pytest.fixture
def tls_server(certificates: Path, request: pytest.FixtureRequest) -> Iterator[Server]:
    """The server over TLS, with the certificate that the test's parameter names; ``mutual`` asks for the client's,
    ``optional`` takes it if there is one.
    """
    name = getattr(request, "param", "server")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    if name in {"mutual", "optional"}:
        context.verify_mode = ssl.CERT_REQUIRED if name == "mutual" else ssl.CERT_OPTIONAL
        name = "server"
        context.load_verify_locations(certificates / "ca.crt")
    context.load_cert_chain(certificates / f"{name}.crt", certificates / f"{name}.key")
    yield from serving(Server(context))
