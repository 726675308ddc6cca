"""The remedies of a report about nodes as fixes, beside those for what is refused."""

from __future__ import annotations

from kubectl_kres.reports.common.parts import LoweredRequest, NodeRemedy, NodeReport, Remedy


def node_fixes(report: NodeReport | None) -> tuple[Remedy, ...]:
    """Return each remedy in words, in the order of the report; none without a report."""
    if report is None:
        return ()
    return tuple(Remedy(fix_text(each), commands=each.commands, why=each.why, proven=True) for each in report.remedies)


def fix_text(remedy: NodeRemedy) -> str:
    """Return what to change, and what comes of it."""
    more = f" and {remedy.nodes - 1} more" if remedy.nodes > 1 else ""
    then = f"{remedy.node}{more} can take the pod then (tried)"
    match remedy.action:
        case "lower-request":
            return f"{', '.join(map(_format_lowered_request, remedy.lowered))}: {then}"
        case "tolerate":
            return f"tolerate {remedy.about}: {then}"
        case "label-node":
            return f"label node {remedy.node} {remedy.about}, if that is true of it: {then}"
        case "uncordon":
            return f"uncordon node {remedy.node}: {then}"
        case "spread-anyway":
            return f"let its pods spread over {remedy.about} only where that is possible (ScheduleAnyway): {then}"
        case "drop-affinity":
            return f"leave out the required {remedy.about}, if its pods can do without: {then}"
        case "drop-host-port":
            return f"leave out host port {remedy.about}, if a Service can reach it instead: {then}"


def _format_lowered_request(value: LoweredRequest) -> str:
    who = f"of {value.container}" if value.container else "of the pod level"
    by = f", which {value.source.ref} sets," if value.source is not None else ""
    return f"lower the {value.resource} request {who} from {value.from_}{by} to {value.to}"
