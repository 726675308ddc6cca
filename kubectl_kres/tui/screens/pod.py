"""The screen of a pod or workload: its values as a tree, the reasons of the selected value, and other views."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.model.pod import Pod
from kubectl_kres.render.pictures.bounds import bounds_pairs, scale_lines
from kubectl_kres.render.pictures.cost import cost_picture
from kubectl_kres.render.pod.diff import difference_lines
from kubectl_kres.render.pod.explain import explanation_lines
from kubectl_kres.render.pod.qos import quality_lines, tree
from kubectl_kres.render.pod.verdict import head_lines
from kubectl_kres.render.text.data import yaml_lines
from kubectl_kres.render.text.line import Line, Tone, tone_lines
from kubectl_kres.render.text.sentences import sentence_text
from kubectl_kres.render.verdict.headline import verdict_word
from kubectl_kres.reports.common.explanation import Explanation, QuotaCost, ResourceValue
from kubectl_kres.reports.explain.difference import diff
from kubectl_kres.reports.explain.explain import explain
from kubectl_kres.reports.pod.needs import needs_with_node
from kubectl_kres.reports.pod.verdict import list_refusers
from kubectl_kres.reports.qos.qos_report import PodQos, no_class_reason, quality
from kubectl_kres.reports.remedies.rivals import needs_with_rivals
from kubectl_kres.store.store import ReadRequest
from kubectl_kres.tui.lists.pods import owner_of
from kubectl_kres.tui.location import Location
from kubectl_kres.tui.screens.pane import Copy, OpenPlace, StatusRemark
from kubectl_kres.tui.screens.tree import TreePane
from kubectl_kres.tui.table.columns import Column
from kubectl_kres.tui.table.row_table import Table
from kubectl_kres.tui.widgets.lines import Make
from kubectl_kres.tui.widgets.values import ValueRow, columns, journal_lines, value_rows

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
_JUMPS = {"explain": "text", "diff": "diff", "yaml": "yaml", "computed": "computed"}
_COMMANDS = {
    "qos": "qos {}",
    "cgroups": "qos {} --cgroup v2",
    "diff": "diff {}",
    "yaml": "diff {} -o yaml",
    "computed": "diff {} -o yaml",
}


class PodPane(TreePane):
    """Everything shown comes from the reports of ``explain``, ``qos`` and ``diff``."""

    TABS = TABS
    JUMPS = _JUMPS
    BESIDE = 72
    answer: Explanation | None

    def answer_reads(self) -> Iterable[ReadRequest]:
        store, subject = self.session.store, self.subject
        return (*needs_with_rivals(store, subject), *needs_with_node(store, subject))

    def compute_answer(self) -> Explanation:
        return explain(self.session.store, self.subject, self.session.evaluation_options)

    def rows(self) -> Iterable[ValueRow]:
        return value_rows(self.answer) if self.answer is not None else ()

    def columns(self) -> Sequence[Column]:
        return columns(self._folded, ascii_only=self.session.setting.ascii_only)

    def words(self, row: ValueRow) -> str:
        return f"{row.label} {row.text} {row.by}"

    def row_mark(self, row: ValueRow) -> tuple[str, Tone]:
        return ("!", "warn") if row.tone == "warn" else ("x", "bad") if row.tone == "bad" else ("", "")

    def head(self, width: int) -> Iterable[Line]:
        return head_lines(self.answer, width, self.session.setting.now()) if self.answer is not None else ()

    def about_lines(self, row: ValueRow, width: int) -> Iterable[Line]:
        ascii_only = self.session.setting.ascii_only
        return journal_lines(self.answer, row, width, steps=self.steps, ascii_only=ascii_only) if self.answer else ()

    def copied(self, row: ValueRow) -> Copy | None:
        """Of a fault the commands of the first remedy that has some."""
        remedies = self.answer.fixes if self.answer is not None else ()
        commands = next((remedy.commands for remedy in remedies if remedy.commands), ())
        if commands and self.row_mark(row)[0] == "x":
            return Copy("\n".join(commands), "command")
        return Copy(row.text, "value") if row.text else None

    def pictures(self) -> Iterable[Make]:
        """Return its requests and limits as bars."""
        return (self._bars,) if self.answer is not None else ()

    def _bars(self, width: int) -> Iterable[Line]:
        pairs = bounds_pairs(self.answer) if self.answer is not None else ()
        return scale_lines(pairs, width, ascii_only=self.session.setting.ascii_only)

    def refs(self) -> Sequence[ObjectRef]:
        refusers = list_refusers(self.answer.verdict) if self.answer is not None else ()
        return tuple(dict.fromkeys((self.ref, *refusers)))

    def owner(self) -> Location | None:
        """Of a pod, the workload or run that made it."""
        pod = self.session.get(self.ref)
        return owner_of(pod) if isinstance(pod, Pod) else None

    def text_lines(self, tab: str, width: int) -> Iterable[Line]:
        explanation = self.answer
        if explanation is None:
            return ()
        if tab == "text":
            now = self.session.setting.now()
            return explanation_lines(explanation, steps=self.steps, width=width, now=now)
        if tab == "quota":
            ascii_only = self.session.setting.ascii_only
            costs: list[Line] = []
            for cost in explanation.quotas:
                costs += [[("", "")], *cost_picture(cost, width, ascii_only=ascii_only)]
            return costs[1:] or [[("quiet", "no quota counts this")]]
        if tab in {"qos", "cgroups"}:
            return self._quality(tab, width)
        compared = diff(self.session.store, self.subject, self.session.evaluation_options)
        if tab == "diff":
            same: list[Line] = [[("good", "nothing differs")]]
            return list(difference_lines(compared, width)) or same
        label = compared.before_label if tab == "yaml" else compared.after_label
        document: Mapping[str, object] = compared.before if tab == "yaml" else compared.after
        head: Line = [("quiet", f"# {label}: what resources depend on")]
        return [head, *tone_lines("", (line for line, _ in yaml_lines(document)))]

    def _quality(self, tab: str, width: int) -> Iterable[Line]:
        version = 2 if tab == "cgroups" else 0
        result: PodQos | None = quality(
            self.session.store, self.subject, self.session.evaluation_options, version=version
        )
        if result is None:
            return [[("warn", f"no class, since {no_class_reason(self.subject)}")]]
        if tab == "cgroups":
            return tree(result.cgroups, width) if result.cgroups is not None else ()
        return [*self._bars(width), [("", "")], *quality_lines(result, width)]

    def on_table_opened(self, event: Table.Opened) -> None:
        """To the object that a value came from; a branch folds."""
        event.stop()
        row = self.table.row
        if row is None:
            return
        if row.branch and row.source is None:
            self.fold(row)
        elif row.source is not None and row.source.ref != self.ref:
            self.post_message(OpenPlace(place_of(row)))
        else:
            self.post_message(StatusRemark("written in the object itself: y shows it"))

    def value_here(self) -> tuple[ObjectRef | None, str, str]:
        row = self.table.row
        if row is None or row.report is None:
            return self.ref, "", ""
        if isinstance(row.report, QuotaCost):
            name = "" if row.branch else row.label
            return ObjectRef("ResourceQuota", row.report.quota, self.ref.namespace), name, ""
        now = row.text if isinstance(row.report, ResourceValue) and " or " not in row.text else ""
        return self.ref, row.question, now

    def command(self) -> str:
        name = f"{self.word}/{self.ref.name}"
        tab = self.tabs.current
        words = _COMMANDS.get(tab, "explain {}").format(name)
        row = self.table.row
        if tab == "values" and row is not None and row.question:
            words += f" --for {row.question}"
        elif tab == "text" and self.steps:
            words += " --steps"
        return self.session.command(words, self.ref.namespace)

    def status(self) -> Line:
        explanation = self.answer
        if explanation is None:
            return [("warn", "not known")]
        word, tone = verdict_word(explanation.verdict)
        partly = "" if explanation.complete else "  incomplete: not all could be read"
        return [(tone, word), ("", f"  from {sentence_text(explanation.start)}"), ("warn", partly)]

    @property
    def has_table(self) -> bool:
        """A tree of values is no table: its branches would be lost."""
        return False

    def hints(self) -> Sequence[str]:
        return ("open", "pane", "explain", "diff", "yaml", "steps", "up")


def place_of(row: ValueRow) -> Location:
    """Return the screen of the object behind a value."""
    assert row.source is not None
    ref = row.source.ref
    return Location("quota" if ref.kind == "ResourceQuota" else "object", ref=ref)
