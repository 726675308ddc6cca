"""Regular expressions as Go has them (RE2): linear in the text, whatever the pattern. Errors in Go's words.

A pattern as a tree, with the errors of Go's regexp/syntax.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

_DIGIT = ((48, 57),)
_WORD = ((48, 57), (65, 90), (95, 95), (97, 122))
_SPACE = ((9, 10), (12, 13), (32, 32))
_CLASSES = {"d": _DIGIT, "w": _WORD, "s": _SPACE}
_POSIX = {
    "alnum": ((48, 57), (65, 90), (97, 122)), "alpha": ((65, 90), (97, 122)), "ascii": ((0, 127),),
    "blank": ((9, 9), (32, 32)), "cntrl": ((0, 31), (127, 127)), "digit": _DIGIT, "graph": ((33, 126),),
    "lower": ((97, 122),), "print": ((32, 126),), "punct": ((33, 47), (58, 64), (91, 96), (123, 126)),
    "space": ((9, 13), (32, 32)), "upper": ((65, 90),), "word": _WORD, "xdigit": ((48, 57), (65, 70), (97, 102)),
}  # fmt: skip
_ESCAPES = {"a": 7, "f": 12, "t": 9, "n": 10, "r": 13, "v": 11}
_MOST_REPEATS, _LAST = 1000, 0x10FFFF
Ranges = tuple[tuple[int, int], ...]


class BadPattern(ValueError):
    """The pattern does not compile; the text is Go's."""


class PatternParser:
    """A tree of tuples: (kind, ...)."""

    def __init__(self, pattern: str) -> None:
        self.pattern, self.position, self.flags = pattern, 0, frozenset[str]()

    def _peek(self) -> str:
        return self.pattern[self.position] if self.position < len(self.pattern) else ""

    def alternatives(self) -> Any:
        kept = self.flags
        branches = [self._sequence()]
        while self._peek() == "|":
            self.position += 1
            branches.append(self._sequence())
        self.flags = kept
        return ("alt", branches)

    def _sequence(self) -> Any:
        parts: list[Any] = []
        while self._peek() not in ("", "|", ")"):
            part = self._parse_repeat()
            if part is not None:
                parts.append(part)
        return ("seq", parts)

    def _parse_repeat(self) -> Any:
        start = self.position
        part = self._atom()
        repeats = 0
        while part is not None:
            first = self.position
            bounds = self._bounds()
            if bounds is None:
                break
            lazy = self._peek() == "?"
            self.position += lazy
            repeats += 1
            if repeats > 1:
                raise BadPattern(
                    f"error parsing regexp: invalid nested repetition operator: `{self._repetition_operators(start)}`"
                )
            if max(bounds[0], bounds[1] or 0) > _MOST_REPEATS:
                raise BadPattern(f"error parsing regexp: invalid repeat count: `{self.pattern[first : self.position]}`")
            part = ("repeat", part, bounds[0], bounds[1], lazy != ("U" in self.flags))
        return part

    def _repetition_operators(self, start: int) -> str:
        offset = self.position
        begin = offset
        while begin > start and self.pattern[begin - 1] in "*+?":
            begin -= 1
        return self.pattern[begin:offset]

    def _bounds(self) -> tuple[int, int | None] | None:
        char = self._peek()
        if char in ("*", "+", "?"):
            self.position += 1
            return {"*": (0, None), "+": (1, None), "?": (0, 1)}[char]
        end = self.pattern.find("}", self.position) if char == "{" else -1
        if end < 0:
            return None
        low, comma, high = self.pattern[self.position + 1 : end].partition(",")
        if not low.isdigit() or (high and not high.isdigit()):
            return None
        bounds = (int(low), int(high) if high else (None if comma else int(low)))
        if bounds[1] is not None and bounds[1] < bounds[0]:
            raise BadPattern(f"error parsing regexp: invalid repeat count: `{self.pattern[self.position : end + 1]}`")
        self.position = end + 1
        return bounds

    def _atom(self) -> Any:
        char = self._peek()
        if char == "(":
            return self._group()
        if char == "[":
            return ("char", self._class())
        if char in ("*", "+", "?"):
            end = self.position + 1
            raise BadPattern(
                f"error parsing regexp: missing argument to repetition operator: `{self.pattern[self.position : end]}`"
            )
        self.position += 1
        if char == ".":
            return ("char", ((0, _LAST),) if "s" in self.flags else ((0, 9), (11, _LAST)))
        if char in ("^", "$"):
            return ("assert", ("m" if "m" in self.flags else "") + char)
        if char == "\\":
            return self._parse_escape()
        return ("char", self._fold_case(((ord(char), ord(char)),)))

    def _group(self) -> Any:
        start = self.position
        self.position += 1
        kept = self.flags
        if self._peek() == "?" and not self._options():
            return None
        tree = self.alternatives()
        if self._peek() != ")":
            raise BadPattern(f"error parsing regexp: missing closing ): `{self.pattern}`")
        self.position += 1
        self.flags = kept
        return tree if start >= 0 else None

    def _options(self) -> bool:
        """Read ``?:``, ``?P<name>``, ``?i`` and the like; False if it was flags alone."""
        rest = self.pattern[self.position :]
        for opening in ("?P<", "?<"):
            if rest.startswith(opening):
                end = rest.find(">")
                name = rest[len(opening) : end]
                if end < 0 or not name.isidentifier():
                    shown = rest[: end + 1] if end >= 0 else rest
                    raise BadPattern(f"error parsing regexp: invalid named capture: `({shown}`")
                self.position += end + 1
                return True
        flags, on, offset = set(self.flags), True, 1
        while offset < len(rest) and rest[offset] in "imsU-":
            if rest[offset] == "-":
                on = False
            elif on:
                flags.add(rest[offset])
            else:
                flags.discard(rest[offset])
            offset += 1
        if offset < len(rest) and rest[offset] in ":)":
            self.flags = frozenset(flags)
            self.position += offset + 1
            return rest[offset] == ":"
        raise BadPattern(f"error parsing regexp: invalid or unsupported Perl syntax: `({rest[: offset + 1]}`")

    def _parse_escape(self) -> Any:
        char = self._peek()
        if not char:
            raise BadPattern("error parsing regexp: trailing backslash at end of expression: ``")
        if char in "bBAz":
            self.position += 1
            return ("assert", char)
        if char == "Q":
            end = self.pattern.find("\\E", self.position)
            text = self.pattern[self.position + 1 : end if end >= 0 else len(self.pattern)]
            self.position = end + 2 if end >= 0 else len(self.pattern)
            return ("seq", [("char", ((ord(name), ord(name)),)) for name in text])
        return ("char", self._escape_ranges())

    def _escape_ranges(self) -> Ranges:
        char = self._peek()
        start = self.position - 1
        self.position += 1
        if char.lower() in _CLASSES and char:
            ranges = _CLASSES[char.lower()]
            return _invert_ranges(ranges) if char.isupper() else ranges
        code = self._escape_code(char, start)
        return self._fold_case(((code, code),))

    def _escape_code(self, char: str, start: int) -> int:
        if char in _ESCAPES:
            return _ESCAPES[char]
        if char == "x":
            end = self.pattern.find("}", self.position) if self._peek() == "{" else -1
            digits = (
                self.pattern[self.position + 1 : end] if end >= 0 else self.pattern[self.position : self.position + 2]
            )
            try:
                code = int(digits, 16)
            except ValueError:
                shown = self.pattern[start : self.position + 2]
                raise BadPattern(f"error parsing regexp: invalid escape sequence: `{shown}`") from None
            self.position = end + 1 if end >= 0 else self.position + 2
            return code
        if char.isdigit() or char.isalpha() or not char:
            raise BadPattern(f"error parsing regexp: invalid escape sequence: `{self.pattern[start : self.position]}`")
        return ord(char)

    def _class(self) -> Ranges:
        start = self.position
        self.position += 1
        negated = self._peek() == "^"
        self.position += negated
        ranges: list[tuple[int, int]] = []
        first = True
        while self._peek() != "]" or first:
            if not self._peek():
                raise BadPattern(f"error parsing regexp: missing closing ]: `{self.pattern[start:]}`")
            first = False
            ranges.extend(self._class_item())
        self.position += 1
        wrapped = self._fold_case(tuple(ranges))
        return _invert_ranges(wrapped) if negated else wrapped

    def _class_item(self) -> Ranges:
        rest = self.pattern[self.position :]
        if rest.startswith("[:"):
            end = rest.find(":]")
            name = rest[2:end].lstrip("^")
            if end > 0 and name in _POSIX:
                self.position += end + 2
                return _invert_ranges(_POSIX[name]) if rest[2] == "^" else _POSIX[name]
            if end > 0:
                raise BadPattern(f"error parsing regexp: invalid character class range: `{rest[: end + 2]}`")
        first = self.position
        low = self._class_char()
        if len(low) != 1 or low[0][0] != low[0][1]:
            return low
        if self._peek() != "-" or self.pattern[self.position + 1 : self.position + 2] in ("]", ""):
            return low
        self.position += 1
        high = self._class_char()
        if high[0][0] < low[0][0] or len(high) != 1:
            shown = self.pattern[first : self.position]
            raise BadPattern(f"error parsing regexp: invalid character class range: `{shown}`")
        return ((low[0][0], high[0][0]),)

    def _class_char(self) -> Ranges:
        char = self._peek()
        self.position += 1
        if char != "\\":
            return ((ord(char), ord(char)),)
        kept, self.flags = self.flags, frozenset[str]()
        ranges = self._escape_ranges()
        self.flags = kept
        return ranges

    def _fold_case(self, ranges: Ranges) -> Ranges:
        if "i" not in self.flags:
            return ranges
        more = list(ranges)
        for low, high in ranges:
            for start, end, shift in ((65, 90, 32), (97, 122, -32)):
                if low <= end and high >= start:
                    more.append((max(low, start) + shift, min(high, end) + shift))
        return tuple(more)


def _invert_ranges(ranges: Ranges) -> Ranges:
    out, offset = [], 0
    for low, high in sorted(ranges):
        if low > offset:
            out.append((offset, low - 1))
        offset = max(offset, high + 1)
    return (*out, (offset, _LAST)) if offset <= _LAST else tuple(out)


_MOST_STEPS = 20_000


class _Op(NamedTuple):
    """One instruction: ``char`` with ranges, ``split`` to two targets, ``jump``, ``assert`` or ``match``."""

    kind: str
    ranges: Ranges = ()
    to: int = 0
    other: int = 0
    test: str = ""


class Pattern:
    """A compiled pattern."""

    def __init__(self, program: list[_Op]) -> None:
        self.program = program

    def search(self, text: str, start: int = 0) -> tuple[int, int] | None:
        """Return where the leftmost match stands; of several the one that Perl would prefer."""
        threads: list[tuple[int, int]] = []
        best: tuple[int, int] | None = None
        for offset in range(start, len(text) + 1):
            threads = (
                self._expand_threads([*threads, (0, offset)], text, offset)
                if best is None
                else self._expand_threads(threads, text, offset)
            )
            next_answer: list[tuple[int, int]] = []
            code = ord(text[offset]) if offset < len(text) else -1
            for index, first in threads:
                op = self.program[index]
                if op.kind == "match":
                    best = (first, offset)
                    break
                if code >= 0 and any(low <= code <= high for low, high in op.ranges):
                    next_answer.append((index + 1, first))
            threads = next_answer
            if best is not None and not threads:
                break
        return best

    def _expand_threads(self, threads: list[tuple[int, int]], text: str, offset: int) -> list[tuple[int, int]]:
        """Return the places that consume a character, or match, in the order of preference."""
        seen: set[int] = set()
        ready: list[tuple[int, int]] = []
        for first, begun in threads:
            stack = [first]
            while stack:
                index = stack.pop()
                if index in seen:
                    continue
                seen.add(index)
                op = self.program[index]
                if op.kind == "jump":
                    stack.append(op.to)
                elif op.kind == "split":
                    stack.extend((op.other, op.to))
                elif op.kind == "assert":
                    if _is_assertion_met(op.test, text, offset):
                        stack.append(index + 1)
                else:
                    ready.append((index, begun))
        return ready


def _is_word_character(text: str, offset: int) -> bool:
    return 0 <= offset < len(text) and (text[offset].isalnum() or text[offset] == "_") and text[offset].isascii()


def _is_assertion_met(test: str, text: str, offset: int) -> bool:
    if test in ("^", "A"):
        return offset == 0
    if test in ("$", "z"):
        return offset == len(text)
    if test == "m^":
        return offset == 0 or text[offset - 1] == "\n"
    if test == "m$":
        return offset == len(text) or text[offset] == "\n"
    return (_is_word_character(text, offset - 1) != _is_word_character(text, offset)) is (test == "b")


@lru_cache(maxsize=256)
def compile_pattern(pattern: str) -> Pattern:
    """Raises BadPattern."""
    parser = PatternParser(pattern)
    tree = parser.alternatives()
    if parser.position < len(pattern):
        raise BadPattern(f"error parsing regexp: unexpected ): `{pattern}`")
    program: list[_Op] = []
    _emit(tree, program)
    program.append(_Op("match"))
    return Pattern(program)


def _emit(tree: Any, program: list[_Op]) -> None:
    if len(program) > _MOST_STEPS:
        raise BadPattern("error parsing regexp: expression too large")
    _EMIT[tree[0]](tree, program)


def _emit_char(tree: Any, program: list[_Op]) -> None:
    program.append(_Op("char", tree[1]))


def _emit_assert(tree: Any, program: list[_Op]) -> None:
    program.append(_Op("assert", test=tree[1]))


def _emit_seq(tree: Any, program: list[_Op]) -> None:
    for part in tree[1]:
        _emit(part, program)


def _emit_alt(tree: Any, program: list[_Op]) -> None:
    jumps = []
    for index, branch in enumerate(tree[1]):
        last = index == len(tree[1]) - 1
        fork = len(program)
        if not last:
            program.append(_Op("split"))
        _emit(branch, program)
        if not last:
            jumps.append(len(program))
            program.append(_Op("jump"))
            program[fork] = _Op("split", to=fork + 1, other=len(program))
    for position in jumps:
        program[position] = _Op("jump", to=len(program))


def _emit_repeat(tree: Any, program: list[_Op]) -> None:
    _, part, low, high, lazy = tree
    for _ in range(low):
        _emit(part, program)
    if high is None:
        fork = len(program)
        program.append(_Op("split"))
        _emit(part, program)
        program.append(_Op("jump", to=fork))
        program[fork] = _fork(fork + 1, len(program), lazy=lazy)
        return
    forks = []
    for _ in range(high - low):
        forks.append(len(program))
        program.append(_Op("split"))
        _emit(part, program)
    for fork in forks:
        program[fork] = _fork(fork + 1, len(program), lazy=lazy)


def _fork(inside: int, outside: int, *, lazy: bool) -> _Op:
    return _Op("split", to=outside, other=inside) if lazy else _Op("split", to=inside, other=outside)


_EMIT: dict[str, Callable[[Any, list[_Op]], None]] = {
    "char": _emit_char, "assert": _emit_assert, "seq": _emit_seq, "alt": _emit_alt, "repeat": _emit_repeat,
}  # fmt: skip
