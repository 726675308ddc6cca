"""The contexts of a check: one namespace after another with its pods, then what is in no namespace."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from msgspec import structs

from kubectl_kres.admission.base.server import Server
from kubectl_kres.cli.args.options import Options
from kubectl_kres.cli.select.workloads import complete
from kubectl_kres.cli.source.object_source import Input, ObjectSource
from kubectl_kres.errors import Forbidden, StatusError
from kubectl_kres.model.kinds import BY_KIND
from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.model.pod import Pod
from kubectl_kres.model.workload import Workload, WorkloadSpec, same_template
from kubectl_kres.reports.check.context import CheckContext, RemedyBudget
from kubectl_kres.reports.check.store_contexts import (
    check_needs,
    checked_objects,
    cluster_needs,
    makers,
    missing_of_cluster,
    missing_reads,
    object_reads,
    unmade,
)
from kubectl_kres.reports.common.explanation import EvaluationOptions, FailedRead, Subject, build_unseen
from kubectl_kres.reports.common.owners import controller
from kubectl_kres.reports.pod.needs import list_read_requests
from kubectl_kres.reports.quota import denied
from kubectl_kres.reports.quota.usage_tree import counting_needs
from kubectl_kres.store.store import READ, Coverage, ReadRequest, Store

_POD = BY_KIND["Pod"]


def check_contexts(
    source: ObjectSource,
    inputs: Input,
    options: Options,
    evaluation_options: EvaluationOptions,
    budget: RemedyBudget | None = None,
) -> Iterator[CheckContext]:
    """Yield the contexts to check; each is valid until the next one is requested. Raises ClusterError where nothing can
    be read at all.
    """
    budget = budget or RemedyBudget()
    if options.filenames:
        from kubectl_kres.cli.select.file_contexts import file_contexts

        yield from file_contexts(source, inputs, options, evaluation_options, budget)
        return
    spaces = source.namespaces
    for space in spaces or ("",):
        yield from _cluster_contexts(source, evaluation_options, space, budget)
    for _ in range(2):
        # Only the pools tell in which namespaces claims are read where all of them may not be.
        source.fill(cluster_needs(source.store))
    yield CheckContext(source.store, evaluation_options, unread=missing_of_cluster(source.store), spaces=spaces)


def _cluster_contexts(
    source: ObjectSource, options: EvaluationOptions, scope: str, budget: RemedyBudget
) -> Iterator[CheckContext]:
    """``scope``: a namespace; empty: all, whose pods come in the order of their namespaces."""
    reads = check_needs(scope)
    source.fill(read for read in reads if read.kind != "ReplicaSet")
    _read_replica_sets(source, scope)
    source.fill(reads)
    source.fill(read for read in denied.needs_of_systems(source.store, scope) if source.store.should_read(read))
    lacks = [*missing_reads(source.store, reads)]
    by_space = makers(source.store, scope)
    own_subjects = (subject for group in by_space.values() for subject in group)
    complete(source, own_subjects, _needs_without_pods, scope=scope, listed=True)
    complete(source, checked_objects(source.store, scope), object_reads, scope=scope, listed=True)
    quotas = tuple(source.store.all("ResourceQuota", scope or None))
    source.fill(read for read in counting_needs(quotas, Server(), scope) if read.kind != _POD.kind)
    with_policies = {
        item.metadata.namespace for kind in ("LimitRange", "ResourceQuota") for item in source.store.all(kind)
    }
    waiting = sorted({scope} if scope else {*by_space, *with_policies})
    try:
        for space, pods in _by_namespace(source.pages(ReadRequest(_POD.kind, scope))):
            while waiting and waiting[0] < space:
                yield _make_context(source, options, waiting.pop(0), (), by_space, lacks, budget)
            if space in waiting:
                waiting.remove(space)
            yield _make_context(source, options, space, pods, by_space, lacks, budget)
    except Forbidden as error:
        read = ReadRequest(_POD.kind, scope)
        lacks.append(build_unseen(read, Coverage("denied", error.message, error.code, error.reason, error.hint)))
        for space in waiting:
            yield _make_context(source, options, space, None, by_space, lacks, budget)
        return
    for space in waiting:
        yield _make_context(source, options, space, (), by_space, lacks, budget)


def _needs_without_pods(store: Store, subject: Subject) -> tuple[ReadRequest, ...]:
    """The pods come one namespace after the other."""
    return tuple(read for read in list_read_requests(store, subject) if read.kind != _POD.kind)


def _read_replica_sets(source: ObjectSource, scope: str) -> None:
    """The ReplicaSets, page by page: of those that a Deployment keeps only what its rollout is counted by is held.

    Each has a copy of a template, and a cluster has more of them than of anything but pods. What cannot be read is left
    to those who say why.
    """
    store, read = source.store, ReadRequest("ReplicaSet", scope)
    if not store.should_read(read):
        return
    workloads: list[Workload] = []
    try:
        for page in source.pages(read):
            workloads += [_trim_workload(store, item) for item in page]
    except StatusError:
        return
    if not source.skipped:
        for workload in workloads:
            store.add(read.kind, workload)
        store.cover(read, READ)


def _trim_workload(store: Store, item: Workload) -> Workload:
    """Without labels and selector, and without a template that is its Deployment's, or that no pod is left of."""
    kind, name = controller(item)
    deployment = store.get(kind, name, item.metadata.namespace) if kind == "Deployment" else None
    if not isinstance(deployment, Workload):
        return item
    template, kept = item.spec.template, deployment.spec.template
    if same_template(kept, template):
        template = kept
    elif not item.status.replicas:
        template = None
    return structs.replace(
        item,
        metadata=structs.replace(item.metadata, labels=None, managed_fields=None),
        spec=WorkloadSpec(template=template, replicas=item.spec.replicas),
    )


def _make_context(
    source: ObjectSource,
    options: EvaluationOptions,
    space: str,
    pods: Sequence[Pod] | None,
    by_space: dict[str, list[Subject]],
    lacks: list[FailedRead],
    budget: RemedyBudget,
) -> CheckContext:
    """``pods`` None: they could not be read. What could not be read is reported once, with the first context."""
    store = source.store
    store.forget(_POD.kind)
    subjects = list(by_space.get(space, ()))
    if pods is not None:
        for pod in pods:
            store.add(_POD.kind, pod)
        store.cover(ReadRequest(_POD.kind, space), READ)
        alone = [Subject(ObjectRef(_POD.kind, pod.metadata.name, space), _POD) for pod in unmade(pods)]
        complete(source, alone, list_read_requests, scope=space, listed=True)
        subjects += alone
    texts, lacks[:] = tuple(lacks), ()
    return CheckContext(store, options, space, subjects, texts, budget=budget)


def _by_namespace(pages: Iterable[list[Pod]]) -> Iterator[tuple[str, list[Pod]]]:
    """Yield the pods of one namespace after another; a list has them in this order."""
    space, pods = "", list[Pod]()
    for page in pages:
        for pod in page:
            if pod.metadata.namespace != space and pods:
                yield space, pods
                pods = []
            space = pod.metadata.namespace
            pods.append(pod)
    if pods:
        yield space, pods
