"""What a system adds to the texts about pods, quotas and namespaces."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, cast

from kubectl_kres.systems import registered_systems

if TYPE_CHECKING:
    from kubectl_kres.render.text.line import Line
    from kubectl_kres.reports.changes.report import StepResult
    from kubectl_kres.reports.common.explanation import Explanation
    from kubectl_kres.reports.common.system_parts import Parts
    from kubectl_kres.reports.namespace.policy_explanation import PolicyExplanation
    from kubectl_kres.reports.quota.denied import Denied


class RenderSystem:
    """The hooks of a system; each adds nothing unless a subclass says otherwise."""

    #: By module that defines sentences the one that words them, as in ``render.text.sentences``.
    sentences: Mapping[str, str] = {}
    #: By kind what it means that the server does not have it.
    absent: Mapping[str, str] = {}

    def start_lines(self, explanation: Explanation, width: int) -> Iterator[Line]:
        """Below what admission starts from."""
        yield from ()

    def outcome_lines(self, explanation: Explanation, width: int, now: str = "") -> Iterator[Line]:
        """Yield what the system does then, below the fixes. ``now`` (RFC 3339): times are ages."""
        yield from ()

    def turn_lines(self, parts: Parts, width: int, *, refused: bool, later: str = "") -> Iterator[Line]:
        """Yield the account of an object whose turn a system decides about, below the fixes.

        ``refused``: its pods are. ``later``: why they will be once its turn has come.
        """
        yield from ()

    def headline_remarks(self, explanation: Explanation, *, admitted: bool) -> Iterator[str]:
        """Yield what the headline of an object says that neither waits nor fails, after its verdict.

        ``admitted``: that is the verdict.
        """
        yield from ()

    def quota_lines(self, explanation: Explanation, width: int) -> Iterator[Line]:
        """Below what the pod costs the quotas."""
        yield from ()

    def namespace_lines(self, policy_explanation: PolicyExplanation, width: int) -> Iterator[Line]:
        """Below what a pod of one container gets."""
        yield from ()

    def refusal_texts(self, denied: Denied, now: str) -> Iterator[tuple[str, str]]:
        """Labels and sentences about something whose pods are refused."""
        yield from ()

    def step_lines(self, step: StepResult, width: int) -> Iterator[Line]:
        """What became of a step of the system's own."""
        yield from ()

    def step_sentence(self, step: StepResult) -> str:
        """Return the same in a sentence; empty: it is no step of the system's own."""
        return ""

    def edit_note(self, manager: str) -> str:
        """Return what is to be said of edits by a field manager; empty: nothing."""
        return ""


def systems() -> tuple[RenderSystem, ...]:
    """Return all of them, in the order of registration."""
    return cast("tuple[RenderSystem, ...]", registered_systems("text"))
