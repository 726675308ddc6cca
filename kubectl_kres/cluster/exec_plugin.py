"""Credential plugins: the command that a kubeconfig's user names as a process, and what it prints, within limits of
time and size.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from threading import Event, Thread
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct

from kubectl_kres.cluster.kubeconfig import files as yaml_tree
from kubectl_kres.cluster.kubeconfig.exec_policy import ExecPolicy, allow
from kubectl_kres.cluster.kubeconfig.files import Exec
from kubectl_kres.cluster.transport.response import one_line
from kubectl_kres.errors import ConfigError

#: Bytes that a plugin may print: credentials are some kilobytes.
MOST_PRINTED = 1 << 20
#: Seconds that are waited for the end of the output of a plugin that has ended: a child of it may keep it open.
LINGER = 0.5
_PIECE = 1 << 16


class TooMuchOutput(Exception):
    """It printed more than credentials can be."""


def run_plugin(command: Sequence[str], env: Mapping[str, str], stdin: int | None, seconds: float) -> tuple[bytes, int]:
    """Return what a command printed and its exit code. ``seconds``: what it may take; 0: any time.

    Its error output goes to ours. Raises OSError and ValueError if it cannot be started, TimeoutError, TooMuchOutput.
    """
    # The pipe is closed by the thread that reads it: a child of the command may keep the other end open.
    process = subprocess.Popen(command, stdin=stdin, stdout=subprocess.PIPE, env=env)
    output = _Output(process)
    try:
        process.wait(seconds or None)
    except subprocess.TimeoutExpired:
        raise TimeoutError from None
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
    output.ended.wait(LINGER)
    if output.too_much:
        raise TooMuchOutput
    return bytes(output.content), process.returncode


class _Output:
    """What a process prints, read beside it; one that prints too much is killed."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process
        self.content, self.too_much, self.ended = bytearray(), False, Event()
        Thread(target=self._read, args=(process.stdout,), daemon=True).start()

    def _read(self, stream: Any) -> None:
        with stream:
            while piece := os.read(stream.fileno(), _PIECE):
                self.content += piece
                if len(self.content) > MOST_PRINTED:
                    self.too_much = True
                    self._process.kill()
                    break
        self.ended.set()


_GROUP = "client.authentication.k8s.io/"
_VERSIONS = (f"{_GROUP}v1", f"{_GROUP}v1beta1")


class IssuedCredential(Struct, frozen=True, rename="camel"):
    """What a plugin handed out: a token, a certificate with its key, or both, and until when. ``repr`` hides it."""

    token: str | None = None
    client_certificate_data: str | None = None
    client_key_data: str | None = None
    expiration_timestamp: Annotated[datetime, Meta(tz=True)] | None = None

    def __repr__(self) -> str:
        return "Issued(…)"


class _Credential(Struct, frozen=True, rename="camel"):
    api_version: str = ""
    kind: str = ""
    status: IssuedCredential | None = None


_CREDENTIAL = msgspec.json.Decoder(_Credential)


def run(plugin: Exec, user: str, cluster: dict[str, Any], policy: ExecPolicy, seconds: float = 0.0) -> IssuedCredential:
    """Return the credentials that the plugin prints; ``cluster`` is reported to it if it wants to know.

    ``seconds``: what it may take; 0: any time, since it may ask the user to log in.

    Its error output goes to ours, so that it can ask the user to log in. Raises ConfigError if it is forbidden by the
    user's policy, missing, fails or answers with anything else than credentials of the version asked for: going on
    would mean asking anonymously. Source: client-go plugin/pkg/client/auth/exec.
    """
    interactive = _interactive(plugin, user)
    spec: dict[str, Any] = {"interactive": interactive}
    if plugin.provide_cluster_info:
        spec["cluster"] = cluster
    question = {"kind": "ExecCredential", "apiVersion": plugin.api_version, "spec": spec}
    environ = {**os.environ, **{entry.name or "": entry.value or "" for entry in plugin.env or ()}}
    environ["KUBERNETES_EXEC_INFO"] = json.dumps(question)
    try:
        command = _find_executable(allow(policy, plugin.command))
    except ConfigError as error:
        raise credentials_error(error.message) from error
    if command is None:
        if {"/", os.sep} & set(plugin.command) and Path(plugin.command).is_file():
            raise credentials_error(f"exec: fork/exec {plugin.command}: permission denied")
        raise credentials_error(f"exec: executable {plugin.command} not found", plugin.install_hint or "")
    try:
        stdin = None if interactive else subprocess.DEVNULL
        output, code = run_plugin([command, *(plugin.args or ())], environ, stdin, seconds)
    except TimeoutError as error:
        reason = f"exec: executable {plugin.command} was still running after {seconds:g}s"
        raise credentials_error(reason, "--request-timeout allows it more time") from error
    except TooMuchOutput as error:
        maximum = MOST_PRINTED >> 10
        raise credentials_error(f"exec: executable {plugin.command} printed more than {maximum} KiB") from error
    except OSError as error:
        raise credentials_error(f"exec: {command}: {(error.strerror or str(error)).lower()}") from error
    except ValueError as error:  # a NUL in an argument or a variable
        raise credentials_error(f"exec: {command}: invalid argument") from error
    if code:
        raise credentials_error(f"exec: executable {plugin.command} failed with exit code {code}", plugin.install_hint)
    return _check_credential(output, plugin.api_version)


def credentials_error(reason: str, hint: str | None = "") -> ConfigError:
    """No credentials, as kubectl words it."""
    return ConfigError(f"Unable to connect to the server: getting credentials: {reason}", hint=hint or "")


def _find_executable(command: str) -> str | None:
    """Return the program of a command, on our own PATH, never in the folder that we stand in. Source: Go
    exec.LookPath.
    """
    path = shutil.which(command)
    if path and not {"/", os.sep} & set(command) and not Path(path).is_absolute():
        return None
    return path


def _interactive(plugin: Exec, user: str) -> bool:
    """Return whether the plugin may ask on our standard input."""
    if plugin.api_version not in _VERSIONS:
        raise ConfigError(f'exec plugin: invalid apiVersion "{plugin.api_version}"')
    mode = plugin.interactive_mode or ("" if plugin.api_version == _VERSIONS[0] else "IfAvailable")
    if not mode:
        raise ConfigError(f"interactiveMode must be specified for {user} to use exec authentication plugin")
    if mode not in {"Never", "IfAvailable", "Always"}:
        raise ConfigError(f'invalid interactiveMode for {user}: "{mode}"')
    terminal = sys.stdin is not None and sys.stdin.isatty()
    if mode == "Always" and not terminal:
        raise credentials_error("exec plugin cannot support interactive mode: standard input is not a terminal")
    return terminal and mode != "Never"


def _decode_credential(output: bytes) -> _Credential:
    """Return the answer, in JSON or in YAML. Source: apimachinery serializer/json, which takes both."""
    try:
        return _CREDENTIAL.decode(output)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        pass
    try:
        return msgspec.convert(yaml_tree.parse(output), _Credential)
    except (yaml_tree.TreeError, msgspec.ValidationError, RecursionError):
        raise credentials_error("decoding stdout: it is no ExecCredential") from None


def _check_credential(output: bytes, version: str) -> IssuedCredential:
    credential = _decode_credential(output)
    if credential.api_version == version and credential.kind != "ExecCredential":
        kind = one_line(credential.kind)
        raise credentials_error(
            f"decoding stdout: it is {f'of kind {kind}' if kind else 'of no kind'}, not an ExecCredential"
        )
    if credential.api_version != version:
        raise credentials_error(
            f"exec plugin is configured to use API version {version}, "
            f"plugin returned version {one_line(credential.api_version) or 'none'}"
        )
    if credential.status is None:
        raise credentials_error("exec plugin didn't return a status field")
    issued = credential.status
    if not issued.token and not (issued.client_certificate_data or issued.client_key_data):
        raise credentials_error("exec plugin didn't return a token or cert/key pair")
    if bool(issued.client_certificate_data) != bool(issued.client_key_data):
        raise credentials_error("exec plugin returned only certificate or key, not both")
    return issued
