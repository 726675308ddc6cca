"""Counts of pods: wanted, existing, newest, and the surplus of a rolling update."""

# ruff: noqa: PLC0415 - only pods with volumes of their own wait for claims
from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Literal, TypeVar

from msgspec import structs

from kubectl_kres.errors import UsageError
from kubectl_kres.model.pod import Pod, PodTemplateSpec
from kubectl_kres.model.workload import (
    POD_HASH,
    ControllerRevision,
    Workload,
    daemon_bounds,
    fenceposts,
    same_template,
    selector_text,
)
from kubectl_kres.model.workload_kinds import REVISIONS, SCALED
from kubectl_kres.record import Record, Sentence
from kubectl_kres.reports.common.owners import controller, owned_by, pods_of_sets
from kubectl_kres.store.store import ReadRequest, Store

T = TypeVar("T")

#: Statuses that end a job.
_ENDED = {"Complete", "Failed", "Suspended"}


class IdleReason(Sentence, frozen=True):
    """Why a workload wants no pods: it is a Job that is complete, has failed (``reason``: its condition's) or is
    suspended, or nothing asks for any.
    """

    kind: Literal["complete", "failed", "suspended", "none-wanted"]
    reason: str = ""


class Replicas(Record, frozen=True):
    """The pods of a workload. ``wanted`` 0: it makes pods by itself, as a CronJob does, or none at present.

    ``updated``: how many of the existing ones are of the newest template; absent: all, or the kind replaces none by
    itself. ``kept``: pods that may stay of an older template, as the partition of a StatefulSet or a pause has it.
    strategy: how its pods are replaced, empty if they are not. surge: how many pods more than ``wanted`` there may be
    meanwhile, unavailable: how many fewer; both after the server's rounding of percentages.
    failing: pods are being refused. waiting: pods that exist and lack a claim that is made for them.
    idle_reason: why none is wanted, or none is made at present.
    """

    wanted: int
    existing: int
    strategy: str = ""
    surge: int = 0
    unavailable: int = 0
    failing: bool = False
    updated: int | None = None
    kept: int = 0
    idle_reason: IdleReason | None = None
    waiting: int = 0

    @property
    def newest(self) -> int:
        """The number of pods of the newest template."""
        return self.existing if self.updated is None else self.updated

    @property
    def old_pods(self) -> int:
        """The number of pods of older templates."""
        return max(0, self.existing - self.newest)

    @property
    def missing_pods(self) -> int:
        """The number of wanted pods of the newest template that do not exist, or cannot start without a claim."""
        absent = max(0, self.wanted - self.existing, self.wanted - min(self.kept, self.old_pods) - self.newest)
        return min(self.wanted, absent + self.waiting)


def replicas_of(kind: str, workload: Workload) -> Replicas | None:
    """Return the replicas; None for kinds without a number of pods, and for a number below zero, which a server
    refuses.

    Raises UsageError for a surge that is no count and no percentage.
    """
    spec, status = workload.spec, workload.status
    wanted = 1 if spec.replicas is None else spec.replicas
    if wanted < 0:
        return None
    match kind:
        case "Deployment":
            return _deployment(wanted, workload)
        case "StatefulSet":
            return _stateful_set(wanted, workload)
        case "ReplicaSet" | "ReplicationController":
            return Replicas(wanted, status.replicas)
        case "DaemonSet":
            return _daemon_set(workload)
        case "Job":
            parallel = _parallel(workload)
            return Replicas(
                parallel, status.running_pods, idle_reason=None if parallel else reason_for_no_pods(workload)
            )
        case _:
            from kubectl_kres.model.pod_places import KINDS

            # Of a kind that makes pods elsewhere, the part that was asked about.
            return Replicas(wanted, status.replicas) if kind in KINDS else None


def pods_of_one_job(workload: Workload) -> int:
    """Return how many pods one Job of a CronJob runs at once."""
    spec = workload.spec.job_template.spec if workload.spec.job_template is not None else None
    if spec is None:
        return 1
    parallelism = 1 if spec.parallelism is None else spec.parallelism
    return parallelism if spec.completions is None else min(parallelism, spec.completions)


def finished_pods_of_one_job(workload: Workload) -> int:
    """Return how many pods one Job of a CronJob leaves behind where none of them fails."""
    spec = workload.spec.job_template.spec if workload.spec.job_template is not None else None
    completions = spec.completions if spec is not None else None
    return pods_of_one_job(workload) if completions is None else completions


def is_failing(workload: Workload) -> bool:
    """Return whether the cluster says that pods of it are being refused. Events of a time that is over may say
    so, too.
    """
    return any(
        condition.type == "ReplicaFailure" and condition.status == "True"
        for condition in workload.status.conditions or ()
    )


def is_older_revision(owner: Workload, pod: Pod) -> bool:
    """Return whether a pod of a StatefulSet is of an older template than the one that it has now."""
    newest = owner.status.update_revision
    return bool(newest) and (pod.metadata.labels or {}).get("controller-revision-hash", "") not in {"", newest}


def is_settled(kind: str, workload: Workload) -> bool:
    """Return whether all pods that a workload keeps exist, are of its current template, and are ready."""
    if kind not in SCALED:
        return False
    status = workload.status
    try:
        replicas = replicas_of(kind, workload)
    except UsageError:
        return False
    return (
        replicas is not None
        and not (replicas.missing_pods or replicas.old_pods or is_failing(workload))
        and status.ready_replicas >= replicas.wanted
        and status.observed_generation >= workload.metadata.generation
    )


def reason_for_no_pods(workload: Workload) -> IdleReason:
    """Return why a workload that wants no pods wants none."""
    for condition in workload.status.conditions or ():
        if condition.status == "True" and condition.type in {"Complete", "Failed"}:
            return IdleReason("complete") if condition.type == "Complete" else IdleReason("failed", condition.reason)
    return IdleReason("suspended" if workload.spec.suspend else "none-wanted")


def _deployment(wanted: int, workload: Workload) -> Replicas:
    """Return the replicas of a Deployment."""
    spec, status = workload.spec, workload.status
    strategy = spec.strategy
    kind, surge, unavailable = "Recreate", 0, wanted
    if strategy is None or strategy.type != "Recreate":
        rolling = strategy.rolling_update if strategy is not None else None
        bounds = (rolling.max_surge, rolling.max_unavailable) if rolling is not None else (None, None)
        kind, (surge, unavailable) = "RollingUpdate", fenceposts(*bounds, wanted)
    return Replicas(
        wanted, status.replicas, kind, surge, unavailable,
        updated=_count_updated_pods(workload, status.updated_replicas),
        kept=wanted if spec.paused else 0,
        idle_reason=None if wanted else reason_for_no_pods(workload),
    )  # fmt: skip


def _count_updated_pods(workload: Workload, count: int) -> int | None:
    """Return the pods of the newest template, as the controller counts them; None where no controller has."""
    return count if workload.status.observed_generation else None


def _stateful_set(wanted: int, workload: Workload) -> Replicas:
    """Return the replicas of a StatefulSet.

    Source: controller/statefulset stateful_set_control.go updateStatefulSet: pods below the partition stay.
    """
    strategy, status = workload.spec.update_strategy, workload.status
    kind = (strategy.type if strategy else "") or "RollingUpdate"
    if kind != "RollingUpdate":
        return Replicas(wanted, status.replicas, kind)
    rolling = strategy.rolling_update if strategy is not None else None
    partition = rolling.partition or 0 if rolling is not None else 0
    known = status.current_revision and status.update_revision
    same = not known or status.current_revision == status.update_revision
    updated = None if same else status.updated_replicas
    return Replicas(wanted, status.replicas, kind, 0, 1, updated=updated, kept=max(0, min(partition, wanted)))


def _daemon_set(workload: Workload) -> Replicas:
    """Return the replicas of a DaemonSet. Without a surge old pods end first."""
    status, strategy = workload.status, workload.spec.update_strategy
    kind = (strategy.type if strategy else "") or "RollingUpdate"
    rolling = strategy.rolling_update if strategy is not None else None
    wanted = status.desired_number_scheduled
    updated = _count_updated_pods(workload, status.updated_number_scheduled) if kind == "RollingUpdate" else None
    most, fewest = daemon_bounds(rolling, wanted) if kind == "RollingUpdate" else (0, 0)
    return Replicas(wanted, status.current_number_scheduled, kind, most, fewest, updated=updated)


def _parallel(job: Workload) -> int:
    """Return how many pods a job runs at once; one without completions adds none after the first success."""
    spec, status = job.spec, job.status
    ended = any(condition.type in _ENDED and condition.status == "True" for condition in status.conditions or ())
    if ended or spec.suspend:
        return 0
    parallelism = 1 if spec.parallelism is None else spec.parallelism
    if spec.completions is None:
        return min(parallelism, status.running_pods) if status.succeeded else parallelism
    return max(0, min(parallelism, spec.completions - status.succeeded))


_REVISION = "deployment.kubernetes.io/revision"


def _remembered(store: Store, name: str, kind: str, workload: Workload, make: Callable[[], T]) -> T:
    """Return what ``make`` makes of a workload and its revisions: of one that is stored once, until either changes."""
    made = REVISIONS[kind].kind if kind in REVISIONS else kind
    known: dict[tuple[str, str], tuple[Workload, T]] = store.memo((name, kind), (kind, made), None, dict)
    key = workload.metadata.namespace, workload.metadata.name
    entry = known.get(key)
    if entry is not None and entry[0] is workload:
        return entry[1]
    result = make()
    if store.get(kind, key[1], key[0]) is workload:
        known[key] = workload, result
    return result


def pods_of(store: Store, kind: str, workload: Workload) -> Replicas | None:
    """Return ``replicas_of`` with whether pods are being refused, and how many wait. Raises what that raises."""
    replicas = _remembered(store, "pods", kind, workload, lambda: _pods_by_revision(store, kind, workload))
    waiting = _count_waiting_pods(store, kind, workload) if replicas is not None else 0
    if replicas is None or not waiting or lacks_revision(store, kind, workload):
        return replicas
    return structs.replace(replicas, waiting=waiting)


def _pods_by_revision(store: Store, kind: str, workload: Workload) -> Replicas | None:
    replicas = replicas_of(kind, workload)
    if replicas is None:
        return None
    newest = newest_set(store, workload) if kind == "Deployment" else None
    if newest is not None:
        # The Deployment's own count may come later.
        replicas = structs.replace(replicas, updated=newest.status.replicas)
    if lacks_revision(store, kind, workload):
        # What the status says of updated pods is about the template before.
        replicas = structs.replace(replicas, updated=0)
        if kind == "DaemonSet" and not workload.status.observed_generation:
            # How many it wants is counted after its revision is made: one pod at least is not there.
            replicas = structs.replace(replicas, wanted=max(1, replicas.wanted), idle_reason=None)
    if not is_failing(workload):
        return replicas
    # A Deployment says of itself what any of its ReplicaSets does, also one that it is about to scale down.
    past = newest is not None and not is_failing(newest) and newest.status.replicas >= max(1, wanted_of_set(newest))
    return structs.replace(replicas, failing=not past)


def wanted_of_set(replica_set: Workload) -> int:
    """Return how many pods a ReplicaSet is to have."""
    return 1 if replica_set.spec.replicas is None else replica_set.spec.replicas


#: The label that a Deployment adds to the template of each of its ReplicaSets.
_REFUSED = "ReplicaSetCreateError"


def lacks_revision(store: Store, kind: str, workload: Workload) -> bool:
    """Return whether the template as it is now has no ReplicaSet or ControllerRevision yet, as far as the store tells.

    Both are made before any pod is touched. Where one is refused, ``observedGeneration`` stays behind, and what the
    status says of updated pods is about the template before.
    Source: controller/deployment sync.go getNewReplicaSet; statefulset stateful_set_control.go getStatefulSetRevisions;
    daemon update.go constructHistory.
    """
    status = workload.status
    if kind not in REVISIONS or workload.spec.paused:
        return False
    made = REVISIONS[kind].kind
    owned = owned_by(store, made, workload.metadata.namespace, (kind, workload.metadata.name))
    if kind == "Deployment" and any(_condition_refusals(workload)):
        # The controller sets the generation that it has seen when it scales, too.
        return not any(same_template(workload.spec.template, _template(item)) for item in owned)
    if status.observed_generation >= workload.metadata.generation:
        return False
    if not owned and not store.covered(_build_read_request(made, workload)).is_known:
        # Nobody asked for them, as no quota counts them, or they could not be read.
        return False
    return not any(same_template(workload.spec.template, _template(item)) for item in owned)


def _build_read_request(made: str, workload: Workload) -> ReadRequest:
    selector = selector_text(workload.spec.selector)
    return ReadRequest(made, workload.metadata.namespace, label_selector=selector, required=False)


def _condition_refusals(deployment: Workload) -> Iterator[bool]:
    for condition in deployment.status.conditions or ():
        yield condition.type == "Progressing" and condition.status == "False" and condition.reason == _REFUSED


def _template(item: Workload | ControllerRevision) -> PodTemplateSpec | None:
    return item.data.spec.template if isinstance(item, ControllerRevision) else item.spec.template


def _count_waiting_pods(store: Store, kind: str, workload: Workload) -> int:
    """Return how many of its pods lack a claim that is made for them."""
    template = workload.spec.template
    if template is None or not (template.spec.volumes or template.spec.resource_claims):
        return 0
    from kubectl_kres.reports.common.objects import waiting_pods

    return len(waiting_pods(store, kind, workload))


def newest_set(store: Store, deployment: Workload) -> Workload | None:
    """Return the ReplicaSet of the template as it is now; None where the store does not say which one that is.

    Source: controller/deployment sync.go getReplicaFailures; util/deployment_util.go SetNewReplicaSetAnnotations.
    """
    return _remembered(store, "newest set", "Deployment", deployment, lambda: _newest_set(store, deployment))


def _newest_set(store: Store, deployment: Workload) -> Workload | None:
    name, namespace = deployment.metadata.name, deployment.metadata.namespace
    owned = owned_by(store, "ReplicaSet", namespace, ("Deployment", name))
    if not owned or any(revision_of(item) < 0 for item in owned) or lacks_revision(store, "Deployment", deployment):
        return None
    alike = [item for item in owned if same_template(deployment.spec.template, _template(item))]
    if not alike and deployment.spec.paused:
        # Its set is made once it goes on.
        return None
    newest: Workload = max(alike or owned, key=revision_of)
    return newest


def sole_replica_set(store: Store, deployment: Workload) -> str:
    """Return the name of the one ReplicaSet whose pods are all that a Deployment counts; empty where the store holds
    others.

    A ReplicaSet is known by its name, the Deployment's and a hash that its pods are labelled with. Source:
    controller/deployment sync.go getNewReplicaSet.
    """
    name, namespace = deployment.metadata.name, deployment.metadata.namespace
    active = [
        (controller(pod)[1], pod)
        for pod in pods_of_sets(store, namespace, name)
        if not pod.metadata.deletion_timestamp and pod.status.phase not in {"Succeeded", "Failed"}
    ]
    owners = {owner for owner, pod in active if owner == f"{name}-{(pod.metadata.labels or {}).get(POD_HASH, '')}"}
    if len(owners) != 1 or len({owner for owner, _ in active}) != 1 or len(active) != deployment.status.replicas:
        return ""
    return owners.pop()


def newest_set_name(store: Store, deployment: Workload) -> str:
    """Return the name of the same, also where a settled Deployment and its pods tell it; empty where nothing does."""
    newest = newest_set(store, deployment)
    if newest is not None:
        return newest.metadata.name
    status = deployment.status
    current = status.observed_generation >= deployment.metadata.generation
    return sole_replica_set(store, deployment) if current and status.updated_replicas == status.replicas else ""


def revision_of(replica_set: Workload) -> int:
    """Return the number that its Deployment gave it; below zero where it has none."""
    text = (replica_set.metadata.annotations or {}).get(_REVISION, "")
    return int(text) if text.isdecimal() and len(text) < 20 else -1
