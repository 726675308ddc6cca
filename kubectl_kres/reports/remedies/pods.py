"""The pods of a workload by template, their quota costs, and the next steps of its controller."""

# ruff: noqa: PLC0415 - few pods have volumes of their own or come from a file
from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct, structs

from kubectl_kres.admission.base.draft import Unparsable
from kubectl_kres.admission.base.outcome import Finding, Outcome
from kubectl_kres.admission.base.server import Server
from kubectl_kres.admission.quota import quota_admission
from kubectl_kres.admission.request.new_pod import Policies, admit, quota_request
from kubectl_kres.errors import UsageError
from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.model.pod import Pod
from kubectl_kres.model.workload import Workload, template_of
from kubectl_kres.reports.common.analysis import Analysis
from kubectl_kres.reports.common.explanation import Subject, manifest_workload, pod_of_template
from kubectl_kres.reports.common.owners import controller, owned_by
from kubectl_kres.reports.common.replicas import Replicas, pods_of, pods_of_one_job, replicas_of
from kubectl_kres.reports.pod.needs import makes_objects
from kubectl_kres.reports.pod.pod_claims import MissingClaims, has_account, missing_claims
from kubectl_kres.store.store import Store

if TYPE_CHECKING:
    from kubectl_kres.admission.request.pod_objects import Creation

_REVISION = "deployment.kubernetes.io/revision"
_STATEFUL = "controller-revision-hash"
_QUOTA_EXCEEDED = "quota/exceeded"
#: What refuses a template and is mended by other values of it.
OF_VALUES = frozenset({
    "limitrange/min", "limitrange/max", "limitrange/ratio", "quota/must-specify", "validation/request-over-limit",
    "validation/request-equals-limit", "validation/limit-required", "validation/integer",
    "pod-level/request-below-containers", "pod-level/hugepages-below-containers", "pod-level/container-limit",
})  # fmt: skip
#: What edits are found for; whatever else refuses stays.
TRIED = OF_VALUES | {_QUOTA_EXCEEDED}


class ExistingPods(Struct, frozen=True):
    """The pods of one template: how many are wanted and exist, and what one frees when it ends (None: its price)."""

    pod: Pod
    wanted: int
    pods: int
    back: quota_admission.Price | None = None
    newest: bool = False


class OwnedPods(Struct, frozen=True):
    """The pods that an object makes; those that exist come with the oldest template first.

    ``fresh``: the object is created again for each change of its template, so that its own pods end first. ``claims``:
    those of each missing pod. ``counted``: the quota resource of the object itself, where it is new. ``first``: the
    objects made before any pod, ``lacking``: for pods that exist, ``kept``: the finished pods that will be kept.
    ``rivals``: other workloads that lack pods.
    """

    kind: str
    wanted: int
    replicas: Replicas | None = None
    existing: tuple[ExistingPods, ...] = ()
    fresh: bool = False
    claims: tuple[MissingClaims, ...] = ()
    counted: str = ""
    rivals: tuple[Rival, ...] = ()
    first: tuple[Creation, ...] = ()
    lacking: tuple[Creation, ...] = ()
    kept: tuple[Creation, ...] = ()


class Rival(Struct):
    """Another workload that lacks pods, and takes what room it finds: the pod of its template, and its existing pods.

    ``evaluated``: the pod under the policies of the last evaluation.
    """

    ref: ObjectRef
    pod: Pod
    owned_pods: OwnedPods
    last_faults: tuple[Policies, PodFaults] | None = None


def find_owned_pods(store: Store, subject: Subject, analysis: Analysis, server: Server) -> OwnedPods | None:
    """Return the pods of a workload; None for an object without a known number of pods, or without any at present.

    Raises Unparsable.
    """
    owned_pods = _find_owned_pods(store, subject, analysis, server)
    if owned_pods is None:
        return None
    account = analysis.account
    if account is None and has_account(subject, analysis):
        from kubectl_kres.reports.account import build_account

        account = build_account(store, subject, analysis)
    if account is None:
        return owned_pods
    return structs.replace(owned_pods, first=account.first, lacking=account.lacking, kept=account.kept)


def _find_owned_pods(store: Store, subject: Subject, analysis: Analysis, server: Server) -> OwnedPods | None:
    kind, owner = subject.ref.kind, analysis.manifest.owner
    if analysis.manifest.live is not None or (subject.raw is not None and kind == "Pod"):
        live = (ExistingPods(analysis.manifest.pod, 1, 1, newest=True),) if analysis.manifest.live is not None else ()
        return OwnedPods(kind, 1, existing=live, fresh=True)
    workload = owner or manifest_workload(subject)
    if workload is None or workload.spec.suspend or workload.spec.paused:
        return None
    if kind == "CronJob":
        counted = subject.kind.qualified_name if subject.raw is not None and not _exists(store, subject) else ""
        return OwnedPods(kind, pods_of_one_job(workload), counted=counted)
    stored = store.get(kind, subject.ref.name, subject.ref.namespace) if subject.raw is not None else workload
    stored_workload = stored if isinstance(stored, Workload) else None
    try:
        replicas = replicas_of(
            kind, structs.replace(workload, status=stored_workload.status) if stored_workload is not None else workload
        )
        if replicas is None or not replicas.wanted:
            return None
        quotas = analysis.policies.policies.quotas
        existing = (
            tuple(_existing(store, subject, stored_workload, quotas, server)) if stored_workload is not None else ()
        )
    except UsageError:
        return None
    counted = subject.kind.qualified_name if subject.raw is not None and not _exists(store, subject) else ""
    claims = missing_claims(store, subject, workload) if kind == "StatefulSet" else ()
    return OwnedPods(kind, replicas.wanted, replicas, existing, kind == "Job", claims, counted)


def _exists(store: Store, subject: Subject) -> bool:
    from kubectl_kres.reports.pod import preflight  # for files alone

    return preflight.exists(store, subject)


def _own_pods(store: Store, subject: Subject, workload: Workload) -> tuple[Pod, ...]:
    """Return the counted pods in the store that the workload, or a ReplicaSet of it, controls."""
    name, namespace = workload.metadata.name, workload.metadata.namespace
    owners = {(subject.ref.kind, name)}
    if subject.ref.kind == "Deployment":
        owners = {("ReplicaSet", replica_set_.metadata.name) for replica_set_ in _replica_sets(store, name, namespace)}
        if not owners:
            # They were not read: their names start with the Deployment's.
            pod = {controller(pod) for pod in store.all("Pod", namespace)}
            owners = {names for names in pod if names[0] == "ReplicaSet" and names[1].rpartition("-")[0] == name}
    return tuple(
        pod
        for pod in store.all("Pod", namespace)
        if controller(pod) in owners
        and pod.status.phase not in {"Succeeded", "Failed"}
        and not pod.metadata.deletion_timestamp
    )


def _replica_sets(store: Store, name: str, namespace: str) -> list[Workload]:
    """Return the ReplicaSets of a Deployment, by revision."""
    return sorted(owned_by(store, "ReplicaSet", namespace, ("Deployment", name)), key=_revision)


def _revision(workload: Workload) -> int:
    text = (workload.metadata.annotations or {}).get(_REVISION, "")
    return int(text) if text.isdecimal() and len(text) < 20 else 0


def _existing(
    store: Store, subject: Subject, stored: Workload, quotas: Sequence[quota_admission.Quota], server: Server
) -> Iterator[ExistingPods]:
    """Yield the pods of the stored object by template, oldest first."""
    kind, template = subject.ref.kind, template_of(stored)[1]
    if template is None:
        return
    pod, live = pod_of_template(template, subject), _own_pods(store, subject, stored)
    sets = _replica_sets(store, stored.metadata.name, stored.metadata.namespace) if kind == "Deployment" else []
    if sets:
        for set_ in sets:
            newest = set_ is sets[-1]
            made = template_of(set_)[1]
            own_pods = [live_pod for live_pod in live if controller(live_pod)[1] == set_.metadata.name]
            if made is not None and (set_.spec.replicas or set_.status.replicas):
                back = _price(own_pods[0], quotas, server) if own_pods else None
                count = set_.status.replicas
                yield ExistingPods(pod_of_template(made, subject), set_.spec.replicas or 0, count, back, newest)
        return
    # Where no controller has counted, nothing is known of older pods.
    counted = pods_of(store, kind, stored) if kind in {"Deployment", "DaemonSet"} else None
    if counted is not None and counted.old_pods:
        yield from _by_age(counted, pod, live, quotas, server)
        return
    count = {"Job": stored.status.running_pods, "DaemonSet": stored.status.current_number_scheduled}.get(
        kind, stored.status.replicas
    )
    revision = stored.status.update_revision if kind == "StatefulSet" else ""
    old = [pod for pod in live if revision and (pod.metadata.labels or {}).get(_STATEFUL) != revision]
    if old:
        yield ExistingPods(_as_template(old[0]), len(old), len(old), _price(old[0], quotas, server))
    new = [pod for pod in live if pod not in old]
    if count > len(old):
        back = _price(new[0], quotas, server) if new else None
        yield ExistingPods(pod, count - len(old), count - len(old), back, newest=True)


def _by_age(
    counted: Replicas, pod: Pod, live: Sequence[Pod], quotas: Sequence[quota_admission.Quota], server: Server
) -> Iterator[ExistingPods]:
    """Yield the pods of a DaemonSet, or of a Deployment whose ReplicaSets were not read: its status says how many are
    of the newest template.

    The newest pods are taken for those.
    """
    updated, count = counted.newest, counted.old_pods
    by_age = sorted(live, key=lambda pod: pod.metadata.creation_timestamp or "")
    old = by_age[: max(0, len(by_age) - updated)]
    if old:
        yield ExistingPods(_as_template(old[0]), count, count, _price(old[0], quotas, server))
    else:
        yield ExistingPods(pod, count, count)
    if updated:
        new = by_age[len(old) :]
        back = _price(new[0], quotas, server) if new else None
        yield ExistingPods(pod, updated, updated, back, newest=True)


def same_template(pod: Pod, other: Pod) -> bool:
    """Return whether two templates make pods with the same resources."""
    return pod.spec == other.spec


def _as_template(pod: Pod) -> Pod:
    return structs.replace(pod, metadata=structs.replace(pod.metadata, owner_references=None))


def _price(pod: Pod, quotas: Sequence[quota_admission.Quota], server: Server) -> quota_admission.Price | None:
    """Return the amounts that quotas count for an existing pod; None where they cannot be computed."""
    try:
        return quota_admission.sum_price(quota_admission.charges(quota_admission.pod_request(pod, server), quotas))
    except Unparsable:
        return None


def largest_amounts(prices: Iterable[quota_admission.Price]) -> dict[quota_admission.Key, int]:
    """Return the largest amount by name among several prices."""
    result: dict[quota_admission.Key, int] = {}
    for price in prices:
        for key, amount in price.items():
            result[key] = max(amount, result.get(key, amount))
    return result


class PodFaults(Struct, frozen=True):
    """An evaluated pod. ``faults``: refusals that other values remedy, not larger quotas. ``price``: its cost in
    the most expensive order.
    """

    outcomes: tuple[Outcome, ...]
    faults: tuple[Outcome, ...]
    price: Mapping[quota_admission.Key, int]


def evaluate_pod(pod: Pod, policies: Policies, server: Server) -> PodFaults:
    """Return the outcomes of the pod as its controller would send it, in every order of LimitRanges."""
    outcomes = admit(pod, policies, server, journal=False)
    faults = tuple(
        outcome for outcome in outcomes if any(finding.rule in OF_VALUES for finding in findings_of(outcome))
    )
    prices = [
        quota_admission.sum_price(quota_admission.charges(quota_request(pod, outcome.draft), policies.quotas))
        for outcome in outcomes
        if outcome.draft is not None
    ]
    objects = cost_beside(pod, policies, server)
    return PodFaults(outcomes, faults, quota_admission.with_price(largest_amounts(prices), objects))


def cost_beside(pod: Pod, policies: Policies, server: Server) -> dict[quota_admission.Key, int]:
    """Return the cost of the objects that are made for a pod."""
    if not makes_objects(pod.spec):
        return {}
    from kubectl_kres.admission.request.pod_objects import objects_of

    return objects_price(objects_of(pod, policies, server), policies)


def objects_price(creations: Sequence[Creation], policies: Policies) -> dict[quota_admission.Key, int]:
    """Return the sum of the objects' costs."""
    total: dict[quota_admission.Key, int] = {}
    if not creations:
        return total
    from kubectl_kres.admission.request.pod_objects import object_charges

    for charge in object_charges(creations, policies.quotas):
        total = quota_admission.with_price(total, quota_admission.sum_price((charge,)))
    return total


def findings_of(outcome: Outcome) -> Sequence[Finding]:
    """Return the findings that refuse; empty: nothing does."""
    return outcome.refusal.findings if outcome.refusal is not None else ()


def lacks_only_room(outcome: Outcome) -> bool:
    """Return whether only full quotas refuse."""
    findings = findings_of(outcome)
    return bool(findings) and all(finding.rule == _QUOTA_EXCEEDED for finding in findings)
