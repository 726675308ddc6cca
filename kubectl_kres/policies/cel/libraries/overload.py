"""One way to call a function, and the table that libraries fill."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from msgspec import Struct

from kubectl_kres.policies.cel.base.types import Type, parse_type, split
from kubectl_kres.policies.cel.base.values import size

Cost = Callable[[tuple[Any, ...], Any], int]


def cost_one(_args: tuple[Any, ...], _result: Any) -> int:
    return 1


def cost_tenth(args: tuple[Any, ...], _result: Any) -> int:
    """Return a traversal of the first argument."""
    return math.ceil(size(args[0]) * 0.1)


class Overload(Struct, frozen=True):
    """``params`` include the target of a method. ``any_types``: the function looks at its arguments itself.

    since: the minor version of the server from which it is there.
    """

    function: str
    member: bool
    params: tuple[Type, ...]
    result: Type
    call: Callable[..., Any]
    since: int = 0
    any_types: bool = False
    cost: Cost = cost_one


def overload(
    signature: str, call: Callable[..., Any], *, since: int = 0, any_types: bool = False, cost: Cost = cost_one
) -> Overload:
    """From ``url.getHost() string`` (a method) or ``quantity(string) kubernetes.Quantity``.

    A method is written with its target's type first: ``.add(kubernetes.Quantity, int) kubernetes.Quantity``.
    """
    head, _, rest = signature.partition("(")
    depth, end = 1, 0
    for end, char in enumerate(rest):  # noqa: B007
        depth += (char == "(") - (char == ")")
        if depth == 0:
            break
    params = tuple(parse_type(part) for part in split(rest[:end]))
    member = head.startswith(".")
    return Overload(head.lstrip("."), member, params, parse_type(rest[end + 1 :]), call, since, any_types, cost)
