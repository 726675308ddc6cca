"""The TLS context: whom we trust and the certificate that we show."""

from __future__ import annotations

import os
import re
import ssl
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from kubectl_kres.cluster.auth.credentials import Credentials
from kubectl_kres.errors import ConfigError

#: Where systems keep the certificates that they trust. Source: Go crypto/x509 root_linux.go, root_bsd.go.
_BUNDLES = (
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/pki/tls/cacert.pem",
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
    "/etc/ssl/cert.pem",
)

_PEM = re.compile(rb"-----BEGIN [A-Z0-9 ]+-----.+?-----END [A-Z0-9 ]+-----", re.DOTALL)


def context(authority: bytes, credentials: Credentials, *, insecure: bool) -> ssl.SSLContext:
    """A context that trusts ``authority`` (PEM; empty: the system's), and nothing at all is checked if ``insecure``.

    It judges certificates as Go does: any certificate given may be the root of trust, a CA needs no key usage, names
    are only looked up in subjectAltName. Raises ConfigError if a certificate or key cannot be used.
    """
    if insecure and authority:
        raise ConfigError("specifying a root certificates file with the insecure flag is not allowed")
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    made.minimum_version = ssl.TLSVersion.TLSv1_2
    made.hostname_checks_common_name = False
    # Python 3.13 adds strictness that refuses chains of many clusters; Go has none of it.
    made.verify_flags = made.verify_flags & ~ssl.VERIFY_X509_STRICT | ssl.VERIFY_X509_PARTIAL_CHAIN
    if insecure:
        made.check_hostname = False
        made.verify_mode = ssl.CERT_NONE
    elif authority:
        _trust(made, authority)
    else:
        _trust_the_system(made)
    if credentials.certificate:
        _show(made, credentials)
    return made


def _trust(made: ssl.SSLContext, authority: bytes) -> None:
    blocks = b"\n".join(_PEM.findall(authority))
    try:
        made.load_verify_locations(cadata=blocks.decode("ascii"))
    except (ssl.SSLError, ValueError) as error:
        raise ConfigError("unable to load root certificates: unable to parse bytes as PEM block") from error


def _trust_the_system(made: ssl.SSLContext) -> None:
    """Trust whom the system trusts, also where OpenSSL was built for another system that keeps it elsewhere."""
    made.load_default_certs()
    set_by_user = {"SSL_CERT_FILE", "SSL_CERT_DIR"} & set(os.environ)
    if os.name == "nt" or set_by_user or ssl.get_default_verify_paths().cafile:
        return
    bundle = next((name for name in _BUNDLES if Path(name).is_file()), "")
    if bundle:
        made.load_verify_locations(bundle)


def _show(made: ssl.SSLContext, credentials: Credentials) -> None:
    with _file(credentials.certificate + b"\n" + credentials.key) as name:
        try:
            # The empty password keeps OpenSSL from asking for one on the terminal.
            made.load_cert_chain(name, password="")
        except (ssl.SSLError, ValueError) as error:
            why = getattr(error, "reason", None) or str(error)
            if b"ENCRYPTED" in credentials.key:
                why = "the key is encrypted, and nobody is asked for its password"
            raise ConfigError(
                f"the client certificate and key cannot be used: {why.replace('_', ' ').lower()}"
            ) from error


@contextmanager
def _file(content: bytes) -> Iterator[str]:
    """The name of a file with this content: in memory where the system can, else gone as soon as it was read."""
    if hasattr(os, "memfd_create") and Path("/proc/self/fd").is_dir():
        handle = os.memfd_create("kres")
        try:
            os.write(handle, content)
            yield f"/proc/self/fd/{handle}"
        finally:
            os.close(handle)
        return
    handle, name = tempfile.mkstemp()
    try:
        os.write(handle, content)
        os.close(handle)
        yield name
    finally:
        Path(name).unlink()
