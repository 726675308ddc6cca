"""What gives room back in a full quota, and what changes a pod that exists, in words."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from kubectl_kres.reports.remedies.passing_room import AwaitPods, AwaitRecount, DeleteEnded, ForbidOverlap
from kubectl_kres.reports.remedies.pod_update import RecreatePod, ResizePod
from kubectl_kres.wording import join_words

#: So many pods are named.
_NAMED = 3
_PASSES = "the next pod passes then (evaluated)"


def _await_pods(fix: AwaitPods) -> str:
    are, hold = ("are", "hold") if len(fix.pods) > 1 else ("is", "holds")
    which = f"which {are} being deleted (until {fix.until}) and {hold} {join_words(list(fix.amounts))}"
    more = len(fix.pods) - _NAMED
    pods = join_words([*fix.pods[:_NAMED], f"{more} more"] if more > 0 else list(fix.pods))
    return f"wait for pod{'s' * (len(fix.pods) > 1)} {pods}, {which}: {_PASSES}"


def _delete_ended(fix: DeleteEnded) -> str:
    what = join_words([f"{ref.kind}/{ref.name}" for ref in fix.objects])
    have = "have" if len(fix.objects) > 1 else "has"
    counted = f"{fix.resource} counts pods until they are gone, {fix.ended} of them have ended here"
    return f"delete {what}, which {have} ended: {counted}"


def _forbid_overlap(fix: ForbidOverlap) -> str:
    jobs = f"{fix.running} of its Jobs run at once, and hold their room until they end"
    return f"let no Job start while another one runs (concurrencyPolicy Forbid): {jobs}"


def _await_recount(fix: AwaitRecount) -> str:
    stale = [
        f"quota {count.quota} counts {count.used} of {count.resource}, a recount finds {count.counted}"
        for count in fix.counts
    ]
    again = "its controller counts again within 5 minutes, at once if its hard is edited"
    return f"wait: {join_words(stale)}; {again}: {_PASSES}"


WORDS: Mapping[type, Callable[[Any], str]] = {
    AwaitPods: _await_pods,
    AwaitRecount: _await_recount,
    DeleteEnded: _delete_ended,
    ForbidOverlap: _forbid_overlap,
    RecreatePod: lambda fix: f"delete Pod/{fix.name} and create it again: its other fields stay as they are",
    ResizePod: lambda _: (
        "resize it: requests and limits of a pod that exists are changed through the subresource resize"
    ),
}
