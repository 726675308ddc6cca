"""A node in lines: what is left of it, whose pods request it, and the pods that request most."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from kubectl_kres.quantity import Quantity, parse
from kubectl_kres.render.pictures.holders import Room, holders_lines
from kubectl_kres.render.text.line import Line, clip_text, labelled_lines, size
from kubectl_kres.reports.common.system import Severity
from kubectl_kres.reports.scheduling.node_room import USUAL, NodeHolder, NodeState, RoomOnNode

#: By state how bad it is; the worst first.
NODE_STATES: Mapping[NodeState, Severity] = {
    "not ready": "bad",
    "over": "warn",
    "full": "warn",
    "cordoned": "warn",
    "unknown": "unknown",
    "nearly full": "",
    "ok": "",
}
#: Pods that are named.
_NAMED = 20
#: What a state means, where the figures do not say it.
_MEANING: Mapping[NodeState, str] = {
    "not ready": "it does not answer: its pods are moved off it, and no other one comes",
    "over": "the requests of its pods are more than there is: a resize waits, or the node has shrunk; no pod fits",
    "full": "no pod that requests any of what is used up fits",
    "cordoned": "new pods are kept off it",
    "unknown": "the pods on it could not be read",
}


def node_room_lines(room: RoomOnNode, holders: Sequence[NodeHolder], width: int, *, ascii_only: bool) -> Iterator[Line]:
    """Yield what is free, what keeps pods off, who holds it by namespace, and the pods with the largest share."""
    if meaning := _MEANING.get(room.state):
        yield from labelled_lines(room.state.partition(" ")[0], meaning, width)
    free = [f"{each.resource} {each.free or each.allocatable}" for each in room.resources]
    yield from labelled_lines("has" if room.pods is None else "free", ", ".join(free), width)
    if room.taints:
        yield from labelled_lines("taints", ", ".join(room.taints), width)
    if room.promised:
        text = f"{room.promised} more, for which others have to go"
        yield from labelled_lines("comes", text, width)
    yield from holders_lines(
        list(_rooms(room, holders)), width, ascii_only=ascii_only, figures=False, end="allocatable"
    )
    yield from _pods(holders, width)


def _rooms(room: RoomOnNode, holders: Sequence[NodeHolder]) -> Iterator[Room]:
    """Yield what each namespace holds of what is asked for, the tightest first."""
    for each in sorted(room.resources, key=lambda each: -(each.percent or 0)):
        if each.resource == "pods" or not each.percent:
            continue
        holds: dict[str, Quantity] = {}
        for holder in holders:
            if (requested := holder.requests.get(each.resource)) is not None and not holder.promised:
                before, space = holds.get(holder.pod.namespace), holder.pod.namespace
                holds[space] = parse(requested) if before is None else before + parse(requested)
        yield Room(each.resource, each.allocatable, {name: str(amount) for name, amount in holds.items()})


def _pods(holders: Sequence[NodeHolder], room: int) -> Iterator[Line]:
    if not holders:
        return
    shown = holders[:_NAMED]
    names = [name for name in USUAL if name != "pods"]
    names += sorted({name for holder in shown for name in holder.requests} - set(names))
    figures = [[f"{holder.percent}%", *(holder.requests.get(name, "-") for name in names)] for holder in shown]
    heads = ["SHARE", *map(str.upper, names)]
    widths = [max(map(size, column)) for column in zip(heads, *figures, strict=True)]
    rows = zip([heads, *figures], ["POD", *map(_pod, shown)], strict=True)
    for index, (texts, name) in enumerate(rows):
        left = "  ".join(f"{text:>{width}}" for text, width in zip(texts, widths, strict=True))
        yield [("quiet" if not index else "", clip_text(f"  {left}  {name}", room))]
    if len(holders) > _NAMED:
        yield [("quiet", f"  and {len(holders) - _NAMED} with less")]


def _pod(holder: NodeHolder) -> str:
    remark = "  (is to come)" if holder.promised else "  (is being deleted)" if holder.ending else ""
    return f"{holder.pod.namespace}/{holder.pod.name}{remark}"
