"""A live cluster as a source."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, TypeVar

from msgspec import structs

from kubectl_kres.cli.args.flags import access_flags
from kubectl_kres.cli.args.options import Options
from kubectl_kres.cli.output.exit_codes import print_stderr
from kubectl_kres.cli.output.printer import Progress, WaitingNotice
from kubectl_kres.cli.source.object_source import Input, current_time
from kubectl_kres.cluster.connection import Connection, connect, whoami
from kubectl_kres.cluster.kubeconfig.current_context import ConnectOptions, Target, load
from kubectl_kres.cluster.read import discovery, fill_store
from kubectl_kres.cluster.read.shared_lists import Alongside
from kubectl_kres.cluster.transport.duration import seconds
from kubectl_kres.cluster.transport.parallel import start
from kubectl_kres.errors import ClusterError, UsageError
from kubectl_kres.model.kinds import BY_KIND, Kind, Kinds
from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.store.store import READ, LeftOut, Origin, ReadRequest, Store

L = TypeVar("L", bound="LiveSource")

#: At this level of ``-v`` each request is logged, at the other what is read.
_REQUESTS, _READS = 6, 1


def open_connection(options: Options, *, asks_user: bool = True) -> tuple[Target, Connection]:
    """Return the target that the flags name, and a connection to it; what is doubtful about them goes to stderr.

    Nothing is sent yet, unless ``-v 6`` asks who we are; not ``asks_user``: that is asked anyway. Raises UsageError and
    ConfigError.
    """
    asked = _read_connect_options(options)
    target = load(asked)
    for warning in target.warnings:
        print_stderr(f"Warning: {warning}")
    connection = connect(target, asked, log=print_stderr, level=options.verbosity)
    if options.verbosity >= _REQUESTS:
        for line in _connection_lines(target, connection if asks_user else None):
            print_stderr(line)
    return target, connection


def _connection_lines(target: Target, connection: Connection | None) -> Iterator[str]:
    """Yield where and as whom we are connected, line by line; whom the server takes us for comes last, if it
    says so.
    """
    yield f"Server: {target.server}"
    yield f"Context: {target.context or 'none'}"
    name, acting = target.user_name or "none", target.user.impersonate
    yield f"User: {name} in the kubeconfig{f', acting as {acting}' if acting else ''}"
    person = whoami(connection) if connection is not None else None
    if person is not None:
        groups = f" of {', '.join(person.groups)}" if person.groups else ""
        yield f"Known to the server as: {person.username}{groups}"


def _read_connect_options(options: Options) -> ConnectOptions:
    """Return what the flags say about the connection."""
    extra: dict[str, tuple[str, ...]] = {}
    for text in options.impersonate_extra:
        key, equals, value = text.partition("=")
        if not equals:
            raise UsageError(f'invalid argument "{text}" for "--as-user-extra" flag: KEY=VALUE is expected')
        extra[key] = (*extra.get(key, ()), value)
    return ConnectOptions(
        kubeconfig=options.kubeconfig,
        context=options.context,
        namespace=options.namespaces[0] if options.namespaces else "",
        request_timeout=seconds(options.request_timeout),
        cluster=options.cluster,
        user=options.user,
        server=options.server,
        token=options.token,
        client_certificate=options.client_certificate,
        client_key=options.client_key,
        certificate_authority=options.certificate_authority,
        insecure_skip_tls_verify=options.insecure,
        tls_server_name=options.tls_server_name,
        disable_compression=options.disable_compression,
        impersonate=options.impersonate,
        impersonate_groups=options.impersonate_groups,
        impersonate_uid=options.impersonate_uid,
        impersonate_extra=extra,
        kuberc=options.kuberc,
    )


def open_live(options: Options, live: type[L] | None = None) -> tuple[L, Input]:
    """Return the cluster of the context, and what ``-f`` named, which is read first: its faults need no cluster."""
    inputs = Input(options)
    target, connection = open_connection(options)
    inputs.set_namespace(target.namespace)
    made: Any = live or LiveSource
    return made(options, target, connection, inputs), inputs


class LiveSource:
    """Reads on demand over one connection."""

    def __init__(self, options: Options, target: Target, connection: Connection, inputs: Input) -> None:
        spaces = tuple(dict.fromkeys(options.namespaces))
        self.namespaces: tuple[str, ...] = () if options.all_namespaces else spaces or (target.namespace,)
        self.skipped: list[LeftOut] = []
        self.assumptions: tuple[str, ...] = ()
        now = current_time()
        self.store = Store(Origin("cluster", target.server, "", now, target.context, access_flags(options)))
        self._connection, self._inputs, self._options = connection, inputs, options
        self._kinds = Kinds(BY_KIND)
        self._versions: frozenset[tuple[str, str]] | None = None
        self._along = Alongside(connection, self.store, self._kinds, options.chunk_size)
        connection.waiting = WaitingNotice()
        self._version = start(partial(fill_store.version, connection))
        inputs.put_policies(self.store)

    @property
    def warnings(self) -> tuple[str, ...]:
        return self._connection.warnings

    def version(self) -> str:
        """Asked for at the beginning, so that it costs no time of its own."""
        text = self._version.result()
        self.store.origin = structs.replace(self.store.origin, version=text)
        return text

    def raw(self, ref: ObjectRef) -> Mapping[str, Any]:
        """Read anew, since what the store holds are some fields."""
        return fill_store.raw(self._connection, self._kinds[ref.kind], ref.namespace, ref.name)

    def kind(self, text: str) -> Kind:
        """Kinds that we do not know are asked of the server; one that is named like one of ours keeps its group."""
        kind = discovery.find_kind(self._connection, text)
        if self._kinds.get(kind.kind, kind) != kind:
            kind = structs.replace(kind, kind=f"{kind.kind}.{kind.group}")
        self._kinds[kind.kind] = kind
        return kind

    def serves_kind(self, kind: str, api_version: str) -> bool:
        """Asked once; where the server does not say it, the answer is yes."""
        if self._versions is None:
            try:
                self._versions = discovery.versions(self._connection)
            except ClusterError:
                return True
        return (kind, api_version) in self._versions

    def candidate_namespaces(self, kind: Kind, name: str) -> tuple[str, ...]:
        """Return the namespaces that are asked about, whatever the name is."""
        del name
        return self.namespaces if kind.namespaced else ("",)

    def fill(self, reads: Iterable[ReadRequest]) -> None:
        read_requests = [read for read in dict.fromkeys(reads) if self.store.should_read(read)]
        if not read_requests:
            return
        self._log_requests(read_requests)
        progress = Progress()
        try:
            fill_store.fill(
                self._connection,
                self.store,
                read_requests,
                kinds=self._kinds,
                chunk_size=self._options.chunk_size,
                progress=partial(self._read, progress),
            )
        finally:
            progress.clear()
        if not self.store.origin.version:
            self.version()  # what there is to ask next depends on it, and it was asked for before
        self._inputs.put_policies(self.store)

    def fill_in_order(self, reads: Iterable[ReadRequest]) -> None:
        progress = Progress()
        try:
            self._along.fill(reads, partial(self._read, progress))
        finally:
            progress.clear()
        self._inputs.put_policies(self.store)

    def namespaces_of(self, reads: Sequence[ReadRequest]) -> Iterator[str]:
        self._log_requests(reads)
        progress = Progress()
        try:
            for space in self._along.namespaces(reads, partial(self._read, progress)):
                self._inputs.put_policies(self.store)
                yield space
        finally:
            progress.clear()

    def pages(self, read_request: ReadRequest) -> Iterator[list[Any]]:
        self._log_requests([read_request])
        progress, kind = Progress(), self._kinds[read_request.kind]
        read = partial(self._read, progress)
        try:
            for page in fill_store.pages(
                self._connection, kind, read_request, self._options.chunk_size, skipped=self.skipped, progress=read
            ):
                self.store.forget(read_request.kind)
                for item in page:
                    self.store.add(read_request.kind, item)
                    self.store.cover(ReadRequest(read_request.kind, item.metadata.namespace, item.metadata.name), READ)
                yield page
        finally:
            progress.clear()
        self.store.forget(read_request.kind)

    def _read(self, progress: Progress, read: ReadRequest, count: int, remaining: int) -> None:
        progress.read(self._kinds[read.kind].plural, count, remaining)

    def _log_requests(self, reads: Iterable[ReadRequest]) -> None:
        if self._options.verbosity >= _READS:
            for read in reads:
                kind = self._kinds[read.kind]
                namespace_text = f" in {read.namespace}" if read.namespace else ""
                print_stderr(f"reading {kind.qualified_name}{f'/{read.name}' if read.name else ''}{namespace_text}")
