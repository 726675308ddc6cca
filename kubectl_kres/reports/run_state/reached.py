"""What ``--until`` may wait for: that all wanted pods exist, that they are ready."""

from __future__ import annotations

from kubectl_kres.reports.common.explanation import RunState, Verdict
from kubectl_kres.reports.common.replicas import Replicas
from kubectl_kres.reports.pod.verdict import is_negative


def is_there(verdict: Verdict, state: RunState | None, replicas: Replicas | None) -> bool:
    """Whether all wanted pods of the newest template exist; of a pod or a run, that it has come into being."""
    if is_negative(verdict) or state is None or state.word == "off":
        return False
    return not replicas.missing if replicas is not None else state.reason not in _WITHOUT_POD


def is_ready(verdict: Verdict, state: RunState | None, replicas: Replicas | None) -> bool:
    """The same, and that they are ready or have ended well."""
    return is_there(verdict, state, replicas) and state is not None and state.word in {"runs", "ended"}


#: Of a run, what it waits for before it has a pod.
_WITHOUT_POD = frozenset({"Quota", "Queue", "NotCreated", "TaskRunPending", "PipelineRunPending", "Refused"})
