"""PersistentVolumeClaims through the API server: created, grown, bounded by LimitRanges, charged to quotas.

It also says whether an update changes a part that may not change.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from kubectl_kres.admission import limitrange as limitrange_admission
from kubectl_kres.admission.base.draft import Quantities, fraction, parse_list
from kubectl_kres.admission.base.field_errors import FieldError, forbidden, invalid
from kubectl_kres.admission.base.outcome import Finding, Outcome, Refusal, forbidden_object
from kubectl_kres.admission.base.resource_names import given_name
from kubectl_kres.admission.base.server import Server
from kubectl_kres.admission.quota.quota_admission import claim_request
from kubectl_kres.admission.quota.usage import BETA_STORAGE_CLASS, storage_class_of
from kubectl_kres.admission.request.new_pod import ObjectReview, Policies
from kubectl_kres.admission.request.policy_answer import answer_request, is_late, not_valid
from kubectl_kres.admission.structure.metadata_structure import metadata_errors, name_of
from kubectl_kres.admission.structure.volume_structure import claim_errors, size_errors
from kubectl_kres.model.objects import decode_object, struct_as_json
from kubectl_kres.model.quota_objects import ClaimStatus, PersistentVolumeClaim
from kubectl_kres.provenance.journal import Source
from kubectl_kres.quantity import ZERO, Quantity, read_back


def has_changed(old: Any, new: Any) -> bool:
    """Return whether ``new`` says something else than the stored ``old``, both as JSON values.

    What ``new`` leaves out is no change: the server fills it in as it did before. Empty and absent are the same.
    """
    if isinstance(new, Mapping):
        result = old if isinstance(old, Mapping) else {}
        return any(has_changed(result.get(key), value) for key, value in new.items())
    if isinstance(new, list | tuple):
        items = old if isinstance(old, list | tuple) else ()
        return len(items) != len(new) or any(has_changed(*pair) for pair in zip(items, new, strict=True))
    return bool(new != old and (new or old is not None) and new not in {None, ""})


_PLURAL = "persistentvolumeclaims"
_IMMUTABLE = "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims"


def create_claim(raw: Mapping[str, Any], policies: Policies, server: Server) -> tuple[Outcome, ...]:
    """Return every answer to a CREATE. A status that the request brings is dropped. Raises Unparsable."""
    spec = raw.get("spec")
    faults = (
        *metadata_errors(raw, server),
        *claim_errors(_drop_invalid_source(spec if isinstance(spec, Mapping) else {}), server),
    )
    return admit_claim(decode_object(raw, PersistentVolumeClaim), policies, server, faults=faults)


def admit_claim(
    claim: PersistentVolumeClaim, policies: Policies, server: Server, *, faults: Sequence[FieldError] = ()
) -> tuple[Outcome, ...]:
    """Return the same of a claim as decoded. ``faults``: what validation finds in what the struct leaves out."""
    claim = with_default_class(_without_class(msgspec.structs.replace(claim, status=ClaimStatus()), server), policies)
    name, requests = given_name(claim.metadata.name, claim.metadata.generate_name), _requests(claim)
    errors = [*faults, *size_errors(requests.get("storage"))]
    if errors:
        return (not_valid("PersistentVolumeClaim", name, errors, server),)
    warnings = sorted(_warnings(claim))
    refusals = [*_bounds(name, requests, policies, server)] or [*_denials(claim, policies)]
    if refusals:
        return _build_refused_outcomes(refusals, warnings)
    return answer_request(_build_stored_claim(claim), claim_request(claim, server), policies, server, warnings=warnings)


def review_made_claim(
    claim: PersistentVolumeClaim, policies: Policies, server: Server, raw: Mapping[str, Any] | None = None
) -> tuple[PersistentVolumeClaim, ObjectReview]:
    """Return a claim that a controller makes as policies leave it, and what they say of it. ``raw``: as it is sent."""
    if policies.reviewer is None:
        return claim, ObjectReview({})
    review = policies.review(raw or struct_as_json(claim, "v1", "PersistentVolumeClaim"), server)
    return decode_object(review.object, PersistentVolumeClaim), review


def with_review(outcomes: tuple[Outcome, ...], review: ObjectReview) -> tuple[Outcome, ...]:
    """Return every answer to such a claim: policies are asked before quotas, and after what it is and LimitRanges."""
    late = all(outcome.allowed or is_late(outcome) for outcome in outcomes)
    return _build_refused_outcomes(review.refusals, ()) if review.refusals and late else outcomes


def update_claim(
    old_raw: Mapping[str, Any], new_raw: Mapping[str, Any], policies: Policies, server: Server
) -> tuple[Outcome, ...]:
    """Return every answer to an UPDATE, whatever it changes: LimitRanges are held against the size again. Raises
    Unparsable.

    Source: validation.go ValidatePersistentVolumeClaimUpdate; plugin/pkg/admission/storage/persistentvolume/resize.
    """
    old, new = (decode_object(raw, PersistentVolumeClaim) for raw in (old_raw, new_raw))
    new = msgspec.structs.replace(new, status=old.status)
    if old.spec.volume_attributes_class_name is None:
        new = _without_class(new, server)
    requests = _requests(new)
    errors = [*_update_errors(old, new, server, (old_raw, new_raw))]
    name = name_of(new_raw)
    if errors:
        return (not_valid("PersistentVolumeClaim", name, errors, server),)
    warnings = sorted(_warnings(new))
    refusals = [] if old.metadata.deletion_timestamp else [*_bounds(name, requests, policies, server)]
    if not refusals and "PersistentVolumeClaimResize" not in server.disabled_plugins:
        refusals = [*_growth(old, new, policies)]
    if refusals:
        return _build_refused_outcomes(refusals, warnings)
    before, after = claim_request(old, server), claim_request(new, server)
    return answer_request(_build_stored_claim(new), after, policies, server, code=200, old=before, warnings=warnings)


def _drop_invalid_source(spec: Mapping[str, Any]) -> Mapping[str, Any]:
    """Without a source that the older field does not take. Source: api/persistentvolumeclaim util.go."""
    source = spec.get("dataSource")
    if not isinstance(source, Mapping) or spec.get("dataSourceRef") is not None:
        return spec
    group, kind = source.get("apiGroup") or "", source.get("kind")
    taken = {("", "PersistentVolumeClaim"), ("snapshot.storage.k8s.io", "VolumeSnapshot")}
    named = (group, kind) in taken and source.get("name")
    return spec if named else {key: value for key, value in spec.items() if key != "dataSource"}


class GivenClass(NamedTuple):
    """The storage class that a claim has after defaults. ``source``: whose webhook gave it; None: none did."""

    name: str | None
    source: Source | None = None


def given_class(claim: PersistentVolumeClaim, policies: Policies) -> GivenClass:
    """Return the class of a new claim: the default one, if it names none, then what webhooks make of it.

    Source: plugin/pkg/admission/storage/storageclass/setdefault/admission.go.
    """
    named = BETA_STORAGE_CLASS in (claim.metadata.annotations or {}) or claim.spec.storage_class_name is not None
    given = GivenClass(claim.spec.storage_class_name if named else policies.default_storage or None)
    for webhook in policies.claim_webhooks:
        default = webhook.default(given.name)
        given = given if default is None else GivenClass(*default)
    return given


def with_default_class(claim: PersistentVolumeClaim, policies: Policies) -> PersistentVolumeClaim:
    """Return the claim with the class that it is given; the claim itself where it keeps what it names."""
    name = given_class(claim, policies).name
    if name == claim.spec.storage_class_name:
        return claim
    spec = msgspec.structs.replace(claim.spec, storage_class_name=name)
    return msgspec.structs.replace(claim, spec=spec)


def _denials(claim: PersistentVolumeClaim, policies: Policies) -> Iterator[Refusal]:
    """Yield what webhooks say of a claim as it would be stored."""
    for webhook in policies.claim_webhooks:
        refusal = webhook.review(claim)
        if refusal is not None:
            yield refusal


def _without_class(claim: PersistentVolumeClaim, server: Server) -> PersistentVolumeClaim:
    """Return the claim without its attributes class, if the server does not know the field. Source:
    api/persistentvolumeclaim DropDisabledFields.
    """
    if server.is_enabled("VolumeAttributesClass"):
        return claim
    spec = msgspec.structs.replace(claim.spec, volume_attributes_class_name=None)
    return msgspec.structs.replace(claim, spec=spec)


def _requests(claim: PersistentVolumeClaim) -> Quantities:
    resources = claim.spec.resources
    return parse_list(resources.requests, "spec.resources.requests") if resources else {}


def _warnings(claim: PersistentVolumeClaim) -> Iterator[str]:
    """Source: api/persistentvolumeclaim util.go GetWarningsForPersistentVolumeClaim."""
    if BETA_STORAGE_CLASS in (claim.metadata.annotations or {}):
        text = 'deprecated since v1.8; use "storageClassName" attribute instead'
        yield f"metadata.annotations[{BETA_STORAGE_CLASS}]: {text}"
    resources = claim.spec.resources
    for side, values in (("requests", resources.requests), ("limits", resources.limits)) if resources else ():
        storage = parse_list(values, f"spec.resources.{side}").get("storage")
        if storage is not None:
            yield from fraction(f"spec.resources.{side}[storage]", storage)


def _bounds(name: str, requests: Quantities, policies: Policies, server: Server) -> Iterator[Refusal]:
    """Yield one refusal for each violated LimitRange: any of them can be the one that answers."""
    for limits in policies.limits if "LimitRanger" not in server.disabled_plugins else ():
        findings = limitrange_admission.claim_violations(requests, limits)
        if findings:
            yield forbidden_object(_PLURAL, name, findings)


def _build_refused_outcomes(refusals: Sequence[Refusal], warnings: Sequence[str]) -> tuple[Outcome, ...]:
    return tuple(Outcome(False, refusal.code, refusal, tuple(warnings)) for refusal in refusals)


def _build_stored_claim(claim: PersistentVolumeClaim) -> dict[str, Any]:
    """Return the claim as stored, pruned; what is empty is left out."""
    spec, resources = claim.spec, claim.spec.resources
    limits = parse_list(resources.limits, "spec.resources.limits") if resources else {}
    sides = {"requests": _requests(claim), "limits": limits}
    shown = {
        "storageClassName": spec.storage_class_name,
        "volumeAttributesClassName": spec.volume_attributes_class_name,
        "resources": {
            side: {k: str(read_back(v)) for k, v in values.items()} for side, values in sides.items() if values
        }
        or None,
    }
    name = given_name(claim.metadata.name, claim.metadata.generate_name)
    return {"metadata": {"name": name}, "spec": {key: value for key, value in shown.items() if value is not None}}


def _update_errors(
    old: PersistentVolumeClaim, new: PersistentVolumeClaim, server: Server, raws: tuple[Mapping[str, Any], ...]
) -> Iterator[FieldError]:
    yield from size_errors(_requests(new).get("storage"))
    yield from _annotation_moves(old, new)
    before, after = _requests(old), _requests(new)
    attributes = old.spec.volume_attributes_class_name, new.spec.volume_attributes_class_name
    bound = old.status.phase == "Bound"
    free = {"storage"} if bound and new.spec.resources and new.spec.resources.requests is not None else set()
    sizes = [{name: value for name, value in quantities.items() if name not in free} for quantities in (before, after)]
    moved = attributes[0] != attributes[1] and not bound
    volumes = [(raw.get("spec") or {}).get("volumeName") or "" for raw in raws]
    rebound = volumes[0] not in {"", volumes[1]}
    limits = [
        parse_list(resources.limits if (resources := persistent_volume_claim.spec.resources) else None, "spec")
        for persistent_volume_claim in (old, new)
    ]
    fixed = sizes[0] == sizes[1] and limits[0] == limits[1] and not (moved or rebound or _class_moves(old, new))
    if not fixed or has_changed(*map(_immutable_fields, raws)):
        yield forbidden("spec", _IMMUTABLE, "claim/immutable")
    size = after.get("storage", ZERO)
    if size < before.get("storage", ZERO):
        yield from _shrink_errors(old, size, server)
    if attributes[0] != attributes[1] and server.is_enabled("VolumeAttributesClass") and not attributes[1]:
        current = old.status.current_volume_attributes_class_name
        what = "nil" if attributes[1] is None else "empty string"
        text = f"update to {what} is forbidden when status.currentVolumeAttributesClassName is not nil"
        if current is not None:
            yield forbidden("spec.volumeAttributesClassName", text, "claim/immutable")


def _immutable_fields(raw: Mapping[str, Any]) -> dict[str, Any]:
    """Return what no update may change; the volume's name is set once, by the controller."""
    free = {"resources", "storageClassName", "volumeAttributesClassName", "volumeName"}
    return {key: value for key, value in (raw.get("spec") or {}).items() if key not in free}


def _annotation_moves(old: PersistentVolumeClaim, new: PersistentVolumeClaim) -> Iterator[FieldError]:
    """The annotation of old stays as it was, unless the field takes over what it said."""
    before, is_ = (
        (persistent_volume_claim.metadata.annotations or {}).get(BETA_STORAGE_CLASS, "")
        for persistent_volume_claim in (old, new)
    )
    replaced = old.spec.storage_class_name is None and new.spec.storage_class_name == before and not is_
    if before != is_ and not replaced:
        yield invalid(f"metadata.annotations.{BETA_STORAGE_CLASS}", is_, "field is immutable", "claim/immutable")


def _class_moves(old: PersistentVolumeClaim, new: PersistentVolumeClaim) -> bool:
    """Return whether the storage class changes otherwise than from nothing, or from the annotation of old to the
    field.
    """
    before, is_ = old.spec.storage_class_name, new.spec.storage_class_name
    if before == is_:
        return False
    annotated = (old.metadata.annotations or {}).get(BETA_STORAGE_CLASS)
    return before is not None or is_ is None or annotated not in {None, is_}


def _shrink_errors(old: PersistentVolumeClaim, size: Quantity, server: Server) -> Iterator[FieldError]:
    """A size may go back to what the volume has, exclusively, so that a failed expansion can be given up."""
    path, rule = "spec.resources.requests.storage", "claim/shrunk"
    if not server.is_enabled("RecoverVolumeExpansionFailure"):
        yield forbidden(path, "field can not be less than previous value", rule)
    elif size <= parse_list(old.status.capacity, "status.capacity").get("storage", ZERO):
        yield forbidden(path, "field can not be less than status.capacity", rule)


def _growth(old: PersistentVolumeClaim, new: PersistentVolumeClaim, policies: Policies) -> Iterator[Refusal]:
    """403 where the storage class does not let claims grow; nothing if the classes are not known."""
    if _requests(new).get("storage", ZERO) <= _requests(old).get("storage", ZERO) or policies.expandable is None:
        return
    name = storage_class_of(new)
    if not name or name != storage_class_of(old) or not policies.expandable.get(name, False):
        text = (
            "only dynamically provisioned pvc can be resized and "
            "the storageclass that provisions the pvc must support resize"
        )
        finding = Finding(text, "claim/not-expandable", "spec.resources.requests[storage]", "storage",
                          source=Source("StorageClass", name) if name else None)  # fmt: skip
        yield forbidden_object(_PLURAL, new.metadata.name, [finding])
