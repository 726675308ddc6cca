"""A verdict in one word, and what is said with it in one line."""

from __future__ import annotations

from kubectl_kres.render.line import Tone
from kubectl_kres.reports.explanation import Verdict


def verdict_word(verdict: Verdict) -> tuple[str, Tone]:
    """The word and its tone."""
    if verdict.allowed is None:
        return "depends", "warn"
    return ("admitted", "good") if verdict.allowed else ("refused", "bad")


def message_of(verdict: Verdict) -> str:
    """The message; Tekton's webhooks put each fault on a line of its own."""
    return verdict.message.replace("\n", "; ")
