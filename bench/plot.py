"""Lines in a plot, as SVG: what commands take of clusters of several sizes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

WIDTH, HEIGHT, LEFT, TOP, RIGHT, BOTTOM = 640, 360, 60, 40, 40, 50
COLOURS = ("#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#8c564b")
Points = Sequence[tuple[float, float]]


def svg(title: str, across: str, lines: Mapping[str, Points]) -> str:
    """A line for each name. Both axes begin at zero, so that what grows with the size is a straight line."""
    most_x = max(x for points in lines.values() for x, _ in points)
    most_y = max(y for points in lines.values() for _, y in points)

    def at(x: float, y: float) -> tuple[float, float]:
        wide, high = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM
        return round(LEFT + wide * x / most_x, 1), round(TOP + high * (1 - y / most_y), 1)

    parts = [_text(LEFT, 20, title, "start", 14), _text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 10, across)]
    parts += [_axis(at(0, 0), at(most_x, 0)), _axis(at(0, 0), at(0, most_y))]
    for x in sorted({x for points in lines.values() for x, _ in points}):
        parts.append(_text(at(x, 0)[0], HEIGHT - BOTTOM + 16, f"{x:,.0f}"))
    for step in range(5):
        y = most_y * step / 4
        parts.append(_text(LEFT - 6, at(0, y)[1] + 4, f"{y:.3g}", "end"))
    for index, (name, points) in enumerate(lines.items()):
        colour = COLOURS[index % len(COLOURS)]
        drawn = " ".join(f"{x},{y}" for x, y in (at(*point) for point in points))
        parts.append(f'<polyline points="{drawn}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts.append(_text(LEFT + 12, TOP + 14 + 16 * index, name, "start", 12, colour))
    inner = "\n".join(parts)
    size = f'width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif">\n{_GROUND}\n{inner}\n</svg>\n'


_GROUND = f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>'


def _text(x: float, y: float, text: str, anchor: str = "middle", size: int = 11, colour: str = "#333") -> str:
    place = f'x="{x}" y="{y}" text-anchor="{anchor}" font-size="{size}" fill="{colour}"'
    return f"<text {place}>{escape(text)}</text>"


def _axis(start: tuple[float, float], end: tuple[float, float]) -> str:
    return f'<line x1="{start[0]}" y1="{start[1]}" x2="{end[0]}" y2="{end[1]}" stroke="#333"/>'
