"""All rules, by their codes, and the selection of rules by code or by the beginning of a code.

A rule is added to the module of its topic, and to its ``RULES``.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Final

from kubectl_kres.errors import UsageError, on_one_line
from kubectl_kres.reports.check.context import Rule

_HERE = "kubectl_kres.reports.check"
_MODULES = (
    "refusals.pods",
    "refusals.claims",
    "refusals.runs",
    "conflicts",
    "autoscalers",
    "state",
    "pitfalls",
    "rights",
)

RULES: Final[tuple[Rule, ...]] = tuple(
    sorted((rule for name in _MODULES for rule in import_module(f"{_HERE}.{name}").RULES), key=lambda rule: rule.code)
)
BY_CODE: Final[Mapping[str, Rule]] = {rule.code: rule for rule in RULES}


def select_codes(select: Sequence[str], ignore: Sequence[str], flags: tuple[str, str]) -> frozenset[str]:
    """Return the codes of all rules, or of those in ``select``, without those in ``ignore``. ``flags``: what both are
    called.

    Raises UsageError for a code that no rule has, and where none is left.
    """
    texts = _select_codes(select, flags[0]) if select else frozenset(BY_CODE)
    left = texts - _select_codes(ignore, flags[1])
    if not left:
        raise UsageError(f"{flags[0]} and {flags[1]} leave no rule to check")
    return left


def _select_codes(given_codes: Sequence[str], flag: str) -> frozenset[str]:
    texts: set[str] = set()
    for word in (part.strip().upper() for name in given_codes for part in name.split(",") if part.strip()):
        codes = {code for code in BY_CODE if code.startswith(word)}
        if not codes or word == "KRES"[: len(word)]:
            near = difflib.get_close_matches(word, BY_CODE, 1, 0.5)
            raise UsageError(
                f'invalid argument "{on_one_line(word)}" for "{flag}" flag: no rule has this code',
                hint=f"did you mean {near[0]}?" if near else "docs/check.md lists the codes",
            )
        texts |= codes
    return frozenset(texts)
