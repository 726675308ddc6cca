"""A pool on screen: what it shares out, among whom, down to single values, who waits, and what would unblock the first
one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Any

from msgspec.structs import replace

from kubectl_kres.capsule.model import ResourcePool
from kubectl_kres.capsule.reports.claim.claim_detail import claim_detail
from kubectl_kres.capsule.reports.claim.claims import ClaimReport, Claims
from kubectl_kres.capsule.reports.common.needs import is_whole, pooled_needs, unseen_of_pool
from kubectl_kres.capsule.reports.explain_claim_or_pool import PoolExplanation, explain_pool
from kubectl_kres.capsule.reports.explain_tenant import TenantUsers, tenant_users, users_needs
from kubectl_kres.capsule.reports.pool.pool_report import (
    Holder,
    PoolNamespace,
    PoolReport,
    PoolUse,
    Queued,
    pool_tree,
    tree_needs,
)
from kubectl_kres.capsule.reports.pool.pools import pool_report
from kubectl_kres.capsule.screens.claim_list import brief_words
from kubectl_kres.capsule.screens.items import condition_item, option_items, pool_pictures
from kubectl_kres.capsule.screens.pool_data import get_pool_index
from kubectl_kres.capsule.screens.pool_list import use_bar
from kubectl_kres.capsule.text.claim_or_pool import pool_page
from kubectl_kres.capsule.text.claims import TONES, amounts_words
from kubectl_kres.capsule.text.pool_queue import pool_rooms, queue_lines
from kubectl_kres.capsule.text.pools import pool_lines
from kubectl_kres.capsule.text.tenant import users_head, users_page
from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.render.pictures.holders import assign_letters, holders_lines, named_bar
from kubectl_kres.render.text.line import Line, Tone, age_text, clip_text, tone_lines, wrap_text
from kubectl_kres.render.text.remarks import last_edit_texts
from kubectl_kres.render.text.sentences import sentence_text
from kubectl_kres.reports.common.explanation import LastEdit, find_unread
from kubectl_kres.reports.common.resource_lists import NEARLY_FULL
from kubectl_kres.reports.pod.manifest_source import missing_error
from kubectl_kres.reports.quota.usage_tree import setter_needs
from kubectl_kres.store.store import ReadRequest
from kubectl_kres.tui.location import Location
from kubectl_kres.tui.screens.outline import OutlinePane
from kubectl_kres.tui.screens.users import UsersPane
from kubectl_kres.tui.widgets.items import OutlineItem, Sections, text_item, warning_item
from kubectl_kres.tui.widgets.lines import Make


class PoolUsersPane(UsersPane):
    """Everything shown comes from the report of ``pools NAME --by value``."""

    answer: PoolReport | None

    def answer_reads(self) -> Iterator[ReadRequest]:
        store = self.session.store
        yield from tree_needs(store, self.ref.name, self.session.server)
        pool: ResourcePool | None = self.session.get(self.ref)
        for space in sorted(pool.status.namespaces or ()) if pool is not None else ():
            yield from setter_needs(store, space)

    def compute_answer(self) -> PoolReport:
        pool: Any = self.session.get(self.ref)
        if pool is None:
            raise missing_error(self.session.store, self.subject)
        context, store = get_pool_index(self.session), self.session.store
        reads = tree_needs(store, self.ref.name, self.session.server)
        failed_reads = tuple(dict.fromkeys((*unseen_of_pool(context, pool), *find_unread(store, reads))))
        tree = pool_tree(context, pool, self.session.evaluation_options)
        return replace(pool_report(context, pool), tree=tree, unread=failed_reads, complete=is_whole(failed_reads))

    def names(self) -> Sequence[str]:
        assert self.answer is not None
        return [
            use.name for use in sorted(self.answer.uses, key=lambda use: (not use.is_exceeded, -(use.percent or 0)))
        ]

    def head(self, width: int) -> Iterable[Line]:
        assert self.answer is not None
        for use in sorted(self.answer.uses, key=lambda use: self._names.index(use.name)):
            used = f"pods use {use.used} of it" if use.used is not None else "what pods use is not known"
            text = f"{use.name}: {use.claimed} of {use.hard} claimed, {used}"
            tone: Tone = "bad" if use.is_exceeded else ""
            yield from tone_lines(tone, wrap_text(text, width, rest="  "))

    def text_lines(self, tab: str, width: int) -> Iterable[Line]:
        del tab
        assert self.answer is not None
        return pool_lines(self.answer, whole=True, ascii_only=self.session.setting.ascii_only, width=width)

    @property
    def word(self) -> str:
        return "pool"

    def command(self) -> str:
        return self.session.command(f"pools {self.ref.name} --by value")


class TenantUsersPane(UsersPane):
    """Everything shown comes from the report of ``explain tenant/NAME --by value``."""

    answer: TenantUsers | None

    def answer_reads(self) -> Iterator[ReadRequest]:
        return users_needs(self.session.store, self.subject, self.session.server)

    def compute_answer(self) -> TenantUsers:
        return tenant_users(self.session.store, self.subject, self.session.evaluation_options)

    def names(self) -> Sequence[str]:
        assert self.answer is not None
        return self.answer.names

    def head(self, width: int) -> Iterable[Line]:
        assert self.answer is not None
        return users_head(self.answer, width)

    def text_lines(self, tab: str, width: int) -> Iterable[Line]:
        del tab
        assert self.answer is not None
        return users_page(self.answer, width)

    @property
    def word(self) -> str:
        return "tenant"

    def command(self) -> str:
        return self.session.command(f"explain tenant/{self.ref.name} --by value")


#: Cells of a bar in the outline, and of a picture of which is only asked whether it is empty.
_BAR, _MEASURED = 36, 80


class PoolPane(OutlinePane):
    """Everything shown comes from the report of ``explain pool/x``, and of the claim that waits first."""

    HEAD = "POOL"
    answer: PoolExplanation | None
    runbook = "claim-waits"
    #: An answer, and the claim that waits first in it.
    _first_claim: tuple[PoolExplanation | None, ClaimReport | None] = (None, None)

    def answer_reads(self) -> Iterable[ReadRequest]:
        return pooled_needs(self.session.store, self.subject)

    def compute_answer(self) -> PoolExplanation:
        pool: Any = self.session.get(self.ref)
        if pool is None:
            raise missing_error(self.session.store, self.subject)
        return explain_pool(get_pool_index(self.session), pool)

    @property
    def word(self) -> str:
        return "pool"

    @property
    def report(self) -> PoolReport:
        assert self.answer is not None
        return self.answer.pool

    def head(self, width: int) -> Iterator[Line]:
        report = self.report
        spaces, number = len(report.namespaces), report.claims
        unread = "claims are still being read" if self.is_late else "claims could not be read"
        waiting = unread if report.queue is None else f"{len(report.queue) or 'none'} wait"
        text = f"pool {report.subject.name}: {waiting}, {number or 'no'} claims allocated, {spaces} namespaces"
        tone: Tone = "bad" if report.ready is False else "warn" if report.exhausted else "good"
        yield [(tone, clip_text(text, width))]
        if report.queue:
            first = report.queue[0]
            state = f"is short by {brief_words(first.short_by)}" if first.short_by else f"is {first.state}"
            yield from tone_lines("", wrap_text(f"{first.subject.key} {state}", width, rest="  "))
        yield from self.first_fix_lines(width)
        if report.message not in {"", "reconciled"}:
            yield from tone_lines(
                "quiet", wrap_text(f"the controller says: {report.message}", width, first="  ", rest="    ")
            )
        for option in report.options:
            yield from tone_lines("quiet", wrap_text(option, width, first="  ", rest="    "))

    def rows(self) -> Iterator[OutlineItem]:
        assert self.answer is not None
        pool_explanation, report, sections = self.answer, self.report, Sections()
        first = self._first_waiting_claim()
        yield from sections.section("shares out", map(self._use_row, report.uses), ("CLAIMED", "HARD", "FREE"))
        yield from sections.section("who holds it", self._holder_rows())
        order = "in order" if report.ordered else "any claim that fits is served"
        yield from sections.section("queue", self._queue(first), ("AGE",), order)
        if first is not None:
            name = f"{first.subject.namespace}/{first.subject.name}"
            yield from sections.section("lets the first one in", option_items(first), detail=name)
        yield from sections.section("warnings", map(warning_item, report.warnings))
        yield from sections.section("namespaces", map(_namespace, report.namespaces), ("HOLD",))
        yield from sections.section("claims that hold something", map(_holder, report.holders))
        yield from sections.section("selectors", map(text_item, report.selectors))
        yield from sections.section("counts", map(text_item, report.scopes))
        yield from sections.section("options", map(text_item, report.options))
        yield from sections.section("conditions", map(condition_item, pool_explanation.conditions), ("STATUS",))
        yield from sections.section("can it be changed", map(text_item, pool_explanation.bounds))
        yield from sections.section(
            "if it is deleted, which is never refused", map(text_item, pool_explanation.deletion_effects)
        )
        yield from sections.section("last changed", map(text_item, last_edit_texts(report.edits)))

    def _first_waiting_claim(self) -> ClaimReport | None:
        """Return the claim that waits first, with what would unblock it, which is looked for once an answer."""
        if self._first_claim[0] is not self.answer:
            queue = self.report.queue
            claim: Any = self.session.get(queue[0].subject) if queue else None
            detail = claim_detail(Claims(get_pool_index(self.session)), claim) if claim is not None else None
            self._first_claim = self.answer, detail
        return self._first_claim[1]

    def _use_row(self, use: PoolUse) -> OutlineItem:
        tone: Tone = (
            "bad" if use.is_exceeded else "warn" if (use.percent or 0) >= NEARLY_FULL or use.wanted is not None else ""
        )
        expected = f"  {use.wanted} wanted" if use.wanted is not None else ""
        text = f"{use_bar(use, ascii_only=self.session.setting.ascii_only)}{expected}"
        edit = self.report.edits.get(f"spec.quota.hard[{use.name}]")
        cells, mark = (use.claimed, use.hard, use.available), "x" if use.is_exceeded else "!" if tone else ""
        return OutlineItem((), use.name, cells, text, mark, tone, partial(_use_lines, use, edit))

    def _holder_rows(self) -> Iterator[OutlineItem]:
        """Yield a bar a resource; the pane has the legend."""
        ascii_only = self.session.setting.ascii_only
        rooms = pool_rooms(self.report)
        letters = assign_letters(rooms)
        about = partial(holders_lines, rooms, ascii_only=ascii_only)
        for room in rooms if letters else ():
            drawn = f"{named_bar(room, letters, _BAR, ascii_only=ascii_only)}|"
            drawn += f" {room.wanted} wanted" if room.wanted is not None else ""
            yield OutlineItem((), room.name, note=drawn, tone="warn" if room.wanted is not None else "", about=about)

    def _queue(self, first: ClaimReport | None) -> Iterator[OutlineItem]:
        """Return who waits, behind a line whose pane has the picture: who blocks, who follows, and what remedies
        change.
        """
        queue, now = self.report.queue, self.session.setting.now()
        options, ascii_only = first.fixes if first is not None else (), self.session.setting.ascii_only
        about = partial(queue_lines, self.report, options, ascii_only=ascii_only)
        if any(about(_MEASURED)):
            yield OutlineItem((), "all who wait", note="who blocks, who follows", tone="quiet", about=about)
        if queue is None:
            text = "claims are still being read" if self.is_late else "claims could not be read"
            yield OutlineItem((), "not visible", note=text, tone="warn")
        for queued in queue or ():
            yield _queued_row(queued, age_text(queued.created, now))
        if queue == ():
            yield OutlineItem((), "nobody waits", tone="quiet")

    def pictures(self) -> Iterator[Make]:
        """Yield the queue, and who holds what."""
        if self.answer is not None:
            first = self._first_waiting_claim()
            options = first.fixes if first is not None else ()
            yield from pool_pictures(self.report, options, ascii_only=self.session.setting.ascii_only)

    def text(self, width: int) -> Iterable[Line]:
        assert self.answer is not None
        return pool_page(self.answer, steps=self.steps, ascii_only=self.session.setting.ascii_only, width=width)

    def status(self) -> Line:
        if self.answer is None:
            return [("warn", "not known")]
        number, uses = len(self.report.warnings), len(self.report.uses)
        warned = f"  {number} warning{'s' * (number != 1)}" if number else ""
        return [("", f"{uses} resource{'s' * (uses != 1)}"), ("warn", warned)]


def _use_lines(use: PoolUse, edit: LastEdit | None, width: int) -> Iterator[Line]:
    yield [("strong", use.name), ("", f"  {use.claimed} of {use.hard} claimed, {use.available} free")]
    if use.used is not None:
        yield [("", f"  pods use {use.used}")]
    if use.wanted is not None:
        text = f"claims that do not fit ask for {use.wanted} in sum, and were offered {use.offered or 'nothing'}"
        yield from tone_lines("warn", wrap_text(text, width, first="  ", rest="    "))
    if use.default is not None:
        yield [("", f"  each namespace has {use.default} of it without a claim")]
    if edit is not None:
        yield from tone_lines(
            "quiet", wrap_text(f"hard last changed {_format_editor(edit)}", width, first="  ", rest="    ")
        )


def _format_editor(edit: LastEdit) -> str:
    return f"by {edit.manager}{f' at {edit.time}' if edit.time else ''}"


def _namespace(pool_namespace: PoolNamespace) -> OutlineItem:
    shares = (f"{name} {value}{_percent(pool_namespace, name)}" for name, value in pool_namespace.claimed.items())
    ref = ObjectRef("Namespace", pool_namespace.name)
    mark, tone = _note_sign(has_note=pool_namespace.note is not None)
    return OutlineItem(
        (),
        pool_namespace.name,
        (str(pool_namespace.claims or "-"),),
        ", ".join(shares),
        mark,
        tone,
        partial(_namespace_lines, pool_namespace),
        Location("claims", pool_namespace.name),
        ref=ref,
    )


def _note_sign(*, has_note: bool) -> tuple[str, Tone]:
    """Return the mark of a line that has something odd."""
    return ("!", "warn") if has_note else ("", "")


def _percent(pool_namespace: PoolNamespace, name: str) -> str:
    return f" {pool_namespace.percents[name]}%" if name in pool_namespace.percents else ""


def _namespace_lines(pool_namespace: PoolNamespace, width: int) -> Iterator[Line]:
    yield [
        ("strong", pool_namespace.name),
        (
            "",
            f"  {pool_namespace.claims or 'no'} claim{'s' * (pool_namespace.claims != 1)} allocated; enter lists them",
        ),
    ]
    for name, value in pool_namespace.claimed.items():
        used = (
            f", pods use {pool_namespace.used[name]}"
            if pool_namespace.used is not None and name in pool_namespace.used
            else ""
        )
        yield [("", f"  {name} {value}{_percent(pool_namespace, name)}{used}")]
    for selector in pool_namespace.matched_selectors:
        yield from tone_lines("quiet", wrap_text(f"chosen by {selector}", width, first="  ", rest="    "))
    if pool_namespace.note:
        yield from tone_lines("warn", wrap_text(sentence_text(pool_namespace.note), width, first="  ", rest="    "))


def _queued_row(queued: Queued, waits: str) -> OutlineItem:
    ref = queued.subject
    lacks = f"short by {amounts_words(queued.short_by)}" if queued.short_by else ""
    behind = f"behind for {', '.join(queued.closed_resources)}" if queued.closed_resources else ""
    text = f"{queued.state}: {', '.join(filter(None, (lacks, behind)))}"
    mark = "x" if queued.short_by else "!"
    return OutlineItem((), f"{queued.position}. {ref.namespace}/{ref.name}", (waits,), text, mark,
                TONES[queued.state], partial(_queued_lines, queued), Location("object", ref=ref), ref=ref)  # fmt: skip


def _queued_lines(queued: Queued, width: int) -> Iterator[Line]:
    yield [
        (TONES[queued.state], queued.state),
        ("", f"  {queued.subject.namespace}/{queued.subject.name}, place {queued.position}"),
    ]
    yield from tone_lines("", wrap_text(f"asks for {amounts_words(queued.requested)}", width, first="  ", rest="    "))
    if queued.short_by:
        yield from tone_lines(
            "bad", wrap_text(f"short by {amounts_words(queued.short_by)}", width, first="  ", rest="    ")
        )
    if queued.closed_resources:
        text = (
            f"blocked by an earlier claim in the queue, which asks for the same: {', '.join(queued.closed_resources)}"
        )
        yield from tone_lines("warn", wrap_text(text, width, first="  ", rest="    "))
    yield [("quiet", f"  created {queued.created or 'at a time that is not known'}; enter: what would unblock it")]


def _holder(holder: Holder) -> OutlineItem:
    tone: Tone = TONES[holder.state] if holder.state is not None else "quiet"
    return OutlineItem(
        (),
        f"{holder.subject.namespace}/{holder.subject.name}",
        note=f"{holder.state or '?'}: {amounts_words(holder.holds)}",
        tone=tone,
        location=Location("object", ref=holder.subject),
        ref=holder.subject,
    )
