"""Stacked bars of who holds how much of a pool or quota, with what is free and what is wanted beyond it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from msgspec import Struct

from kubectl_kres.quantity import Quantity, parse, ratio
from kubectl_kres.render.text.line import Line, Tone, pad_text, size, tone_lines, wrap_text
from kubectl_kres.reports.quota.quota_report import QuotaReport

#: Parts that have a letter of their own; the others share the last sign.
LETTERS = "ABCDEFGH"
OTHERS = "+"
#: What is free, and what is wanted beyond the end, in blocks and in ASCII.
_FREE, _WANTED = ("·", "."), ("▒", "#")
_END = ("▏", "|")


class Stack(NamedTuple):
    """``parts``: what each holds, in one unit; in sum perhaps over ``hard``. ``wanted``: asked for beyond."""

    parts: Sequence[tuple[str, int]]
    hard: int
    wanted: int = 0


def draw_stack(stack: Stack, cells: int, *, ascii_only: bool) -> Line:
    """Return the bar in ``cells`` cells: a letter a part, what is free, the end at ``hard``, and behind it what is
    wanted.

    What is not zero has a cell at least. Where parts hold more than ``hard`` the end stands among them.
    """
    total = sum(amount for _, amount in stack.parts)
    free = max(0, stack.hard - total)
    # The end takes a cell of its own.
    amounts = [*(amount for _, amount in stack.parts), free, stack.wanted]
    widths = divide_cells(amounts, cells - 1)
    drawn = "".join(letter * width for (letter, _), width in zip(stack.parts, widths, strict=False))
    end = _END[ascii_only]
    if total > stack.hard:
        index = min(len(drawn), _cells(stack.hard, sum(amounts), cells - 1))
        over: list[tuple[Tone, str]] = [("", drawn[:index]), ("strong", end), ("bad", drawn[index:])]
    else:
        over = [("", drawn), ("quiet", _FREE[ascii_only] * widths[-2]), ("strong", end)]
    return [*over, ("warn", _WANTED[ascii_only] * widths[-1])]


def _cells(amount: int, total: int, cells: int) -> int:
    return amount * cells // total if total else 0


def divide_cells(amounts: Sequence[int], cells: int) -> list[int]:
    """Cells in proportion, which add up to ``cells`` unless there are fewer cells than parts; by largest remainder."""
    total = sum(amounts)
    if not total or cells <= 0:
        return [0] * len(amounts)
    widths = [max(1, amount * cells // total) if amount else 0 for amount in amounts]
    order = sorted(range(len(amounts)), key=lambda index: -(amounts[index] * cells % total))
    while sum(widths) < cells:
        for index in order:
            if amounts[index] and sum(widths) < cells:
                widths[index] += 1
    while sum(widths) > cells and max(widths) > 1:
        widths[widths.index(max(widths))] -= 1
    return widths


#: What is free, and what ends a part, in blocks and in ASCII.
_FREE_CELL, _APART = ("·", "."), ("▏", "|")
#: Cells of a bar at the least and at the most.
_LEAST, _MOST = 16, 60


class Room(Struct, frozen=True):
    """One resource: ``hard``, what each holds of it by name, and what is wanted beyond. Amounts are quantities."""

    name: str
    hard: str
    holds: Mapping[str, str]
    wanted: str | None = None

    @property
    def share(self) -> float:
        """Return how much of ``hard`` is held, and of what has none whether anything is."""
        hard, number = parse(self.hard).nano, sum(parse(amount).nano for amount in self.holds.values())
        return ratio(number, hard) if hard else float(number > 0)


def quota_rooms(report: QuotaReport) -> list[Room]:
    """The names of a quota with its users, the tightest first."""
    rooms = [
        Room(
            use.name,
            use.hard,
            {share.name: share.usage[use.name] for share in report.shares if use.name in share.usage},
        )
        for use in report.uses
    ]
    return sorted(rooms, key=lambda room: -room.share)


def assign_letters(rooms: Sequence[Room]) -> dict[str, str]:
    """Return a letter for each of the largest holders of the tightest resource, then of the others."""
    names: dict[str, None] = {}
    for room in rooms:
        names |= dict.fromkeys(sorted(room.holds, key=lambda name: -parse(room.holds[name]).nano))
    return dict(zip(names, LETTERS, strict=False))


def room_bar(room: Room, letters: Mapping[str, str], cells: int, *, ascii_only: bool) -> Line:
    """Return the bar of one resource."""
    parts: dict[str, int] = dict.fromkeys((*letters.values(), OTHERS), 0)
    for name, amount in room.holds.items():
        parts[letters.get(name, OTHERS)] += parse(amount).nano
    wanted_count = parse(room.wanted).nano if room.wanted is not None else 0
    stack = Stack([part for part in parts.items() if part[1]], parse(room.hard).nano, wanted_count)
    return draw_stack(stack, cells, ascii_only=ascii_only)


def named_bar(room: Room, letters: Mapping[str, str], cells: int, *, ascii_only: bool) -> str:
    """Return the bar of one resource in ``cells`` cells, with names in it where they have room, letters where not.

    The end of what there is stands in the last of them, whatever is wanted beyond, so that bars below each other have
    one scale.
    """
    hard = parse(room.hard).nano
    known_objects = sorted(((parse(amount).nano, name) for name, amount in room.holds.items()), reverse=True)
    total = max(hard, sum(amount for amount, _ in known_objects))
    free = _FREE_CELL[ascii_only]
    drawn, used = "", 0
    for amount, name in known_objects:
        used += amount
        width = max(1, used * cells // total - len(drawn)) if total and amount else 0
        short = name.rpartition("/")[2]
        texts = (f"{short} {room.holds[name]}", short, letters.get(name, OTHERS) * (width - 1))
        text = next((text for text in texts if size(text) < width), "")
        drawn += f"{text:<{max(0, width - 1)}}{_APART[ascii_only]}"
    left = cells - len(drawn)
    words = f"{_free(room)} free" if _free(room).nano > 0 else ""
    return f"{drawn}{(words if size(words) <= left else ''):{free}<{max(0, left)}}"


def holders_lines(
    rooms: Sequence[Room], width: int, *, ascii_only: bool, figures: bool = True, end: str = "hard"
) -> Iterator[Line]:
    """Yield a bar a resource, then whose the letters are, what is free and what is wanted.

    ``figures``: with what each holds, where nothing else says it. ``end``: what the end of a bar is called.
    """
    if not any(room.holds for room in rooms):
        return
    letters = assign_letters(rooms)
    label = max(size(room.name) for room in rooms)
    hards = max(size(room.hard) for room in rooms)
    cells = max(_LEAST, min(_MOST, width - label - hards - 6))
    yield [("strong", "who holds it")]
    for room in rooms:
        head = f"  {pad_text(room.name, label)}  {pad_text(room.hard, hards)}  "
        yield [("", head), *room_bar(room, letters, cells, ascii_only=ascii_only)]
    for name, letter in letters.items() if figures else ():
        amounts = (f"{room.name} {room.holds[name]}" for room in rooms if name in room.holds)
        yield from tone_lines("", wrap_text(f"{name}  {', '.join(amounts)}", width, first=f"  {letter} ", rest="    "))
    if not figures:
        yield from _wrap_texts([f"{letter} {name}" for name, letter in letters.items()], width)
    for text in _legend_texts(rooms, letters, end, ascii_only=ascii_only):
        yield from tone_lines("quiet", wrap_text(text, width, first="  ", rest="    "))


def _wrap_texts(texts: Sequence[str], width: int) -> Iterator[Line]:
    """Texts beside each other, as many as a line takes."""
    line = ""
    for text in texts:
        if line and size(line) + size(text) + 3 > width:
            yield [("", line)]
            line = ""
        line += f"{'   ' if line else '  '}{text}"
    yield [("", line)]


def _legend_texts(rooms: Sequence[Room], letters: Mapping[str, str], end: str, *, ascii_only: bool) -> list[str]:
    """Return what stands in the bars beside the letters."""
    others = {name for room in rooms for name in room.holds} - letters.keys()
    texts = [f"{OTHERS} {len(others)} other{'s' * (len(others) != 1)}"] if others else []
    free = [f"{room.name} {left}" for room in rooms if (left := _free(room)).nano > 0]
    if free:
        texts.append(f"{'.' if ascii_only else '·'} free: {', '.join(free)}")
    wanted = [f"{room.name} {room.wanted}" for room in rooms if room.wanted is not None]
    if wanted:
        texts.append(f"{'#' if ascii_only else '▒'} wanted: {', '.join(wanted)}")
    texts.append(f"{_END[ascii_only]} {end}")
    return texts


def _free(room: Room) -> Quantity:
    hard = parse(room.hard)
    return Quantity(hard.nano - sum(parse(amount).nano for amount in room.holds.values()), hard.format)
