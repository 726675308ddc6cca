"""Tenants as text: their quotas over all namespaces, who uses them, and their rules about pods."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from shlex import quote

from kubectl_kres.capsule.reports.common.part import RuleSummary
from kubectl_kres.capsule.reports.explain_tenant import (
    ClassList,
    TenantCount,
    TenantExplanation,
    TenantItem,
    TenantUse,
    TenantUsers,
)
from kubectl_kres.render.quota.quota_blocks import tree_lines
from kubectl_kres.render.text.line import (
    Line,
    Tone,
    command_lines,
    draw,
    led_lines,
    pad_text,
    tone_lines,
    wrap_text,
)
from kubectl_kres.render.text.remarks import remarks
from kubectl_kres.render.verdict.brief import Brief
from kubectl_kres.render.verdict.object_list import Row
from kubectl_kres.reports.quota.usage_tree import parent_node
from kubectl_kres.wording import join_some

#: Resources that are named of those of which more is used than there is.
_OVER = 2
#: Why the quotas of a Tenant in its namespaces may allow too much together.
_LATE = "Capsule lowers these quotas after pods came: what is created at once in several namespaces is admitted."


def tenant_lines(tenant_explanation: TenantExplanation, *, color: bool = False, width: int = 80) -> Iterator[str]:
    """Yield every line about a Tenant."""
    for line in _page(tenant_explanation, width):
        yield draw(line, color=color)


def users_lines(tenant_users: TenantUsers, *, color: bool = False, width: int = 80) -> Iterator[str]:
    """Yield every line about who uses the quotas in the namespaces of a Tenant."""
    for line in users_page(tenant_users, width):
        yield draw(line, color=color)


def users_page(tenant_users: TenantUsers, width: int) -> Iterator[Line]:
    """Yield the same, not drawn yet."""
    yield from users_head(tenant_users, width)
    yield from tree_lines(tenant_users.tree, tenant_users.names, width)
    yield from remarks((), (), tenant_users.unread, width)


def users_head(tenant_users: TenantUsers, width: int) -> Iterator[Line]:
    """Return the number of namespaces, and the sum of what they use."""
    count, limited = len(tenant_users.namespaces), len(tenant_users.tree)
    with_quotas = "" if limited == count else f", {limited or 'none'} with quotas"
    text = f"{tenant_users.tenant}: {count} namespace{'s' * (count != 1)}{with_quotas}"
    yield from tone_lines("strong", wrap_text(text, width, rest="  "))
    sums = parent_node(tenant_users.tree, "").usage
    used = ", ".join(f"{name} {sums[name]}" for name in tenant_users.names if name in sums)
    yield from tone_lines("", wrap_text(f"in use: {used or 'nothing that quotas count'}", width, rest="  "))


def tenant_row(tenant_explanation: TenantExplanation) -> Row:
    """Return the row of a Tenant in a table."""
    tone, word = _verdict_word(tenant_explanation)
    return Row(tenant_explanation.tenant, word, tone, _format_tenant(tenant_explanation))


def tenant_brief(tenant_explanation: TenantExplanation, more: str) -> Brief:
    """In few words. ``more``: the command that gives the whole answer."""
    tone, word = _verdict_word(tenant_explanation)
    return Brief(tone, word, f": {tenant_explanation.tenant}: {_format_tenant(tenant_explanation)}", next=more)


def _verdict_word(tenant_explanation: TenantExplanation) -> tuple[Tone, str]:
    if any(count.full for count in tenant_explanation.counts) and not tenant_explanation.is_exceeded:
        return "warn", "full"
    if not tenant_explanation.items:
        return ("good", "ok") if tenant_explanation.counts else ("", "no quota")
    return ("bad", "over") if tenant_explanation.is_exceeded else ("good", "ok")


def _format_tenant(tenant_explanation: TenantExplanation) -> str:
    count = len(tenant_explanation.namespaces)
    spaces, number = f"{count} namespace{'s' * (count != 1)}", len(tenant_explanation.rules)
    rules = f", {number} rule{'s' * (number != 1)} about pods" if number else ""
    if not tenant_explanation.items:
        return f"{spaces}{rules}"
    over = [
        f"{use.resource} {use.used} of {use.hard}"
        for item in tenant_explanation.items
        for use in item.uses
        if use.over_by
    ]
    return f"{spaces}, resourceQuotas of scope {tenant_explanation.scope}{rules}" + (
        f"; uses {join_some(over, _OVER)}" if over else ""
    )


def tenant_head(tenant_explanation: TenantExplanation, width: int) -> Iterator[Line]:
    """Yield the head of a Tenant: whether it is within its quotas, its namespaces, and what is exceeded."""
    tone, word = _verdict_word(tenant_explanation)
    text = f": {tenant_explanation.tenant}: {_format_tenant(tenant_explanation)}"
    yield from led_lines(tone, word, text, width)
    if tenant_explanation.cordoned:
        yield from tone_lines("warn", wrap_text(tenant_explanation.cordoned, width, rest="  "))


def _page(tenant_explanation: TenantExplanation, width: int) -> Iterator[Line]:
    yield from tenant_head(tenant_explanation, width)
    for item in tenant_explanation.items:
        yield []
        yield [("strong", f"quota {item.quota} in each namespace")]
        yield from _item_lines(tenant_explanation, item)
    if any(use.excess for item in tenant_explanation.items for use in item.uses):
        yield []
        yield from tone_lines("", wrap_text(_LATE, width))
        command = f"kubectl kres migrate tenant/{quote(tenant_explanation.tenant.name)}"
        yield from command_lines("next", "the same with pools, which share out once", [command], width)
    yield from _count_lines(tenant_explanation.counts, width)
    yield from _list_lines(tenant_explanation.lists, width)
    yield from rule_lines(tenant_explanation.rules, width)
    yield from remarks((), tenant_explanation.assumptions, (), width)
    for failed_read in tenant_explanation.unread:
        yield [("warn", f"not read: ResourceQuotas of {failed_read.namespace}")]


def _item_lines(tenant_explanation: TenantExplanation, item: TenantItem) -> Iterator[Line]:
    if item.fault:
        yield [("bad", f"  {item.fault}")]
        return
    size = max((len(space) for space in tenant_explanation.namespaces), default=0)
    for use in item.uses:
        yield [("bad" if use.over_by else "", f"  {use.resource}: {use_text(tenant_explanation, use)}")]
        for share in use.namespaces:
            if share.used is None:
                yield [("quiet", f"    {pad_text(share.namespace, size)}  no such quota")]
                continue
            allowed = f" of {share.hard}" if share.hard is not None else ", not limited there"
            yield [("", f"    {pad_text(share.namespace, size)}  used {share.used}{allowed}")]


def use_text(tenant_explanation: TenantExplanation, use: TenantUse) -> str:
    """Return what all namespaces use of one resource, and by how much that exceeds the quota."""
    if tenant_explanation.scope != "Tenant":
        return f"{use.hard} for each namespace, {use.used} used over all"
    parts = [f"used {use.used} of {use.hard}"]
    if use.over_by:
        parts.append(f"{use.over_by} too much")
    if use.excess:
        parts.append(f"its namespaces may create {use.allowed} in total, {use.excess} too much")
    return "; ".join(parts)


def _count_lines(counts: Sequence[TenantCount], width: int) -> Iterator[Line]:
    """Yield what the Tenant may have a number of."""
    if not counts:
        return
    yield []
    yield [("strong", "how many there may be in all of its namespaces")]
    for item in counts:
        yield from tone_lines("warn" if item.full else "", wrap_text(count_text(item), width, first="  ", rest="    "))


def count_text(item: TenantCount) -> str:
    """Return how many objects there are of those that there may be."""
    return f"{item.field}: {item.used} of {item.limit}{', a further one is refused' if item.full else ''}"


def _list_lines(lists: Sequence[ClassList], width: int) -> Iterator[Line]:
    """Yield what pods and claims may name, and what they get where they name nothing."""
    if not lists:
        return
    yield []
    yield [("strong", "what pods, claims, Services and Ingresses may name")]
    for item in lists:
        yield from tone_lines("", wrap_text(list_text(item), width, first="  ", rest="    "))


def list_text(item: ClassList) -> str:
    """Return what a field of a Tenant allows, and what is taken where nothing is named."""
    parts = [f"default {item.default}"] if item.default else []
    allowed = [", ".join(item.allowed)] if item.allowed else []
    allowed += [f"what matches {item.pattern}"] if item.pattern else []
    allowed += [f"with labels {item.selector}"] if item.selector else []
    if item.refuses_nothing:
        parts.append(f"lists {' or '.join(allowed)}, but refuses none: without a selector every class matches")
    else:
        parts.append(f"allowed: {' or '.join(allowed)}" if allowed else "nothing else is allowed")
    return f"{item.field}: {'; '.join(parts)}"


def rule_lines(rules: Sequence[RuleSummary], width: int) -> Iterator[Line]:
    """Yield what each rule does, in their order; of several about one value the last one decides."""
    if not rules:
        return
    yield []
    yield [("strong", "rules about pods; of several about one value the last decides")]
    for rule in rules:
        yield from tone_lines("", wrap_text(rule_text(rule), width, first="  ", rest="    "))
        yield from tone_lines("quiet", wrap_text(str(rule.source), width, first="    ", rest="      "))


def rule_text(rule: RuleSummary) -> str:
    """Return what a rule does, to which namespaces and values."""
    parts = [*rule.policies]
    if rule.classes:
        parts.append(f"QoS class {', '.join(rule.classes)}")
    head = f"{rule.action} " if rule.action else ""
    targets_text = f" at {', '.join(rule.targets)}" if rule.targets else ""
    which = f", in namespaces with {rule.selector}" if rule.selector else ""
    quotas = f"makes {'; '.join(rule.quotas)}" if rule.quotas else ""
    text = f"{head}{'; '.join(parts)}{targets_text}" if parts else head.strip()
    return f"{'; '.join(filter(None, (text, quotas)))}{which}"
