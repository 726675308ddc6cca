"""A pod or what makes pods: its values as a tree, the reasons of the one under the cursor, other views of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial

from textual.app import ComposeResult
from textual.containers import Container

from kubectl_kres.errors import KresError, NotFound
from kubectl_kres.render.cgroups import tree
from kubectl_kres.render.cost import cost_lines
from kubectl_kres.render.diff import difference_lines
from kubectl_kres.render.explain import explanation_lines, verdict_lines
from kubectl_kres.render.line import Line, Tone, toned, wrapped
from kubectl_kres.render.qos import quality_lines
from kubectl_kres.render.yamllines import yaml_lines
from kubectl_kres.reports.diff import diff
from kubectl_kres.reports.explain import explain
from kubectl_kres.reports.explanation import Explanation
from kubectl_kres.reports.needs import needs
from kubectl_kres.reports.node import needs_with_node
from kubectl_kres.reports.qos import Quality, quality
from kubectl_kres.store.changes import Changes
from kubectl_kres.store.coverage import Need
from kubectl_kres.tui.columns import Column
from kubectl_kres.tui.place import Place
from kubectl_kres.tui.rights import gap_lines
from kubectl_kres.tui.screens.pane import Copy, Open, Pane, Say, Told
from kubectl_kres.tui.session import Session
from kubectl_kres.tui.table import Table
from kubectl_kres.tui.view import Faces, Key
from kubectl_kres.tui.widgets.journal import journal_lines
from kubectl_kres.tui.widgets.lines import Lines
from kubectl_kres.tui.widgets.tabs import Tabs
from kubectl_kres.tui.widgets.values import ValueRow, columns, seen, value_rows

TABS = (
    ("values", "values"),
    ("qos", "QoS"),
    ("cgroups", "cgroups"),
    ("quota", "quota"),
    ("text", "text"),
    ("diff", "diff"),
    ("yaml", "YAML"),
    ("computed", "computed"),
)
_KEYS = {"explain": "text", "diff": "diff", "yaml": "yaml", "computed": "computed"}
_COMMANDS = {
    "qos": "qos {}",
    "cgroups": "qos {} --cgroup v2",
    "diff": "diff {}",
    "yaml": "diff {}",
    "computed": "diff {}",
}


class PodPane(Pane):
    """Everything shown comes from the reports of ``explain``, ``qos`` and ``diff``."""

    DEFAULT_CSS = """
    PodPane {
        layout: vertical;
        & > #verdict { height: auto; max-height: 4; overflow-y: hidden; }
        & > Container { layout: horizontal; height: 1fr; }
        & > Container > Table { width: 11fr; min-width: 46; }
        & > Container > Lines { width: 9fr; border-left: solid $panel-lighten-2; }
        & > #page { height: 1fr; }
        &.page > Container { display: none; }
        &.tree > #page { display: none; }
    }
    """

    def __init__(self, session: Session, place: Place) -> None:
        super().__init__(session, place)
        assert place.ref is not None
        self.ref = place.ref
        self.subject = session.subject(place.ref)
        self.tabs = Tabs(TABS, place.tab or "values")
        self.verdict = Lines(id="verdict")
        self.verdict.can_focus = False
        self.journal, self.page = Lines(id="journal"), Lines(id="page")
        self.found: Explanation | None = None
        self.fault: KresError | None = None
        self.gone = False
        self.steps = True
        self._rows: list[ValueRow] = []
        self._folded: set[Key] = set()
        self._asked: dict[Need, None] = {}
        self.table = Table(
            self.columns(),
            Faces(lambda row: f"{row.label} {row.text} {row.by}", _no_labels, lambda row: bool(row.tone)),
            sign=_sign,
        )

    def compose(self) -> ComposeResult:
        yield self.tabs
        yield self.verdict
        with Container():
            yield self.table
            yield self.journal
        yield self.page

    def on_mount(self) -> None:
        self._explain()
        self._turn(self.tabs.current)

    def needs(self) -> Iterable[Need]:
        store, subject = self.session.store, self.subject
        return dict.fromkeys((*needs(store, subject), *needs_with_node(store, subject)))

    def columns(self) -> Sequence[Column]:
        """What the tree shows of a value."""
        return columns(self._folded, ascii_only=self.session.setting.ascii_only)

    def crumb(self) -> str:
        return f"{self.subject.kind.names[1]}/{self.ref.name}"

    def changed(self, changes: Changes) -> None:
        if changes.kinds & {need.kind for need in self.needs()}:
            if self.ref in changes.gone:
                self.gone = True
                self.post_message(Say(f"{self.ref} was deleted; this is how it was", "warn"))
            self._explain()
            self._draw(keep=True)

    def _explain(self) -> None:
        """The explanation of now; of what is gone, the last one stays."""
        try:
            self.found, self.fault = explain(self.session.store, self.subject, self.session.ask), None
        except KresError as error:
            self.fault = error
            if self.found is None or not isinstance(error, NotFound):
                self.found = None
        self._rows = list(value_rows(self.found)) if self.found is not None else []
        self.table.replace(seen(self._rows, self._folded))
        self.verdict.put(self._verdict)
        self.post_message(Told())

    def _verdict(self, width: int) -> Iterator[Line]:
        if self.gone:
            yield [("warn", "deleted: "), ("", "this is how it was last")]
        if self.found is not None:
            yield from verdict_lines(self.found, width)
            return
        if any(self.session.loading(self.needs())):
            yield [("quiet", f"reading {self.ref}")]
        elif self.fault is not None:
            yield from toned("bad", wrapped(self.fault.message, width, rest="  "))
            yield from gap_lines(self.session, self.needs(), width)

    def _turn(self, tab: str) -> None:
        self.tabs.choose(tab)
        self.set_class(tab == "values", "tree")
        self.set_class(tab != "values", "page")
        # The text begins with the verdict itself.
        self.verdict.display = tab != "text"
        self._draw()
        (self.table if tab == "values" else self.page).focus()
        self.post_message(Told())

    def _draw(self, *, keep: bool = False) -> None:
        tab = self.tabs.current
        if tab == "values":
            self._show_journal()
            return
        self.page.put(partial(self._page, tab), keep=keep)

    def _page(self, tab: str, width: int) -> Iterator[Line]:
        """The lines of a tab; what cannot be answered says why."""
        try:
            yield from self._lines(tab, width)
        except KresError as error:
            yield from toned("bad", wrapped(error.message, width, rest="  "))

    def _lines(self, tab: str, width: int) -> Iterable[Line]:
        found = self.found
        if found is None:
            return gap_lines(self.session, self.needs(), width)
        if tab == "text":
            return explanation_lines(found, steps=self.steps, width=width)
        if tab == "quota":
            costs = [line for cost in found.quotas for line in cost_lines(cost, width=width)]
            return costs or [[("quiet", "no quota counts this")]]
        if tab in {"qos", "cgroups"}:
            return self._quality(tab, width)
        compared = diff(self.session.store, self.subject, self.session.ask)
        if tab == "diff":
            same: list[Line] = [[("good", "nothing differs")]]
            return list(difference_lines(compared, width)) or same
        label = compared.before_label if tab == "yaml" else compared.after_label
        document: Mapping[str, object] = compared.before if tab == "yaml" else compared.after
        head: Line = [("quiet", f"# {label}: what resources depend on")]
        return [head, *toned("", (line for line, _ in yaml_lines(document)))]

    def _quality(self, tab: str, width: int) -> Iterable[Line]:
        version = 2 if tab == "cgroups" else 0
        found: Quality | None = quality(self.session.store, self.subject, self.session.ask, version=version)
        if found is None:
            return [[("warn", "no class, since a quantity cannot be parsed")]]
        if tab == "cgroups":
            return tree(found.cgroups, width) if found.cgroups is not None else ()
        return quality_lines(found, width)

    def _show_journal(self) -> None:
        row = self.table.row
        found = self.found
        if row is None or found is None:
            self.journal.put(lambda width: gap_lines(self.session, self.needs(), width))
        else:
            self.journal.put(lambda width: journal_lines(found, row, width, steps=self.steps))

    def on_table_moved(self, event: Table.Moved) -> None:
        event.stop()
        self._show_journal()
        self.post_message(Told())

    def on_tabs_chosen(self, event: Tabs.Chosen) -> None:
        event.stop()
        self._turn(event.tab)

    def on_table_opened(self, event: Table.Opened) -> None:
        """To the object that a value came from; a branch folds."""
        event.stop()
        row = self.table.row
        if row is None:
            return
        if row.branch and row.source is None:
            self._fold(row)
        elif row.source is not None and row.source.ref != self.ref:
            self.post_message(Open(place_of(row)))
        else:
            self.post_message(Say("written in the object itself: y shows it"))

    def _fold(self, row: ValueRow, *, folded: bool | None = None) -> None:
        key = row.path[:1]
        if folded is None:
            folded = key not in self._folded
        (self._folded.add if folded else self._folded.discard)(key)
        self.table.cursor = key if folded else row.path
        self.table.change_columns(self.columns())
        self.table.replace(seen(self._rows, self._folded))

    def act(self, action: str) -> bool:
        if action in _KEYS:
            self._turn(_KEYS[action])
            return True
        match action:
            case "pane" | "pane-back":
                self._turn(self.tabs.beside(1 if action == "pane" else -1))
            case "left" | "right":
                return self._sideways(action)
            case "steps":
                self.steps = not self.steps
                self._draw(keep=True)
                self.post_message(Say("steps and checks are shown" if self.steps else "steps and checks are hidden"))
            case "copy":
                self._copy()
            case "copy-ns":
                self.post_message(Copy(self.ref.namespace, "namespace"))
            case "namespace":
                self.post_message(Open(Place("pods", namespace=self.ref.namespace)))
            case _:
                return False
        return True

    def _copy(self) -> None:
        row = self.table.row if self.tabs.current == "values" else None
        if row is not None and row.text:
            self.post_message(Copy(row.text, "value"))
        else:
            self.post_message(Copy(self.ref.name, "name"))

    def _sideways(self, action: str) -> bool:
        """Left folds and comes back from the reasons, right unfolds and goes to them."""
        if self.tabs.current != "values":
            return False
        row = self.table.row
        if self.journal.has_focus:
            if action == "left":
                self.table.focus()
        elif action == "left" and row is not None:
            self._fold(row, folded=True)
        elif row is not None and row.path[:1] in self._folded:
            self._fold(row, folded=False)
        else:
            self.journal.focus()
        return True

    def command(self) -> str:
        name = f"{self.subject.kind.names[1]}/{self.ref.name}"
        tab = self.tabs.current
        words = _COMMANDS.get(tab, "explain {}").format(name)
        row = self.table.row
        if tab == "values" and row is not None and row.question:
            words += f" --for {row.question}"
        elif tab == "text" and self.steps:
            words += " --steps"
        return self.session.command(words, self.ref.namespace)

    def status(self) -> Line:
        found = self.found
        if found is None:
            return [("warn", "not known")]
        tones: Mapping[bool | None, tuple[Tone, str]] = {
            True: ("good", "admitted"), False: ("bad", "refused"), None: ("warn", "depends"),
        }  # fmt: skip
        partly = "" if found.complete else "  incomplete: not all could be read"
        return [tones[found.verdict.allowed], ("", f"  from {found.start}"), ("warn", partly)]

    def hints(self) -> Sequence[str]:
        return ("pane", "explain", "diff", "yaml", "steps", "copy", "up")


def place_of(row: ValueRow) -> Place:
    """The screen of the object behind a value."""
    assert row.source is not None
    ref = row.source.ref
    return Place("quota" if ref.kind == "ResourceQuota" else "object", ref=ref)


def _no_labels(_row: ValueRow) -> Mapping[str, str]:
    return {}


def _sign(row: ValueRow) -> tuple[str, Tone]:
    return ("!", "warn") if row.tone == "warn" else ("x", "bad") if row.tone == "bad" else ("", "")
