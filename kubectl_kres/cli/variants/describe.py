"""``-o describe``: the lines of kubectl describe, for those who compare."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from kubectl_kres.admission.base.draft import Unparsable
from kubectl_kres.cli.args.options import Options
from kubectl_kres.cli.run_loop import AnswerBatch, ObjectAnswer, Page, Query, RunContext, RunSummary
from kubectl_kres.cli.select.workloads import fault_of, select_subjects
from kubectl_kres.cli.source.object_source import Input, ObjectSource
from kubectl_kres.errors import KresError, UsageError
from kubectl_kres.model.kinds import BY_KIND, Kind, is_known
from kubectl_kres.model.objects import LimitRange, ObjectRef, ResourceQuota
from kubectl_kres.render import describe as render
from kubectl_kres.render.describe import pod_lines
from kubectl_kres.reports.common.explanation import Subject
from kubectl_kres.reports.quota.describe import describe_needs, limit_range_block, namespace_block, quota_block
from kubectl_kres.store.store import ReadRequest, Store

KINDS = ("ResourceQuota", "LimitRange", "Namespace", "Pod")


def plan(options: Options, words: tuple[str, ...]) -> Query:
    """Return the block of each object, two empty lines between."""
    given_flags = [f"--{flag}" for flag in ("container", "steps", "resize") if getattr(options, flag)]
    given_flags += ["--for"] * bool(options.question) + ["-f"] * bool(options.filenames)
    if given_flags:
        raise UsageError(f"-o describe shows what is stored; it does not go with {given_flags[0]}")
    return Query(
        partial(DescribePage, options),
        words,
        partial(select_subjects, find_reads=_list_read_requests, takes=_can_describe),
        needed=True,
    )


class DescribePage(Page):
    """Blocks as kubectl describe has them, two empty lines between."""

    def run(
        self, request_context: RunContext, source: ObjectSource, inputs: Input, run_summary: RunSummary
    ) -> Iterator[ObjectAnswer]:
        """Pods are shown as the source has them, with all of their fields."""
        return self.run_batches(request_context, source, inputs, run_summary, source)

    def reports(self, batch: AnswerBatch, run_summary: RunSummary) -> Iterator[ObjectAnswer]:
        """Yield the blocks of some objects; one that cannot be read is missed. Raises UsageError where none can be
        shown.
        """
        for subject in batch.selection.subjects:
            try:
                lines = _object_lines(batch.cache, batch.store, subject)
            except UsageError:
                raise
            except KresError as error:
                run_summary.add_error(error)
                continue
            yield ObjectAnswer(subject, tuple(lines), partial(iter, lines), gap=2)
            run_summary.add_answer((), complete=True, negative=False)


def _object_lines(source: ObjectSource, store: Store, subject: Subject) -> list[str]:
    """Raises ClusterError, and UsageError where a source keeps only some of the fields."""
    ref = subject.ref
    if ref.kind == "Pod":
        return pod_lines(source.raw(ref), events=False)
    for read in describe_needs(ref):
        if not store.covered(read).is_known or (read.name and store.get(read.kind, read.name, read.namespace) is None):
            lacking = Subject(ObjectRef(read.kind, read.name, read.namespace), BY_KIND[read.kind])
            raise fault_of(source, [lacking])
    item = store.get(ref.kind, ref.name, ref.namespace)
    try:
        return _block(store, item)
    except Unparsable as fault:
        raise UsageError(f"{ref}: {fault}", hint="no API server stores such an object") from fault


def _block(store: Store, item: Any) -> list[str]:
    """Raises Unparsable."""
    if isinstance(item, ResourceQuota):
        return render.quota_lines([quota_block(item)])
    if isinstance(item, LimitRange):
        return render.limit_range_lines([limit_range_block(item)])
    result = (store.all(kind, item.metadata.name) for kind in ("ResourceQuota", "LimitRange"))
    return render.namespace_lines(namespace_block(item, *result))


def _list_read_requests(_store: Store, subject: Subject) -> tuple[ReadRequest, ...]:
    return describe_needs(subject.ref)


def _can_describe(kind: Kind) -> bool:
    """Raises UsageError for a kind without a block."""
    if is_known(kind) and kind.kind in KINDS:
        return True
    raise UsageError(f"-o describe shows quotas, LimitRanges, namespaces and pods, not {kind.qualified_name}")
