"""What comes of it if the updater of a vertical autoscaler runs now, as values."""

from __future__ import annotations

from typing import Literal

from kubectl_kres.reports.common.parts import Record

#: Why pods are let alone, or what comes of it: one word each, for scripts.
Result = Literal[
    "off",
    "no-recommendation",
    "no-pods",
    "as-recommended",
    "held",
    "budget",
    "too-few",
    "comes-back",
    "refused",
    "again",
]
#: Ends that are no good news.
BAD = ("refused", "again")


class OutsideValue(Record, frozen=True):
    """A request of a pod that is outside of what is recommended. Amounts as text, empty: there is none."""

    pod: str
    container: str
    resource: str
    request: str = ""
    lower: str = ""
    upper: str = ""


class Eviction(Record, frozen=True):
    """What comes of it if the updater runs now.

    ``pods``: how many run; ``outside``: what of them is outside of the recommendation; ``held``: so many of them are
    kept by evictionRequirements. ``evicted``, ``kept``, ``come`` and ``missing``: how many pods it ends with.
    ``message``: the refusal of the pods that are missing, or of the evictions. ``budgets``: the PodDisruptionBudgets
    that select the pods, by name, which want ``healthy`` of them to run. ``again``: what of a pod that comes is
    outside once more, so that it is evicted again without an end. ``resized``: pods are resized in place;
    ``in_place``: what the API server says to the resize that is refused; empty: it passes, or none is tried.
    """

    result: Result
    pods: int = 0
    outside: tuple[OutsideValue, ...] = ()
    held: int = 0
    evicted: int = 0
    kept: int = 0
    come: int = 0
    missing: int = 0
    message: str = ""
    budgets: tuple[str, ...] = ()
    healthy: int = 0
    again: tuple[OutsideValue, ...] = ()
    resized: bool = False
    in_place: str = ""
