"""What validation finds in the environment of a container."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from kubectl_kres.admission.base.field_error import FieldError, invalid, not_found, required
from kubectl_kres.admission.base.raw_fields import items, mapping, pointer, text
from kubectl_kres.admission.base.server import Server
from kubectl_kres.admission.base.text_rules import variable_faults
from kubectl_kres.admission.structure import reference_structure as references
from kubectl_kres.model.raw import Raw

_RULE = "validation/env"


def env_errors(container: Raw, path: str, server: Server) -> Iterator[FieldError]:
    """Source: validation.go ValidateEnv, ValidateEnvFrom."""
    for index, variable in enumerate(items(container, "env")):
        at, name = f"{path}.env[{index}]", text(variable, "name")
        if not name:
            yield required(f"{at}.name", rule=_RULE)
        else:
            yield from (invalid(f"{at}.name", name, fault, _RULE) for fault in variable_faults(name, server))
        source = pointer(variable, "valueFrom")
        if source is not None:
            yield from _source_errors(source, f"{at}.valueFrom", server, literal=bool(text(variable, "value")))
    for index, source in enumerate(items(container, "envFrom")):
        yield from _from_errors(source, path, index, server)


def _source_errors(source: Raw, path: str, server: Server, *, literal: bool) -> Iterator[FieldError]:
    """Source: validation.go validateEnvVarValueFrom."""
    files = server.on("EnvFiles")
    keys = ["fieldRef", "resourceFieldRef", "configMapKeyRef", "secretKeyRef", *(["fileKeyRef"] if files else [])]
    given = {key: held for key in keys if (held := pointer(source, key)) is not None}
    for key, held in given.items():
        at = f"{path}.{key}"
        match key:
            case "fieldRef":
                yield from references.field_errors(held, references.VARIABLE_FIELDS, at)
            case "resourceFieldRef":
                yield from references.resource_errors(held, at, volume=False)
            case "fileKeyRef":
                yield from references.file_errors(held, at)
            case _:
                yield from references.key_errors(held, at)
    if not given:
        shown = [f"`{key}`" for key in keys]
        yield invalid(path, "", f"must specify one of: {', '.join(shown[:-1])} or {shown[-1]}", _RULE)
    elif literal:
        yield invalid(path, "", "may not be specified when `value` is not empty", _RULE)
    elif len(given) > 1:
        yield invalid(path, "", "may not have more than one field specified at a time", _RULE)


def _from_errors(source: Raw, path: str, index: int, server: Server) -> Iterator[FieldError]:
    at, prefix = f"{path}.envFrom[{index}]", text(source, "prefix")
    yield from (invalid(f"{at}.prefix", prefix, fault, _RULE) for fault in variable_faults(prefix, server) if prefix)
    given = [key for key in ("configMapRef", "secretRef") if pointer(source, key) is not None]
    for key in given:
        yield from references.source_errors(mapping(source, key), f"{at}.{key}")
    if not given:
        yield invalid(f"{path}.envFrom", "", "must specify one of: `configMapRef` or `secretRef`", _RULE)
    elif len(given) > 1:
        yield invalid(f"{path}.envFrom", "", "may not have more than one field specified at a time", _RULE)


def file_volume_errors(spec: Raw, containers: Mapping[str, Raw], server: Server) -> Iterator[FieldError]:
    """Of the volumes that variables are read from. ``containers`` by path. Source: validateFileKeyRefVolumes."""
    if not server.on("EnvFiles"):
        return
    volumes = {text(volume, "name"): volume for volume in items(spec, "volumes")}
    for path, container in containers.items():
        for index, variable in enumerate(items(container, "env")):
            reference = pointer(mapping(variable, "valueFrom"), "fileKeyRef")
            if reference is None:
                continue
            at, name = f"{path}.env[{index}].valueFrom.fileKeyRef.volumeName", text(reference, "volumeName")
            if name not in volumes:
                yield not_found(at, name, rule=_RULE)
            elif not set(volumes[name]) <= {"name", "emptyDir"}:
                yield invalid(at, name, "referenced volume must be of type emptyDir", _RULE)
