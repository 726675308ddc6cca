"""``kubectl kres explain`` for ``claim/x``, ``pool/x`` and ``tenant/x``, the last one also ``--by value``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial

from kubectl_kres.admission.base.server import Server
from kubectl_kres.capsule.commands.select_pools import CLAIM, POOL, claims, pools
from kubectl_kres.capsule.reports import explain_claim_or_pool
from kubectl_kres.capsule.reports.common.needs import is_whole, pooled_needs
from kubectl_kres.capsule.reports.explain_tenant import (
    TenantExplanation,
    TenantUsers,
    explain_tenant,
    tenant_needs,
    tenant_users,
    users_needs,
)
from kubectl_kres.capsule.text import claim_or_pool as render
from kubectl_kres.capsule.text.tenant import tenant_brief, tenant_lines, tenant_row, users_lines
from kubectl_kres.cli.args.flags import explain_command, same_source
from kubectl_kres.cli.args.options import Options
from kubectl_kres.cli.explainer import Explainer, refuse_pod_flags
from kubectl_kres.cli.output.printer import speaks_unicode
from kubectl_kres.cli.run_loop import AnswerBatch, Choose, ObjectAnswer, Page, Query, RunSummary
from kubectl_kres.cli.select.workloads import select_subjects
from kubectl_kres.errors import KresError
from kubectl_kres.model.kinds import BY_KIND, Kind, find
from kubectl_kres.reports.common.explanation import Subject, Verdict
from kubectl_kres.store.store import ReadRequest, Store


class ClaimOrPoolExplainer(Explainer):
    """The explainer of claims, pools and Tenants. All claims and pools of a store share one computation."""

    judges_files = False

    def __init__(self, page: Page) -> None:
        super().__init__(page)
        self._last_batch: tuple[AnswerBatch, explain_claim_or_pool.Explaining] | None = None

    @classmethod
    def reads(cls, store: Store, subject: Subject) -> tuple[ReadRequest, ...]:
        """Return the reads of a pool and its other claims, or of the quotas in the namespaces of a Tenant."""
        if subject.ref.kind == "Tenant":
            return tenant_needs(store, subject)
        return pooled_needs(store, subject)

    @classmethod
    def choose(cls, options: Options, words: Sequence[str]) -> Choose | None:
        """All pools, or all claims, together, since each explains the others; and pools by name, of which some may not
        be read.
        """
        return _choose_subjects(options, words)

    @classmethod
    def plan_by_value(cls, options: Options, words: Sequence[str]) -> Query | None:
        """Of Tenants who uses what; of pools the command of that name says it."""
        if find(words[0].partition("/")[0]) != BY_KIND["Tenant"]:
            return None

        return query(options, words)

    def reports(
        self, batch: AnswerBatch, subject: Subject, run_summary: RunSummary
    ) -> Iterator[tuple[ObjectAnswer, Verdict | None]]:
        """Yield the explanation of one object; claims and pools have no verdict to count."""
        refuse_pod_flags(self.page.options, subject.ref)
        if subject.ref.kind == "Tenant":
            yield from self._tenant(batch, subject, run_summary)
            return
        try:
            result = self._find_explaining(batch, run_summary).explain(subject)
        except KresError as error:
            run_summary.add_error(error)
            return
        draw_whole: Callable[[], Iterable[str]] = partial(
            _lines, self.page, result, now=batch.options.now, many=batch.many
        )
        if self.page.options.output == "brief":
            more = explain_command(self.page.options, subject.ref, subject.file)
            draw_whole = self.page.brief(render.brief(result, more))
        row = render.row_of(result) if self._in_table(batch) else None
        yield ObjectAnswer(subject, result, draw_whole, row=row), None
        failed_reads = explain_claim_or_pool.unseen_in(result)
        run_summary.add_answer(
            failed_reads,
            complete=is_whole(failed_reads),
            negative=self.page.options.exit_code and explain_claim_or_pool.negative(result),
        )

    def _tenant(
        self, batch: AnswerBatch, subject: Subject, run_summary: RunSummary
    ) -> Iterator[tuple[ObjectAnswer, Verdict | None]]:
        try:
            tenant_explanation = explain_tenant(batch.store, subject)
        except KresError as error:
            run_summary.add_error(error)
            return
        draw_whole: Callable[[], Iterable[str]] = partial(_tenant_lines, self.page, tenant_explanation)
        if self.page.options.output == "brief":
            draw_whole = self.page.brief(
                tenant_brief(tenant_explanation, explain_command(self.page.options, subject.ref, subject.file))
            )
        row = tenant_row(tenant_explanation) if self._in_table(batch) else None
        yield ObjectAnswer(subject, tenant_explanation, draw_whole, row=row), None
        run_summary.add_answer(
            tenant_explanation.unread,
            complete=tenant_explanation.complete,
            negative=self.page.options.exit_code and tenant_explanation.is_exceeded,
        )

    def _in_table(self, batch: AnswerBatch) -> bool:
        """Return whether the object is a row of the table."""
        options = self.page.options
        return batch.many and not options.steps and options.output in {"text", "wide"}

    def _find_explaining(self, batch: AnswerBatch, run_summary: RunSummary) -> explain_claim_or_pool.Explaining:
        """For all objects of a turn; what is assumed is noted."""
        if self._last_batch is None or self._last_batch[0] is not batch:
            explaining = explain_claim_or_pool.Explaining(batch.store)
            run_summary.note_assumption(explaining.assumptions)
            self._last_batch = batch, explaining
        return self._last_batch[1]


def _tenant_lines(page: Page, value: TenantExplanation) -> Iterator[str]:
    if page.options.whole or page.options.output == "wide":
        return tenant_lines(value, color=page.color, width=page.width)
    from kubectl_kres.capsule.text import page as short

    return short.tenant_lines(value, same_source(page.options), color=page.color, width=page.width)


def _lines(
    page: Page,
    value: explain_claim_or_pool.ClaimExplanation | explain_claim_or_pool.PoolExplanation,
    *,
    now: str,
    many: bool,
) -> Iterator[str]:
    steps, color, columns = page.options.steps, page.color, page.width
    if not (steps or page.options.whole or page.options.output == "wide"):
        from kubectl_kres.capsule.text import page as short

        plain = not speaks_unicode()
        source = same_source(page.options)
        if isinstance(value, explain_claim_or_pool.ClaimExplanation):
            yield from short.claim_lines(value.claim, source, now=now, color=color, width=columns)
        else:
            yield from short.pool_lines(value.pool, now=now, ascii_only=plain, color=color, width=columns)
    elif isinstance(value, explain_claim_or_pool.ClaimExplanation):
        yield from render.claim_lines(value, steps=steps, now=now, color=color, width=columns)
    else:
        plain = not speaks_unicode()
        yield from render.explain_pool_lines(value, steps=steps, now=now, ascii_only=plain, color=color, width=columns)
    yield from [""] * many


def _choose_subjects(options: Options, words: Sequence[str]) -> Choose | None:
    if options.filenames:
        return None
    if words and all(find(head) == POOL and name for head, _, name in (word.partition("/") for word in words)):
        return pools
    kind = find(words[0]) if len(words) == 1 and "/" not in words[0] else None
    if kind not in {POOL, CLAIM}:
        return None
    choose = pools if kind == POOL else claims
    return lambda source, inputs, options, _, program: choose(source, inputs, options, (), program)


def query(options: Options, words: Sequence[str]) -> Query:
    """Return the query about Tenants, which reads what counts in their namespaces."""
    choose = partial(select_subjects, find_reads=_list_read_requests, takes=_is_tenant)
    return Query(partial(TenantUsersPage, options), tuple(words), choose, needed=True)


def _list_read_requests(store: Store, subject: Subject) -> tuple[ReadRequest, ...]:
    return tuple(users_needs(store, subject, Server()))


def _is_tenant(kind: Kind) -> bool:
    return kind.kind == "Tenant"


class TenantUsersPage(Page):
    """The page with a tree for each Tenant."""

    kind = "TenantUsers"

    def reports(self, batch: AnswerBatch, run_summary: RunSummary) -> Iterator[ObjectAnswer]:
        """Yield the Tenants of a batch; for a Tenant without an answer the error is added."""
        for subject in batch.selection.subjects:
            try:
                result = tenant_users(batch.store, subject, batch.options)
            except KresError as error:
                run_summary.add_error(error)
                continue
            yield ObjectAnswer(subject, result, partial(self._lines, result))
            run_summary.add_answer(result.unread, complete=result.complete, negative=False)

    def _lines(self, users: TenantUsers) -> Iterator[str]:
        yield from users_lines(users, color=self.color, width=self.width)
