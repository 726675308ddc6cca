"""The contexts of namespaces whose objects are all in a store, and the reads of a check.

A check reads the policies and workloads of namespaces, what rules of systems look at, and the pods one by one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kubectl_kres.admission.base.server import Server
from kubectl_kres.admission.quota.usage import is_terminal
from kubectl_kres.model.kinds import BY_KIND
from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.model.pod import Pod
from kubectl_kres.model.workload_kinds import POD_MAKERS
from kubectl_kres.reports.check.context import CheckContext, RemedyBudget
from kubectl_kres.reports.check.system import checked_kinds
from kubectl_kres.reports.check.system import systems as check_systems
from kubectl_kres.reports.common.explanation import EvaluationOptions, FailedRead, Subject, find_unread
from kubectl_kres.reports.common.owners import controller
from kubectl_kres.reports.common.system import AboutObject, kinds_of, reads_for, systems
from kubectl_kres.reports.pod.needs import list_read_requests
from kubectl_kres.reports.quota import denied
from kubectl_kres.reports.quota.denied import denied_needs
from kubectl_kres.reports.quota.usage_tree import counting_needs
from kubectl_kres.store.store import ReadRequest, Store


def check_needs(namespace: str) -> tuple[ReadRequest, ...]:
    """Return the reads for the workloads of a namespace; empty: of all. The pods are read page by page."""
    kinds = ("HorizontalPodAutoscaler", *checked_kinds())
    return (*denied_needs(namespace), *(ReadRequest(kind, namespace, required=False) for kind in kinds))


def checked_objects(store: Store, namespace: str) -> Iterator[Subject]:
    """Yield the objects that rules of systems look at beside workloads. ``namespace`` empty: of every one."""
    for kind in checked_kinds():
        for item in store.all(kind, namespace or None):
            yield Subject(ObjectRef(kind, item.metadata.name, item.metadata.namespace), BY_KIND[kind])


def object_reads(store: Store, subject: Subject) -> tuple[ReadRequest, ...]:
    """Return the reads that the answer about an object of a system depends on."""
    return tuple(reads_for(store, AboutObject(subject)))


def missing_reads(store: Store, reads: Iterable[ReadRequest]) -> tuple[FailedRead, ...]:
    """Return the reads that rules lack: all that are required, and of the rest what failed and what was refused.

    A user who may not read a system's kinds gets no finding about it: a server without that system answers the same.
    """
    brought = {system.group for system in systems() if system.group}
    return tuple(
        failed_read
        for failed_read in find_unread(store, reads)
        if failed_read.required
        or failed_read.state == "failed"
        or (failed_read.state == "denied" and BY_KIND[failed_read.kind].group not in brought)
    )


def missing_of_cluster(store: Store) -> tuple[FailedRead, ...]:
    """Return the reads of what is in no namespace that failed, one of each kind; who may not read it is a tenant."""
    unread = [failed_read for failed_read in find_unread(store, cluster_needs(store)) if failed_read.state == "failed"]
    return tuple({failed_read.kind: failed_read for failed_read in reversed(unread)}.values())


def cluster_needs(store: Store) -> tuple[ReadRequest, ...]:
    """Return the reads of what is in no namespace. No finding says so where these are refused or the kind does not
    exist.
    """
    of_systems = [read for system in check_systems() if system.reads is not None for read in system.reads(store)]
    reads = (*of_systems, ReadRequest("Namespace"))
    return tuple(
        ReadRequest(read.kind, read.namespace, read.name, read.label_selector, required=False) for read in reads
    )


_POD = BY_KIND["Pod"]


def contexts_of(store: Store, options: EvaluationOptions, namespace: str) -> Iterator[CheckContext]:
    """Yield the context of the namespace, or of each if it is empty, then the one of what is in no namespace."""
    lacks = missing_reads(store, (*check_needs(namespace), ReadRequest(_POD.kind, namespace)))
    budget, by_space = RemedyBudget(), makers(store, namespace)
    kinds = (_POD.kind, "LimitRange", "ResourceQuota")
    with_policies = {item.metadata.namespace for kind in kinds for item in store.all(kind, namespace or None)}
    for space in [namespace] if namespace else sorted({*by_space, *with_policies}):
        pods = unmade(store.all(_POD.kind, space))
        alone = (Subject(ObjectRef(_POD.kind, pod.metadata.name, space), _POD) for pod in pods)
        yield CheckContext(store, options, space, (*by_space.get(space, ()), *alone), lacks, budget=budget)
        lacks = ()
    spaces = (namespace,) if namespace else ()
    yield CheckContext(store, options, unread=missing_of_cluster(store), spaces=spaces)


def context_needs(store: Store, namespace: str) -> Iterator[ReadRequest]:
    """Yield the reads of ``contexts_of``, as far as they are known by now: called again after each reading."""
    yield from check_needs(namespace)
    yield ReadRequest(_POD.kind, namespace)
    yield from denied.needs_of_systems(store, namespace)
    for subject in checked_objects(store, namespace):
        yield from object_reads(store, subject)
    for subjects in makers(store, namespace).values():
        for subject in subjects:
            yield from list_read_requests(store, subject)
    yield from counting_needs(tuple(store.all("ResourceQuota", namespace or None)), Server(), namespace)
    yield from cluster_needs(store)


def makers(store: Store, scope: str) -> dict[str, list[Subject]]:
    """Return the objects that make pods, by namespace."""
    subjects: dict[str, list[Subject]] = {}
    for kind in POD_MAKERS:
        for item in store.all(kind, scope or None):
            if denied.is_top_level(item) and controller(item)[0] != "CronJob":
                space = item.metadata.namespace
                subjects.setdefault(space, []).append(
                    Subject(ObjectRef(kind, item.metadata.name, space), BY_KIND[kind])
                )
    for ref, _ in denied.waiting_objects(store, scope):
        subjects.setdefault(ref.namespace, []).append(Subject(ref, BY_KIND[ref.kind]))
    return subjects


def unmade(pods: Iterable[Pod]) -> Iterator[Pod]:
    """Yield the pods that no known object makes; of those of one owner the first."""
    makers = {*POD_MAKERS, *kinds_of("waits")}
    seen: set[tuple[str, str]] = set()
    for pod in pods:
        owner = controller(pod)
        if is_terminal(pod) or owner[0] in makers or (owner[0] and owner in seen):
            continue
        seen.add(owner)
        yield pod
