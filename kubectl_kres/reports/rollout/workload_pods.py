"""The pods of a workload in the cluster, and whether pods of it are being refused."""

from __future__ import annotations

from msgspec import structs

from kubectl_kres.model.workload import Workload
from kubectl_kres.reports.common.replicas import Replicas, is_failing, replicas_of
from kubectl_kres.reports.pod.owned import owned_by, sole_replica_set
from kubectl_kres.store.store import Store

_REVISION = "deployment.kubernetes.io/revision"


def pods_of(store: Store, kind: str, workload: Workload) -> Replicas | None:
    """As ``replicas_of``, with whether pods are being refused. Raises what that raises."""
    replicas = replicas_of(kind, workload)
    if replicas is None:
        return None
    newest = newest_set(store, workload) if kind == "Deployment" else None
    if newest is not None:
        # The Deployment's own count may come later.
        replicas = structs.replace(replicas, updated=newest.status.replicas)
    if not is_failing(workload):
        return replicas
    # A Deployment says of itself what any of its ReplicaSets does, also one that it is about to scale down.
    past = newest is not None and not is_failing(newest) and newest.status.replicas >= replicas.wanted
    return structs.replace(replicas, failing=not past)


def newest_set(store: Store, deployment: Workload) -> Workload | None:
    """The ReplicaSet of the template as it is now; None where the store does not say which one that is.

    Source: controller/deployment sync.go getReplicaFailures; util/deployment_util.go SetNewReplicaSetAnnotations.
    """
    name, namespace = deployment.metadata.name, deployment.metadata.namespace
    owned = owned_by(store, "ReplicaSet", namespace, ("Deployment", name))
    if not owned or any(revision_of(item) < 0 for item in owned):
        return None
    newest: Workload = max(owned, key=revision_of)
    return newest


def newest_set_name(store: Store, deployment: Workload) -> str:
    """The name of the same, also where a settled Deployment and its pods tell it; empty where nothing does."""
    newest = newest_set(store, deployment)
    if newest is not None:
        return newest.metadata.name
    status = deployment.status
    current = status.observed_generation >= deployment.metadata.generation
    return sole_replica_set(store, deployment) if current and status.updated_replicas == status.replicas else ""


def revision_of(replica_set: Workload) -> int:
    """The number that its Deployment gave it; below zero where it has none."""
    text = (replica_set.metadata.annotations or {}).get(_REVISION, "")
    return int(text) if text.isdecimal() and len(text) < 20 else -1
