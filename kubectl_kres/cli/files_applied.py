"""A store with the objects of ``-f`` applied: quotas recounted, pools and claims reconciled."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from kubectl_kres.admission.base.server import Server
from kubectl_kres.cli.args.options import Options
from kubectl_kres.cli.source.object_source import Input, ObjectSource
from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.store.store import Store

if TYPE_CHECKING:
    from kubectl_kres.reports.changes.combined_answer import Files


class FilesApplied:
    """``after_change``: the files are a change, and what is named is asked about after it.

    ``files``: the objects of the input, if they have to be evaluated with what is there; None before ``read`` and
    otherwise.
    """

    def __init__(self, options: Options, *, after_change: bool) -> None:
        self.options, self.after_change = options, after_change
        self.files: Files | None = None
        self._stores: tuple[Store, Store] | None = None

    def read(self, source: ObjectSource, inputs: Input) -> None:
        """What is there is read only where the objects of the files have to be counted beside it."""
        alone = len(inputs.manifests) == 1 and inputs.manifests[0].kind != "ResourceQuota"
        if alone and not self.after_change:
            return
        from kubectl_kres.cli.select.workloads import refs_that_quotas_count
        from kubectl_kres.cli.simulation import files_of

        files = files_of(inputs, refs_that_quotas_count(source, inputs))
        if files.needs_cluster_counts or self.after_change:
            source.fill(() if self.options.offline else files.reads())
            self.files = files

    def fresh(self, store: Store) -> bool:
        """Return whether the files were not applied to this store yet."""
        return self.files is not None and (self._stores is None or self._stores[0] is not store)

    def store(self, store: Store, server: Server, asked: Iterable[ObjectRef]) -> Store:
        """With quotas that count what is there, and with those that pools of the files make."""
        if self.files is None:
            return store
        if self._stores is None or self._stores[0] is not store:
            from kubectl_kres.reports.changes.combined_answer import with_others, with_policies

            if self.after_change:
                self._stores = store, with_others(store, self.files, server, asked)
            else:
                self._stores = store, with_policies(store, self.files, server)
        return self._stores[1]
