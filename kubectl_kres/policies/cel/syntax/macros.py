"""Calls that are syntax: has(), all(), map() and the like. Source: cel-go parser/macro.go, ext/comprehensions.go."""

from __future__ import annotations

from kubectl_kres.policies.cel.syntax.ast import Ident, Literal, Loop, OptMap, Select, SyntaxNode

#: Macro to the number of arguments that it takes with one variable, and the minor version from which it is there.
_ONE = {
    "all": ((2,), 0), "exists": ((2,), 0), "exists_one": ((2,), 0), "existsOne": ((2,), 0), "map": ((2, 3), 0),
    "filter": ((2,), 0), "sortBy": ((2,), 34),
}  # fmt: skip
_TWO = {
    "all": (3,), "exists": (3,), "exists_one": (3,), "existsOne": (3,),
    "transformList": (3, 4), "transformMap": (3, 4), "transformMapEntry": (3, 4),
}  # fmt: skip
_TWO_SINCE, _OPTIONALS_SINCE = 32, 28
_ACCUMULATORS = ("@result", "__result__")
_QUANTIFIERS = ("all", "exists", "exists_one")


class MacroError(Exception):
    """A macro with arguments that it does not take."""

    def __init__(self, offset: int, message: str) -> None:
        super().__init__(message)
        self.offset, self.message = offset, message


def expand(
    offset: int, name: str, target: SyntaxNode | None, args: list[SyntaxNode], version: tuple[int, int]
) -> SyntaxNode | None:
    """Return what the macro stands for; None if the call is none. Raises Misuse."""
    minor, count = version[1], len(args)
    if target is None:
        return _expand_has(offset, args[0]) if name == "has" and count == 1 else None
    if name in _ONE and count in _ONE[name][0] and minor >= _ONE[name][1]:
        return _one_variable(offset, name, target, args)
    if name in _TWO and count in _TWO[name] and minor >= _TWO_SINCE:
        return _two_variables(offset, name, target, args)
    if name in ("optMap", "optFlatMap") and count == 2 and minor >= _OPTIONALS_SINCE:
        variable = args[0]
        if not isinstance(variable, Ident):
            raise MacroError(variable.offset, f"{name}() variable name must be a simple identifier")
        return OptMap(offset, target, variable.name, args[1], flat=name == "optFlatMap")
    return None


def _expand_has(offset: int, arg: SyntaxNode) -> SyntaxNode:
    if not isinstance(arg, Select) or arg.optional:
        raise MacroError(arg.offset, "invalid argument to has() macro")
    return Select(offset, arg.operand, arg.field, test=True)


def _one_variable(offset: int, name: str, target: SyntaxNode, args: list[SyntaxNode]) -> SyntaxNode:
    kind = "exists_one" if name == "existsOne" else name
    message = "argument must be a simple name" if kind in _QUANTIFIERS else "argument is not an identifier"
    if kind == "sortBy" and not _sortable(target):
        texts = "sortBy can only be applied to a list, identifier, comprehension, call or select expression"
        raise MacroError(target.offset, texts)
    variable = _variable(args[0], message)
    if kind == "map" and len(args) == 3:
        return Loop(offset, kind, target, (variable,), args[2], args[1])
    return Loop(offset, kind, target, (variable,), args[1], None)


def _sortable(target: SyntaxNode) -> bool:
    return not isinstance(target, Literal)


def _two_variables(offset: int, name: str, target: SyntaxNode, args: list[SyntaxNode]) -> SyntaxNode:
    kind = "exists_one" if name == "existsOne" else name
    first = _variable(args[0], "argument must be a simple name", check=False)
    second = _variable(args[1], "argument must be a simple name", check=False)
    if first == second:
        raise MacroError(args[1].offset, f"duplicate variable name: {first}")
    for name_, arg in ((first, args[0]), (second, args[1])):
        if name_ in _ACCUMULATORS:
            raise MacroError(arg.offset, "iteration variable overwrites accumulator variable")
    if len(args) == 4:
        return Loop(offset, kind, target, (first, second), args[3], args[2])
    return Loop(offset, kind, target, (first, second), args[2], None)


def _variable(arg: SyntaxNode, message: str, *, check: bool = True) -> str:
    if not isinstance(arg, Ident):
        raise MacroError(arg.offset, message)
    if check and arg.name in _ACCUMULATORS:
        raise MacroError(arg.offset, "iteration variable overwrites accumulator variable")
    return arg.name
