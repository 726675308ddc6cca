"""What would refuse a pod next: the server stops at the first step that refuses it."""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_kres.admission import limitrange as limitrange_admission
from kubectl_kres.admission.base.draft import Draft
from kubectl_kres.admission.base.outcome import Finding
from kubectl_kres.admission.base.server import Server
from kubectl_kres.admission.quota import quota_admission
from kubectl_kres.admission.request.new_pod import Policies, quota_request
from kubectl_kres.model.pod import Pod
from kubectl_kres.reports.common.explanation import Verdict


def further_findings(
    pod: Pod, draft: Draft | None, policies: Policies, server: Server, verdict: Verdict
) -> tuple[Finding, ...]:
    """Return the findings of LimitRanges and quotas about a refused pod as it is written, where an earlier step refuses
    it. Empty for a pod that is admitted, or whose values are not known.
    """
    if verdict.allowed is not False or draft is None or not verdict.findings:
        return ()
    return tuple(_find(pod, draft, policies, server, {finding.rule for finding in verdict.findings}))


def _find(pod: Pod, draft: Draft, policies: Policies, server: Server, rules: set[str]) -> Iterator[Finding]:
    if any(rule.startswith("quota/") for rule in rules):
        return
    if "LimitRanger" not in server.disabled_plugins and not any(rule.startswith("limitrange/") for rule in rules):
        for limits in policies.limits:
            yield from limitrange_admission.violations(draft, limits)
    if "ResourceQuota" not in server.disabled_plugins:
        own = [quota for quota in policies.quotas if quota.words is None]
        verdict = quota_admission.evaluate(quota_request(pod, draft), own, server.limited_resources)
        for refusal in verdict.refusals:
            yield from refusal.findings
