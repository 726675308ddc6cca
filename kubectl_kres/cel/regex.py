"""Regular expressions as Go has them (RE2): linear in the text, whatever the pattern. Errors in Go's words."""

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
_MOST_REPEATS, _MOST_STEPS, _LAST = 1000, 20_000, 0x10FFFF
_Ranges = tuple[tuple[int, int], ...]


class BadPattern(ValueError):
    """The pattern does not compile; the text is Go's."""


class _Op(NamedTuple):
    """One instruction: ``char`` with ranges, ``split`` to two targets, ``jump``, ``assert`` or ``match``."""

    kind: str
    ranges: _Ranges = ()
    to: int = 0
    other: int = 0
    test: str = ""


class Pattern:
    """A compiled pattern."""

    def __init__(self, program: list[_Op]) -> None:
        self.program = program

    def search(self, text: str, start: int = 0) -> tuple[int, int] | None:
        """Where the leftmost match stands; of several the one that Perl would prefer."""
        threads: list[tuple[int, int]] = []
        best: tuple[int, int] | None = None
        for at in range(start, len(text) + 1):
            if best is None:
                threads = self._spread([*threads, (0, at)], text, at)
            else:
                threads = self._spread(threads, text, at)
            following: list[tuple[int, int]] = []
            code = ord(text[at]) if at < len(text) else -1
            for place, begun in threads:
                op = self.program[place]
                if op.kind == "match":
                    best = (begun, at)
                    break
                if code >= 0 and any(low <= code <= high for low, high in op.ranges):
                    following.append((place + 1, begun))
            threads = following
            if best is not None and not threads:
                break
        return best

    def _spread(self, threads: list[tuple[int, int]], text: str, at: int) -> list[tuple[int, int]]:
        """The places that consume a character, or match, in the order of preference."""
        seen: set[int] = set()
        ready: list[tuple[int, int]] = []
        for first, begun in threads:
            stack = [first]
            while stack:
                place = stack.pop()
                if place in seen:
                    continue
                seen.add(place)
                op = self.program[place]
                if op.kind == "jump":
                    stack.append(op.to)
                elif op.kind == "split":
                    stack.extend((op.other, op.to))
                elif op.kind == "assert":
                    if _holds(op.test, text, at):
                        stack.append(place + 1)
                else:
                    ready.append((place, begun))
        return ready


def _word(text: str, at: int) -> bool:
    return 0 <= at < len(text) and (text[at].isalnum() or text[at] == "_") and text[at].isascii()


def _holds(test: str, text: str, at: int) -> bool:
    if test in ("^", "A"):
        return at == 0
    if test in ("$", "z"):
        return at == len(text)
    if test == "m^":
        return at == 0 or text[at - 1] == "\n"
    if test == "m$":
        return at == len(text) or text[at] == "\n"
    return (_word(text, at - 1) != _word(text, at)) is (test == "b")


@lru_cache(maxsize=256)
def compile_pattern(pattern: str) -> Pattern:
    """Raises BadPattern."""
    parser = _Parser(pattern)
    tree = parser.alternatives()
    if parser.at < len(pattern):
        raise BadPattern(f"error parsing regexp: unexpected ): `{pattern}`")
    program: list[_Op] = []
    _emit(tree, program)
    program.append(_Op("match"))
    return Pattern(program)


class _Parser:
    """A tree of tuples: (kind, ...)."""

    def __init__(self, pattern: str) -> None:
        self.pattern, self.at, self.flags = pattern, 0, frozenset[str]()

    def _peek(self) -> str:
        return self.pattern[self.at] if self.at < len(self.pattern) else ""

    def alternatives(self) -> Any:
        kept = self.flags
        branches = [self._sequence()]
        while self._peek() == "|":
            self.at += 1
            branches.append(self._sequence())
        self.flags = kept
        return ("alt", branches)

    def _sequence(self) -> Any:
        parts: list[Any] = []
        while self._peek() not in ("", "|", ")"):
            part = self._repeated()
            if part is not None:
                parts.append(part)
        return ("seq", parts)

    def _repeated(self) -> Any:
        start = self.at
        part = self._atom()
        repeats = 0
        while part is not None:
            begun = self.at
            bounds = self._bounds()
            if bounds is None:
                break
            lazy = self._peek() == "?"
            self.at += lazy
            repeats += 1
            if repeats > 1:
                raise BadPattern(f"error parsing regexp: invalid nested repetition operator: `{self._ops(start)}`")
            if max(bounds[0], bounds[1] or 0) > _MOST_REPEATS:
                raise BadPattern(f"error parsing regexp: invalid repeat count: `{self.pattern[begun : self.at]}`")
            part = ("repeat", part, bounds[0], bounds[1], lazy != ("U" in self.flags))
        return part

    def _ops(self, start: int) -> str:
        at = self.at
        begin = at
        while begin > start and self.pattern[begin - 1] in "*+?":
            begin -= 1
        return self.pattern[begin:at]

    def _bounds(self) -> tuple[int, int | None] | None:
        char = self._peek()
        if char in ("*", "+", "?"):
            self.at += 1
            return {"*": (0, None), "+": (1, None), "?": (0, 1)}[char]  # type: ignore[return-value]
        end = self.pattern.find("}", self.at) if char == "{" else -1
        if end < 0:
            return None
        low, comma, high = self.pattern[self.at + 1 : end].partition(",")
        if not low.isdigit() or (high and not high.isdigit()):
            return None
        bounds = (int(low), int(high) if high else (None if comma else int(low)))
        if bounds[1] is not None and bounds[1] < bounds[0]:
            raise BadPattern(f"error parsing regexp: invalid repeat count: `{self.pattern[self.at : end + 1]}`")
        self.at = end + 1
        return bounds

    def _atom(self) -> Any:
        char = self._peek()
        if char == "(":
            return self._group()
        if char == "[":
            return ("char", self._class())
        if char in ("*", "+", "?"):
            end = self.at + 1
            raise BadPattern(f"error parsing regexp: missing argument to repetition operator: `{self.pattern[self.at:end]}`")
        self.at += 1
        if char == ".":
            return ("char", ((0, _LAST),) if "s" in self.flags else ((0, 9), (11, _LAST)))
        if char in ("^", "$"):
            return ("assert", ("m" if "m" in self.flags else "") + char)
        if char == "\\":
            return self._escaped()
        return ("char", self._folded(((ord(char), ord(char)),)))

    def _group(self) -> Any:
        start = self.at
        self.at += 1
        kept = self.flags
        if self._peek() == "?" and not self._options():
            return None
        tree = self.alternatives()
        if self._peek() != ")":
            raise BadPattern(f"error parsing regexp: missing closing ): `{self.pattern}`")
        self.at += 1
        self.flags = kept
        return tree if start >= 0 else None

    def _options(self) -> bool:
        """Read ``?:``, ``?P<name>``, ``?i`` and the like; False if it was flags alone."""
        rest = self.pattern[self.at :]
        for opening in ("?P<", "?<"):
            if rest.startswith(opening):
                end = rest.find(">")
                name = rest[len(opening) : end]
                if end < 0 or not name.isidentifier():
                    shown = rest[: end + 1] if end >= 0 else rest
                    raise BadPattern(f"error parsing regexp: invalid named capture: `({shown}`")
                self.at += end + 1
                return True
        flags, on, at = set(self.flags), True, 1
        while at < len(rest) and rest[at] in "imsU-":
            if rest[at] == "-":
                on = False
            elif on:
                flags.add(rest[at])
            else:
                flags.discard(rest[at])
            at += 1
        if at < len(rest) and rest[at] in ":)":
            self.flags = frozenset(flags)
            self.at += at + 1
            return rest[at] == ":"
        raise BadPattern(f"error parsing regexp: invalid or unsupported Perl syntax: `({rest[: at + 1]}`")

    def _escaped(self) -> Any:
        char = self._peek()
        if not char:
            raise BadPattern("error parsing regexp: trailing backslash at end of expression: ``")
        if char in "bBAz":
            self.at += 1
            return ("assert", char)
        if char == "Q":
            end = self.pattern.find("\\E", self.at)
            text = self.pattern[self.at + 1 : end if end >= 0 else len(self.pattern)]
            self.at = end + 2 if end >= 0 else len(self.pattern)
            return ("seq", [("char", ((ord(one), ord(one)),)) for one in text])
        return ("char", self._escape_ranges())

    def _escape_ranges(self) -> _Ranges:
        char = self._peek()
        start = self.at - 1
        self.at += 1
        if char.lower() in _CLASSES and char:
            ranges = _CLASSES[char.lower()]
            return _inverted(ranges) if char.isupper() else ranges
        code = self._escape_code(char, start)
        return self._folded(((code, code),))

    def _escape_code(self, char: str, start: int) -> int:
        if char in _ESCAPES:
            return _ESCAPES[char]
        if char == "x":
            end = self.pattern.find("}", self.at) if self._peek() == "{" else -1
            digits = self.pattern[self.at + 1 : end] if end >= 0 else self.pattern[self.at : self.at + 2]
            try:
                code = int(digits, 16)
            except ValueError:
                shown = self.pattern[start : self.at + 2]
                raise BadPattern(f"error parsing regexp: invalid escape sequence: `{shown}`") from None
            self.at = end + 1 if end >= 0 else self.at + 2
            return code
        if char.isdigit() or char.isalpha() or not char:
            raise BadPattern(f"error parsing regexp: invalid escape sequence: `{self.pattern[start : self.at]}`")
        return ord(char)

    def _class(self) -> _Ranges:
        start = self.at
        self.at += 1
        negated = self._peek() == "^"
        self.at += negated
        ranges: list[tuple[int, int]] = []
        first = True
        while self._peek() != "]" or first:
            if not self._peek():
                raise BadPattern(f"error parsing regexp: missing closing ]: `{self.pattern[start:]}`")
            first = False
            ranges.extend(self._class_item())
        self.at += 1
        folded = self._folded(tuple(ranges))
        return _inverted(folded) if negated else folded

    def _class_item(self) -> _Ranges:
        rest = self.pattern[self.at :]
        if rest.startswith("[:"):
            end = rest.find(":]")
            name = rest[2:end].lstrip("^")
            if end > 0 and name in _POSIX:
                self.at += end + 2
                return _inverted(_POSIX[name]) if rest[2] == "^" else _POSIX[name]
            if end > 0:
                raise BadPattern(f"error parsing regexp: invalid character class range: `{rest[: end + 2]}`")
        begun = self.at
        low = self._class_char()
        if len(low) != 1 or low[0][0] != low[0][1]:
            return low
        if self._peek() != "-" or self.pattern[self.at + 1 : self.at + 2] in ("]", ""):
            return low
        self.at += 1
        high = self._class_char()
        if high[0][0] < low[0][0] or len(high) != 1:
            shown = self.pattern[begun : self.at]
            raise BadPattern(f"error parsing regexp: invalid character class range: `{shown}`")
        return ((low[0][0], high[0][0]),)

    def _class_char(self) -> _Ranges:
        char = self._peek()
        self.at += 1
        if char != "\\":
            return ((ord(char), ord(char)),)
        kept, self.flags = self.flags, frozenset[str]()
        ranges = self._escape_ranges()
        self.flags = kept
        return ranges

    def _folded(self, ranges: _Ranges) -> _Ranges:
        if "i" not in self.flags:
            return ranges
        more = list(ranges)
        for low, high in ranges:
            for start, end, shift in ((65, 90, 32), (97, 122, -32)):
                if low <= end and high >= start:
                    more.append((max(low, start) + shift, min(high, end) + shift))
        return tuple(more)


def _inverted(ranges: _Ranges) -> _Ranges:
    out, at = [], 0
    for low, high in sorted(ranges):
        if low > at:
            out.append((at, low - 1))
        at = max(at, high + 1)
    return (*out, (at, _LAST)) if at <= _LAST else tuple(out)


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
    for place in jumps:
        program[place] = _Op("jump", to=len(program))


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
