"""The run of a command: the objects it is asked about, a report of each, and the text of each report.

A command turns its flags into a ``Query``. ``answer`` prints the answers once, ``cli.watch`` prints them repeatedly.

``RunSummary`` collects what is reported after the last object: what was missing or not read, and the exit code.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeVar

import click
from msgspec import Struct

from kubectl_kres.admission.base.versions import version_caveat
from kubectl_kres.cli.args.arguments import parse_named_objects
from kubectl_kres.cli.args.flags import access_flags
from kubectl_kres.cli.args.options import Options
from kubectl_kres.cli.args.target_version import ServerOf, server_from_flags
from kubectl_kres.cli.garbage import gc_disabled
from kubectl_kres.cli.output.exit_codes import lines, may_i, print_stderr, worst_code
from kubectl_kres.cli.output.printer import DOCUMENTS, print_lines, qualified_name, same_terminal, wants_color, width
from kubectl_kres.cli.select.workloads import Selection, select_subjects
from kubectl_kres.cli.source.object_source import Input, ObjectSource, current_time
from kubectl_kres.cli.source.open_source import open_source
from kubectl_kres.errors import ClusterError, Exit, Forbidden, InputError, InputErrors, KresError, NotFound
from kubectl_kres.model.pod import Pod
from kubectl_kres.render.text.sentences import sentence_text
from kubectl_kres.reports.common.explanation import EvaluationOptions, FailedRead, Subject
from kubectl_kres.reports.common.unread import Frame, UnreadKind, unread_kinds
from kubectl_kres.store.store import ReadRequest, Store

if TYPE_CHECKING:
    from kubectl_kres.cli.output.documents import Items
    from kubectl_kres.render.verdict.brief import Brief

T = TypeVar("T")

_SUPPOSED = "than the rules known here"


class RunSummary:
    """The summary of a run. ``count``: how many objects have an answer. ``note`` prints a line to stderr.

    ``command``: which one is run; empty: the one that the user typed.
    """

    def __init__(self, options: Options, note: Callable[[str], None], command: str = "") -> None:
        self.note = note
        self.count = 0
        self._complete = True
        self._source: ObjectSource | None = None
        #: Kinds of which it is said elsewhere that they could not be read.
        self._named_kinds: set[str] = set()
        #: Whether all objects were those of lists.
        self.listed = True
        #: Whether it was said why nothing is there.
        self._reason_noted = False
        #: What ``--until`` may wait for, and whether all answers have it.
        self.met: dict[str, bool] = {}
        self._options, self._access = options, access_flags(options)
        context = click.get_current_context(silent=True)
        self._command = command or (context.info_name if context is not None else None) or ""
        self._codes: set[int] = set()
        self._failed_reads: dict[tuple[str, str], FailedRead] = {}
        #: What standard output says of what could not be read.
        self._printed_messages: set[str] = set()
        self._failed = False
        self._left_out: Sequence[InputError] = ()
        #: The kinds of files' objects that nothing looks at, each as often as it is there.
        self.kinds_left_out: tuple[str, ...] = ()
        #: What may turn the answers of a table.
        self.decisive: dict[str, None] = {}
        #: Whether an answer said that the server is older or newer than the rules.
        self._version_assumed = False

    def look_at(self, source: ObjectSource) -> None:
        """Take what could not be read from a source, whatever the reports say of it."""
        self._source = source

    @property
    def unread(self) -> tuple[UnreadKind, ...]:
        """What was asked of the source and could not be read."""
        if self._source is None or not self._source.store.failures():
            return ()
        return unread_kinds(self._source.store, self._command)

    @property
    def complete(self) -> bool:
        """Whether nothing is missing that the answers need."""
        return self._complete and not any(item.required for item in self.unread)

    @property
    def no_answers(self) -> bool:
        """Return whether there were errors and no answer at all, which is less than an empty list."""
        return self._failed and not self.count

    def note_assumption(self, texts: Iterable[str]) -> None:
        """Report what is assumed about the server."""
        for text in texts:
            self.note(f"assumed: {text}")
            self._version_assumed = self._version_assumed or _SUPPOSED in text

    def watched(self, lines: Iterable[str]) -> Iterator[str]:
        """Yield the lines, and remember whether one says that the server is older or newer than the rules."""
        last = ""
        for line in lines:
            text = line.strip()
            self._version_assumed = self._version_assumed or _SUPPOSED in f"{last} {text}"
            last = text
            yield line

    def add_error(self, error: KresError) -> None:
        """Add an object without an answer; its error is printed at once."""
        self._failed = True
        if isinstance(error, NotFound) and self._options.ignore_not_found:
            return
        self._note_error(error)
        self._codes.add(error.exit_code)
        self._complete = self._complete and not _is_unread_error(error)

    def add_answer(
        self, failed_reads: Iterable[FailedRead], *, complete: bool, negative: bool, counts: bool = True
    ) -> None:
        """Add an answer. ``negative``: the exit code says so. ``counts``: whether it was asked for."""
        self.count += counts
        self.note_unread(failed_reads, complete=complete)
        if negative:
            self._codes.add(Exit.NEGATIVE)

    def leaves_out(self, faults: Sequence[InputError]) -> None:
        """Add documents of files that could not be used. They are reported at the end, as kubectl does."""
        self._left_out = faults
        self._complete = self._complete and not faults

    def note_printed(self, failed_reads: Iterable[FailedRead]) -> None:
        """Note failed reads that standard output reports already; on the same terminal they are not repeated."""
        for failed_read in failed_reads:
            self._printed_messages.add(sentence_text(failed_read.message))
            self._named_kinds.add(failed_read.kind)

    def note_condition(self, word: str, yes: bool, *, complete: bool = True) -> None:  # noqa: FBT001, the word is its name
        """Note whether an answer meets a condition of ``--until``. An answer that is not ``complete`` does not."""
        sure = complete or self._options.allow_partial
        self.met[word] = self.met.get(word, True) and yes and sure

    def note_unread(self, failed_reads: Iterable[FailedRead], *, complete: bool) -> None:
        """Note what could not be read for an answer."""
        self._complete = self._complete and complete
        for item in failed_reads:
            if item.required:
                self._named_kinds.add(item.kind)
                self._failed_reads.setdefault((item.kind, sentence_text(item.message)), item)

    def answer_each(self, subjects: Iterable[Subject], make: Callable[[Subject], T]) -> Iterator[tuple[Subject, T]]:
        """Yield the objects with their answers; for an object without an answer the error is added."""
        for subject in subjects:
            try:
                result = make(subject)
            except KresError as error:
                self.add_error(error)
            else:
                yield subject, result

    def add_selection(self, value: Selection) -> None:
        """Add the objects that are answered for next, and what could not be read for them."""
        for error in value.errors:
            self.add_error(error)
        self.note_unread(value.unread, complete=not any(failed_read.required for failed_read in value.unread))
        self.note_optional([failed_read for failed_read in value.unread if not failed_read.required])
        self.listed = self.listed and value.listed
        self.kinds_left_out += value.left_out
        if value.reason:
            self.note(value.reason)
            self._reason_noted = True

    def note_optional(self, missed: Sequence[FailedRead]) -> None:
        """Report in one line what could not be read and only adds to the answer."""
        if missed:
            self._named_kinds.update(failed_read.kind for failed_read in missed)
            kinds = list(dict.fromkeys(failed_read.kind for failed_read in missed))
            denied = len(kinds) > 1 and all(failed_read.state == "denied" for failed_read in missed)
            reason = "no permission" if denied else missed[0].message or missed[0].state
            self.note(f"not checked ({reason}): {', '.join(kinds)}")

    def code(self, source: ObjectSource) -> int:
        """Report what is left to report, and return the exit code of the run."""
        self.look_at(source)
        for each in source.skipped:
            self.note(f"error: left out, since it cannot be decoded: {each.line}")
        self._note_unread_kinds()
        if self._left_out:
            from kubectl_kres.manifests.read import LISTED

            self._note_error(InputErrors(self._left_out[:LISTED], len(self._left_out) - LISTED))
            self.note("The answer is given without what is named above.")
        if not self.count and not self._failed and not self._reason_noted:
            self._note_nothing(source)
        if (source.skipped or not self.complete) and not self._options.allow_partial:
            self._codes.add(Exit.PARTIAL)
        assumed = version_caveat(self._options.kube_version or source.store.origin.version)
        if assumed and self.count and not self._version_assumed and self._options.output not in DOCUMENTS:
            self.note(f"assumed: {assumed}")
        return worst_code(self._codes)

    def _note_unread_kinds(self) -> None:
        """Report what could not be read: one kind in the server's words, several in one line."""
        shown = self._printed_messages if self._printed_messages and same_terminal() else ()
        unnamed = [] if self.no_answers else [item for item in self.unread if item.kind not in self._named_kinds]
        denied = [item for item in self._failed_reads.values() if item.state == "denied"]
        several = len({item.kind for item in denied}) > 1
        for failed_read in self._failed_reads.values():
            if not (several and failed_read.state == "denied"):
                self._note_unseen(failed_read, texts=sentence_text(failed_read.message) in shown)
        if several:
            told = [item for item in denied if sentence_text(item.message) not in shown]
            unnamed = [*(UnreadKind(item.kind, item.state) for item in told), *unnamed]
        if unnamed:
            from kubectl_kres.render.text.unread import unread_lines

            for line in unread_lines(unnamed):
                self.note(line)
        if several:
            spaces = {item.namespace for item in denied if item.namespace}
            where = f" -n {spaces.pop()}" if len(spaces) == 1 else ""
            self.note(f"Check with: {' '.join(filter(None, ('kubectl auth can-i --list', self._access)))}{where}")

    def _note_nothing(self, source: ObjectSource) -> None:
        """Report that there is nothing to answer for. A namespace that does not exist is an error."""
        if not self.complete:
            self.note("Nothing that was asked about could be read")
            return
        absent = [] if self._options.filenames or self._options.offline else _find_absent_namespaces(source)
        for name in absent:
            self.note(f'Error from server (NotFound): namespaces "{name}" not found')
            self._codes.add(Exit.UNREAD)
        if not absent:
            self.note(_format_no_resources(source.namespaces, self._options))
            if self._options.exit_code:
                # A gate that looked at nothing has not passed.
                self._codes.add(Exit.NEGATIVE)

    def _note_error(self, error: KresError) -> None:
        for line in lines(error, self._access):
            self.note(line)

    def _note_unseen(self, failed_read: FailedRead, *, texts: bool) -> None:
        """Report what could not be read. ``texts``: the server's message stands above, on the same terminal."""
        what = f"{failed_read.kind} {failed_read.name}" if failed_read.name else f"{failed_read.kind} objects"
        namespace_text = f" of namespace {failed_read.namespace}" if failed_read.namespace else ""
        message = sentence_text(failed_read.message)
        if failed_read.state == "denied":
            if not texts:
                self.note(f"Error from server (Forbidden): {message}")
            hint = may_i(message, self._access)
            self.note(f"The answer is given without the {what}{namespace_text}. {hint}".rstrip())
        elif failed_read.reason:
            self.note(f"Error from server ({failed_read.reason}): {message}")
            self.note(f"The answer is given without the {what}{namespace_text}. {failed_read.hint}".rstrip())
        else:
            self.note(f"error: the answer is given without the {what}{namespace_text}: {message or 'not read'}")
            if failed_read.hint:
                self.note(failed_read.hint)


def _find_absent_namespaces(source: ObjectSource) -> list[str]:
    """Return the namespaces that were asked about and do not exist."""
    from kubectl_kres.reports.pod.preflight import namespace_needs, no_namespace

    result = []
    for name in filter(None, source.namespaces):
        source.fill(namespace_needs(source.store, name))
        if no_namespace(source.store, name) is not None:
            result.append(name)
    return result


def _is_unread_error(error: KresError) -> bool:
    """Return whether an object has no answer because something could not be read, not because it is not there."""
    return isinstance(error, ClusterError) and not isinstance(error, NotFound)


def _format_no_resources(namespaces: tuple[str, ...], options: Options) -> str:
    if not namespaces or options.filenames:
        return "No resources found"
    asked = [f"-l {options.selector}"] if options.selector else []
    asked += [f"--field-selector {options.field_selector}"] if options.field_selector else []
    which = f" for {' '.join(asked)}" if asked else ""
    return f"No resources found{which} in {', '.join(namespaces)} namespace{'s' * (len(namespaces) > 1)}."


def read_yaml(text: str) -> Any:
    """Return the value of YAML inside an object. Raises InputError."""
    from kubectl_kres.documents import yaml_text

    return yaml_text.value(text)


class AnswerBatch(Struct, frozen=True):
    """Objects that can be answered for now. ``many``: more than one object was asked about.

    ``cache``: what the page keeps from one batch of a run to the next.
    """

    store: Store
    selection: Selection
    options: EvaluationOptions
    many: bool
    cache: Any = None


#: Finds the objects that flags and words name, and reads what their answers need.
Choose = Callable[[ObjectSource, Input, Options, Sequence[str], str], Iterator[Selection]]


class ObjectAnswer(Struct, frozen=True):
    """The answer for one object: its report, and a function that returns the report's lines.

    ``subject`` None: the report is about no single object. ``report`` None: a document does not hold it. ``row``: its
    cells, where it is a row of a table. ``gap``: the empty lines between it and the answer before. ``note``: what the
    lines after the last answer need to know of it.
    """

    subject: Subject | None
    report: Any
    lines: Callable[[], Iterable[str]] = tuple
    row: Any = None
    gap: int = 0
    note: Any = None


class DrawRows(Protocol):
    """Draws the next rows of a table. ``more``: others may follow."""

    def __call__(self, answers: Sequence[ObjectAnswer], /, *, more: bool = False) -> Iterable[str]: ...


class Page:
    """The base of the pages of commands, which make reports and draw them. A page keeps nothing of its answers.

    ``kind``: the kind of the document. ``as_table``: all reports are drawn together, as one table.
    ``names_refused_policies``: a LimitRange or quota of the files that no server stores is missing in the answers.
    """

    kind: ClassVar[str] = ""
    names_refused_policies: ClassVar[bool] = False
    as_table = False
    #: Rows of a table that wait for more: beyond them it is drawn in pieces. 0: all wait.
    most_rows: ClassVar[int] = 0

    def __init__(self, options: Options) -> None:
        self.options = options
        self.width = width(wide=options.output == "wide")
        self.color = wants_color(options.color)

    def brief(self, value: Brief) -> Callable[[], Iterable[str]]:
        """Return a function for the lines of a brief answer."""
        from kubectl_kres.render.verdict import brief

        return lambda: brief.lines(value, color=self.color)

    def reports(self, batch: AnswerBatch, run_summary: RunSummary) -> Iterator[ObjectAnswer]:
        """Yield the answers for a batch of objects; for an object without an answer the error is added."""
        raise NotImplementedError

    def table(self, answers: Sequence[ObjectAnswer]) -> Iterable[str]:
        """Return the lines of these answers, if they are drawn together."""
        del answers
        return ()

    def start_table(self) -> DrawRows:
        """Return what draws the rows of a run; a table with ``most_rows`` is drawn in pieces."""

        def draw_rows(answers: Sequence[ObjectAnswer], /, *, more: bool = False) -> Iterable[str]:
            del more
            return self.table(answers)

        return draw_rows

    def closing_lines(self, notes: Sequence[Any], run_summary: RunSummary) -> Iterable[str]:
        """Return the lines after the last answer; a document has none. ``notes``: those of the answers."""
        del notes, run_summary
        return ()

    def run(
        self, request_context: RunContext, source: ObjectSource, inputs: Input, run_summary: RunSummary
    ) -> Iterator[ObjectAnswer]:
        """Yield the answers for all objects that the query names."""
        return self.run_batches(request_context, source, inputs, run_summary)

    def run_batches(
        self,
        request_context: RunContext,
        source: ObjectSource,
        inputs: Input,
        run_summary: RunSummary,
        cache: Any = None,
    ) -> Iterator[ObjectAnswer]:
        """Yield the answers batch by batch, each batch with the ``cache``."""
        options: EvaluationOptions | None = None
        for item in request_context.query.choose(
            source, inputs, self.options, request_context.query.words, request_context.program
        ):
            if options is None:
                server, assumptions = request_context.server_of(source.version())
                now = source.store.origin.time or current_time()
                options = EvaluationOptions(
                    server, (*source.assumptions, *assumptions), now, read_yaml, not self.options.no_seen
                )
            run_summary.add_selection(item)
            many = item.listed or len(item.subjects) + len(item.errors) > 1
            yield from self.reports(AnswerBatch(source.store, item, options, many, cache), run_summary)
        refused = inputs.refused_policies(options.server) if self.names_refused_policies and options is not None else ()
        run_summary.leaves_out([*inputs.left_out, *refused])
        run_summary.note_unread((), complete=not source.skipped)


def each_pod(source: ObjectSource, space: str, take: Callable[[Pod], object], run_summary: RunSummary) -> bool:
    """Give ``take`` all pods of a namespace (empty: of all), page by page. Return False, and add the error, where they
    may not be read.
    """
    try:
        for page in source.pages(ReadRequest("Pod", space)):
            for pod in page:
                take(pod)
    except Forbidden as error:
        run_summary.add_error(error)
        return False
    return True


class Query(Struct, frozen=True):
    """The query of a command: the objects it is about, and the page that makes the reports.

    ``needed``: arguments or files are required. ``unread``: kinds that no answer looks at; those of
    a snapshot are passed over.
    """

    page: Callable[[], Page]
    words: Sequence[str]
    choose: Choose = select_subjects
    needed: bool = False
    unread: Collection[str] = ()


class RunContext(Struct, frozen=True):
    """What all answers to a query have in common."""

    query: Query
    program: str
    server_of: ServerOf


def prepare_run(options: Options, query: Query) -> RunContext:
    """Return the context of a run. Raises UsageError for arguments and flags that are refused without a cluster."""
    program = click.get_current_context().command_path
    if query.needed and not (options.filenames or options.offline or options.recursive):
        parse_named_objects(query.words, program=program)
    return RunContext(query, program, server_from_flags(options))


def answer(options: Options, query: Query) -> int:
    """Print the answers as they are made, and return the exit code."""
    context, page = prepare_run(options, query), query.page()
    run_summary = RunSummary(options, print_stderr)
    # What answers leave behind holds no cycles worth looking for.
    with gc_disabled(), _document(options.output) as document, open_source(options, query.unread) as (source, inputs):
        run_summary.look_at(source)
        answers = page.run(context, source, inputs, run_summary)
        if document is None:
            notes: list[Any] = []
            for lines in draw_answers(page, _note_each(answers, notes)):
                print_lines(run_summary.watched(lines))
                if page.most_rows:
                    sys.stdout.flush()
            print_lines(page.closing_lines(notes, run_summary))
        else:
            for report in reports_of(answers):
                document.add(report)
            if not run_summary.no_answers:
                origin = source.store.origin
                document.write(page.kind, origin, frame_of(run_summary), kube_version=options.kube_version)
        return run_summary.code(source)


def _note_each(answers: Iterable[ObjectAnswer], notes: list[Any]) -> Iterator[ObjectAnswer]:
    for each in answers:
        notes += notes_of((each,))
        yield each


def frame_of(run_summary: RunSummary) -> Frame:
    """Return whether all that the answers need was read, and what could not be."""
    return Frame(run_summary.complete, run_summary.unread)


def reports_of(answers: Iterable[ObjectAnswer]) -> Iterator[Any]:
    """Yield what a document holds."""
    return (each.report for each in answers if each.report is not None)


def notes_of(answers: Iterable[ObjectAnswer]) -> Iterator[Any]:
    """Yield what the lines after the last answer need to know of the answers."""
    return (each.note for each in answers if each.note is not None)


def draw_answers(page: Page, answers: Iterable[ObjectAnswer]) -> Iterator[list[str]]:
    """Yield the lines of one answer after the other, as they are made; rows of a table come together at the end, or in
    pieces.
    """
    output, draw_rows = page.options.output, page.start_table()
    rows: list[ObjectAnswer] = []
    last = ""
    for each in answers:
        if output == "name":
            yield [qualified_name(each.subject)] if each.subject is not None else []
        elif page.as_table or each.row is not None or rows:
            if page.most_rows and len(rows) >= page.most_rows:
                yield [*draw_rows(rows, more=True)]
                rows = []
            rows.append(each)
        elif lines := [*each.lines()]:
            # One that ends with an empty line needs no gap after it.
            gap = (1 if output == "brief" else each.gap) if last else 0
            yield [*[""] * gap, *lines]
            last = lines[-1]
    yield [*draw_rows(rows)]


def _document(output: str) -> AbstractContextManager[Items | None]:
    """Return the collector of reports if the output is one document."""
    if output not in DOCUMENTS:
        return nullcontext()
    from kubectl_kres.cli.output.documents import Items

    return Items(output)


#: What a command asks, out of its flags and the other words. Raises UsageError for flags that do not go together.
Plan = Callable[[Options, tuple[str, ...]], Query]


def build_runner(plan: Plan) -> Callable[[Options, tuple[str, ...]], int]:
    """Return the function that runs a command which answers once."""
    return lambda options, words: answer(options, plan(options, words))
