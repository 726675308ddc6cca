"""How objects to answer from are opened: a live cluster, a snapshot, the bundled example."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from kubectl_kres.api.clusters import Cluster, SnapshotCluster


def open_cluster(
    api_client: Any = None,
    *,
    kubeconfig: str = "",
    context: str = "",
    namespace: str = "",
    request_timeout: float = 0.0,
) -> Cluster:
    """Return a live cluster; nothing is sent yet.

    ``api_client``: a ``kubernetes.client.ApiClient``, through which everything is read, so that its login, its proxy
    and its certificates are used, and no kubeconfig. Without one it is as ``kubectl`` does: the kubeconfig and its
    context, or the service account inside a cluster. ``request_timeout`` in seconds, 0: none. Raises ConfigError,
    UsageError for a client of another library.
    """
    from kubectl_kres.api import live

    if api_client is None:
        return live.of_kubeconfig(kubeconfig, context, namespace, request_timeout)
    return live.of_client(api_client, namespace, request_timeout)


def open_snapshot(path: str | Path, *, namespace: str = "") -> Cluster:
    """Return a file that ``kubectl kres snapshot --out FILE`` wrote. The first answer raises SnapshotError if it is
    none.
    """
    return SnapshotCluster(Path(path), namespace)


def demo() -> Cluster:
    """Return the bundled example, as with ``--demo``."""
    from kubectl_kres.snapshot import read as bundled

    return SnapshotCluster(bundled.demo_path(), "")
