"""``kubectl kres qos --summary``: all pods that are chosen, page by page, of which only numbers are kept."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial

from kubectl_kres.cli.args.options import Options
from kubectl_kres.cli.output.printer import DOCUMENTS
from kubectl_kres.cli.run_loop import ObjectAnswer, Page, Query, RunContext, RunSummary
from kubectl_kres.cli.select.workloads import readable
from kubectl_kres.cli.source.object_source import Input, ObjectSource
from kubectl_kres.errors import Forbidden, UsageError
from kubectl_kres.model.kinds import BY_KIND
from kubectl_kres.model.pod import Pod
from kubectl_kres.render.pod import qos as render
from kubectl_kres.reports.qos.qos_sums import SumCollector
from kubectl_kres.store.store import ReadRequest


def pod_pages(
    context: RunContext, source: ObjectSource, options: Options, run_summary: RunSummary, *, instead: str
) -> Iterator[list[Pod]]:
    """Yield one page after the other; a namespace of several that may not be read is missing in ``tally``.

    ``instead``: the complaint about a word that names another kind, without that. Raises UsageError, ClusterError.
    """
    run_summary.listed = False
    for word in context.query.words:
        if source.kind(word).struct is not Pod:
            raise UsageError(f"{instead} {source.kind(word).qualified_name}")
    spaces = source.namespaces or ("",)
    for space in spaces:
        read = ReadRequest("Pod", space, label_selector=options.selector, field_selector=options.field_selector)
        for page in readable(source.pages(read), several=len(spaces) > 1):
            if isinstance(page, Forbidden):
                run_summary.add_error(page)
            else:
                yield page
    run_summary.note_unread((), complete=not source.skipped)


#: Pods are all that is added up, and a namespace that does not exist is an error.
_UNREAD = frozenset(BY_KIND) - {"Pod", "Namespace"}


def plan(options: Options, words: tuple[str, ...]) -> Query:
    """Nothing but pods is read."""
    _check(options, words)
    return Query(partial(SummaryPage, options), words, unread=() if words else _UNREAD)


class SummaryPage(Page):
    """Sums, a row for each namespace."""

    kind = "QosSummary"
    as_table = True

    def run(
        self, request_context: RunContext, source: ObjectSource, inputs: Input, run_summary: RunSummary
    ) -> Iterator[ObjectAnswer]:
        """Yield the sums, once all pods were added."""
        del inputs
        options = self.options
        server, assumptions = request_context.server_of(source.version())
        collector = SumCollector(server)
        for page in pod_pages(request_context, source, options, run_summary, instead="--summary counts pods, not"):
            _add(collector, page, run_summary)
        if options.output in DOCUMENTS or run_summary.count:
            for sums in collector.sums():
                yield ObjectAnswer(None, sums)
        if options.output not in DOCUMENTS and run_summary.count:
            run_summary.note_assumption(assumptions)

    def table(self, answers: Sequence[ObjectAnswer]) -> Iterable[str]:
        """Return one table."""
        sums = [answer.report for answer in answers]
        return render.table(sums, color=self.color, width=self.width) if sums else ()


def _check(options: Options, words: tuple[str, ...]) -> None:
    if options.filenames:
        raise UsageError("--summary counts the pods of a cluster or a snapshot, not of files")
    if options.cgroup:
        raise UsageError("--summary and --cgroup exclude each other")
    if options.output == "name":
        raise UsageError("--summary has no names: -o name does not go with it")
    if len(words) > 1 or any("/" in word for word in words):
        raise UsageError("--summary counts all pods that -n, -A and -l choose; names do not go with it")


def _add(collector: SumCollector, pods: list[Pod], run_summary: RunSummary) -> None:
    for pod in pods:
        collector.add(pod)
        run_summary.add_answer((), complete=True, negative=False)
