"""Regular expressions as Go has them (RE2): linear in the text, whatever the pattern. Errors in Go's words."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

from kubectl_kres.policies.cel.libraries.regex_tree import BadPattern, PatternParser, Ranges

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
