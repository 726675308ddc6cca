"""Explanations of quotas, LimitRanges, namespaces, claims and services as text: whole, and as a short page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.record import Wording
from kubectl_kres.render.pictures.bounds import bounds_lines
from kubectl_kres.render.quota.quota_blocks import LIMITS_NOTHING, quota_lines
from kubectl_kres.render.text.line import (
    Line,
    Tone,
    clip_text,
    draw,
    labelled_lines,
    led_lines,
    more_line,
    pad_text,
    row,
    size,
    tone_lines,
    wrap_text,
)
from kubectl_kres.render.text.remarks import last_edit_texts, remarks
from kubectl_kres.render.text.sentences import decisive_texts, sentence_text
from kubectl_kres.render.text.system import systems
from kubectl_kres.render.text.unread import unseen_texts
from kubectl_kres.render.text.values import cost_lines, tables
from kubectl_kres.render.verdict import headline
from kubectl_kres.render.verdict.brief import Brief, with_remedies
from kubectl_kres.render.verdict.headline import PARTLY, code_line, lacks_limit_ranges
from kubectl_kres.render.verdict.object_list import Row
from kubectl_kres.render.verdict.remedy import remedy_lines
from kubectl_kres.render.verdict.run_state import state_sentence, state_suffix
from kubectl_kres.reports.common.explanation import Demand, Explanation, waits_or_fails
from kubectl_kres.reports.namespace.policy_explanation import Band, Default, PolicyExplanation
from kubectl_kres.reports.pod.verdict import AS_FAR_AS_SEEN
from kubectl_kres.reports.quota.quota_report import QuotaReport, QuotaUse
from kubectl_kres.wording import join_some

_LABEL, _CELL = 32, 20
_HEADS = ("MIN", "MAX", "RATIO")
#: Percent of a hard that nothing is left of.
_FULL = 100
_NOUNS = {"PersistentVolumeClaim": "claim", "Service": "service"}


def lines(
    policy_explanation: PolicyExplanation,
    *,
    now: str = "",
    ascii_only: bool = False,
    color: bool = False,
    width: int = 80,
) -> Iterator[str]:
    """Yield every line of the answer: verdict or name, what contradicts what, then the figures."""
    for line in policy_lines(policy_explanation, ascii_only=ascii_only, width=width, now=now):
        yield draw(line, color=color)


def row_of(policy_explanation: PolicyExplanation) -> Row:
    """Return the row of one of many objects."""
    outcome, tone = policy_word(policy_explanation)
    if policy_explanation.verdict is not None:
        outcome = policy_explanation.verdict.outcome
    elif not policy_explanation.complete:
        outcome = f"{outcome}{AS_FAR_AS_SEEN}"
    return Row(policy_explanation.subject, outcome, tone, _summary(policy_explanation))


def brief(policy_explanation: PolicyExplanation, more: str) -> Brief:
    """In few words. ``more``: the command that gives the whole answer."""
    words, tone = policy_word(policy_explanation)
    refused = policy_explanation.verdict is not None and policy_explanation.verdict.allowed is not True
    summary = _summary(policy_explanation) if refused or not policy_explanation.fixes else ""
    seen = "" if policy_explanation.complete else headline.PARTLY
    text = f": {policy_explanation.subject.full_name}{f': {summary}' if summary else ''}"
    warning = "; ".join(f"assumed: {each}" for each in decisive_texts(policy_explanation.assumptions))
    return with_remedies(Brief(tone, f"{words}{seen}", text, warning=warning, next=more), policy_explanation.fixes)


def policy_word(policy_explanation: PolicyExplanation) -> tuple[str, Tone]:
    """Return what the answer comes to, in a word, and its tone."""
    if policy_explanation.verdict is not None:
        return headline.verdict_word(policy_explanation.verdict)
    uses = [use for report in policy_explanation.quotas for use in report.uses]
    if any(use.is_exceeded for use in uses):
        return "over", "bad"
    if policy_explanation.contradictions:
        return "conflict", "warn"
    if uses and all(use.limits_nothing for use in uses):
        return LIMITS_NOTHING, "warn"
    return ("full", "warn") if any((use.percent or 0) >= _FULL for use in uses) else ("ok", "good")


def _summary(policy_explanation: PolicyExplanation) -> str:
    if policy_explanation.verdict is not None and policy_explanation.verdict.allowed is not True:
        return headline.refusal_reason(policy_explanation.verdict)
    if policy_explanation.contradictions and not any(
        use.is_exceeded for report in policy_explanation.quotas for use in report.uses
    ):
        more = (
            f" (and {len(policy_explanation.contradictions) - 1} more)"
            if len(policy_explanation.contradictions) > 1
            else ""
        )
        return f"{sentence_text(policy_explanation.contradictions[0])}{more}"
    if policy_explanation.run_state is not None and policy_explanation.run_state.state != "starting":
        return state_sentence(policy_explanation.run_state)
    if policy_explanation.costs:
        return "costs " + "; ".join(
            ", ".join(f"{name} {value}" for name, value in cost.charge.requested.items())
            for cost in policy_explanation.costs
        )
    uses = [use for report in policy_explanation.quotas for use in report.uses if use.percent is not None]
    fullest = max(uses, key=lambda use: use.percent or 0, default=None)
    if fullest is None:
        return ""
    over = [f"{use.name} {use.used} of {use.hard}" for use in uses if use.is_exceeded]
    if over:
        return f"used {join_some(over)}"
    return f"{fullest.name} is used to {fullest.percent}%"


def policy_lines(
    policy_explanation: PolicyExplanation, *, ascii_only: bool, width: int, now: str = ""
) -> Iterator[Line]:
    """Yield the same, not drawn yet."""
    yield from head_lines(policy_explanation, width, now)
    if policy_explanation.contradictions:
        yield [("", "")]
        yield [("strong", "conflict")]
        for text in map(sentence_text, policy_explanation.contradictions):
            yield from tone_lines("warn", wrap_text(text, width, first="  ", rest="    "))
    if policy_explanation.subject.kind == "Namespace":
        yield from bounds_lines(policy_explanation, width, ascii_only=ascii_only)
    yield from _defaults(policy_explanation.defaults, width)
    if policy_explanation.pod_without_values is not None:
        yield from _bare_pod_lines(policy_explanation.pod_without_values, policy_explanation.subject, width)
    for system in systems():
        yield from system.namespace_lines(policy_explanation, width)
    yield from _bands(policy_explanation.bands, width)
    for cost in policy_explanation.costs:
        yield from cost_lines(cost, _NOUNS.get(policy_explanation.subject.kind, "object"), width=width)
    if not policy_explanation.costs and policy_explanation.subject.kind in _NOUNS:
        yield [("", "")]
        is_known = not any(failed_read.kind == "ResourceQuota" for failed_read in policy_explanation.unread)
        yield [("quiet", "it costs no quota anything" if is_known else "what it costs quotas is not known")]
    for report in policy_explanation.quotas:
        yield [("", "")]
        yield from quota_lines(report, ascii_only=ascii_only, width=width)
    for demand in policy_explanation.demands:
        yield from _demand(demand, width, seen=not headline.lacks_limit_ranges(policy_explanation.unread))
    groups: tuple[tuple[Tone, str, Sequence[Wording]], ...] = (
        ("warn", "warning", policy_explanation.warnings),
        ("quiet", "changed", tuple(last_edit_texts(policy_explanation.edits, now))),
    )
    yield from remarks(groups, policy_explanation.assumptions, policy_explanation.unread, width)


def head_lines(policy_explanation: PolicyExplanation, width: int, now: str = "") -> Iterator[Line]:
    """Yield the verdict with its fixes; of what is only stored its name. ``now`` (RFC 3339): times are ages."""
    verdict = policy_explanation.verdict
    if verdict is None:
        yield [("strong", policy_explanation.subject.full_name)]
        return
    text, tone = policy_word(policy_explanation)
    if verdict.allowed is True:
        text = text if policy_explanation.complete else f"{text}{headline.PARTLY}"
        counted = ", already counted in the quotas" if policy_explanation.counted and policy_explanation.costs else ""
        state = policy_explanation.run_state
        reason = f": {state_sentence(state, now)}" if state is not None else ""
        tone = "bad" if waits_or_fails(state) else tone
        rest = f"{state_suffix(state)}: {policy_explanation.subject.full_name}{reason}{counted}"
        yield from led_lines(tone, text, rest, width)
        if state is not None and state.next:
            yield [("", "")]
            yield from labelled_lines("fix", sentence_text(state.next), width)
    else:
        reason = headline.refusal_reason(verdict)
        yield from led_lines(tone, text, f": {policy_explanation.subject.full_name}: {reason}", width)
        if policy_explanation.fixes:
            yield [("", "")]
            yield from remedy_lines(policy_explanation.fixes, width)
        if reason != verdict.message:
            yield from labelled_lines("server", headline.server_text(verdict.message), width, tone="quiet")


def _defaults(defaults: Sequence[Default], width: int) -> Iterator[Line]:
    if not defaults:
        return
    label = min(_LABEL, max(size(f"{default.resource} {default.side[:-1]}") for default in defaults))
    longest = min(_CELL, max(size(default.value) for default in defaults))
    yield [("", "")]
    yield [("strong", "gives containers without requests and limits")]
    for default in defaults:
        name = pad_text(clip_text(f"{default.resource} {default.side[:-1]}", _LABEL), label)
        head = f"  {name}  {pad_text(clip_text(default.value, _CELL), longest)}  "
        text = f"{default.source.field}{f', {default.derived}' if default.derived else ''}"
        yield from tone_lines("", wrap_text(text, width, first=head, rest=" " * size(head)))


def _bare_pod_lines(explanation: Explanation, subject: ObjectRef, width: int) -> Iterator[Line]:
    """Yield the same with an empty line before it; of a namespace also the values that the container gets."""
    yield [("", "")]
    yield from bare_lines(explanation, subject, width)
    if subject.kind == "Namespace" and any(container.values for container in explanation.containers):
        yield from tables(explanation.containers, live=False, steps=False, width=width)


def bare_lines(explanation: Explanation, subject: ObjectRef, width: int, maximum: int = 99) -> Iterator[Line]:
    """Yield what becomes of a pod of one container that states nothing; of its fixes at most so many."""
    alone = " under this LimitRange alone" if subject.kind == "LimitRange" else ""
    head = f"a pod of one container without requests and limits{alone}"
    allowed = explanation.verdict.allowed
    if allowed is True:
        seen = "" if alone or explanation.complete else headline.PARTLY
        quality = f", QoS class {explanation.qos.name}" if explanation.qos is not None else ""
        fits = [cost.fits for cost in explanation.quotas if cost.fits is not None]
        room = f"; quotas have room for {min(fits)} such pod{'s' * (min(fits) != 1)}" if fits and not alone else ""
        yield from tone_lines("", wrap_text(f"{head} is admitted{seen}{quality}{room}", width, rest="  "))
    else:
        word = (
            "may be refused"
            if allowed is None
            else f"is refused{headline.unread_caveat(explanation.verdict.message, explanation.unread)}"
        )
        yield from tone_lines("bad", wrap_text(f"{head} {word}: {_refusal_reason(explanation)}", width, rest="  "))
        for index, remedy in enumerate(explanation.fixes[:maximum]):
            text = sentence_text(remedy.text).replace(" of container bare", " of each container")
            yield from tone_lines("", wrap_text(text, width, first="  or   " if index else "  fix  ", rest="       "))
        own_costs = [cost for cost in explanation.quotas if cost.quota == subject.name and cost.fits is not None]
        if subject.kind == "ResourceQuota" and own_costs:
            pods = f"{own_costs[0].fits} such pod{'s' * (own_costs[0].fits != 1)}"
            yield [("", f"  quota {subject.name} itself has room for {pods}")]


def _refusal_reason(explanation: Explanation) -> str:
    """Why it is refused, in our words where they are known: the server's name the container, which is made up."""
    if known := headline.cause(explanation.verdict.findings):
        return known
    message = explanation.verdict.message
    return (message.partition(" is forbidden: ")[2] or message.partition(" is invalid: ")[2] or message).strip()


def _bands(bands: Sequence[Band], width: int) -> Iterator[Line]:
    types = list(dict.fromkeys(band.type for band in bands))
    rows = {band: _cells(band) for band in bands}
    widths = [
        max(size(head), *(size(row[index]) for row in rows.values())) for index, head in enumerate(_HEADS) if rows
    ]
    names = [*(band.resource for band in bands), *(f"each {type_}"[2:] for type_ in types)]
    label = min(_LABEL, max(map(size, names), default=0))
    for type_ in types:
        yield [("", "")]
        heads = row(_HEADS, widths)
        yield [("strong", pad_text(f"each {type_}", label + 2)), ("quiet", f"  {heads}")]
        for band, texts in rows.items():
            if band.type == type_:
                cells = row(texts, widths)
                name = pad_text(clip_text(band.resource, label), label)
                tone: Tone = "bad" if band.is_empty else ""
                head = f"  {name}  {cells}  "
                yield from tone_lines(tone, wrap_text(_setters(band), width, first=head, rest=" " * size(head)))


def _cells(band: Band) -> tuple[str, str, str]:
    low, high, ratio = (clip_text(text or "-", _CELL) for text in (band.low, band.high, band.ratio))
    return low, high, ratio


def _setters(band: Band) -> str:
    sources = (band.low_source, band.high_source, band.ratio_source)
    return ", ".join(dict.fromkeys(str(source.ref) for source in sources if source is not None))


def _demand(demand: Demand, width: int, *, seen: bool) -> Iterator[Line]:
    names = ", ".join(demand.names)
    text = f"quota {demand.quota} requires on every container: {names}"
    filled = [name for name in demand.names if name not in demand.unfilled]
    rest = f"; LimitRanges fill in {', '.join(filled)}" if filled else "; no LimitRange fills that in"
    if not seen:
        rest = "; LimitRanges, which may fill that in, could not be read"
    yield [("", "")]
    yield from tone_lines("", wrap_text(f"{text}{rest}", width, rest="  "))


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
    yield from _head_lines(policy_explanation, width, now)
    yield [("", "")]
    yield from _quota_lines(policy_explanation, ascii_only=ascii_only, width=width)
    for label, text in _labelled_texts(policy_explanation):
        yield from labelled_lines(label, text, width)
    if policy_explanation.pod_without_values is not None:
        yield from bare_lines(policy_explanation.pod_without_values, policy_explanation.subject, width, maximum=1)
    for tone, label, text in _remarks(policy_explanation, now):
        yield from labelled_lines(label, text, width, tone=tone)
    if policy_explanation.verdict is not None:
        yield from code_line(policy_explanation.verdict)
    yield from more_line(_hidden_parts(policy_explanation), width)


def _head_lines(policy_explanation: PolicyExplanation, width: int, now: str) -> Iterator[Line]:
    """Yield the verdict, or how full it is, and what contradicts what."""
    if policy_explanation.verdict is not None:
        yield from head_lines(policy_explanation, width, now)
    else:
        text, tone = policy_word(policy_explanation)
        seen = "" if policy_explanation.complete else PARTLY
        yield from led_lines(tone, text, f"{seen}: {policy_explanation.subject.full_name}", width)
    for text in _limit_texts([*map(sentence_text, policy_explanation.contradictions)], _SHOWN, "conflict"):
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
        missing = f"; no LimitRange sets {join_some(demand.unfilled)}" if demand.unfilled else ""
        if lacks_limit_ranges(policy_explanation.unread):
            missing = "; LimitRanges, which may fill that in, could not be read"
        yield "wants", f"quota {demand.quota} requires {join_some(demand.names)} on every container{missing}"


def _remarks(policy_explanation: PolicyExplanation, now: str) -> Iterator[tuple[Tone, str, str]]:
    """Yield warnings and what could not be read; assumptions and edits as far as there are few."""
    yield from (("warn", "warning", sentence_text(text)) for text in policy_explanation.warnings)
    yield from (("bad", "unread", text) for text in unseen_texts(policy_explanation.unread))
    assumed = [sentence_text(assumption.text) for assumption in policy_explanation.assumptions]
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
    counts = f", counts {join_some(report.scopes)}" if report.scopes else ""
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
        kind == "Namespace" and policy_explanation.pod_without_values is not None
    )
    return parts
