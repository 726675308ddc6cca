"""The verdict about a pod with its remedies: whole, short, and as the head of a screen."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kubectl_kres.render.text.line import Line, labelled_lines, led_lines, tone_lines, wrap_text
from kubectl_kres.render.text.system import systems
from kubectl_kres.render.verdict.headline import (
    at_maximum,
    headline,
    list_causes,
    one_line_message,
    quota_figures,
    server_text,
)
from kubectl_kres.render.verdict.note import note_text
from kubectl_kres.render.verdict.remedy import BACK_OFF, first_fix_lines, remedy_lines
from kubectl_kres.reports.common.explanation import Explanation, Note
from kubectl_kres.reports.common.remedy import Remedy
from kubectl_kres.reports.pod.verdict import is_negative, outcome_word

#: Lines that the first sentence has at the head of a screen.
_HEAD = 2
_NOTHING = Note(nothing=True)


def verdict_lines(explanation: Explanation, width: int, now: str = "") -> Iterator[Line]:
    """Yield the verdict, the remedies, and what a system does next."""
    yield from _headline_lines(explanation, width, now)
    yield from _server(explanation, width)
    yield from remedy_lines(explanation.fixes, width, _note(explanation), calm=_is_calm(explanation))
    yield from _follow_up_lines(explanation, width, now)


def short_verdict_lines(explanation: Explanation, now: str, width: int) -> Iterator[Line]:
    """Yield the verdict and the remedies, with the figures of what is short instead of the server's message; several
    reasons of a refusal stand in a line each.
    """
    causes = list_causes(explanation)
    yield from _headline_lines(explanation, width, now, len(causes))
    if len(causes) > 1 and outcome_word(explanation.verdict) == "refused":
        for cause in causes:
            yield from tone_lines("", wrap_text(cause, width, first="  ", rest="    "))
    for sentence in quota_figures(explanation.verdict.findings):
        yield from tone_lines("", wrap_text(sentence, width, first="  ", rest="    "))
    yield from _autoscaler_lines(explanation, width)
    if explanation.fixes or explanation.note:
        yield [("", "")]
    yield from remedy_lines(shown_remedies(explanation), width, _note(explanation), calm=_is_calm(explanation))
    yield from _follow_up_lines(explanation, width, now)


def shown_remedies(explanation: Explanation) -> Sequence[Remedy]:
    """Return the fixes of a short page: of those that let a pod onto a node the first."""
    nodes = explanation.scheduling
    return explanation.fixes[:1] if nodes is not None and nodes.fixes else explanation.fixes


def head_lines(explanation: Explanation, width: int, now: str = "") -> Iterator[Line]:
    """Yield the verdict for the small head of a screen: the remedies come before the server's message."""
    first, *rest = _headline_lines(explanation, width, now)
    yield first
    yield from rest[:1] if len(rest) < _HEAD else [[*rest[0], ("quiet", "…")]]
    yield from first_fix_lines(explanation.fixes, width, _note(explanation), calm=_is_calm(explanation))
    yield from _follow_up_lines(explanation, width, now)
    yield from _server(explanation, width)


def _note(explanation: Explanation) -> str:
    blind = not explanation.complete and explanation.note == _NOTHING
    return f"{note_text(explanation.note)}{' as far as seen' if blind else ''}"


def _is_calm(explanation: Explanation) -> bool:
    return explanation.note is not None and explanation.note.is_calm


def _follow_up_lines(explanation: Explanation, width: int, now: str = "") -> Iterator[Line]:
    """Yield what happens next, after a remedy or without one."""
    if explanation.fixes and any(fact.reason == "FailedCreate" for fact in explanation.facts):
        yield from labelled_lines("then", BACK_OFF, width, tone="quiet")
    idle = explanation.replicas is not None and not explanation.replicas.wanted
    later = explanation.one_more[0].text if explanation.one_more and idle else ""
    for system in systems():
        yield from system.outcome_lines(explanation, width, now)
        refused = is_negative(explanation.verdict)
        yield from system.turn_lines(explanation.pod_parts, width, refused=refused, later=later)


def _headline_lines(explanation: Explanation, width: int, now: str = "", causes: int = 1) -> Iterator[Line]:
    """Yield the verdict in one line."""
    tone, word, text = headline(explanation, now, causes)
    yield from led_lines(tone, word, text, width)


def _server(explanation: Explanation, width: int) -> Iterator[Line]:
    """Yield the server's message, and how far an autoscaler gets."""
    verdict = explanation.verdict
    message = one_line_message(verdict)
    server = (
        verdict.blocked.message if verdict.blocked is not None else message and server_text(message, explanation.facts)
    )
    if server:
        yield from labelled_lines("server", server, width, tone="quiet")
    yield from _autoscaler_lines(explanation, width)


def _autoscaler_lines(explanation: Explanation, width: int) -> Iterator[Line]:
    """Return how far an autoscaler gets."""
    reach = explanation.autoscaled
    if reach is not None:
        yield from tone_lines(
            "warn" if reach.fits < reach.max_replicas else "quiet", wrap_text(at_maximum(reach), width, rest="  ")
        )
