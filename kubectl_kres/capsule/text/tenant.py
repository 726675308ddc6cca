"""The explanation of a Tenant as text."""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_kres.capsule.reports.explain.explain_tenant import TenantExplanation, TenantItem, TenantUse
from kubectl_kres.capsule.reports.explain.tenant_users import TenantUsers
from kubectl_kres.capsule.text.rules import rule_lines
from kubectl_kres.render.quota.usage_tree import tree_lines
from kubectl_kres.render.text.line import Line, Tone, draw, padded, toned, wrapped
from kubectl_kres.render.text.remarks import remarks
from kubectl_kres.render.verdict.brief import Brief
from kubectl_kres.reports.quota.usage_tree import above


def tenant_lines(tenant_explanation: TenantExplanation, *, color: bool = False, width: int = 80) -> Iterator[str]:
    """Every line."""
    for line in _page(tenant_explanation, width):
        yield draw(line, color=color)


def users_lines(tenant_users: TenantUsers, *, color: bool = False, width: int = 80) -> Iterator[str]:
    """Who uses what its namespaces are allowed: every line."""
    for line in users_page(tenant_users, width):
        yield draw(line, color=color)


def users_page(tenant_users: TenantUsers, width: int) -> Iterator[Line]:
    """The same, not drawn yet."""
    yield from users_head(tenant_users, width)
    yield from tree_lines(tenant_users.tree, tenant_users.names, width)
    yield from remarks((), (), tenant_users.unseen, width)


def users_head(tenant_users: TenantUsers, width: int) -> Iterator[Line]:
    """How many namespaces there are, and what all of them use together."""
    count, limited = len(tenant_users.namespaces), len(tenant_users.tree)
    with_quotas = "" if limited == count else f", {limited or 'none'} with quotas"
    text = f"{tenant_users.tenant}: {count} namespace{'s' * (count != 1)}{with_quotas}"
    yield from toned("strong", wrapped(text, width, rest="  "))
    sums = above(tenant_users.tree, "").usage
    used = ", ".join(f"{name} {sums[name]}" for name in tenant_users.names if name in sums)
    yield from toned("", wrapped(f"in use: {used or 'nothing that quotas count'}", width, rest="  "))


def tenant_summary(tenant_explanation: TenantExplanation, *, color: bool = False) -> str:
    """One line for one of many."""
    tone, word = _word(tenant_explanation)
    return draw(
        [(tone, padded(word, 11)), ("", f"{padded(str(tenant_explanation.tenant), 40)} {_about(tenant_explanation)}")],
        color=color,
    )


def tenant_brief(tenant_explanation: TenantExplanation, more: str) -> Brief:
    """In few words. ``more``: the command that gives the whole answer."""
    tone, word = _word(tenant_explanation)
    return Brief(tone, word, f": {tenant_explanation.tenant}: {_about(tenant_explanation)}", next=more)


def _word(tenant_explanation: TenantExplanation) -> tuple[Tone, str]:
    if not tenant_explanation.items:
        return "", "no quota"
    return ("bad", "over") if tenant_explanation.over else ("good", "ok")


def _about(tenant_explanation: TenantExplanation) -> str:
    count = len(tenant_explanation.namespaces)
    spaces, number = f"{count} namespace{'s' * (count != 1)}", len(tenant_explanation.rules)
    rules = f", {number} rule{'s' * (number != 1)} about pods" if number else ""
    if not tenant_explanation.items:
        return f"{spaces}, no resourceQuotas{rules}"
    over = [
        f"{use.resource} {use.used} of {use.hard}" for item in tenant_explanation.items for use in item.uses if use.over
    ]
    return f"{spaces}, resourceQuotas of scope {tenant_explanation.scope}{rules}" + (
        f"; uses {', '.join(over)}" if over else ""
    )


def _page(tenant_explanation: TenantExplanation, width: int) -> Iterator[Line]:
    tone, _ = _word(tenant_explanation)
    yield [(tone, str(tenant_explanation.tenant)), ("", f": {_about(tenant_explanation)}")]
    for item in tenant_explanation.items:
        yield []
        yield [("strong", f"quota {item.quota} in each namespace")]
        yield from _item_lines(tenant_explanation, item)
    if any(use.excess for item in tenant_explanation.items for use in item.uses):
        yield []
        text = (
            "Capsule lowers these quotas after pods came: what is created at once in several namespaces is admitted. "
            f"Pools share out once: kubectl kres migrate tenant/{tenant_explanation.tenant.name}"
        )
        for line in wrapped(text, width):
            yield [("", line)]
    yield from rule_lines(tenant_explanation.rules, width)
    yield from remarks((), tenant_explanation.assumptions, (), width)
    for unseen in tenant_explanation.unseen:
        yield [("warn", f"not read: ResourceQuotas of {unseen.namespace}")]


def _item_lines(tenant_explanation: TenantExplanation, item: TenantItem) -> Iterator[Line]:
    if item.fault:
        yield [("bad", f"  {item.fault}")]
        return
    size = max((len(space) for space in tenant_explanation.namespaces), default=0)
    for use in item.uses:
        yield [("bad" if use.over else "", f"  {use.resource}: {_sentence(tenant_explanation, use)}")]
        for share in use.namespaces:
            if share.used is None:
                yield [("quiet", f"    {padded(share.namespace, size)}  no such quota")]
                continue
            allowed = f" of {share.hard}" if share.hard is not None else ", not limited there"
            yield [("", f"    {padded(share.namespace, size)}  used {share.used}{allowed}")]


def _sentence(tenant_explanation: TenantExplanation, use: TenantUse) -> str:
    if tenant_explanation.scope != "Tenant":
        return f"{use.hard} for each namespace, {use.used} used over all"
    parts = [f"used {use.used} of {use.hard}"]
    if use.over:
        parts.append(f"{use.over} too much")
    if use.excess:
        parts.append(f"its namespaces may create {use.may} together, {use.excess} too much")
    return "; ".join(parts)
