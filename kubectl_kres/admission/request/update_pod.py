"""A pod through an UPDATE: nothing that counts can change but the deadline, which moves it to another quota scope."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from kubectl_kres.admission.base.draft import Draft
from kubectl_kres.admission.base.field_error import FieldError, forbidden, invalid, number
from kubectl_kres.admission.base.outcome import Outcome
from kubectl_kres.admission.base.server import Server
from kubectl_kres.admission.pod.defaulting import decoded_draft, default_pod_level
from kubectl_kres.admission.pod.pod_level import validate_pod_level
from kubectl_kres.admission.pod.qos import class_of
from kubectl_kres.admission.pod.validation import validate_containers
from kubectl_kres.admission.quota.requests import pod_request
from kubectl_kres.admission.request.immutability import changed
from kubectl_kres.admission.request.new_pod import Policies, stored_pod
from kubectl_kres.admission.request.policy_answer import answered, not_valid
from kubectl_kres.admission.structure.metadata_structure import name_of
from kubectl_kres.model.meta import ObjectRef
from kubectl_kres.model.pod import Pod

_MUTABLE = (
    "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,"
    "`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),"
    "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)"
)
_MOST_SECONDS = 2**31 - 1


def update_pod(
    old_raw: Mapping[str, Any], new_raw: Mapping[str, Any], policies: Policies, server: Server
) -> tuple[Outcome, ...]:
    """Every answer to an UPDATE of a pod as stored to the pod as sent. Raises Unparsable.

    LimitRanges play no part. Quotas are asked only if the deadline is set or cleared; the controller then lowers those
    of the other scope. The server's 422 goes on with a dump of both specs, which is left out here.
    Source: validation.go ValidatePodUpdate; evaluator/core/pods.go Handles.
    """
    name = name_of(new_raw)
    old, new = (msgspec.convert(raw, Pod) for raw in (old_raw, new_raw))
    new = msgspec.structs.replace(new, status=old.status)
    before, after = decoded_draft(old, server), decoded_draft(new, server)
    errors = [error for error in validate_containers(after, server) if error.rule != "validation/ephemeral"]
    errors += [*validate_pod_level(after), *_errors((old, before, old_raw), (new, after, new_raw))]
    if errors:
        return (not_valid("Pod", name, errors),)
    request = pod_request(new, server, draft=after)
    charged = _terminating(old) != _terminating(new)
    default_pod_level(after, ObjectRef("Pod", name), None)
    stored = stored_pod(new, after, old.status.qos_class or class_of(after))
    was = pod_request(old, server, draft=before)
    return answered(stored, request if charged else None, policies, server, code=200, old=was)


def _terminating(pod: Pod) -> bool:
    return (pod.spec.active_deadline_seconds or -1) >= 0 or pod.spec.active_deadline_seconds == 0


_Version = tuple[Pod, Draft, Mapping[str, Any]]


def _errors(old: _Version, new: _Version) -> Iterator[FieldError]:
    for key in ("containers", "initContainers"):
        counts = [len((raw.get("spec") or {}).get(key) or ()) for _, _, raw in (old, new)]
        if counts[0] != counts[1]:
            yield forbidden(f"spec.{key}", "pod updates may not add or remove containers", "update/pod-containers")
            return
    deadlines = [*_deadline_errors(old[0].spec.active_deadline_seconds, new[0].spec.active_deadline_seconds)]
    yield from deadlines
    if deadlines:
        return
    moved = old[1].values() != new[1].values() or (old[1].pod is None) != (new[1].pod is None)
    specs = [raw.get("spec") or {} for _, _, raw in (old, new)]
    if moved or changed(*map(_fixed, specs)) or _grace_moves(*specs):
        yield forbidden("spec", _MUTABLE, "update/pod-immutable")


def _deadline_errors(old: int | None, new: int | None) -> Iterator[FieldError]:
    path, rule = "spec.activeDeadlineSeconds", "update/deadline"
    if new is None:
        if old is not None:
            yield invalid(path, None, "must not update from a positive integer to nil value", rule)
        return
    if not 1 <= new <= _MOST_SECONDS:
        yield number(path, new, f"must be between 1 and {_MOST_SECONDS}, inclusive", rule)
    if not 0 <= new <= _MOST_SECONDS:
        yield number(path, new, f"must be between 0 and {_MOST_SECONDS}, inclusive", rule)
    elif old is not None and old < new:
        yield number(path, new, "must be less than or equal to previous value", rule)


def _grace_moves(old: Mapping[str, Any], new: Mapping[str, Any]) -> bool:
    """A negative period, which counts as 1, may be corrected to 1."""
    key = "terminationGracePeriodSeconds"
    corrected = new.get(key) == 1 and (old.get(key) or 0) < 0
    return not corrected and changed(old.get(key), new.get(key))


def _fixed(spec: Mapping[str, Any]) -> dict[str, Any]:
    """What must stay: no image, no deadline or tolerations; resources are compared as quantities elsewhere."""
    gated = {"nodeSelector", "affinity"} if spec.get("schedulingGates") else set()
    free = {"activeDeadlineSeconds", "tolerations", "schedulingGates", "ephemeralContainers", "resources", "overhead",
            "terminationGracePeriodSeconds"}  # fmt: skip
    fixed = {key: value for key, value in spec.items() if key not in free | gated}
    for key in ("containers", "initContainers"):
        fixed[key] = [
            {name: value for name, value in container.items() if name not in {"image", "resources"}}
            for container in spec.get(key) or ()
        ]
    return fixed
