"""What validation finds in the projected sources that servers keep from 1.37 on: trust bundles and pod certificates.

Names of signers, selectors and annotations are taken as valid where they are there.
"""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_kres.admission.base.field_error import FieldError, not_supported, number, required
from kubectl_kres.model.raw import Raw, integer, pointer, text

_RULE = "validation/volume"
_KEY_TYPES = ("RSA3072", "RSA4096", "ECDSAP256", "ECDSAP384", "ECDSAP521", "ED25519")
_PATHS = ("credentialBundlePath", "keyPath", "certificateChainPath")
_SHORTEST = 3600


def bundle_errors(bundle: Raw, path: str) -> Iterator[FieldError]:
    """Of a ``clusterTrustBundle``, without its path's own form. Source: validation.go validateProjectionSources."""
    name, signer = bundle.get("name"), bundle.get("signerName")
    if name is None and signer is None:
        yield required(path, "either name or signerName must be specified", _RULE)
    elif name is not None and signer is None and not name:
        yield required(f"{path}.name", "must be a valid object name", _RULE)
    if not text(bundle, "path"):
        yield required(f"{path}.path", rule=_RULE)


def certificate_errors(certificate: Raw, path: str) -> Iterator[FieldError]:
    """Of a ``podCertificate``, without the form of its paths. Source: validation.go validateProjectionSources."""
    if not text(certificate, "signerName"):
        yield required(f"{path}.signerName", rule=_RULE)
    kind = text(certificate, "keyType")
    if kind not in _KEY_TYPES:
        yield not_supported(f"{path}.keyType", kind, _KEY_TYPES, _RULE, in_order=True)
    seconds = integer(certificate, "maxExpirationSeconds")
    if seconds is not None and seconds < _SHORTEST:
        detail = f"if provided, maxExpirationSeconds must be >= {_SHORTEST}"
        yield number(f"{path}.maxExpirationSeconds", seconds, detail, _RULE)
    if not any(text(certificate, key) for key in _PATHS):
        yield required(path, f"specify at least one of {', '.join(_PATHS[:2])}, and {_PATHS[2]}", _RULE)


def source_errors(part: Raw, path: str) -> Iterator[FieldError]:
    """Of one entry of ``sources``."""
    bundle, certificate = pointer(part, "clusterTrustBundle"), pointer(part, "podCertificate")
    if bundle is not None:
        yield from bundle_errors(bundle, f"{path}.clusterTrustBundle")
    if certificate is not None:
        yield from certificate_errors(certificate, f"{path}.podCertificate")
