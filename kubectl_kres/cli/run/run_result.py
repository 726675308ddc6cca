"""What is left to say after the last object: what was missing or unseen, and the exit code."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

from kubectl_kres.admission.base.versions import beyond_rules
from kubectl_kres.cli.args.options import Options
from kubectl_kres.cli.args.repeat_flags import access_flags
from kubectl_kres.cli.output.exit_codes import lines, may_i, worst
from kubectl_kres.cli.output.printer import DOCUMENTS, same_terminal
from kubectl_kres.cli.select.workloads import Found
from kubectl_kres.cli.source.object_source import ObjectSource
from kubectl_kres.errors import ClusterError, Exit, InputError, InputErrors, KresError, NotFound
from kubectl_kres.reports.common.explanation import Unseen
from kubectl_kres.reports.common.subject import Subject

T = TypeVar("T")

_SUPPOSED = "than the rules known here"


class Tally:
    """Grows with each object; ``count`` is how many were answered. ``note`` takes each line for stderr."""

    def __init__(self, options: Options, note: Callable[[str], None]) -> None:
        self.note = note
        self.count = 0
        self.complete = True
        #: Whether all objects were those of lists.
        self.listed = True
        #: Whether it was told why nothing is there.
        self._told = False
        #: What ``--until`` may wait for, and whether all answers have it.
        self.met: dict[str, bool] = {}
        self._options, self._access = options, access_flags(options)
        self._codes: set[int] = set()
        self._unseen: dict[tuple[str, str], Unseen] = {}
        #: What standard output says of what could not be read.
        self._shown: set[str] = set()
        self._failed = False
        self._left_out: Sequence[InputError] = ()
        #: Whether an answer said that the server is older or newer than the rules.
        self._supposed = False

    @property
    def barren(self) -> bool:
        """Whether what was asked about has no answer at all, which is less than an empty list."""
        return self._failed and not self.count

    def assumes(self, texts: Iterable[str]) -> None:
        """Notes what is supposed about the server."""
        for text in texts:
            self.note(f"assumed: {text}")
            self._supposed = self._supposed or _SUPPOSED in text

    def watched(self, lines: Iterable[str]) -> Iterator[str]:
        """The lines; notes whether they say that the server is older or newer than the rules."""
        last = ""
        for line in lines:
            text = line.strip()
            self._supposed = self._supposed or _SUPPOSED in f"{last} {text}"
            last = text
            yield line

    def missed(self, error: KresError) -> None:
        """An object without an answer: its error is told at once."""
        self._failed = True
        if isinstance(error, NotFound) and self._options.ignore_not_found:
            return
        self._tell(error)
        self._codes.add(error.exit_code)
        self.complete = self.complete and not _unread(error)

    def answered(self, unseen: Iterable[Unseen], *, complete: bool, negative: bool, counts: bool = True) -> None:
        """An object with an answer; ``negative``: the exit code says so; ``counts``: it was asked for."""
        self.count += counts
        self.saw(unseen, complete=complete)
        if negative:
            self._codes.add(Exit.NEGATIVE)

    def leaves_out(self, faults: Sequence[InputError]) -> None:
        """Documents of files that could not be used: they are told at the end, as kubectl does, and are missing."""
        self._left_out = faults
        self.complete = self.complete and not faults

    def shows(self, unseen: Iterable[Unseen]) -> None:
        """Standard output has these, in the server's words: on the same terminal they are not told again."""
        self._shown.update(unseen.message for unseen in unseen)

    def meets(self, word: str, yes: bool, *, complete: bool = True) -> None:  # noqa: FBT001, the word is its name
        """Whether an answer has what ``--until`` may wait for; not ``complete``: only as far as seen."""
        sure = complete or self._options.allow_partial
        self.met[word] = self.met.get(word, True) and yes and sure

    def saw(self, unseen: Iterable[Unseen], *, complete: bool) -> None:
        """What could not be read for an answer."""
        self.complete = self.complete and complete
        for item in unseen:
            if item.required:
                self._unseen.setdefault((item.kind, item.message), item)

    def each(self, subjects: Iterable[Subject], make: Callable[[Subject], T]) -> Iterator[tuple[Subject, T]]:
        """The objects with their answers; one without is missed."""
        for subject in subjects:
            try:
                result = make(subject)
            except KresError as error:
                self.missed(error)
            else:
                yield subject, result

    def found(self, value: Found) -> None:
        """Some objects whose answers come next, and what of them could not be read."""
        for error in value.missing:
            self.missed(error)
        self.saw(value.unseen, complete=not any(unseen.required for unseen in value.unseen))
        self._note_optional([unseen for unseen in value.unseen if not unseen.required])
        self.listed = self.listed and value.listed
        if value.told:
            self.note(value.told)
            self._told = True

    def _note_optional(self, missed: Sequence[Unseen]) -> None:
        """What stands beside the answer and could not be read, in one line."""
        if missed:
            kinds = " and ".join(dict.fromkeys(f"{unseen.kind} objects" for unseen in missed))
            self.note(f"The answer is given without {kinds}, if there are any: {missed[0].message or missed[0].state}")

    def code(self, source: ObjectSource) -> int:
        """Notes what there is left to tell, and returns the exit code of the run."""
        for text in source.skipped:
            self.note(f"error: left out, since it cannot be decoded: {text}")
        shown = self._shown if self._shown and same_terminal() else ()
        for unseen in self._unseen.values():
            self._note_unseen(unseen, told=unseen.message in shown)
        if self._left_out:
            from kubectl_kres.manifests.read import LISTED

            self._tell(InputErrors(self._left_out[:LISTED], len(self._left_out) - LISTED))
            self.note("The answer is given without what is named above.")
        if not self.count and not self._failed and not self._told:
            self._note_nothing(source)
        if (source.skipped or not self.complete) and not self._options.allow_partial:
            self._codes.add(Exit.PARTIAL)
        assumed = beyond_rules(self._options.kube_version or source.store.origin.version)
        if assumed and self.count and not self._supposed and self._options.output not in DOCUMENTS:
            self.note(f"assumed: {assumed}")
        return worst(self._codes)

    def _note_nothing(self, source: ObjectSource) -> None:
        """That there is nothing to answer for; a namespace that does not exist is a mistake, not an empty one."""
        if not self.complete:
            self.note("Nothing that was asked about could be read")
            return
        absent = [] if self._options.filenames or self._options.offline else _absent(source)
        for name in absent:
            self.note(f'Error from server (NotFound): namespaces "{name}" not found')
            self._codes.add(Exit.UNREAD)
        if not absent:
            self.note(_nothing(source.namespaces, self._options))
            if self._options.exit_code:
                # A gate that looked at nothing has not passed.
                self._codes.add(Exit.NEGATIVE)

    def _tell(self, error: KresError) -> None:
        for line in lines(error, self._access):
            self.note(line)

    def _note_unseen(self, unseen: Unseen, *, told: bool) -> None:
        """``told``: the server's words stand above, on the same terminal."""
        what = f"{unseen.kind} {unseen.name}" if unseen.name else f"{unseen.kind} objects"
        where = f" of namespace {unseen.namespace}" if unseen.namespace else ""
        if unseen.state == "denied":
            if not told:
                self.note(f"Error from server (Forbidden): {unseen.message}")
            self.note(f"The answer is given without the {what}{where}. {may_i(unseen.message, self._access)}".rstrip())
        elif unseen.reason:
            self.note(f"Error from server ({unseen.reason}): {unseen.message}")
            self.note(f"The answer is given without the {what}{where}. {unseen.hint}".rstrip())
        else:
            self.note(f"error: the answer is given without the {what}{where}: {unseen.message or 'not read'}")
            if unseen.hint:
                self.note(unseen.hint)


def _absent(source: ObjectSource) -> list[str]:
    """The namespaces that were asked about and do not exist."""
    from kubectl_kres.reports.pod.unplaced import namespace_needs, no_namespace

    result = []
    for name in filter(None, source.namespaces):
        source.fill(namespace_needs(source.store, name))
        if no_namespace(source.store, name) is not None:
            result.append(name)
    return result


def _unread(error: KresError) -> bool:
    """Whether an object has no answer because something could not be read, not because it is not there."""
    return isinstance(error, ClusterError) and not isinstance(error, NotFound)


def _nothing(namespaces: tuple[str, ...], options: Options) -> str:
    if not namespaces or options.filenames:
        return "No resources found"
    asked = [f"-l {options.selector}"] if options.selector else []
    asked += [f"--field-selector {options.field_selector}"] if options.field_selector else []
    which = f" for {' '.join(asked)}" if asked else ""
    return f"No resources found{which} in {', '.join(namespaces)} namespace{'s' * (len(namespaces) > 1)}."
