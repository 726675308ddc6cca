"""Functions on strings, with format().

Source: cel-go ext/strings.go, ext/formatting.go, apiserver cel/library/regex.go.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any

from kubectl_kres.go_text import quote
from kubectl_kres.policies.cel.base import values
from kubectl_kres.policies.cel.libraries.conversions import to_string
from kubectl_kres.policies.cel.libraries.operators import cost_regex
from kubectl_kres.policies.cel.libraries.overload import Overload, cost_tenth, overload
from kubectl_kres.policies.cel.libraries.regex import BadPattern, Pattern, compile_pattern

_ASCII_UPPER = {code: code + 32 for code in range(65, 91)}
_ASCII_LOWER = {code: code - 32 for code in range(97, 123)}
_GO_SPACE = "\t\n\v\f\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(map(chr, range(0x2000, 0x200B)))
_DEFAULT_PRECISION = 6


def trim(text: str) -> str:
    """Go's strings.TrimSpace."""
    return text.strip(_GO_SPACE)


def _out_of_range(index: int) -> values.EvalError:
    return values.EvalError(f"index out of range: {index}")


def _char_at(text: str, index: int) -> str:
    if not 0 <= index <= len(text):
        raise _out_of_range(index)
    return text[index : index + 1]


def _index_of(text: str, part: str, offset: int = 0) -> int:
    if not part:
        return offset
    if offset < 0:
        raise _out_of_range(offset)
    return text.find(part, offset)


def _last_index_of(text: str, part: str, offset: int | None = None) -> int:
    if offset is None:
        return text.rfind(part)
    if not part:
        return offset
    if offset < 0:
        raise _out_of_range(offset)
    if offset >= len(text):
        return -1
    return text.rfind(part, 0, offset + len(part))


def _replace(text: str, old: str, new: str, count: int = -1) -> str:
    times = text.count(old) if count < 0 else min(count, text.count(old))
    values.bound_text(len(text) + times * (len(new) - len(old)))
    return text.replace(old, new, count if count >= 0 else -1)


def _split(text: str, separator: str, count: int = -1) -> list[str]:
    if count == 0:
        return []
    if not separator:
        pieces = list(text)
        return pieces if count < 0 or len(pieces) <= count else [*pieces[: count - 1], "".join(pieces[count - 1 :])]
    return text.split(separator, count - 1 if count > 0 else -1)


def _substring(text: str, start: int, end: int | None = None) -> str:
    if end is not None and start > end:
        raise values.EvalError(f"invalid substring range. start: {start}, end: {end}")
    if not 0 <= start <= len(text):
        raise _out_of_range(start)
    if end is not None and not 0 <= end <= len(text):
        raise _out_of_range(end)
    return text[start:end]


def _join(items: Any, separator: str = "") -> str:
    for item in items:
        if not isinstance(item, str):
            raise values.EvalError(f"join: invalid input: {_go_value(item)}")
    values.bound_text(sum(map(len, items)) + len(separator) * len(items))
    return separator.join(items)


def _go_value(value: Any) -> str:
    return "null" if value is None else to_string(value) if not isinstance(value, dict | list) else str(value)


_QUOTED = {
    "\a": "\\a",
    "\b": "\\b",
    "\f": "\\f",
    "\n": "\\n",
    "\r": "\\r",
    "\t": "\\t",
    "\v": "\\v",
    "\\": "\\\\",
    '"': '\\"',
}


def _quote_text(text: str) -> str:
    return '"' + "".join(_QUOTED.get(char, char) for char in text) + '"'


def _pattern(text: str) -> Pattern:
    try:
        return compile_pattern(text)
    except BadPattern as error:
        raise values.EvalError(f"Illegal regex: {error}") from None


def _find(text: str, pattern: str) -> str:
    start, end = next(_pattern(pattern).spans(text), (0, 0))
    return text[start:end]


def _find_all(text: str, pattern: str, count: int = -1) -> list[str]:
    spans = islice(_pattern(pattern).spans(text), count if count >= 0 else None)
    return [text[start:end] for start, end in spans]


class FormatFault(Exception):
    """A format string and its arguments do not fit. ``index``: the argument at fault; None: the string itself."""

    def __init__(self, message: str, index: int | None = None) -> None:
        super().__init__(message)
        self.message, self.index = message, index


_Formatter = Callable[[str, int | None, int], str]


def format_string(text: str, count: int, formatted: _Formatter) -> tuple[str, int]:
    """Return the text with each clause replaced by what ``formatted(letter, precision, argument)`` gives, and the
    arguments used. Raises FormatFault.
    """
    out, offset, used = [], 0, 0
    while offset < len(text):
        if text[offset] != "%":
            end = text.find("%", offset)
            end = len(text) if end < 0 else end
            out.append(text[offset:end])
            offset = end
            continue
        if text[offset + 1 : offset + 2] == "%":
            out.append("%")
            offset += 2
            continue
        if used >= count:
            raise FormatFault(f"index {used} out of range")
        if offset + 1 >= len(text):
            raise FormatFault("unexpected end of string")
        letter, precision, offset = _clause(text, offset + 1)
        out.append(formatted(letter, precision, used))
        used += 1
    return "".join(out), used


def _clause(text: str, offset: int) -> tuple[str, int | None, int]:
    """Letter, precision and where the clause ends."""
    precision: int | None = None
    if text[offset] == ".":
        end = offset + 1
        while end < len(text) and text[end] in "0123456789":
            end += 1
        if end >= len(text):
            texts = "error while parsing precision: could not find end of precision specifier"
            raise FormatFault(f"could not parse formatting clause: {texts}")
        digits = text[offset + 1 : end]
        if not digits:
            texts = 'error while converting precision to integer: strconv.Atoi: parsing "": invalid syntax'
            raise FormatFault(f"could not parse formatting clause: error while parsing precision: {texts}")
        precision, offset = int(digits), end
    letter = text[offset]
    if letter not in "sdfebxXo":
        raise FormatFault(f'could not parse formatting clause: unrecognized formatting clause "{letter}"')
    return letter, precision, offset + 1


_TAKEN = "strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps"
#: Clause to the types that it takes, and what is said of others.
CLAUSES = {
    "s": (
        ("list", "map", "int", "uint", "double", "bool", "string", "google.protobuf.Timestamp", "bytes",
         "google.protobuf.Duration", "type", "null_type"),
        f"string clause can only be used on {_TAKEN}",
    ),
    "d": (("int", "uint"), "decimal clause can only be used on integers"),
    "f": (("double", "string"), "fixed-point clause can only be used on doubles"),
    "e": (("double", "string"), "scientific clause can only be used on doubles"),
    "b": (("int", "uint", "bool"), "only integers and bools can be formatted as binary"),
    "x": (("int", "uint", "string", "bytes"), "only integers, byte buffers, and strings can be formatted as hex"),
    "X": (("int", "uint", "string", "bytes"), "only integers, byte buffers, and strings can be formatted as hex"),
    "o": (("int", "uint"), "octal clause can only be used on integers"),
}  # fmt: skip


def wrong_clause(letter: str, kind: str) -> str:
    return f"error during formatting: {CLAUSES[letter][1]}, was given {kind}"


def _format(text: str, args: Any) -> str:
    def formatted(letter: str, precision: int | None, index: int) -> str:
        value = args[index]
        kind = values.type_name(value)
        exceptional = kind == "string" and letter in "fe" and value not in ("NaN", "Infinity", "-Infinity")
        if kind not in CLAUSES[letter][0] or exceptional:
            raise FormatFault(wrong_clause(letter, kind))
        return _format_argument(letter, precision, value)

    try:
        return format_string(text, len(args), formatted)[0]
    except FormatFault as fault:
        raise values.EvalError(fault.message) from None


def _format_argument(letter: str, precision: int | None, value: Any) -> str:
    if letter == "s":
        return _text(value)
    if letter == "d":
        return str(int(value))
    if letter in "fe":
        return _float(letter, _DEFAULT_PRECISION if precision is None else precision, float(value))
    if letter == "b" and isinstance(value, bool):
        return str(int(value))
    if letter in "xX" and isinstance(value, str | bytes):
        digits = (value.encode() if isinstance(value, str) else value).hex()
        return digits.upper() if letter == "X" else digits
    return format(int(value), letter)


#: Digits behind the point; the server has no bound of its own.
_MOST_DIGITS = 100_000


def _float(letter: str, precision: int, value: float) -> str:
    if precision > _MOST_DIGITS:
        raise values.NotComputed("an expression that makes too long a text")
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "∞" if value > 0 else "-∞"
    if letter == "f":
        return f"{value:,.{precision}f}"
    mantissa, _, exponent = f"{value:.{precision}e}".partition("e")
    raised = str(abs(int(exponent))).rjust(2, "0")
    mark = "-" if int(exponent) < 0 else ""
    powers = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")
    return f"{mantissa}\u202f\u00d7\u202f10{(mark + raised).translate(powers)}"


def _text(value: Any) -> str:
    if value is None:
        return "null"
    if values.is_list(value):
        return "[" + ", ".join(_bound_texts(map(_format_inner_value, value))) + "]"
    if isinstance(value, dict):
        pairs = sorted(zip(map(_key, value), _bound_texts(map(_format_inner_value, value.values())), strict=True))
        return "{" + ", ".join(f"{key}:{item}" for key, item in pairs) + "}"
    return to_string(value)


def _bound_texts(texts: Iterable[str]) -> Iterator[str]:
    """Yield the same texts. Raises NotComputed once they are too long together."""
    length = 0
    for text in texts:
        length += len(text)
        values.bound_text(length)
        yield text


def _key(key: Any) -> str:
    return quote(key) if isinstance(key, str) else to_string(key)


def _format_inner_value(value: Any) -> str:
    """Return a value inside a list or map."""
    if isinstance(value, str):
        return quote(value)
    if isinstance(value, bytes):
        return "b" + quote(value.decode(errors="replace"))
    if isinstance(value, float):
        text = f"{value:.{_DEFAULT_PRECISION}f}"
        return {"nan": '"NaN"', "inf": '"+Inf"', "-inf": '"-Inf"'}.get(text, text)
    if isinstance(value, values.TypeValue):
        return f"type({value.name})"
    if (
        isinstance(value, values.Timestamp | values.Duration | values.UInt | int)
        or value is None
        or values.is_list(value)
        or isinstance(value, dict)
    ):
        return _text(value)
    raise FormatFault(f"error during formatting: no formatting function for {values.type_name(value)}")


def _cost_fifth(args: tuple[Any, ...], _result: Any) -> int:
    return math.ceil(values.size(args[0]) * 0.2)


def _cost_result(_args: tuple[Any, ...], result: Any) -> int:
    return math.ceil(values.size(result) * 0.2)


def _cost_size(args: tuple[Any, ...], _result: Any) -> int:
    return math.ceil(values.size(args[0]) * 0.1)


def _table() -> Iterator[Overload]:
    yield overload(".charAt(string, int) string", _char_at)
    for name, call in (("indexOf", _index_of), ("lastIndexOf", _last_index_of)):
        yield overload(f".{name}(string, string) int", call, cost=_cost_size)
        yield overload(f".{name}(string, string, int) int", call, cost=_cost_size)
    yield overload(".lowerAscii(string) string", lambda text: text.translate(_ASCII_UPPER), cost=cost_tenth)
    yield overload(".upperAscii(string) string", lambda text: text.translate(_ASCII_LOWER), cost=cost_tenth)
    yield overload(".replace(string, string, string) string", _replace, cost=_cost_fifth)
    yield overload(".replace(string, string, string, int) string", _replace, cost=_cost_fifth)
    yield overload(".split(string, string) list(string)", _split, cost=_cost_fifth)
    yield overload(".split(string, string, int) list(string)", _split, cost=_cost_fifth)
    yield overload(".substring(string, int) string", _substring, cost=cost_tenth)
    yield overload(".substring(string, int, int) string", _substring, cost=cost_tenth)
    yield overload(".trim(string) string", trim, cost=cost_tenth)
    yield overload(".format(string, list(dyn)) string", _format, since=29, cost=cost_tenth)
    yield overload("strings.quote(string) string", _quote_text, since=29, cost=cost_tenth)
    yield overload(".join(list(string)) string", _join, cost=_cost_result)
    yield overload(".join(list(string), string) string", _join, cost=_cost_result)
    yield overload(".find(string, string) string", _find, cost=cost_regex)
    yield overload(".findAll(string, string) list(string)", _find_all, cost=cost_regex)
    yield overload(".findAll(string, string, int) list(string)", _find_all, cost=cost_regex)


OVERLOADS = tuple(_table())
