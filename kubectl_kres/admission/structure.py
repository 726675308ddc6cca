"""What validation finds in a pod or a template beside resources: its name, its containers, their names and images."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from kubectl_kres.admission.field import FieldError, duplicate, invalid, not_supported, number, required
from kubectl_kres.admission.names import label_faults, subdomain_faults
from kubectl_kres.admission.ports import port_errors
from kubectl_kres.admission.server import Server
from kubectl_kres.admission.tags import tag_errors
from kubectl_kres.model.raw import Raw

_NAME, _CONTAINERS, _IMAGE = "validation/name", "validation/containers", "validation/image"
_CHOICE, _DEADLINE = "validation/choice", "validation/deadline"
_POLICIES = ("Always", "OnFailure", "Never")
_SYSTEMS = ("linux", "windows")
_MOST_SECONDS = 2**31 - 1
#: A CronJob's name leaves room for what its Jobs add to it.
_CRON_JOB = 52


def pod_errors(raw: Raw, server: Server) -> tuple[FieldError, ...]:
    """What validation finds in a pod as sent beside resources."""
    spec = raw.get("spec")
    return (*name_errors(raw), *spec_errors(spec if isinstance(spec, Mapping) else {}, server, pod=True))


def name_errors(raw: Raw) -> Iterator[FieldError]:
    """Of ``metadata``: name, labels, annotations. A name that the server completes is not looked at.

    Source: apimachinery api/validation NameIsDNSSubdomain; pkg/apis/batch/validation ValidateCronJobCreate.
    """
    yield from tag_errors(raw.get("metadata"), "metadata")
    name = (raw.get("metadata") or {}).get("name")
    if not isinstance(name, str) or not name:
        return
    faults = label_faults if raw.get("kind") == "StatefulSet" else subdomain_faults
    yield from (invalid("metadata.name", name, fault, _NAME) for fault in faults(name))
    if raw.get("kind") == "CronJob" and len(name) > _CRON_JOB:
        yield invalid("metadata.name", name, f"must be no more than {_CRON_JOB} characters", _NAME)


def spec_errors(spec: Raw, server: Server, *, pod: bool = False) -> Iterator[FieldError]:
    """Of the containers in a pod's spec, or with ``pod`` False a template's.

    Source: validation.go validateContainers, validateInitContainers.
    """
    containers, inits = _listed(spec, "containers"), _listed(spec, "initContainers")
    if not containers:
        yield required("spec.containers", rule=_CONTAINERS)
    seen: set[str] = set()
    for key, held in (("containers", containers), ("initContainers", inits)):
        for index, container in enumerate(held):
            if isinstance(container, Mapping):
                yield from _container_errors(container, f"spec.{key}[{index}]", seen)
                if server.on("ContainerRestartRules"):
                    yield from _policy_errors(container, f"spec.{key}[{index}].restartPolicy")
    yield from port_errors(spec, pod=pod)
    yield from _choice_errors(spec)


def _choice_errors(spec: Raw) -> Iterator[FieldError]:
    """Source: validation.go validateRestartPolicy, validateOS, ValidatePodSpec."""
    policy, deadline = spec.get("restartPolicy"), spec.get("activeDeadlineSeconds")
    if isinstance(policy, str) and policy and policy not in _POLICIES:
        yield not_supported("spec.restartPolicy", policy, _POLICIES, _CHOICE, in_order=True)
    held = spec.get("os")
    system = held.get("name") if isinstance(held, Mapping) else None
    if isinstance(system, str) and system and system not in _SYSTEMS:
        yield not_supported("spec.os", system, _SYSTEMS, _CHOICE)
    if isinstance(deadline, int) and not 1 <= deadline <= _MOST_SECONDS:
        text = f"must be between 1 and {_MOST_SECONDS}, inclusive"
        yield number("spec.activeDeadlineSeconds", deadline, text, _DEADLINE)


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


def _policy_errors(container: Raw, path: str) -> Iterator[FieldError]:
    policy = container.get("restartPolicy")
    if isinstance(policy, str) and policy and policy not in _POLICIES:
        yield not_supported(path, policy, _POLICIES, _CHOICE)
