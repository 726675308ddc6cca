"""What a test control plane signs tokens with, and how its one user gets in."""

from __future__ import annotations

import base64
import json
import secrets
from pathlib import Path


def write_private(path: Path, text: str) -> None:
    """Write a file that only its owner may read."""
    path.touch(0o600)
    path.write_text(text)


def signing_key() -> str:
    """A fresh P-256 key that signs service account tokens, as PEM.

    Source: RFC 5915; the optional public key is left out, as the server derives it.
    """
    order = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
    secret = (secrets.randbelow(order - 1) + 1).to_bytes(32, "big")
    der = bytes.fromhex("30310201010420") + secret + bytes.fromhex("a00a06082a8648ce3d030107")
    return f"-----BEGIN EC PRIVATE KEY-----\n{base64.b64encode(der).decode()}\n-----END EC PRIVATE KEY-----\n"


def kubeconfig(url: str, token: str, ca: bytes) -> str:
    """A kubeconfig of one context; JSON is YAML."""
    cluster = {"server": url, "certificate-authority-data": base64.b64encode(ca).decode()}
    context = {"cluster": "test", "user": "admin", "namespace": "default"}
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "test",
        "clusters": [{"name": "test", "cluster": cluster}],
        "users": [{"name": "admin", "user": {"token": token}}],
        "contexts": [{"name": "test", "context": context}],
    }
    return json.dumps(config, indent=1)
