"""What the app knows of a screen: its place, what it needs, what it says, and the messages it sends up."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import ClassVar

from textual.message import Message
from textual.widget import Widget

from kubectl_kres.model.meta import ObjectRef
from kubectl_kres.render.text.line import Line, Tone
from kubectl_kres.store.changes import Changes
from kubectl_kres.store.coverage import Need
from kubectl_kres.tui.location import Location
from kubectl_kres.tui.session import Session
from kubectl_kres.tui.widgets.lines import Lines


class OpenPlace(Message):
    """Go to a place."""

    def __init__(self, place: Location, *, fresh: bool = False) -> None:
        super().__init__()
        self.place, self.fresh = place, fresh


class Say(Message):
    """A remark for the status line; an empty one takes back what stands there."""

    def __init__(self, text: str, tone: Tone = "") -> None:
        super().__init__()
        self.text, self.tone = text, tone


class Copy(Message):
    """A text for the clipboard, and what it is."""

    def __init__(self, text: str, what: str) -> None:
        super().__init__()
        self.text, self.what = text, what


class Told(Message):
    """What the lines around the screen say has changed."""


class Pane(Widget):
    """A screen. It gets the session and sends messages; it does not know the app."""

    #: The groups of keys that mean something on the screen.
    KEY_GROUPS: ClassVar[tuple[str, ...]] = ("everywhere",)
    DEFAULT_CSS = """
    Pane { height: 1fr; background: $background; }
    """

    def __init__(self, session: Session, place: Location) -> None:
        super().__init__()
        self.session, self.place = session, place

    def needs(self) -> Iterable[Need]:
        """What must be read; asked again after each change."""
        return ()

    def changed(self, changes: Changes) -> None:
        """The store changed, or time passed."""

    def missed(self, changes: Changes) -> None:
        """The store changed while the screen is hidden: what it holds must not outlive its objects."""

    @property
    def sums(self) -> bool:
        """Whether pods have to be added up for it."""
        return False

    @property
    def busy(self) -> bool:
        """Whether more of what it shows is still to come."""
        return any(self.session.loading(self.needs()))

    def refresh_sums(self) -> None:
        """Sums of pods are new."""

    def on_lines_copied(self, event: Lines.Copied) -> None:
        event.stop()
        self.post_message(Copy(event.command, "command"))

    def focus_main(self) -> None:
        """The keys go to what is chosen from."""
        target = next((child for child in self.query("*") if child.can_focus and child.display), None)
        if target is not None:
            target.focus()

    def enter(self, place: Location) -> None:
        """The screen is shown, perhaps for another namespace than before."""
        self.place = place

    def withheld(self) -> None:
        """Something changed that it was not told of, since the screen was held still; it will be entered again."""

    def act(self, action: str) -> bool:
        """Do what a key says; False if it means nothing here."""
        del action
        return False

    def ref_of_row(self) -> ObjectRef | None:
        """The object under the cursor, or the one that the screen is about; None where there is none."""
        return self.place.ref

    def value_here(self) -> tuple[ObjectRef | None, str, str]:
        """The object whose number is under the cursor, its name there and the number; empty: the object's first."""
        return self.ref_of_row(), "", ""

    def command(self) -> str:
        """What prints the same."""
        return ""

    def status(self) -> Line:
        """What is shown, in a line."""
        return ()

    def hints(self) -> Sequence[str]:
        """Keys for the footer."""
        return ()

    def crumb(self) -> str:
        return self.place.title

    def filter(self, text: str) -> None:
        """Hide what does not match."""

    @property
    def filtered(self) -> str:
        return ""

    @property
    def filters(self) -> bool:
        """Whether there is anything to filter."""
        return False

    @property
    def tabular(self) -> bool:
        """Whether what is shown can be saved as a table."""
        return False

    def table_csv(self) -> str | None:
        """The table as CSV; None if there is none."""
        return None
