"""The screen of a claim: its state in the controller's words, what is short, what would unblock it, its queue."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any

from msgspec.structs import replace

from kubectl_kres.capsule.reports.claim.claims import Amount, ClaimReport, VerbEffect
from kubectl_kres.capsule.reports.common.claim_state import WAITING
from kubectl_kres.capsule.reports.common.needs import pooled_needs
from kubectl_kres.capsule.reports.explain_claim_or_pool import ClaimExplanation, PoolOption, explain_claim
from kubectl_kres.capsule.reports.pool.pool_report import PoolReport
from kubectl_kres.capsule.reports.pool.pools import pool_report
from kubectl_kres.capsule.screens.claim_list import pool_place, short
from kubectl_kres.capsule.screens.items import condition_item, option_items, pool_pictures, turn_item
from kubectl_kres.capsule.screens.pool_data import get_pool_index
from kubectl_kres.capsule.text.claim import VERBS, permission_lines, state_lines, status_lines
from kubectl_kres.capsule.text.claim_or_pool import claim_page, option_text
from kubectl_kres.capsule.text.claims import TONES, short_words
from kubectl_kres.capsule.text.pool_queue import queue_lines
from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.render.text.line import Line, Tone, tone_lines, wrap_text
from kubectl_kres.render.text.remarks import last_edit_texts
from kubectl_kres.render.text.sentences import sentence_text
from kubectl_kres.reports.common.explanation import FailedRead
from kubectl_kres.reports.pod.manifest_source import missing_error
from kubectl_kres.store.store import ReadRequest
from kubectl_kres.tui.location import Location
from kubectl_kres.tui.rbac_hints import gap_lines
from kubectl_kres.tui.screens.outline import OutlinePane
from kubectl_kres.tui.widgets.items import OutlineItem, Sections, text_item, warning_item
from kubectl_kres.tui.widgets.lines import Make


class ClaimPane(OutlinePane):
    """Everything shown comes from the report of ``explain claim/x``."""

    HEAD = "CLAIM"
    answer: ClaimExplanation | None
    runbook = "claim-waits"

    def answer_reads(self) -> Iterable[ReadRequest]:
        return pooled_needs(self.session.store, self.subject)

    def compute_answer(self) -> ClaimExplanation:
        claim: Any = self.session.get(self.ref)
        if claim is None:
            raise missing_error(self.session.store, self.subject)
        return explain_claim(get_pool_index(self.session), claim)

    @property
    def word(self) -> str:
        return "claim"

    @property
    def report(self) -> ClaimReport:
        assert self.answer is not None
        return self.answer.claim

    def owner(self) -> Location | None:
        return pool_place(self.report.pool or self.report.wanted_pool) if self.answer is not None else None

    def head(self, width: int) -> Iterator[Line]:
        report = self.report
        yield from state_lines(report, width)
        if lacks := short(report):
            yield from tone_lines(
                "", wrap_text(f"short by {lacks}" if report.missing_amounts else lacks, width, rest="  ")
            )
        yield from self.first_fix_lines(width)
        if report.reason != lacks:
            yield from tone_lines("", wrap_text(report.reason, width, first="  ", rest="    "))
        yield from status_lines(report, width)

    def rows(self) -> Iterator[OutlineItem]:
        assert self.answer is not None
        claim_explanation, report, sections = self.answer, self.report, Sections()
        yield from sections.section("queue, up to its place", self._queue(claim_explanation))
        yield from sections.section("asks for", _amounts(report), ("ASKS", "FREE", "SHORT BY"))
        yield from sections.section("what would unblock it", option_items(report))
        yield from sections.section("warnings", map(warning_item, report.notes))
        yield from sections.section(
            "pools of its namespace", map(_option, claim_explanation.options), detail=claim_explanation.chosen
        )
        yield from sections.section("may it be", map(_permission_row, report.allowed_actions))
        quota = report.quota
        if quota is not None:
            title = f"quota {quota.subject.name}"
            yield from sections.section(title, _quota(report), ("USED", "HARD", "CLAIMS"))
        yield from sections.section("conditions", map(condition_item, claim_explanation.conditions), ("STATUS",))
        yield from sections.section("last changed", map(text_item, last_edit_texts(report.edits)))
        yield from sections.section("not visible", map(self._unseen_row, () if self.is_late else report.unread))

    def _queue(self, claim_explanation: ClaimExplanation) -> Iterator[OutlineItem]:
        """Return who takes part before it; those that only keep what they hold are one line."""
        kept = [
            queue_turn
            for queue_turn in claim_explanation.turns
            if queue_turn.result == "kept" and not queue_turn.is_subject
        ]
        if kept:
            yield OutlineItem((), f"{len(kept)} hold something", note="enter: the pool", location=self.owner())
        index, report_waits = 0, self.report.is_waiting
        for queue_turn in claim_explanation.turns:
            index += queue_turn.result != "kept"
            if queue_turn.result != "kept" or queue_turn.is_subject:
                item = turn_item(queue_turn, index if queue_turn.result != "kept" else 0)
                yield (
                    replace(item, about=partial(self._queue_lines, item), mark="x" * report_waits)
                    if queue_turn.is_subject
                    else item
                )
        if not claim_explanation.turns and self.report.state in WAITING:
            text = "the pool, or the claims of others, could not be read"
            yield OutlineItem((), "not visible", note="still being read" if self.is_late else text, tone="warn")

    def _queue_lines(self, item: OutlineItem, width: int) -> Iterator[Line]:
        """Yield the queue as a picture, with who gets in after each remedy, and what is compared at its own turn."""
        if (pool := self._pool_report()) is not None:
            yield from queue_lines(pool, self.report.fixes, width, ascii_only=self.session.setting.ascii_only)
        if item.about is not None:
            yield from item.about(width)

    def pictures(self) -> Iterator[Make]:
        """Yield the queue of its pool, and who holds what of it."""
        if self.answer is not None and (pool := self._pool_report()) is not None:
            yield from pool_pictures(pool, self.report.fixes, ascii_only=self.session.setting.ascii_only)

    def _pool_report(self) -> PoolReport | None:
        """Return the report of its pool; None where it has none, or that was not read."""
        name = self.report.pool or self.report.wanted_pool
        pool: Any = self.session.store.get("ResourcePool", name) if name else None
        return pool_report(get_pool_index(self.session), pool) if pool is not None else None

    def opens_on(self) -> OutlineItem | None:
        """Its own turn in the queue, whose pane has the picture; else the first fix, whose pane has the command."""
        own_item = next((item for item in self._rows if item.tone == "strong" and not item.is_section), None)
        return own_item or next((item for item in self._rows if item.remedy), None) or super().opens_on()

    def _unseen_row(self, failed_read: FailedRead) -> OutlineItem:
        read = ReadRequest(failed_read.kind, failed_read.namespace, failed_read.name, required=failed_read.required)
        tone: Tone = "bad" if failed_read.required else "quiet"
        note = sentence_text(failed_read.message) or failed_read.state
        return OutlineItem((), failed_read.kind, note=note, mark="?", tone=tone,
                    about=lambda width: gap_lines(self.session, (read,), width))  # fmt: skip

    def text(self, width: int) -> Iterable[Line]:
        assert self.answer is not None
        return claim_page(self.answer, steps=self.steps, width=width)

    def status(self) -> Line:
        if self.answer is None:
            return [("warn", "not known")]
        state = self.report.state
        count = 0 if self.is_late else len(self.report.unread)
        return [(TONES[state], state), ("quiet", f"  {count} read{'s' * (count != 1)} not visible" if count else "")]

    def hints(self) -> tuple[str, ...]:
        return ("open", "copy", "owner", "pane", "explain", "up", "help")


def _amounts(report: ClaimReport) -> Iterator[OutlineItem]:
    """Yield each resource; of a claim that has what it asks for, just that."""
    amounts_by_name = {amount.name: amount for amount in report.amounts}
    for name, asked in report.requested.items():
        amount = amounts_by_name.get(name)
        if amount is None:
            yield OutlineItem((), name, (asked,))
            continue
        bad = amount.short_by is not None or not amount.offered
        tone: Tone = "bad" if bad else "warn" if amount.closed_by_amount is not None else ""
        left = amount.available or ("-" if amount.offered else "none")
        closed = (
            f"blocked by earlier claims for {amount.closed_by_amount}" if amount.closed_by_amount is not None else ""
        )
        yield OutlineItem(
            (),
            name,
            (amount.requested, left, amount.short_by or "-"),
            closed,
            "x" if bad else "!" if tone else "",
            tone,
            partial(_amount_lines, amount),
        )


def _amount_lines(amount: Amount, width: int) -> Iterator[Line]:
    text = short_words(amount) or f"{amount.name}: there is room for {amount.requested}"
    yield from tone_lines("", wrap_text(text, width, rest="  "))


def _option(pool_option: PoolOption) -> OutlineItem:
    words = (
        "has room"
        if not (pool_option.missing_resources or pool_option.short_resources)
        else "has not all of it"
        if pool_option.missing_resources
        else "has too little free"
    )
    text = option_text(pool_option)
    ref, label = ObjectRef("ResourcePool", pool_option.pool), f"{pool_option.pool}{' (named)' * pool_option.named}"
    return OutlineItem((), label, note=words, location=pool_place(pool_option.pool), ref=ref,
                about=lambda width: tone_lines("", wrap_text(text, width, rest="  ")))  # fmt: skip


def _permission_row(value: VerbEffect) -> OutlineItem:
    return OutlineItem(
        (),
        VERBS[value.verb],
        ("yes" if value.allowed else "no",),
        value.effect or value.message,
        tone="" if value.allowed else "warn",
        about=lambda width: list(permission_lines([value], width))[1:],
    )


def _quota(report: ClaimReport) -> Iterator[OutlineItem]:
    quota = report.quota
    assert quota is not None
    location = Location("quota", ref=quota.subject)
    if quota.missing or not quota.lines:
        text = "it is not there" if quota.missing else "it is empty: it limits nothing"
        yield OutlineItem((), text, mark="!", tone="warn", ref=quota.subject)
    for line in quota.lines:
        default = f"+ default {line.default}" if line.default is not None else ""
        yield OutlineItem(
            (),
            line.name,
            (line.used or "-", line.hard, line.claimed or "-"),
            default,
            location=location,
            ref=quota.subject,
        )
