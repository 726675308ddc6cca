"""``kubectl kres diff``: what admission changes in what was written, or what a live pod would get today."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from kubectl_kres.cli.answers import Turn, answer
from kubectl_kres.cli.command import Command
from kubectl_kres.cli.exit import say
from kubectl_kres.cli.options import ALLOW_PARTIAL, INPUT, OUTPUT, SERVER, Options
from kubectl_kres.cli.output import DOCUMENTS, Items, colored, named, put, width
from kubectl_kres.cli.subjects import COUNTED, chosen, making_pods
from kubectl_kres.cli.tally import Tally
from kubectl_kres.model.kinds import Kind
from kubectl_kres.render import diff as render
from kubectl_kres.reports.diff import Difference, diff, differences
from kubectl_kres.reports.explain_policy import explain_policy, policy_needs
from kubectl_kres.reports.needs import needs
from kubectl_kres.reports.subject import Subject
from kubectl_kres.store.coverage import Need
from kubectl_kres.store.store import Origin, Store


def run(options: Options, words: tuple[str, ...]) -> int:
    """The differences of all objects; 1 if there is any."""
    with Items(options.output) as items:
        page = Page(options, items)
        choose = partial(chosen, wants=_wants, beside=_is_counted)
        return answer(options, words, page.show, page.end, choose=choose, needed=True)


def _is_counted(kind: Kind) -> bool:
    """Whether a file's object is no difference by itself, but may be refused."""
    return kind.kind in COUNTED


def _wants(store: Store, subject: Subject) -> tuple[Need, ...]:
    return policy_needs(store, subject) if _is_counted(subject.kind) else needs(store, subject)


class Page:
    """Shows differences as they are made, in the format asked for."""

    def __init__(self, options: Options, items: Items) -> None:
        self._options, self._items = options, items
        self._width = width(wide=False)
        self._color = colored(options.color)
        self._changed = 0
        self._listed = False

    def show(self, turn: Turn, tally: Tally) -> None:
        """The differences of some objects; one that cannot be compared is missed."""
        self._listed = self._listed or (turn.found.listed and not self._options.filenames)
        for subject, found in _compared(turn, tally):
            if found is None:
                tally.answered((), complete=True, negative=False)
                continue
            tally.answered(found.unseen, complete=found.complete, negative=found.changed)
            self._changed += found.changed
            if self._options.output in DOCUMENTS:
                if found.changed or not turn.found.listed:
                    self._items.add(found)
            elif self._options.output == "name":
                put([named(subject)] * found.changed)
            else:
                put(render.lines(found, color=self._color, width=self._width))

    def end(self, origin: Origin, tally: Tally) -> None:
        """The document; of a list how much of it differs, on stderr, since stdout may be applied as a patch."""
        tally.document(self._items, "Diff", origin)
        if self._listed:
            say(f"{self._changed} of {tally.count} objects differ")


def _compared(turn: Turn, tally: Tally) -> Iterator[tuple[Subject, Difference | None]]:
    """Each object with its difference; None: none, which is found faster for the pods of a list."""
    subjects = turn.found.subjects
    if turn.found.listed and subjects and subjects[0].ref.kind == "Pod":
        found = (turn.store.get("Pod", one.ref.name, one.ref.namespace) for one in subjects)
        pods = (pod for pod in found if pod is not None)
        yield from zip(subjects, differences(turn.store, pods, turn.ask), strict=True)
        return
    yield from tally.each(subjects, partial(_difference, turn))


def _difference(turn: Turn, subject: Subject) -> Difference | None:
    """Of a claim or a service of a file what refuses it; None: it is taken."""
    if not _is_counted(subject.kind):
        return diff(turn.store, subject, turn.ask)
    found = explain_policy(turn.store, subject, turn.ask)
    if found.verdict is None or found.verdict.allowed is True:
        return None
    return Difference(
        subject.ref,
        before_label="WRITTEN",
        after_label="STORED",
        before={},
        after={},
        reasons={},
        verdict=found.verdict,
        changed=True,
        remedies=found.remedies,
        unseen=found.unseen,
        complete=found.complete,
    )


command = Command(
    "diff",
    run,
    text="""
        Compare a manifest or a template as it is written with what the API server would store; compare a live pod with
        what it would get today. Each changed line says which rule of which object changed it.

        Ends with 1 if anything differs or would be refused, with 0 if not.
        """,
    examples="""
        # What would the API server change in this manifest?
        kubectl kres diff -f pod.yaml

        # What does it change in the pods of this deployment?
        kubectl kres diff deploy/web -n shop

        # Would this pod be the same if it were made today?
        kubectl kres diff pod/web-5d9c7b-x2x4q

        # Which pods of all namespaces would not?
        kubectl kres diff pods -A -o name

        # What becomes of what the author of a Task wrote?
        kubectl kres diff taskrun/build-7f -n ci

        # The policies of a snapshot applied to local files
        kubectl kres diff -f manifests/ -R --snapshot prod.kres
        """,
    usage="(TYPE/NAME | TYPE [NAME...] | -f FILE)",
    flags=(*INPUT, OUTPUT, ALLOW_PARTIAL, *SERVER),
    formats=("text", "json", "yaml", "name"),
    completes=making_pods,
)
