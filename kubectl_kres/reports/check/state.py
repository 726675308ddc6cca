"""Rules about the status of quotas, where it is not true or needs somebody: codes KRES301 to KRES399.

- KRES301: the status of a quota is not what its objects add up to.
- KRES302: a quota uses more than its hard.
- KRES303: a quota without a status, which enforces nothing.
"""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_kres.reports.check.context import CheckContext, Rule
from kubectl_kres.reports.check.finding import Diagnostic


def find_drift(context: CheckContext) -> Iterator[Diagnostic]:
    """Yield names of quotas whose used is not the sum of a recount."""
    for report in () if context.of_files else context.quota_reports:
        for use in report.uses:
            if report.enforced and use.drift is not None and use.counted is not None:
                values = {"name": use.name, "used": use.used or "nothing", "counted": use.counted}
                yield Diagnostic(report.subject, values, f"status.used[{use.name}]")


DRIFT = Rule(
    code="KRES301",
    title="status.used is not what a recount finds",
    severity="warning",
    reason="Pods are refused, or admitted, by a count that is not true: the quota controller has not caught up, "
    "or is not running.",
    remedy="A recount (quota --recount) names the cause; the quota controller counts again within 5 minutes.",
    message="its status counts {used} of {name}, a recount finds {counted}",
    find=find_drift,
)


def find_over_hard(context: CheckContext) -> Iterator[Diagnostic]:
    """Yield names of quotas that use more than their hard."""
    for report in () if context.of_files else context.quota_reports:
        for use in report.uses:
            if use.is_exceeded and use.used is not None:
                values = {"name": use.name, "used": use.used, "hard": use.hard}
                yield Diagnostic(report.subject, values, f"spec.hard[{use.name}]")


OVER_HARD = Rule(
    code="KRES302",
    title="use is above hard",
    severity="warning",
    reason="Nothing is evicted, and nothing new is admitted: the next pod that is replaced does not come back.",
    remedy="Raise the quota above what is used, or delete what uses it (quota --by workload names it).",
    message="{name}: {used} used, hard is {hard}",
    find=find_over_hard,
)


def find_not_enforced(context: CheckContext) -> Iterator[Diagnostic]:
    """Yield quotas that the quota controller has not looked at."""
    for report in () if context.of_files else context.quota_reports:
        if not report.enforced and not report.supposed:
            yield Diagnostic(report.subject)


NOT_ENFORCED = Rule(
    code="KRES303",
    title="a quota has no status",
    severity="warning",
    reason="The API server enforces status.hard: until the quota controller has written it, the quota limits nothing.",
    remedy="Look at the kube-controller-manager: its resource quota controller is slow, off, or lacks rights.",
    message="it has no status.hard, so it limits nothing yet",
    find=find_not_enforced,
)


RULES = (
    DRIFT,
    OVER_HARD,
    NOT_ENFORCED,
)
