"""Objects that controllers act on, as the numbers that the controllers work with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kubectl_kres.admission.base.server import Server
from kubectl_kres.model.raw import Raw
from kubectl_kres.simulate.controllers.deployment import fenceposts
from kubectl_kres.simulate.state import (
    DeploymentState,
    JobState,
    ReplicaSetState,
    StatefulSetState,
    WorkloadState,
)


def _number(value: Any, default: int) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else default


def _map(raw: Any, *path: str) -> Mapping[str, Any]:
    for key in path:
        raw = raw.get(key) if isinstance(raw, Mapping) else None
    return raw if isinstance(raw, Mapping) else {}


def started(raw: Raw, template: int, server: Server) -> WorkloadState:
    """A workload that was just created and has no pods."""
    kind, spec = str(raw.get("kind")), _map(raw, "spec")
    if kind == "StatefulSet":
        return _stateful_set(raw, spec, template, server)
    if kind == "Job":
        parallelism = _number(spec.get("parallelism"), 1)
        completions = spec.get("completions")
        if completions is None and "parallelism" not in spec:
            completions = 1
        return JobState(
            template, parallelism, completions, _number(spec.get("backoffLimit"), 6), bool(spec.get("suspend"))
        )
    replicas = _number(spec.get("replicas"), 1)
    if kind == "Deployment":
        surge, unavailable = _fenceposts(spec, replicas)
        recreate = _map(spec, "strategy").get("type") == "Recreate"
        return DeploymentState(template, replicas, surge, unavailable, recreate, bool(spec.get("paused")))
    return ReplicaSetState(template, replicas)


def _fenceposts(spec: Raw, replicas: int) -> tuple[int, int]:
    strategy = _map(spec, "strategy")
    if strategy.get("type") == "Recreate":
        return 0, 0
    rolling = _map(strategy, "rollingUpdate")
    return fenceposts(rolling.get("maxSurge"), rolling.get("maxUnavailable"), replicas)


def _stateful_set(raw: Raw, spec: Raw, template: int, server: Server) -> StatefulSetState:
    strategy = _map(spec, "updateStrategy")
    rolling = _map(strategy, "rollingUpdate")
    claims = tuple(str(_map(claim, "metadata").get("name", "")) for claim in spec.get("volumeClaimTemplates") or ())
    replicas = _number(spec.get("replicas"), 1)
    return StatefulSetState(
        str(_map(raw, "metadata").get("name", "")),
        template,
        template,
        replicas,
        _number(_map(spec, "ordinals").get("start"), 0),
        spec.get("podManagementPolicy") == "Parallel",
        _number(rolling.get("partition"), 0),
        strategy.get("type") == "OnDelete",
        _at_once(rolling.get("maxUnavailable"), replicas) if server.on("MaxUnavailableStatefulSet") else None,
        claims,
    )


def _at_once(share: Any, replicas: int) -> int:
    """How many pods may be away at once. Source: stateful_set_utils.go getStatefulSetMaxUnavailable."""
    return 1 if share is None else max(1, share if isinstance(share, int) else fenceposts(0, share, replicas)[1])


def changed(state: WorkloadState, raw: Raw, template: int, server: Server) -> WorkloadState:
    """The workload after its object was updated: pods stay, what is wanted is new."""
    new = started(raw, template, server)
    match new, state:
        case DeploymentState(), DeploymentState():
            return new._replace(sets=state.sets)
        case StatefulSetState(), StatefulSetState():
            return new._replace(current=state.current, pods=state.pods)
        case JobState(), JobState():
            new = new._replace(pods=state.pods, finished=state.finished, ended=state.ended)
            return new._replace(succeeded=state.succeeded, failed=state.failed)
        case ReplicaSetState(), ReplicaSetState():
            return new._replace(pods=state.pods)
    return new
