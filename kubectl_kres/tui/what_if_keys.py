"""Keys of a what-if: ask for a number, evaluate it on the objects that were read, and leave it again."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace
from textual import on

from kubectl_kres.errors import KresError
from kubectl_kres.render.overview import short_ref
from kubectl_kres.store.store import ReadRequest
from kubectl_kres.tui import whatif
from kubectl_kres.tui.location import History, Location, Trail
from kubectl_kres.tui.prompted import PromptedApp
from kubectl_kres.tui.session import Session
from kubectl_kres.tui.table.strips import safe_text
from kubectl_kres.tui.widgets.prompt import Prompt

#: What stands in the prompt where marked objects have fixes of their own; what is typed instead is for all.
_EACH = "each its own"


def _text_for(proposal: whatif.Proposal, text: str) -> str:
    """Return what is tried of one object: a value alone is for the name that stood there."""
    if text == _EACH:
        return proposal.text
    return text if "=" in text else f"{proposal.text.partition('=')[0]}={text}"


class WhatIfKeys(PromptedApp):
    """The part of the app that tries numbers; ``app.Kres`` is the rest."""

    #: What a number is typed for, with what stood in the prompt for each.
    _proposals: tuple[whatif.Proposal, ...] = ()
    #: The numbers whose consequences wait for what has to be read.
    typed_numbers: tuple[whatif.TypedNumber, ...] = ()

    def __init__(self, session: Session, trail: Trail, *, ansi: bool) -> None:
        super().__init__(session, trail, ansi=ansi)
        #: What tells whether nodes take the pods that they make, as far as it is known by now.
        self.node_reads: dict[ReadRequest, None] = {}

    def do_suppose(self) -> None:
        pane, store = self.pane, self.session.store
        values = (pane.marked_values() or {pane.ref_of_row(): pane.value_here()}) if pane is not None else {}
        proposals = [
            replace(each, row=row)
            for row, value in values.items()
            if (each := whatif.proposal(store, *value)) is not None
        ]
        spaces = {each.ref.namespace for each in proposals}
        if not proposals and any(whatif.is_maker_unread(store, ref) for ref, _, _ in values.values()):
            self.refuse_prompt("what made the pod was not read: shift-j opens it, s tries its numbers there")
        elif not proposals:
            self.refuse_prompt(
                "no number to try here: s is for what is scaled, quotas, pools, claims, requests and limits"
            )
        elif len(spaces) > 1:
            self.refuse_prompt(
                f"what is marked is in {len(spaces)} namespaces: numbers are tried together in one", "warn"
            )
        else:
            self._proposals = tuple(proposals)
            about = short_ref(proposals[0].ref) if len(proposals) == 1 else f"{len(proposals)} marked"
            each_its_own = len({each.text for each in proposals}) > 1 and any(each.is_fix for each in proposals)
            self.ask_for("suppose", _EACH if each_its_own else proposals[0].text, about=about)

    @on(Prompt.Entered)
    def _try_what_was_typed(self, event: Prompt.Entered) -> None:
        if event.purpose == "suppose" and self._proposals and event.text:
            self._try_number(event.text)

    def _try_number(self, text: str) -> None:
        """Wait for what has to be read: what becomes of the number is said then."""
        change = self.session.what_if
        store = (change.real if change else self.session).store
        try:
            typed_numbers = [
                whatif.parse_step(store, each.ref_for(words), words)
                for each in self._proposals
                if text.strip() != _EACH or each.is_fix
                for words in (_text_for(each, text.strip()),)
            ]
        except KresError as error:
            self.show_remark(safe_text(error.message), "warn")
            return
        before = change.typed_numbers if change is not None else ()
        if any(other.placed_step.namespace != typed_numbers[0].placed_step.namespace for other in before):
            self.show_remark("numbers are tried together in one namespace: shift-u leaves the other one", "warn")
            return
        self.typed_numbers, self.node_reads = whatif.merge_numbers(before, typed_numbers), {}
        self.wanted_key = None
        self.request_reads()
        self.look_soon()
        self.show_remark("looking what becomes of it")

    def more_reads(self) -> Iterable[ReadRequest]:
        return (*super().more_reads(), *self._tried_requests())

    def after_changes(self) -> None:
        super().after_changes()
        if self.typed_numbers:
            self.try_numbers()

    def _tried_requests(self) -> tuple[ReadRequest, ...]:
        """Return what is read to say what becomes of the numbers."""
        if not self.typed_numbers:
            return ()
        return (*whatif.list_read_requests(self.session.store, self.typed_numbers), *self.node_reads)

    def try_numbers(self) -> None:
        """Once all is there: the screens on the state that the numbers lead to."""
        change = self.session.what_if
        real = change.real if change else self.session
        if any(real.unread_requests(self._tried_requests())):
            return
        typed_numbers, self.typed_numbers = self.typed_numbers, ()
        try:
            change_report, after, reads = whatif.simulate_change(real, typed_numbers)
        except KresError as error:
            self.show_remark(safe_text(error.message), "bad")
            return
        if not self.node_reads.keys() >= set(reads):
            # Which pods come is known now: whether nodes take them is looked at before anything is shown.
            self.typed_numbers = typed_numbers
            self.node_reads |= dict.fromkeys(reads)
            self.request_reads()
            self.look_soon()
            self.show_remark("looking which nodes take the new pods")
            return
        if refused := next((step for step in change_report.steps if not step.allowed), None):
            self.show_remark(safe_text(f"refused: {refused.message}"), "bad")
            return
        self.replace_session(
            whatif.build_session(real, typed_numbers, change_report, after),
            History((*self.history.trail_without("whatif"), Location("whatif"))),
        )

    def do_unsuppose(self) -> None:
        change = self.session.what_if
        if change is None:
            self.show_remark("nothing is tried: s on a value does")
            return
        self.replace_session(change.real, History(self.history.trail_without("whatif")))
        owners = dict.fromkeys(typed_number.owner for typed_number in change.typed_numbers if typed_number.owner)
        what = f"field and value ({'; '.join(owners)})" if owners else "what would make it so"
        self.copy("; ".join(typed_number.lasting for typed_number in change.typed_numbers), what)
