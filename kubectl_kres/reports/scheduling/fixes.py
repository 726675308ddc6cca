"""The remedies of a report about nodes as fixes, beside those for what is refused."""

from __future__ import annotations

from kubectl_kres.reports.common.parts import LoweredRequest, NodeRemedy, NodeReport, Remedy, StorageWanted


def node_fixes(report: NodeReport | None) -> tuple[Remedy, ...]:
    """Return each remedy in words, in the order of the report; none without a report."""
    if report is None:
        return ()
    return tuple(Remedy(fix_text(each), commands=each.commands, why=each.why, proven=True) for each in report.remedies)


def fix_text(remedy: NodeRemedy) -> str:
    """Return what to change, and what comes of it."""
    more = f" and {remedy.nodes - 1} more" if remedy.nodes > 1 else ""
    what = _format_volume_change(remedy) or _format_change(remedy)
    return f"{what}: {remedy.node}{more} can take the pod then (tried)"


def _format_change(remedy: NodeRemedy) -> str:
    """Return a change of the pod or of a node; empty: it is one of volumes."""
    match remedy.action:
        case "lower-request":
            return ", ".join(map(_format_lowered_request, remedy.lowered))
        case "tolerate":
            return f"tolerate {remedy.about}"
        case "label-node":
            return f"label node {remedy.node} {remedy.about}, if that is true of it"
        case "uncordon":
            return f"uncordon node {remedy.node}"
        case "spread-anyway":
            return f"let its pods spread over {remedy.about} only where that is possible (ScheduleAnyway)"
        case "drop-affinity":
            return f"leave out the required {remedy.about}, if its pods can do without"
        case "drop-host-port":
            return f"leave out host port {remedy.about}, if a Service can reach it instead"
    return ""


def _format_volume_change(remedy: NodeRemedy) -> str:
    """Return a change of claims, volumes, or what leads away from them; empty: it is another one."""
    about, to = remedy.about, remedy.to
    match remedy.action:
        case "create-claim":
            return f"create claim {about} {_format_wanted(remedy.wanted, 'at most')}"
        case "use-claim":
            return f"use claim {to} instead of {about}, if its data is what the pod needs"
        case "change-class":
            return f"give claim {about} the class {to}, which is there"
        case "provide-volume":
            driver = remedy.wanted.provisioner if remedy.wanted is not None else ""
            made = f" (or {driver} makes it)" if driver else ""
            return f"provide a PersistentVolume for claim {about}{made} {_format_wanted(remedy.wanted, 'at least')}"
        case "release-claim":
            holders = ", ".join(f"{holder.kind}/{holder.name}" for holder in remedy.holders)
            return f"end {holders}, which alone may use claim {about} (ReadWriteOncePod)"
        case "change-selector" if to:
            return f"change {about} in nodeSelector to {to}, where the pod's volumes are"
        case "change-selector":
            return f"leave out {about} of nodeSelector, which leads away from the pod's volumes"
    return ""


def _format_lowered_request(value: LoweredRequest) -> str:
    who = f"of {value.container}" if value.container else "of the pod level"
    by = f", which {value.source.ref} sets," if value.source is not None else ""
    return f"lower the {value.resource} request {who} from {value.from_}{by} to {value.to}"


def _format_wanted(wanted: StorageWanted | None, bound: str) -> str:
    """Return what a claim or a volume must have. ``bound``: what the size is."""
    if wanted is None:
        return ""
    parts = [f"named {wanted.volume}"] if wanted.volume else []
    there = " (there is no such class)" if wanted.class_missing else ""
    parts += [f"of class {wanted.storage_class}{there}" if wanted.storage_class else "of no class"]
    parts += [f"with {bound} {wanted.storage}"] if wanted.storage else []
    parts += [f"with {' and '.join(wanted.access_modes)}"] if wanted.access_modes else []
    parts += [f"as {wanted.mode}"] if wanted.mode != "Filesystem" else []
    parts += [f"labelled {','.join(f'{key}={value}' for key, value in wanted.labels.items())}"] if wanted.labels else []
    return ", ".join(parts)
