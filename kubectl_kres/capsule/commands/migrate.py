"""``kubectl kres migrate``: pools and claims in the place of a Tenant's quotas."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from kubectl_kres.capsule.reports.migration import (
    Migration,
    Verification,
    migration,
    migration_needs,
    tenant_needs,
    tenant_of,
    verification,
)
from kubectl_kres.cli.args.options import ALLOW_PARTIAL, DEMO, HEADROOM, SERVER, SNAPSHOT, VERIFY, Options
from kubectl_kres.cli.command import Command
from kubectl_kres.cli.output.exit_codes import print_stderr
from kubectl_kres.cli.run_loop import ObjectAnswer, Page, Query, RunContext, RunSummary, build_runner
from kubectl_kres.cli.source.object_source import Input, ObjectSource
from kubectl_kres.errors import UsageError
from kubectl_kres.render.text.data import to_yaml
from kubectl_kres.render.text.line import sanitize_text
from kubectl_kres.reports.changes.given_steps import plugin_needs

_MOST = 1000


def plan(options: Options, words: tuple[str, ...]) -> Query:
    """One Tenant."""
    if len(words) != 1:
        raise UsageError("migrate takes one Tenant, as tenant/oil")
    head, slash, name = words[0].rpartition("/")
    if slash and head not in {"tenant", "tenants", "tnt"}:
        raise UsageError(f'"{words[0]}" is no Tenant', hint="name one, as: kubectl kres migrate tenant/oil")
    headroom = options.headroom or "0"
    if not (headroom.isascii() and headroom.isdecimal()) or int(headroom) > _MOST:
        raise UsageError(f'invalid argument "{headroom}" for "--headroom" flag: a percentage from 0 to {_MOST}')
    return Query(partial(MigratePage, options, name, int(headroom)), words)


class MigratePage(Page):
    """The migration, or what is still open of it."""

    kind = "Migration"

    def __init__(self, options: Options, name: str, headroom: int) -> None:
        super().__init__(options)
        self._name, self._headroom = name, headroom

    def run(
        self, request_context: RunContext, source: ObjectSource, inputs: Input, run_summary: RunSummary
    ) -> Iterator[ObjectAnswer]:
        """One answer. Problems that the simulation found go to stderr, and the run ends with 1."""
        del inputs
        source.fill(tenant_needs(self._name))
        tenant = tenant_of(source.store, self._name)
        source.fill(migration_needs(tenant))
        for _ in range(3):
            # Policies are known once their bindings are read, their parameters after these.
            source.fill(plugin_needs(source.store, tenant.status.namespaces or ()))
        server, _ = request_context.server_of(source.version())
        if self.options.verify:
            checked = verification(source.store, tenant)
            run_summary.add_answer((), complete=True, negative=bool(checked.open))
            yield ObjectAnswer(None, checked, partial(_verification_lines, checked))
            return
        result = migration(source.store, tenant, self._headroom, server)
        for problem in result.problems:
            print_stderr(f"Warning: {problem}")
        if result.stalling:
            names = ", ".join(f"{ref.namespace}/{ref}" for ref in result.stalling)
            print_stderr(f"Note: the next rollout would stall with what is claimed (--headroom leaves room): {names}")
        run_summary.add_answer((), complete=True, negative=bool(result.problems))
        yield ObjectAnswer(None, result, partial(_script, result))


def _script(migration: Migration) -> Iterator[str]:
    """YAML in the order in which it is applied, with the commands as comments."""
    yield sanitize_text(
        f"# Pools and claims for the quotas of {migration.tenant}, scope {migration.scope}. Apply all of it at once:"
    )
    yield "# kubectl apply -f FILE (claims stand before their pools: nobody is refused meanwhile)"
    for raw in migration.objects:
        yield "---"
        yield from sanitize_text(to_yaml(dict(raw)), keep_newlines=True).rstrip("\n").split("\n")
    yield "---"
    if migration.idle:
        yield sanitize_text(
            f"# Without a claim, since they use nothing; they claim before they use: {', '.join(migration.idle)}"
        )
    yield "# Once kubectl kres claims shows all of them allocated, the Tenant lets its quotas go:"
    yield sanitize_text(f"#   {migration.patch}")
    yield sanitize_text(f"# Then check: kubectl kres migrate tenant/{migration.tenant.name} --verify")
    yield "# The way back:"
    yield from (sanitize_text(f"#   {command}") for command in migration.back)


def _verification_lines(checked: Verification) -> Iterator[str]:
    if not checked.open:
        yield sanitize_text(f"{checked.tenant} is migrated: its quotas are gone, and every namespace holds its claims")
    yield from (sanitize_text(f"open: {text}") for text in checked.open)


command = Command(
    "migrate",
    build_runner(plan),
    text="""
        Write the pools and claims that take the place of a Capsule Tenant's resourceQuotas, sized from what its
        namespaces use now, with the patch of the Tenant and the way back. The migration is played before it is
        printed: what it would break goes to stderr, and it exits with 1. Nothing is written to the cluster.
        """,
    examples="""
        # The objects, with a fifth more than is used
        kubectl kres migrate tenant/oil --headroom 20

        # Afterwards: is anything left to do?
        kubectl kres migrate tenant/oil --verify
        """,
    usage="tenant/NAME",
    flags=(HEADROOM, VERIFY, SNAPSHOT, DEMO, ALLOW_PARTIAL, *SERVER),
    completes="tenants",
)
