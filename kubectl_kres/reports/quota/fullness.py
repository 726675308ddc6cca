"""How full a quota is, in a word, and which quotas are the fullest."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kubectl_kres.reports.common.resource_lists import NEARLY_FULL
from kubectl_kres.reports.common.system import Severity
from kubectl_kres.reports.quota.quota_report import QuotaReport, QuotaUse

#: States of a quota from the worst on.
QUOTA_STATES: Mapping[str, Severity] = {
    "over": "bad",
    "full": "bad",
    "nearly full": "warn",
    "unreadable": "unknown",
    "no status": "unknown",
    "without limits": "",
    "ok": "",
}


def tightest_use(report: QuotaReport) -> QuotaUse | None:
    """Return the name with the least left in proportion; what is over comes before what is full."""
    used = [use for use in report.uses if use.used is not None]
    return max(used, key=lambda use: (use.is_exceeded, -1 if use.percent is None else use.percent), default=None)


def quota_state(report: QuotaReport | str) -> str:
    """Return a word of ``QUOTA_STATES``; a text instead of a report says why the quota cannot be read."""
    if isinstance(report, str):
        return "unreadable"
    if not report.enforced:
        return "no status"
    tight = tightest_use(report)
    if tight is None:
        return "without limits"
    if tight.is_exceeded:
        return "over"
    percent = tight.percent or 0
    return "full" if percent >= 100 else "nearly full" if percent >= NEARLY_FULL else "ok"


def fullest_first(reports: Iterable[QuotaReport]) -> list[QuotaReport]:
    """Return the quotas that are over, full or nearly full first, then the others, each by how full they are."""
    order = [state for state, severity in QUOTA_STATES.items() if severity]

    def key(report: QuotaReport) -> tuple[int, int]:
        tight, state = tightest_use(report), quota_state(report)
        percent = tight.percent or 0 if tight is not None else 0
        return order.index(state) if state in order else len(order), -percent

    return sorted(reports, key=key)
