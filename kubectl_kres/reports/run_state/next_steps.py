"""The next step for a state, as a value: what to do or look at, by its reason."""

from __future__ import annotations

import re
from typing import Final

from msgspec import structs

from kubectl_kres.admission.sentences import read_node_room
from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.record import Sentence, Wording
from kubectl_kres.reports.common.explanation import Reason, RunState
from kubectl_kres.reports.run_state.details import UnboundCause

#: Reasons about which something else says what to do.
_WITHOUT: Final[frozenset[Reason]] = frozenset({"", "Quota", "Refused"})


class NextStep(Sentence, frozen=True):
    """What to do about a state of this reason. ``by``, ``pod``, ``object``, ``container``, ``ended``,
    ``memory_limit``: as the state has them.

    ``image``: what is pulled. ``storage_class``: one that a claim names and that does not exist. ``resource``,
    ``left``: what the node of a resize has left.
    """

    reason: Reason
    namespace: str
    by: str = ""
    pod: str = ""
    object: ObjectRef | None = None
    container: str = ""
    ended: bool = False
    memory_limit: str = ""
    image: Wording = ""
    storage_class: str = ""
    resource: str = ""
    left: str = ""


class SeeFix(Sentence, frozen=True):
    """Explain has its fix."""


class FollowPod(Sentence, frozen=True):
    """It has to run beside a pod that finds no node itself."""

    pod: str
    namespace: str


class AskSuspender(Sentence, frozen=True):
    """Its owner suspends it."""

    kind: str
    name: str


class MatchNode(Sentence, frozen=True):
    """No node is one that the template of a DaemonSet lets in."""


class BindClaim(Sentence, frozen=True):
    """Bring a volume for a claim; the fields are those of ``UnboundClaim``."""

    cause: UnboundCause
    storage_class: str = ""


def with_next_step(state: RunState, namespace: str) -> RunState:
    """Return the state with its next step; unchanged where there is nothing to do."""
    if state.reason in _WITHOUT or state.next:
        return state
    return structs.replace(state, next=_step(state, namespace))


#: The binder's words for a claim whose class is not there.
_LACKING_CLASS = r'storageclass\.storage\.k8s\.io "([^"\s]+)" not found'


def _step(state: RunState, namespace: str) -> NextStep:
    lacking = re.search(_LACKING_CLASS, state.message) if state.reason == "UnboundVolumeClaim" else None
    room = read_node_room(state.message) if state.reason in {"ResizeDeferred", "ResizeInfeasible"} else None
    return NextStep(
        state.reason,
        namespace,
        state.by if isinstance(state.by, str) else "",
        state.pod,
        state.object,
        state.container,
        state.ended,
        state.memory_limit,
        state.detail if state.reason == "Image" else "",
        lacking[1] if lacking is not None else "",
        room.resource if room is not None else "",
        room.left if room is not None else "",
    )
