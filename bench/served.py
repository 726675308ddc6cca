"""Synthetic clusters that are kept in the cache, and a server of one while it is measured."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from measure import WrongError

HERE = Path(__file__).resolve().parent
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "kubectl-kres"
#: Counts up when cluster.py makes other objects from the same arguments.
FORM = 6
OTHER_FORM = re.compile(r"(v\d+-)?\d+(-\d+)+")
SEED, NODES, NAMESPACES, POOLS = 1, 500, 200, 10
READY_SECONDS = 30.0


def cluster(pods: int, taskruns: int = 0, claims: int = 0, namespaces: int = NAMESPACES, nodes: int = NODES) -> Path:
    """The folder of a synthetic cluster, made if it is not there. Older forms of it are removed."""
    sizes = {"pods": pods, "nodes": nodes, "namespaces": namespaces, "seed": SEED, "runs": taskruns, "claims": claims}
    sizes |= {"pools": POOLS if claims else 0}
    name = "-".join(str(size) for size in sizes.values())
    folder = CACHE / "bench" / f"v{FORM}-{name}"
    if not (folder / "truth.json").exists():
        for old in (CACHE / "bench").glob("*"):
            if OTHER_FORM.fullmatch(old.name) and not old.name.startswith(f"v{FORM}-"):
                shutil.rmtree(old)
        flags = [text for key, size in sizes.items() for text in (f"--{key}", str(size))]
        subprocess.run([sys.executable, HERE / "cluster.py", *flags, "--out", folder], check=True, stdout=sys.stderr)
    return folder


def truth(folder: Path) -> dict:
    found: dict = json.loads((folder / "truth.json").read_text())
    return found


@contextmanager
def served(folder: Path, *flags: str) -> Iterator[dict[str, str]]:
    """An API server of these objects, started with more ``flags``; the environment in which commands find it.

    Raises WrongError if it does not start. BENCH_SERVER is its address.
    """
    with tempfile.TemporaryDirectory(prefix="bench-") as made:
        config, port = Path(made) / "kubeconfig", Path(made) / "port"
        command = [sys.executable, HERE / "fake_apiserver.py", folder, "--port", "0", "--port-file", port]
        server = subprocess.Popen([*command, "--kubeconfig", config, *flags], stdout=subprocess.DEVNULL)
        try:
            deadline = time.monotonic() + READY_SECONDS
            while not port.exists() or not port.read_text():
                if server.poll() is not None or time.monotonic() > deadline:
                    raise WrongError("the server does not start")
                time.sleep(0.02)
            found = {"KUBECONFIG": str(config), "KUBECACHEDIR": f"{made}/cache", "KUBERC": "off"}
            yield {**os.environ, **found, "BENCH_SERVER": f"http://127.0.0.1:{port.read_text()}"}
        finally:
            server.terminate()
            server.wait()
