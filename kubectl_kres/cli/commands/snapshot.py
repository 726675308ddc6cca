"""``kubectl kres snapshot``: what the other commands read, saved to a file."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from msgspec import structs

from kubectl_kres import errors
from kubectl_kres.cli.args.flags import access_flags
from kubectl_kres.cli.args.options import ALL_NAMESPACES, ALLOW_PARTIAL, OUT, Options
from kubectl_kres.cli.command import Command
from kubectl_kres.cli.garbage import gc_disabled
from kubectl_kres.cli.output.exit_codes import may_i, print_stderr
from kubectl_kres.cli.output.printer import Progress, WaitingNotice
from kubectl_kres.cli.source.object_source import current_time
from kubectl_kres.model import scheduling
from kubectl_kres.model.admission_objects import Parameter, is_parameter
from kubectl_kres.model.kinds import BY_KIND, DEVICES, Kind, is_view
from kubectl_kres.model.objects import BOUND_PODS
from kubectl_kres.model.workload_kinds import WORKLOADS
from kubectl_kres.reports.common.system import AboutConfiguration, kinds_of, systems
from kubectl_kres.reports.pod.scheduling_needs import spec_needs
from kubectl_kres.snapshot.format import Header
from kubectl_kres.snapshot.redact import with_text
from kubectl_kres.snapshot.scheduling import BESIDE, asks_more, find_views, needs_beside
from kubectl_kres.snapshot.write import write_stream
from kubectl_kres.store.store import (
    READ,
    Coverage,
    LeftOut,
    Origin,
    ReadRequest,
    Store,
    coverage_after_error,
    partly_read,
)
from kubectl_kres.systems import modules

if TYPE_CHECKING:
    from kubectl_kres.cluster.connection import Connection

#: What is read, in the order of the file: what pods are evaluated with first, what there is most of last.
KINDS = (
    *("Namespace", "PriorityClass", "RuntimeClass", "StorageClass", "Node", "LimitRange", "ResourceQuota"),
    *("DeviceClass", "PersistentVolumeClaim", "ResourceClaim", "ResourceClaimTemplate"),
    *("Service", "ServiceAccount", "HorizontalPodAutoscaler", *WORKLOADS),
    *("ControllerRevision", "Event", "Pod"),
)

#: What only some clusters serve; read before what there is most of.
INSTALLED: tuple[str, ...] = tuple(kind.kind for module in modules("model") for kind in module.KINDS)
#: Kinds that are read last, since there are many objects of them.
_LAST = ("Event", "Pod")

#: What tells what else has to be read: policies and their bindings, in which namespaces.
_TELLING = frozenset({"Namespace", *kinds_of("decides")})

#: Without these, which many may not read, answers made from the snapshot are partial. Failures of any kind are said.
_NEEDED = {"LimitRange", "ResourceQuota", "Pod", *WORKLOADS}

#: What is read along with another kind, which says what could not be read.
_TOLD_ALREADY = frozenset({*BESIDE.values(), BOUND_PODS})

#: Of the events only those that tell of trouble.
_FIELDS = {"Event": "type=Warning"}

#: Lists a kind page by page, each with the name of its kind, and names what could not be decoded in the list given.
_Read = Callable[[Kind, ReadRequest, list[LeftOut]], Iterator[tuple[str, list[Any]]]]


def run(options: Options, words: tuple[str, ...]) -> int:
    """Writes the file; 4 if something that answers need could not be read."""
    from kubectl_kres.cli.source.live import open_connection
    from kubectl_kres.cluster.read import fill_store

    if words:
        raise errors.UsageError(f"snapshot takes no arguments, not {' '.join(words)}", hint="name the file with --out")
    if not options.out:
        raise errors.UsageError("--out FILE is needed: where to write the snapshot")

    def pages(kind: Kind, read: ReadRequest, skipped: list[LeftOut]) -> Iterator[tuple[str, list[Any]]]:
        if kind.struct is Parameter:
            yield read.kind, _parameters(connection, kind, read)
            return
        if read.name:
            yield read.kind, [fill_store.get(connection, kind, read.namespace, read.name)]
            return
        full_kind = structs.replace(kind, struct=with_text(kind.detail))
        view = BY_KIND[BESIDE[read.kind]] if read.kind in BESIDE else None
        for page in fill_store.read_list_pages(connection, full_kind, read, options.chunk_size, beside=view):
            skipped.extend(each for each in page.skipped if each not in skipped)
            if page.items:
                yield read.kind, page.items
            if view is not None:
                yield from find_views(read.kind, page.beside, everywhere=not read.namespace)

    target, connection = open_connection(options)
    connection.waiting = WaitingNotice()
    spaces = ("",) if options.all_namespaces else tuple(dict.fromkeys(options.namespaces)) or (target.namespace,)
    now = current_time()
    coverage: dict[ReadRequest, Coverage] = {}
    with gc_disabled(), connection:
        header = Header(origin=target.server, time=now, server=fill_store.version(connection), context=target.context)
        installed = _find_installed_kinds(connection, coverage)
        small = Store(Origin("cluster", version=header.server))
        pairs = _pages(
            pages,
            partial(_list_read_requests, spaces, installed),
            partial(_is_absent_kind, connection),
            coverage,
            options,
            small,
        )
        count = write_stream(header, pairs, options.out, coverage=lambda: coverage)
    for warning in connection.warnings:
        print_stderr(f"Warning: {warning}")
    gaps = _report_unread(coverage, access_flags(options))
    print_stderr(f"{options.out}: {count} objects")
    return errors.Exit.PARTIAL if gaps and not options.allow_partial else 0


def _parameters(connection: Connection, kind: Kind, read_request: ReadRequest) -> list[Any]:
    """Return what a policy takes its parameters from. Raises NotFound where no such kind is served."""
    from kubectl_kres.cluster.read.fill_store import read

    items, coverage = read(connection, kind, read_request)
    if coverage.state == "absent":
        raise errors.NotFound(coverage.message, code=404, reason="NotFound")
    if not coverage.is_known:
        raise coverage.error()
    return items


def _is_absent_kind(connection: Connection, kind: Kind, error: errors.ClusterError) -> bool:
    """Return whether the server has no such kind, ``error`` being what it answered."""
    from kubectl_kres.cluster.read import fill_store

    if not isinstance(error, errors.NotFound):
        return False
    return kind.struct is Parameter or fill_store.is_absent_kind(connection, kind, error)


def _find_installed_kinds(connection: Connection, coverage: dict[ReadRequest, Coverage]) -> tuple[str, ...]:
    """The kinds of ``INSTALLED`` that the server has. Of the others it is known that there are none."""
    from kubectl_kres.cluster.read.discovery import find_served_kinds

    wanted = [BY_KIND[kind] for kind in INSTALLED]
    try:
        kinds = tuple(kind.kind for kind in find_served_kinds(connection, wanted))
    except (errors.Unreachable, errors.TimedOut, errors.Unauthenticated, errors.ConfigError):
        raise
    except errors.ClusterError as error:
        coverage.update({ReadRequest(kind.kind): _classify_error(error, named=False) for kind in wanted})
        return ()
    absent = [kind for kind in wanted if kind.kind not in kinds]
    coverage.update(
        {ReadRequest(kind.kind): Coverage("absent", f"the server has no {kind.qualified_name}") for kind in absent}
    )
    return kinds


def _list_read_requests(spaces: tuple[str, ...], installed: tuple[str, ...], store: Store) -> Iterator[ReadRequest]:
    """One need after the other. ``store``: where a system's configuration was found, which tells where else to look."""
    last = KINDS.index(_LAST[0])
    for kind in (*KINDS[:last], *installed, *KINDS[last:]):
        if kind == _LAST[0]:
            yield from _configuration(store, installed)
        if BY_KIND[kind].namespaced:
            yield from (ReadRequest(kind, space, field_selector=_FIELDS.get(kind, "")) for space in spaces)
        elif kind == "Namespace" and spaces != ("",):
            yield from (ReadRequest(kind, name=space) for space in spaces)
        else:
            yield ReadRequest(kind)
    yield from _reads_of_waiting_pods(store, spaces)


def _reads_of_waiting_pods(store: Store, spaces: tuple[str, ...]) -> Iterator[ReadRequest]:
    """What the scheduler looks at for pods that wait, besides nodes and pods; asked again once some of it is read."""
    done = {scheduling.NODES, scheduling.POD, BOUND_PODS, "Namespace"}
    reads: set[ReadRequest] = set()
    while True:
        pods = tuple(store.all(scheduling.POD))
        read_requests = (read for pod in pods for read in spec_needs(store, pod) if read.kind not in done)
        wide = spaces == ("",)
        new = dict.fromkeys(structs.replace(read, namespace="") if wide else read for read in read_requests)
        wanted = [read for read in new if read not in reads]
        if not wanted:
            return
        reads.update(wanted)
        yield from wanted


def _configuration(store: Store, installed: tuple[str, ...]) -> Iterator[ReadRequest]:
    """Yield how the systems that are installed are configured; asked again once it is known what is not there."""
    read_requests: set[ReadRequest] = set()
    groups = {BY_KIND[kind].group for kind in installed}
    reads = [system.reads for system in systems() if system.reads and (not system.group or system.group in groups)]
    question = AboutConfiguration()
    while new := [
        read_request
        for read in reads
        for read_request in read(store, question) or ()
        if read_request not in read_requests
    ]:
        read_requests.update(new)
        yield from new


def _pages(
    read: _Read,
    reads: Callable[[Store], Iterator[ReadRequest]],
    absent: Callable[[Kind, errors.ClusterError], bool],
    coverage: dict[ReadRequest, Coverage],
    options: Options,
    small: Store,
) -> Iterator[tuple[str, list[Any]]]:
    """Every page with its kind. How reading each need went is in ``coverage`` after the last one.

    ``small``: an empty store, which gets what tells where else to look.

    Raises Unreachable, TimedOut, Unauthenticated and ConfigError: then nothing more can be read. Raises ClusterError
    if nothing at all could be: a good file would give way to an empty one.
    """
    progress = Progress()
    try:
        for read_request in reads(small):
            kept = _is_kept(read_request.kind)
            plural = BY_KIND[read_request.kind].plural
            if options.verbosity > 0:
                print_stderr(f"reading {plural}{f' in {read_request.namespace}' if read_request.namespace else ''}")
            count = 0
            skipped: list[LeftOut] = []
            try:
                for name, page in read(BY_KIND[read_request.kind], read_request, skipped):
                    count += len(page) if name == read_request.kind else 0
                    progress.read(plural, count)
                    if kept or name == scheduling.POD:
                        _store_page(small, name, page)
                    yield name, page
            except (errors.Unreachable, errors.TimedOut, errors.Unauthenticated, errors.ConfigError):
                raise
            except errors.ClusterError as error:
                gone = _may_lack(read_request.kind) and absent(BY_KIND[read_request.kind], error)
                coverage[read_request] = (
                    Coverage("absent", error.message) if gone else _classify_error(error, named=bool(read_request.name))
                )
            else:
                coverage[read_request] = partly_read(skipped)
            coverage.update(dict.fromkeys(needs_beside(read_request), coverage[read_request]))
            if kept:
                small.cover(read_request, coverage[read_request])
        if not any(coverage.state == "read" for coverage in coverage.values()):
            raise _nothing_read_error(coverage, access_flags(options))
    finally:
        progress.clear()


def _nothing_read_error(coverage: Mapping[ReadRequest, Coverage], access: str) -> errors.ClusterError:
    """The first of the reasons why there is nothing to write."""
    first = next(
        (coverage for coverage in coverage.values() if not coverage.is_known),
        Coverage("failed", "the server has no kind of ours"),
    )
    hint = "\n".join(filter(None, (first.hint, may_i(first.message, access))))
    return errors.ClusterError(f"nothing could be read, and nothing is written: {_format_coverage(first)}", hint=hint)


def _format_coverage(coverage: Coverage) -> str:
    """Return why it could not be read; that it is forbidden the server says itself."""
    return (
        f"Error from server ({coverage.reason}): {coverage.message}"
        if coverage.reason and coverage.state == "failed"
        else coverage.message
    )


def _may_lack(kind: str) -> bool:
    """Return whether servers may lack it and discovery was not asked about it."""
    return kind in _TELLING or is_parameter(kind) or BY_KIND[kind].group == DEVICES


def _is_kept(kind: str) -> bool:
    """Return whether objects of the kind tell where else to look."""
    return not BY_KIND[kind].listed or kind in _TELLING or is_view(kind)


def _store_page(store: Store, kind: str, page: list[Any]) -> None:
    """Of pods that wait those for which more is read than nodes and pods."""
    for item in page:
        if kind != scheduling.POD or asks_more(item):
            store.add(kind, item)


def _classify_error(error: errors.ClusterError, *, named: bool) -> Coverage:
    """Return what discovery found is not absent, nor is what every server has; of one object a 404 is an answer."""
    if isinstance(error, errors.Forbidden):
        return coverage_after_error("denied", error)
    if isinstance(error, errors.NotFound) and not isinstance(error, errors.NoSuchPath) and named:
        return READ
    return coverage_after_error("failed", error)


def _report_unread(coverage: Mapping[ReadRequest, Coverage], access: str) -> bool:
    """Says what could not be read; True if answers need some of it."""
    gaps = {
        read: coverage
        for read, coverage in coverage.items()
        if not coverage.is_known and BY_KIND[read.kind].listed and read.kind not in _TOLD_ALREADY
    }
    for read, gap in gaps.items():
        namespace_text = f" in namespace {read.namespace}" if read.namespace else ""
        print_stderr(f"{BY_KIND[read.kind].qualified_name}{namespace_text} could not be read: {_format_coverage(gap)}")
        for hint in filter(None, (gap.hint, may_i(gap.message, access) if gap.state == "denied" else "")):
            print_stderr(hint)
    return any(read.kind in _NEEDED or gap.state == "failed" for read, gap in gaps.items())


command = Command(
    "snapshot",
    run,
    text=f"""
        Save what the other commands read to a file, which they take with --snapshot FILE.

        It reads {", ".join(BY_KIND[kind].plural for kind in KINDS[:-2])}, events of type Warning, and pods; admission
        policies with what they take parameters from, and webhooks without their addresses; where they are installed
        Capsule's pools, claims and tenants, and Tekton's Tasks, Pipelines and runs with its configuration: of each
        object the fields that computed resource values depend on, never values of environment variables, of Secrets, of
        Tekton's parameters or scripts, and of ConfigMaps only the keys that configure Tekton, but for those that a
        policy takes its parameters from, which are kept whole. The file appears whole or not at all.
        """,
    examples="""
        # Everything in one namespace
        kubectl kres snapshot -n shop --out shop.kres

        # The whole cluster, compressed
        kubectl kres snapshot -A --out prod.kres.gz

        # And then, without the cluster
        kubectl kres explain deploy/web -n shop --snapshot prod.kres.gz
        """,
    usage="--out FILE",
    flags=(OUT, ALL_NAMESPACES, ALLOW_PARTIAL),
    configured=False,
)
