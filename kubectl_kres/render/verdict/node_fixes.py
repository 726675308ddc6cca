"""What to change so that a node takes a pod, in words."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from kubectl_kres.render.verdict.edits import OLD_FIRST_TEXT
from kubectl_kres.reports.common.nodes import LoweredRequest, NodeFix, NodeRemedy, StorageWanted
from kubectl_kres.wording import join_words


def fix_text(remedy: NodeRemedy) -> str:
    """Return what to change, and what comes of it."""
    what = " and ".join(_format_volume_change(each) or _format_change(each) for each in (remedy, *remedy.also))
    if remedy.replaced:
        pods = join_words(remedy.replaced)
        what += f", and delete {'pod' if len(remedy.replaced) == 1 else 'pods'} {pods}, made of the template before"
    return f"{what}: {_format_outcome(remedy)} (evaluated)"


def _format_outcome(remedy: NodeRemedy) -> str:
    """Return who finds a node then."""
    if remedy.waiting > 1:
        whole = remedy.helped == remedy.waiting
        return f"{'all ' if whole else f'{remedy.helped} of the '}{remedy.waiting} pods that wait find a node then"
    more = f" and {remedy.nodes - 1} more" if remedy.nodes > 1 else ""
    return f"the pod then fits on {remedy.node}{more}"


def _format_change(remedy: NodeRemedy) -> str:
    """Return a change of the pod or of a node; empty: it is one of volumes."""
    match remedy.action:
        case "lower-request":
            return ", ".join(map(_format_lowered_request, remedy.lowered))
        case "tolerate":
            return f"tolerate {remedy.about}"
        case "label-node":
            return f"label node {remedy.node} {remedy.about}, if that is what it is"
        case "uncordon":
            return f"uncordon node {remedy.node}"
        case "spread-anyway":
            return f"let its pods spread over {remedy.about} only where that is possible (ScheduleAnyway)"
        case "drop-affinity":
            return f"leave out the required {remedy.about}, if its pods can do without"
        case "replace-pod":
            return f"delete pod {remedy.about}, which is of an older template: no change of the template reaches it"
        case "no-surge":
            text = OLD_FIRST_TEXT.format(number=remedy.to or 1)
            return f"{text}: {remedy.about} holds the room" if remedy.about else text
        case "cap-request":
            return remedy.about
        case "wait-for-end":
            return f"wait for {_format_ending(remedy)} to end"
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
            driver_text = f" (or {driver} makes it)" if driver else ""
            return (
                f"provide a PersistentVolume for claim {about}{driver_text} {_format_wanted(remedy.wanted, 'at least')}"
            )
        case "release-claim":
            holders = ", ".join(f"{holder.kind}/{holder.name}" for holder in remedy.holders)
            return f"end {holders}, which alone may use claim {about} (ReadWriteOncePod)"
        case "change-selector" if to:
            return f"change {about} in nodeSelector to {to}, where the pod's volumes are"
        case "change-selector":
            return f"leave out {about} of nodeSelector, which leads away from the pod's volumes"
    return ""


def _format_lowered_request(value: LoweredRequest) -> str:
    whose = f"of {value.container}" if value.container else "of the pod level"
    by = f", which {value.source.ref} sets," if value.source is not None else ""
    return f"lower the {value.resource} request {whose} from {value.from_}{by} to {value.to}"


def _format_wanted(wanted: StorageWanted | None, bound: str) -> str:
    """Return what a claim or a volume must have. ``bound``: what the size is."""
    if wanted is None:
        return ""
    parts = [f"named {wanted.volume}"] if wanted.volume else []
    exists = " (there is no such class)" if wanted.class_missing else ""
    parts += [f"of class {wanted.storage_class}{exists}" if wanted.storage_class else "of no class"]
    parts += [f"with {bound} {wanted.storage}"] if wanted.storage else []
    parts += [f"with {' and '.join(wanted.access_modes)}"] if wanted.access_modes else []
    parts += [f"as {wanted.mode}"] if wanted.mode != "Filesystem" else []
    parts += [f"labelled {','.join(f'{key}={value}' for key, value in wanted.labels.items())}"] if wanted.labels else []
    return ", ".join(parts)


def _format_ending(remedy: NodeRemedy) -> str:
    pods = join_words([f"{holder.namespace}/{holder.name}" for holder in remedy.holders[:3]])
    more = f" and {len(remedy.holders) - 3} more" if len(remedy.holders) > 3 else ""
    return f"{pods}{more} on {remedy.node}, which {'are' if len(remedy.holders) > 1 else 'is'} being deleted,"


WORDS: Mapping[type, Callable[[Any], str]] = {NodeFix: lambda fix: fix_text(fix.change)}
