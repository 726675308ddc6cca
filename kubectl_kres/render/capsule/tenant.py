"""The explanation of a Tenant as text."""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_kres.render.text.line import Line, Tone, draw, padded, wrapped
from kubectl_kres.render.verdict.brief import Brief
from kubectl_kres.reports.capsule.explain.explain_tenant import TenantExplanation, TenantItem, TenantUse


def tenant_lines(found: TenantExplanation, *, color: bool = False, width: int = 80) -> Iterator[str]:
    """Every line."""
    for line in _page(found, width):
        yield draw(line, color=color)


def tenant_summary(found: TenantExplanation, *, color: bool = False) -> str:
    """One line for one of many."""
    tone, word = _word(found)
    return draw([(tone, padded(word, 11)), ("", f"{padded(str(found.tenant), 40)} {_about(found)}")], color=color)


def tenant_brief(found: TenantExplanation, more: str) -> Brief:
    """In few words. ``more``: the command that gives the whole answer."""
    tone, word = _word(found)
    return Brief(tone, word, f": {found.tenant}: {_about(found)}", next=more)


def _word(found: TenantExplanation) -> tuple[Tone, str]:
    if not found.items:
        return "", "no quota"
    return ("bad", "over") if found.over else ("good", "ok")


def _about(found: TenantExplanation) -> str:
    count = len(found.namespaces)
    spaces = f"{count} namespace{'s' * (count != 1)}"
    if not found.items:
        return f"{spaces}, no resourceQuotas"
    over = [f"{use.resource} {use.used} of {use.hard}" for item in found.items for use in item.uses if use.over]
    return f"{spaces}, resourceQuotas of scope {found.scope}" + (f"; uses {', '.join(over)}" if over else "")


def _page(found: TenantExplanation, width: int) -> Iterator[Line]:
    tone, _ = _word(found)
    yield [(tone, str(found.tenant)), ("", f": {_about(found)}")]
    for item in found.items:
        yield []
        yield [("strong", f"quota {item.quota} in each namespace")]
        yield from _item_lines(found, item)
    if any(use.excess for item in found.items for use in item.uses):
        yield []
        text = (
            "Capsule lowers these quotas after pods came: what is created at once in several namespaces is admitted. "
            f"Pools share out once: kubectl kres migrate tenant/{found.tenant.name}"
        )
        for line in wrapped(text, width):
            yield [("", line)]
    for one in found.unseen:
        yield [("warn", f"not read: ResourceQuotas of {one.namespace}")]


def _item_lines(found: TenantExplanation, item: TenantItem) -> Iterator[Line]:
    if item.fault:
        yield [("bad", f"  {item.fault}")]
        return
    size = max((len(space) for space in found.namespaces), default=0)
    for use in item.uses:
        yield [("bad" if use.over else "", f"  {use.resource}: {_sentence(found, use)}")]
        for share in use.namespaces:
            if share.used is None:
                yield [("quiet", f"    {padded(share.namespace, size)}  no such quota")]
                continue
            allowed = f" of {share.hard}" if share.hard is not None else ", not limited there"
            yield [("", f"    {padded(share.namespace, size)}  used {share.used}{allowed}")]


def _sentence(found: TenantExplanation, use: TenantUse) -> str:
    if found.scope != "Tenant":
        return f"{use.hard} for each namespace, {use.used} used over all"
    parts = [f"used {use.used} of {use.hard}"]
    if use.over:
        parts.append(f"{use.over} too much")
    if use.excess:
        parts.append(f"its namespaces may create {use.may} together, {use.excess} too much")
    return "; ".join(parts)
