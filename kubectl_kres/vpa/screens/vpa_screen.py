"""Vertical autoscalers as a list, and each: the next pod, what its updater would evict, and what to change."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial

from kubectl_kres.errors import KresError
from kubectl_kres.model.kinds import BY_KIND
from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.model.workload_kinds import POD_MAKERS
from kubectl_kres.provenance.journal import Set
from kubectl_kres.render.text.line import Line, Tone, tone_lines, wrap_text
from kubectl_kres.render.text.sentences import sentence_text
from kubectl_kres.reports.common.explanation import FailedRead, Subject
from kubectl_kres.store.store import ReadRequest
from kubectl_kres.tui.lists.list_spec import WORST_FIRST, Listing, ListRows, RowSource, RowSubject, Wording
from kubectl_kres.tui.location import Location
from kubectl_kres.tui.rbac_hints import gap_lines
from kubectl_kres.tui.screens.outline import OutlinePane
from kubectl_kres.tui.session import Session
from kubectl_kres.tui.table.columns import Column
from kubectl_kres.tui.widgets.items import OutlineItem, Sections, remedy_item
from kubectl_kres.vpa.model import HOOKS, KIND
from kubectl_kres.vpa.reports.effects import VpaEffects, effects_needs, vpa_effects
from kubectl_kres.vpa.reports.updater_run import BAD, Eviction, OutsideValue
from kubectl_kres.vpa.text import NO_VPA
from kubectl_kres.vpa.text.effects import bounded_sentence, lines, webhook_words
from kubectl_kres.vpa.text.eviction import WORDS, eviction_sentence, outside_text


def _subjects(session: Session, namespace: str) -> Iterator[Subject]:
    for vpa in session.store.all(KIND, namespace or None):
        yield Subject(ObjectRef(KIND, vpa.metadata.name, vpa.metadata.namespace), BY_KIND[KIND])


def _rows(session: Session, namespace: str) -> ListRows:
    for subject in _subjects(session, namespace):
        try:
            yield (
                (subject.ref.namespace, subject.ref.name),
                vpa_effects(session.store, subject, session.evaluation_options),
            )
        except KresError:
            continue


def effects_mark(effects: VpaEffects) -> tuple[str, Tone]:
    """``x``: pods are refused, or evicted without an end; ``!``: pods come without what it recommends."""
    if effects.allowed is False or (effects.eviction is not None and effects.eviction.result in BAD):
        return "x", "bad"
    return ("!", "warn") if effects.registered is False or effects.fault or not effects.recommends else ("", "")


def _next(effects: VpaEffects) -> str:
    return {True: "admitted", False: "refused", None: "-"}[effects.allowed]


def _pods(effects: VpaEffects) -> str:
    return str(effects.eviction.pods) if effects.eviction is not None else "-"


def _count(name: str) -> Column:
    def text(effects: VpaEffects) -> str:
        return str(getattr(effects.eviction, name, 0) or "-")

    head = {"evicted": "EVICTS", "missing": "LOSES"}[name]
    return Column(name, head, text, lambda effects: getattr(effects.eviction, name, 0), right=True, down=True)


def _state(effects: VpaEffects) -> str:
    return WORDS[effects.eviction.result] if effects.eviction is not None else "-"


def _columns(namespace: str) -> tuple[Column, ...]:
    namespace_column = Column("namespace", "NAMESPACE", lambda row: row.object.namespace)
    return (
        *(() if namespace else (namespace_column,)),
        Column("name", "NAME", lambda row: row.object.name, most=40),
        Column("target", "TARGET", lambda row: row.target, most=40),
        Column("mode", "MODE", lambda row: row.mode or "-", wide=True),
        Column("next", "NEXT POD", _next, tone=lambda row: "bad" if row.allowed is False else "", wide=True),
        Column("pods", "PODS", _pods, right=True, wide=True),
        _count("evicted"),
        _count("missing"),
        Column("state", "STATE", _state, tone=lambda row: effects_mark(row)[1]),
    )


def _detail(session: Session, row: VpaEffects, width: int) -> Iterator[Line]:
    del session
    yield from lines(row, width)


def _read_requests(namespace: str) -> tuple[ReadRequest, ...]:
    return (ReadRequest(KIND, namespace),)


def _effect_requests(session: Session, namespace: str) -> Iterable[ReadRequest]:
    for subject in _subjects(session, namespace):
        yield from effects_needs(session.store, subject)


def _empty(_session: Session, _namespace: str, width: int) -> Iterator[Line]:
    """Yield what there would be."""
    text = "A VerticalPodAutoscaler recommends requests for the pods of one controller, and may have old ones evicted."
    yield from tone_lines("quiet", wrap_text(text, width))


def place_of(row: VpaEffects) -> Location:
    return Location("object", ref=row.object)


LISTING = Listing(
    names=("vpas", "vpa", "verticalpodautoscalers", "verticalpodautoscaler"),
    about="vertical autoscalers: the next pod of each, and what comes of it if its updater evicts now",
    source=RowSource(
        kinds=(KIND, HOOKS, "Pod", "LimitRange", "ResourceQuota", *POD_MAKERS),
        reads=_read_requests,
        rows=_rows,
        more_reads=_effect_requests,
    ),
    columns=_columns,
    row_mark=effects_mark,
    detail=_detail,
    subject=RowSubject(ref=lambda row: row.object, opens=place_of),
    command=lambda session, namespace: session.command("explain vpa", namespace),
    wording=Wording(several="vertical autoscalers", empty=_empty, absent=NO_VPA),
    order=WORST_FIRST,
    hints=("timeline", "sort-state", "explain", "faults"),
)


class VpaPane(OutlinePane):
    """Everything shown comes from the report of ``explain vpa/x``."""

    HEAD = "AUTOSCALER"
    answer: VpaEffects | None

    def answer_reads(self) -> Iterable[ReadRequest]:
        return effects_needs(self.session.store, self.subject)

    def compute_answer(self) -> VpaEffects:
        return vpa_effects(self.session.store, self.subject, self.session.evaluation_options)

    @property
    def word(self) -> str:
        return "vpa"

    def owner(self) -> Location | None:
        """Return the controller whose pods it scales."""
        kind, _, name = (self.answer.target if self.answer is not None else "").partition("/")
        return Location("object", ref=ObjectRef(kind, name, self.ref.namespace)) if kind in BY_KIND else None

    def head(self, width: int) -> Iterator[Line]:
        assert self.answer is not None
        effects = self.answer
        yield [("strong", str(effects.object)), ("", f"  {effects.target}, updateMode {effects.mode or '-'}")]
        if effects.message:
            yield from tone_lines("bad", wrap_text(f"the next pod is refused: {effects.message}", width, rest="  "))
        if effects.eviction is not None:
            tone, text = eviction_sentence(effects.eviction)
            yield from tone_lines(tone, wrap_text(text, width, rest="  "))
        yield from self.first_fix_lines(width)
        tone, text = webhook_words(effects)
        yield from tone_lines(tone, wrap_text(text, width, rest="  "))

    def rows(self) -> Iterator[OutlineItem]:
        assert self.answer is not None
        effects, sections = self.answer, Sections()
        yield from sections.section("next pod", _values(effects), ("SPEC", "GETS"))
        if effects.eviction is not None:
            eviction = effects.eviction
            yield from sections.section("if it evicts now", _end_items(eviction), ("PODS",), WORDS[eviction.result])
            yield from sections.section(
                "outside of the recommendation", map(self._outside_item, eviction.outside), ("HAS",)
            )
        yield from sections.section("what to change", map(remedy_item, range(len(effects.fixes)), effects.fixes))
        yield from sections.section("not visible", map(self._unseen_row, () if self.is_late else effects.unread))

    def _outside_item(self, value: OutsideValue) -> OutlineItem:
        ref = ObjectRef("Pod", value.pod, self.ref.namespace)
        bounds = f"recommended {value.lower or '-'} to {value.upper or '-'}"
        return OutlineItem(
            (), f"{value.pod} {value.container} {value.resource}", (value.request or "-",), bounds, tone="warn",
            ref=ref, about=lambda width: tone_lines("", wrap_text(outside_text(value), width, rest="  ")),
            location=Location("object", ref=ref),
        )  # fmt: skip

    def _unseen_row(self, failed_read: FailedRead) -> OutlineItem:
        read = ReadRequest(failed_read.kind, failed_read.namespace, failed_read.name, required=failed_read.required)
        tone: Tone = "bad" if failed_read.required else "quiet"
        note = sentence_text(failed_read.message) or failed_read.state
        return OutlineItem((), failed_read.kind, note=note, mark="?", tone=tone,
                    about=lambda width: gap_lines(self.session, (read,), width))  # fmt: skip

    def text(self, width: int) -> Iterable[Line]:
        assert self.answer is not None
        return lines(self.answer, width)

    def status(self) -> Line:
        if self.answer is None:
            return [("warn", "not known")]
        eviction = self.answer.eviction
        return [(effects_mark(self.answer)[1] or "good", WORDS[eviction.result] if eviction is not None else "-")]

    def hints(self) -> tuple[str, ...]:
        return ("open", "copy", "owner", "pane", "explain", "up", "help")


def _values(effects: VpaEffects) -> Iterator[OutlineItem]:
    """Yield what it sets of the next pod, and which bound changed that."""
    for container in effects.containers:
        for value in container.values:
            if value.rule.startswith("vpa/"):
                what = f"{container.name} {value.resource} {value.side[:-1]}"
                text = bounded_sentence(what, [step for step in value.steps if isinstance(step, Set)]) or value.rule
                about = partial(_wrap_lines, text)
                yield OutlineItem((), what, (value.written or "-", value.value or "-"), value.rule, about=about)


def _wrap_lines(text: str, width: int) -> Iterable[Line]:
    return tone_lines("", wrap_text(text, width, rest="  "))


def _end_items(eviction: Eviction) -> Iterator[OutlineItem]:
    counts = (
        ("run", eviction.pods), ("evicted", eviction.evicted), ("not evicted", eviction.kept),
        ("replaced", eviction.recreated), ("not replaced", eviction.missing),
        ("kept by evictionRequirements", eviction.held),
    )  # fmt: skip
    for label, number in counts:
        if number:
            missing = label == "not replaced"
            text = eviction.message if missing else f"{number} {label}"
            yield OutlineItem(
                (), label, (str(number),), eviction.message if missing else "", "x" if missing else "",
                "bad" if missing else "", partial(_wrap_lines, text),
            )  # fmt: skip
