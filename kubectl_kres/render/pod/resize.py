"""The answer to a resize as text: allowed or not, what changes and restarts, what node and quotas have to give."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kubectl_kres.admission.base.outcome import QuotaCharge
from kubectl_kres.render.text.line import Line, Tone, draw, labelled_lines, led_lines, row, size, tone_lines, wrap_text
from kubectl_kres.render.text.remarks import remarks
from kubectl_kres.render.verdict.headline import PARTLY, cause, refusal_reason, server_text
from kubectl_kres.render.verdict.note import NOTHING
from kubectl_kres.render.verdict.remedy import remedy_lines
from kubectl_kres.reports.resize import Resize


def lines(resize: Resize, *, color: bool = False, width: int = 80) -> Iterator[str]:
    """Yield every line. Lines of ours keep to ``width``; the server's own sentences are not cut."""
    for line in _resize_lines(resize, width):
        yield draw(line, color=color)


def _resize_lines(resize: Resize, width: int) -> Iterator[Line]:
    yield from _verdict(resize, width)
    note = NOTHING if resize.complete else f"{NOTHING}{PARTLY}"
    yield from remedy_lines(resize.fixes, width, "" if resize.fixes else note, calm=True)
    if resize.verdict.allowed is False and cause(resize.verdict.findings):
        yield from labelled_lines("server", server_text(resize.verdict.message), width, tone="quiet")
    if resize.changes:
        rows = [
            (
                change.container or "pod level",
                f"{change.resource} {change.side[:-1]}",
                change.before or "-",
                change.after or "-",
                _format_restart(change.container, restart=change.restart),
            )
            for change in resize.changes
        ]
        yield from _table(("CONTAINER", "VALUE", "BEFORE", "AFTER", ""), rows)
    if resize.sums:
        heads = ("POD IN ALL", "", "BEFORE", "AFTER", f"NODE {resize.node}" if resize.node else "")
        sums = [(item.resource, item.side[:-1], item.before or "-", item.after or "-",
                 _format_allocatable(item.allocatable))
                for item in resize.sums]  # fmt: skip
        yield from _table(heads, sums)
    yield from _class(resize, width)
    for charge in resize.charges:
        yield from _table((f"QUOTA {charge.quota}", "MORE", "USED", "AFTER", "HARD"), [*_charge_rows(charge)])
    ignored = [f"{path}: a resize leaves it as it is" for path in resize.ignored]
    others = resize.verdict.others
    groups: list[tuple[Tone, str, Sequence[str]]] = [("warn", "or", others), ("warn", "ignored", ignored)]
    yield from remarks(groups, resize.assumptions, resize.unread, width)


def _verdict(resize: Resize, width: int) -> Iterator[Line]:
    namespace_prefix = f"{resize.subject.namespace}/" if resize.subject.namespace else ""
    if resize.verdict.allowed is True:
        restarts = f"; restarts {', '.join(resize.restarts)}" if resize.restarts else "; nothing restarts"
        text = (
            f"{namespace_prefix}{resize.subject}{restarts}"
            if resize.changes
            else f"{namespace_prefix}{resize.subject}; nothing changes"
        )
        kinds = dict.fromkeys(failed_read.kind for failed_read in resize.unread if failed_read.required)
        tone: Tone = "warn" if kinds else "good"
        word = f"allowed{PARTLY}" if kinds else "allowed"
        unread = f"; {' and '.join(kinds)} could not be read" if kinds else ""
        yield from led_lines(tone, word, f": {text}{unread}", width)
    elif resize.verdict.allowed is None:
        yield [
            ("warn", "depends"),
            ("", f" on the order of LimitRanges: allowed, or refused: {resize.verdict.message}"),
        ]
    else:
        reason = refusal_reason(resize.verdict)
        first, *rest = wrap_text(f"{namespace_prefix}{resize.subject}: {reason}", width, first="refused: ", rest="  ")
        yield [("bad", "refused"), ("", first.removeprefix("refused"))]
        yield from tone_lines("", rest)


def _format_restart(container: str, *, restart: bool) -> str:
    return "" if not container else "restarts it" if restart else "while it runs"


def _format_allocatable(allocatable: str) -> str:
    return f"has {allocatable}" if allocatable else ""


def _charge_rows(charge: QuotaCharge) -> Iterator[tuple[str, ...]]:
    for name in sorted(charge.requested):
        yield f"  {name}", charge.requested[name], charge.used[name], charge.after[name], charge.hard[name]


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[Line]:
    widths = [max(size(cell) for cell in column) for column in zip(heads, *rows, strict=True)]
    yield [("", "")]
    yield [("strong", row(heads, widths))]
    for texts in rows:
        yield [("", row(texts, widths))]


def _class(resize: Resize, width: int) -> Iterator[Line]:
    if not resize.qos:
        return
    yield [("", "")]
    if resize.qos_after in {"", resize.qos}:
        yield [("", f"QoS class {resize.qos}: a resize must keep it{', and does' if resize.qos_after else ''}")]
    else:
        text = f"QoS class {resize.qos}: a resize must keep it; with these values it would be {resize.qos_after}"
        yield from tone_lines("bad", wrap_text(text, width, rest="  "))
