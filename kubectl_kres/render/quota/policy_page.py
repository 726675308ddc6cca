"""The short page of a quota, LimitRange, namespace, claim of storage or service; ``policy`` has the whole answer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kubectl_kres.render.quota.policy import bare_lines, head_lines, policy_word
from kubectl_kres.render.quota.quota_blocks import quota_lines
from kubectl_kres.render.text.line import Line, Tone, draw, labelled_lines, more_line, tone_lines, wrap_text
from kubectl_kres.render.text.remarks import last_edit_texts, unseen_text
from kubectl_kres.render.verdict.headline import PARTLY, code_line, lacks_limit_ranges
from kubectl_kres.reports.common.resource_lists import join_words
from kubectl_kres.reports.namespace.policy_explanation import Band, PolicyExplanation
from kubectl_kres.reports.quota.quota_report import QuotaReport, QuotaUse

#: Contradictions, values and names of a kind that are shown; the rest is counted.
_SHOWN = 2
#: Names of a quota in a namespace, the fullest first; rows of the table of one quota.
_FULLEST, _ROWS = 2, 7


def page(
    policy_explanation: PolicyExplanation, *, now: str, ascii_only: bool = False, color: bool = False, width: int = 80
) -> Iterator[str]:
    """Yield the answer as a page of its own. ``now`` (RFC 3339) turns times into ages."""
    for line in page_lines(policy_explanation, now=now, ascii_only=ascii_only, width=width):
        yield draw(line, color=color)


def page_lines(policy_explanation: PolicyExplanation, *, now: str, ascii_only: bool, width: int) -> Iterator[Line]:
    """Yield the same, not drawn yet."""
    yield from _head_lines(policy_explanation, width)
    yield [("", "")]
    yield from _quota_lines(policy_explanation, ascii_only=ascii_only, width=width)
    for label, text in _labelled_texts(policy_explanation):
        yield from labelled_lines(label, text, width)
    if policy_explanation.bare is not None:
        yield from bare_lines(policy_explanation.bare, policy_explanation.subject, width, maximum=1)
    for tone, label, text in _remarks(policy_explanation, now):
        yield from labelled_lines(label, text, width, tone=tone)
    if policy_explanation.verdict is not None:
        yield from code_line(policy_explanation.verdict)
    yield from more_line(_hidden_parts(policy_explanation), width)


def _head_lines(policy_explanation: PolicyExplanation, width: int) -> Iterator[Line]:
    """Yield the verdict, or how full it is, and what contradicts what."""
    if policy_explanation.verdict is not None:
        yield from head_lines(policy_explanation, width)
    else:
        text, tone = policy_word(policy_explanation)
        seen = "" if policy_explanation.complete else PARTLY
        first, *rest = wrap_text(f"{text}{seen}: {policy_explanation.subject.full_name}", width, rest="  ")
        yield [(tone, text), ("", first[len(text) :])]
        yield from tone_lines("", rest)
    for text in _limit_texts(policy_explanation.contradictions, _SHOWN, "conflict"):
        yield from tone_lines("warn", wrap_text(text, width, first="  ", rest="    "))


def _labelled_texts(policy_explanation: PolicyExplanation) -> Iterator[tuple[str, str]]:
    """Yield what it gives, allows, costs and requires, each with its label."""
    defaults = [f"{default.resource} {default.side[:-1]} {default.value}" for default in policy_explanation.defaults]
    if defaults:
        yield "gives", ", ".join(defaults)
    if policy_explanation.bands:
        yield "bounds", "; ".join(map(_band_text, policy_explanation.bands))
    for cost in policy_explanation.costs:
        amounts = ", ".join(f"{name} {amount}" for name, amount in cost.charge.requested.items())
        yield "costs", f"quota {cost.quota}: {amounts}"
    for demand in () if policy_explanation.contradictions else policy_explanation.demands:
        missing = f"; no LimitRange sets {join_words(demand.unfilled)}" if demand.unfilled else ""
        if lacks_limit_ranges(policy_explanation.unseen):
            missing = "; LimitRanges, which may fill that in, could not be read"
        yield "wants", f"quota {demand.quota} requires {join_words(demand.names)} on every container{missing}"


def _remarks(policy_explanation: PolicyExplanation, now: str) -> Iterator[tuple[Tone, str, str]]:
    """Yield warnings and what could not be read; assumptions and edits as far as there are few."""
    yield from (("warn", "warning", text) for text in policy_explanation.warnings)
    yield from (("bad", "unread", unseen_text(failed_read)) for failed_read in policy_explanation.unseen)
    assumed = [assumption.text for assumption in policy_explanation.assumptions]
    yield from (("quiet", "assumed", text) for text in _limit_texts(assumed, _SHOWN, "assumption"))
    if policy_explanation.subject.kind != "Namespace":
        edits = list(last_edit_texts(policy_explanation.edits, now, maximum=_SHOWN))
        yield from (("quiet", "changed", text) for text in _limit_texts(edits, 1, "edit"))


def _limit_texts(texts: Sequence[str], maximum: int, noun: str) -> Iterator[str]:
    """Yield the first texts, and how many more there are."""
    yield from texts[:maximum]
    if len(texts) > maximum:
        count = len(texts) - maximum
        yield f"and {count} more {noun}{'s' * (count != 1)}"


def _quota_lines(policy_explanation: PolicyExplanation, *, ascii_only: bool, width: int) -> Iterator[Line]:
    """Yield the table of one quota; of a namespace a line for each."""
    quotas = policy_explanation.quotas
    if policy_explanation.subject.kind == "ResourceQuota" and len(quotas) == 1 and len(quotas[0].uses) <= _ROWS:
        yield from quota_lines(quotas[0], ascii_only=ascii_only, width=width)
        yield [("", "")]
        return
    for report in quotas:
        yield from labelled_lines(
            "quota", _fullest(report), width, tone="bad" if any(map(_is_over, report.uses)) else ""
        )


def _is_over(use: QuotaUse) -> bool:
    return use.is_exceeded


def _fullest(report: QuotaReport) -> str:
    """Return the names of a quota that are used most, in words."""
    uses = sorted(report.uses, key=lambda use: (not use.is_exceeded, -(use.percent or 0)))
    if not uses:
        return f"{report.subject.name}: limits nothing"
    shown = [f"{use.name} {use.used or '?'} of {use.hard}" for use in uses[:_FULLEST]]
    rest = f", and {len(uses) - _FULLEST} less full" if len(uses) > _FULLEST else ""
    counts = f", counts {join_words(report.scopes)}" if report.scopes else ""
    return f"{report.subject.name}: {', '.join(shown)}{rest}{counts}"


def _band_text(band: Band) -> str:
    parts = [
        f"{side} {value}"
        for side, value in (("min", band.low), ("max", band.high), ("ratio", band.ratio))
        if value is not None
    ]
    return f"{band.type} {band.resource} {', '.join(parts)}"


def _hidden_parts(policy_explanation: PolicyExplanation) -> list[str]:
    kind = policy_explanation.subject.kind
    parts = ["where each value comes from"]
    parts += ["a bar for each quota"] * (kind == "Namespace" and bool(policy_explanation.quotas))
    parts += ["what a container without requests and limits gets"] * (
        kind == "Namespace" and policy_explanation.bare is not None
    )
    return parts
