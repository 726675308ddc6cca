"""What validation finds in the metadata of any object: its name, labels, annotations, owners and finalizers."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from kubectl_kres.admission.base.field_error import FieldError, as_json, invalid, number, required
from kubectl_kres.admission.base.resource_names import (
    beginning,
    given_name,
    label_faults,
    qualified_faults,
    subdomain_faults,
)
from kubectl_kres.admission.base.server import Server
from kubectl_kres.admission.structure.labels import tag_errors
from kubectl_kres.model.raw import Raw, integer, items, mapping, text, texts

_NAME, _OWNER = "validation/name", "validation/owner"
#: Kinds whose names are those of hosts.
_LABELS = ("StatefulSet",)
#: A CronJob's name leaves room for what its Jobs add to it.
_CRON_JOB = 52
#: Finalizers that exclude each other.
_ORPHAN, _FOREGROUND = "orphan", "foregroundDeletion"


def metadata_errors(
    raw: Raw, server: Server, faults: Callable[[str], Iterator[str]] | None = None
) -> Iterator[FieldError]:
    """``faults``: of the name, if they are not those of the kind.

    Source: apimachinery api/validation ValidateObjectMetaAccessor; batch/validation ValidateCronJobCreate.
    """
    metadata, kind = mapping(raw, "metadata"), raw.get("kind")
    faults = faults or (label_faults if kind in _LABELS else subdomain_faults)
    head = text(metadata, "generateName")
    name = given_name(text(metadata, "name"), head)
    if head and kind not in _LABELS:
        yield from (invalid("metadata.generateName", head, fault, _NAME) for fault in faults(beginning(head)))
    if not name:
        yield required("metadata.name", "name or generateName is required", _NAME)
    else:
        yield from (invalid("metadata.name", name, fault, _NAME) for fault in faults(name))
        if kind == "CronJob" and len(name) > _CRON_JOB:
            yield invalid("metadata.name", name, f"must be no more than {_CRON_JOB} characters", _NAME)
    generation = integer(metadata, "generation")
    if generation is not None and generation < 0:
        yield number("metadata.generation", generation, "must be greater than or equal to 0", _NAME)
    yield from tag_errors(metadata, "metadata")
    owners = _once(items(metadata, "ownerReferences"))
    yield from _owner_errors(owners, "metadata.ownerReferences", server)
    finalizers = texts(metadata, "finalizers")
    for finalizer in finalizers:
        yield from (invalid("metadata.finalizers", finalizer, fault, _NAME) for fault in qualified_faults(finalizer))
    if {_ORPHAN, _FOREGROUND} <= set(finalizers):
        detail = f"finalizer {_ORPHAN} and {_FOREGROUND} cannot be both set"
        yield invalid("metadata.finalizers", finalizers, detail, _NAME)


def _once(owners: list[Raw]) -> list[Raw]:
    """Without those that are named again, which the server drops before."""
    return [owner for index, owner in enumerate(owners) if owner not in owners[:index]]


def owner_notices(raw: Raw) -> Iterator[str]:
    """Of owners that are named again. Source: endpoints/handlers/rest.go dedupOwnerReferencesAndAddWarning."""
    owners = items(mapping(raw, "metadata"), "ownerReferences")
    again = [text(owner, "uid") for index, owner in enumerate(owners) if owner in owners[:index]]
    if again:
        yield (
            ".metadata.ownerReferences contains duplicate entries; API server dedups owner references in 1.20+, and "
            "may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: "
            f"{', '.join(dict.fromkeys(again))}"
        )


def _owner_errors(owners: list[Raw], path: str, server: Server) -> Iterator[FieldError]:
    """Source: apimachinery api/validation ValidateOwnerReferences."""
    first = ""
    indexed = server.behaves("validation/owner-required")
    for index, owner in enumerate(owners):
        version, kind = text(owner, "apiVersion"), text(owner, "kind")
        at = f"{path}[{index}]" if indexed else path
        yield from _field_errors(owner, at, indexed=indexed)
        if (version, kind) == ("v1", "Event"):
            detail = "/v1, Kind=Event is disallowed from being an owner"
            yield FieldError(at, "FieldValueInvalid", f"Invalid value: {_shown(owner)}: {detail}", _OWNER)
        if owner.get("controller") is True:
            this = f"{kind}/{text(owner, 'name')}"
            if first:
                detail = (
                    'Only one reference can have Controller set to true. Found "true" in references for '
                    f"{first} and {this}"
                )
                shown = f"[{','.join(map(_shown, owners))}]"
                yield FieldError(path, "FieldValueInvalid", f"Invalid value: {shown}: {detail}", _OWNER)
            else:
                first = this


def _field_errors(owner: Raw, at: str, *, indexed: bool) -> Iterator[FieldError]:
    """Fields without which nothing is an owner. ``indexed``: in the words of 1.37."""
    version = text(owner, "apiVersion")
    if indexed and not version:
        yield required(f"{at}.apiVersion", "must not be empty", _OWNER)
    elif version.count("/") > 1 or not version.rpartition("/")[2]:
        detail = "must be <group>/<version> or <version>" if indexed else "version must not be empty"
        yield invalid(f"{at}.apiVersion", version, detail, _OWNER)
    for key in ("kind", "name", "uid"):
        if not text(owner, key):
            yield (
                required(f"{at}.{key}", "must not be empty", _OWNER)
                if indexed
                else invalid(f"{at}.{key}", "", "must not be empty", _OWNER, typed=key == "uid")
            )


def _shown(owner: Raw) -> str:
    """As Go prints the struct."""
    fields = {key: text(owner, key) for key in ("apiVersion", "kind", "name", "uid")}
    flags = {key: owner[key] for key in ("controller", "blockOwnerDeletion") if isinstance(owner.get(key), bool)}
    return as_json({**fields, **flags})


def name_of(raw: Raw) -> str:
    """The name, or one like that which the server makes of ``generateName``."""
    metadata = mapping(raw, "metadata")
    return given_name(text(metadata, "name"), text(metadata, "generateName"))
