"""Why a pod waits, node by node: the reasons, the nearest node, what to change, and what was not computed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from kubectl_kres.render.text.line import Line, labelled_lines, tone_lines, with_ages, wrap_text
from kubectl_kres.render.verdict.run_state import NO_NODE
from kubectl_kres.reports.common.nodes import (
    NearestNode,
    NodeGroup,
    NodeReport,
    NodeScaling,
    PinnedNode,
    RequestPart,
    ResourceAsked,
)

_INDENT = "    "
#: Lines of a page that shows more than the nodes.
SHORT = 5
_UNREAD = "not computed: nodes as the scheduler sees them are not in what was read; a new snapshot has them"
_OF_LIST = "of a list they are looked at for a few pods; ask about this one alone"


def report_lines(report: NodeReport | None, width: int, now: str = "") -> Iterator[Line]:
    """Yield an empty line and the nodes; nothing where there is no report."""
    if report is None:
        return
    yield [("", "")]
    if not report.is_read:
        yield from tone_lines("quiet", wrap_text(unread_text(report), width, first="nodes: ", rest="  "))
        return
    yield from tone_lines("strong", wrap_text(f"nodes: {_head(report)}", width, rest="  "))
    if report.rejection:
        yield from tone_lines("bad", wrap_text(report.rejection, width, first="  all  ", rest=_INDENT))
    maximum = max((len(str(group.count)) for group in report.groups), default=0)
    for group in report.groups:
        yield from tone_lines(
            "bad", wrap_text(_group(group), width, first=f"  {group.count:>{maximum}}  ", rest=_INDENT)
        )
    for text in more_texts(report):
        yield from tone_lines("", wrap_text(text, width, first="  ", rest=_INDENT))
    for asked in report.requests:
        yield from tone_lines("", wrap_text(asked_text(asked), width, first="  ", rest=_INDENT))
    if report.nearest is not None:
        yield from tone_lines("", wrap_text(nearest_text(report.nearest), width, first="  nearest: ", rest=_INDENT))
    if report.scaling is not None:
        yield from tone_lines("", wrap_text(scaling_text(report.scaling, now), width, first="  ", rest=_INDENT))
    yield from tone_lines("quiet", _remarks(report, width))


def short_report_lines(report: NodeReport | None, width: int, now: str = "") -> Iterator[Line]:
    """Yield how many nodes can take the pod, why not, and the nearest, in at most SHORT lines."""
    if report is None:
        return
    if not report.is_read:
        yield from labelled_lines("nodes", unread_text(report), width, tone="quiet")
        return
    reasons = [report.rejection] if report.rejection else [f"{group.count} {_group(group)}" for group in report.groups]
    text = (
        f"{_head(report)}{': ' if reasons and not report.fits else ''}{'; '.join(reasons) if not report.fits else ''}"
    )
    yield from _cut_lines(labelled_lines("nodes", text, width), SHORT - 2 if report.nearest is not None else SHORT)
    for text in more_texts(report):
        yield from _cut_lines(labelled_lines("besides", text, width), 2)
    if report.nearest is not None:
        yield from _cut_lines(labelled_lines("nearest", nearest_text(report.nearest), width), 2)
    if report.scaling is not None:
        yield from _cut_lines(labelled_lines("more", scaling_text(report.scaling, now), width), 2)


def unread_text(report: NodeReport) -> str:
    """Return why nothing is said of the nodes: they may not be read, in the server's words, or nobody read them."""
    if report.of_list:
        return _OF_LIST
    return f"not looked at, since they could not be read: {report.unread}" if report.unread else _UNREAD


def pinned_text(pinned: PinnedNode) -> str:
    """``pinned to n1 by Pod/affinity-assistant-0a1b-0, where it lacks memory 2Gi (...)``."""
    head = f"pinned to {pinned.node} by {pinned.by}"
    return f"{head}: {nearest_text(pinned.obstacle)}" if pinned.obstacle is not None else f"{head}, which can take it"


def more_texts(report: NodeReport) -> Iterator[str]:
    """Yield to which node the pod is pinned; of a DaemonSet the nodes on which its pods wait, and those that its
    template does not let in.
    """
    yield from map(pinned_text, report.pinned)
    if report.without_pod:
        yield f"its pods wait on {_counted_groups(report.without_pod)}"
    if report.excluded:
        yield f"not let in by its template: {_counted_groups(report.excluded)}"


def _counted_groups(groups: Sequence[NodeGroup]) -> str:
    return "; ".join(f"{group.count} {_group(group)}" for group in groups)


def scaling_text(scaling: NodeScaling, now: str = "") -> str:
    """``cluster-autoscaler adds a node for it: pod triggered scale-up: ...``."""
    adds = "adds a node for it" if scaling.adds else "adds no node for it"
    when = f" ({with_ages(scaling.time, now)})" if scaling.time else ""
    return f"{scaling.by} {adds}{when}: {scaling.message}"


def room_text(report: NodeReport) -> str:
    """``room for 4 more such pods, on 2 of 3 nodes``."""
    seen = "" if report.complete else " as far as seen"
    if not report.nodes:
        return NO_NODE
    on = f"{report.fitting} of {report.nodes} nodes"
    gaps = (*report.not_computed, *(f"{kind} (not read)" for kind in report.not_read))
    left = f" (not computed: {', '.join(gaps)})" if gaps else ""
    if report.room is None:
        able = "are big enough for such a pod (free room not checked)" if report.free_unknown else "can take such a pod"
        return f"{on} {able}{seen}{left}"
    if not report.room:
        return f"none of {report.nodes} can take such a pod{seen}{left}"
    least = "at least " if report.room_at_least else ""
    return f"room for {least}{report.room} more such pod{'s' * (report.room != 1)}, on {on}{seen}{left}"


def reason_text(report: NodeReport) -> str:
    """Return why no node takes the pod: ``2 Insufficient memory (n1, n2); 1 node(s) were unschedulable (n3)``."""
    if not report.nodes:
        return NO_NODE
    return report.rejection or "; ".join(f"{group.count} {_group(group)}" for group in report.groups)


def no_node_lines(report: NodeReport) -> Iterator[str]:
    """Yield why no node takes the pod, and what the nearest one lacks."""
    yield reason_text(report)
    if report.nearest is not None:
        yield f"nearest: {nearest_text(report.nearest)}"


def _cut_lines(lines: Iterable[Line], maximum: int) -> list[Line]:
    """Return the first of the lines; that there are more is seen."""
    first = list(lines)
    return first if len(first) <= maximum else [*first[: maximum - 1], [*first[maximum - 1], ("quiet", "…")]]


def _head(report: NodeReport) -> str:
    able = "nodes are big enough (free room not checked) for" if report.free_unknown else "can take"
    if not report.nodes:
        return NO_NODE
    seen = "" if report.complete else " as far as seen"
    what = str(report.pod) if report.pod.kind == "Pod" else f"a pod of {report.pod}"
    return f"{report.fitting} of {report.nodes} {able} {what}{seen}{_format_node_names(report.fits)}"


def _format_node_names(nodes: Sequence[str]) -> str:
    return f": {', '.join(nodes)}" if nodes else ""


def _group(group: NodeGroup) -> str:
    """Return the scheduler's reason, what stands behind it, and some nodes."""
    about = ", ".join(f"{text} on {count}" if len(group.about) > 1 else text for text, count in group.about)
    more = ", ..." if group.count > len(group.nodes) else ""
    small = ""
    if group.plugin == "NodeResourcesFit" and group.unresolvable:
        which = "all" if group.unresolvable == group.count else str(group.unresolvable)
        small = f"; {which} too small even without other pods" if group.count > 1 else "; too small without other pods"
    return f"{group.reason}{f': {about}' if about else ''} ({', '.join(group.nodes)}{more}){small}"


def asked_text(asked: ResourceAsked) -> str:
    """``memory: the pod asks 12Gi: app 8Gi, proxy 4Gi, which the default of LimitRange/lims sets``."""
    parts = "; ".join(map(_format_request_part, asked.parts))
    return f"{asked.resource}: the pod asks {asked.amount}{f': {parts}' if parts else ''}"


def _format_request_part(part: RequestPart) -> str:
    holder = part.name or "the pod level"
    if part.source is not None:
        return f"{holder} {part.amount}, set by {part.source.ref} ({part.source.field})"
    return f"{holder} {part.amount}, set by {part.rule}" if part.rule else f"{holder} {part.amount}"


def nearest_text(nearest: NearestNode) -> str:
    """``n3: short by 2Gi of memory ...``."""
    lacks = [
        f"{shortage.short_by} of {shortage.resource} (has {shortage.allocatable}, {shortage.requested} requested)"
        for shortage in nearest.shortages
    ]
    texts = [f"short by {' and '.join(lacks)}"] if lacks else []
    texts += nearest.obstacles
    text = f"{nearest.node}: {'; '.join(texts)}"
    if nearest.holders:
        holders = ", ".join(f"{holder.pod.namespace}/{holder.pod.name} {holder.amount}" for holder in nearest.holders)
        text += f"; most of it is requested by {holders}{' ...' if nearest.pods > len(nearest.holders) else ''}"
    return text


def _remarks(report: NodeReport, width: int) -> Iterator[str]:
    if report.preempts:
        text = f"less important pods could go for it on {', '.join(report.preempts)}: the scheduler chooses which"
        yield from wrap_text(text, width, first="  ", rest=_INDENT)
    if report.sentence and report.stated and report.sentence != report.stated:
        text = "the scheduler said something else when it last looked, so things have changed since, or it is set up"
        yield from wrap_text(f"{text} in another way; computed: {report.sentence}", width, first="  ", rest=_INDENT)
    for gap in report.not_computed:
        yield from wrap_text(f"not computed: {gap}", width, first="  ", rest=_INDENT)
    if report.not_read:
        text = f"not looked at, since it could not be read: {', '.join(report.not_read)}"
        yield from wrap_text(text, width, first="  ", rest=_INDENT)
    yield from wrap_text(
        "computed with the filters of kube-scheduler's default profile; extenders and other profiles are not seen",
        width,
        first="  ",
        rest=_INDENT,
    )
