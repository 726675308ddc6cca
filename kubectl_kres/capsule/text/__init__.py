"""What Capsule adds to the texts about pods, quotas and namespaces."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from kubectl_kres.capsule.reports import MANAGER
from kubectl_kres.render.text.line import Line, labelled_lines
from kubectl_kres.render.text.system import RenderSystem
from kubectl_kres.reports.common.explanation import Explanation
from kubectl_kres.reports.common.system_parts import parts_of

if TYPE_CHECKING:
    from kubectl_kres.reports.namespace.policy_explanation import PolicyExplanation

#: What it means that the server has no pools.
NO_CAPSULE = "Capsule is not installed, or too old for pools (0.10)"


class CapsuleText(RenderSystem):
    """Where the room of a quota comes from that a pool keeps."""

    sentences: Mapping[str, str] = {
        "kubectl_kres.capsule.reports.claim.claim_notes": "kubectl_kres.capsule.text.claim_notes",
        "kubectl_kres.capsule.reports.rule_fixes": "kubectl_kres.capsule.text.rule_fixes",
        "kubectl_kres.capsule.reports.pool.pool_warnings": "kubectl_kres.capsule.text.pool_warnings",
    }
    absent: Mapping[str, str] = dict.fromkeys(("ResourcePool", "ResourcePoolClaim"), NO_CAPSULE)

    def quota_lines(self, explanation: Explanation, width: int) -> Iterator[Line]:
        if not explanation.quota_parts:
            return
        from kubectl_kres.capsule.reports.common.part import PoolTrail
        from kubectl_kres.capsule.text.claims import refusing_pool_lines

        for refusing_pool in parts_of(explanation.quota_parts, PoolTrail):
            yield from refusing_pool_lines(refusing_pool, width)

    def outcome_lines(self, explanation: Explanation, width: int, now: str = "") -> Iterator[Line]:
        if not explanation.quota_parts:
            return
        from kubectl_kres.capsule.reports.common.part import KeptRange

        for kept_range in parts_of(explanation.quota_parts, KeptRange):
            text = f"LimitRange {kept_range.limit_range} follows {kept_range.source}: it is edited there"
            yield from labelled_lines("tenant", text, width)

    def namespace_lines(self, policy_explanation: PolicyExplanation, width: int) -> Iterator[Line]:
        if not policy_explanation.namespace_parts:
            return
        from kubectl_kres.capsule.reports.common.part import RuleSummary

        if rules := parts_of(policy_explanation.namespace_parts, RuleSummary):
            from kubectl_kres.capsule.text.tenant import rule_lines

            yield from rule_lines(rules, width)

    def edit_note(self, manager: str) -> str:
        return "Capsule's: edits are undone, or refused" if manager.startswith(MANAGER) else ""


SYSTEM = CapsuleText()
