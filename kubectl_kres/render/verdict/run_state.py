"""The second word beside a verdict, in words: how an object fares, and why."""

from __future__ import annotations

from collections.abc import Mapping

from kubectl_kres.render.text.line import Tone, age_text, clip_text
from kubectl_kres.reports.common.explanation import NEGATIVE, RunState

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
    "NotCreated": "no pod yet",
    "NotReady": "not ready",
    "NotStarted": "not started",
    "NodeLost": "node lost",
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
#: Reasons that the cluster's own sentence says more of.
_QUOTED = frozenset({
    *("NoNode", "UnboundVolumeClaim", "ResourceClaimNotAllocated", "MissingVolume", "Image", "ContainerError"),
    *("Evicted", "JobFailed", "RunFailed", "NotReady", "AffinityAssistant", "MissingResourceClaim"),
})  # fmt: skip


def short(state: RunState | None) -> tuple[str, Tone]:
    """Return a cell of a list: the word with its reason. Empty where nothing is known."""
    if state is None:
        return "", ""
    reason = _SHORT.get(state.reason, "")
    return f"{state.word}: {reason}" if reason else state.word, _TONES.get(state.word, "")


def reason_text(state: RunState) -> str:
    """Return why it is that word, with whom or what it is about; empty for what runs."""
    if not state.reason:
        return ""
    missing = state.object
    if state.reason.startswith("Missing") and missing is not None:
        text = f"{missing.kind} {missing.name} is missing"
    elif state.reason == "UnboundVolumeClaim" and missing is not None:
        text = f"{missing.kind} {missing.name} does not bind"
    elif state.reason == "AffinityAssistant" and missing is not None:
        text = f"no node beside affinity assistant {missing.name}"
    else:
        text = state.detail or _SHORT.get(state.reason, state.reason)
        text += f" by {state.by}" if state.word == "off" and state.by else ""
        text += f" ({state.by})" if state.reason == "SchedulingGate" and state.by else ""
    return f"{text}: {clip_text(state.message, _LONGEST)}" if state.reason in _QUOTED and state.message else text


def state_sentence(state: RunState, now: str = "") -> str:
    """Return the same in a sentence with how many pods it is about, and since when: an age if ``now`` is known."""
    texts = [f"{state.pods} of {state.of} pods"] if state.of > 1 and state.pods else []
    texts += [f"since {age_text(state.since, now) or state.since}"] if state.since else []
    why = reason_text(state)
    more = f" ({', '.join(texts)})" if texts else ""
    return f"{why}{more}" if why else more.strip(" ()")


def state_suffix(state: RunState | None) -> str:
    """Return what follows the word of a verdict that does not say the same; empty where it runs, or nothing is
    known.
    """
    if state is None or state.word in {"runs", "ended"}:
        return ""
    return f", {'but ' * (state.word in NEGATIVE)}{state.word}"
