"""An installed archive and how it is called, and a server that wants TLS and a token."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import subprocess
from pathlib import Path
from time import monotonic
from typing import Any, NamedTuple

from cli.apiserver import Api, _Handler


class Installed(NamedTuple):
    """``store`` holds the files, ``path`` is all of PATH, ``folder`` is to write in."""

    store: Path
    path: Path
    folder: Path

    def environ(self, **more: str) -> dict[str, str]:
        """Nothing of ours: no HOME that can be written, and settings that would lead another Python astray."""
        return {
            "PATH": str(self.path),
            "HOME": "/proc/none",
            "LANG": "C.UTF-8",
            "PYTHONHOME": "/proc/none",
            "PYTHONPATH": "/proc/none",
            "KUBECACHEDIR": str(self.folder / "cache"),
            "KUBERC": "off",
            **more,
        }

    def kubectl(self, *words: str, **more: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [self.path / "kubectl", *words],
            env=self.environ(**more),
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    def kres(self, *words: str, **more: str) -> tuple[int, str, str]:
        done = self.kubectl("kres", *words, **more)
        return done.returncode, done.stdout, done.stderr

    def kubeconfig(self, url: str, cluster: dict[str, Any] | None = None, user: dict[str, Any] | None = None) -> str:
        config = {
            "clusters": [{"name": "lab", "cluster": {"server": url, **(cluster or {})}}],
            "users": [{"name": "me", "user": user or {}}],
            "contexts": [{"name": "lab", "context": {"cluster": "lab", "namespace": "shop", "user": "me"}}],
            "current-context": "lab",
        }
        path = self.folder / "kubeconfig"
        path.write_text(json.dumps(config))
        return str(path)

    def screen(self, *words: str, until: str, keys: bytes, seconds: float = 60) -> tuple[str, int]:
        """What a terminal shows until ``until`` is on it, then after the keys until the program ends; its code."""
        controller, terminal = pty.openpty()
        settings = self.environ(TERM="xterm-256color", COLUMNS="120", LINES="40")
        process = subprocess.Popen(
            [self.path / "kubectl", "kres", *words],
            env=settings,
            cwd=self.folder,
            stdin=terminal,
            stdout=terminal,
            stderr=terminal,
            start_new_session=True,
        )
        os.close(terminal)
        shown, sent, end = b"", False, monotonic() + seconds
        while monotonic() < end:
            if not sent and until in plain(shown):
                os.write(controller, keys)
                sent = True
            if not select.select([controller], [], [], 0.2)[0]:
                continue
            try:
                piece = os.read(controller, 1 << 16)
            except OSError:
                break
            if not piece:
                break
            shown += piece
        os.close(controller)
        if process.poll() is None:
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
        return plain(shown), process.wait()


def plain(shown: bytes) -> str:
    """The characters without what moves the cursor."""
    return re.sub(r"\x1b(\[[0-9;?<>=]*[ -/]*[@-~]|\][^\x07\x1b]*(\x07|\x1b\\)|.)", "", shown.decode(errors="replace"))


class _Wary(_Handler):
    """Answers those who show the right token."""

    def do_GET(self) -> None:  # noqa: N802, the library calls it
        if self.headers.get("Authorization") == "Bearer right":
            super().do_GET()
            return
        self.send_response(401)
        self.send_header("Content-Length", "0")
        self.end_headers()


class Secured(Api):
    """Over TLS; ``authority`` is the file of its CA."""

    def __init__(self, authority: Path) -> None:
        super().__init__()
        self.authority = authority
        self.RequestHandlerClass = _Wary

    @property
    def url(self) -> str:
        return f"https://127.0.0.1:{self.server_address[1]}"
