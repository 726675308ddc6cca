"""Validation of the metadata of an object or a template: name, labels, annotations, owners and finalizers."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from kubectl_kres.admission.base import resource_names
from kubectl_kres.admission.base.field_errors import FieldError, invalid, number, required, too_long
from kubectl_kres.admission.base.server import Server
from kubectl_kres.go_text import as_json
from kubectl_kres.model.objects import Raw, integer, items, mapping, text, texts

_RULE = "validation/tag"
_LONGEST = 63
#: Bytes of all annotations of an object.
_LARGEST = 256 * 1024
_VALUE = r"(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?"
_VALUE_RULE = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and "
    f"end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is "
    f"'{_VALUE}')"
)


def tag_errors(metadata: Any, path: str) -> Iterator[FieldError]:
    """Of ``metadata`` at ``path``.

    Source: apimachinery api/validation ValidateLabels, ValidateAnnotations.
    """
    result = metadata if isinstance(metadata, Mapping) else {}
    yield from label_errors(result.get("labels"), f"{path}.labels")
    size = 0
    for key, value in _tags(result.get("annotations")):
        yield from (
            invalid(f"{path}.annotations", key, fault, _RULE) for fault in resource_names.qualified_faults(key.lower())
        )
        size += len(f"{key}{value}".encode("utf-8", "surrogatepass"))
    if size > _LARGEST:
        yield too_long(f"{path}.annotations", _LARGEST, _RULE)


def label_errors(labels: Any, path: str, rule: str = _RULE) -> Iterator[FieldError]:
    """Source: apimachinery meta/v1/validation ValidateLabels."""
    for key, value in _tags(labels):
        yield from (invalid(path, key, fault, rule) for fault in resource_names.qualified_faults(key))
        yield from (invalid(path, value, fault, rule) for fault in label_value_faults(value))


def label_value_faults(text: str) -> Iterator[str]:
    """Source: apimachinery validate/content IsLabelValue."""
    if len(text.encode("utf-8", "surrogatepass")) > _LONGEST:
        yield f"must be no more than {_LONGEST} bytes"
    if not re.fullmatch(_VALUE, text):
        yield _VALUE_RULE


def _tags(tags: Any) -> Iterator[tuple[str, str]]:
    for name, value in tags.items() if isinstance(tags, Mapping) else ():
        yield str(name), value if isinstance(value, str) else ""


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
    faults = faults or (resource_names.label_faults if kind in _LABELS else resource_names.subdomain_faults)
    head = text(metadata, "generateName")
    name = resource_names.given_name(text(metadata, "name"), head)
    if head and kind not in _LABELS:
        yield from (
            invalid("metadata.generateName", head, fault, _NAME)
            for fault in faults(resource_names.mask_trailing_dash(head))
        )
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
    owners = _drop_repeated_owners(items(metadata, "ownerReferences"))
    yield from _owner_errors(owners, "metadata.ownerReferences", server)
    finalizers = texts(metadata, "finalizers")
    for finalizer in finalizers:
        yield from (
            invalid("metadata.finalizers", finalizer, fault, _NAME)
            for fault in resource_names.qualified_faults(finalizer)
        )
    if {_ORPHAN, _FOREGROUND} <= set(finalizers):
        detail = f"finalizer {_ORPHAN} and {_FOREGROUND} cannot be both set"
        yield invalid("metadata.finalizers", finalizers, detail, _NAME)


def _drop_repeated_owners(owners: list[Raw]) -> list[Raw]:
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
    indexed = server.has_change("validation/owner-required")
    for index, owner in enumerate(owners):
        version, kind = text(owner, "apiVersion"), text(owner, "kind")
        item_path = f"{path}[{index}]" if indexed else path
        yield from _field_errors(owner, item_path, indexed=indexed)
        if (version, kind) == ("v1", "Event"):
            detail = "/v1, Kind=Event is disallowed from being an owner"
            yield FieldError(item_path, "FieldValueInvalid", f"Invalid value: {_format_owner(owner)}: {detail}", _OWNER)
        if owner.get("controller") is True:
            this = f"{kind}/{text(owner, 'name')}"
            if first:
                detail = (
                    'Only one reference can have Controller set to true. Found "true" in references for '
                    f"{first} and {this}"
                )
                shown = f"[{','.join(map(_format_owner, owners))}]"
                yield FieldError(path, "FieldValueInvalid", f"Invalid value: {shown}: {detail}", _OWNER)
            else:
                first = this


def _field_errors(owner: Raw, item_path: str, *, indexed: bool) -> Iterator[FieldError]:
    """Fields without which nothing is an owner. ``indexed``: in the words of 1.37."""
    version = text(owner, "apiVersion")
    if indexed and not version:
        yield required(f"{item_path}.apiVersion", "must not be empty", _OWNER)
    elif version.count("/") > 1 or not version.rpartition("/")[2]:
        detail = "must be <group>/<version> or <version>" if indexed else "version must not be empty"
        yield invalid(f"{item_path}.apiVersion", version, detail, _OWNER)
    for key in ("kind", "name", "uid"):
        if not text(owner, key):
            yield (
                required(f"{item_path}.{key}", "must not be empty", _OWNER)
                if indexed
                else invalid(f"{item_path}.{key}", "", "must not be empty", _OWNER, typed=key == "uid")
            )


def _format_owner(owner: Raw) -> str:
    """As Go prints the struct."""
    fields = {key: text(owner, key) for key in ("apiVersion", "kind", "name", "uid")}
    flags = {key: owner[key] for key in ("controller", "blockOwnerDeletion") if isinstance(owner.get(key), bool)}
    return as_json({**fields, **flags})


def name_of(raw: Raw) -> str:
    """Return the name, or one like that which the server makes of ``generateName``."""
    metadata = mapping(raw, "metadata")
    return resource_names.given_name(text(metadata, "name"), text(metadata, "generateName"))
