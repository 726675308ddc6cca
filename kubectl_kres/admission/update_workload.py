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
from kubectl_kres.model.raw import Raw

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
    # What a new one of its kind is checked for, and no quota asked: it is there already.
    created = create_workload(new, Policies(), server)
    refusals = [outcome for outcome in created if outcome.refusal is not None]
    errors = [*_errors(kind, _spec(old), _spec(new))]
    if not refusals and not errors:
        return answered(
            {"metadata": {"name": name_of(new)}}, None, policies, server, code=200, warnings=created[0].warnings
        )
    if not errors:
        return tuple(refusals)
    group = str(new.get("apiVersion", "")).rpartition("/")[0]
    refusal = invalid_object(f"{kind}.{group}" if group else kind, name_of(new), errors)
    return (Outcome(allowed=False, code=422, refusal=refusal),)


def _spec(raw: Raw) -> Mapping[str, Any]:
    spec = raw.get("spec")
    return spec if isinstance(spec, Mapping) else {}


def _errors(kind: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[FieldError]:
    if kind == "StatefulSet":
        fixed = {key: value for key, value in new.items() if key not in _FREE}
        if changed(old, fixed) or any(key not in new and old[key] for key in ("volumeClaimTemplates",) if key in old):
            yield forbidden("spec", _STATEFUL, _RULE)
    if kind in _WITH_SELECTOR and changed(old.get("selector"), new.get("selector")):
        yield invalid("spec.selector", new.get("selector"), _IMMUTABLE, _RULE)
    if kind == "Job":
        yield from _job_errors(old, new)


def _job_errors(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[FieldError]:
    if old.get("completions") != new.get("completions") and new.get("completionMode") != "Indexed":
        yield FieldError("spec.completions", "FieldValueInvalid", f"Invalid value: {_shown(new)}: {_IMMUTABLE}", _RULE)
    if changed(old.get("template"), new.get("template")) and not old.get("suspend"):
        yield invalid("spec.template", new.get("template"), _IMMUTABLE, _RULE)


def _shown(spec: Mapping[str, Any]) -> str:
    completions = spec.get("completions")
    return "null" if completions is None else str(completions)
