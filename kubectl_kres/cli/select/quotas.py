"""The objects that ``quota`` is asked about, each with all that its answer needs in the store."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from msgspec.structs import replace

from kubectl_kres.admission.base.server import Server
from kubectl_kres.cli.args.arguments import Test, fields_match, labels_match, name_of, refuse_selectors
from kubectl_kres.cli.args.options import Options
from kubectl_kres.cli.select.workloads import Selection, complete, fault_of, one_named
from kubectl_kres.cli.source.object_source import Input, ObjectSource
from kubectl_kres.errors import KresError, UsageError
from kubectl_kres.model.kinds import BY_KIND
from kubectl_kres.model.objects import ObjectRef, ResourceQuota
from kubectl_kres.model.workload_kinds import POD_MAKERS
from kubectl_kres.reports.common.explanation import Subject, build_unseen, find_unread
from kubectl_kres.reports.pod.needs import list_read_requests
from kubectl_kres.reports.quota import denied
from kubectl_kres.reports.quota.quota_report import VALUE, shared_needs, shared_reports
from kubectl_kres.reports.quota.usage_tree import counting_needs, owner_needs
from kubectl_kres.reports.remedies.rivals import needs_with_nodes
from kubectl_kres.store.store import ReadRequest

_QUOTA = BY_KIND["ResourceQuota"]

#: What is kept of all namespaces while workloads are looked at one namespace after the other.
_FEW = ("LimitRange", "ResourceQuota", "PriorityClass", "RuntimeClass")


def quotas(
    source: ObjectSource, inputs: Input, options: Options, words: Sequence[str], program: str
) -> Iterator[Selection]:
    """Quotas by name, or all of the namespaces that are asked about; with their objects only where they are counted.

    Raises UsageError, and ClusterError if all of them is one list that cannot be read.
    """
    del program
    if words:
        refuse_selectors(options)
        yield from _by_name(source, options, words)
    elif source.namespaces or options.filenames:
        file_namespaces = () if options.namespaces else _list_file_namespaces(inputs)
        for space in file_namespaces or source.namespaces or ("",):
            yield from _namespace_selections(source, options, space)
    else:
        yield from _select_all_quotas(source, options)


def _list_file_namespaces(inputs: Input) -> tuple[str, ...]:
    """Return the namespaces of the quotas that files hold."""
    return tuple(dict.fromkeys(item.metadata.namespace for item in inputs.policies.all(_QUOTA.kind)))


def _by_name(source: ObjectSource, options: Options, words: Sequence[str]) -> Iterator[Selection]:
    resource_quotas: list[ResourceQuota] = []
    missing: list[KresError] = []
    for name in dict.fromkeys(name_of(_QUOTA, word, "team") for word in words):
        namespaces = source.candidate_namespaces(_QUOTA, name)
        source.fill(ReadRequest(_QUOTA.kind, space, name) for space in namespaces)
        result = [
            outcome for space in namespaces if (outcome := source.store.get(_QUOTA.kind, name, space)) is not None
        ]
        resource_quotas += result
        if not result:
            missing.append(
                fault_of(source, [Subject(ObjectRef(_QUOTA.kind, name, space), _QUOTA) for space in namespaces])
            )
    if missing:
        yield Selection((), tuple(missing))
    yield from _select_quotas(source, options, resource_quotas, listed=len(resource_quotas) + len(missing) > 1)


def _namespace_selections(source: ObjectSource, options: Options, space: str) -> Iterator[Selection]:
    read = ReadRequest(_QUOTA.kind, space)
    source.fill([read])
    if not source.store.covered(read).is_known:
        yield Selection((), (fault_of(source, [Subject(ObjectRef(_QUOTA.kind, "", space), _QUOTA)]),))
        return
    result = tuple(source.store.all(_QUOTA.kind, space or None))
    more_reads = shared_needs(source.store, space, result)
    source.fill(more_reads)
    yield from _select_quotas(source, options, result, listed=True)
    yield from _select_shared_quotas(source, options, space, more_reads)


def _select_all_quotas(source: ObjectSource, options: Options) -> Iterator[Selection]:
    """Page by page, then what several namespaces share."""
    none, shows = True, False
    for page in source.pages(ReadRequest(_QUOTA.kind)):
        none, shows = none and not page, shows or bool(page and shared_needs(source.store, "", page))
        yield from _select_quotas(source, options, page, listed=True, along=not options.watch)
    more_reads = shared_needs(source.store, "", ()) if none or shows else ()
    source.fill(more_reads)
    yield from _select_shared_quotas(source, options, "", more_reads)


def _select_shared_quotas(
    source: ObjectSource, options: Options, space: str, needs_: Iterable[ReadRequest]
) -> Iterator[Selection]:
    """Capsule's other quotas, as far as they could be read; they have other labels and fields than the chosen ones."""
    if options.selector or options.field_selector:
        return
    refs = (report.subject for report in shared_reports(source.store, space))
    missed = tuple(failed_read for failed_read in find_unread(source.store, needs_) if failed_read.state != "unread")
    yield Selection(tuple(Subject(ref, BY_KIND[ref.kind]) for ref in refs), listed=True, unread=missed, shared=space)


def _select_quotas(
    source: ObjectSource,
    options: Options,
    resource_quotas: Iterable[ResourceQuota],
    *,
    listed: bool,
    along: bool = False,
) -> Iterator[Selection]:
    """Namespace by namespace. Of a cluster no more than one namespace's objects are kept; a file is read once.

    ``along``: the quotas are those of all namespaces, in their order: so are lists of what they count.
    """
    live = source.store.origin.kind == "cluster"
    labels, fields = labels_match(options.selector), fields_match(options.field_selector, _QUOTA.kind)
    resource_quotas = (
        resource_quota
        for resource_quota in resource_quotas
        if labels(resource_quota.metadata.labels or {}) and fields(resource_quota)
    )
    for space, group in groupby(resource_quotas, key=lambda quota: quota.metadata.namespace):
        quotas_ = list(group)
        reads: tuple[ReadRequest, ...] = ()
        kept: set[str] = set()
        if options.recount or options.by:
            reads = counting_needs(quotas_, Server(), space if live else "")
            along = along and live and _fill_along(source, reads)
            kept = {read.kind for read in reads} if along else set()
            source.fill(reads)
        if options.by in {"workload", VALUE}:
            owners = owner_needs(source.store, space if live else "")
            source.fill(owners)
            reads += owners
        if options.by == VALUE:
            # What set the values of pods is found out as explain does.
            pods = [
                Subject(ObjectRef("Pod", pod.metadata.name, space), BY_KIND["Pod"])
                for pod in source.store.all("Pod", space)
            ]
            complete(source, pods, list_read_requests, scope=space if live else "", listed=True)
        refs = (ObjectRef(_QUOTA.kind, resource_quota.metadata.name, space) for resource_quota in quotas_)
        yield Selection(tuple(Subject(ref, _QUOTA) for ref in refs), listed=listed)
        for read in reads if live and not options.watch else ():
            if read.kind != _QUOTA.kind and read.kind not in kept:
                source.store.forget(read.kind)


def _fill_along(source: ObjectSource, reads: Iterable[ReadRequest]) -> bool:
    """Read what is counted out of lists of all namespaces, as far as the namespaces have come; return False where such
    a list could not be read, so that each namespace is to be asked for.
    """
    store, listed = source.store, [read for read in reads if read.namespace]
    source.fill_in_order(listed)
    lacking = [read for read in listed if not store.covered(read).is_known]
    for read in lacking:
        store.uncover(replace(read, namespace=""))
    return not lacking


def select_fit_subject(
    source: ObjectSource, inputs: Input, options: Options, words: Sequence[str], program: str
) -> Iterator[Selection]:
    """Yield the one object whose template is to fit, from the files if it stands there."""
    del program
    if (options.fit or "").startswith("-"):
        raise UsageError(
            f"--fit takes TYPE/NAME, not {options.fit}",
            hint="of a workload of a file: quota --fit deploy/web -f FILE",
        )
    if words or options.all_namespaces:
        raise UsageError("--fit looks at all quotas of the namespace; it goes with no quota's name and not with -A")
    yield one_named(source, inputs, "--fit", options.fit, needs_with_nodes)


def workloads(
    source: ObjectSource, inputs: Input, options: Options, words: Sequence[str], program: str
) -> Iterator[Selection]:
    """Yield all that keeps a number of pods, by namespace."""
    del inputs, program
    labels = labels_match(options.selector)
    if words:
        raise UsageError("--denied looks at all workloads; it goes with no quota's name")
    for scope in source.namespaces:
        source.fill(denied.denied_needs(scope))
        yield Selection(_refusable(source, labels, scope, scope), listed=True)
    if not source.namespaces:
        needed = denied.denied_needs("")
        source.fill(read for read in needed if read.kind in _FEW)
        for space in source.namespaces_of([read for read in needed if read.kind not in _FEW]):
            yield Selection(_refusable(source, labels, "", space), listed=True)
    gaps = source.store.gaps()
    reads = (read for scope in source.namespaces or ("",) for read in denied.denied_needs(scope))
    missed = tuple(build_unseen(read, gaps[read]) for read in reads if read.required and read in gaps)
    yield Selection((), listed=True, unread=missed)


def _refusable(source: ObjectSource, labels: Test, scope: str, space: str) -> tuple[Subject, ...]:
    """Return what can lack pods in a namespace (empty: in any), with what its answers need of the namespaces asked
    about.
    """
    source.fill(read for read in denied.needs_of_systems(source.store, scope) if source.store.should_read(read))
    subjects = [
        Subject(ObjectRef(kind, item.metadata.name, item.metadata.namespace), BY_KIND[kind])
        for kind in POD_MAKERS
        for item in source.store.all(kind, space or None)
        if denied.is_top_level(item) and labels(item.metadata.labels or {})
    ]
    lacking = (subject for subject in subjects if denied.may_be_refused(source.store, subject))
    complete(source, lacking, list_read_requests, scope=scope, listed=True)
    waiting = denied.waiting_objects(source.store, space)
    runs = [Subject(ref, BY_KIND[ref.kind]) for ref, metadata in waiting if labels(metadata.labels or {})]
    complete(source, runs, list_read_requests, scope=scope, listed=True)
    subjects += runs
    order = tuple(dict.fromkeys((*POD_MAKERS, *(run.ref.kind for run in runs))))
    return tuple(sorted(subjects, key=lambda subject: (subject.ref.namespace, order.index(subject.ref.kind))))
