"""A Workload as lines."""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_kres.kueue.reports.workload import WorkloadExplanation
from kubectl_kres.kueue.text.account import account_lines, detail_lines, flavor_lines
from kubectl_kres.kueue.text.causes import state_text
from kubectl_kres.render.text.line import Line, Tone, tone_lines, wrap_text
from kubectl_kres.render.verdict.remedy import remedy_lines


def summary(explanation: WorkloadExplanation) -> tuple[Tone, str]:
    """Return how it stands, in a word and a sentence."""
    account = explanation.account
    if account.standing == "admitted":
        return "good", f"admitted by ClusterQueue {account.cluster_queue}"
    if account.standing == "finished":
        return "quiet", "finished"
    return "bad", f"waits: {state_text(account) or account.says or 'nobody says why'}"


def workload_lines(explanation: WorkloadExplanation, width: int, *, whole: bool = False) -> Iterator[Line]:
    """Yield the account and the fixes. ``whole``: with how charges come about, and all flavors."""
    tone, text = summary(explanation)
    ref = explanation.object
    first, *rest = wrap_text(f"{ref.full_name} (of {explanation.of}): {text}", width, rest="  ")
    yield [(tone, first)]
    yield from tone_lines("", rest)
    if explanation.fixes:
        yield [("", "")]
        yield from remedy_lines(explanation.fixes, width)
    yield [("", "")]
    yield from account_lines(explanation.account, width)
    if whole:
        yield from detail_lines(explanation.account, width)
    elif explanation.account.flavors:
        yield [("", "")]
        yield from flavor_lines(explanation.account.flavors)
