"""A Tenant's rules about pods as text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kubectl_kres.render.text.line import Line, tone_lines, wrap_text
from kubectl_kres.reports.common.parts import RuleSummary


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
