"""``kubectl kres``: the plugin as a process under the real kubectl."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

#: Takes the arguments, runs in a folder of its own.
Kres = Callable[..., "subprocess.CompletedProcess[str]"]


def environment(kubeconfig: Path, kubectl: Path, folder: Path) -> dict[str, str]:
    """Where kubectl finds the plugin and both find the cluster, but nothing of the user's."""
    kept = {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}
    return {
        **kept,
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), str(kubectl.parent), os.environ.get("PATH", "")]),
        "KUBECONFIG": str(kubeconfig),
        "KUBECACHEDIR": str(folder / "kube-cache"),
        "KUBERC": "off",
        "XDG_CONFIG_HOME": str(folder / "config"),
        "XDG_CACHE_HOME": str(folder / "cache"),
    }


def plugin(kubectl: Path, env: dict[str, str], folder: Path) -> Kres:
    def call(*args: str, **more: str) -> subprocess.CompletedProcess[str]:
        command = [str(kubectl), "kres", *args]
        return subprocess.run(command, env={**env, **more}, cwd=folder, capture_output=True, text=True, check=False)

    return call
