"""A webhook whose answers about new pods are computed: what it sets after LimitRanges, what it refuses at the end."""

from __future__ import annotations

from typing import Protocol

from kubectl_kres.admission.base.draft import Draft
from kubectl_kres.admission.base.outcome import Refusal
from kubectl_kres.provenance.journal import Entry


class PodWebhook(Protocol):
    """The mutating and the validating half. ``reinvocationPolicy`` of the mutating one is IfNeeded."""

    def mutate(self, draft: Draft, journal: list[Entry] | None) -> bool:
        """Change the pod as one call does, and return whether anything changed."""

    def review(self, draft: Draft, name: str, journal: list[Entry] | None) -> tuple[Refusal, ...]:
        """Return every refusal that can be the answer to the pod of that name; none where it passes."""
