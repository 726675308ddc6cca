"""What there is to say of a kind: the one map that commands, completion and the terminal interface ask."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Final

from kubectl_kres.errors import UsageError
from kubectl_kres.model.kinds import BY_KIND, Kind, is_known
from kubectl_kres.model.pod import Pod
from kubectl_kres.model.quota_objects import CountedObject
from kubectl_kres.model.workload import Workload
from kubectl_kres.reports.common.system import KindAnswers, systems

_POD: Final = KindAnswers("pod", one_pod=True)
_POLICY: Final = KindAnswers("policy")
_COUNTED: Final = KindAnswers("policy", as_sent=True, counted=True)
#: Kinds of Kubernetes that make no pods.
_OTHERS: Final = {
    "ResourceQuota": _POLICY,
    "LimitRange": _POLICY,
    "Namespace": _POLICY,
    "PersistentVolumeClaim": _COUNTED,
    "Service": _COUNTED,
    "ResourceClaim": _COUNTED,
}
_NOTHING: Final = KindAnswers()


@cache
def answers_about(kind: Kind) -> KindAnswers:
    """What is said of objects of a kind; of a kind that no table has, what its pod template tells.

    A type of the API group "" that is not known here has no pod template, and may be Secrets: nothing reads it.
    """
    if kind.struct is CountedObject:
        return _COUNTED
    for system in systems():
        if system.group and kind.group == system.group:
            return system.answers.get(kind.kind, _NOTHING)
        if not system.group and is_known(kind) and kind.kind in system.answers:
            return system.answers[kind.kind]
    if is_known(kind) and kind.kind in _OTHERS:
        return _OTHERS[kind.kind]
    return _POD if kind.struct in {Pod, Workload} and (kind.group or kind.kind in BY_KIND) else _NOTHING


def makes_one_pod(kind: Kind) -> bool:
    """Whether objects of the kind are pods, or make pods of one template."""
    return answers_about(kind).one_pod


def require_answers(kind: Kind, accepts: Callable[[Kind], bool] = makes_one_pod) -> Kind:
    """Return the kind itself. Raises UsageError for one that there are no answers about, before anything of it is read.

    That is also what keeps a Secret, which is a kind without a pod template, from being read on a caller's word.
    """
    if accepts(kind):
        return kind
    instead = answers_about(kind).several
    if instead:
        raise UsageError(f"{kind.qualified} make a pod for each task", hint=instead)
    raise UsageError(
        f"{kind.qualified} hold no pod template (spec.template.spec.containers)",
        hint="name pods, or what makes pods, as deployments",
    )


def is_shown(kind: Kind) -> bool:
    """Whether an object of the kind can be opened on full screen."""
    return is_explained(kind) and answers_about(kind).on_screen


def is_explained(kind: Kind) -> bool:
    """Whether there is an explanation of its objects."""
    return bool(answers_about(kind).explained)
