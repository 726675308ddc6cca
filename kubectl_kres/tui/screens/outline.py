"""A screen of one object: what it comes to, an outline of its parts, and all that is known of the one chosen."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, ClassVar

from textual.app import ComposeResult
from textual.containers import Container

from kubectl_kres.errors import KresError, NotFound
from kubectl_kres.render.line import Line, toned, wrapped
from kubectl_kres.store.changes import Changes
from kubectl_kres.store.coverage import Need
from kubectl_kres.tui.matching import matcher
from kubectl_kres.tui.place import Place
from kubectl_kres.tui.rights import gap_lines
from kubectl_kres.tui.save import as_csv
from kubectl_kres.tui.screens.pane import Copy, Open, Pane, Say, Told
from kubectl_kres.tui.session import Session
from kubectl_kres.tui.table import Table
from kubectl_kres.tui.view import Faces, Key
from kubectl_kres.tui.widgets.items import Item, columns, seen
from kubectl_kres.tui.widgets.lines import Lines
from kubectl_kres.tui.widgets.tabs import Tabs

#: Width from which what is known stands beside the outline.
_BESIDE = 120
_TABS = (("parts", "parts"), ("text", "text"))


class OutlinePane(Pane):
    """What differs from object to object are the five methods from ``wanted`` on."""

    DEFAULT_CSS = """
    OutlinePane {
        layout: vertical;
        & > #verdict { height: auto; max-height: 6; overflow-y: hidden; }
        & > Container { layout: vertical; height: 1fr; }
        & > Container > Table { height: 1fr; }
        & > Container > Lines { height: 6; border-top: solid $panel-lighten-2; }
        &.beside > Container { layout: horizontal; }
        &.beside > Container > Table { width: 3fr; height: 1fr; }
        &.beside > Container > Lines {
            width: 2fr; height: 1fr; border-top: none; border-left: solid $panel-lighten-2;
        }
        & > #page { height: 1fr; }
        &.page > Container { display: none; }
        &.parts > #page { display: none; }
    }
    """
    #: The head of the first column.
    HEAD: ClassVar[str] = "WHAT"

    def __init__(self, session: Session, place: Place) -> None:
        super().__init__(session, place)
        assert place.ref is not None
        self.ref = place.ref
        self.subject = session.subject(place.ref)
        self.tabs = Tabs(_TABS, place.tab if place.tab == "text" else "parts")
        self.verdict, self.detail, self.page = Lines(id="verdict"), Lines(id="about"), Lines(id="page")
        self.verdict.can_focus = False
        self.found: Any = None
        self.fault: KresError | None = None
        self.gone, self.steps = False, False
        self._asked: dict[Need, None] = {}
        self._items: list[Item] = []
        self._folded: set[Key] = set()
        self._filter = ""
        faces = Faces(lambda item: f"{item.label} {item.said}", lambda _: {}, lambda item: bool(item.sign))
        self.table = Table(self._columns(), faces, sign=lambda item: (item.sign, item.tone))

    def compose(self) -> ComposeResult:
        yield self.tabs
        yield self.verdict
        with Container():
            yield self.table
            yield self.detail
        yield self.page

    def on_mount(self) -> None:
        self._explain()
        self._turn(self.tabs.current)

    def on_resize(self) -> None:
        self.set_class(self.size.width >= _BESIDE, "beside")

    def needs(self) -> Iterable[Need]:
        """What was needed once stays needed: a read that has served its end would be dropped, and be needed again."""
        self._asked.update(dict.fromkeys(self.wanted()))
        return self._asked

    def wanted(self) -> Iterable[Need]:
        """What the answer depends on, as far as that is known by now."""
        raise NotImplementedError

    def ask(self) -> Any:
        """The answer of now. Raises KresError."""
        raise NotImplementedError

    def head(self, width: int) -> Iterable[Line]:
        """What it comes to."""
        raise NotImplementedError

    def items(self) -> Iterable[Item]:
        """Its parts."""
        raise NotImplementedError

    def text(self, width: int) -> Iterable[Line]:
        """All of it, as the command prints it."""
        raise NotImplementedError

    def changed(self, changes: Changes) -> None:
        if changes.kinds & {need.kind for need in self.needs()}:
            if self.ref in changes.gone:
                self.gone = True
                self.post_message(Say(f"{self.ref} was deleted; this is how it was", "warn"))
            self._explain()
            if self.tabs.current == "text":
                self.page.put(self._page, keep=True)

    def _explain(self) -> None:
        """The answer of now; of what is gone, the last one stays."""
        try:
            self.found, self.fault = self.ask(), None
        except KresError as error:
            self.fault = error
            if self.found is None or not isinstance(error, NotFound):
                self.found = None
        began = not self._items
        self._items = list(self.items()) if self.found is not None else []
        self._fill()
        if began and self._items:
            self.table.find(next(item.path for item in self._items if not item.is_section))
        self.verdict.put(self._verdict)
        self._show()

    def _fill(self) -> None:
        # A filter looks into folded sections, too.
        self.table.replace(seen(self._items, set() if self._filter else self._folded))

    def _columns(self) -> Any:
        return columns(self.HEAD, self._folded, ascii_only=self.session.setting.ascii_only)

    def _verdict(self, width: int) -> Iterator[Line]:
        if self.gone:
            yield [("warn", "deleted: "), ("", "this is how it was last")]
        if self.found is not None:
            if self.loading_more:
                yield [("warn", "still reading: this is so far")]
            yield from self.head(width)
        elif any(self.session.loading(self.needs())):
            yield [("quiet", f"reading {self.ref}")]
        elif self.fault is not None:
            yield from toned("bad", wrapped(self.fault.message, width, rest="  "))

    @property
    def loading_more(self) -> bool:
        """Whether what is not there yet may only be late."""
        return any(self.session.loading(self.needs()))

    def _page(self, width: int) -> Iterable[Line]:
        return self.text(width) if self.found is not None else gap_lines(self.session, self.needs(), width)

    def _show(self) -> None:
        """All that is known of the part under the cursor; of a section that it folds."""
        item: Item | None = self.table.row
        self.detail.put(lambda width: self._about(item, width))
        self.post_message(Told())

    def _about(self, item: Item | None, width: int) -> Iterator[Line]:
        if item is None:
            yield from gap_lines(self.session, self.needs(), width)
        elif item.about is not None:
            yield from item.about(width)
        else:
            yield [("strong", item.label)]
            yield from toned("", wrapped(item.said, width)) if not item.is_section else ()
            inside = sum(one.path[:1] == item.path for one in self._items) - 1
            if item.is_section:
                yield [("quiet", f"{inside} line{'s' * (inside != 1)}; enter folds")]

    def _turn(self, tab: str) -> None:
        self.tabs.choose(tab)
        self.set_class(tab != "text", "parts")
        self.set_class(tab == "text", "page")
        self.verdict.display = tab != "text"
        if tab == "text":
            self.page.put(self._page)
        (self.page if tab == "text" else self.table).focus()
        self.post_message(Told())

    def on_table_moved(self, event: Table.Moved) -> None:
        event.stop()
        self._show()

    def on_tabs_chosen(self, event: Tabs.Chosen) -> None:
        event.stop()
        self._turn(event.tab)

    def on_table_opened(self, event: Table.Opened) -> None:
        """To what a part is about; what is to be typed is copied, a section folds."""
        event.stop()
        item: Item | None = self.table.view.rows.get(event.key)
        if item is None:
            return
        if item.place is not None:
            self.post_message(Open(item.place))
        elif item.text:
            self.post_message(Copy(item.text, item.name))
        elif item.is_section:
            self._fold(item, folded=item.path not in self._folded)
        else:
            self.post_message(Say(f"all that is known of it stands {self._side()}"))

    def _side(self) -> str:
        return "on the right" if self.has_class("beside") else "below"

    def _fold(self, item: Item, *, folded: bool) -> None:
        key = item.path[:1]
        (self._folded.add if folded else self._folded.discard)(key)
        self.table.cursor = key if folded else item.path
        self.table.change_columns(self._columns())
        self._fill()

    def act(self, action: str) -> bool:
        item: Item | None = self.table.row
        match action:
            case "explain":
                self._turn("text")
            case "pane" | "pane-back":
                self._turn(self.tabs.beside(1))
            case "left" | "right":
                return self._sideways(action)
            case "steps":
                self.steps = not self.steps
                self.page.put(self._page, keep=True)
                self.post_message(Say("steps are shown in the text" if self.steps else "steps are hidden"))
            case "up" if self._filter:
                self.filter("")
            case "copy" if item is not None and (item.text or item.ref is not None):
                self.post_message(Copy(item.text, item.name) if item.text else Copy(item.ref.name, "name"))  # type: ignore[union-attr]
            case "copy":
                self.post_message(Copy(self.ref.name, "name"))
            case _:
                return self._go(action, item)
        return True

    def _go(self, action: str, item: Item | None) -> bool:
        """To a namespace or an owner."""
        chosen = item.ref.namespace if item is not None and item.ref is not None else ""
        namespace = chosen or self.ref.namespace
        if action == "copy-ns" and namespace:
            self.post_message(Copy(namespace, "namespace"))
        elif action == "namespace" and namespace:
            self.post_message(Open(Place("pods", namespace=namespace)))
        elif action == "owner" and (owner := self.owner()) is not None:
            self.post_message(Open(owner))
        else:
            return False
        return True

    def owner(self) -> Place | None:
        """What the object belongs to."""
        return None

    def _sideways(self, action: str) -> bool:
        """Left folds and comes back from what is known, right unfolds and goes to it."""
        if self.tabs.current == "text":
            return False
        item: Item | None = self.table.row
        if self.detail.has_focus:
            if action == "left":
                self.table.focus()
        elif action == "left" and item is not None:
            self._fold(item, folded=True)
        elif item is not None and item.path[:1] in self._folded:
            self._fold(item, folded=False)
        else:
            self.detail.focus()
        return True

    def filter(self, text: str) -> None:
        self._filter = text
        self._fill()
        self.table.filter(matcher(text))
        self._show()

    @property
    def filtered(self) -> str:
        return self._filter

    @property
    def filters(self) -> bool:
        return self.tabs.current != "text"

    def crumb(self) -> str:
        return f"{self.word}/{self.ref.name}"

    @property
    def word(self) -> str:
        """What the kind is called in commands."""
        return self.subject.kind.names[1]

    def command(self) -> str:
        words = f"explain {self.word}/{self.ref.name}{' --steps' * (self.steps and self.tabs.current == 'text')}"
        return self.session.command(words, self.ref.namespace or None)

    def hints(self) -> Sequence[str]:
        return ("open", "copy", "pane", "explain", "filter", "up", "help")

    def table_csv(self) -> str:
        return as_csv(self.table)
