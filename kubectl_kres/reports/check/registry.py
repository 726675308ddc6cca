"""All rules, by their codes. A rule is added to the module of its topic, and to its ``RULES``."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Final

from kubectl_kres.reports.check.rule import Rule

_HERE = "kubectl_kres.reports.check"
_MODULES = (
    "refused.pods",
    "refused.claims",
    "refused.runs",
    "conflicts",
    "state",
    "surprises",
    "rights",
)

RULES: Final[tuple[Rule, ...]] = tuple(
    sorted((rule for name in _MODULES for rule in import_module(f"{_HERE}.{name}").RULES), key=lambda rule: rule.code)
)
BY_CODE: Final[Mapping[str, Rule]] = {rule.code: rule for rule in RULES}
