"""The explanations of claims and pools as text: verdict and fix first, then how it came about."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kubectl_kres.capsule.reports import explain_claim_or_pool
from kubectl_kres.capsule.text.claim import claim_brief, no_option_reason, permission_lines, quota_lines, unblock_lines
from kubectl_kres.capsule.text.claims import TONES
from kubectl_kres.capsule.text.pools import pool_brief, pool_lines, pool_word
from kubectl_kres.provenance.journal import Check, Derive
from kubectl_kres.provenance.rules import RULES
from kubectl_kres.record import Sentence
from kubectl_kres.render.text.line import (
    LABEL,
    Line,
    Tone,
    draw,
    labelled_lines,
    led_lines,
    pad_text,
    size,
    tone_lines,
    with_ages,
    wrap_text,
)
from kubectl_kres.render.text.remarks import last_edit_texts, remarks
from kubectl_kres.render.text.sentences import sentence_text
from kubectl_kres.render.verdict.brief import Brief
from kubectl_kres.render.verdict.object_list import Row
from kubectl_kres.wording import join_some

#: Turns that are shown without --steps: of the claims that wait, the last ones ahead.
_TURNS = 8
#: What becomes of a claim in a pass, in words.
RESULTS = {
    "kept": "keeps what it holds",
    "taken": "gets what it asks for",
    "changed": "gets its new amounts",
    "pool": "does not fit",
    "queue": "waits behind others",
}


def row_of(value: explain_claim_or_pool.ClaimExplanation | explain_claim_or_pool.PoolExplanation) -> Row:
    """Return the row of one of many objects."""
    if isinstance(value, explain_claim_or_pool.ClaimExplanation):
        claim = value.claim
        fix = claim.fixes[0].text if claim.fixes else ""
        return Row(claim.subject, claim.state, TONES[claim.state], claim.reason if claim.is_waiting else "", remedy=fix)
    pool = value.pool
    if pool.glimpse:
        waits = len(pool.queue or ())
        seen = f"as your namespaces show it: {pool.claims} of their claims allocated, {waits} wait{'s' * (waits == 1)}"
        return Row(pool.subject, "not seen", "warn", seen)
    word, tone = pool_word(pool)
    waits = len(pool.queue or ())
    reason = f"{waits} claim{'s' * (waits > 1)} wait{'s' * (waits == 1)}" if waits else ""
    return Row(pool.subject, word, tone, reason or (sentence_text(pool.warnings[0]) if pool.warnings else ""))


def brief(value: explain_claim_or_pool.ClaimExplanation | explain_claim_or_pool.PoolExplanation, more: str) -> Brief:
    """In few words. ``more``: the command that gives the whole answer."""
    return (
        claim_brief(value.claim, more)
        if isinstance(value, explain_claim_or_pool.ClaimExplanation)
        else pool_brief(value.pool, more)
    )


def claim_lines(
    claim_explanation: explain_claim_or_pool.ClaimExplanation,
    *,
    steps: bool = False,
    now: str = "",
    color: bool = False,
    width: int = 80,
) -> Iterator[str]:
    """Yield every line about a claim. ``steps``: with every turn of the queue and every term of the quota."""
    for line in claim_page(claim_explanation, steps=steps, width=width, now=now):
        yield draw(line, color=color)


def explain_pool_lines(
    pool_explanation: explain_claim_or_pool.PoolExplanation,
    *,
    steps: bool = False,
    now: str = "",
    ascii_only: bool = False,
    color: bool = False,
    width: int = 80,
) -> Iterator[str]:
    """Yield every line about a pool."""
    for line in pool_page(pool_explanation, steps=steps, ascii_only=ascii_only, width=width, now=now):
        yield draw(line, color=color)


def claim_page(
    claim_explanation: explain_claim_or_pool.ClaimExplanation, *, steps: bool, width: int, now: str = ""
) -> Iterator[Line]:
    """Yield the same as ``claim_lines``, not drawn yet."""
    claim = claim_explanation.claim
    name = claim.subject.key
    state = f"would be {claim.state}" if claim.predicted else claim.state
    yield from led_lines(TONES[claim.state], state, f": {name}: {claim.reason}", width)
    yield from _remedies(claim_explanation, width)
    yield [("", "")]
    yield from _titled_lines("pool", [claim_explanation.chosen] if claim_explanation.chosen else [], width)
    for option in claim_explanation.options:
        yield from tone_lines("", wrap_text(option_text(option), width, first="  ", rest="    "))
    yield from _checks(claim_explanation.checks, width)
    yield from _turn_lines(claim_explanation.turns, steps=steps, width=width, now=now)
    yield from _conditions(claim_explanation.conditions, width)
    if claim.quota is not None:
        yield from quota_lines(claim.quota, width)
        yield from _sum_lines(claim_explanation.sums, width) if steps else ()
    yield from unblock_lines(claim, width, texts=True)
    yield from permission_lines(claim.allowed_actions, width)
    groups: tuple[tuple[Tone, str, Sequence[Sentence | str]], ...] = (
        ("warn", "warning", claim.notes),
        ("quiet", "changed", tuple(last_edit_texts(claim.edits, now))),
    )
    yield from remarks(groups, (), claim.unread, width)


def _remedies(claim_explanation: explain_claim_or_pool.ClaimExplanation, width: int) -> Iterator[Line]:
    claim = claim_explanation.claim
    if not claim.fixes and not claim.is_waiting:
        return
    yield from labelled_lines("fix", claim.fixes[0].text if claim.fixes else no_option_reason(claim), width)
    for command in (deed.command for deed in claim.fixes[0].actions if deed.command) if claim.fixes else ():
        # Something to type is not broken.
        yield [("", " " * LABEL), ("command", command)]


def _titled_lines(title: str, texts: Sequence[str], width: int) -> Iterator[Line]:
    if texts:
        yield [("strong", title)]
    for text in texts:
        yield from tone_lines("", wrap_text(text, width, first="  ", rest="    "))


def option_text(pool_option: explain_claim_or_pool.PoolOption) -> str:
    """Return how a pool that serves the namespace suits the claim."""
    named = " (named)" if pool_option.named else ""
    if pool_option.missing_resources:
        chance = ", which of the two is seen first is random" if pool_option.verdict == "either" else ""
        missing = join_some(pool_option.missing_resources)
        return f"pool {pool_option.pool}{named} serves the namespace but has no {missing}{chance}"
    scopes = "".join(f"; it counts {phrase}" for phrase in pool_option.scopes)
    if pool_option.short_resources:
        short = join_some(pool_option.short_resources)
        return f"pool {pool_option.pool}{named} serves the namespace and has too little {short} free{scopes}"
    return f"pool {pool_option.pool}{named} serves the namespace and has room{scopes}"


def _checks(checks: Sequence[Check], width: int) -> Iterator[Line]:
    if not checks:
        return
    yield [("", "")]
    yield [("strong", "assignment"), ("quiet", ", by the claim controller")]
    for check in checks:
        rule = RULES.get(check.rule)
        title = rule.title if rule is not None else check.rule
        if check.passed:
            yield from tone_lines("", wrap_text(f"passes: {title}", width, first="  ", rest="    "))
        else:
            text = f"refuses: {title.removesuffix('.')}: {check.message}"
            yield from tone_lines("bad", wrap_text(text, width, first="  ", rest="    "))


def _turn_lines(
    turns: Sequence[explain_claim_or_pool.QueueTurn], *, steps: bool, width: int, now: str
) -> Iterator[Line]:
    if not turns:
        return
    yield [("", "")]
    yield [("strong", "queue"), ("quiet", ", by creation, name and namespace; what its controller would do now")]
    shown = list(turns)
    if not steps:
        waiting = [turn for turn in turns if turn.result != "kept" or turn.is_subject]
        shown = waiting[-_TURNS:]
        left = _left_out(len(turns) - len(waiting), len(waiting) - len(shown))
        if left:
            yield [("quiet", f"  {left}; --steps shows all")]
    label = max(size(queue_turn.subject.key) for queue_turn in shown)
    # Places are counted among those that do not have their share yet, as everywhere.
    numbers = {
        id(queue_turn): index for index, queue_turn in enumerate((turn for turn in turns if turn.result != "kept"), 1)
    }
    digits = len(str(len(numbers)))
    for queue_turn in shown:
        number = f"{numbers[id(queue_turn)]:>{digits}}." if id(queue_turn) in numbers else " " * (digits + 1)
        head = f"  {number} {pad_text(queue_turn.subject.key, label)}  {RESULTS[queue_turn.result]}"
        since = f"  created {with_ages(queue_turn.created, now)}" if steps and queue_turn.created else ""
        yield [("strong" if queue_turn.is_subject else "", head), ("quiet", since)]
        for compared in queue_turn.compared:
            indent = " " * (digits + 6)
            yield from tone_lines("warn", wrap_text(compared_text(compared), width, first=indent, rest=f"{indent}  "))


def compared_text(compared: explain_claim_or_pool.Compared) -> str:
    """Return how one resource fares at a claim's turn."""
    requested_text = f"{compared.resource}: asks for {compared.requested}"
    if compared.closed_by is not None:
        return f"{requested_text}; blocked by {compared.closed_by.key}"
    return (
        f"{requested_text}; the pool does not have it"
        if compared.missing
        else f"{requested_text}, {compared.free} free"
    )


def _left_out(kept: int, waiting: int) -> str:
    """Return how many turns of a pass are not shown."""
    parts = [f"{kept} claim{'s' * (kept != 1)} with an unchanged share"] if kept else []
    parts += [f"{waiting} more that wait{'s' * (waiting == 1)}"] if waiting else []
    return f"not shown: {' and '.join(parts)}" if parts else ""


def _conditions(stored_conditions: Sequence[explain_claim_or_pool.StoredCondition], width: int) -> Iterator[Line]:
    if not stored_conditions:
        return
    yield [("", "")]
    yield [("strong", "conditions")]
    label = max(size(condition.type) for condition in stored_conditions)
    status = max(size(condition.status) for condition in stored_conditions)
    for condition in stored_conditions:
        head = f"  {pad_text(condition.type, label)}  {pad_text(condition.status, status)}  "
        yield from tone_lines(
            "", wrap_text(f"{condition.reason}: {condition.message}", width, first=head, rest=" " * size(head))
        )
        if condition.computed:
            text = f"would now say: {condition.computed}"
            yield from tone_lines("warn", wrap_text(text, width, first=" " * size(head), rest=" " * size(head)))


def _sum_lines(sums: Sequence[Derive], width: int) -> Iterator[Line]:
    for derive in sums:
        terms = " + ".join(f"{_term(term.path)} {term.value}" for term in derive.terms)
        text = f"{derive.path} = {derive.value}: {terms}"
        yield from tone_lines("quiet", wrap_text(text, width, first="    ", rest="      "))


def _term(path: str) -> str:
    return path.removeprefix("ResourcePoolClaim/")


def pool_page(
    pool_explanation: explain_claim_or_pool.PoolExplanation, *, steps: bool, ascii_only: bool, width: int, now: str = ""
) -> Iterator[Line]:
    """Yield the lines of ``explain_pool_lines`` without colors."""
    yield from pool_lines(pool_explanation.pool, whole=True, ascii_only=ascii_only, width=width, now=now)
    if pool_explanation.pool.glimpse:
        return
    if steps:
        yield from _turn_lines(pool_explanation.turns, steps=True, width=width, now=now)
    yield from _conditions(pool_explanation.conditions, width)
    yield [("", "")]
    yield [("strong", "managed quotas")]
    for quota in pool_explanation.quotas:
        total = ", ".join(f"{derive.path.partition('[')[2].removesuffix(']')} {derive.value}" for derive in quota.sums)
        text = f"{quota.subject.namespace}: {total or 'empty, which limits nothing'}"
        yield from tone_lines("", wrap_text(text, width, first="  ", rest="    "))
        if steps:
            yield from _sum_lines(quota.sums, width)
    yield [("", "")]
    yield from _titled_lines("can it be changed", pool_explanation.bounds, width)
    yield from _titled_lines("if it is deleted, which is never refused", pool_explanation.deletion_effects, width)
