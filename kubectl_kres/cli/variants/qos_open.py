"""``kubectl kres qos --open``: containers without requests or limits, page by page, of which only counts are kept."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import partial

from kubectl_kres.cli.args.options import Options
from kubectl_kres.cli.output.printer import is_terminal
from kubectl_kres.cli.run_loop import ObjectAnswer, Page, Query, RunContext, RunSummary
from kubectl_kres.cli.source.object_source import Input, ObjectSource
from kubectl_kres.cli.variants.summary import pod_pages
from kubectl_kres.errors import UsageError
from kubectl_kres.render.text.line import clip_text, columns
from kubectl_kres.reports.qos.qos_open import STATED, Open, OpenContainers

_HEADS = ("NAMESPACE", "WORKLOAD", "CONTAINER", "PODS", "WITHOUT")


def plan(options: Options, words: tuple[str, ...]) -> Query:
    """Nothing but pods is read. Raises UsageError for what does not go with it."""
    if options.filenames:
        raise UsageError("--open looks at the pods of a cluster or a snapshot, not of files")
    if options.cgroup or options.summary:
        raise UsageError(f"--open and {'--cgroup' if options.cgroup else '--summary'} exclude each other")
    if options.output == "name":
        raise UsageError("--open has no names: -o name does not go with it")
    if len(words) > 1 or any("/" in word for word in words):
        raise UsageError("--open looks at all pods that -n, -A and -l choose; names do not go with it")
    return Query(partial(OpenPage, options), words)


class OpenPage(Page):
    """A row for each container of a workload, and how many lack what."""

    kind = "QosOpen"
    as_table = True

    def run(
        self, request_context: RunContext, source: ObjectSource, inputs: Input, run_summary: RunSummary
    ) -> Iterator[ObjectAnswer]:
        """Yield the rows, once all pods were looked at."""
        del inputs
        options, opening = self.options, OpenContainers()
        for page in pod_pages(request_context, source, options, run_summary, instead="--open looks at pods, not at"):
            for pod in page:
                opening.add(pod)
                run_summary.add_answer((), complete=True, negative=False)
        opens = [*opening.containers()]
        if opens and options.exit_code:
            run_summary.add_answer((), complete=True, negative=True)
        for item in opens:
            yield ObjectAnswer(None, item)
        if not opens and opening.pods:
            yield ObjectAnswer(None, None, note=opening.pods)

    def table(self, answers: Sequence[ObjectAnswer]) -> Iterable[str]:
        """Return one table, cut to a terminal's width, and the counts."""
        opens: list[Open] = [answer.report for answer in answers if answer.report is not None]
        if not opens:
            return [f"all containers of {answer.note} pods have requests and limits" for answer in answers]
        rows = [
            (item.namespace, item.workload, item.container, str(item.pods), ", ".join(item.missing)) for item in opens
        ]
        lines = columns([_HEADS, *rows])
        lacks = Counter({name: sum(item.pods for item in opens if name in item.missing) for name in STATED})
        counts = ", ".join(f"{lacks[name]} without {name}" for name in STATED if lacks[name])
        workloads = len({(item.namespace, item.workload) for item in opens})
        total = f"{workloads} workload{'s' * (workloads != 1)}, containers: {counts}"
        cut = is_terminal() and self.options.output != "wide"
        return [*(clip_text(line, self.width) if cut else line for line in lines), total]
