"""``kubectl kres qos``: QoS classes, what decides them, cgroups, and sums of namespaces."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, partial
from typing import NamedTuple

from kubectl_kres.admission.kubelet import Driver
from kubectl_kres.cli.args.flags import explain_command, same_source
from kubectl_kres.cli.args.options import (
    ALLOW_PARTIAL,
    CGROUP,
    DRIVER,
    EXIT_CODE,
    INPUT,
    NO_SEEN,
    OUTPUT,
    SERVER,
    SUMMARY,
    UNBOUNDED,
    WATCHING,
    WHOLE,
    Options,
)
from kubectl_kres.cli.command import Command
from kubectl_kres.cli.output.printer import DOCUMENTS, qualified_name
from kubectl_kres.cli.run_loop import AnswerBatch, ObjectAnswer, Page, Query, RunContext, RunSummary
from kubectl_kres.cli.select.workloads import select_subjects
from kubectl_kres.cli.source.object_source import Input, ObjectSource
from kubectl_kres.cli.watch_option import build_watch_runner
from kubectl_kres.errors import UsageError
from kubectl_kres.model.pod import Pod
from kubectl_kres.render.pod import qos as render
from kubectl_kres.render.text.line import wrap_text
from kubectl_kres.reports.common.explanation import Subject
from kubectl_kres.reports.common.system import makes_one_pod
from kubectl_kres.reports.pod.needs import needs_with_node
from kubectl_kres.reports.qos.qos_report import ClassChangeCache, PodQos, QosAnswers, no_class_reason, quality
from kubectl_kres.store.store import ReadRequest, Store

#: What gives the whole answer, and what says why a pod is refused.
_ASKED = ("qos", "explain")


def plan(options: Options, words: tuple[str, ...]) -> Query:
    """One object in full; of several a line each. Without words the pods of the namespace."""
    if options.driver and not options.cgroup:
        raise UsageError("--driver goes with --cgroup")
    if options.output == "brief" and (options.cgroup or options.summary or options.unbounded):
        raise UsageError("-o brief says no more than five lines; it goes with no --cgroup, --summary and --open")
    if options.unbounded:
        from kubectl_kres.cli.variants import qos_open

        return qos_open.plan(options, words)
    if options.summary:
        from kubectl_kres.cli.variants import summary

        return summary.plan(options, words)
    asked = words if words or options.filenames else ("pods",)
    wants = partial(needs_with_node, seen=not options.no_seen)
    choose = partial(select_subjects, find_reads=wants, changed=True)
    if _is_whole(options):
        choose = partial(choose, of_list=_nodes_of_list)
    return Query(partial(QosPage, options), asked, choose)


def _is_whole(options: Options) -> bool:
    """Return whether each object of a list has its full answer, not a line."""
    return options.output in {*DOCUMENTS, "brief"} or bool(options.cgroup)


def _nodes_of_list(store: Store, subjects: Sequence[Subject]) -> Iterator[ReadRequest]:
    """Yield the read of all nodes, on whose memory the scores of listed Burstable pods depend."""
    pods = (store.get("Pod", subject.ref.name, subject.ref.namespace) for subject in subjects if subject.raw is None)
    if any(isinstance(pod, Pod) and pod.spec.node_name and pod.status.qos_class in _SCORED for pod in pods):
        yield ReadRequest("Node", required=False)


#: Classes of pods whose scores depend on the node; a class that is not known may be one.
_SCORED = frozenset({"Burstable", ""})


class _Note(NamedTuple):
    """What the last lines count of a pod."""

    qos: str
    refused: bool
    differs: bool
    has_figures: bool


#: Few of them differ, and lists are long.
_note_of = cache(_Note)


class QosPage(Page):
    """QoS classes: one object in full, of several a line each."""

    kind = "Qos"
    names_refused_policies = True

    def run(
        self, request_context: RunContext, source: ObjectSource, inputs: Input, run_summary: RunSummary
    ) -> Iterator[ObjectAnswer]:
        """Yield the answers; objects that are alike share the ways to another class."""
        return self.run_batches(request_context, source, inputs, run_summary, ClassChangeCache())

    def reports(self, batch: AnswerBatch, run_summary: RunSummary) -> Iterator[ObjectAnswer]:
        """Of many objects the lines need less than the whole answer, which takes a hundred times longer."""
        options = self.options
        brief = QosAnswers(batch.store, batch.options)
        shows_all = not batch.many or _is_whole(options)

        def answer(subject: Subject) -> PodQos:
            quality = self._quality(batch, subject) if shows_all else brief.quality(subject)
            if quality is None:
                location = f"{subject.locate('')}: " if subject.locate is not None else ""
                text = f"{location}{subject.ref}: no class, since {no_class_reason(subject)}"
                raise UsageError(text, hint=f"kubectl kres explain {_explain_arguments(options, subject)}")
            return quality

        for subject, pod_quality in run_summary.answer_each(batch.selection.subjects, answer):
            note = None
            if not shows_all and options.output != "name":
                has_figures = render.has_figures(pod_quality)
                note = _note_of(pod_quality.qos.name, bool(pod_quality.refused), pod_quality.differs, has_figures)
            drawn: Callable[[], Iterable[str]] = partial(self._lines, pod_quality, many=batch.many, shows_all=shows_all)
            if options.output == "brief":
                more, explained = (explain_command(options, subject.ref, subject.file, command=name) for name in _ASKED)
                drawn = self.brief(render.brief(pod_quality, more, explained))
            yield ObjectAnswer(subject, pod_quality, drawn, note=note)
            run_summary.note_condition("admitted", not pod_quality.refused, complete=pod_quality.complete)
            negative = options.exit_code and bool(pod_quality.refused or pod_quality.differs)
            run_summary.add_answer(pod_quality.unread, complete=pod_quality.complete, negative=negative)
            if shows_all and options.output in {"text", "wide"}:
                run_summary.note_printed(pod_quality.unread)

    def _quality(self, batch: AnswerBatch, subject: Subject) -> PodQos | None:
        version = int(self.options.cgroup.removeprefix("v") or 0)
        driver: Driver = "cgroupfs" if self.options.driver == "cgroupfs" else "systemd"
        return quality(batch.store, subject, batch.options, version=version, driver=driver, alike=batch.cache)

    def _lines(self, quality: PodQos, *, many: bool, shows_all: bool) -> list[str]:
        if shows_all:
            draw = render.lines if self.options.whole or self.options.output == "wide" else render.page_lines
            return [*draw(quality, color=self.color, width=self.width), *[""] * many]
        return [render.summary(quality, color=self.color, width=self.width)]

    def closing_lines(self, notes: Sequence[_Note], run_summary: RunSummary) -> Iterator[str]:
        """The counts."""
        del run_summary
        if notes:
            classes = Counter(note.qos for note in notes)
            yield render.count_line(classes, sum(note.refused for note in notes), sum(note.differs for note in notes))
        if any(note.has_figures for note in notes):
            yield from wrap_text(render.SHORT_SAID, self.width, rest="  ")


def _explain_arguments(options: Options, subject: Subject) -> str:
    """The words with which explain is asked about the same object."""
    if subject.file:
        return same_source(options._replace(filenames=(subject.file,), recursive=False))
    words = (
        qualified_name(subject),
        f"-n {subject.ref.namespace}" if subject.ref.namespace else "",
        same_source(options),
    )
    return " ".join(filter(None, words))


command = Command(
    "qos",
    build_watch_runner(plan),
    text="""
        Show the QoS class of pods: which container and resource decides it, the smallest change that leads to another
        class, and oom_score_adj, which says what the kernel kills first. Workloads are answered for by the next pod of
        their template. Several objects get a line each; without a name it is the pods of the namespace.
        --all shows every reason, and the way to every class.

        With --cgroup the cgroups of the pod follow, with the values that kubelet and runtime write. With --summary
        pods are only counted and their requests and limits added up, as quotas count them.

        With --exit-code it exits with 1 where a pod would be refused or a live pod has another class than it would get
        today.
        """,
    examples="""
        # What is this pod, and what would make it Guaranteed?
        kubectl kres qos pod/web

        # All pods of all namespaces, a line each
        kubectl kres qos -A

        # How much do the pods of each namespace request?
        kubectl kres qos -A --summary

        # Which containers have no limit or no request, and of how many pods?
        kubectl kres qos -A --open

        # The cgroups of this pod, and what its programs see as their limits
        kubectl kres qos pod/web --cgroup v2

        # Of a manifest, with cgroup v1 and without a cluster
        kubectl kres qos -f pod.yaml --offline --cgroup v1 --driver cgroupfs

        # On the bundled example
        kubectl kres qos --demo deploy/ledger -n payments
        """,
    usage="[TYPE/NAME | TYPE [NAME...] | -f FILE]",
    flags=(
        *INPUT,
        WHOLE,
        SUMMARY,
        UNBOUNDED,
        CGROUP,
        DRIVER,
        NO_SEEN,
        OUTPUT,
        EXIT_CODE,
        ALLOW_PARTIAL,
        *WATCHING,
        *SERVER,
    ),
    formats=("text", "wide", "brief", "json", "yaml", "name"),
    completes=makes_one_pod,
)
