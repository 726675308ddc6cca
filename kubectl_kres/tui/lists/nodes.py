"""The list of nodes: how much of each its pods request, what is left, and who holds it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from msgspec import Struct

from kubectl_kres.model import scheduling
from kubectl_kres.model.objects import BOUND_PODS
from kubectl_kres.render.node_room import NODE_STATES, node_room_lines
from kubectl_kres.render.overview import SIGNS
from kubectl_kres.render.text.line import Line, Tone, fine_bar
from kubectl_kres.reports.scheduling.node_room import RoomOnNode, node_holders, node_room_needs, node_rooms
from kubectl_kres.scheduling.node_info import BoundPod
from kubectl_kres.tui.lists.list_spec import WORST_FIRST, Listing, ListRows, RowSource, RowSubject
from kubectl_kres.tui.location import Location
from kubectl_kres.tui.session import Session
from kubectl_kres.tui.table.columns import Column, amount

_BAR = 6
_RANKS = {state: rank for rank, state in enumerate(NODE_STATES)}


class NodeRow(Struct, frozen=True):
    """A node, the pods on it, and how its bars are drawn."""

    room: RoomOnNode
    pods: Sequence[BoundPod]
    ascii_only: bool

    def percent(self, resource: str) -> int | None:
        each = self.room.resource(resource)
        return each.percent if each is not None else None


def _rows(session: Session, namespace: str) -> ListRows:
    del namespace
    for counted in node_rooms(session.store):
        if counted is None:
            # A place to stop at, while pods are counted.
            yield (), None
            continue
        room, pods = counted
        yield (room.node.name,), NodeRow(room, pods, session.setting.ascii_only)


def row_sign(row: NodeRow) -> tuple[str, Tone]:
    """``x``: it does not answer; ``!``: no new pod finds room on it; ``?``: its pods are not known."""
    return SIGNS[NODE_STATES[row.room.state]]


def _rank(row: NodeRow) -> tuple[int, int]:
    return _RANKS[row.room.state], -(row.room.fullest_percent or 0)


def _resource_columns(resource: str, head: str) -> tuple[Column, ...]:
    def field(name: str) -> Callable[[NodeRow], str]:
        def text(row: NodeRow) -> str:
            each = row.room.resource(resource)
            return str(getattr(each, name) or "-") if each is not None else "-"

        return text

    def percent(row: NodeRow) -> str:
        number = row.percent(resource)
        return f"{number}%" if number is not None else "-"

    def drawn(row: NodeRow) -> str:
        number = row.percent(resource)
        return fine_bar(number, _BAR, ascii_only=row.ascii_only) if number is not None else ""

    def tone(row: NodeRow) -> Tone:
        number = row.percent(resource)
        return "warn" if number is not None and number >= 100 else ""

    def rank(row: NodeRow) -> int:
        number = row.percent(resource)
        return -1 if number is None else number

    free, whole, requested = map(field, ("free", "allocatable", "requested"))
    return (
        Column(resource, f"{head}%", percent, rank, tone, right=True, most=5, down=True),
        Column(f"{resource}.bar", "", drawn, rank, tone, width=_BAR + 1, drawn=True, wide=True, searched=False),
        Column(f"{resource}.free", f"{head} FREE", free, amount(free), right=True, most=12, down=True, searched=False),
        Column(f"{resource}.requested", f"{head} ASKED", requested, amount(requested), right=True, most=12, down=True,
               searched=False, wide=True),
        Column(f"{resource}.allocatable", f"{head} ALL", whole, amount(whole), right=True, most=12, down=True,
               searched=False, wide=True),
    )  # fmt: skip


def _pods(row: NodeRow) -> str:
    each = row.room.resource("pods")
    count = "?" if row.room.pods is None else str(row.room.pods)
    return f"{count}/{each.allocatable}" if each is not None else count


def _columns(namespace: str) -> tuple[Column, ...]:
    del namespace
    return (
        Column("name", "NAME", lambda row: row.room.node.name, most=48, vital=True),
        Column("state", "STATE", lambda row: row.room.state, _rank, lambda row: row_sign(row)[1], most=12, vital=True),
        *_resource_columns("cpu", "CPU"),
        *_resource_columns("memory", "MEM"),
        Column("pods", "PODS", _pods, lambda row: row.room.pods or 0, right=True, most=9, down=True),
        Column("taints", "TAINTS", lambda row: ", ".join(row.room.taints), most=60, gives_way=True),
    )


def _detail(session: Session, row: NodeRow, width: int) -> Iterator[Line]:
    del session
    # Of the pods that were counted: to look for them among all takes long in a large cluster, at each row.
    holders = node_holders(row.room, row.pods)
    yield from node_room_lines(row.room, holders, width, ascii_only=row.ascii_only)


LISTING = Listing(
    names=("nodes", "node", "no"),
    about="what the pods on each node request, what is left, who holds it",
    source=RowSource(kinds=(scheduling.NODES, BOUND_PODS), reads=lambda _: node_room_needs(), rows=_rows),
    columns=_columns,
    row_mark=row_sign,
    detail=_detail,
    subject=RowSubject(
        ref=lambda row: row.room.node, opens=lambda row: Location("pods", filter=f"node={row.room.node.name}")
    ),
    command=lambda session, _: session.command("tui nodes"),
    order=WORST_FIRST,
    hints=("sort-cpu", "sort-memory", "sort-state", "faults"),
    scoped=False,
)
