"""Pictures of a terminal, one after the other, as one SVG that moves by itself and fetches nothing.

Lines that several pictures share are written once; whoever asks for less motion sees the first picture alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

_RULE = re.compile(r"\.terminal-\d+-(r\d+) \{ ([^}]*) \}")
_ELEMENT = re.compile(r"<(rect|text) [^>]*?(?:/>|>[^<]*</text>)")
_Y = re.compile(r' y="([\d.]+)"')
_BODY = re.compile(r'(<g transform="translate\(9, 41\)" [^>]*>)(.*)</g>\s*</svg>', re.DOTALL)
#: From the top of a line to where its letters stand, and from line to line.
_ASCENT, _LINE = 18.5, 24.4


class Frame(NamedTuple):
    """A picture as Rich draws it, and for how many seconds it is shown."""

    svg: str
    seconds: float


def animated(frames: Sequence[Frame]) -> str:
    """All frames have the size of the first one."""
    classes: dict[str, str] = {}
    lines: dict[str, str] = {}
    bodies = [_body(frame.svg, classes, lines) for frame in frames]
    head, tail = _around(frames[0].svg)
    rules = "\n".join(f".{name} {{ {rule} }}" for rule, name in classes.items())
    head = re.sub(r"(\.t-r\d+ \{[^}]*\}\s*)+", f"{rules}\n{_motion([frame.seconds for frame in frames])}\n", head)
    shared = "\n".join(f'<g id="{name}">{line}</g>' for line, name in lines.items())
    head = head.replace("</defs>", f"{shared}\n</defs>")
    shown = "\n".join(f'<g class="f f{number}">{body}</g>' for number, body in enumerate(bodies))
    return f"{head}{shown}{tail}"


def _around(svg: str) -> tuple[str, str]:
    plain = _named(svg)
    match = _BODY.search(plain)
    assert match is not None
    return plain[: match.start()] + match.group(1), "</g>\n</svg>\n"


def _named(svg: str) -> str:
    return re.sub(r"terminal-\d+-", "t-", svg)


def _body(svg: str, classes: dict[str, str], lines: dict[str, str]) -> str:
    """References to the lines of a picture; what is new is added to ``lines``."""
    own = dict(_RULE.findall(svg))
    match = _BODY.search(svg)
    assert match is not None
    rows: dict[int, list[str]] = {}
    for element in _ELEMENT.finditer(match.group(2)):
        text = element.group()
        y = _Y.search(text)
        assert y is not None
        number = round((float(y.group(1)) - (1.5 if element.group(1) == "rect" else _ASCENT)) / _LINE)
        rows.setdefault(number, []).append(_renamed(text, own, classes))
    return "".join(f'<use href="#{lines.setdefault("".join(row), f"l{len(lines)}")}"/>' for row in rows.values())


def _renamed(text: str, own: dict[str, str], classes: dict[str, str]) -> str:
    def name(match: re.Match[str]) -> str:
        rule = own[match.group(1)]
        return f'class="{classes.setdefault(rule, f"c{len(classes)}")}"'

    return _named(re.sub(r'class="terminal-\d+-(r\d+)"', name, text)).replace(' shape-rendering="crispEdges"', "")


def _motion(seconds: Iterable[float]) -> str:
    lengths = list(seconds)
    whole, rules, passed = sum(lengths), [], 0.0
    for number, length in enumerate(lengths):
        start, end = 100 * passed / whole, 100 * (passed + length) / whole
        before = f"0%, {start:.3f}% {{ visibility: hidden }} " if number else ""
        rules.append(
            f"@keyframes k{number} {{ {before}{start:.3f}%, {end:.3f}% {{ visibility: visible }} "
            f"{end:.3f}%, 100% {{ visibility: hidden }} }}"
        )
        passed += length
    rules.append(
        f".f {{ visibility: hidden; animation-duration: {whole:.1f}s; animation-iteration-count: infinite; "
        "animation-timing-function: step-end; } .f rect { shape-rendering: crispEdges }"
    )
    rules.extend(f".f{number} {{ animation-name: k{number} }}" for number in range(len(lengths)))
    rules.append("@media (prefers-reduced-motion: reduce) { .f { animation: none } .f0 { visibility: visible } }")
    return "\n".join(rules)
