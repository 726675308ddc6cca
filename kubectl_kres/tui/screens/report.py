"""A policy object explained: a namespace, a LimitRange, a claim, a service, as ``kubectl kres explain`` prints it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from textual.app import ComposeResult

from kubectl_kres.errors import KresError
from kubectl_kres.render.line import Line, toned, wrapped
from kubectl_kres.render.policy import policy_lines
from kubectl_kres.reports.explain_policy import explain_policy, explains, namespace_of, policy_needs
from kubectl_kres.store.changes import Changes
from kubectl_kres.store.coverage import Need
from kubectl_kres.tui.place import Place
from kubectl_kres.tui.rights import gap_lines
from kubectl_kres.tui.screens.pane import Copy, Open, Pane, Told
from kubectl_kres.tui.session import Session
from kubectl_kres.tui.widgets.lines import Lines


class ReportPane(Pane):
    """One page of text."""

    DEFAULT_CSS = """
    ReportPane > Lines { height: 1fr; }
    """

    def __init__(self, session: Session, place: Place) -> None:
        super().__init__(session, place)
        assert place.ref is not None
        self.ref = place.ref
        self.page = Lines()

    def compose(self) -> ComposeResult:
        yield self.page

    def on_mount(self) -> None:
        self.page.put(self._lines)
        self.page.focus()

    def needs(self) -> Iterable[Need]:
        if not explains(self.session.subject(self.ref).kind):
            return (Need(self.ref.kind, self.ref.namespace, self.ref.name),)
        return policy_needs(self.session.store, self.session.subject(self.ref))

    def changed(self, changes: Changes) -> None:
        if changes.kinds & {need.kind for need in self.needs()}:
            self.page.put(self._lines, keep=True)
            self.post_message(Told())

    def _lines(self, width: int) -> Iterator[Line]:
        subject = self.session.subject(self.ref)
        if not explains(subject.kind):
            yield [("quiet", f"{self.ref} holds no pod template and is no policy: there is nothing to explain")]
            return
        if any(self.session.loading(self.needs())):
            yield [("quiet", f"reading {self.ref}")]
            return
        try:
            found = explain_policy(self.session.store, subject, self.session.ask)
        except KresError as error:
            yield from toned("bad", wrapped(error.message, width, rest="  "))
            yield from gap_lines(self.session, self.needs(), width)
            return
        yield from policy_lines(found, ascii_only=self.session.setting.ascii_only, width=width)

    def act(self, action: str) -> bool:
        namespace = namespace_of(self.ref)
        match action:
            case "copy":
                self.post_message(Copy(self.ref.name, "name"))
            case "copy-ns" if namespace:
                self.post_message(Copy(namespace, "namespace"))
            case "namespace" if namespace:
                self.post_message(Open(Place("pods", namespace=namespace)))
            case _:
                return False
        return True

    def crumb(self) -> str:
        return f"{self.session.subject(self.ref).kind.names[-1]}/{self.ref.name}"

    def command(self) -> str:
        name = f"{self.session.subject(self.ref).kind.names[-1]}/{self.ref.name}"
        return self.session.command(f"explain {name}", self.ref.namespace or None)

    def hints(self) -> Sequence[str]:
        return ("up", "copy", "copy-command", "namespace", "help")
