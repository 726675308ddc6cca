"""Kubernetes quantities: reading, rounding, adding, comparing and printing them exactly as the API server does.

A value is an integer count of nano units, the finest the server knows; nothing here is ever a float.  Two facts about
how a text was read outlive the value: its notation (what results are printed in) and, for some texts, the text itself.

Source: k8s.io/apimachinery/pkg/api/resource, v0.36.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Final, Literal

from msgspec import Struct
from msgspec.structs import force_setattr

from kubectl_kres.errors import QuantityError

Format = Literal["DecimalSI", "BinarySI", "DecimalExponent"]

#: Powers of ten of the decimal suffixes, and powers of two of the binary ones.
_DECIMAL: Final = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_BINARY: Final = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
_DECIMAL_SUFFIX: Final = {exponent: suffix for suffix, exponent in _DECIMAL.items()}
_BINARY_SUFFIX: Final = {exponent: suffix for suffix, exponent in _BINARY.items()}

_UNIT: Final = 10**9
_MILLI: Final = 10**6
_INT64_MAX: Final = 2**63 - 1

#: Sign, leading zeros, whole digits, digits after the point, suffix.  Possessive, so that no text takes quadratic time.
_SHAPE: Final = re.compile(r"([+-]?+)(0*+)([0-9]*+)(?:\.([0-9]*+))?+([eEinumkKMGTP]*+[-+]?+[0-9]*+)")
_EXPONENT: Final = re.compile(r"[eE]([-+]?)0*([0-9]*)")

_WRONG_FORMAT: Final = (
    "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"  # the server's words
)
_WRONG_SUFFIX: Final = "unable to parse quantity's suffix"
_WRONG_NUMBER: Final = "unable to parse numeric part of quantity"

#: Beyond these the server computes until the request times out; here a text is refused.
_MAX_EXPONENT: Final = 1000
_MAX_DIGITS: Final = 1000

#: What the server trims.  It looks at raw JSON, where tabs and line ends stand escaped and so are no spaces.
_SPACES: Final = (
    " \u0085\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
)

#: Whole units up to which thousandths fit 64 bits (apimachinery resource.MaxMilliValue).
MAX_MILLI_UNITS: Final = (2**63 - 1) // 1000
#: Billionths beyond which thousandths overflow 64 bits: what is less needs no form to be known.
_OVERFLOWING: Final = 2**63 * 10**6

_CACHED_TEXTS: Final = 50_000
_CACHED_LENGTH: Final = 64


class Quantity(Struct, frozen=True, eq=False, gc=False):
    """An exact amount: ``nano`` billionths of a unit, printed in ``format``.  Equal when the amounts are equal.

    ``scale`` is the power of ten of the server's 64-bit form, None where the server counts in arbitrary precision;
    only ``milli_value`` looks at it.  ``text`` is what ``str`` returns, empty until it is known.
    """

    nano: int
    format: Format = "DecimalSI"
    scale: int | None = None
    text: str = ""

    def __str__(self) -> str:
        """Return the text as written where the server keeps it, else the canonical form."""
        if not self.text:
            force_setattr(self, "text", _canonical(self.nano, self.format))
        return self.text

    def __repr__(self) -> str:
        return f"Quantity({str(self)!r})"

    def __hash__(self) -> int:
        return hash(self.nano)

    def __bool__(self) -> bool:
        return self.nano != 0

    def __eq__(self, other: object) -> bool:
        return self.nano == other.nano if isinstance(other, Quantity) else NotImplemented

    def __ne__(self, other: object) -> bool:  # Struct has one of its own, which compares identity
        return self.nano != other.nano if isinstance(other, Quantity) else NotImplemented

    def __lt__(self, other: object) -> bool:
        return self.nano < other.nano if isinstance(other, Quantity) else NotImplemented

    def __le__(self, other: object) -> bool:
        return self.nano <= other.nano if isinstance(other, Quantity) else NotImplemented

    def __gt__(self, other: object) -> bool:
        return self.nano > other.nano if isinstance(other, Quantity) else NotImplemented

    def __ge__(self, other: object) -> bool:
        return self.nano >= other.nano if isinstance(other, Quantity) else NotImplemented

    def __add__(self, other: Quantity) -> Quantity:
        """Return the exact sum in this notation, or in ``other``'s if this is zero (Quantity.Add)."""
        nano = self.nano + other.nano
        form = self.format if self.nano else other.format
        return Quantity(nano, form) if nano < _OVERFLOWING else Quantity(nano, form, scale_of_sum(self, other, nano))

    def __sub__(self, other: Quantity) -> Quantity:
        """Return the exact difference in this notation, or in ``other``'s if this is zero (Quantity.Sub)."""
        return Quantity(self.nano - other.nano, self.format if self.nano else other.format)

    def __neg__(self) -> Quantity:
        return Quantity(-self.nano, self.format, self.scale)

    def round_up(self) -> Quantity:
        """Rounded away from zero to thousandths, as each resource list is on decode (Quantity.RoundUp(Milli)).

        Notation stays; a kept text stays if nothing finer than a thousandth was written.
        """
        if not self.nano % _MILLI:
            return self
        return Quantity(self.milli() * _MILLI, self.format, self.scale)

    def value(self) -> int:
        """Whole units, rounded away from zero; exact, where the server's 64 bits overflow."""
        return _round_away(self.nano, _UNIT)

    def milli(self) -> int:
        """Thousandths, rounded away from zero; exact, where the server's 64 bits overflow."""
        return _round_away(self.nano, _MILLI)

    def milli_value(self) -> int:
        """Return what the server takes for the number of thousandths, overflow included (Quantity.MilliValue).

        Only its checks for whole numbers and against a LimitRange need this. Holds for quantities as read and rounded;
        of differences the low 64 bits are returned, which is right unless the server still counts those in 64 bits.
        """
        return self._overflowing(self.milli(), -3)

    def whole_value(self) -> int:
        """Return what the server takes for the number of whole units, overflow included (Quantity.Value); see
        milli_value.
        """
        return self._overflowing(self.value(), 0)

    def _overflowing(self, exact: int, scale: int) -> int:
        if -_INT64_MAX - 1 <= exact <= _INT64_MAX:
            return exact
        # The server scales by 10, 100, 10^3, 10^6, 10^9 at once and returns what is left of the product; for other
        # powers it multiplies by ten step by step, sees the overflow and returns zero.
        if self.scale is not None and self.scale - scale not in {1, 2, 3, 6, 9}:
            return 0
        return (exact + 2**63) % 2**64 - 2**63


def scale_of_sum(quantity: Quantity, other: Quantity, nano: int) -> int | None:
    """Return the power of ten that a sum has in 64 bits; None where the server goes on in arbitrary precision.

    Source: apimachinery api/resource amount.go int64Amount.Add.
    """
    if not quantity.nano or not other.nano:
        return other.scale if other.nano else quantity.scale
    if quantity.scale is None or other.scale is None:
        return None
    scale = min(quantity.scale, other.scale)
    return scale if nano // 10 ** (scale + 9) <= _INT64_MAX else None


def parse(text: str) -> Quantity:
    """The quantity ``text`` stands for, not rounded (resource.ParseQuantity).

    Raises QuantityError with the server's sentence, or with one of our own for exponents and numbers of digits that
    would keep the server busy until the request times out.
    """
    quantity = _parsed.get(text)
    return _remember(_parsed, text, _read(text)) if quantity is None else quantity


def kept_text(text: str) -> str:
    """``text`` if the server keeps it beside the amount, else empty: two equal quantities may differ in that.

    Raises QuantityError like ``parse``.
    """
    return _read(text.strip(_SPACES)).text


def from_json(value: object) -> Quantity:
    """The quantity a decoded JSON or YAML value stands for, not rounded; null is zero (Quantity.UnmarshalJSON).

    Raises QuantityError like ``parse``, and for values that are neither text nor number.
    """
    if isinstance(value, str):
        return parse(value.strip(_SPACES))
    if value is None:
        return ZERO
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise QuantityError(_WRONG_FORMAT, str(value))
    if isinstance(value, float):
        return parse(_float_text(value))
    if abs(value) >= 10**_MAX_DIGITS:
        raise QuantityError(f"a number of more than {_MAX_DIGITS} digits is beyond reason", hex(value))
    return parse(str(value))


_DIGITS = frozenset("0123456789")


def read_back(quantity: Quantity) -> Quantity:
    """Return the quantity once its text was written and read again, as the server does with what it stores.

    Only a number of binary notation that no binary suffix divides is another one then: 100000000 becomes 100M.
    """
    return quantity if quantity.format != "BinarySI" or str(quantity)[-1:] not in _DIGITS else parse(str(quantity))


def stored_quantity(value: object) -> Quantity:
    """``from_json(value).rounded()``: what the server stores for a value in a resource list."""
    if not isinstance(value, str):
        return from_json(value).round_up()
    quantity = _stored.get(value)
    return _remember(_stored, value, from_json(value).round_up()) if quantity is None else quantity


#: Shares beyond it are as good as endless: amounts of hundreds of digits are no numbers for a machine.
_LARGEST_RATIO = 10**15


def ratio(amount: int, whole: int) -> float:
    """Return an amount divided by another, of any size; at most some 10 to the power of 15, and at least minus that."""
    if abs(amount) > abs(whole) * _LARGEST_RATIO:
        return float(_LARGEST_RATIO if (amount > 0) == (whole > 0) else -_LARGEST_RATIO)
    return amount / whole


def first_unreadable(amounts: Mapping[str, object]) -> tuple[str, QuantityError] | None:
    """Return the first name of a resource list whose value is no quantity, and why; None if all can be read."""
    for name, value in amounts.items():
        if type(value) is not str or value not in _stored:
            try:
                stored_quantity(value)
            except QuantityError as error:
                return name, error
    return None


def quantity_of(number: int, format: Format = "DecimalSI") -> Quantity:
    """``number`` whole units (resource.NewQuantity)."""
    return Quantity(number * _UNIT, format, 0 if abs(number) <= _INT64_MAX else None)


def total(items: Iterable[Quantity]) -> Quantity | None:
    """Return the sum, in the notation of the first item that is not zero; None if there are no items."""
    result: Quantity | None = None
    for item in items:
        result = item if result is None else result + item
    return result


def maximum(a: Quantity, b: Quantity) -> Quantity:
    """``b`` if it is strictly greater, else ``a``: on a tie ``a``'s notation stays."""
    return b if b.nano > a.nano else a


def _read(text: str) -> Quantity:
    match = _SHAPE.fullmatch(text) if text else None
    if match is None:
        raise QuantityError(_WRONG_FORMAT, text)
    mark, zeros, whole, fraction, suffix = match.groups(default="")
    exponent, notation = _interpret(suffix, text)
    whole_or_zero = whole or "0"
    digits = whole_or_zero + fraction
    if len(digits) > _MAX_DIGITS:
        raise QuantityError(f"a number of more than {_MAX_DIGITS} digits is beyond reason", text)
    number = int(mark + digits)
    if abs(exponent) > _MAX_EXPONENT:
        if number:
            raise QuantityError(
                f'exponent of "{text}" is beyond reason (the server would compute until it times out)', text
            )
        exponent = _MAX_EXPONENT if exponent > 0 else -_MAX_EXPONENT  # of zero, which the server is quick with
    if notation == "BinarySI":
        # A binary text is read in 64 bits while the server's estimate of its length in decimal digits is below 15.
        if not fraction and len(whole_or_zero) + exponent * 3 // 10 < 15:
            return Quantity((number << exponent) * _UNIT, notation, 0, text if number % 8 else "")
    elif len(digits) <= 18 and exponent - len(fraction) >= -9:
        scale = exponent - len(fraction)
        keeps_text = scale % 3 == 0 and digits[0] != "0" and not digits.endswith("000")
        return Quantity(_scale_to_nano(number, scale), notation, scale, text if keeps_text else "")
    if not (zeros or whole or fraction):
        raise QuantityError(_WRONG_NUMBER, text)
    if notation == "BinarySI":
        return _read_long_binary(number << exponent, len(fraction))
    return Quantity(_scale_to_nano(number, exponent - len(fraction)), notation)


def _interpret(suffix: str, text: str) -> tuple[int, Format]:
    if suffix in _DECIMAL:
        return _DECIMAL[suffix], "DecimalSI"
    if suffix in _BINARY:
        return _BINARY[suffix], "BinarySI"
    match = _EXPONENT.fullmatch(suffix)
    if match is None or not suffix[-1].isdigit() or len(match[2]) > 19:
        raise QuantityError(_WRONG_SUFFIX, text)
    exponent = int(match[1] + (match[2] or "0"))
    if not -_INT64_MAX - 1 <= exponent <= _INT64_MAX:
        raise QuantityError(_WRONG_SUFFIX, text)
    return (exponent + 2**31) % 2**32 - 2**31, "DecimalExponent"  # the server keeps the low 32 bits


def _scale_to_nano(number: int, scale: int) -> int:
    """``number`` times 10^``scale`` in nano units, rounded away from zero."""
    return number * 10 ** (scale + 9) if scale >= -9 else _round_away(number, 10 ** (-9 - scale))


def _read_long_binary(number: int, decimals: int) -> Quantity:
    """``number`` divided by 10^``decimals``, capped at 64 bits; below one it is no longer binary."""
    nano = _round_away(number * _UNIT, 10**decimals)
    cap = _INT64_MAX * _UNIT
    return Quantity(max(-cap, min(nano, cap)), "DecimalSI" if 0 < abs(nano) < _UNIT else "BinarySI")


def _canonical(nano: int, notation: Format) -> str:
    """Return the amount without a fraction and with the largest exponent that keeps it exact
    (Quantity.CanonicalizeBytes).
    """
    if not nano:
        return "0"
    number, fraction = divmod(nano, _UNIT)
    exponent = 0
    if notation == "BinarySI" and not fraction and abs(number) >= 1024:
        while number % 1024 == 0:
            number, exponent = number // 1024, exponent + 10
        return f"{number}{_BINARY_SUFFIX.get(exponent, '')}"
    number, exponent = nano, -9
    while number % 1000 == 0:
        number, exponent = number // 1000, exponent + 3
    if notation == "DecimalExponent":
        return f"{number}e{exponent}" if exponent else str(number)
    # Past exa the server finds no suffix and prints the digits alone: 10^21 becomes 1.
    return f"{number}{_DECIMAL_SUFFIX.get(exponent, '')}"


def _float_text(number: float) -> str:
    """``number`` as the server's JSON encoder writes it: no exponent from 10^-6 up to 10^21."""
    if not math.isfinite(number):
        raise QuantityError(_WRONG_FORMAT, str(number))
    text = repr(number).removesuffix(".0")
    if number == 0 or 1e-6 <= abs(number) < 1e21:
        return f"{Decimal(text):f}"
    return text.replace("e-0", "e-")


def _round_away(number: int, divisor: int) -> int:
    return -(-number // divisor) if number >= 0 else number // divisor


def _remember(cache: dict[str, Quantity], text: str, quantity: Quantity) -> Quantity:
    if len(text) <= _CACHED_LENGTH:
        if len(cache) >= _CACHED_TEXTS:
            cache.clear()
        cache[text] = quantity
    return quantity


_parsed: Final[dict[str, Quantity]] = {}
_stored: Final[dict[str, Quantity]] = {}

ZERO: Final = Quantity(0, "DecimalSI", 0, "0")
