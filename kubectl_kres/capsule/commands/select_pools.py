"""Selection of the pools and claims that a command is asked about, with all that the answer needs in the store."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial

from kubectl_kres.admission.base.server import Server
from kubectl_kres.capsule.reports.common.needs import claims_needs, pooled_needs, pools_needs, unreadable_pool_needs
from kubectl_kres.capsule.reports.common.pool_index import PoolIndex
from kubectl_kres.capsule.reports.pool.pool_report import tree_needs, unread_pool_names
from kubectl_kres.cli.args.arguments import fields_match, labels_match, name_of, refuse_selectors
from kubectl_kres.cli.args.options import Options
from kubectl_kres.cli.select.workloads import Selection, complete, fault_of, file_subjects
from kubectl_kres.cli.source.object_source import Input, ObjectSource
from kubectl_kres.errors import ClusterError, Forbidden, KresError, NotFound, UsageError
from kubectl_kres.model.kinds import BY_KIND, Kind
from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.reports.common.explanation import Subject
from kubectl_kres.reports.pod.needs import list_read_requests
from kubectl_kres.store.store import ReadRequest, Store

POOL, CLAIM = BY_KIND["ResourcePool"], BY_KIND["ResourcePoolClaim"]
_NONE_HERE = "Capsule is not installed: the server has no"


def claims(
    source: ObjectSource, inputs: Input, options: Options, words: Sequence[str], program: str
) -> Iterator[Selection]:
    """Claims by name, those of the files, or all of the namespaces that are asked about, in one go.

    Raises UsageError, and ClusterError where a list cannot be read.
    """
    del program
    if words:
        refuse_selectors(options)
        yield _select_named(source, CLAIM, words)
    elif options.filenames:
        yield _in_files(source, inputs, CLAIM, options)
    else:
        yield _claims(source, options)


def pools(
    source: ObjectSource, inputs: Input, options: Options, words: Sequence[str], program: str
) -> Iterator[Selection]:
    """Pools by name, those of the files, or all."""
    del program
    if words:
        refuse_selectors(options)
        yield _with_users(source, _select_named(source, POOL, words), options)
    elif options.filenames:
        yield _with_users(source, _in_files(source, inputs, POOL, options), options)
    else:
        _fill_store(source, pools_needs)
        yield _with_users(source, _select_listed(source, POOL, ("",), options), options)


def _with_users(source: ObjectSource, value: Selection, options: Options) -> Selection:
    """With the pods in the store that use what the pools share out, and what set their values, where that is asked."""
    if options.by:
        complete(source, value.subjects, lambda store, subject: tuple(tree_needs(store, subject.ref.name, Server())))
        pools_ = [
            pool for subject in value.subjects if (pool := source.store.get(POOL.kind, subject.ref.name)) is not None
        ]
        for space in sorted({space for pool in pools_ for space in pool.status.namespaces or ()}):
            pods = (ObjectRef("Pod", pod.metadata.name, space) for pod in source.store.all("Pod", space))
            complete(
                source, [Subject(ref, BY_KIND["Pod"]) for ref in pods], list_read_requests, scope=space, listed=True
            )
    return value


def _select_named(source: ObjectSource, kind: Kind, words: Sequence[str]) -> Selection:
    subjects: list[Subject] = []
    missing: list[KresError] = []
    for name in dict.fromkeys(name_of(kind, word, f"{kind.names[3]}-name") for word in words):
        file_namespaces = (ref.namespace for ref in source.store.files if (ref.kind, ref.name) == (kind.kind, name))
        namespaces = dict.fromkeys((*file_namespaces, *source.candidate_namespaces(kind, name)))
        group = [Subject(ObjectRef(kind.kind, name, space), kind) for space in namespaces]
        source.fill(ReadRequest(kind.kind, subject.ref.namespace, name) for subject in group)
        existing = [
            subject for subject in group if source.store.get(kind.kind, name, subject.ref.namespace) is not None
        ]
        if not existing and name in _find_unreadable_pools(source, kind, name):
            existing = group
        subjects += existing
        if not existing:
            missing.append(_add_hint(fault_of(source, group), kind, name))
    complete(source, subjects, pooled_needs)
    return Selection(tuple(subjects), tuple(missing))


def _in_files(source: ObjectSource, inputs: Input, kind: Kind, options: Options) -> Selection:
    """Those that the files hold; workloads in them are of no interest here, but must make sense."""
    file_subjects(inputs)
    fits = labels_match(options.selector)
    subjects = [
        Subject(ObjectRef(kind.kind, item.metadata.name, item.metadata.namespace), kind)
        for item in inputs.policies.all(kind.kind)
        if fits(item.metadata.labels or {})
    ]
    if not subjects:
        raise UsageError(f"{', '.join(options.filenames)}: there is no {kind.kind}")
    complete(source, subjects, pooled_needs)
    return Selection(tuple(subjects), listed=len(subjects) > 1)


def _claims(source: ObjectSource, options: Options) -> Selection:
    spaces = source.namespaces
    _fill_store(source, partial(claims_needs, spaces=spaces))
    return _select_listed(source, CLAIM, spaces or ("",), options)


def _fill_store(source: ObjectSource, reads: Callable[[Store], Iterable[ReadRequest]]) -> None:
    """Read until nothing more is needed."""
    tried: set[ReadRequest] = set()
    while new := [read for read in reads(source.store) if read not in tried]:
        tried.update(new)
        source.fill(read for read in new if source.store.should_read(read))


def _select_listed(source: ObjectSource, kind: Kind, spaces: Sequence[str], options: Options) -> Selection:
    labels, fields = labels_match(options.selector), fields_match(options.field_selector, kind.kind)
    missing: list[KresError] = []
    subjects: list[Subject] = []
    for space in spaces:
        coverage = source.store.covered(ReadRequest(kind.kind, space))
        if coverage.state == "absent":
            return Selection((), listed=True, reason=f"{_NONE_HERE} {kind.qualified_name}")
        seen = [] if options.selector or options.field_selector else _find_unreadable_pools(source, kind)
        if seen:
            subjects += [Subject(ObjectRef(kind.kind, name), kind) for name in seen]
            continue
        if not coverage.is_known:
            missing.append(_add_hint(fault_of(source, [Subject(ObjectRef(kind.kind, "", space), kind)]), kind))
            continue
        subjects += [
            Subject(ObjectRef(kind.kind, item.metadata.name, item.metadata.namespace), kind)
            for item in source.store.all(kind.kind, space or None)
            if labels(item.metadata.labels or {}) and fields(item)
        ]
    return Selection(tuple(subjects), tuple(missing), listed=True)


def _find_unreadable_pools(source: ObjectSource, kind: Kind, name: str = "") -> Sequence[str]:
    """Pools that may not be read, as far as the quotas and claims of the user's namespaces show them."""
    if kind is not POOL or source.store.covered(ReadRequest(kind.kind, name=name)).state != "denied":
        return ()
    _fill_store(source, lambda _: unreadable_pool_needs(source.namespaces))
    return unread_pool_names(PoolIndex(source.store))


def _add_hint(error: ClusterError, kind: Kind, name: str = "") -> ClusterError:
    """Tenants may usually not read pools; their claims tell the most of it. ``name``: what is not there; the type said
    twice is a slip.
    """
    if kind is POOL and isinstance(error, Forbidden):
        error.hint = (
            '"kubectl kres claims" tells from your own claims what their pools have left, and pools with -n what the '
            "quotas and claims of these namespaces say of them."
        )
    elif name in kind.names and isinstance(error, NotFound):
        plural = kind.names[2]
        error.hint = f'it names one of them; all are listed by "kubectl kres {plural}"'
    return error
