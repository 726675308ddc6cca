"""Who uses what a pool shares out: namespaces, the quotas that it keeps, workloads, pods, single values.

Who uses what the quotas in a Tenant's namespaces allow.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from msgspec.structs import replace

from kubectl_kres.capsule.model import ResourcePool
from kubectl_kres.capsule.reports.common.needs import is_whole, unseen_of_pool
from kubectl_kres.capsule.reports.explain.explain_tenant import TenantUsers, tenant_users, users_needs
from kubectl_kres.capsule.reports.pool.pool_report import PoolReport, pool_tree, tree_needs
from kubectl_kres.capsule.reports.pool.pools import pool_report
from kubectl_kres.capsule.screens.pool_data import scene_of
from kubectl_kres.capsule.text.claim_or_pool import users_head, users_page
from kubectl_kres.capsule.text.pools import pool_lines
from kubectl_kres.render.text.line import Line, Tone, tone_lines, wrap_text
from kubectl_kres.reports.common.explanation import find_unread
from kubectl_kres.reports.pod.manifest_source import missing_error
from kubectl_kres.reports.quota.usage_tree import setter_needs
from kubectl_kres.store.store import ReadRequest
from kubectl_kres.tui.screens.users import UsersPane


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
        context, store = scene_of(self.session), self.session.store
        reads = tree_needs(store, self.ref.name, self.session.server)
        failed_reads = tuple(dict.fromkeys((*unseen_of_pool(context, pool), *find_unread(store, reads))))
        tree = pool_tree(context, pool, self.session.evaluation_options)
        return replace(pool_report(context, pool), tree=tree, unseen=failed_reads, complete=is_whole(failed_reads))

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
