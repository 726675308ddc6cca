"""A screen of one object: what is asked about it, whether it is still there, and of a policy object its explanation."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeVar

from textual.app import ComposeResult

from kubectl_kres.errors import KresError, NotFound
from kubectl_kres.render.quota.policy import policy_lines
from kubectl_kres.render.text.line import Line, tone_lines, wrap_text
from kubectl_kres.reports.common.system import answers_about
from kubectl_kres.reports.namespace.explain_policy import explain_policy, namespace_of, policy_needs
from kubectl_kres.reports.namespace.policy_explanation import PolicyExplanation
from kubectl_kres.store.store import Changes, ReadRequest
from kubectl_kres.tui.location import Location
from kubectl_kres.tui.rbac_hints import gap_lines
from kubectl_kres.tui.screens.pane import Copy, FrameChanged, OpenPlace, Pane, StatusRemark
from kubectl_kres.tui.session import Session, single_read_request
from kubectl_kres.tui.widgets.lines import Lines

T = TypeVar("T")


class ObjectPane(Pane):
    """``found`` is the last answer, which stays when the object goes; ``fault`` is why there is none of now."""

    def __init__(self, session: Session, location: Location) -> None:
        super().__init__(session, location)
        assert location.ref is not None
        self.ref = location.ref
        self.subject = session.subject(location.ref)
        self.answer: Any = None
        self.fault: KresError | None = None
        self.is_deleted = self._was_late = False
        self._requested_reads: dict[ReadRequest, None] = {}

    def answer_reads(self) -> Iterable[ReadRequest]:
        """Return what the answer depends on, as far as that is known by now."""
        raise NotImplementedError

    def compute_answer(self) -> Any:
        """Return the answer of now. Raises KresError."""
        raise NotImplementedError

    def show_answer(self) -> None:
        """There is another answer, or none: show it."""
        raise NotImplementedError

    def reads(self) -> Iterable[ReadRequest]:
        """Return what was needed once stays needed: a read that has served its end would be dropped, and be needed
        again.
        """
        self._requested_reads.update(dict.fromkeys(self.answer_reads()))
        return self._requested_reads

    def apply_changes(self, changes: Changes) -> None:
        if changes and changes.kinds & {read.kind for read in self.reads()}:
            exists = self.session.get(self.ref) is not None
            if self.ref in changes.removed and not exists:
                self.post_message(StatusRemark(f"{self.ref} was deleted; this is how it was", "warn"))
            self.is_deleted = (self.is_deleted or self.ref in changes.removed) and not exists
            self.explain()
        elif self.is_late != self._was_late:
            # What an answer made necessary is asked for after it.
            self._show()

    def explain(self) -> None:
        """The answer of now; of what is gone, the last one stays."""
        try:
            self.answer, self.fault = self.compute_answer(), None
        except KresError as error:
            self.fault = error
            if self.answer is None or not isinstance(error, NotFound):
                self.answer = None
        self._show()

    def _show(self) -> None:
        self._was_late = self.is_late
        self.show_answer()
        self.post_message(FrameChanged())

    def compare_before(self, compute: Callable[[], T]) -> T | None:
        """Return what something gives without the change that is tried; None where no change is, or there is no
        answer.
        """
        change = self.session.what_if
        if change is None:
            return None
        session, result, self.session = self.session, self.answer, change.real
        try:
            self.answer = self.compute_answer()
            return compute()
        except KresError:
            return None
        finally:
            self.session, self.answer = session, result

    @property
    def is_late(self) -> bool:
        """Return whether what is not there yet may only be late."""
        return any(self.session.unread_requests(self._requested_reads or self.reads()))

    @property
    def complete(self) -> bool:
        """Return whether all that the answer depends on has been asked for and read, or cannot be."""
        # Asked for first: what the last change made necessary may be on its way already.
        reads, states = tuple(self.reads()), self.session.feed.states()
        return not self.is_late and all(single_read_request(read) in states for read in reads)

    def state_lines(self, width: int) -> Iterator[Line]:
        """Yield the sentence that the object is gone; that more is being read; or why nothing is known of it."""
        if self.is_deleted:
            yield [("warn", "deleted: "), ("", "this is how it was last")]
        if self.is_late and self.answer is not None:
            yield [("warn", "still reading: this is so far")]
        elif self.is_late:
            yield [("quiet", f"reading {self.ref}")]
        elif self.answer is None and self.fault is not None:
            yield from tone_lines(
                "bad", wrap_text(f"{self.fault.message}{self._format_search_scope()}", width, rest="  ")
            )

    def _format_search_scope(self) -> str:
        """Return where what is not found was looked for: the screen may show all namespaces, and the object is
        of one.
        """
        space = self.ref.namespace
        if not isinstance(self.fault, NotFound) or not space:
            return ""
        other = f"; elsewhere: :{self.ref.kind.lower()} {self.ref.name} NAMESPACE"
        return f" in namespace {space}{'' if self.session.namespace else other}"

    def gap_lines(self, width: int) -> Iterator[Line]:
        """Yield what could not be read of what the answer depends on."""
        yield from gap_lines(self.session, self.reads(), width)

    def act(self, action: str) -> bool:
        namespace = namespace_of(self.ref)
        match action:
            case "copy":
                self.post_message(Copy(self.ref.name, "name"))
            case "copy-ns" if namespace:
                self.post_message(Copy(namespace, "namespace"))
            case "namespace" if namespace:
                self.post_message(OpenPlace(Location("pods", namespace=namespace)))
            case "owner" if (owner := self.owner()) is not None:
                self.post_message(OpenPlace(owner))
            case _:
                return super().act(action)
        return True

    @property
    def word(self) -> str:
        """Return what the kind is called in commands."""
        return self.subject.kind.names[1]

    def breadcrumb(self) -> str:
        return f"{self.word}/{self.ref.name}"


class ReportPane(ObjectPane):
    """One page of text."""

    def __init__(self, session: Session, location: Location) -> None:
        super().__init__(session, location)
        self.page = Lines()

    def compose(self) -> ComposeResult:
        yield self.page

    def on_mount(self) -> None:
        self.explain()
        self.page.focus()

    def answer_reads(self) -> Iterable[ReadRequest]:
        if answers_about(self.subject.kind).explained != "policy":
            return (ReadRequest(self.ref.kind, self.ref.namespace, self.ref.name),)
        return policy_needs(self.session.store, self.subject)

    def compute_answer(self) -> PolicyExplanation | None:
        if answers_about(self.subject.kind).explained != "policy":
            return None
        return explain_policy(self.session.store, self.subject, self.session.evaluation_options)

    def show_answer(self) -> None:
        self.page.put(self._lines, keep=True)

    def _lines(self, width: int) -> Iterator[Line]:
        if answers_about(self.subject.kind).explained != "policy":
            yield [("quiet", f"{self.ref} holds no pod template and is no policy: there is nothing to explain")]
            return
        yield from self.state_lines(width)
        if self.answer is not None:
            yield from policy_lines(
                self.answer, ascii_only=self.session.setting.ascii_only, width=width, now=self.session.setting.now()
            )
        elif not self.is_late:
            yield from self.gap_lines(width)

    @property
    def word(self) -> str:
        return self.subject.kind.names[-1]

    def command(self) -> str:
        return self.session.command(f"explain {self.word}/{self.ref.name}", self.ref.namespace or None)

    def hints(self) -> Sequence[str]:
        return ("up", "copy", "copy-command", "namespace", "help")
