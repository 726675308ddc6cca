"""Credential plugins: runs the command that a kubeconfig's user names and reads what it prints."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from typing import Any

import msgspec
from msgspec import Struct

from kubectl_kres.cluster.entries import Exec
from kubectl_kres.errors import ConfigError

_GROUP = "client.authentication.k8s.io/"
_VERSIONS = (f"{_GROUP}v1", f"{_GROUP}v1beta1")


class Issued(Struct, frozen=True, rename="camel"):
    """What a plugin handed out: a token, or a certificate with its key, or both. Its ``repr`` shows neither."""

    token: str = ""
    client_certificate_data: str = ""
    client_key_data: str = ""

    def __repr__(self) -> str:
        return "Issued(…)"


class _Credential(Struct, frozen=True, rename="camel"):
    api_version: str = ""
    kind: str = ""
    status: Issued | None = None


def run(plugin: Exec, user: str, cluster: dict[str, Any]) -> Issued:
    """The credentials that the plugin prints; ``cluster`` is told to it if it wants to know.

    Its error output goes to ours, so that it can ask the user to log in. Raises ConfigError if it is missing, fails or
    answers with anything else than credentials of the version asked for: going on would mean asking anonymously.
    Source: client-go plugin/pkg/client/auth/exec.
    """
    interactive = _interactive(plugin, user)
    spec: dict[str, Any] = {"interactive": interactive}
    if plugin.provide_cluster_info:
        spec["cluster"] = cluster
    question = {"kind": "ExecCredential", "apiVersion": plugin.api_version, "spec": spec}
    environ = {**os.environ, **{entry.name: entry.value for entry in plugin.env or ()}}
    environ["KUBERNETES_EXEC_INFO"] = json.dumps(question)
    command = shutil.which(plugin.command, path=environ.get("PATH"))
    if command is None:
        raise ConfigError(
            f"getting credentials: exec: executable {plugin.command} not found", hint=plugin.install_hint or ""
        )
    try:
        done = subprocess.run(
            [command, *(plugin.args or ())],
            stdin=None if interactive else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            env=environ,
            check=False,
        )
    except OSError as error:
        raise ConfigError(f"getting credentials: exec: {command}: {(error.strerror or str(error)).lower()}") from error
    if done.returncode:
        raise ConfigError(
            f"getting credentials: exec: executable {plugin.command} failed with exit code {done.returncode}",
            hint=plugin.install_hint or "",
        )
    return _issued(done.stdout, plugin.api_version)


def _interactive(plugin: Exec, user: str) -> bool:
    """Whether the plugin may ask on our standard input."""
    if plugin.api_version not in _VERSIONS:
        raise ConfigError(f'exec plugin: invalid apiVersion "{plugin.api_version}"')
    mode = plugin.interactive_mode or ("" if plugin.api_version == _VERSIONS[0] else "IfAvailable")
    if not mode:
        raise ConfigError(f"interactiveMode must be specified for {user} to use exec authentication plugin")
    if mode not in {"Never", "IfAvailable", "Always"}:
        raise ConfigError(f'invalid interactiveMode for {user}: "{mode}"')
    terminal = sys.stdin is not None and sys.stdin.isatty()
    if mode == "Always" and not terminal:
        raise ConfigError("getting credentials: exec plugin cannot support interactive mode: stdin is not a terminal")
    return terminal and mode != "Never"


def _issued(output: bytes, version: str) -> Issued:
    try:
        credential = msgspec.json.decode(output, type=_Credential)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"getting credentials: decoding the output of the exec plugin: {error}") from error
    if credential.api_version != version or credential.kind != "ExecCredential":
        raise ConfigError(
            f"getting credentials: exec plugin is configured to use API version {version}, "
            f"plugin returned version {credential.api_version or 'none'}"
        )
    issued = credential.status or Issued()
    if not issued.token and not (issued.client_certificate_data or issued.client_key_data):
        raise ConfigError("getting credentials: exec plugin didn't return a token or cert/key pair")
    if bool(issued.client_certificate_data) != bool(issued.client_key_data):
        raise ConfigError("getting credentials: exec plugin returned only certificate or key, not both")
    return issued
