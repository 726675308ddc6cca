"""Short pages of a claim, a pool and a Tenant; ``claim_or_pool``, ``claim`` and ``pools`` print whole answers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from shlex import quote

from kubectl_kres.capsule.reports.claim.claims import ClaimReport, QuotaLine
from kubectl_kres.capsule.reports.explain_tenant import TenantExplanation
from kubectl_kres.capsule.reports.pool.pool_report import PoolReport
from kubectl_kres.capsule.text.claim import amounts_table, no_option_reason, option_lines, state_lines
from kubectl_kres.capsule.text.claims import amounts_words
from kubectl_kres.capsule.text.pools import head_lines, lacks_text, uses_lines
from kubectl_kres.capsule.text.pools import pool_lines as whole_pool_lines
from kubectl_kres.capsule.text.tenant import count_text, list_text, rule_text, tenant_head, use_text
from kubectl_kres.record import Sentence
from kubectl_kres.render.text.line import (
    LABEL,
    Line,
    Tone,
    command_lines,
    draw,
    labelled_lines,
    more_line,
    tone_lines,
    wrap_text,
)
from kubectl_kres.render.text.remarks import last_edit_texts
from kubectl_kres.render.text.sentences import sentence_text
from kubectl_kres.render.text.unread import unseen_texts
from kubectl_kres.render.verdict.headline import codes_line
from kubectl_kres.reports.common.explanation import FailedRead, LastEdit
from kubectl_kres.wording import join_some

#: Ways, claims of a queue and resources that are shown; the rest is counted.
_WAYS, _HOLDERS, _QUEUE, _RESOURCES = 2, 5, 3, 5
#: Lists of a Tenant that are shown: all there are.
_LISTS = 12
#: Resources of one quota of a Tenant that are shown.
_USES = 3
#: Warnings, edits and claims ahead that are named.
_REMARKS, _EDITS, _AHEAD = 2, 1, 3


def claim_lines(report: ClaimReport, source: str, *, now: str, color: bool = False, width: int = 80) -> Iterator[str]:
    """Yield the page of a claim. ``source``: the flags that name the same source; ``now`` (RFC 3339) makes ages."""
    for line in _claim(report, source, now, width):
        yield draw(line, color=color)


def pool_lines(
    report: PoolReport, *, now: str, ascii_only: bool = False, color: bool = False, width: int = 80
) -> Iterator[str]:
    """Yield the page of a pool. ``now`` (RFC 3339) makes ages of times."""
    for line in _pool(report, now, ascii_only=ascii_only, width=width):
        yield draw(line, color=color)


def tenant_lines(report: TenantExplanation, source: str, *, color: bool = False, width: int = 80) -> Iterator[str]:
    """Yield the page of a Tenant. ``source``: the flags that name the same source."""
    for line in _tenant(report, source, width):
        yield draw(line, color=color)


def _tenant(report: TenantExplanation, source: str, width: int) -> Iterator[Line]:
    yield from tenant_head(report, width)
    yield [("", "")]
    for item in report.items[:_REMARKS]:
        uses = sorted(item.uses, key=lambda use: (not use.over_by, not use.excess))
        texts = [item.fault] if item.fault else [f"{use.resource}: {use_text(report, use)}" for use in uses]
        tone: Tone = "bad" if item.fault or any(use.over_by for use in uses) else ""
        texts = [f"{item.quota}: {texts[0]}", *texts[1:]] if texts else [f"{item.quota} limits nothing"]
        yield from _limited_lines("quota", texts, _USES, "resource", width, tone=tone)
    yield from _limited_lines("", [""] * (len(report.items) - _REMARKS), 0, "quota", width)
    for label, full in (("full", True), ("counts", False)):
        texts = [count_text(item) for item in report.counts if item.full == full]
        yield from _limited_lines(label, texts, _LISTS, "count", width, tone="warn" if full else "")
    yield from _limited_lines("names", [list_text(item) for item in report.lists], _LISTS, "list", width)
    yield from _limited_lines("rules", [rule_text(rule) for rule in report.rules], _REMARKS, "rule", width)
    if report.items:
        command = f"kubectl kres explain tenant/{quote(report.tenant.name)} --by value {source}".strip()
        yield from command_lines("next", "who uses the quotas", [command], width)
    for assumption in report.assumptions[:_EDITS]:
        yield from labelled_lines("assumed", sentence_text(assumption.text), width, tone="quiet")
    unread = [f"ResourceQuotas of {failed_read.namespace}" for failed_read in report.unread]
    yield from _limited_lines("unread", unread, _REMARKS, "namespace", width, tone="bad")
    shares = ["what each namespace uses of each quota"] * bool(report.items)
    if more := [*shares, *["the field of each rule"] * bool(report.rules)]:
        yield from more_line(more, width)


def _limited_lines(
    label: str, texts: Sequence[str], maximum: int, noun: str, width: int, *, tone: Tone = ""
) -> Iterator[Line]:
    """Yield the first texts, the first behind the label, and how many more there are."""
    for index, text in enumerate(texts[:maximum]):
        yield from labelled_lines("" if index else label, text, width, tone=tone)
    if (count := len(texts) - maximum) > 0:
        yield from labelled_lines("", f"and {count} more {noun}{'s' * (count != 1)}", width, tone=tone)


def _claim(report: ClaimReport, source: str, now: str, width: int) -> Iterator[Line]:
    yield from state_lines(report, width)
    yield from tone_lines("", wrap_text(report.reason, width, first="  ", rest="    "))
    queue_place = report.queue
    if queue_place is not None:
        ahead = f", behind {join_some((ref.key for ref in queue_place.ahead), _AHEAD)}" if queue_place.ahead else ""
        kind = "ordered queue" if queue_place.ordered else "queue, where any claim that fits is served"
        text = f"place {queue_place.position} of {queue_place.length} in the {kind}{ahead}"
        yield from tone_lines("", wrap_text(text, width, first="  ", rest="    "))
    yield [("", "")]
    if report.is_waiting or report.fixes:
        yield from _way_lines(report, source, width)
    else:
        yield from labelled_lines("asks", amounts_words(report.requested), width)
    if report.quota is not None and report.quota.lines and not report.is_waiting:
        used = [_quota_text(line) for line in report.quota.lines[:_RESOURCES]]
        yield from labelled_lines("quota", f"{report.quota.subject.name}: {', '.join(used)}", width)
    if report.message and report.message != "reconciled" and not (report.is_waiting and report.amounts):
        yield from labelled_lines("server", report.message, width, tone="quiet")
    if report.quota is not None and report.quota.note:
        yield from labelled_lines("warning", report.quota.note, width, tone="warn")
    yield from _remarks(report.notes, report.unread, report.edits, now, width)
    yield from codes_line([report.rule] if report.rule else ())
    more = len(report.fixes) - _WAYS
    others = [f"{more} other fix{'es' * (more > 1)}"] if more > 0 else []
    yield from more_line([*others, "the sums of the quota", "what edits it allows"], width)


def _way_lines(report: ClaimReport, source: str, width: int) -> Iterator[Line]:
    """Yield what would unblock it, who holds the pool, and the figures of what is short."""
    for number, option in enumerate(report.fixes[:_WAYS], 1):
        label = f"fix {number}" if len(report.fixes) > 1 else "fix"
        yield from option_lines(report, option, f"{label:<{LABEL}}", width)
    if not report.fixes:
        yield from tone_lines("warn", wrap_text(no_option_reason(report), width, rest="  "))
    pool = report.pool or report.wanted_pool
    # Of a claim whose pool does not exist no amounts are known.
    if pool and (report.amounts or report.state != "failed"):
        # Who may not read pools is told what the claims and quotas of a namespace show of one.
        hidden = any(failed_read.kind == "ResourcePool" for failed_read in report.unread)
        space = f"-n {report.subject.namespace}" if hidden else ""
        command = " ".join(filter(None, ("kubectl kres pools", pool, space, source)))
        yield from command_lines("next", "who holds the pool", [command], width)
    yield from amounts_table(report.amounts[:_RESOURCES], width)
    yield [("", "")]


def _quota_text(line: QuotaLine) -> str:
    return f"{line.name} {line.used or '?'} of {line.hard}{' (over)' * line.over}"


def _pool(report: PoolReport, now: str, *, ascii_only: bool, width: int) -> Iterator[Line]:
    if report.glimpse:
        yield from whole_pool_lines(report, whole=True, ascii_only=ascii_only, width=width)
        return
    yield from head_lines(report, width)
    if report.ready is False and report.message:
        yield from labelled_lines("server", report.message, width, tone="bad")
    yield from uses_lines(report.uses[:_RESOURCES], ascii_only=ascii_only, width=width)
    yield [("", "")]
    if report.holders:
        names = [f"{holder.subject.key} ({holder.state or 'not read'})" for holder in report.holders]
        yield from labelled_lines("held by", join_some(names, _HOLDERS), width)
    yield from _queue_lines(report, width)
    yield from _remarks(report.warnings, report.unread, report.edits, now, width)
    yield from more_line(["namespaces and which selector chose each, every claim"], width)


def _queue_lines(report: PoolReport, width: int) -> Iterator[Line]:
    """Yield what the first claim of the queue waits for, and who stands behind it."""
    if report.queue is None:
        yield from labelled_lines("queue", "not known, since claims could not be read", width, tone="warn")
    elif report.queue:
        first, *others = report.queue
        reason = lacks_text(first)
        yield from labelled_lines("queue", f"{first.subject.key} {first.state}{f', {reason}' if reason else ''}", width)
        if others:
            names = join_some([f"{queued.subject.key} {queued.state}" for queued in others], _QUEUE)
            yield from labelled_lines("", f"then {names}", width)


def _remarks(
    warnings: Sequence[Sentence | str],
    failed_reads: Sequence[FailedRead],
    edits: Mapping[str, LastEdit],
    now: str,
    width: int,
) -> Iterator[Line]:
    for text in warnings[:_REMARKS]:
        yield from labelled_lines("warning", sentence_text(text), width, tone="warn")
    yield from _limited_lines("", [""] * (len(warnings) - _REMARKS), 0, "warning", width, tone="warn")
    for text in unseen_texts(failed_reads):
        yield from labelled_lines("unread", text, width, tone="bad")
    for text in list(last_edit_texts(edits, now, maximum=_EDITS))[:_EDITS]:
        yield from labelled_lines("changed", text, width, tone="quiet")
