"""The line of an object as its whole explanation has it: what the line that is made alone must be."""

from __future__ import annotations

from msgspec import structs

from kubectl_kres.render.verdict.object_list import row_of
from kubectl_kres.reports.common.explanation import Explanation
from kubectl_kres.reports.explain.summary import Outline


def outline_of(found: Explanation) -> Outline:
    """Without what mends it, which a list says without trying it."""
    verdict = structs.replace(found.verdict, message="", causes=(), others=())
    quality = found.qos.name if found.qos is not None else ""
    names = {one.path: one.name for one in found.containers if one.role != "pod"}
    names = {"spec": "the pod level", **names} if verdict.findings else {}
    ended = found.about_another
    return Outline(
        found.subject, verdict, quality, "", found.unread, found.complete, names,
        replicas=found.replicas, state=found.state, live=found.live, ended=ended, run_state=found.run_state,
        nodes=found.scheduling,
    )  # fmt: skip


def shown(outline: Outline) -> object:
    """What the line says; containers that nothing is said of have no names here, and ready pods are not explained.

    Without the server's sentence and who set a limit, which a line of a list does not say; of nodes what the row says.
    """
    row, state = row_of(outline)._replace(ready="", remedy=""), outline.run_state
    if state is not None:
        state = structs.replace(state, message="", limit_today=None)
    return structs.replace(outline, names={}, ready="", remedy="", run_state=state, nodes=None), row
