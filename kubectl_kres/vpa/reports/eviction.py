"""What comes of it if the updater of a vertical autoscaler runs now, as values."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Literal, cast

from kubectl_kres.reports.common.parts import Record
from kubectl_kres.vpa.rules.updater import VIOLATED

if TYPE_CHECKING:
    from kubectl_kres.simulate.requests import StepAnswer, UpdaterPass

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


def eviction_of(answers: Iterable[StepAnswer]) -> Eviction | None:
    """Return the end with the fewest pods; None: the step was none of an updater."""
    evictions = [_eviction_of(answer.passes) for answer in answers if answer.passes]
    return max(evictions, key=lambda eviction: eviction.missing, default=None)


def _eviction_of(passes: tuple[UpdaterPass, ...]) -> Eviction:
    first, last = passes[0], passes[-1]
    outside = tuple(OutsideValue("", *texts) for texts in first.values)
    evicted = min(sum(done.evicted for done in passes), first.outside)
    resized = any(done.resized for done in passes)
    refused = next((done.in_place for done in passes if done.in_place), "")
    if not evicted and not resized:
        result = cast("Result", first.reason or "as-recommended")
        return Eviction(
            result, first.running, outside, first.held, kept=first.running, in_place=refused,
            message=VIOLATED if result == "budget" else "", budgets=first.budgets, healthy=first.healthy,
        )  # fmt: skip
    kept = first.running - evicted
    missing = max(0, last.wanted - last.running)
    again = bool(last.evicted or last.resized)
    word: Result = "again" if again else "refused" if missing else "comes-back"
    return Eviction(
        word, first.running, outside, first.held, evicted, kept, max(0, last.running - kept), missing,
        again=tuple(OutsideValue("", *texts) for texts in last.values) if again else (),
        resized=resized, in_place=refused, budgets=first.budgets, healthy=first.healthy,
    )  # fmt: skip
