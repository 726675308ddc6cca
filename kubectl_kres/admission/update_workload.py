"""A workload through an UPDATE: its template is checked like a new one, and some fields never change."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from kubectl_kres.admission.answer import answered, name_of
from kubectl_kres.admission.changed import changed
from kubectl_kres.admission.field import FieldError, forbidden, invalid
from kubectl_kres.admission.outcome import Outcome, invalid_object
from kubectl_kres.admission.pods import Policies
from kubectl_kres.admission.server import Server
from kubectl_kres.admission.workload import create_workload
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
        group = str(new.get("apiVersion", "")).rpartition("/")[0]
        refusal = invalid_object(f"{kind}.{group}" if group else kind, name_of(new), errors)
        return (Outcome(allowed=False, code=422, refusal=refusal),)
    # What a new one of its kind is checked for, and no quota asked: it is there already. An old template has passed.
    checked = {**new, "spec": {**_spec(new), "template": None}} if _same_template(old, new) else new
    created = create_workload(checked, Policies(), server)
    refusals = [outcome for outcome in created if outcome.refusal is not None]
    if refusals:
        return tuple(refusals)
    stored = {"metadata": {"name": name_of(new)}}
    return answered(stored, None, policies, server, code=200, warnings=created[0].warnings)


def _same_template(old: Raw, new: Raw) -> bool:
    places = template_in(old), template_in(new)
    return places[0] is not None and places[1] is not None and not changed(places[0][1], places[1][1])


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
