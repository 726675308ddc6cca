"""A policy object explained: a namespace, a LimitRange, a claim, a service, as ``kubectl kres explain`` prints it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from textual.app import ComposeResult

from kubectl_kres.render.quota.policy import policy_lines
from kubectl_kres.render.text.line import Line
from kubectl_kres.reports.common.kind_answers import answers_about
from kubectl_kres.reports.namespace.explain_policy import explain_policy, policy_needs
from kubectl_kres.reports.namespace.policy_explanation import PolicyExplanation
from kubectl_kres.store.coverage import Need
from kubectl_kres.tui.location import Location
from kubectl_kres.tui.screens.object import ObjectPane
from kubectl_kres.tui.session import Session
from kubectl_kres.tui.widgets.lines import Lines


class ReportPane(ObjectPane):
    """One page of text."""

    DEFAULT_CSS = """
    ReportPane > Lines { height: 1fr; }
    """

    def __init__(self, session: Session, place: Location) -> None:
        super().__init__(session, place)
        self.page = Lines()

    def compose(self) -> ComposeResult:
        yield self.page

    def on_mount(self) -> None:
        self.explain()
        self.page.focus()

    def wanted(self) -> Iterable[Need]:
        if answers_about(self.subject.kind).explained != "policy":
            return (Need(self.ref.kind, self.ref.namespace, self.ref.name),)
        return policy_needs(self.session.store, self.subject)

    def ask(self) -> PolicyExplanation | None:
        if answers_about(self.subject.kind).explained != "policy":
            return None
        return explain_policy(self.session.store, self.subject, self.session.ask)

    def answered(self) -> None:
        self.page.put(self._lines, keep=True)

    def _lines(self, width: int) -> Iterator[Line]:
        if answers_about(self.subject.kind).explained != "policy":
            yield [("quiet", f"{self.ref} holds no pod template and is no policy: there is nothing to explain")]
            return
        yield from self.state_lines(width)
        if self.found is not None:
            yield from policy_lines(self.found, ascii_only=self.session.setting.ascii_only, width=width)
        elif not self.late:
            yield from self.gap_lines(width)

    @property
    def word(self) -> str:
        return self.subject.kind.names[-1]

    def command(self) -> str:
        return self.session.command(f"explain {self.word}/{self.ref.name}", self.ref.namespace or None)

    def hints(self) -> Sequence[str]:
        return ("up", "copy", "copy-command", "namespace", "help")
