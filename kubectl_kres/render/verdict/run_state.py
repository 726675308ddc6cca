"""The second word beside a verdict, in words: how an object fares, and why."""

from __future__ import annotations

from collections.abc import Mapping

from kubectl_kres.render.text.line import Tone, ago_or_at, clip_text, duration_text
from kubectl_kres.render.text.sentences import sentence_text
from kubectl_kres.reports.common.explanation import NEGATIVE, RunState
from kubectl_kres.reports.common.nodes import NodeReport
from kubectl_kres.reports.explain.all_states import ScheduledJobs

_TONES: Mapping[str, Tone] = {"fails": "bad", "waits": "bad", "starting": "warn", "off": "quiet", "ended": "quiet"}
#: Cells of a sentence of the cluster.
_LONGEST = 300

#: What a reason is called where little room is.
_SHORT: Mapping[str, str] = {
    "NoNode": "no node",
    "SchedulingGate": "scheduling gate",
    "NoScheduler": "no scheduler",
    "MissingVolumeClaim": "claim missing",
    "UnboundVolumeClaim": "claim not bound",
    "MissingResourceClaim": "ResourceClaim missing",
    "ResourceClaimNotAllocated": "no device",
    "MissingVolume": "volume",
    "MissingConfigMap": "ConfigMap missing",
    "MissingSecret": "Secret missing",
    "MissingServiceAccount": "ServiceAccount missing",
    "AffinityAssistant": "affinity assistant",
    "Quota": "quota",
    "Refused": "refused",
    "NotCreated": "not created yet",
    "NotReady": "not ready",
    "NotStarted": "not started",
    "NodeLost": "node lost",
    "ResizeDeferred": "resize deferred",
    "ResizeInfeasible": "resize infeasible",
    "Queue": "queue",
    "TaskRunPending": "TaskRunPending",
    "PipelineRunPending": "PipelineRunPending",
    "Image": "image",
    "OOMKilled": "OOMKilled",
    "CrashLoop": "crashes",
    "ContainerError": "container error",
    "Evicted": "failed",
    "JobFailed": "job failed",
    "RunFailed": "run failed",
    "ScaledToZero": "scaled to 0",
    "Suspended": "suspended",
    "Paused": "paused",
}
NO_NODE = "there is no node in the cluster"
#: Reasons that the cluster's own sentence says more of.
_QUOTED = frozenset({
    *("NoNode", "UnboundVolumeClaim", "ResourceClaimNotAllocated", "MissingVolume", "Image", "ContainerError"),
    *("Evicted", "JobFailed", "RunFailed", "NotReady", "AffinityAssistant", "MissingResourceClaim",
      "MissingVolumeClaim"),
})  # fmt: skip


def short(state: RunState | None) -> tuple[str, Tone]:
    """Return a cell of a list: the word with its reason. Empty where nothing is known."""
    if state is None:
        return "", ""
    reason = _SHORT.get(state.reason, "")
    return f"{state.state}: {reason}" if reason else state.state, _TONES.get(state.state, "")


def reason_text(state: RunState) -> str:
    """Return why it is that word, with whom or what it is about; empty for what runs."""
    if not state.reason:
        return ""
    missing = state.object
    if state.reason.startswith("Missing") and missing is not None and not state.by:
        text = f"{missing.kind} {missing.name} is missing"
    elif state.reason == "UnboundVolumeClaim" and missing is not None:
        text = f"{missing.kind} {missing.name} does not bind"
    elif state.reason == "AffinityAssistant" and missing is not None:
        text = f"no node beside affinity assistant {missing.name}"
    else:
        text = (sentence_text(state.detail) or _SHORT.get(state.reason, state.reason)) + _limit_setter(state)
        text += f" by {sentence_text(state.by)}" if state.state == "off" and state.by else ""
        text += f" ({sentence_text(state.by)})" if state.reason == "SchedulingGate" and state.by else ""
    quoted = state.reason in _QUOTED and state.message and not (state.by and state.reason.startswith("Missing"))
    return f"{text}: {clip_text(state.message, _LONGEST)}" if quoted else text


def _limit_setter(state: RunState) -> str:
    """Return what sets the limit of a container that was killed for memory; empty where that is not known."""
    limit = state.limit_today
    if limit is None:
        return ""
    amount = limit.live or limit.value
    figure = f" ({amount})" if amount != state.memory_limit else ""
    setter = str(limit.source.ref) if limit.source is not None else "the manifest" if limit.written else "admission"
    edited = f", last written by {limit.edited.manager}" if limit.edited is not None else ""
    return f"; the limit{figure} is set by {setter}{edited}"


def state_sentence(state: RunState, now: str = "") -> str:
    """Return the same in a sentence with how many pods it is about, and since when: an age if ``now`` is known."""
    count = f"{state.pods} of {state.wanted} pods" if state.wanted > 1 and state.pods else ""
    reason = reason_text(state)
    if state.reason == "NotCreated" and not state.detail:
        reason, count = f"{count or 'its pod is'} {reason}", ""
    texts = [count] if count else []
    texts += [duration_text(state.since, now)] if state.since else []
    more = f" ({', '.join(texts)})" if texts else ""
    return f"{reason}{more}" if reason else more.strip(" ()")


def scheduled_text(jobs: ScheduledJobs, now: str) -> str:
    """Return what a CronJob that is on does: how many Jobs run, and how long ago one ended well."""
    running = f"{jobs.running} job{'s' * (jobs.running != 1)} run{'s' * (jobs.running == 1)}" if jobs.running else ""
    success = f"last success{ago_or_at(jobs.last_success, now)}" if jobs.last_success else "no success yet"
    return ", ".join(filter(None, (running, success)))


def state_suffix(state: RunState | None) -> str:
    """Return what follows the word of a verdict that does not say the same; empty where it runs, or nothing is
    known.
    """
    if state is None or state.state in {"runs", "ended"}:
        return ""
    return f", {'but ' * (state.state in NEGATIVE)}{state.state}"


def nearest_in_short(report: NodeReport | None) -> str:
    """Return ``nearest: n3 lacks memory 2Gi``, how many nodes can take the pod, that there is none, or that they may
    not be read; empty where none is nearest, and without a report.
    """
    if report is None:
        return ""
    if report.unread:
        return "the nodes could not be read"
    if report.is_read and not report.nodes:
        return NO_NODE
    if report.fitting:
        return f"{report.fitting} of {report.nodes} can take it"
    if report.nearest is None:
        return ""
    lacks = " and ".join(f"{shortage.short_by} of {shortage.resource}" for shortage in report.nearest.shortages)
    texts = (*([f"short by {lacks}"] if lacks else []), *report.nearest.obstacles)
    return f"nearest: {report.nearest.node}: {'; '.join(texts)}"


def why_no_node(report: NodeReport | None) -> str:
    """Return ``: 2 Insufficient memory, 1 Too many pods``: the reasons of the scheduler; empty without a report."""
    if report is None:
        return ""
    texts = [f"{group.count} {group.reason}" for group in report.groups]
    return f": {report.rejection or ', '.join(texts)}" if report.rejection or texts else ""
