"""What nodes have for a pod that waits for one, as a table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kubectl_kres.render.text.columns import columns
from kubectl_kres.render.text.line import Line, toned, wrapped
from kubectl_kres.reports.common.nodes import NodeRoom

_MORE = "taints, affinity and volumes are not looked at; kubectl describe node and kubectl resource-capacity show nodes"


def node_lines(rooms: Sequence[NodeRoom], width: int) -> Iterator[Line]:
    """An empty line, heads and a row for each resource; nothing if there is nothing."""
    if not rooms:
        return
    yield [("", "")]
    known = rooms[0].enough is not None
    heads = ["nodes", "ASKS FOR", "REQUESTED", "LARGEST FREE", "LARGEST NODE", "ENOUGH ON"]
    rows = [[f"  {one.resource}", *_cells(one)] for one in rooms]
    shown = columns([heads, *rows] if known else [_few([heads])[0], *_few(rows)])
    yield [("quiet", shown[0])]
    for one, text in zip(rooms, shown[1:], strict=True):
        scarce = not (one.possible if one.enough is None else one.enough)
        yield [("bad" if scarce else "", text)]
    yield from toned("quiet", wrapped(_MORE, width, first="  ", rest="  "))


def _cells(one: NodeRoom) -> tuple[str, str, str, str, str]:
    enough = one.possible if one.enough is None else one.enough
    free = f"{one.free} {one.on}".rstrip() if one.free is not None else ""
    return one.asked, one.requested or "", free, one.allocatable, f"{enough} of {one.nodes}"


def _few(rows: Sequence[Sequence[str]]) -> list[list[str]]:
    """Without what takes the pods of all namespaces."""
    return [[row[0], row[1], row[4], row[5]] for row in rows]
