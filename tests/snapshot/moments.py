"""The bundled example as it might have been a day before."""

from __future__ import annotations

from pathlib import Path

from msgspec.structs import replace

from kubectl_kres.snapshot import read
from kubectl_kres.snapshot.write import write

YESTERDAY = "2026-11-20T17:00:00Z"


def write_yesterday(path: Path) -> Path:
    """A quota of checkout had room, one of batch and a Deployment of staging did not exist; another one has gone."""
    store = read.read(str(read.demo_path()))
    store.open_deferred()
    store.origin = replace(store.origin, time=YESTERDAY)
    quota = store.get("ResourceQuota", "team", "checkout")
    room = dict.fromkeys(quota.status.hard, "1000Gi")
    store.add(
        "ResourceQuota", replace(quota, spec=replace(quota.spec, hard=room), status=replace(quota.status, hard=room))
    )
    store.remove("ResourceQuota", "best-effort", "batch")
    store.remove("Deployment", "workers", "staging")
    checkout = store.get("Deployment", "checkout", "checkout")
    store.add("Deployment", replace(checkout, metadata=replace(checkout.metadata, name="old-checkout", uid="old")))
    path.parent.mkdir(parents=True, exist_ok=True)
    write(store, str(path))
    return path
