"""Values of CEL at run time, its errors, and what one evaluation knows and may cost.

JSON is Python's own: int is int, a map is a dict, a list a list or tuple, null is None; uint is UInt. Order and text
are those of cel-go. Values that a server of 1.37 or newer hands to expressions as Go has them compare as Go's structs
do. What an expression makes itself, a list, a map or what a function returns, is none of these; what it takes out of
one is.

Source: apiserver pkg/cel/common/valuesschemalesstyped.go.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from msgspec import Struct

from kubectl_kres.quantity import Quantity


class GoStruct(Struct, frozen=True):
    """A struct of Go. ``quantities``: fields that hold a quantity or a map of such, which compare as amounts."""

    name: str
    quantities: frozenset[str] = frozenset()


class TypedList(list[Any]):
    """A slice of Go."""

    __slots__ = ()


class TypedMap(dict[str, Any]):
    """A map of Go."""

    __slots__ = ()


class TypedStruct(dict[str, Any]):
    """A struct of Go, with the fields that the server would write."""

    __slots__ = ("go_type",)

    def __init__(self, go_type: GoStruct, fields: dict[str, Any]) -> None:
        super().__init__(fields)
        self.go_type = go_type


MAPS = frozenset({dict, TypedMap, TypedStruct})
TYPED = frozenset({TypedList, TypedMap, TypedStruct})
_GO_NAMES: dict[type, str] = {
    TypedList: "*common.reflectSchemalessTypedList", TypedMap: "*common.reflectSchemalessTypedMap",
    TypedStruct: "*common.reflectSchemalessTypedStruct", list: "*types.baseList", dict: "*types.baseMap",
}  # fmt: skip
_GO_TYPES = {"null_type": "types.Null", "optional_type": "*types.Optional", "type": "*types.Type"}


def go_type_name(value: Any, name: str) -> str:
    """Return how Go prints the type of a value; ``name``: of CEL's type."""
    return _GO_NAMES.get(type(value)) or _GO_TYPES.get(name) or f"types.{name.rpartition('.')[2].capitalize()}"


class Issue(Struct, frozen=True):
    """One error of parsing or checking. ``offset`` counts code points from the start; -1: no place."""

    offset: int
    message: str


#: Errors that are shown, each with the whole line that it is in.
_MOST_TOLD = 100


class CompileError(Exception):
    """The expression does not compile; the text is cel-go's, one block for each error."""

    def __init__(self, source: str, issues: list[Issue]) -> None:
        ordered = sorted(issues[:_MOST_TOLD], key=lambda issue: issue.offset)
        lines = [_format_issue(source, issue) for issue in ordered]
        if len(issues) > _MOST_TOLD:
            lines.append(f"{len(issues) - _MOST_TOLD} more errors were truncated")
        super().__init__("\n".join(lines))


class InstantiationError(Exception):
    """A constant in the expression cannot be worked out, which the server finds when it plans it."""


class EvalError(Exception):
    """The expression ends in an error. The message is the server's."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class CostExceeded(Exception):
    """The expression costs more than the server's limit for one expression."""

    message = "operation cancelled: actual cost limit exceeded"


class NotComputed(Exception):
    """The expression needs something that is not known here, or more work than is allowed. The text says what."""


def _format_issue(source: str, issue: Issue) -> str:
    """Source: cel-go common/error.go ToDisplayString."""
    if issue.offset < 0:
        return f"ERROR: <input>:-1:0: {issue.message}"
    before = source[: issue.offset]
    line, start = before.count("\n"), before.rfind("\n") + 1
    column = issue.offset - start
    snippet = source.split("\n")[line].replace("\t", " ")
    dots = "".join("." if ord(char) < 128 else "．" for char in snippet[:column])
    wide = column < len(snippet) and ord(snippet[column]) >= 128
    mark = dots + ("＾" if wide else "^")
    return f"ERROR: <input>:{line + 1}:{column + 1}: {issue.message}\n | {snippet}\n | {mark}"


#: What the server allows one expression, and one policy with one object.
PER_CALL, PER_POLICY = 1_000_000, 10_000_000


class EvaluationState:
    """What one evaluation knows. ``maximum``: the cost after which this program gives up; the server's is fixed."""

    __slots__ = ("cost", "lookup", "most", "parts", "text", "variables")

    def __init__(self, lookup: Mapping[str, Any], maximum: int = PER_CALL) -> None:
        self.lookup: Mapping[str, Any] = lookup
        self.variables: dict[str, Any] = {}
        self.cost, self.most = 0, maximum
        self.parts = _PARTS_FOLLOWED if maximum < PER_CALL else _PARTS
        self.text = _TEXT

    def charge(self, amount: int) -> None:
        """Raises CostExceeded, or NotComputed where this program stops before the server would."""
        self.cost += amount
        if self.cost > self.most:
            if self.most >= PER_CALL:
                raise CostExceeded
            raise NotComputed("an expression that costs too much to follow")

    def count_parts(self, value: Any) -> None:
        """Count the parts of a list or map, which the cost does not: one list may hold another many times over.

        Raises NotComputed where they are too many to look at.
        """
        waiting = [value]
        while waiting:
            result = waiting.pop()
            items = result.values() if type(result) in MAPS else result
            self.parts -= len(result)
            if self.parts < 0:
                raise NotComputed("an expression that makes too large a value")
            waiting.extend(item for item in items if type(item) in CONTAINERS and item)

    def count_text(self, made: Any) -> None:
        """Count what a function made, if it is text: many may be held at a time. Raises NotComputed."""
        if isinstance(made, str | bytes):
            bound_text(len(made))
            self.text -= len(made)
            if self.text < 0:
                raise NotComputed("an expression that makes too much text")


CONTAINERS = frozenset({list, *MAPS, *TYPED})
#: Characters of one text, and of all that one evaluation makes; the server has no bound of its own.
_MOST_TEXT, _TEXT = 10_000_000, 20_000_000


def bound_text(length: int) -> None:
    """Raise NotComputed for a text that is too long to be made."""
    if length > _MOST_TEXT:
        raise NotComputed("an expression that makes too long a text")


#: Parts of lists and maps that one evaluation may look at.
_PARTS_FOLLOWED, _PARTS = 100_000, 10_000_000

Step = Callable[[EvaluationState], Any]


_NO_OVERLOAD = "no such overload"
LEAST, MOST, MOST_UNSIGNED = -(2**63), 2**63 - 1, 2**64 - 1


class UInt(int):
    """An unsigned integer."""

    __slots__ = ()


class Timestamp(NamedTuple):
    """Nanoseconds since 1970."""

    nano: int


class Duration(NamedTuple):
    """Nanoseconds."""

    nano: int


class TypeValue(NamedTuple):
    """A type as a value."""

    name: str


class Optional(NamedTuple):
    """A value or none."""

    present: bool
    value: Any = None


class MessageLiteral(NamedTuple):
    """``Object.spec{...}`` or ``JSONPatch{...}``."""

    name: str
    fields: dict[str, Any]


class LibraryValue(NamedTuple):
    """A value of a library: ``kind`` is its type's name, ``key`` decides equality, ``value`` is what it holds."""

    kind: str
    key: Any
    value: Any


NONE = Optional(present=False)
_ZERO_SIZED = (str, bytes, list, tuple, dict)
_NAMES: tuple[tuple[type, str], ...] = (
    (bool, "bool"), (UInt, "uint"), (int, "int"), (float, "double"), (str, "string"), (bytes, "bytes"),
    (Timestamp, "google.protobuf.Timestamp"), (Duration, "google.protobuf.Duration"), (TypeValue, "type"),
    (Optional, "optional_type"), (Quantity, "kubernetes.Quantity"), (list, "list"), (tuple, "list"), (dict, "map"),
    (TypedList, "list"), (TypedMap, "map"), (TypedStruct, "map"),
)  # fmt: skip


def type_name(value: Any) -> str:
    """Return the name of the run-time type."""
    if value is None:
        return "null_type"
    if isinstance(value, MessageLiteral):
        return value.name
    if isinstance(value, LibraryValue):
        return value.kind
    exact = _EXACT.get(type(value))
    if exact is not None:
        return exact
    return next((name for kind, name in _NAMES if isinstance(value, kind)), "map")


_EXACT = dict(_NAMES)


STRUCTS = (Timestamp, Duration, TypeValue, Optional, MessageLiteral, LibraryValue)


def is_list(value: Any) -> bool:
    return isinstance(value, list) or (isinstance(value, tuple) and not isinstance(value, STRUCTS))


def compare(value: Any, other: Any) -> int:
    """-1, 0 or 1. Raises EvalError where the two have no order."""
    if isinstance(value, bool) and isinstance(other, bool):
        return int(value) - int(other)
    if _number(value) and _number(other):
        if any(isinstance(value, float) and math.isnan(value) for value in (value, other)):
            raise EvalError("NaN values cannot be ordered")
        return int(value > other) - int(value < other)
    if type(value) is type(other) and isinstance(value, str | bytes | Timestamp | Duration):
        if isinstance(value, str):
            value, other = value.encode("utf-8", "surrogatepass"), other.encode("utf-8", "surrogatepass")
        return int(value > other) - int(value < other)
    raise EvalError(_NO_OVERLOAD)


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def size(value: Any) -> int:
    """Return how long a value is for the cost of handling it; 1 for what has no length."""
    if isinstance(value, _ZERO_SIZED) and not isinstance(value, STRUCTS):
        return len(value)
    if isinstance(value, Optional) and value.present:
        return size(value.value)
    if isinstance(value, LibraryValue) and value.kind in ("net.IP", "net.CIDR"):
        return int(value.value.max_prefixlen) // 8
    return 1


def number_in_range(number: int, *, unsigned: bool = False) -> int:
    """Return the result of arithmetic. Raises EvalError on overflow."""
    if unsigned:
        if not 0 <= number <= MOST_UNSIGNED:
            raise EvalError("unsigned integer overflow")
        return UInt(number)
    if not LEAST <= number <= MOST:
        raise EvalError("integer overflow")
    return number


def double_text(number: float) -> str:
    """Go's %g with the shortest digits."""
    if math.isnan(number):
        return "NaN"
    if math.isinf(number):
        return "+Inf" if number > 0 else "-Inf"
    digits, exponent = _digits(abs(number))
    mark = "-" if math.copysign(1, number) < 0 else ""
    if exponent < -4 or exponent >= 21:
        mantissa = digits[0] + ("." + digits[1:] if len(digits) > 1 else "")
        return f"{mark}{mantissa}e{'-' if exponent < 0 else '+'}{abs(exponent):02d}"
    if exponent < 0:
        return f"{mark}0.{'0' * (-exponent - 1)}{digits}"
    if len(digits) <= exponent + 1:
        return mark + digits + "0" * (exponent + 1 - len(digits))
    return f"{mark}{digits[: exponent + 1]}.{digits[exponent + 1 :]}"


def _digits(number: float) -> tuple[str, int]:
    """Return the shortest decimal digits and the exponent of the first."""
    if number == 0:
        return "0", 0
    mantissa, _, exponent = f"{number!r}".partition("e")
    whole, _, part = mantissa.partition(".")
    power = int(exponent or 0) + len(whole) - 1
    digits = (whole + ("" if part == "0" else part)).rstrip("0")
    stripped = digits.lstrip("0")
    return stripped or "0", power - (len(digits) - len(stripped))


def duration_text(duration: Duration) -> str:
    """Seconds as a decimal, with an s."""
    whole, rest = divmod(abs(duration.nano), 10**9)
    part = f".{rest:09d}".rstrip("0").rstrip(".") if rest else ""
    return f"{'-' if duration.nano < 0 else ''}{whole}{part}s"


def key_text(value: Any) -> str:
    """Return how an error names a key or an index."""
    if isinstance(value, bool):
        return str(value).lower()
    return double_text(value) if isinstance(value, float) else str(value)
