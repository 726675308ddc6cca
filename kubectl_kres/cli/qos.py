"""``kubectl kres qos``: QoS classes, what decides them, cgroups, and sums of namespaces."""

from __future__ import annotations

from kubectl_kres.admission.kernel import Driver
from kubectl_kres.cli.answers import Turn, answer
from kubectl_kres.cli.command import Command
from kubectl_kres.cli.options import (
    ALLOW_PARTIAL,
    CGROUP,
    DRIVER,
    EXIT_CODE,
    INPUT,
    OUTPUT,
    SERVER,
    SUMMARY,
    WATCHING,
    Options,
)
from kubectl_kres.cli.output import DOCUMENTS, Items, colored, named, put, width
from kubectl_kres.cli.proposed import same_source
from kubectl_kres.cli.subjects import making_pods
from kubectl_kres.cli.tally import Tally
from kubectl_kres.cli.watching import repeated
from kubectl_kres.errors import UsageError
from kubectl_kres.render import qos as render
from kubectl_kres.reports.node import needs_with_node
from kubectl_kres.reports.qos import Brief, Quality, quality, unclassed
from kubectl_kres.reports.subject import Subject
from kubectl_kres.store.store import Origin


@repeated
def run(options: Options, words: tuple[str, ...]) -> int:
    """One object in full; of several a line each. Without words the pods of the namespace."""
    if options.driver and not options.cgroup:
        raise UsageError("--driver goes with --cgroup")
    if options.summary:
        from kubectl_kres.cli import summary  # noqa: PLC0415, only what is needed is loaded

        return summary.run(options, words)
    with Items(options.output) as items:
        page = Page(options, items)
        asked = words if words or options.filenames else ("pods",)
        return answer(options, asked, page.show, page.end, needs_with_node)


class Page:
    """Shows answers as they are made, in the format asked for."""

    def __init__(self, options: Options, items: Items) -> None:
        self._options, self._items = options, items
        self._width = width(wide=options.output == "wide")
        self._color = colored(options.color)
        self._classes: dict[str, int] = {}
        self._refused = self._differing = 0

    def show(self, turn: Turn, tally: Tally) -> None:
        """Of many objects the lines need less than the whole answer, which takes a hundred times longer."""
        brief = Brief(turn.store, turn.ask)
        whole = not turn.many or self._options.output in DOCUMENTS or bool(self._options.cgroup)

        def answer(subject: Subject) -> Quality:
            found = self._whole(turn, subject) if whole else brief.quality(subject)
            if found is None:
                text = f"{subject.ref}: no class, since {unclassed(subject)}"
                raise UsageError(text, hint=f"kubectl kres explain {_asked(self._options, subject)}")
            return found

        for subject, found in tally.each(turn.found.subjects, answer):
            self._print(subject, found, many=turn.many, whole=whole)
            tally.meets("admitted", not found.refused, complete=found.complete)
            negative = self._options.exit_code and bool(found.refused or found.differs)
            tally.answered(found.unseen, complete=found.complete, negative=negative)
            if whole and self._options.output in {"text", "wide"}:
                tally.shows(found.unseen)

    def _whole(self, turn: Turn, subject: Subject) -> Quality | None:
        version = int(self._options.cgroup.removeprefix("v") or 0)
        driver: Driver = "cgroupfs" if self._options.driver == "cgroupfs" else "systemd"
        return quality(turn.store, subject, turn.ask, version=version, driver=driver)

    def _print(self, subject: Subject, found: Quality, *, many: bool, whole: bool) -> None:
        if self._items.take(subject, found):
            return
        if whole:
            put(render.lines(found, color=self._color, width=self._width))
            put([""] * many)
        else:
            self._classes[found.qos.name] = self._classes.get(found.qos.name, 0) + 1
            self._refused += bool(found.refused)
            self._differing += found.differs
            print(render.summary(found, color=self._color, width=self._width))

    def end(self, origin: Origin, tally: Tally) -> None:
        """The counts, or the document."""
        if not tally.document(self._items, "Qos", origin) and self._classes:
            print(render.counts(self._classes, self._refused, self._differing))


def _asked(options: Options, subject: Subject) -> str:
    """The words with which explain is asked about the same object."""
    if subject.file:
        return same_source(options._replace(filenames=(subject.file,), recursive=False))
    words = (named(subject), f"-n {subject.ref.namespace}" if subject.ref.namespace else "", same_source(options))
    return " ".join(filter(None, words))


command = Command(
    "qos",
    run,
    text="""
        Show the QoS class of pods: which container and resource decides it, the smallest change that leads to another
        class, and oom_score_adj, which says whom the kernel ends first. Workloads are answered for by the next pod of
        their template. Several objects get a line each; without a name it is the pods of the namespace.

        With --cgroup the cgroups of the pod follow, with the values that kubelet and runtime write. With --summary
        pods are only counted and their requests and limits added up, as quotas count them.

        With --exit-code it ends with 1 where a pod would be refused or a live pod has another class than it would get
        today.
        """,
    examples="""
        # What is this pod, and what would make it Guaranteed?
        kubectl kres qos pod/web

        # All pods of all namespaces, a line each
        kubectl kres qos -A

        # How much do the pods of each namespace request?
        kubectl kres qos -A --summary

        # The cgroups of this pod, and what its programs see as their limits
        kubectl kres qos pod/web --cgroup v2

        # Of a manifest, with cgroup v1 and without a cluster
        kubectl kres qos -f pod.yaml --offline --cgroup v1 --driver cgroupfs

        # On the bundled example
        kubectl kres qos --demo deploy/ledger -n payments
        """,
    usage="[TYPE/NAME | TYPE [NAME...] | -f FILE]",
    flags=(*INPUT, SUMMARY, CGROUP, DRIVER, OUTPUT, EXIT_CODE, ALLOW_PARTIAL, *WATCHING, *SERVER),
    formats=("text", "wide", "json", "yaml", "name"),
    completes=making_pods,
)
