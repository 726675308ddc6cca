"""Who we are, kept up to date: token files are read again, credential plugins run again when what they gave is over."""

from __future__ import annotations

import time
from collections.abc import Callable
from threading import Lock

from kubectl_kres.cluster.auth import credentials, exec_plugin
from kubectl_kres.cluster.auth.credentials import Credentials
from kubectl_kres.cluster.kubeconfig.current_context import Target
from kubectl_kres.errors import ConfigError

#: Seconds for which the content of a token file counts. Source: client-go transport NewCachedFileTokenSource.
_FILE_PERIOD = 50.0
_FOREVER = float("inf")


class Identity:
    """The credentials of a target. Threads may share it; a plugin runs once at a time.

    A token file wins over a token, which counts while the file cannot be read. A plugin is only run for a user without
    token, password and certificate. Source: client-go transport bearerAuthRoundTripper, exec UpdateTransportConfig.
    """

    def __init__(self, target: Target, now: Callable[[], float] = time.time, *, plugin_seconds: float = 0.0) -> None:
        """``plugin_seconds``: what a plugin may take; 0: any time.

        Raises ConfigError for what the kubeconfig promises and does not yield. No plugin runs yet.
        """
        self._target, self._now, self._plugin_seconds = target, now, plugin_seconds
        self._fixed = credentials.kubeconfig_credentials(target)
        self._file = target.user.token_file or ""
        fixed = self._fixed.authorization or self._fixed.certificate or self._file
        self._plugin = None if fixed else target.user.exec
        self._lock = Lock()
        self._current: Credentials | None = None
        self._expires_at = _FOREVER

    def current(self) -> Credentials:
        """Return the credentials for a request that is sent now; may run a plugin, which may ask on the terminal.

        Raises ConfigError if there are none.
        """
        with self._lock:
            if self._current is None or self._now() > self._expires_at:
                self._current = self._load_credentials()
            return self._current

    def renew_credentials(self, refused: Credentials) -> Credentials | None:
        """Return the credentials to try after a 401: a plugin's new ones, or what the token file holds by now.

        None if there are none but those that were refused. Raises ConfigError if the plugin fails.
        """
        with self._lock:
            if self._file:
                self._current = self._read()
                return self._current if self._current != refused else None
            if self._plugin is None:
                return None
            if self._current is refused:
                self._current = self._load_credentials()
            return self._current

    def _load_credentials(self) -> Credentials:
        if self._file:
            return self._read()
        if self._plugin is None:
            return self._fixed
        target = self._target
        texts, seconds = credentials.cluster_info(target), self._plugin_seconds
        answer = exec_plugin.run(self._plugin, target.user_name, texts, target.policy, seconds)
        expires = answer.expiration_timestamp
        self._expires_at = expires.timestamp() if expires else _FOREVER
        return credentials.plugin_credentials(answer, self._fixed)

    def _read(self) -> Credentials:
        """Return what the token file holds now; while it cannot be read, what was known before."""
        try:
            token = credentials.token_in(self._file)
        except ConfigError:
            known = self._current or (self._fixed if self._fixed.authorization else None)
            if known is None:
                raise
            return known
        self._expires_at = self._now() + _FILE_PERIOD
        return Credentials(credentials.bearer(token), self._fixed.certificate, self._fixed.key)
