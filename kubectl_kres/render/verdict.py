"""A verdict in one word, and what is said with it in one line."""

from __future__ import annotations

from collections.abc import Iterable

from kubectl_kres.render.line import Tone
from kubectl_kres.reports.explanation import Unseen, Verdict

#: After an answer that what could not be read might change.
PARTLY = " as far as seen"


def verdict_word(verdict: Verdict) -> tuple[str, Tone]:
    """The word and its tone."""
    if verdict.allowed is None:
        return "depends", "warn"
    return ("admitted", "good") if verdict.allowed else ("refused", "bad")


def message_of(verdict: Verdict) -> str:
    """The message; Tekton's webhooks put each fault on a line of its own."""
    return verdict.message.replace("\n", "; ")


def blind(unseen: Iterable[Unseen]) -> bool:
    """Whether LimitRanges could not be read, which may fill in what is not stated."""
    return any(one.kind == "LimitRange" for one in unseen)


def partly(message: str, unseen: Iterable[Unseen]) -> str:
    """What to say after a refusal for what a container does not state, where LimitRanges that were not read might."""
    return PARTLY if "failed quota: " in message and blind(unseen) else ""
