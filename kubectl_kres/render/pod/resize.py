"""The answer to a resize as text: allowed or not, what changes and restarts, what node and quotas have to give."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kubectl_kres.admission.base.outcome import QuotaCharge
from kubectl_kres.render.text.line import Line, Tone, draw, row, size, toned, wrapped
from kubectl_kres.render.text.remarks import remarks
from kubectl_kres.render.verdict.remedy import remedy_lines
from kubectl_kres.render.verdict.words import PARTLY
from kubectl_kres.reports.remedies.words import NOTHING
from kubectl_kres.reports.resize.resize_report import Resize


def lines(found: Resize, *, color: bool = False, width: int = 80) -> Iterator[str]:
    """Every line. Lines of ours keep to ``width``; the server's own sentences are not cut."""
    for line in _all(found, width):
        yield draw(line, color=color)


def _all(found: Resize, width: int) -> Iterator[Line]:
    yield from _verdict(found, width)
    yield from remedy_lines(found.remedies, NOTHING if found.complete else f"{NOTHING}{PARTLY}", width)
    if found.changes:
        rows = [(one.container or "pod level", f"{one.resource} {one.side[:-1]}", one.before or "-", one.after or "-",
                 _fate(one.container, restart=one.restart)) for one in found.changes]  # fmt: skip
        yield from _table(("CONTAINER", "VALUE", "BEFORE", "AFTER", ""), rows)
    if found.sums:
        heads = ("POD IN ALL", "", "BEFORE", "AFTER", f"NODE {found.node}" if found.node else "")
        sums = [(one.resource, one.side[:-1], one.before or "-", one.after or "-", _room(one.allocatable))
                for one in found.sums]  # fmt: skip
        yield from _table(heads, sums)
    yield from _class(found, width)
    for charge in found.charges:
        yield from _table((f"QUOTA {charge.quota}", "MORE", "USED", "AFTER", "HARD"), [*_costs(charge)])
    ignored = [f"{path}: a resize leaves it as it is" for path in found.ignored]
    others = found.verdict.others
    groups: list[tuple[Tone, str, Sequence[str]]] = [("warn", "or: ", others), ("warn", "ignored: ", ignored)]
    yield from remarks(groups, found.assumptions, found.unseen, width)


def _verdict(found: Resize, width: int) -> Iterator[Line]:
    where = f"{found.subject.namespace}/" if found.subject.namespace else ""
    if found.verdict.allowed is True:
        restarts = f"; restarts {', '.join(found.restarts)}" if found.restarts else "; nothing restarts"
        said = f"{where}{found.subject}{restarts}" if found.changes else f"{where}{found.subject}; nothing changes"
        kinds = dict.fromkeys(one.kind for one in found.unseen if one.required)
        tone: Tone = "warn" if kinds else "good"
        word = f"allowed{PARTLY}" if kinds else "allowed"
        unread = f"; {' and '.join(kinds)} could not be read" if kinds else ""
        first, *rest = wrapped(f"{said}{unread}", width, first=f"{word}: ", rest="  ")
        yield [(tone, word), ("", first.removeprefix(word))]
        yield from toned("", rest)
    elif found.verdict.allowed is None:
        yield [("warn", "depends"), ("", f" on the order of LimitRanges: allowed, or refused: {found.verdict.message}")]
    else:
        yield [("bad", "refused"), ("", f": {found.verdict.message}")]


def _fate(container: str, *, restart: bool) -> str:
    return "" if not container else "restarts it" if restart else "while it runs"


def _room(allocatable: str) -> str:
    return f"has {allocatable}" if allocatable else ""


def _costs(charge: QuotaCharge) -> Iterator[tuple[str, ...]]:
    for name in sorted(charge.requested):
        yield f"  {name}", charge.requested[name], charge.used[name], charge.after[name], charge.hard[name]


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[Line]:
    widths = [max(size(cell) for cell in column) for column in zip(heads, *rows, strict=True)]
    yield [("", "")]
    yield [("strong", row(heads, widths))]
    for texts in rows:
        yield [("", row(texts, widths))]


def _class(found: Resize, width: int) -> Iterator[Line]:
    if not found.qos:
        return
    yield [("", "")]
    if found.qos_after in {"", found.qos}:
        yield [("", f"QoS class {found.qos}: a resize must keep it{', and does' if found.qos_after else ''}")]
    else:
        text = f"QoS class {found.qos}: a resize must keep it; with these values it would be {found.qos_after}"
        yield from toned("bad", wrapped(text, width, rest="  "))
