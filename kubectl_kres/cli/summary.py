"""``kubectl kres qos --summary``: all pods, page by page, of which only numbers are kept."""

from __future__ import annotations

from kubectl_kres.cli.exit import say
from kubectl_kres.cli.options import Options
from kubectl_kres.cli.output import DOCUMENTS, Items, colored, put, width
from kubectl_kres.cli.server import described
from kubectl_kres.cli.source import opened
from kubectl_kres.cli.subjects import readable
from kubectl_kres.cli.tally import Tally
from kubectl_kres.errors import Forbidden, UsageError
from kubectl_kres.model.pod import Pod
from kubectl_kres.render import qos as render
from kubectl_kres.reports.qos_sums import Adding
from kubectl_kres.store.coverage import Need


def run(options: Options, words: tuple[str, ...]) -> int:
    """Nothing but pods is read."""
    _check(options, words)
    server_of = described(options)
    tally = Tally(options)
    with opened(options) as (source, _), Items(options.output) as items:
        for word in words:
            if source.kind(word).struct is not Pod:
                raise UsageError(f"--summary counts pods, not {source.kind(word).qualified}")
        server, assumptions = server_of(source.version())
        adding = Adding(server)
        spaces = source.namespaces or ("",)
        for space in spaces:
            need = Need("Pod", space, label_selector=options.selector, field_selector=options.field_selector)
            for page in readable(source.pages(need), several=len(spaces) > 1):
                if isinstance(page, Forbidden):
                    tally.missed(page)
                else:
                    _add(adding, page, tally)
        sums = [*adding.sums()]
        if options.output in DOCUMENTS and not tally.barren:
            for one in sums:
                items.add(one)
            items.write("QosSummary", source.store.origin, complete=tally.complete and not source.skipped)
        elif tally.count:
            put(render.table(sums, color=colored(options.color), width=width(wide=options.output == "wide")))
            for text in assumptions:
                say(f"assumed: {text}")
        return tally.code(source)


def _check(options: Options, words: tuple[str, ...]) -> None:
    if options.filenames:
        raise UsageError("--summary counts the pods of a cluster or a snapshot, not of files")
    if options.cgroup:
        raise UsageError("--summary and --cgroup exclude each other")
    if options.output == "name":
        raise UsageError("--summary has no names: -o name does not go with it")
    if len(words) > 1 or any("/" in word for word in words):
        raise UsageError("--summary counts all pods that -n, -A and -l choose; names do not go with it")


def _add(adding: Adding, pods: list[Pod], tally: Tally) -> None:
    for pod in pods:
        if adding.add(pod):
            tally.answered((), complete=True, negative=False)
        else:
            say(f"error: left out, since a quantity does not parse: {pod.metadata.namespace}/{pod.metadata.name}")
            tally.saw((), complete=False)
