"""What is left to say after the last object: what was missing or unseen, and the exit code."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from kubectl_kres.cli.exit import NEGATIVE, PARTIAL, may_i, say, tell, worst
from kubectl_kres.cli.options import Options
from kubectl_kres.cli.output import DOCUMENTS, Items, same_terminal
from kubectl_kres.cli.source import Source
from kubectl_kres.errors import Forbidden, KresError, NotFound
from kubectl_kres.reports.explanation import Unseen
from kubectl_kres.reports.subject import Subject
from kubectl_kres.store.store import Origin

T = TypeVar("T")


class Tally:
    """Grows with each object; ``count`` is how many were answered."""

    def __init__(self, options: Options) -> None:
        self.count = 0
        self.complete = True
        #: Whether it was told why nothing is there.
        self.told = False
        #: What ``--until`` may wait for, and whether all answers have it.
        self.met: dict[str, bool] = {}
        self._options = options
        self._codes: set[int] = set()
        self._unseen: dict[tuple[str, str], Unseen] = {}
        #: What standard output says of what could not be read.
        self._shown: set[str] = set()
        self._failed = False

    @property
    def barren(self) -> bool:
        """Whether what was asked about has no answer at all, which is less than an empty list."""
        return self._failed and not self.count

    def missed(self, error: KresError) -> None:
        """An object without an answer: its error is told at once."""
        self._failed = True
        if isinstance(error, NotFound) and self._options.ignore_not_found:
            return
        tell(error)
        self._codes.add(error.exit_code)
        self.complete = self.complete and not isinstance(error, Forbidden)

    def answered(self, unseen: Iterable[Unseen], *, complete: bool, negative: bool) -> None:
        """An object with an answer; ``negative``: one that the exit code tells."""
        self.count += 1
        self.saw(unseen, complete=complete)
        if negative:
            self._codes.add(NEGATIVE)

    def shows(self, unseen: Iterable[Unseen]) -> None:
        """Standard output has these, in the server's words: on the same terminal they are not told again."""
        self._shown.update(one.message for one in unseen)

    def meets(self, word: str, yes: bool, *, complete: bool = True) -> None:  # noqa: FBT001, the word is its name
        """Whether an answer has what ``--until`` may wait for; not ``complete``: only as far as seen."""
        sure = complete or self._options.allow_partial
        self.met[word] = self.met.get(word, True) and yes and sure

    def saw(self, unseen: Iterable[Unseen], *, complete: bool) -> None:
        """What could not be read for an answer."""
        self.complete = self.complete and complete
        for one in unseen:
            if one.required:
                self._unseen.setdefault((one.kind, one.message), one)

    def each(self, subjects: Iterable[Subject], make: Callable[[Subject], T]) -> Iterator[tuple[Subject, T]]:
        """The objects with their answers; one without is missed."""
        for subject in subjects:
            try:
                found = make(subject)
            except KresError as error:
                self.missed(error)
            else:
                yield subject, found

    def document(self, items: Items, kind: str, origin: Origin) -> bool:
        """Whether a document is asked for; it is written if there is anything to write."""
        asked = self._options.output in DOCUMENTS
        if asked and not self.barren:
            items.write(kind, origin, complete=self.complete)
        return asked

    def code(self, source: Source) -> int:
        """Tells on stderr what there is left to tell, and returns the exit code of the run."""
        for text in source.skipped:
            say(f"error: left out, since it cannot be decoded: {text}")
        shown = self._shown if self._shown and same_terminal() else ()
        for one in self._unseen.values():
            _say_unseen(one, told=one.message in shown)
        if not self.count and not self._failed and not self.told:
            say(
                _nothing(source.namespaces, self._options)
                if self.complete
                else "Nothing that was asked about could be read"
            )
        if (source.skipped or not self.complete) and not self._options.allow_partial:
            self._codes.add(PARTIAL)
        return worst(self._codes)


def _say_unseen(one: Unseen, *, told: bool) -> None:
    """``told``: the server's words stand above, on the same terminal."""
    what = f"{one.kind} {one.name}" if one.name else f"{one.kind} objects"
    where = f" of namespace {one.namespace}" if one.namespace else ""
    if one.state == "denied":
        if not told:
            say(f"Error from server (Forbidden): {one.message}")
        say(f"The answer is given without the {what}{where}. {may_i(one.message)}".rstrip())
    else:
        say(f"error: the answer is given without the {what}{where}: {one.message or 'not read'}")


def _nothing(namespaces: tuple[str, ...], options: Options) -> str:
    if not namespaces or options.filenames:
        return "No resources found"
    return f"No resources found in {', '.join(namespaces)} namespace{'s' * (len(namespaces) > 1)}."
