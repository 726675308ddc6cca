"""How a command answers: what it asks about, a report of each object, and the text of each report.

A command makes a ``Query`` of its flags; ``answer`` prints what it comes to, ``cli.watch`` does so again and again.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import click

from kubectl_kres.cli.args.arguments import asked
from kubectl_kres.cli.args.options import Options
from kubectl_kres.cli.args.target_version import ServerOf, described
from kubectl_kres.cli.output.exit_codes import say
from kubectl_kres.cli.output.printer import DOCUMENTS, colored, named, put, width
from kubectl_kres.cli.run.run_result import Tally
from kubectl_kres.cli.select.workloads import Found, chosen
from kubectl_kres.cli.source.object_source import Input, ObjectSource, moment, opened
from kubectl_kres.errors import Forbidden
from kubectl_kres.model.pod import Pod
from kubectl_kres.reports.common.subject import Ask, Subject
from kubectl_kres.store.coverage import Need
from kubectl_kres.store.store import Store

if TYPE_CHECKING:
    from kubectl_kres.cli.output.documents import Items
    from kubectl_kres.render.verdict.brief import Brief


def read_yaml(text: str) -> Any:
    """The value of YAML inside an object. Raises InputError."""
    from kubectl_kres.documents import yaml_text

    return yaml_text.value(text)


class AnswerTurn(NamedTuple):
    """Some objects whose answers can be made now. ``many``: they are not the only one that was asked about."""

    store: Store
    found: Found
    ask: Ask
    many: bool


#: Finds the objects that flags and words name, and reads what their answers need.
Choose = Callable[[ObjectSource, Input, Options, Sequence[str], str], Iterator[Found]]


class Answered(NamedTuple):
    """The answer for one object: its report, and what draws the report's lines.

    ``subject`` None: the report is about no single object. ``row``: its cells, where it is a row of a table.
    """

    subject: Subject | None
    report: Any
    lines: Callable[[], Iterable[str]] = tuple
    row: Any = None


class Page:
    """Base of what makes a command's reports and draws them; one for each run over the objects.

    ``kind``: of the document. ``tabled``: the reports are drawn together, as one table.
    """

    kind: ClassVar[str] = ""
    tabled = False
    #: Rows of a table that wait for more: beyond them it is drawn in pieces. 0: all wait.
    most_rows: ClassVar[int] = 0

    def __init__(self, options: Options) -> None:
        self.options = options
        self.width = width(wide=options.output == "wide")
        self.color = colored(options.color)
        self._briefs = 0

    def brief(self, value: Brief) -> Callable[[], list[str]]:
        """The lines of an answer in few words, apart from the one before."""
        from kubectl_kres.render.verdict import brief

        gap = [""] * (self._briefs > 0)
        self._briefs += 1
        return lambda: [*gap, *brief.lines(value, color=self.color)]

    def reports(self, turn: AnswerTurn, tally: Tally) -> Iterator[Answered]:
        """The answers for the objects of a turn; an object without an answer is missed."""
        raise NotImplementedError

    def table(self, answers: Sequence[Answered]) -> Iterable[str]:
        """The lines of these answers, if they are drawn together."""
        del answers
        return ()

    def piece(self, answers: Sequence[Answered]) -> Iterable[str]:
        """The same of the first answers, where ``most_rows`` says that a table need not be whole."""
        return self.table(answers)

    def closing(self, tally: Tally) -> Iterable[str]:
        """Lines after the last answer; a document has none."""
        del tally
        return ()

    def run(self, frame: Frame, source: ObjectSource, given: Input, tally: Tally) -> Iterator[Answered]:
        """The answers for all objects that the query names."""
        ask: Ask | None = None
        for item in frame.query.choose(source, given, self.options, frame.query.words, frame.program):
            if ask is None:
                server, assumptions = frame.server_of(source.version())
                now = source.store.origin.time or moment()
                ask = Ask(server, (*source.supposed, *assumptions), now, read_yaml, not self.options.no_seen)
            tally.found(item)
            many = item.listed or len(item.subjects) + len(item.missing) > 1
            yield from self.reports(AnswerTurn(source.store, item, ask, many), tally)
        tally.leaves_out(given.left_out)
        tally.complete = tally.complete and not source.skipped


def each_pod(source: ObjectSource, space: str, take: Callable[[Pod], object], tally: Tally) -> bool:
    """Gives ``take`` all pods of a namespace (empty: of all), page by page; False where they may not be read, which is
    told.
    """
    try:
        for page in source.pages(Need("Pod", space)):
            for pod in page:
                take(pod)
    except Forbidden as error:
        tally.missed(error)
        return False
    return True


class Query(NamedTuple):
    """What a command asks: of which objects, and what makes the reports.

    ``needed``: without words or files there is nothing to answer. ``unread``: kinds that no answer looks at; those of
    a snapshot are passed over.
    """

    page: Callable[[], Page]
    words: Sequence[str]
    choose: Choose = chosen
    needed: bool = False
    unread: Collection[str] = ()


class Frame(NamedTuple):
    """What holds for all answers to a query."""

    query: Query
    program: str
    server_of: ServerOf


def framed(options: Options, query: Query) -> Frame:
    """Raises UsageError for words and flags that need no cluster to be refused."""
    program = click.get_current_context().command_path
    if query.needed and not (options.filenames or options.offline or options.recursive):
        asked(query.words, program=program)
    return Frame(query, program, described(options))


def answer(options: Options, query: Query) -> int:
    """Prints the answers as they are made; returns the exit code."""
    frame, page = framed(options, query), query.page()
    tally = Tally(options, say)
    drawn: list[Answered] = []
    # What answers leave behind holds no cycles worth looking for.
    with uncollected(), _document(options.output) as document, opened(options, query.unread) as (source, given):
        for answered in page.run(frame, source, given, tally):
            if document is not None:
                document.add(answered.report)
            elif options.output == "name" and answered.subject is not None:
                put((named(answered.subject),))
            elif page.tabled:
                if page.most_rows and len(drawn) >= page.most_rows:
                    put(page.piece(drawn))
                    sys.stdout.flush()
                    drawn.clear()
                drawn.append(answered)
            else:
                put(tally.watched(answered.lines()))
        if document is None:
            put(tally.watched(page.table(drawn)))
            put(page.closing(tally))
        elif not tally.barren:
            origin = source.store.origin
            document.write(page.kind, origin, complete=tally.complete, kube_version=options.kube_version)
        return tally.code(source)


def _document(output: str) -> AbstractContextManager[Items | None]:
    """What takes in the reports where one document is asked for."""
    if output not in DOCUMENTS:
        return nullcontext()
    from kubectl_kres.cli.output.documents import Items

    return Items(output)


#: What a command asks, out of its flags and the other words. Raises UsageError for flags that do not go together.
Plan = Callable[[Options, tuple[str, ...]], Query]


def answering(plan: Plan) -> Callable[[Options, tuple[str, ...]], int]:
    """The function that runs a command which answers once."""
    return lambda options, words: answer(options, plan(options, words))


@contextmanager
def uncollected() -> Iterator[None]:
    """Without garbage collection, which takes half of the time where a whole cluster is held, and finds nothing."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()
