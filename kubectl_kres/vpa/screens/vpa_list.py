"""Vertical autoscalers: whose pods each scales, what becomes of the next one, and of those that its updater evicts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kubectl_kres.errors import KresError
from kubectl_kres.model.kinds import BY_KIND
from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.render.changes.eviction import WORDS
from kubectl_kres.render.text.line import Line, Tone, tone_lines, wrap_text
from kubectl_kres.reports.common.explanation import Subject
from kubectl_kres.store.store import ReadRequest
from kubectl_kres.tui.lists.list_spec import Listing, ListRows
from kubectl_kres.tui.location import Location
from kubectl_kres.tui.session import Session
from kubectl_kres.tui.table.columns import Column
from kubectl_kres.vpa.model import HOOKS, KIND
from kubectl_kres.vpa.reports.effects import VpaEffects, effects_needs, vpa_effects
from kubectl_kres.vpa.reports.eviction import BAD
from kubectl_kres.vpa.text import NO_VPA
from kubectl_kres.vpa.text.effects import lines


def _subjects(session: Session, namespace: str) -> Iterator[Subject]:
    for vpa in session.store.all(KIND, namespace or None):
        yield Subject(ObjectRef(KIND, vpa.metadata.name, vpa.metadata.namespace), BY_KIND[KIND])


def _rows(session: Session, namespace: str) -> ListRows:
    for subject in _subjects(session, namespace):
        try:
            yield (subject.ref.namespace, subject.ref.name), vpa_effects(session.store, subject, session.ask)
        except KresError:
            continue


def sign(effects: VpaEffects) -> tuple[str, Tone]:
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
    where = Column("namespace", "NAMESPACE", lambda row: row.object.namespace)
    return (
        *(() if namespace else (where,)),
        Column("name", "NAME", lambda row: row.object.name, most=40),
        Column("target", "TARGET", lambda row: row.target, most=40),
        Column("mode", "MODE", lambda row: row.mode or "-", wide=True),
        Column("next", "NEXT POD", _next, tone=lambda row: "bad" if row.allowed is False else "", wide=True),
        Column("pods", "PODS", _pods, right=True, wide=True),
        _count("evicted"),
        _count("missing"),
        Column("state", "STATE", _state, tone=lambda row: sign(row)[1]),
    )


def _detail(session: Session, row: VpaEffects, width: int) -> Iterator[Line]:
    del session
    yield from lines(row, width)


def _needs(namespace: str) -> tuple[ReadRequest, ...]:
    return (ReadRequest(KIND, namespace),)


def _also(session: Session, namespace: str) -> Iterable[ReadRequest]:
    for subject in _subjects(session, namespace):
        yield from effects_needs(session.store, subject)


def _empty(_session: Session, _namespace: str, width: int) -> Iterator[Line]:
    """Yield what there would be."""
    text = "A VerticalPodAutoscaler recommends requests for the pods of one controller, and may have old ones evicted."
    yield from tone_lines("quiet", wrap_text(text, width))


def place_of(row: VpaEffects) -> Location:
    return Location("object", ref=row.object)


LISTING = Listing(
    names=("verticalpodautoscalers", "verticalpodautoscaler", "vpa", "vpas"),
    about="vertical autoscalers: the next pod of each, and what comes of it if its updater evicts now",
    kinds=(KIND, HOOKS, "Pod", "LimitRange", "ResourceQuota", "Deployment", "StatefulSet", "DaemonSet", "ReplicaSet"),
    needs=_needs,
    also=_also,
    absent=NO_VPA,
    columns=_columns,
    rows=_rows,
    sign=sign,
    detail=_detail,
    opens=place_of,
    ref=lambda row: row.object,
    command=lambda session, namespace: session.command("explain vpa", namespace),
    hints=("sort-state", "explain", "faults"),
    worst_first=True,
    empty=_empty,
    several="vertical autoscalers",
)
