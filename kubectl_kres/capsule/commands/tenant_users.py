"""``kubectl kres explain tenant/x --by value``: who uses what the quotas in its namespaces allow."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from kubectl_kres.admission.base.server import Server
from kubectl_kres.capsule.reports.explain.tenant_users import TenantUsers, tenant_users, users_needs
from kubectl_kres.capsule.text.tenant import users_lines
from kubectl_kres.cli.args.options import Options
from kubectl_kres.cli.run.run_loop import Answered, AnswerTurn, Page, Query
from kubectl_kres.cli.run.run_result import Tally
from kubectl_kres.cli.select.workloads import chosen
from kubectl_kres.errors import KresError
from kubectl_kres.model.kinds import Kind
from kubectl_kres.reports.common.subject import Subject
from kubectl_kres.store.coverage import Need
from kubectl_kres.store.store import Store


def query(options: Options, words: Sequence[str]) -> Query:
    """Of Tenants alone, each with all that counts in its namespaces."""
    choose = partial(chosen, wants=_wants, takes=_is_tenant)
    return Query(partial(TenantUsersPage, options), tuple(words), choose, needed=True)


def _wants(store: Store, subject: Subject) -> tuple[Need, ...]:
    return tuple(users_needs(store, subject, Server()))


def _is_tenant(kind: Kind) -> bool:
    return kind.kind == "Tenant"


class TenantUsersPage(Page):
    """A tree for each Tenant."""

    kind = "TenantUsers"

    def reports(self, turn: AnswerTurn, tally: Tally) -> Iterator[Answered]:
        """The Tenants of a turn; one that cannot be had is missed."""
        for subject in turn.found.subjects:
            try:
                result = tenant_users(turn.store, subject, turn.ask)
            except KresError as error:
                tally.missed(error)
                continue
            yield Answered(subject, result, partial(self._lines, result))
            tally.answered(result.unseen, complete=result.complete, negative=False)

    def _lines(self, users: TenantUsers) -> Iterator[str]:
        yield from users_lines(users, color=self.color, width=self.width)
