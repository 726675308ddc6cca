"""Validation of a pod or a template beside resources: metadata, network, names and gates here, volumes and containers
beside this module.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from kubectl_kres.admission.base.field_errors import (
    FieldError,
    duplicate,
    forbidden,
    invalid,
    not_found,
    not_supported,
    number,
    required,
    too_long,
    too_many,
)
from kubectl_kres.admission.base.resource_names import label_faults, qualified_faults, subdomain_faults
from kubectl_kres.admission.base.server import Server
from kubectl_kres.admission.base.text_rules import address_faults, descending_errors
from kubectl_kres.admission.structure import container_structure, security_structure
from kubectl_kres.admission.structure.metadata_structure import metadata_errors
from kubectl_kres.admission.structure.placing_structure import placing_errors
from kubectl_kres.admission.structure.reference_structure import port_errors
from kubectl_kres.admission.structure.volume_structure import token_errors, volume_errors
from kubectl_kres.model.objects import Raw, items, mapping, pointer, text, texts

_RULE, _CHOICE, _DEADLINE, _NAME = "validation/pod", "validation/choice", "validation/deadline", "validation/name"
_RESTARTS = ("Always", "OnFailure", "Never")
_DNS = ("ClusterFirstWithHostNet", "ClusterFirst", "Default", "None")
_PREEMPTIONS = ("PreemptLowerPriority", "Never")
_MOST_SECONDS = 2**31 - 1
_SERVERS, _SEARCHES, _SEARCH_CHARACTERS, _HOST_NAME = 3, 32, 2048, 64
_UNDERSCORED = r"_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?"
_UNDERSCORED_NAME = rf"{_UNDERSCORED}(\.{_UNDERSCORED})*"
_UNDERSCORED_RULE = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' or '.', and must "
    f"start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is "
    f"'{_UNDERSCORED_NAME}')"
)
_LONGEST_NAME = 253

MIRROR = "kubernetes.io/config.mirror"
_DELETION_COST = "controller.kubernetes.io/pod-deletion-cost"


def pod_spec_errors(spec: Raw, server: Server) -> Iterator[FieldError]:
    """Source: validation.go ValidatePodSpec, in which containers, volumes and placing stand apart."""
    yield from _choice_errors(spec)
    yield from _dns_errors(spec, server)
    for index, gate in enumerate(items(spec, "readinessGates")):
        path, name = f"spec.readinessGates[{index}].conditionType", text(gate, "conditionType")
        yield from (invalid(path, name, fault, _RULE) for fault in qualified_faults(name))
    seen: set[str] = set()
    for index, gate in enumerate(items(spec, "schedulingGates")):
        path, name = f"spec.schedulingGates[{index}]", text(gate, "name")
        yield from (invalid(path, name, fault, _RULE) for fault in qualified_faults(name))
        if name in seen:
            yield duplicate(path, name, _RULE)
        seen.add(name)
    for index, alias in enumerate(items(spec, "hostAliases")):
        path, address = f"spec.hostAliases[{index}]", text(alias, "ip")
        yield from (invalid(f"{path}.ip", address, fault, _RULE) for fault in address_faults(address, server))
        for position, host in enumerate(texts(alias, "hostnames")):
            yield from (
                invalid(f"{path}.hostnames[{position}]", host, fault, _RULE) for fault in subdomain_faults(host)
            )
    yield from _name_errors(spec, server)


def _choice_errors(spec: Raw) -> Iterator[FieldError]:
    """Source: validation.go validateRestartPolicy, validateDNSPolicy, ValidatePreemptionPolicy."""
    for key, choices in (("restartPolicy", _RESTARTS), ("dnsPolicy", _DNS)):
        chosen = text(spec, key)
        if chosen and chosen not in choices:
            yield not_supported(f"spec.{key}", chosen, choices, _CHOICE, in_order=True)
    preemption = spec.get("preemptionPolicy")
    if preemption == "":
        yield required("spec.preemptionPolicy", rule=_CHOICE)
    elif isinstance(preemption, str) and preemption not in _PREEMPTIONS:
        yield not_supported("spec.preemptionPolicy", preemption, _PREEMPTIONS, _CHOICE, in_order=True)
    deadline = spec.get("activeDeadlineSeconds")
    if isinstance(deadline, int) and not 1 <= deadline <= _MOST_SECONDS:
        detail = f"must be between 1 and {_MOST_SECONDS}, inclusive"
        yield number("spec.activeDeadlineSeconds", deadline, detail, _DEADLINE)


def _dns_errors(spec: Raw, server: Server) -> Iterator[FieldError]:
    """Source: validation.go validatePodDNSConfig."""
    config, path = pointer(spec, "dnsConfig"), "spec.dnsConfig"
    if text(spec, "dnsPolicy") == "None":
        if config is None:
            yield required(path, "must provide `dnsConfig` when `dnsPolicy` is None", _RULE)
            return
        if not config.get("nameservers"):
            detail = "must provide at least one DNS nameserver when `dnsPolicy` is None"
            yield required(f"{path}.nameservers", detail, _RULE)
            return
    servers, searches = texts(config or {}, "nameservers"), texts(config or {}, "searches")
    if len(servers) > _SERVERS:
        yield invalid(f"{path}.nameservers", servers, f"must not have more than {_SERVERS} nameservers", _RULE)
    for index, address in enumerate(servers):
        item_path = f"{path}.nameservers[{index}]"
        yield from (invalid(item_path, address, fault, _RULE) for fault in address_faults(address, server))
    yield from _search_errors(searches, f"{path}.searches", relaxed=server.is_enabled("RelaxedDNSSearchValidation"))
    for index, option in enumerate(items(config or {}, "options")):
        if not text(option, "name"):
            yield required(f"{path}.options[{index}]", "must not be empty", _RULE)


def _search_errors(searches: list[str], path: str, *, relaxed: bool) -> Iterator[FieldError]:
    if len(searches) > _SEARCHES:
        yield invalid(path, searches, f"must not have more than {_SEARCHES} search paths", _RULE)
    if len(" ".join(searches)) > _SEARCH_CHARACTERS:
        detail = f"must not have more than {_SEARCH_CHARACTERS} characters (including spaces) in the search list"
        yield invalid(path, searches, detail, _RULE)
    for index, search in enumerate(searches):
        if relaxed and search == ".":
            continue
        domain = search.removesuffix(".")
        faults = _underscored_faults(domain) if relaxed else subdomain_faults(domain)
        yield from (invalid(f"{path}[{index}]", domain, fault, _RULE) for fault in faults)


def _underscored_faults(domain: str) -> Iterator[str]:
    """Source: apimachinery util/validation IsDNS1123SubdomainWithUnderscore."""
    if len(domain) > _LONGEST_NAME:
        yield f"must be no more than {_LONGEST_NAME} characters"
    if not re.fullmatch(_UNDERSCORED_NAME, domain):
        yield _UNDERSCORED_RULE


def _name_errors(spec: Raw, server: Server) -> Iterator[FieldError]:
    account = text(spec, "serviceAccountName") or text(spec, "serviceAccount")
    named = {
        "serviceAccountName": account,
        **{key: text(spec, key) for key in ("nodeName", "priorityClassName", "runtimeClassName")},
    }
    for key, name in named.items():
        yield from (invalid(f"spec.{key}", name, fault, _NAME) for fault in (subdomain_faults(name) if name else ()))
    for key in ("hostname", "subdomain"):
        name = text(spec, key)
        yield from (invalid(f"spec.{key}", name, fault, _NAME) for fault in (label_faults(name) if name else ()))
    override, path = spec.get("hostnameOverride"), "spec.hostnameOverride"
    if isinstance(override, str) and server.is_enabled("HostnameOverride"):
        if spec.get("setHostnameAsFQDN") is True:
            yield forbidden(path, "may not be specified when setHostnameAsFQDN is true", _NAME)
        if spec.get("hostNetwork") is True:
            yield forbidden(path, "may not be specified when hostNetwork is true", _NAME)
        if len(override) > _HOST_NAME:
            yield too_long(path, _HOST_NAME, _NAME)
        yield from (invalid(path, override, fault, _NAME) for fault in subdomain_faults(override))


def annotation_errors(metadata: Raw, spec: Raw, path: str) -> Iterator[FieldError]:
    """Of annotations with a meaning; those for tolerations are taken as valid.

    Source: validation.go ValidatePodSpecificAnnotations.
    """
    annotations = {key: value for key, value in mapping(metadata, "annotations").items() if isinstance(value, str)}
    if MIRROR in annotations and not text(spec, "nodeName"):
        detail = "must set spec.nodeName if mirror pod annotation is set"
        yield invalid(f"{path}[{MIRROR}]", annotations[MIRROR], detail, _RULE)
    cost = annotations.get(_DELETION_COST)
    if cost is not None and not _is_cost(cost):
        yield invalid(f"{path}[{_DELETION_COST}]", cost, "must be a 32bit integer", _RULE)
    for key, value in annotations.items():
        if key == security_structure.SECCOMP_OF_POD or key.startswith(security_structure.SECCOMP):
            yield from _seccomp_errors(value, f"{path}.{key}")
        elif key.startswith(security_structure.APP_ARMOR):
            yield from _app_armor_errors(key, value, spec, path)


def _is_cost(value: str) -> bool:
    """Source: core/helper GetDeletionCostFromPodAnnotations, which refuses a plus and zeros before."""
    return bool(re.fullmatch(r"0|[1-9][0-9]*|-[0-9]+", value)) and -(2**31) <= int(value) < 2**31


def _seccomp_errors(profile: str, path: str) -> Iterator[FieldError]:
    if profile in {"runtime/default", "docker/default", "unconfined"}:
        return
    if profile.startswith("localhost/"):
        yield from descending_errors(profile.removeprefix("localhost/"), path, _RULE)
    else:
        yield invalid(path, profile, "must be a valid seccomp profile", _RULE)


def _app_armor_errors(key: str, profile: str, spec: Raw, path: str) -> Iterator[FieldError]:
    """Source: validation.go ValidateAppArmorPodAnnotations."""
    name = key.removeprefix(security_structure.APP_ARMOR)
    containers = (
        item for kind in ("initContainers", "containers", "ephemeralContainers") for item in items(spec, kind)
    )
    if all(text(container, "name") != name for container in containers):
        yield invalid(f"{path}[{key}]", name, "container not found", _RULE)
    if profile not in {"", "runtime/default", "unconfined"} and not profile.startswith("localhost/"):
        yield invalid(f"{path}[{key}]", profile, f'invalid AppArmor profile name: "{profile}"', _RULE)


def creation_errors(spec: Raw) -> Iterator[FieldError]:
    """Of a pod that is created, not of a template. Source: validation.go ValidatePodCreate."""
    if text(spec, "nodeName") and items(spec, "schedulingGates"):
        yield forbidden("spec.nodeName", "cannot be set until all schedulingGates have been cleared", _RULE)


def whole_containers(spec: Raw) -> Mapping[str, Raw]:
    """Return every container by its path. Source: pods/helpers VisitContainersWithPath."""
    kinds = ("initContainers", "containers", "ephemeralContainers")
    return {f"spec.{kind}[{index}]": item for kind in kinds for index, item in enumerate(items(spec, kind))}


_POD_NAME, _CONTAINERS, _IMAGE = "validation/name", "validation/containers", "validation/image"
_POD_CHOICE, _EPHEMERAL = "validation/choice", "validation/ephemeral"
_WITHOUT = "must specify restartPolicy when restart rules are used"
_POLICIES = ("Always", "OnFailure", "Never")
_PULLS = ("Always", "IfNotPresent", "Never")
_MESSAGES = ("FallbackToLogsOnError", "File")
_RULES, _EXIT_CODES = 20, 255
#: What an init container that ends may not have.
_LASTING = ("lifecycle", *container_structure.PROBES)
#: What an ephemeral container may not have, beside resources.
_NOT_EPHEMERAL = (
    "ports",
    "lifecycle",
    *container_structure.PROBES,
    "resizePolicy",
    "restartPolicy",
    "restartPolicyRules",
)


def pod_errors(raw: Raw, server: Server) -> tuple[FieldError, ...]:
    """Return what validation finds in a pod as sent beside resources."""
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
    yield from _pod_name_errors(spec)
    for path, container in containers.items():
        yield from _container_errors(container, path, spec, volumes, server)
        yield from _kind_errors(container, path, spec, server, pod=pod)
    yield from port_errors(spec, pod=pod)
    yield from pod_spec_errors(spec, server)
    yield from security_structure.pod_security_errors(spec, containers)
    yield from placing_errors(spec, labels or {}, server)
    yield from security_structure.system_errors(spec, containers)
    yield from container_structure.file_volume_errors(spec, containers, server)


def _pod_name_errors(spec: Raw) -> Iterator[FieldError]:
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
        yield required(f"{path}.name", rule=_POD_NAME)
    else:
        yield from (invalid(f"{path}.name", name, fault, _POD_NAME) for fault in label_faults(name))
    if not text(container, "image"):
        yield required(f"{path}.image", rule=_IMAGE)
    for key, choices, in_order in (("terminationMessagePolicy", _MESSAGES, True), ("imagePullPolicy", _PULLS, False)):
        chosen = text(container, key)
        if chosen and chosen not in choices:
            shown = ("File", "FallbackToLogsOnError") if key == "terminationMessagePolicy" else choices
            yield not_supported(f"{path}.{key}", chosen, shown, _POD_CHOICE, in_order=in_order)
    yield from container_structure.env_errors(container, path, server)
    yield from container_structure.mount_errors(container, path, volumes)
    host_users = spec.get("hostUsers") is not False
    yield from security_structure.container_security_errors(container, path, host_users=host_users)


def _kind_errors(container: Raw, path: str, spec: Raw, server: Server, *, pod: bool) -> Iterator[FieldError]:
    """Source: validation.go validateContainers, validateInitContainers, validateEphemeralContainers."""
    image, kind = text(container, "image"), path.removeprefix("spec.").partition("[")[0]
    if image != image.strip() and (pod or kind == "ephemeralContainers"):
        yield invalid(f"{path}.image", image, "must not have leading or trailing whitespace", _IMAGE)
    if kind == "ephemeralContainers":
        yield from _ephemeral_errors(container, path, spec)
        return
    rules = server.is_enabled("ContainerRestartRules")
    if kind == "initContainers" and container.get("restartPolicy") != "Always":
        for key in _LASTING:
            if pointer(container, key) is not None:
                text_ = "may not be set for init containers without restartPolicy=Always"
                yield forbidden(f"{path}.{key}", text_, "validation/probe")
    else:
        yield from container_structure.probe_errors(container, path, spec, server, pod=pod)
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
            yield required(f"{path}.restartPolicy", _WITHOUT, _POD_CHOICE)
    elif policy == "Always" and not server.is_enabled("RestartAllContainersOnContainerExits"):
        if rules:
            detail = "restartPolicyRules are not allowed for init containers with restart policy Always"
            yield forbidden(f"{path}.restartPolicyRules", detail, _POD_CHOICE)
    else:
        yield from _restart_errors(container, path, server)


def _restart_errors(container: Raw, path: str, server: Server) -> Iterator[FieldError]:
    """Source: validation.go validateContainerRestartPolicy."""
    policy, rules = container.get("restartPolicy"), items(container, "restartPolicyRules")
    item_path = f"{path}.restartPolicy"
    if policy is None:
        if rules:
            yield required(item_path, _WITHOUT, _POD_CHOICE)
    elif isinstance(policy, str) and policy not in _POLICIES:
        yield not_supported(item_path, policy, _POLICIES, _POD_CHOICE)
    if len(rules) > _RULES:
        yield too_many(f"{path}.restartPolicyRules", len(rules), _RULES, _POD_CHOICE)
    actions = (
        ("Restart", "RestartAllContainers")
        if server.is_enabled("RestartAllContainersOnContainerExits")
        else ("Restart",)
    )
    for index, rule in enumerate(rules):
        item_path, codes = f"{path}.restartPolicyRules[{index}]", pointer(rule, "exitCodes")
        if text(rule, "action") not in actions:
            yield not_supported(f"{item_path}.action", text(rule, "action"), actions, _POD_CHOICE)
        if codes is None:
            yield required(f"{item_path}.exitCodes", "must be specified", _POD_CHOICE)
            continue
        if text(codes, "operator") not in {"In", "NotIn"}:
            yield not_supported(
                f"{item_path}.exitCodes.operator", text(codes, "operator"), ("In", "NotIn"), _POD_CHOICE
            )
        values = codes.get("values")
        if isinstance(values, list) and len(values) > _EXIT_CODES:
            yield too_many(f"{item_path}.exitCodes.values", len(values), _EXIT_CODES, _POD_CHOICE)
