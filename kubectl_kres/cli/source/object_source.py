"""The interface of object sources, and the objects that ``-f`` names."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any, BinaryIO, Protocol

from kubectl_kres.admission.base.server import Server
from kubectl_kres.cli.args.options import Options
from kubectl_kres.cli.output.exit_codes import print_stderr
from kubectl_kres.errors import InputError, UsageError
from kubectl_kres.model.kinds import Kind
from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.model.tekton_config import CONFIG_NAMES
from kubectl_kres.model.tekton_config import NAMESPACE as TEKTON_NAMESPACE
from kubectl_kres.store.store import LeftOut, Origin, ReadRequest, Store
from kubectl_kres.wording import join_words

if TYPE_CHECKING:
    from kubectl_kres.manifests.manifest import Manifest

#: API version and kind of what bounds pods and claims.
_POLICIES = frozenset({("v1", "LimitRange"), ("v1", "ResourceQuota")})


class ObjectSource(Protocol):
    """Objects on demand.

    namespaces: those that are asked about; none: all. skipped: objects that could not be decoded, with the reason.
    supposed: what the user should know of where the objects come from.
    """

    namespaces: tuple[str, ...]
    skipped: list[LeftOut]
    assumptions: tuple[str, ...]

    @property
    def store(self) -> Store:
        """The store with what was read so far."""
        ...

    @property
    def warnings(self) -> tuple[str, ...]:
        """The warnings of the server."""
        ...

    def fill(self, reads: Iterable[ReadRequest]) -> None:
        """Read what is not in the store yet."""
        ...

    def fill_in_order(self, reads: Iterable[ReadRequest]) -> None:
        """Read what pods of some namespaces were made from, while pods of all namespaces come in their order.

        What is held of namespaces before those that were asked for last may be dropped.
        """
        ...

    def namespaces_of(self, reads: Sequence[ReadRequest]) -> Iterator[str]:
        """Yield the namespaces that hold anything of lists of all namespaces, in turn, with what the lists have of
        them.

        That is in the store until the next one is asked for. An empty text stands for all of them at once.
        """
        ...

    def pages(self, read: ReadRequest) -> Iterator[list[Any]]:
        """Yield a list page by page. The objects of a page stay in the store until the next page is asked for.

        Raises Forbidden, NotFound and the like: without the list there is no answer.
        """
        ...

    def candidate_namespaces(self, kind: Kind, name: str) -> tuple[str, ...]:
        """Return the namespaces to look for a name in; an empty text where the kind has none."""
        ...

    def kind(self, text: str) -> Kind:
        """Return the type that a user names. Raises ClusterError if there is none."""
        ...

    def serves_kind(self, kind: str, api_version: str) -> bool:
        """Return whether there is such a kind in that version; also where that is not known."""
        ...

    def version(self) -> str:
        """Return the server's ``gitVersion``; empty if it is not known."""
        ...

    def raw(self, ref: ObjectRef) -> Mapping[str, Any]:
        """Return an object with all of its fields. Raises ClusterError, UsageError where only some fields are kept."""
        ...


class Input:
    """What ``-f`` named: ``policies`` count over what the source holds, ``workloads`` are asked about.

    ``manifests``: all that was read. ``faults``: what is wrong with documents, ``mistyped``: with what makes pods.
    """

    def __init__(self, options: Options) -> None:
        """Read the files. Raises InputError."""
        if len(set(options.namespaces)) > 1 and options.filenames:
            raise UsageError("-f takes one namespace, not several")
        self.policies = Store(Origin("files", ", ".join(options.filenames)))
        self.workloads: tuple[Manifest, ...] = ()
        self._explicit = bool(options.namespaces) and not options.all_namespaces
        self.manifests: Sequence[Manifest] = ()
        #: Of objects that name none.
        self.namespace = "default"
        self.faults: list[InputError] = []
        self.mistyped: list[InputError] = []
        stdin = sys.stdin.buffer if sys.stdin is not None else io.BytesIO()
        if options.filenames:
            from kubectl_kres.manifests.read import LISTED, drop_unversioned, raise_faults, read

            notes: list[InputError] = []
            manifests = read(
                options.filenames, recursive=options.recursive, stdin=stdin, faults=self.faults, notes=notes
            )
            for note in notes[:LISTED]:
                print_stderr(f"Warning: {note.message}")
            self.manifests = drop_unversioned(manifests, self.faults)
            if not self.manifests:
                raise_faults(self.faults)
        self._tekton = _tekton_config(options.tekton_config, stdin) if options.tekton_config else ()

    def set_namespace(self, namespace: str) -> None:
        """Give a namespace to the objects that name none. Raises InputError where ``-n`` and an object disagree."""
        self.namespace = namespace
        if not (self.manifests or self._tekton or self.faults):
            return
        from kubectl_kres.manifests.overlay import overlay
        from kubectl_kres.manifests.read import raise_faults

        left = overlay(self.policies, self.manifests, namespace=namespace, explicit=self._explicit, faults=self.faults)
        self.workloads = tuple(left)
        if not left and not self.policies.kinds():
            raise_faults(self.faults)
        overlay(self.policies, self._tekton, namespace=TEKTON_NAMESPACE)

    @property
    def left_out(self) -> list[InputError]:
        """Return why documents of the files have no part in the answer."""
        return [*self.faults, *self.mistyped]

    def refused_policies(self, server: Server) -> Iterator[InputError]:
        """Yield why the server would not store a LimitRange or a quota, so that it bounds nothing."""
        from kubectl_kres.admission.request.create import create
        from kubectl_kres.admission.request.new_pod import Policies

        for manifest in self.manifests:
            if (manifest.api_version, manifest.kind) not in _POLICIES:
                continue
            refusal = create(manifest.raw, Policies(), server)[0].refusal
            if refusal is not None:
                finding = refusal.findings[0]
                locate = partial(manifest.position_of, finding.path)
                yield InputError(f"{manifest.ref}: {refusal.message}", file=manifest.file, locate=locate)

    def put_policies(self, store: Store) -> None:
        """Put the policies into a store, where they replace objects of the same names."""
        store.merge_store(self.policies)


def _tekton_config(path: str, stdin: BinaryIO) -> Sequence[Manifest]:
    """Tekton's ConfigMaps out of a file. Raises InputError, UsageError where it holds none of them."""
    from kubectl_kres.manifests.read import read

    manifests = [manifest for manifest in read([path], recursive=False, stdin=stdin) if manifest.kind == "ConfigMap"]
    if not any(manifest.metadata.get("name") in CONFIG_NAMES for manifest in manifests):
        hint = "kubectl get configmaps -n tekton-pipelines -o yaml writes such a file"
        raise UsageError(f"{path}: there is no ConfigMap {join_words(CONFIG_NAMES, 'or')}", hint=hint)
    return manifests


def current_time() -> str:
    """Now, as Kubernetes writes times: RFC 3339 in UTC, whole seconds."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
