"""Warning headers for fields of a pod that are deprecated, given twice or without effect."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from kubectl_kres.admission.base.draft import fraction, hidden_env, parse_list
from kubectl_kres.admission.base.resource_names import label_faults
from kubectl_kres.admission.decoding import GATED_SOURCES
from kubectl_kres.admission.structure.metadata_structure import label_value_faults
from kubectl_kres.admission.structure.pod_structure import whole_containers
from kubectl_kres.admission.structure.security_structure import APP_ARMOR, SECCOMP, SECCOMP_OF_POD
from kubectl_kres.model.objects import Raw, integer, items, mapping, pointer, text, texts

#: What a projected volume takes.
_SOURCES = ("secret", "configMap", "downwardAPI", "serviceAccountToken", *GATED_SOURCES)

_NODE_LABELS = {
    "beta.kubernetes.io/arch": 'deprecated since v1.14; use "kubernetes.io/arch" instead',
    "beta.kubernetes.io/os": 'deprecated since v1.14; use "kubernetes.io/os" instead',
    "failure-domain.beta.kubernetes.io/region": 'deprecated since v1.17; use "topology.kubernetes.io/region" instead',
    "failure-domain.beta.kubernetes.io/zone": 'deprecated since v1.17; use "topology.kubernetes.io/zone" instead',
    "beta.kubernetes.io/instance-type": 'deprecated since v1.17; use "node.kubernetes.io/instance-type" instead',
    "app.kubernetes.io/created-by": "deprecated since v1.9",
    "scheduler.alpha.kubernetes.io/preferAvoidPods": "deprecated since v1.22; use Taints and Tolerations instead",
    "node-role.kubernetes.io/master": 'use "node-role.kubernetes.io/control-plane" instead',
}
_ANNOTATIONS = {
    "scheduler.alpha.kubernetes.io/critical-pod": 'non-functional in v1.16+; use the "priorityClassName" field instead',
    "security.alpha.kubernetes.io/sysctls": 'non-functional in v1.11+; use the "sysctls" field instead',
    "security.alpha.kubernetes.io/unsafe-sysctls": 'non-functional in v1.11+; use the "sysctls" field instead',
}
_VOLUMES = {
    "photonPersistentDisk": "deprecated in v1.11, non-functional in v1.16+",
    "scaleIO": "deprecated in v1.16, non-functional in v1.22+",
    "flocker": "deprecated in v1.22, non-functional in v1.25+",
    "storageos": "deprecated in v1.22, non-functional in v1.25+",
    "quobyte": "deprecated in v1.22, non-functional in v1.25+",
    "gitRepo": "deprecated in v1.11, and disabled by default in v1.33+",
    "glusterfs": "deprecated in v1.25, non-functional in v1.26+",
    "cephfs": "deprecated in v1.28, non-functional in v1.31+",
    "rbd": "deprecated in v1.28, non-functional in v1.31+",
}
#: Fields that the warning writes in another way.
_WRITTEN = {"storageos": "storageOS"}
_REQUIRED, _PREFERRED = (
    "requiredDuringSchedulingIgnoredDuringExecution",
    "preferredDuringSchedulingIgnoredDuringExecution",
)
_NO_SELECTOR = "labelSelector: a null labelSelector results in matching no pod"
_KEYS = ("initContainers", "containers", "ephemeralContainers")

_USE = '{}; use the "{}" field instead'
_NO_PROFILE = {"localhostProfile": None}


class _File(NamedTuple):
    """Where a file comes to lie, and in a projected volume what it comes from."""

    path: str
    source: str = ""

    def __str__(self) -> str:
        return f'"{self.path}"{self.source and f" ({self.source})"}'


def pod_notices(raw: Raw, *, template: bool = False) -> Iterator[str]:
    """Of a pod, or of a pod template as if it were one: but ports on the host's network are filled in in pods alone.

    Source: api/pod/warnings.go warningsForPodSpecAndMeta.
    """
    spec, metadata = mapping(raw, "spec"), mapping(raw, "metadata")
    for key in mapping(metadata, "annotations"):
        if key in _ANNOTATIONS:
            yield f"metadata.annotations[{key}]: {_ANNOTATIONS[key]}"
    yield from _profiles(mapping(metadata, "annotations"), spec)
    for key in _KEYS:
        yield from hidden_env(items(spec, key), f"spec.{key}")
    yield from _scheduling_warnings(spec)
    yield from _duplicate_warnings(spec, "hostAliases", "ip")
    yield from _duplicate_warnings(spec, "imagePullSecrets", "name")
    for index, secret in enumerate(items(spec, "imagePullSecrets")):
        if not secret.get("name"):
            yield f'spec.imagePullSecrets[{index}].name: invalid empty name ""'
    yield from _volumes(spec)
    yield from _overlapping_paths(items(spec, "volumes"))
    yield from _ports(spec, filled=spec.get("hostNetwork") is True and not template)
    for index, address in enumerate(texts(mapping(spec, "dnsConfig"), "nameservers")):
        yield from address_notices(address, f"spec.dnsConfig.nameservers[{index}]")
    for index, alias in enumerate(items(spec, "hostAliases")):
        yield from address_notices(text(alias, "ip"), f"spec.hostAliases[{index}].ip")


def name_notices(name: str) -> Iterator[str]:
    """Of a pod's name. Source: registry/core/pod strategy.go WarningsOnCreate."""
    faults = [*label_faults(name)]
    if name and faults:
        use = "this is used in the Pod's hostname, which can result in surprising behavior; a DNS label is recommended"
        yield f"metadata.name: {use}: [{' '.join(faults)}]"


def _profiles(annotations: Raw, spec: Raw) -> Iterator[str]:
    """Annotations that fields have replaced. Source: also registry/core/pod strategy.go applyAppArmorVersionSkew."""
    context = mapping(spec, "securityContext")
    if SECCOMP_OF_POD in annotations and pointer(context, "seccompProfile") is None:
        yield f"metadata.annotations[{SECCOMP_OF_POD}]: {_USE.format('non-functional in v1.27+', 'seccompProfile')}"
    for container in whole_containers(spec).values():
        name, request_context = text(container, "name"), mapping(container, "securityContext")
        if f"{SECCOMP}{name}" in annotations and pointer(request_context, "seccompProfile") is None:
            yield f"metadata.annotations[{SECCOMP}{name}]: {_USE.format('non-functional in v1.27+', 'seccompProfile')}"
        key = f"{APP_ARMOR}{name}"
        if key in annotations and pointer(request_context, "appArmorProfile") is None:
            profile = _app_armor(annotations[key])
            of_pod = pointer(context, "appArmorProfile")
            if profile is None or of_pod is None or profile != {**_NO_PROFILE, **of_pod}:
                yield f"metadata.annotations[{key}]: {_USE.format('deprecated since v1.30', 'appArmorProfile')}"


def _app_armor(annotation: Any) -> Raw | None:
    """Return the field that an annotation stands for. Source: api/pod/util.go ApparmorFieldForAnnotation."""
    kinds = {"unconfined": "Unconfined", "runtime/default": "RuntimeDefault"}
    if annotation in kinds:
        return {"type": kinds[annotation], **_NO_PROFILE}
    if isinstance(annotation, str) and annotation.startswith("localhost/"):
        local = annotation.removeprefix("localhost/")
        return {"type": "Localhost", "localhostProfile": local} if local else None
    return None


def address_notices(address: str, path: str) -> Iterator[str]:
    """Source: apimachinery util/validation GetWarningsForIP, of addresses that are valid where it is strict."""
    try:
        result = ipaddress.ip_address(address)
    except ValueError:
        return
    if isinstance(result, ipaddress.IPv6Address) and str(result) != address and result.ipv4_mapped is None:
        yield f'{path}: IPv6 address "{address}" should be in RFC 5952 canonical format ("{result}")'


def template_notices(raw: Raw) -> Iterator[str]:
    """Of a pod template alone: of a pod the value is made 1 before anybody looks at it."""
    seconds = mapping(raw, "spec").get("terminationGracePeriodSeconds")
    if isinstance(seconds, int) and seconds < 0:
        text = "must be >= 0; negative values are invalid and will be treated as 1"
        yield f"spec.terminationGracePeriodSeconds: {text}"


def _scheduling_warnings(spec: Raw) -> Iterator[str]:
    for key in mapping(spec, "nodeSelector"):
        if key in _NODE_LABELS:
            yield f"spec.nodeSelector[{key}]: {_NODE_LABELS[key]}"
    for index, spread in enumerate(items(spec, "topologySpreadConstraints")):
        item_path, topology = f"spec.topologySpreadConstraints[{index}]", spread.get("topologyKey")
        if topology in _NODE_LABELS:
            yield f"{item_path}.topologyKey: {topology} is {_NODE_LABELS[topology]}"
        if spread.get("labelSelector") is None:
            yield f"{item_path}.{_NO_SELECTOR}"
    yield from _affinity(mapping(spec, "affinity"))


def _affinity(affinity: Raw) -> Iterator[str]:
    for kind in ("podAffinity", "podAntiAffinity"):
        result = mapping(affinity, kind)
        for index, term in enumerate(items(result, _REQUIRED)):
            if term.get("labelSelector") is None:
                yield f"spec.affinity.{kind}.{_REQUIRED}[{index}].{_NO_SELECTOR}"
        for index, weighted in enumerate(items(result, _PREFERRED)):
            if mapping(weighted, "podAffinityTerm").get("labelSelector") is None:
                yield f"spec.affinity.{kind}.{_PREFERRED}[{index}].podAffinityTerm.{_NO_SELECTOR}"
    nodes, path = mapping(affinity, "nodeAffinity"), "spec.affinity.nodeAffinity"
    for index, term in enumerate(items(mapping(nodes, _REQUIRED), "nodeSelectorTerms")):
        yield from _terms(term, f"{path}.{_REQUIRED}.nodeSelectorTerms[{index}]", values=False)
    for index, weighted in enumerate(items(nodes, _PREFERRED)):
        yield from _terms(mapping(weighted, "preference"), f"{path}.{_PREFERRED}[{index}].preference", values=True)


def _terms(term: Raw, path: str, *, values: bool) -> Iterator[str]:
    """``values``: those that no label can have are warned of, where they are not refused."""
    for index, expression in enumerate(items(term, "matchExpressions")):
        key, item_path = expression.get("key"), f"{path}.matchExpressions[{index}]"
        if key in _NODE_LABELS:
            yield f"{item_path}.key: {key} is {_NODE_LABELS[key]}"
        for position, value in enumerate(texts(expression, "values") if values else ()):
            yield from (
                f"{item_path}.values[{position}]: {value} is invalid, {fault}" for fault in label_value_faults(value)
            )


def _duplicate_warnings(spec: Raw, field: str, name: str) -> Iterator[str]:
    seen: set[Any] = set()
    for index, item in enumerate(items(spec, field)):
        value = str(item.get(name) or "")
        if value in seen:
            yield f'spec.{field}[{index}].{name}: duplicate {name} "{value}"'
        seen.add(value)


def _volumes(spec: Raw) -> Iterator[str]:
    for index, volume in enumerate(items(spec, "volumes")):
        item_path = f"spec.volumes[{index}]"
        for kind, warning in _VOLUMES.items():
            if volume.get(kind) is not None:
                yield f"{item_path}.{_WRITTEN.get(kind, kind)}: {warning}"
        template = mapping(mapping(volume, "ephemeral"), "volumeClaimTemplate")
        resources = mapping(mapping(template, "spec"), "resources")
        for side in ("limits", "requests"):
            storage = parse_list(mapping(resources, side), item_path).get("storage")
            if storage is not None:
                yield from fraction(
                    f"{item_path}.ephemeral.volumeClaimTemplate.spec.resources.{side}[storage]", storage
                )


def _ports(spec: Raw, *, filled: bool) -> Iterator[str]:
    """Ports that several containers, or one twice, say they listen on, and names that stand for several."""
    seen: dict[tuple[Any, str], list[tuple[str, str, Any]]] = {}
    names: dict[str, str] = {}
    for item_path, port in _listed_ports(spec):
        number, protocol = integer(port, "containerPort") or 0, str(port.get("protocol") or "TCP")
        name, ip, host = str(port.get("name") or ""), str(port.get("hostIP") or ""), port.get("hostPort") or 0
        if filled and not item_path.startswith("spec.ephemeralContainers"):
            host = host or number
        if ip and not host:
            shown = f"Name:{name} HostPort:0 ContainerPort:{number} Protocol:{protocol} HostIP:{ip}"
            yield f"{item_path}: hostIP set without hostPort: {{{shown}}}"
        for other, other_ip, other_host in seen.get((number, protocol), ()):
            if (ip, host) == (other_ip, other_host):
                yield f"{item_path}: duplicate port definition with {other}"
            elif not host or not other_host:
                yield f"{item_path}: overlapping port definition with {other}"
            elif host == other_host and (not ip) != (not other_ip):
                yield f"{item_path}: dangerously ambiguous port definition with {other}"
        seen.setdefault((number, protocol), []).append((item_path, ip, host))
        if name and names.setdefault(name, item_path) != item_path:
            first = names[name]
            use = f"services and probes that select ports by name will use {first}"
            yield f'{item_path}: duplicate port name "{name}" with {first}, {use}'


def _listed_ports(spec: Raw) -> Iterator[tuple[str, Raw]]:
    for key in _KEYS:
        for position, container in enumerate(items(spec, key)):
            for index, port in enumerate(items(container, "ports")):
                yield f"spec.{key}[{position}].ports[{index}]", port


def _overlapping_paths(volumes: Iterable[Raw]) -> Iterator[str]:
    """Source: api/pod/warnings.go warningsForOverlappingVirtualPaths; bundles and certificates are not looked at."""
    for volume in volumes:
        name = text(volume, "name")
        for key, shown, field in (("configMap", "ConfigMap", "name"), ("secret", "Secret", "secretName")):
            source = pointer(volume, key)
            if source is not None:
                yield from _overlaps(_files(source), name, f'{shown} "{text(source, field)}"')
        source = pointer(volume, "downwardAPI")
        if source is not None:
            yield from _overlaps(_files(source), name, "DownwardAPI")
        source = pointer(volume, "projected")
        for part in items(source or {}, "sources"):
            if all(part.get(key) is None for key in _SOURCES):
                yield f'volume "{name}" (Projected) has no sources provided'
        yield from _overlaps(
            (file for part in items(source or {}, "sources") for file in _projected_source_rows(part)),
            name,
            "Projected",
        )


def _files(source: Raw, kind: str = "") -> Iterator[_File]:
    yield from (_File(text(item, "path"), kind) for item in items(source, "items"))


def _projected_source_rows(part: Raw) -> Iterator[_File]:
    """Of the first source that has any, as the server looks for them."""
    for key, shown in (("configMap", "ConfigMap"), ("secret", "Secret"), ("downwardAPI", "DownwardAPI")):
        source = pointer(part, key)
        if source is not None and isinstance(source.get("items"), list):
            yield from _files(source, shown if key == "downwardAPI" else f'{shown} "{text(source, "name")}"')
            return
    token = pointer(part, "serviceAccountToken")
    if token is not None:
        yield _File(text(token, "path"), "ServiceAccountToken")


def _overlaps(files: Iterable[_File], volume: str, shown: str) -> Iterator[str]:
    seen: list[_File] = []
    for file in files:
        this = file._replace(path=file.path.rstrip("/"))
        for other in seen:
            if this.path and other.path and _overlap(this, other):
                yield f'volume "{volume}" ({shown}): overlapping paths: {this} with {other}'
        seen.append(this)


def _overlap(file: _File, other: _File) -> bool:
    return f"{file.path}/".startswith(f"{other.path}/") or f"{other.path}/".startswith(f"{file.path}/")
