"""Base of screens of one object: a verdict, an outline of parts, and details of the selected part."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import ClassVar

from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.render.text.line import Line, Tone, labelled_lines, tone_lines, wrap_text
from kubectl_kres.tui.location import Location
from kubectl_kres.tui.screens.pane import Copy, OpenPlace, StatusRemark
from kubectl_kres.tui.screens.tree import TreePane
from kubectl_kres.tui.session import Session
from kubectl_kres.tui.table.columns import Column
from kubectl_kres.tui.table.row_table import Table
from kubectl_kres.tui.widgets.items import OutlineItem, columns


class OutlinePane(TreePane):
    """What differs from object to object are ``wanted``, ``ask``, ``head``, ``rows`` and ``text``."""

    TABS = (("parts", "parts"), ("text", "text"))
    STEPS = "steps in the text"
    #: The head of the first column.
    HEAD: ClassVar[str] = "WHAT"

    def __init__(self, session: Session, location: Location) -> None:
        super().__init__(session, location)
        self.steps = False

    def rows(self) -> Iterable[OutlineItem]:
        raise NotImplementedError

    def text(self, width: int) -> Iterable[Line]:
        """Return all of it, as the command prints it."""
        raise NotImplementedError

    def text_lines(self, tab: str, width: int) -> Iterable[Line]:
        del tab
        return self.text(width)

    def columns(self) -> Sequence[Column]:
        return columns(self.HEAD, self._folded, ascii_only=self.session.setting.ascii_only)

    def first_fix_lines(self, width: int) -> Iterator[Line]:
        """Yield what the outline says is to be done, for the head: the first fix, then other ones."""
        for item in self._rows:
            if item.remedy:
                label, _, words = item.label.partition(" ")
                yield from (
                    labelled_lines(label, words.strip(), width)
                    if item.text
                    else tone_lines(item.tone, wrap_text(item.label, width, rest="   "))
                )

    def words(self, row: OutlineItem) -> str:
        return f"{row.label} {row.note}"

    def row_mark(self, row: OutlineItem) -> tuple[str, Tone]:
        return row.mark, row.tone

    def opens_on(self) -> OutlineItem | None:
        return super().opens_on() or next((item for item in self._rows if not item.is_section), None)

    def about_lines(self, row: OutlineItem, width: int) -> Iterator[Line]:
        if row.about is not None:
            yield from row.about(width)
            return
        yield [("strong", row.label)]
        if row.is_section:
            inside = sum(item.path[:1] == row.path for item in self._rows) - 1
            yield [
                (
                    "quiet",
                    f"{inside} line{'s' * (inside != 1)}; enter {'unfolds' if row.path in self._folded else 'folds'}",
                )
            ]
        else:
            yield from tone_lines("", wrap_text(row.note, width))

    def on_table_opened(self, event: Table.Opened) -> None:
        """To what a part is about; what is to be typed is copied, a section folds."""
        event.stop()
        item: OutlineItem | None = self.table.view.rows.get(event.key)
        if item is None:
            return
        if item.location is not None:
            self.post_message(OpenPlace(item.location))
        elif item.text:
            self.post_message(Copy(item.text, item.name))
        elif item.is_section:
            self.fold(item)
        else:
            self.post_message(StatusRemark(f"all that is known of it stands {self._format_side()}"))

    def _format_side(self) -> str:
        return "on the right" if self.has_class("beside") else "below"

    def copied(self, row: OutlineItem) -> Copy | None:
        """Of a fault the command of the first remedy."""
        fault = row.mark == "x" and not row.text
        source = next((item for item in self._rows if item.remedy and item.text), row) if fault else row
        if source.text:
            return Copy(source.text, source.name)
        return Copy(row.ref.name, "name") if row.ref is not None else None

    def act(self, action: str) -> bool:
        """As on any object; namespaces are those of the part under the cursor, if it has one."""
        item: OutlineItem | None = self.row
        namespace = item.ref.namespace if item is not None and item.ref is not None else ""
        match action:
            case "copy-ns" if namespace:
                self.post_message(Copy(namespace, "namespace"))
            case "namespace" if namespace:
                self.post_message(OpenPlace(Location("pods", namespace=namespace)))
            case _:
                return super().act(action)
        return True

    def value_here(self) -> tuple[ObjectRef | None, str, str]:
        item: OutlineItem | None = self.row
        if item is None or item.ref is None:
            return self.ref, item.label if item is not None else "", ""
        return item.ref, "", ""

    def command(self) -> str:
        words = f"explain {self.word}/{self.ref.name}{' --steps' * (self.steps and not self.shows_tree)}"
        return self.session.command(words, self.ref.namespace or None)

    @property
    def has_table(self) -> bool:
        return self.shows_tree

    def hints(self) -> Sequence[str]:
        return ("open", "copy", "pane", "explain", "filter", "up", "help")
