import os
import ssl
import subprocess

import msgspec
import pytest
from urllib3 import exceptions

from kubectl_kres.cluster import connection as tls
from kubectl_kres.cluster.credentials import Credentials
from kubectl_kres.cluster.kubeconfig.current_context import Target
from kubectl_kres.cluster.kubeconfig.files import ClusterEntry, UserEntry
from kubectl_kres.cluster.transport import response as errors
from kubectl_kres.errors import ConfigError, Unreachable


def target(server, certificates, *, user=None, **cluster):
    cluster = {"certificate-authority": str(certificates / "ca.crt"), **cluster}
    return Target(server.url, "default", cluster=msgspec.convert(cluster, ClusterEntry), user=user or UserEntry())


def alice(certificates):
    return UserEntry(client_certificate=str(certificates / "client.crt"), client_key=str(certificates / "client.key"))


def test_a_chain_without_key_usage_or_key_identifier_is_trusted(tls_server, certificates, opened):
    tls_server.on("/x", {"a": 1})
    assert opened(target(tls_server, certificates)).get("/x") == b'{"a": 1}'
    made = tls.context(b"", Credentials(), insecure=False)
    assert made.verify_mode == ssl.CERT_REQUIRED
    assert made.check_hostname
    assert not made.verify_flags & ssl.VERIFY_X509_STRICT


@pytest.mark.parametrize("tls_server", ["mutual"], indirect=True)
def test_the_client_shows_its_certificate(tls_server, certificates, opened):
    tls_server.on("/x", {})
    assert opened(target(tls_server, certificates, user=alice(certificates))).get("/x") == b"{}"
    # Whether the alert or the end of the connection is seen first is up to the kernel.
    with pytest.raises(Unreachable, match=r"^Unable to connect to the server: (remote error: tls: |EOF|read tcp )"):
        opened(target(tls_server, certificates)).get("/x")


def ssl_error(kind, **fields):
    error = kind(1, "[SSL] words of OpenSSL")
    for name, value in fields.items():
        setattr(error, name, value)
    return exceptions.SSLError(error)


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (
            ssl_error(ssl.SSLError, reason="TLSV13_ALERT_CERTIFICATE_REQUIRED"),
            "remote error: tls: certificate required",
        ),
        (ssl_error(ssl.SSLError, reason="UNSUPPORTED_PROTOCOL"), "tls: unsupported protocol"),
        (ssl_error(ssl.SSLError, reason="WRONG_VERSION_NUMBER"), "http: server gave HTTP response to HTTPS client"),
        (ssl_error(ssl.SSLEOFError), "EOF"),
        (
            ssl_error(ssl.SSLCertVerificationError, verify_code=10, verify_message="certificate has expired"),
            "tls: failed to verify certificate: x509: certificate has expired or is not yet valid",
        ),
        (
            ssl_error(ssl.SSLCertVerificationError, verify_code=24, verify_message="invalid CA certificate"),
            "tls: failed to verify certificate: invalid CA certificate",
        ),
    ],
)
def test_failures_of_tls_are_one_line_each(error, words):
    assert errors.connection_error(error, "https://h").message == f"Unable to connect to the server: {words}"


@pytest.mark.parametrize("memory", [True, False])
def test_no_key_stays_on_disk(certificates, memory, tmp_path, monkeypatch):
    if not memory:
        monkeypatch.delattr(os, "memfd_create", raising=False)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    pair = Credentials("", (certificates / "client.crt").read_bytes(), (certificates / "client.key").read_bytes())
    tls.context(b"", pair, insecure=False)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("tls_server", ["other"], indirect=True)
def test_names_are_checked_and_may_be_given(tls_server, certificates, opened):
    tls_server.on("/x", {})
    with pytest.raises(Unreachable, match=r"^Unable to connect to the server: tls: failed to verify certificate: "):
        opened(target(tls_server, certificates)).get("/x")
    named = target(tls_server, certificates, **{"tls-server-name": "kube.lab.test"})
    assert opened(named).get("/x") == b"{}"


def test_an_unknown_authority_is_refused_and_insecure_is_silent(tls_server, certificates, opened):
    tls_server.on("/x", {})
    with pytest.raises(Unreachable) as caught:
        opened(Target(tls_server.url, "default")).get("/x")
    assert caught.value.message == (
        "Unable to connect to the server: tls: failed to verify certificate: "
        "x509: certificate signed by unknown authority"
    )
    trusting = Target(tls_server.url, "default", cluster=ClusterEntry(insecure_skip_tls_verify=True))
    assert opened(trusting).get("/x") == b"{}"


def test_https_to_a_server_that_speaks_http(server, opened):
    with pytest.raises(Unreachable) as caught:
        opened(server.url.replace("http:", "https:")).get("/x")
    assert caught.value.message == ("Unable to connect to the server: http: server gave HTTP response to HTTPS client")


@pytest.mark.parametrize(
    ("authority", "credentials", "insecure", "message"),
    [
        (b"CA", Credentials(), True, "specifying a root certificates file with the insecure flag is not allowed"),
        (b"no PEM", Credentials(), False, "unable to load root certificates: unable to parse bytes as PEM block"),
        (
            b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----",
            Credentials(),
            False,
            "unable to load root certificates: unable to parse bytes as PEM block",
        ),
        (b"", Credentials("", b"x", b"y"), False, "the client certificate and key cannot be used: "),
    ],
)
def test_unusable_certificates_are_one_line(authority, credentials, insecure, message):
    with pytest.raises(ConfigError) as caught:
        tls.context(authority, credentials, insecure=insecure)
    assert caught.value.message.startswith(message)


def test_a_key_with_a_password_is_refused_without_asking(certificates, tmp_path):
    locked = tmp_path / "locked.key"
    words = [
        "openssl",
        "ec",
        "-in",
        str(certificates / "client.key"),
        "-aes256",
        "-passout",
        "pass:x",
        "-out",
        str(locked),
    ]
    subprocess.run(words, check=True, capture_output=True)
    pair = Credentials("", (certificates / "client.crt").read_bytes(), locked.read_bytes())
    with pytest.raises(ConfigError, match="cannot be used"):
        tls.context(b"", pair, insecure=False)


def test_text_around_certificates_is_no_matter(certificates):
    pem = "# Zürich\n".encode() + (certificates / "ca.crt").read_bytes() * 2
    assert tls.context(pem, Credentials(), insecure=False).cert_store_stats()["x509"] == 1


def test_the_systems_certificates_are_found_where_openssl_does_not_look(certificates, monkeypatch):
    """The standalone archive's OpenSSL was built on another system than it runs on."""
    nowhere = ssl.DefaultVerifyPaths(None, None, "SSL_CERT_FILE", "/none", "SSL_CERT_DIR", "/none")
    monkeypatch.setattr(ssl, "get_default_verify_paths", lambda: nowhere)
    monkeypatch.setattr(ssl.SSLContext, "load_default_certs", lambda _self: None)
    monkeypatch.setattr(tls, "_BUNDLES", ("/none", str(certificates / "ca.crt"), str(certificates / "server.crt")))
    for name in ("SSL_CERT_FILE", "SSL_CERT_DIR"):
        monkeypatch.delenv(name, raising=False)

    def trusted():
        return tls.context(b"", Credentials(), insecure=False).cert_store_stats()["x509"]

    assert trusted() == 1
    monkeypatch.setenv("SSL_CERT_DIR", "/none")
    assert trusted() == 0
