"""A changed pod before all that admits pods."""

# ruff: noqa: PLC0415 - a pod is analysed again only where it is refused
from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kubectl_kres.model.kinds import BY_KIND
from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.reports.common.analysis import Analysis
from kubectl_kres.reports.common.explanation import EvaluationOptions, Subject
from kubectl_kres.reports.pod.verdict import verdict_of
from kubectl_kres.store.store import Store


def refusal_of(store: Store, subject: Subject, pod: Mapping[str, Any], analysis: Analysis) -> str:
    """Return the refusal of the patched pod; empty if it is admitted."""
    from kubectl_kres.reports.explain.explain import analysis_of

    ref = ObjectRef("Pod", subject.ref.name, subject.ref.namespace)
    tried = analysis_of(store, Subject(ref, BY_KIND["Pod"], pod), EvaluationOptions(analysis.server), journal=False)
    return verdict_of(tried.outcomes).message if any(outcome.refusal for outcome in tried.outcomes) else ""
