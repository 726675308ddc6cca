"""What mends a run of Tekton, in words."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from kubectl_kres.render.verdict.edits import CLAIM_GOES
from kubectl_kres.tekton.reports.remedies.claim_remedies import DeleteEndedRuns

WORDS: Mapping[type, Callable[[Any], str]] = {
    DeleteEndedRuns: lambda _: f"delete runs that have ended, or their claims: {CLAIM_GOES}",
}
