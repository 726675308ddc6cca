"""What validation finds in a pod or a template beside resources: its metadata, volumes, containers and the rest."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from kubectl_kres.admission.base.field_error import (
    FieldError,
    duplicate,
    forbidden,
    invalid,
    not_found,
    not_supported,
    required,
    too_many,
)
from kubectl_kres.admission.base.resource_names import label_faults
from kubectl_kres.admission.base.server import Server
from kubectl_kres.admission.structure.container_structure import (
    PROBES,
    env_errors,
    file_volume_errors,
    mount_errors,
    probe_errors,
)
from kubectl_kres.admission.structure.metadata_structure import metadata_errors
from kubectl_kres.admission.structure.placing_structure import placing_errors
from kubectl_kres.admission.structure.pod_structure import (
    annotation_errors,
    creation_errors,
    pod_spec_errors,
    whole_containers,
)
from kubectl_kres.admission.structure.ports import port_errors
from kubectl_kres.admission.structure.security_structure import (
    container_security_errors,
    pod_security_errors,
    system_errors,
)
from kubectl_kres.admission.structure.volume_structure import token_errors, volume_errors
from kubectl_kres.model.raw import Raw, items, mapping, pointer, text

_NAME, _CONTAINERS, _IMAGE = "validation/name", "validation/containers", "validation/image"
_CHOICE, _EPHEMERAL = "validation/choice", "validation/ephemeral"
_WITHOUT = "must specify restartPolicy when restart rules are used"
_POLICIES = ("Always", "OnFailure", "Never")
_PULLS = ("Always", "IfNotPresent", "Never")
_MESSAGES = ("FallbackToLogsOnError", "File")
_RULES, _EXIT_CODES = 20, 255
#: What an init container that ends may not have.
_LASTING = ("lifecycle", *PROBES)
#: What an ephemeral container may not have, beside resources.
_NOT_EPHEMERAL = ("ports", "lifecycle", *PROBES, "resizePolicy", "restartPolicy", "restartPolicyRules")


def pod_errors(raw: Raw, server: Server) -> tuple[FieldError, ...]:
    """What validation finds in a pod as sent beside resources."""
    spec, metadata = mapping(raw, "spec"), mapping(raw, "metadata")
    name = text(metadata, "name")
    return (
        *metadata_errors(raw, server),
        *annotation_errors(metadata, spec, "metadata.annotations"),
        *spec_errors(spec, server, pod=True, name=name, labels=mapping(metadata, "labels")),
        *creation_errors(spec),
        *token_errors(spec, server),
    )


def spec_errors(
    spec: Raw, server: Server, *, pod: bool = False, name: str = "", labels: Raw | None = None
) -> Iterator[FieldError]:
    """Of a pod's spec, or with ``pod`` False a template's. ``name``, ``labels``: the pod's, as far as known.

    Source: validation.go ValidatePodSpec.
    """
    errors, volumes = volume_errors(spec, name, server, pod=pod)
    yield from errors
    containers = whole_containers(spec)
    if not items(spec, "containers"):
        yield required("spec.containers", rule=_CONTAINERS)
    yield from _name_errors(spec)
    for path, container in containers.items():
        yield from _container_errors(container, path, spec, volumes, server)
        yield from _kind_errors(container, path, spec, server, pod=pod)
    yield from port_errors(spec, pod=pod)
    yield from pod_spec_errors(spec, server)
    yield from pod_security_errors(spec, containers)
    yield from placing_errors(spec, labels or {}, server)
    yield from system_errors(spec, containers)
    yield from file_volume_errors(spec, containers, server)


def _name_errors(spec: Raw) -> Iterator[FieldError]:
    """A container's name is taken once; none is a name, too, except of init containers."""
    names: set[str] = set()
    for kind in ("containers", "initContainers", "ephemeralContainers"):
        for index, container in enumerate(items(spec, kind)):
            path, name = f"spec.{kind}[{index}].name", text(container, "name")
            if name in names:
                yield duplicate(path, name, _CONTAINERS)
            if name or kind != "initContainers":
                names.add(name)


def _container_errors(
    container: Raw, path: str, spec: Raw, volumes: Mapping[str, Raw], server: Server
) -> Iterator[FieldError]:
    """Source: validation.go validateContainerCommon."""
    name = text(container, "name")
    if not name:
        yield required(f"{path}.name", rule=_NAME)
    else:
        yield from (invalid(f"{path}.name", name, fault, _NAME) for fault in label_faults(name))
    if not text(container, "image"):
        yield required(f"{path}.image", rule=_IMAGE)
    for key, choices, in_order in (("terminationMessagePolicy", _MESSAGES, True), ("imagePullPolicy", _PULLS, False)):
        chosen = text(container, key)
        if chosen and chosen not in choices:
            shown = ("File", "FallbackToLogsOnError") if key == "terminationMessagePolicy" else choices
            yield not_supported(f"{path}.{key}", chosen, shown, _CHOICE, in_order=in_order)
    yield from env_errors(container, path, server)
    yield from mount_errors(container, path, volumes)
    host_users = spec.get("hostUsers") is not False
    yield from container_security_errors(container, path, host_users=host_users)


def _kind_errors(container: Raw, path: str, spec: Raw, server: Server, *, pod: bool) -> Iterator[FieldError]:
    """Source: validation.go validateContainers, validateInitContainers, validateEphemeralContainers."""
    image, kind = text(container, "image"), path.removeprefix("spec.").partition("[")[0]
    if image != image.strip() and (pod or kind == "ephemeralContainers"):
        yield invalid(f"{path}.image", image, "must not have leading or trailing whitespace", _IMAGE)
    if kind == "ephemeralContainers":
        yield from _ephemeral_errors(container, path, spec)
        return
    rules = server.on("ContainerRestartRules")
    if kind == "initContainers" and container.get("restartPolicy") != "Always":
        for key in _LASTING:
            if pointer(container, key) is not None:
                text_ = "may not be set for init containers without restartPolicy=Always"
                yield forbidden(f"{path}.{key}", text_, "validation/probe")
    else:
        yield from probe_errors(container, path, spec, server, pod=pod)
    if rules and kind == "initContainers":
        yield from _init_restart_errors(container, path, server)
    elif rules:
        yield from _restart_errors(container, path, server)


def _ephemeral_errors(container: Raw, path: str, spec: Raw) -> Iterator[FieldError]:
    detail = "cannot be set for an Ephemeral Container"
    for key in _NOT_EPHEMERAL:
        if container.get(key) is not None and container.get(key) != []:
            yield forbidden(f"{path}.{key}", detail, _EPHEMERAL)
    for index, mount in enumerate(items(container, "volumeMounts")):
        for key in ("subPath", "subPathExpr"):
            if text(mount, key):
                yield forbidden(f"{path}.volumeMounts[{index}].{key}", detail, _EPHEMERAL)
    target = text(container, "targetContainerName")
    others = {text(item, "name") for key in ("containers", "initContainers") for item in items(spec, key)}
    if target and target not in others:
        yield not_found(f"{path}.targetContainerName", target, rule=_EPHEMERAL)


def _init_restart_errors(container: Raw, path: str, server: Server) -> Iterator[FieldError]:
    """Source: validation.go validateInitContainerRestartPolicy."""
    policy, rules = container.get("restartPolicy"), items(container, "restartPolicyRules")
    if policy is None:
        if rules:
            yield required(f"{path}.restartPolicy", _WITHOUT, _CHOICE)
    elif policy == "Always" and not server.on("RestartAllContainersOnContainerExits"):
        if rules:
            detail = "restartPolicyRules are not allowed for init containers with restart policy Always"
            yield forbidden(f"{path}.restartPolicyRules", detail, _CHOICE)
    else:
        yield from _restart_errors(container, path, server)


def _restart_errors(container: Raw, path: str, server: Server) -> Iterator[FieldError]:
    """Source: validation.go validateContainerRestartPolicy."""
    policy, rules = container.get("restartPolicy"), items(container, "restartPolicyRules")
    at = f"{path}.restartPolicy"
    if policy is None:
        if rules:
            yield required(at, _WITHOUT, _CHOICE)
    elif isinstance(policy, str) and policy not in _POLICIES:
        yield not_supported(at, policy, _POLICIES, _CHOICE)
    if len(rules) > _RULES:
        yield too_many(f"{path}.restartPolicyRules", len(rules), _RULES, _CHOICE)
    actions = ("Restart", "RestartAllContainers") if server.on("RestartAllContainersOnContainerExits") else ("Restart",)
    for index, rule in enumerate(rules):
        at, codes = f"{path}.restartPolicyRules[{index}]", pointer(rule, "exitCodes")
        if text(rule, "action") not in actions:
            yield not_supported(f"{at}.action", text(rule, "action"), actions, _CHOICE)
        if codes is None:
            yield required(f"{at}.exitCodes", "must be specified", _CHOICE)
            continue
        if text(codes, "operator") not in {"In", "NotIn"}:
            yield not_supported(f"{at}.exitCodes.operator", text(codes, "operator"), ("In", "NotIn"), _CHOICE)
        values = codes.get("values")
        if isinstance(values, list) and len(values) > _EXIT_CODES:
            yield too_many(f"{at}.exitCodes.values", len(values), _EXIT_CODES, _CHOICE)
