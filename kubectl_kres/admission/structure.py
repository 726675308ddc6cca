"""What validation finds in a pod or a template beside resources: its name, its containers, their names and images."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from kubectl_kres.admission.field import FieldError, duplicate, invalid, required
from kubectl_kres.admission.names import label_faults, subdomain_faults

Raw = Mapping[str, Any]

_NAME, _CONTAINERS, _IMAGE = "validation/name", "validation/containers", "validation/image"
#: A CronJob's name leaves room for what its Jobs add to it.
_CRON_JOB = 52


def name_errors(raw: Raw) -> Iterator[FieldError]:
    """Of ``metadata.name``. A name that the server completes is not looked at.

    Source: apimachinery api/validation NameIsDNSSubdomain; pkg/apis/batch/validation ValidateCronJobCreate.
    """
    name = (raw.get("metadata") or {}).get("name")
    if not isinstance(name, str) or not name:
        return
    yield from (invalid("metadata.name", name, fault, _NAME) for fault in subdomain_faults(name))
    if raw.get("kind") == "CronJob" and len(name) > _CRON_JOB:
        yield invalid("metadata.name", name, f"must be no more than {_CRON_JOB} characters", _NAME)


def spec_errors(spec: Raw) -> Iterator[FieldError]:
    """Of the containers in a pod's spec. Source: validation.go validateContainers, validateInitContainers."""
    containers, inits = _listed(spec, "containers"), _listed(spec, "initContainers")
    if not containers:
        yield required("spec.containers", rule=_CONTAINERS)
    seen: set[str] = set()
    for key, held in (("containers", containers), ("initContainers", inits)):
        for index, container in enumerate(held):
            if isinstance(container, Mapping):
                yield from _container_errors(container, f"spec.{key}[{index}]", seen)


def _listed(spec: Raw, key: str) -> Sequence[Any]:
    held = spec.get(key)
    return held if isinstance(held, list) else ()


def _container_errors(container: Raw, path: str, seen: set[str]) -> Iterator[FieldError]:
    name = str(container.get("name") or "")
    if not name:
        yield required(f"{path}.name", rule=_NAME)
    else:
        yield from (invalid(f"{path}.name", name, fault, _NAME) for fault in label_faults(name))
    if name and name in seen:
        yield duplicate(f"{path}.name", name, _CONTAINERS)
    seen.add(name)
    if not container.get("image"):
        yield required(f"{path}.image", rule=_IMAGE)
