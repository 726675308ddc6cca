"""A verdict in one word, and what is said with it in one line."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kubectl_kres.render.text.line import Tone
from kubectl_kres.reports.common.explanation import Unseen, Verdict
from kubectl_kres.reports.pod.verdict import word_of

#: After an answer that what could not be read might change.
PARTLY = " as far as seen"

#: Red is what a gate stops, amber what somebody should know.
_TONES: Mapping[str, Tone] = {
    "admitted": "good",
    "full": "warn",
    "refused": "bad",
    "blocked": "bad",
    "partly": "bad",
    "depends-on-order": "warn",
}


def verdict_word(verdict: Verdict) -> tuple[str, Tone]:
    """The word, without whether all could be read, and its tone."""
    word = word_of(verdict)
    return word, _TONES[word]


def message_of(verdict: Verdict) -> str:
    """The message; Tekton's webhooks put each fault on a line of its own."""
    return verdict.message.replace("\n", "; ")


def blind(unseen: Iterable[Unseen]) -> bool:
    """Whether LimitRanges could not be read, which may fill in what is not stated."""
    return any(unseen.kind == "LimitRange" for unseen in unseen)


def partly(message: str, unseen: Iterable[Unseen]) -> str:
    """What to say after a refusal for what a container does not state, where LimitRanges that were not read might."""
    return PARTLY if "failed quota: " in message and blind(unseen) else ""
