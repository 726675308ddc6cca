"""What validation finds in the spec of a PersistentVolumeClaim as sent, beside its size."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from kubectl_kres.admission.base.draft import parse_list
from kubectl_kres.admission.base.field_error import FieldError, forbidden, invalid, not_supported, required
from kubectl_kres.admission.base.resource_names import subdomain_faults
from kubectl_kres.admission.base.server import Server
from kubectl_kres.admission.base.warnings import fraction
from kubectl_kres.admission.structure.placing_structure import selector_errors
from kubectl_kres.model.raw import Raw, pointer, text
from kubectl_kres.quantity import Quantity

_MODES = ("ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod")
_ALONE = "ReadWriteOncePod"
_RULE = "validation/claim"


def claim_errors(spec: Raw, server: Server, path: str = "spec") -> Iterator[FieldError]:
    """Source: validation.go ValidatePersistentVolumeClaimSpec; what another kind of source holds is taken as valid."""
    yield from _mode_errors(spec.get("accessModes"), f"{path}.accessModes")
    mode = spec.get("volumeMode")
    if isinstance(mode, str) and mode not in {"Block", "Filesystem"}:
        yield not_supported(f"{path}.volumeMode", mode, ("Block", "Filesystem"), _RULE)
    yield from selector_errors(pointer(spec, "selector"), f"{path}.selector", _RULE)
    yield from _source_errors(spec, path)
    for key in ("storageClassName", "volumeAttributesClassName"):
        name = spec.get(key)
        if isinstance(name, str) and name and (key == "storageClassName" or server.on("VolumeAttributesClass")):
            yield from (invalid(f"{path}.{key}", name, fault, _RULE) for fault in subdomain_faults(name))


def _source_errors(spec: Raw, path: str) -> Iterator[FieldError]:
    """Of what a claim begins with. Source: validation.go validateDataSource, validateDataSourceRef."""
    old, new = pointer(spec, "dataSource"), pointer(spec, "dataSourceRef")
    for key, source in (("dataSource", old), ("dataSourceRef", new)):
        if source is None:
            continue
        group, kind = text(source, "apiGroup"), text(source, "kind")
        yield from (required(f"{path}.{key}.{name}", rule=_RULE) for name in ("name", "kind") if not text(source, name))
        if not group and kind != "PersistentVolumeClaim":
            detail = "must be 'PersistentVolumeClaim' when referencing the default apiGroup"
            yield invalid(f"{path}.{key}", kind, detail, _RULE)
        faults = subdomain_faults(group) if group else ()
        yield from (invalid(f"{path}.{key}.apiGroup", group, fault, _RULE) for fault in faults)


def size_errors(size: Quantity | None, path: str = "spec") -> Iterator[FieldError]:
    """Of what is requested of ``storage``; None: nothing. Source: validation.go ValidatePersistentVolumeClaimSpec."""
    at, rule = f"{path}.resources[storage]", "validation/claim-size"
    if size is None:
        yield required(at, rule=rule, resource="storage")
    elif size.nano <= 0:
        yield invalid(at, size, "must be greater than zero", rule)


def template_errors(raw: Raw, server: Server) -> Iterator[FieldError]:
    """Of the claims that a StatefulSet makes. Source: apps/validation validateVolumeClaimTemplates."""
    for index, inner in _templates(raw):
        path = f"spec.volumeClaimTemplates[{index}].spec"
        requests = (inner.get("resources") or {}).get("requests")
        yield from claim_errors(inner, server, path)
        yield from size_errors(parse_list(requests, f"{path}.resources.requests").get("storage"), path)


def claim_warnings(raw: Raw) -> Iterator[str]:
    """Of the same claims. Source: registry/apps/statefulset strategy.go WarningsOnCreate."""
    for index, inner in _templates(raw) if raw.get("kind") == "StatefulSet" else ():
        for side in ("requests", "limits"):
            path = f"spec.volumeClaimTemplates[{index}].resources.{side}"
            storage = parse_list((inner.get("resources") or {}).get(side), path).get("storage")
            if storage is not None:
                yield from fraction(f"{path}[storage]", storage)


def _templates(raw: Raw) -> Iterator[tuple[int, Raw]]:
    """The spec of each, with its place."""
    spec = raw.get("spec")
    volume_claim_templates = spec.get("volumeClaimTemplates") if isinstance(spec, Mapping) else None
    for index, template in enumerate(volume_claim_templates if isinstance(volume_claim_templates, list) else ()):
        inner = template.get("spec") if isinstance(template, Mapping) else None
        yield index, inner if isinstance(inner, Mapping) else {}


def _mode_errors(modes: Any, path: str) -> Iterator[FieldError]:
    texts = [mode for mode in modes if isinstance(mode, str)] if isinstance(modes, list) else []
    if not texts:
        yield required(path, "at least 1 access mode is required", _RULE)
    yield from (not_supported(path, mode, _MODES, _RULE) for mode in texts if mode not in _MODES)
    if _ALONE in texts and set(texts) & set(_MODES) - {_ALONE}:
        yield forbidden(path, f"may not use {_ALONE} with other access modes", _RULE)
