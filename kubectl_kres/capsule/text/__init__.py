"""What Capsule adds to the texts about pods, quotas and namespaces."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from kubectl_kres.capsule.reports import MANAGER
from kubectl_kres.render.text.line import Line
from kubectl_kres.render.text.system import RenderSystem
from kubectl_kres.reports.common.explanation import Explanation

if TYPE_CHECKING:
    from kubectl_kres.reports.namespace.policy_explanation import PolicyExplanation

#: What it means that the server has no pools.
NO_CAPSULE = "Capsule is not installed, or too old for pools (0.10)"


class CapsuleText(RenderSystem):
    """Where the room of a quota comes from that a pool keeps."""

    absent: Mapping[str, str] = dict.fromkeys(("ResourcePool", "ResourcePoolClaim"), NO_CAPSULE)

    def quota_lines(self, explanation: Explanation, width: int) -> Iterator[Line]:
        if explanation.pools:
            from kubectl_kres.capsule.text.claims import refusing_pool_lines

            for refusing_pool in explanation.pools:
                yield from refusing_pool_lines(refusing_pool, width)

    def namespace_lines(self, policy_explanation: PolicyExplanation, width: int) -> Iterator[Line]:
        if policy_explanation.rules:
            from kubectl_kres.capsule.text.claim_or_pool import rule_lines

            yield from rule_lines(policy_explanation.rules, width)

    def edit_note(self, manager: str) -> str:
        return "Capsule's: edits are undone, or refused" if manager.startswith(MANAGER) else ""


SYSTEM = CapsuleText()
