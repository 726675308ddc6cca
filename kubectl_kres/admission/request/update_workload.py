"""A workload through an UPDATE: its template is checked like a new one, and some fields never change."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from kubectl_kres.admission.base.field_error import FieldError, forbidden, invalid
from kubectl_kres.admission.base.outcome import Outcome
from kubectl_kres.admission.base.server import Server
from kubectl_kres.admission.request.immutability import changed
from kubectl_kres.admission.request.new_pod import Policies
from kubectl_kres.admission.request.policy_answer import answered, not_valid
from kubectl_kres.admission.request.workload import create_workload
from kubectl_kres.admission.structure.metadata_structure import name_of
from kubectl_kres.admission.structure.workload_structure import workload_errors
from kubectl_kres.errors import QuantityError
from kubectl_kres.model.raw import Raw
from kubectl_kres.model.workload import template_in
from kubectl_kres.quantity import parse

_IMMUTABLE = "field is immutable"
_RULE = "update/immutable"
_STATEFUL = (
    "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', "
    "'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden"
)
_FREE = frozenset({
    "replicas", "ordinals", "template", "updateStrategy", "revisionHistoryLimit",
    "persistentVolumeClaimRetentionPolicy", "minReadySeconds",
})  # fmt: skip
_WITH_SELECTOR = frozenset({"Deployment", "ReplicaSet", "DaemonSet"})


def update_workload(old: Raw, new: Raw, policies: Policies, server: Server) -> tuple[Outcome, ...]:
    """Every answer to an UPDATE of a built-in kind: quotas counted it at its creation. Raises Unparsable.

    Source: validation.go ValidateStatefulSetUpdate, ValidateDeploymentUpdate, ValidateJobUpdate; apps strategies.
    """
    kind = str(new.get("kind", ""))
    errors = [*_errors(kind, _spec(old), _spec(new))]
    if errors:
        return (not_valid(_called(new), name_of(new), errors),)
    kept = _kept_template(old, new)
    if kept is not None:
        # A template that is there already has passed; what stands around it is checked again.
        around = [*workload_errors(new, ".".join(kept))]
        return (not_valid(_called(new), name_of(new), around),) if around else _stored(new, policies, server, ())
    # What a new one of its kind is checked for, and no quota asked: it is there already.
    created = create_workload(new, Policies(), server)
    refusals = [outcome for outcome in created if outcome.refusal is not None]
    return tuple(refusals) if refusals else _stored(new, policies, server, created[0].warnings)


def _stored(new: Raw, policies: Policies, server: Server, warnings: Sequence[str]) -> tuple[Outcome, ...]:
    stored = {"metadata": {"name": name_of(new)}}
    return answered(stored, None, policies, server, code=200, warnings=warnings)


def _called(raw: Raw) -> str:
    """The kind with its group, as errors name it."""
    kind, group = str(raw.get("kind", "")), str(raw.get("apiVersion", "")).rpartition("/")[0]
    return f"{kind}.{group}" if group else kind


def _kept_template(old: Raw, new: Raw) -> tuple[str, ...] | None:
    """The path of the template, if the update leaves it as it is."""
    before, after = template_in(old), template_in(new)
    if before is None or after is None or changed(before[1], after[1]):
        return None
    return after[0]


def _spec(raw: Raw) -> Mapping[str, Any]:
    spec = raw.get("spec")
    return spec if isinstance(spec, Mapping) else {}


def _errors(kind: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[FieldError]:
    if kind == "StatefulSet" and any(_differs(old[key], new.get(key)) for key in old if key not in _FREE):
        yield forbidden("spec", _STATEFUL, _RULE)
    if kind in _WITH_SELECTOR and changed(old.get("selector"), new.get("selector")):
        yield invalid("spec.selector", new.get("selector"), _IMMUTABLE, _RULE)
    if kind == "Job":
        yield from _job_errors(old, new)


def _differs(old: Any, new: Any) -> bool:
    """Whether what both say is not the same; of what was read some fields are not known, and defaults are not sent."""
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        return any(_differs(value, new[key]) for key, value in old.items() if key in new)
    if isinstance(old, list) and isinstance(new, list):
        return len(old) != len(new) or any(_differs(*pair) for pair in zip(old, new, strict=True))
    if isinstance(old, list):
        return bool(old)
    return new is not None and _amount(old) != _amount(new)


def _amount(value: Any) -> Any:
    """A quantity as a number, whatever its notation; other values as they are."""
    try:
        return parse(str(value)).nano
    except QuantityError:
        return value


def _job_errors(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[FieldError]:
    if old.get("completions") != new.get("completions") and new.get("completionMode") != "Indexed":
        yield FieldError("spec.completions", "FieldValueInvalid", f"Invalid value: {_shown(new)}: {_IMMUTABLE}", _RULE)
    if changed(old.get("template"), new.get("template")) and not old.get("suspend"):
        yield invalid("spec.template", new.get("template"), _IMMUTABLE, _RULE)


def _shown(spec: Mapping[str, Any]) -> str:
    completions = spec.get("completions")
    return "null" if completions is None else str(completions)
