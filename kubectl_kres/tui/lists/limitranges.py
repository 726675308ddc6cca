"""The list of LimitRanges: for each type and resource the values in force, and those of each object below."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.render.text.line import Line, Tone, pad_text, size, tone_lines, wrap_text
from kubectl_kres.render.text.sentences import sentence_text
from kubectl_kres.reports.namespace.explain_policy import EffectiveLimit, effective_limits
from kubectl_kres.store.store import ReadRequest
from kubectl_kres.tui.lists.list_spec import WORST_FIRST, Listing, ListRows, RowSource, RowSubject, Wording
from kubectl_kres.tui.location import Location
from kubectl_kres.tui.session import Session
from kubectl_kres.tui.table.columns import Column, amount

_WORDS = {"min": "min", "max": "max", "maxLimitRequestRatio": "ratio", "defaultRequest": "default request",
          "default": "default limit"}  # fmt: skip


def _rows(session: Session, namespace: str) -> ListRows:
    spaces = (
        [namespace]
        if namespace
        else sorted({limit_range.metadata.namespace for limit_range in session.store.all("LimitRange")})
    )
    for space in spaces:
        for row in effective_limits(session.store, space):
            yield (space, row.type, row.resource), row


def _values(texts: Sequence[str]) -> str:
    return " or ".join(texts) or "-"


def _bound_text(field: str) -> Callable[[EffectiveLimit], str]:
    return lambda row: str(getattr(row.band, field) or "-")


def row_sign(row: EffectiveLimit) -> tuple[str, Tone]:
    """``x``: no value is allowed; ``!``: what a container gets depends on the order of LimitRanges."""
    if row.band.is_empty:
        return "x", "bad"
    return ("", "") if row.certain and not row.assumptions else ("!", "warn")


def state(row: EffectiveLimit) -> str:
    """Return what the sign says, in a word or two."""
    mark = row_sign(row)[0]
    return "no value fits" if mark == "x" else "depends on order" if mark and not row.certain else mark and "assumed"


def _row_rank(row: EffectiveLimit) -> int:
    return ("x", "!", "").index(row_sign(row)[0])


def _columns(namespace: str) -> tuple[Column, ...]:
    namespace_column = Column("namespace", "NAMESPACE", lambda row: row.namespace)
    return (
        *(() if namespace else (namespace_column,)),
        Column("name", "TYPE", lambda row: row.type),
        Column("resource", "RESOURCE", lambda row: row.resource),
        _amount_column("low", "MIN"),
        _amount_column("high", "MAX"),
        _amount_column("ratio", "RATIO", wide=True),
        Column("requests", "DEFAULT REQUEST", lambda row: _values(row.requests), tone=_tone("requests")),
        Column("limits", "DEFAULT LIMIT", lambda row: _values(row.limits), tone=_tone("limits")),
        Column("objects", "FROM", _objects, wide=True),
        Column("state", "STATE", state, _row_rank, lambda row: row_sign(row)[1], most=16, wide=True),
    )


def _tone(field: str) -> Callable[[EffectiveLimit], Tone]:
    return lambda row: "warn" if len(getattr(row, field)) > 1 else ""


def _amount_column(field: str, head: str, *, wide: bool = False) -> Column:
    text = _bound_text(field)
    return Column(field, head, text, amount(text), right=True, most=20, searched=False, wide=wide)


def _objects(row: EffectiveLimit) -> str:
    return ", ".join(dict.fromkeys(part.source.name for part in row.parts))


def _detail(session: Session, row: EffectiveLimit, width: int) -> Iterator[Line]:
    del session
    yield [("strong", f"{row.type} {row.resource}"), ("", f" in {row.namespace}")]
    if row.band.is_empty:
        yield [("bad", f"no value is allowed: min {row.band.low} is above max {row.band.high}")]
    labels = [_WORDS[part.field] for part in row.parts]
    first = max(map(size, labels), default=0)
    second = max((size(part.value) for part in row.parts), default=0)
    for label, part in zip(labels, row.parts, strict=True):
        several = part.field in {"default", "defaultRequest"} and not _has_single_value(row, part.field)
        words = (
            ""
            if part.force and not several
            else ", one of several: depends on LimitRange order"
            if several
            else ", not in force"
        )
        head = f"  {pad_text(label, first)}  {pad_text(part.value, second)}  "
        tone: Tone = "warn" if several else "" if part.force else "quiet"
        text = f"{part.source.ref}{words}"
        yield from tone_lines(tone, wrap_text(text, width, first=head, rest=" " * size(head)))
    if not row.certain:
        text = "The server takes LimitRanges in an arbitrary order; a default that was set is not set again."
        yield from tone_lines("quiet", wrap_text(text, width, first="  ", rest="  "))
    for assumption in row.assumptions:
        yield from tone_lines("warn", wrap_text(sentence_text(assumption.text), width, first="  ", rest="  "))


def _has_single_value(row: EffectiveLimit, field: str) -> bool:
    return len(row.limits if field == "default" else row.requests) < 2


def _ref(row: EffectiveLimit) -> ObjectRef:
    """Return the LimitRange in force; of several the first."""
    forced = [part.source for part in row.parts if part.force] or [part.source for part in row.parts]
    return forced[0].ref if forced else ObjectRef("Namespace", row.namespace)


def _list_read_requests(namespace: str) -> tuple[ReadRequest, ...]:
    return ReadRequest("LimitRange", namespace), ReadRequest("ResourceQuota", namespace, required=False)


LISTING = Listing(
    names=("limitranges", "limitrange", "limits"),
    about="what all LimitRanges of a namespace come to: bounds and defaults by type and resource",
    source=RowSource(kinds=("LimitRange",), reads=_list_read_requests, rows=_rows),
    columns=_columns,
    row_mark=row_sign,
    detail=_detail,
    subject=RowSubject(ref=_ref, opens=lambda row: Location("object", ref=_ref(row))),
    command=lambda session, namespace: session.command(
        f"explain ns/{namespace}" if namespace else "explain namespaces"
    ),
    wording=Wording(part="bound", runbook="before-lowering-a-limitrange"),
    order=WORST_FIRST,
    hints=("explain", "faults"),
)
