"""Who uses what the quotas in a Tenant's namespaces allow."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from kubectl_kres.capsule.reports.explain.tenant_users import TenantUsers, tenant_users, users_needs
from kubectl_kres.capsule.text.tenant import users_head, users_page
from kubectl_kres.render.text.line import Line
from kubectl_kres.store.coverage import Need
from kubectl_kres.tui.screens.users import UsersPane


class TenantUsersPane(UsersPane):
    """Everything shown comes from the report of ``explain tenant/NAME --by value``."""

    found: TenantUsers | None

    def wanted(self) -> Iterator[Need]:
        return users_needs(self.session.store, self.subject, self.session.server)

    def ask(self) -> TenantUsers:
        return tenant_users(self.session.store, self.subject, self.session.ask)

    def names(self) -> Sequence[str]:
        assert self.found is not None
        return self.found.names

    def head(self, width: int) -> Iterable[Line]:
        assert self.found is not None
        return users_head(self.found, width)

    def text_lines(self, tab: str, width: int) -> Iterable[Line]:
        del tab
        assert self.found is not None
        return users_page(self.found, width)

    @property
    def word(self) -> str:
        return "tenant"

    def command(self) -> str:
        return self.session.command(f"explain tenant/{self.ref.name} --by value")
