"""The second word beside a verdict, as a value: how a pod, a workload or a run fares, and why."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import ClassVar, Final, Literal

from kubectl_kres.model.meta import ObjectRef
from kubectl_kres.reports.common.record import Record

#: How it fares. docs/verdicts.md has the table.
RunWord = Literal["runs", "starting", "waits", "fails", "off", "ended"]

#: Why it waits, fails or is off.
Reason = Literal[
    "",
    "NoNode",
    "SchedulingGate",
    "NoScheduler",
    "MissingVolumeClaim",
    "UnboundVolumeClaim",
    "MissingResourceClaim",
    "ResourceClaimNotAllocated",
    "MissingVolume",
    "MissingConfigMap",
    "MissingSecret",
    "MissingServiceAccount",
    "AffinityAssistant",
    "Quota",
    "Refused",
    "NotCreated",
    "NotReady",
    "NotStarted",
    "NodeLost",
    "Queue",
    "TaskRunPending",
    "PipelineRunPending",
    "Image",
    "OOMKilled",
    "CrashLoop",
    "ContainerError",
    "Evicted",
    "JobFailed",
    "RunFailed",
    "ScaledToZero",
    "Suspended",
    "Paused",
]

#: Words that an answer "all is well" must not stand beside, and with which ``--exit-code`` ends with 1.
NEGATIVE: Final[frozenset[str]] = frozenset({"waits", "fails"})
#: The worst first.
WORDS: Final[tuple[RunWord, ...]] = ("fails", "waits", "starting", "off", "runs", "ended")

#: Seconds in which what is new is starting, and nobody has to look: for a scheduler to answer, for containers to become
#: ready, for a controller to create pods.
GRACE: Final = 30
#: Seconds for a node to pull images and to start containers of which nothing bad is said.
START_GRACE: Final = 300
#: Seconds for which the end of a container still counts: as long as the kubelet remembers its back-off.
RECENT: Final = 600


class RunState(Record, frozen=True):
    """How an object fares. ``reason``: why it is that word; empty for what runs as usual.

    ``since``: since when (RFC 3339, empty where nothing says it). ``pods`` of ``of``: how many of the wanted pods are
    in this state; ``of`` 0: it is a single pod or run. ``ready``: how many of those are ready. ``pod``: one of
    them. ``object``: what is missing, full or in the way. ``by``: who holds it up or turned it off. ``message``:
    the cluster's own words. ``detail``: what they come to in a few words, where that is more than the reason says.
    ``next``: what to do next.
    """

    TRANSIENT: ClassVar[frozenset[str]] = frozenset({"since"})

    word: RunWord
    reason: Reason = ""
    since: str = ""
    pods: int = 0
    of: int = 0
    ready: int = 0
    pod: str = ""
    object: ObjectRef | None = None
    by: str = ""
    message: str = ""
    detail: str = ""
    next: str = ""


def is_held_up(state: RunState | None) -> bool:
    """Whether something that is wanted waits or fails."""
    return state is not None and state.word in NEGATIVE


def rank(state: RunState) -> int:
    """The place among others, the worst first."""
    return WORDS.index(state.word)


def worst(states: Iterable[RunState]) -> RunState | None:
    """The first of the worst; None of none."""
    return min(states, key=rank, default=None)


def age(moment: str | None, now: str) -> float | None:
    """Seconds from a moment to now, both RFC 3339; None where one of them is not known."""
    try:
        return (datetime.fromisoformat(now) - datetime.fromisoformat(moment or "")).total_seconds()
    except (ValueError, TypeError):
        return None


def is_new(moment: str | None, now: str, grace: int = GRACE) -> bool:
    """Whether a moment is no further back than ``grace`` seconds; not where that is not known."""
    seconds = age(moment, now)
    return seconds is not None and seconds < grace
