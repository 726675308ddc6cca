"""Why a pod waits, node by node: the reasons, the nearest node, what to change, and what was not computed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kubectl_kres.render.text.line import Line, toned, wrapped
from kubectl_kres.render.verdict.remedy import LABEL, labelled
from kubectl_kres.reports.common.nodes import (
    LoweredRequest,
    NearestNode,
    NodeGroup,
    NodeRemedy,
    NodeReport,
    RequestPart,
    ResourceAsked,
)

_INDENT = "    "


def report_lines(report: NodeReport | None, width: int) -> Iterator[Line]:
    """An empty line and the nodes; nothing where there is no report."""
    if report is None:
        return
    yield [("", "")]
    if not report.nodes and "Node" in report.not_read:
        text = "not computed: nodes as the scheduler sees them are not in what was read; a new snapshot has them"
        yield from toned("quiet", wrapped(text, width, first="nodes: ", rest="  "))
        return
    able = "would, if they were empty, take" if report.empty else "can take"
    head = (
        f"nodes: {report.fitting} of {report.nodes} {able} {report.pod}{'' if report.complete else ' as far as seen'}"
    )
    yield from toned("strong", wrapped(f"{head}{_named(report.fits)}", width, rest="  "))
    if report.rejection:
        yield from toned("bad", wrapped(report.rejection, width, first="  all  ", rest=_INDENT))
    most = max((len(str(group.count)) for group in report.groups), default=0)
    for group in report.groups:
        yield from toned("bad", wrapped(_group(group), width, first=f"  {group.count:>{most}}  ", rest=_INDENT))
    for asked in report.asked:
        yield from toned("", wrapped(asked_text(asked), width, first="  ", rest=_INDENT))
    if report.nearest is not None:
        yield from toned("", wrapped(nearest_text(report.nearest), width, first="  nearest: ", rest=_INDENT))
    for place, remedy in enumerate(report.remedies):
        yield from labelled("or" if place else "fix", remedy_text(remedy), width)
        if remedy.why:
            yield from toned("quiet", wrapped(remedy.why, width, first=" " * LABEL, rest=" " * LABEL))
        for command in remedy.commands:
            yield [("", " " * LABEL), ("command", command)]
    yield from toned("quiet", _remarks(report, width))


def _named(nodes: Sequence[str]) -> str:
    return f": {', '.join(nodes)}" if nodes else ""


def _group(group: NodeGroup) -> str:
    """The scheduler's reason, what stands behind it, and some nodes."""
    about = ", ".join(f"{text} on {count}" if len(group.about) > 1 else text for text, count in group.about)
    more = ", ..." if group.count > len(group.nodes) else ""
    small = ""
    if group.plugin == "NodeResourcesFit" and group.unresolvable:
        which = "all" if group.unresolvable == group.count else str(group.unresolvable)
        small = f"; {which} too small even without other pods" if group.count > 1 else "; too small without other pods"
    return f"{group.reason}{f': {about}' if about else ''} ({', '.join(group.nodes)}{more}){small}"


def asked_text(asked: ResourceAsked) -> str:
    """``memory: the pod asks 12Gi: app 8Gi, proxy 4Gi, which the default of LimitRange/lims sets``."""
    parts = "; ".join(map(_part, asked.parts))
    return f"{asked.resource}: the pod asks {asked.amount}{f': {parts}' if parts else ''}"


def _part(part: RequestPart) -> str:
    who = part.name or "the pod level"
    if part.source is not None:
        return f"{who} {part.amount}, set by {part.source.ref} ({part.source.field})"
    return f"{who} {part.amount}, set by {part.rule}" if part.rule else f"{who} {part.amount}"


def nearest_text(nearest: NearestNode) -> str:
    """``n3 lacks memory 2Gi: ...``."""
    lacks = [
        f"{shortage.resource} {shortage.lacking} (has {shortage.allocatable}, {shortage.requested} requested)"
        for shortage in nearest.shortages
    ]
    texts = [f"lacks {' and '.join(lacks)}"] if lacks else []
    texts += nearest.obstacles
    text = f"{nearest.node}: {'; '.join(texts)}"
    if nearest.holders:
        holders = ", ".join(f"{holder.pod.namespace}/{holder.pod.name} {holder.amount}" for holder in nearest.holders)
        text += f"; most of it is requested by {holders}{' ...' if nearest.pods > len(nearest.holders) else ''}"
    return text


def remedy_text(remedy: NodeRemedy) -> str:
    """What to change, and what comes of it."""
    more = f" and {remedy.nodes - 1} more" if remedy.nodes > 1 else ""
    then = f"{remedy.node}{more} can take the pod then (tried)"
    match remedy.action:
        case "lower-request":
            return f"{', '.join(map(_lowered, remedy.lowered))}: {then}"
        case "tolerate":
            return f"tolerate {remedy.about}: {then}"
        case "label-node":
            return f"label node {remedy.node} {remedy.about}, if that is true of it: {then}"
        case "uncordon":
            return f"uncordon node {remedy.node}: {then}"


def _lowered(value: LoweredRequest) -> str:
    who = f"of {value.container}" if value.container else "of the pod level"
    by = f", which {value.source.ref} sets," if value.source is not None else ""
    return f"lower the {value.resource} request {who} from {value.from_}{by} to {value.to}"


def _remarks(report: NodeReport, width: int) -> Iterator[str]:
    if report.preempts:
        text = f"less important pods could go for it on {', '.join(report.preempts)}: the scheduler chooses which"
        yield from wrapped(text, width, first="  ", rest=_INDENT)
    if report.sentence and report.stated and report.sentence != report.stated:
        text = "the scheduler said something else when it last looked, so things have changed since, or it is set up"
        yield from wrapped(f"{text} in another way; computed: {report.sentence}", width, first="  ", rest=_INDENT)
    for gap in report.not_computed:
        yield from wrapped(f"not computed: {gap}", width, first="  ", rest=_INDENT)
    if report.not_read:
        text = f"not looked at, since it could not be read: {', '.join(report.not_read)}"
        yield from wrapped(text, width, first="  ", rest=_INDENT)
    yield from wrapped(
        "computed with the filters of kube-scheduler's default profile; extenders and other profiles are not seen",
        width,
        first="  ",
        rest=_INDENT,
    )
