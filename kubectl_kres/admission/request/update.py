"""UPDATE of any object whose resources are limited or counted: which fields may change, and what quotas are charged."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from kubectl_kres.admission import limitrange as limitrange_object
from kubectl_kres.admission.base.draft import Draft, parse_list
from kubectl_kres.admission.base.field_errors import FieldError, forbidden, invalid, number
from kubectl_kres.admission.base.outcome import Outcome
from kubectl_kres.admission.base.server import Server
from kubectl_kres.admission.decoding import unknown_fields
from kubectl_kres.admission.pod.aggregate import compute_class
from kubectl_kres.admission.pod.defaulting import decoded_draft, default_pod_level
from kubectl_kres.admission.pod.validation import validate_containers, validate_pod_level
from kubectl_kres.admission.quota import quota_object
from kubectl_kres.admission.quota.quota_admission import pod_request, service_request
from kubectl_kres.admission.request.create import create_workload
from kubectl_kres.admission.request.new_pod import Policies, stored_pod
from kubectl_kres.admission.request.policy_answer import answer_request, not_valid, undecodable, with_webhooks
from kubectl_kres.admission.request.volume_claims import has_changed, update_claim
from kubectl_kres.admission.structure.metadata_structure import name_of
from kubectl_kres.admission.structure.workload_structure import workload_errors
from kubectl_kres.errors import QuantityError
from kubectl_kres.model.objects import LimitRange, ObjectRef, Raw, ResourceQuota, decode_object
from kubectl_kres.model.pod import Pod
from kubectl_kres.model.quota_objects import Service
from kubectl_kres.model.workload import template_in
from kubectl_kres.model.workload_kinds import WORKLOADS
from kubectl_kres.quantity import parse

_IMMUTABLE = "field is immutable"
_RULE = "update/immutable"
_STATEFUL = (
    "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', "
    "'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden"
)
#: What a StatefulSet keeps, in the order in which it is checked.
_KEPT = ("selector", "volumeClaimTemplates", "serviceName", "podManagementPolicy")

_MUTABLE = (
    "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,"
    "`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),"
    "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)"
)
_MOST_SECONDS = 2**31 - 1

_Version = tuple[Pod, Draft, Mapping[str, Any]]

UpdateRule = Callable[[Raw, Raw, Policies, Server], tuple[Outcome, ...]]


def update(old: Raw, new: Raw, policies: Policies, server: Server) -> tuple[Outcome, ...]:
    """Return every answer to a PUT, or to a patch once it is applied: ``old`` as stored, ``new`` as sent, both whole.

    Kinds that are only counted are counted at creation: an update costs them nothing.
    """
    kind = str(new.get("kind", ""))
    undecoded = undecodable(new)
    if undecoded is not None:
        return (undecoded,)
    outcomes = with_webhooks(
        _BY_KIND.get(kind, _update_counted)(old, new, policies, server), new, policies, update=True
    )
    unknown = unknown_fields(new, kind)
    if not unknown:
        return outcomes
    return tuple(
        msgspec.structs.replace(outcome, warnings=tuple(sorted({*outcome.warnings, *unknown}))) for outcome in outcomes
    )


def _update_limit_range(_old: Raw, new: Raw, policies: Policies, server: Server) -> tuple[Outcome, ...]:
    """Checked like a new one; the whole spec is replaced."""
    limits = limitrange_object.parse(decode_object(new, LimitRange))
    errors = limitrange_object.validate(limits)
    if errors:
        return (not_valid("LimitRange", name_of(new), errors, server),)
    stored = {"metadata": {"name": name_of(new)}, "spec": limitrange_object.stored_spec(limits)}
    return answer_request(stored, None, policies, server, code=200)


def _update_quota(old: Raw, new: Raw, policies: Policies, server: Server) -> tuple[Outcome, ...]:
    """``hard`` may go below what is used; it counts once the controller has copied it."""
    quota, before = (decode_object(raw, ResourceQuota) for raw in (new, old))
    hard = parse_list(quota.spec.hard, "spec.hard")
    errors = quota_object.validate_update(quota.spec, hard, before.spec)
    if errors:
        return (not_valid("ResourceQuota", name_of(new), errors, server),)
    stored = {"metadata": {"name": name_of(new)}, "spec": quota_object.stored_spec(new, hard)}
    return answer_request(stored, None, policies, server, code=200)


def _update_service(old: Raw, new: Raw, policies: Policies, server: Server) -> tuple[Outcome, ...]:
    before, after = (decode_object(raw, Service) for raw in (old, new))
    spec = {"type": after.spec.type, "ports": len(after.spec.ports or ())}
    stored = {"metadata": {"name": name_of(new)}, "spec": spec}
    return answer_request(stored, service_request(after), policies, server, code=200, old=service_request(before))


def _update_counted(_old: Raw, new: Raw, policies: Policies, server: Server) -> tuple[Outcome, ...]:
    return answer_request({"metadata": {"name": name_of(new)}}, None, policies, server, code=200)


def _update_workload(old: Raw, new: Raw, policies: Policies, server: Server) -> tuple[Outcome, ...]:
    """Return every answer to an UPDATE of a built-in kind: quotas counted it at its creation. Raises Unparsable.

    Source: validation.go ValidateStatefulSetUpdate, ValidateDeploymentUpdate, ValidateJobUpdate; apps strategies.
    """
    kind = str(new.get("kind", ""))
    errors = [*_workload_errors(kind, _spec(old), _spec(new), server)]
    kept, found_template = _kept_template(old, new), template_in(new)
    if kept is not None or errors:
        # A template that is there already has passed; what stands around it is checked again.
        around = workload_errors(new, ".".join(found_template[0]), created=False) if found_template is not None else ()
        errors = [*around, *errors]
        if errors:
            return (not_valid(_qualified_kind(new), name_of(new), errors, server),)
        return _build_stored_outcomes(new, policies, server, ())
    # What a new one of its kind is checked for, and no quota asked: it is there already.
    created = create_workload(new, Policies(), server)
    refusals = [outcome for outcome in created if outcome.refusal is not None]
    return tuple(refusals) if refusals else _build_stored_outcomes(new, policies, server, created[0].warnings)


def _build_stored_outcomes(
    new: Raw, policies: Policies, server: Server, warnings: Sequence[str]
) -> tuple[Outcome, ...]:
    stored = {"metadata": {"name": name_of(new)}}
    return answer_request(stored, None, policies, server, code=200, warnings=warnings)


def _qualified_kind(raw: Raw) -> str:
    """Return the kind with its group, as errors name it."""
    kind, group = str(raw.get("kind", "")), str(raw.get("apiVersion", "")).rpartition("/")[0]
    return f"{kind}.{group}" if group else kind


def _kept_template(old: Raw, new: Raw) -> tuple[str, ...] | None:
    """Return the path of the template, if the update leaves it as it is."""
    before, after = template_in(old), template_in(new)
    if before is None or after is None or has_changed(before[1], after[1]):
        return None
    return after[0]


def _spec(raw: Raw) -> Mapping[str, Any]:
    spec = raw.get("spec")
    return spec if isinstance(spec, Mapping) else {}


def _workload_errors(kind: str, old: Mapping[str, Any], new: Mapping[str, Any], server: Server) -> Iterator[FieldError]:
    if kind == "StatefulSet":
        yield from _stateful_errors(old, new, server)
    elif kind == "Job":
        yield from _job_errors(old, new)
    elif WORKLOADS[kind].group == "apps" and has_changed(old.get("selector"), new.get("selector")):
        yield invalid("spec.selector", new.get("selector"), _IMMUTABLE, _RULE)


def _stateful_errors(old: Mapping[str, Any], new: Mapping[str, Any], server: Server) -> Iterator[FieldError]:
    moved = [key for key in _KEPT if key in old and _is_different(old[key], new.get(key))]
    if new.get("volumeClaimTemplates") and not old.get("volumeClaimTemplates"):
        moved = sorted({*moved, "volumeClaimTemplates"}, key=_KEPT.index)
    if moved and not server.has_change("statefulset/each-immutable"):
        yield forbidden("spec", _STATEFUL, _RULE)
    elif moved:
        yield from (invalid(f"spec.{key}", new.get(key), _IMMUTABLE, _RULE) for key in moved)


def _is_different(old: Any, new: Any) -> bool:
    """Return whether what both say is not the same; of what was read some fields are not known, and defaults are not
    sent.
    """
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        return any(_is_different(value, new[key]) for key, value in old.items() if key in new)
    if isinstance(old, list) and isinstance(new, list):
        return len(old) != len(new) or any(_is_different(*pair) for pair in zip(old, new, strict=True))
    if isinstance(old, list):
        return bool(old)
    return new is not None and _amount(old) != _amount(new)


def _amount(value: Any) -> Any:
    """Return a quantity as a number, whatever its notation; other values as they are."""
    try:
        return parse(str(value)).nano
    except QuantityError:
        return value


def _job_errors(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[FieldError]:
    if old.get("completions") != new.get("completions") and new.get("completionMode") != "Indexed":
        yield FieldError(
            "spec.completions", "FieldValueInvalid", f"Invalid value: {_format_completions(new)}: {_IMMUTABLE}", _RULE
        )
    if has_changed(old.get("selector"), new.get("selector")):
        yield invalid("spec.selector", new.get("selector"), _IMMUTABLE, _RULE)
    if has_changed(old.get("template"), new.get("template")) and not old.get("suspend"):
        # The server prints its own struct of the whole template, as Go names the fields: that is left out.
        yield FieldError("spec.template", "FieldValueInvalid", f"Invalid value: {{...}}: {_IMMUTABLE}", _RULE)


def _format_completions(spec: Mapping[str, Any]) -> str:
    completions = spec.get("completions")
    return "null" if completions is None else str(completions)


def _update_pod(
    old_raw: Mapping[str, Any], new_raw: Mapping[str, Any], policies: Policies, server: Server
) -> tuple[Outcome, ...]:
    """Return every answer to an UPDATE of a pod as stored to the pod as sent. Raises Unparsable.

    LimitRanges play no part. Quotas are asked only if the deadline is set or cleared; the controller then lowers those
    of the other scope. The server's 422 goes on with a dump of both specs, which is left out here.
    Source: validation.go ValidatePodUpdate; evaluator/core/pods.go Handles.
    """
    name = name_of(new_raw)
    new_raw = _with_pod_level(old_raw, new_raw, server)
    old, new = (decode_object(raw, Pod) for raw in (old_raw, new_raw))
    new = msgspec.structs.replace(new, status=old.status)
    before, after = decoded_draft(old, server), decoded_draft(new, server)
    errors = [error for error in validate_containers(after, server) if error.rule != "validation/ephemeral"]
    errors += [*validate_pod_level(after), *_pod_errors((old, before, old_raw), (new, after, new_raw))]
    if errors:
        return (not_valid("Pod", name, errors, server),)
    request = pod_request(new, server, draft=after)
    charged = _terminating(old) != _terminating(new)
    default_pod_level(after, ObjectRef("Pod", name), None)
    stored = stored_pod(new, after, old.status.qos_class or compute_class(after))
    was = pod_request(old, server, draft=before)
    return answer_request(stored, request if charged else None, policies, server, code=200, old=was)


def _with_pod_level(old: Mapping[str, Any], new: Mapping[str, Any], server: Server) -> Mapping[str, Any]:
    """Return the pod as sent, with the pod-level resources that it leaves out. Source: strategy.go PrepareForUpdate."""
    level, spec = (old.get("spec") or {}).get("resources"), new.get("spec") or {}
    if level is None or spec.get("resources") is not None or not server.has_change("pod-level/kept-by-update"):
        return new
    return {**new, "spec": {**spec, "resources": level}}


def _terminating(pod: Pod) -> bool:
    return (pod.spec.active_deadline_seconds or -1) >= 0 or pod.spec.active_deadline_seconds == 0


def _pod_errors(old: _Version, new: _Version) -> Iterator[FieldError]:
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
    if moved or has_changed(*map(_immutable_fields, specs)) or _grace_moves(*specs):
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
    """Return a negative period, which counts as 1, may be corrected to 1."""
    key = "terminationGracePeriodSeconds"
    corrected = new.get(key) == 1 and (old.get(key) or 0) < 0
    return not corrected and has_changed(old.get(key), new.get(key))


def _immutable_fields(spec: Mapping[str, Any]) -> dict[str, Any]:
    """Return what must stay: no image, no deadline or tolerations; resources are compared as quantities elsewhere."""
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


_BY_KIND: Mapping[str, UpdateRule] = {
    **dict.fromkeys(WORKLOADS, _update_workload),
    "Pod": _update_pod,
    "LimitRange": _update_limit_range,
    "ResourceQuota": _update_quota,
    "PersistentVolumeClaim": update_claim,
    "Service": _update_service,
}
