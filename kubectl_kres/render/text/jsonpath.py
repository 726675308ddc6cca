"""kubectl's JSONPath templates: ``{range .items[*]}{.subject.name}{end}``.

Source: client-go util/jsonpath parser.go and jsonpath.go, with AllowMissingKeys as kubectl get has it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from kubectl_kres.errors import UsageError
from kubectl_kres.render.text.line import sanitize_text

#: A step of a path: the values that one value leads to.
Step = Callable[[Any], Iterator[Any]]

_FIELD = re.compile(r"(?:[^.\[\]{}()\s'\"=!<>\\]|\\.)+")
_FILTER = re.compile(r"\s*(?P<left>.+?)\s*(?:(?P<operator>==|!=|<=|>=|<|>)\s*(?P<right>.+?)\s*)?", re.DOTALL)
_QUOTED = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"")
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r"}


class Text(NamedTuple):
    """What is printed as it is."""

    text: str


class Path(NamedTuple):
    """Values, with spaces between them. In a range ``$`` is what the range is at, as in client-go."""

    steps: tuple[Step, ...]

    def values(self, current: Any) -> list[Any]:
        result = [current]
        for step in self.steps:
            result = [value for item in result for value in step(item)]
        return result


class Range(NamedTuple):
    """What stands between ``range`` and ``end``, once for each value."""

    path: Path
    body: tuple[Text | Path | Range, ...]


def parse(template: str) -> tuple[Text | Path | Range, ...]:
    """Return the parts of a template. Raises UsageError."""
    stack: list[tuple[Path | None, list[Text | Path | Range]]] = [(None, [])]
    for part in _split_template(template):
        if isinstance(part, str):
            stack[-1][1].append(Text(part))
            continue
        word = part.text.strip()
        if word.startswith("range ") or word == "range":
            stack.append((_path(word.removeprefix("range").strip(), template), []))
        elif word == "end":
            path, body = stack.pop()
            if path is None:
                raise _fault(template, "not in range, nothing to end")
            stack[-1][1].append(Range(path, tuple(body)))
        elif quoted := _QUOTED.fullmatch(word):
            stack[-1][1].append(Text(_unquote_text(quoted[0])))
        else:
            stack[-1][1].append(_path(word, template))
    if len(stack) > 1:
        raise _fault(template, "unexpected end of a range")
    return tuple(stack[0][1])


def render_template(parts: Sequence[Text | Path | Range], data: Any) -> str:
    """Return a document in the form of a template. What it does not have is left out."""
    return "".join(_render_parts(parts, data))


def _render_parts(parts: Sequence[Text | Path | Range], current: Any) -> Iterator[str]:
    for part in parts:
        match part:
            case Text():
                yield part.text
            case Path():
                yield " ".join(value_text(value) for value in part.values(current))
            case Range():
                for value in part.path.values(current):
                    yield from _render_parts(part.body, value)


def value_text(value: Any) -> str:
    """Return a text as it is, but for what a terminal may obey; anything else as JSON."""
    if isinstance(value, str):
        return sanitize_text(value, keep_newlines=True)
    return sanitize_text(msgspec.json.encode(value, order="sorted").decode())


class _Action(NamedTuple):
    text: str


def _split_template(template: str) -> Iterator[str | _Action]:
    """Texts, and what stands between braces."""
    rest = template
    while rest:
        text, brace, rest = rest.partition("{")
        if text:
            yield text
        if not brace:
            return
        end = _find_closing_brace(rest)
        if end < 0:
            raise _fault(template, "unclosed action")
        yield _Action(rest[:end])
        rest = rest[end + 1 :]


def _find_closing_brace(text: str) -> int:
    """Return where the brace closes that is open before ``text``; negative: nowhere."""
    index = 0
    while index < len(text):
        if quoted := _QUOTED.match(text, index):
            index = quoted.end()
        elif text[index] == "}":
            return index
        else:
            index += 1
    return -1


def _unquote_text(text: str) -> str:
    return re.sub(r"\\(.)", lambda match: _ESCAPES.get(match[1], match[1]), text[1:-1], flags=re.DOTALL)


def _path(text: str, template: str) -> Path:
    inner = text.removeprefix("$").removeprefix("@")
    if inner and inner[0] not in ".[":
        raise _fault(template, f"unrecognized identifier {inner}")
    return Path(tuple(_steps(inner, template)))


def _steps(text: str, template: str) -> Iterator[Step]:
    rest = text
    while rest:
        if rest.startswith(".."):
            yield _descendants
            rest = rest[1:] if rest[2:3] not in {"[", ""} else rest[2:]
        elif rest == ".":
            return
        elif rest.startswith((".[", "[")):
            inside, rest = _bracket(rest.removeprefix("."), template)
            yield _read_bracket_step(inside, template)
        elif rest.startswith(".*"):
            yield _all_elements
            rest = rest[2:]
        else:
            match = _FIELD.match(rest.removeprefix("."))
            if match is None:
                raise _fault(template, f"unrecognized character in action: {rest[:1]!r}")
            yield _field(re.sub(r"\\(.)", r"\1", match[0]))
            rest = rest.removeprefix(".")[match.end() :]


def _bracket(text: str, template: str) -> tuple[str, str]:
    """Return what stands in the bracket at the beginning, and what follows it."""
    depth, index = 0, 0
    while index < len(text):
        if quoted := _QUOTED.match(text, index):
            index = quoted.end()
            continue
        depth += {"[": 1, "]": -1}.get(text[index], 0)
        index += 1
        if not depth:
            return text[1 : index - 1].strip(), text[index:]
    raise _fault(template, "unterminated array")


def _read_bracket_step(inside: str, template: str) -> Step:
    """Return the step that a bracket is: all, a filter, a slice, keys or indices."""
    if inside == "*":
        return _all_elements
    if inside.startswith("?(") and inside.endswith(")"):
        return _build_filter_step(inside[2:-1], template)
    steps = [_read_bracket_part(part.strip(), template) for part in _split(inside)]
    return lambda value: (item for step in steps for item in step(value))


def _split(text: str) -> list[str]:
    """At the commas outside quotes."""
    return re.findall(rf"(?:{_QUOTED.pattern}|[^,])+", text) or [""]


def _read_bracket_part(text: str, template: str) -> Step:
    if _QUOTED.fullmatch(text):
        return _field(_unquote_text(text))
    if match := re.fullmatch(r"(-?\d+)?(?::(-?\d+)?)?(?::(\d+)?)?", text):
        if ":" not in text and match[1]:
            return _index(int(match[1]))
        if ":" in text:
            bounds = slice(*(int(part) if part else None for part in match.groups()))
            return lambda value: iter(value[bounds] if isinstance(value, list) else ())
    if _FIELD.fullmatch(text):
        return _field(text)
    raise _fault(template, f"invalid array index {text}")


def _field(name: str) -> Step:
    def step(value: Any) -> Iterator[Any]:
        if isinstance(value, Mapping) and name in value:
            yield value[name]

    return step


def _index(number: int) -> Step:
    def step(value: Any) -> Iterator[Any]:
        if isinstance(value, list) and -len(value) <= number < len(value):
            yield value[number]

    return step


def _all_elements(value: Any) -> Iterator[Any]:
    if isinstance(value, Mapping):
        yield from value.values()
    elif isinstance(value, list):
        yield from value


def _descendants(value: Any) -> Iterator[Any]:
    yield value
    for item in _all_elements(value):
        yield from _descendants(item)


def _build_filter_step(text: str, template: str) -> Step:
    match = _FILTER.fullmatch(text)
    if match is None:
        raise _fault(template, f"invalid filter {text}")
    left, operator = _operand(match["left"], template), match["operator"]
    right = _operand(match["right"], template) if operator else None

    def step(value: Any) -> Iterator[Any]:
        for item in _all_elements(value):
            first = left(item)
            if right is None:
                if first:
                    yield item
                continue
            second = right(item)
            if first and second and _matches_comparison(first[0], operator, second[0]):
                yield item

    return step


def _operand(text: str, template: str) -> Callable[[Any], list[Any]]:
    """Return the values that a side of a comparison stands for."""
    if _QUOTED.fullmatch(text):
        constant: Any = _unquote_text(text)
    elif text in {"true", "false"}:
        constant = text == "true"
    elif re.fullmatch(r"-?\d+(\.\d+)?", text):
        constant = float(text)
    else:
        path = _path(text, template)
        return path.values
    return lambda _value: [constant]


def _matches_comparison(left: Any, operator: str, right: Any) -> bool:
    if isinstance(left, bool) is not isinstance(right, bool):
        return operator == "!="
    numbers = isinstance(left, (int, float)) and isinstance(right, (int, float))
    if not numbers and not (isinstance(left, str) and isinstance(right, str)):
        return operator == "!="
    tests: dict[str, Callable[[Any, Any], bool]] = {
        "==": lambda value, other: value == other,
        "!=": lambda value, other: value != other,
        "<": lambda value, other: value < other,
        "<=": lambda value, other: value <= other,
        ">": lambda value, other: value > other,
        ">=": lambda value, other: value >= other,
    }
    return tests[operator](left, right)


def _fault(template: str, reason: str) -> UsageError:
    return UsageError(f"error parsing jsonpath {sanitize_text(template)}: {reason}")


#: Header and path of a column.
Columns = tuple[tuple[str, Path], ...]


def columns(text: str) -> Columns:
    """Return the columns of ``NAME:.subject.name,OUTCOME:.verdict.outcome``; braces and the first dot may be left out.

    Raises UsageError in kubectl's words. Source: kubectl pkg/cmd/get customcolumn.go.
    """
    if not text:
        raise UsageError("custom-columns format specified but no custom columns given")
    pairs: list[tuple[str, Path]] = []
    for part in _outside_brackets(text):
        head, colon, path = part.partition(":")
        if not colon or not head:
            raise UsageError(
                f"unexpected custom-columns spec: {sanitize_text(part)}, expected <header>:<json-path-expr>"
            )
        inner = path.removeprefix("{").removesuffix("}")
        if not inner:
            raise UsageError(
                f"unexpected path string, expected a 'name1.name2' or '.name1.name2', not {sanitize_text(path)}"
            )
        pairs.append((head, _path(inner if inner[0] in ".[$@" else f".{inner}", path)))
    return tuple(pairs)


def _outside_brackets(text: str) -> list[str]:
    return re.findall(r"(?:\[[^\]]*\]|[^,])+", text)


def table(wanted: Columns, items: Sequence[Any]) -> Iterator[str]:
    """Yield a line for the heads and one for each item; ``<none>`` where there is nothing."""
    rows = [tuple(sanitize_text(head) for head, _ in wanted)]
    for item in items:
        cells = (", ".join(value_text(value) for value in path.values(item)) for _, path in wanted)
        rows.append(tuple(" ".join(cell.split()) or "<none>" for cell in cells))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        yield "   ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
