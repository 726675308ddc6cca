"""What validation finds in references to fields, resources, keys and files: in variables and in volumes."""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_kres.admission.base.field_error import FieldError, invalid, not_supported, required
from kubectl_kres.admission.base.resource_names import beginning, label_faults, qualified_faults, subdomain_faults
from kubectl_kres.admission.base.server import Server
from kubectl_kres.admission.base.text_rules import backstep_errors, key_faults, variable_faults
from kubectl_kres.errors import QuantityError
from kubectl_kres.model.raw import Raw, text
from kubectl_kres.quantity import from_json

RULE = "validation/reference"

#: What a variable and a file of a volume can be made of.
VARIABLE_FIELDS = (
    *("metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName", "spec.serviceAccountName"),
    *("status.hostIP", "status.hostIPs", "status.podIP", "status.podIPs"),
)
FILE_FIELDS = ("metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace", "metadata.uid")
_FIELDS = {*VARIABLE_FIELDS, *FILE_FIELDS, "spec.restartPolicy", "spec.schedulerName", "status.phase"}
_RESOURCES = tuple(
    f"{side}.{name}" for side in ("limits", "requests") for name in ("cpu", "memory", "ephemeral-storage")
)
_PAGES = ("limits.hugepages-", "requests.hugepages-")
_UNITS = ("1", "1k", "1M", "1G", "1T", "1P", "1E", "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei")


def field_errors(reference: Raw, fields: tuple[str, ...], path: str) -> Iterator[FieldError]:
    """Of ``fieldRef``. Source: validateObjectFieldSelector; pods/helpers.go ConvertDownwardAPIFieldLabel."""
    version, name = text(reference, "apiVersion") or "v1", text(reference, "fieldPath")
    if not name:
        yield required(f"{path}.fieldPath", rule=RULE)
        return
    head, key = _subscripted(name)
    why = ""
    if version != "v1":
        why = f"unsupported pod version: {version}"
    elif key is not None and head not in {"metadata.annotations", "metadata.labels"}:
        why = f"field label does not support subscript: {name}"
    elif key is None and name not in _FIELDS | {"spec.host"}:
        why = f"field label not supported: {name}"
    if why:
        yield invalid(f"{path}.fieldPath", name, f"error converting fieldPath: {why}", RULE)
    elif key is not None:
        key = key.lower() if head == "metadata.annotations" else key
        yield from (invalid(path, key, fault, RULE) for fault in qualified_faults(key))
    else:
        name = "spec.nodeName" if name == "spec.host" else name
        if name not in fields:
            yield not_supported(f"{path}.fieldPath", name, fields, RULE, typed=False)


def _subscripted(name: str) -> tuple[str, str | None]:
    """The path before ``['KEY']`` and the key; None: there is none. Source: fieldpath SplitMaybeSubscriptedPath."""
    head, bracket, key = name.removesuffix("']").partition("['")
    return (head, key) if name.endswith("']") and bracket and head else (name, None)


def resource_errors(reference: Raw, path: str, *, volume: bool) -> Iterator[FieldError]:
    """Of ``resourceFieldRef``. Source: validation.go validateContainerResourceFieldSelector."""
    name = text(reference, "resource")
    if volume and not text(reference, "containerName"):
        yield required(f"{path}.containerName", rule=RULE)
    elif not name:
        yield required(f"{path}.resource", rule=RULE)
    elif name not in _RESOURCES and not name.startswith(_PAGES):
        yield not_supported(f"{path}.resource", name, _RESOURCES, RULE, typed=False)
    yield from _divisor_errors(name, reference, f"{path}.divisor")


def _divisor_errors(name: str, reference: Raw, path: str) -> Iterator[FieldError]:
    """Source: validation.go validateContainerResourceDivisor."""
    try:
        divisor = from_json(reference.get("divisor"))
    except QuantityError:
        return
    if not divisor.nano:
        return
    resource = name.partition(".")[2]
    if name.startswith(_PAGES):
        allowed, what = _UNITS, "hugepages"
    elif name not in _RESOURCES:
        return
    elif resource == "cpu":
        if str(divisor) not in {"1m", "1"}:
            yield invalid(path, name, "only divisor's values 1m and 1 are supported with the cpu resource", RULE)
        return
    else:
        allowed, what = _UNITS, "memory" if resource == "memory" else "local ephemeral storage"
    if str(divisor) not in allowed:
        detail = f"only divisor's values {', '.join(_UNITS)} are supported with the {what} resource"
        yield invalid(path, name, detail, RULE)


def key_errors(reference: Raw, path: str) -> Iterator[FieldError]:
    """Of a key of a ConfigMap or Secret. Source: validation.go validateConfigMapKeySelector."""
    name, key = text(reference, "name"), text(reference, "key")
    yield from (invalid(f"{path}.name", name, fault, RULE) for fault in subdomain_faults(name))
    if not key:
        yield required(f"{path}.key", rule=RULE)
    else:
        yield from (invalid(f"{path}.key", key, fault, RULE) for fault in key_faults(key))


def file_errors(reference: Raw, path: str) -> Iterator[FieldError]:
    """Of a key of a file. Source: validation.go validateFileKeySelector."""
    key, volume, file = (text(reference, name) for name in ("key", "volumeName", "path"))
    if not key:
        yield required(f"{path}.key", rule=RULE)
    else:
        yield from (invalid(f"{path}.key", key, fault, RULE) for fault in variable_faults(key, Server()))
    if not volume:
        yield required(f"{path}.volumeName", rule=RULE)
    else:
        yield from (invalid(f"{path}.volumeName", volume, fault, RULE) for fault in label_faults(volume))
    if not file:
        yield required(f"{path}.path", rule=RULE)
    else:
        yield from backstep_errors(file, f"{path}.path", RULE)


def source_errors(reference: Raw, path: str) -> Iterator[FieldError]:
    """Of a ConfigMap or Secret as a whole. Source: validation.go validateConfigMapEnvSource."""
    name = text(reference, "name")
    if not name:
        yield required(f"{path}.name", rule=RULE)
    else:
        yield from (invalid(f"{path}.name", name, fault, RULE) for fault in subdomain_faults(beginning(name)))
