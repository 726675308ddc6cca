"""Which credential plugins may run: the user's own policy, from kubectl's preferences file (kuberc)."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path

import msgspec
from msgspec import Struct

from kubectl_kres.cluster.kubeconfig import files
from kubectl_kres.errors import ConfigError

_ALL, _NONE, _LISTED = "AllowAll", "DenyAll", "Allowlist"
_GROUP, _VERSIONS, _KIND = "kubectl.config.k8s.io/", ("v1alpha1", "v1beta1"), "Preference"


class ExecPolicy(Struct, frozen=True):
    """``kind`` is AllowAll (or empty), DenyAll or Allowlist; ``commands`` are those on the list."""

    kind: str = ""
    commands: tuple[str, ...] = ()


class _Entry(Struct, frozen=True):
    """One of the list. ``name`` is what ``command`` was called once."""

    command: str | None = None
    name: str | None = None


class _Preference(Struct, frozen=True, rename="camel"):
    api_version: str | None = None
    kind: str | None = None
    credential_plugin_policy: str | None = None
    credential_plugin_allowlist: tuple[_Entry, ...] | None = None


def load(kuberc: str, environ: Mapping[str, str]) -> tuple[ExecPolicy, tuple[str, ...]]:
    """Return the policy of the preferences file, which is ``kuberc``, else ``KUBERC``, else ``~/.kube/kuberc``; and
    warnings.

    ``KUBERC=off`` and ``KUBECTL_KUBERC=false`` switch it off. Raises ConfigError if a file that is named is wrong, and
    if the policy of any file contradicts itself; a default file that cannot be read only warns, as in kubectl.
    Source: kubectl kuberc.LoadKuberc, DefaultGetPreferences, client-go exec.ValidatePluginPolicy.
    """
    if environ.get("KUBECTL_KUBERC", "").lower() == "false":
        return ExecPolicy(), ()
    named = environ.get("KUBERC", "")
    if named == "off":
        if kuberc:
            raise ConfigError("disabling kuberc via KUBERC=off and passing kuberc flag are mutually exclusive")
        return ExecPolicy(), ()
    usual = files.in_home("kuberc", environ)
    file = kuberc or named or usual
    if file == usual and not Path(file).exists():
        return ExecPolicy(), ()
    try:
        preference = _read(file)
    except ConfigError as error:
        if file != usual:
            raise ConfigError(f"kuberc: {error.message}") from error
        return ExecPolicy(), (f"kuberc: no preferences loaded from {file}: {error.message}",)
    return _policy(preference), ()


def _read(file: str) -> _Preference:
    try:
        data = files.parse(files.content(file))
    except OSError as error:
        raise ConfigError(files.file_error_text(file, error)) from error
    except files.TreeError as error:
        raise ConfigError(f"{file}: {error}") from error
    if data is None:
        return _Preference()
    try:
        preference = msgspec.convert(data, _Preference)
    except msgspec.ValidationError as error:
        raise ConfigError(f"{file}: {error}") from error
    if preference.kind != _KIND or preference.api_version not in {_GROUP + version for version in _VERSIONS}:
        raise ConfigError(f"no valid preferences found in {file}")
    return preference


def _policy(preference: _Preference) -> ExecPolicy:
    kind, entries = preference.credential_plugin_policy or "", preference.credential_plugin_allowlist
    if kind not in {"", _ALL, _NONE, _LISTED}:
        raise ConfigError(f'unknown plugin policy: "{kind}"')
    if kind != _LISTED:
        if entries is not None:
            raise ConfigError(
                f'misconfigured credential plugin allowlist: plugin policy is "{kind}" but allowlist is non-nil'
            )
        return ExecPolicy(kind)
    if entries is None:
        raise ConfigError('credential plugin policy set to "Allowlist", but allowlist is unspecified')
    if not entries:
        raise ConfigError(
            'credential plugin policy set to "Allowlist", but allowlist is empty; use "DenyAll" policy instead'
        )
    return ExecPolicy(kind, tuple(_command(entry, number) for number, entry in enumerate(entries, start=1)))


def _command(entry: _Entry, number: int) -> str:
    if entry.name and entry.command and entry.name != entry.command:
        raise ConfigError("misconfigured credential plugin allowlist: name and command of an entry differ")
    command = entry.command or entry.name
    if not command:
        raise ConfigError(f"misconfigured credential plugin allowlist: empty allowlist entry #{number}")
    if command != clean(command):
        raise ConfigError(f'non-normalized file path: "{command}" vs "{clean(command)}"')
    return command


def clean(path: str) -> str:
    """Return the shortest form of a path. Source: Go filepath.Clean."""
    text = os.path.normpath(path)
    return text[1:] if text.startswith("//") else text


def allow(policy: ExecPolicy, command: str) -> str:
    """Return the program to run for a plugin's command, resolved where the policy is a list; else the command as it is.

    Raises ConfigError in kubectl's words if the policy forbids it. Both sides are looked up on our own PATH.
    Source: client-go exec updateCommandAndCheckAllowlistLocked.
    """
    if policy.kind == _NONE:
        raise ConfigError(f'plugin "{clean(command)}" not allowed: policy set to "{_NONE}"')
    if policy.kind != _LISTED:
        return command
    text = _resolve_command(clean(command))
    if text is None:
        raise ConfigError(
            f'plugin path "{clean(command)}" cannot be resolved for credential plugin allowlist check: '
            "executable file not found"
        )
    listed = {*policy.commands, *(_resolve_command(command) for command in policy.commands)}
    if not {clean(command), text} & listed:
        raise ConfigError(f'plugin path "{text}" is not permitted by the credential plugin allowlist')
    return text


def _resolve_command(command: str) -> str | None:
    return shutil.which(command)
