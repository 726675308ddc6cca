"""The Warning headers for what a pod says beside resources: what is deprecated, named twice or matches nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from kubectl_kres.admission.draft import parse_list
from kubectl_kres.admission.warnings import fraction, hidden_env
from kubectl_kres.model.raw import Raw

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
    "gitRepo": "deprecated in v1.11, and disabled by default in v1.33+",
    "glusterfs": "deprecated in v1.25, non-functional in v1.26+",
    "cephfs": "deprecated in v1.28, non-functional in v1.31+",
    "rbd": "deprecated in v1.28, non-functional in v1.31+",
}
_REQUIRED, _PREFERRED = (
    "requiredDuringSchedulingIgnoredDuringExecution",
    "preferredDuringSchedulingIgnoredDuringExecution",
)
_NO_SELECTOR = "labelSelector: a null labelSelector results in matching no pod"
_KEYS = ("initContainers", "containers", "ephemeralContainers")


def pod_notices(raw: Raw) -> Iterator[str]:
    """Of a pod, or of a pod template as if it were one. Source: api/pod/warnings.go warningsForPodSpecAndMeta."""
    spec, metadata = _map(raw, "spec"), _map(raw, "metadata")
    for key in _map(metadata, "annotations"):
        if key in _ANNOTATIONS:
            yield f"metadata.annotations[{key}]: {_ANNOTATIONS[key]}"
    for key in _KEYS:
        yield from hidden_env(_list(spec, key), f"spec.{key}")
    yield from _placing(spec)
    yield from _repeated(spec, "hostAliases", "ip")
    yield from _repeated(spec, "imagePullSecrets", "name")
    for index, secret in enumerate(_list(spec, "imagePullSecrets")):
        if not secret.get("name"):
            yield f'spec.imagePullSecrets[{index}].name: invalid empty name ""'
    yield from _volumes(spec)
    yield from _ports(spec)


def template_notices(raw: Raw) -> Iterator[str]:
    """Of a pod template alone: of a pod the value is made 1 before anybody looks at it."""
    seconds = _map(raw, "spec").get("terminationGracePeriodSeconds")
    if isinstance(seconds, int) and seconds < 0:
        text = "must be >= 0; negative values are invalid and will be treated as 1"
        yield f"spec.terminationGracePeriodSeconds: {text}"


def _placing(spec: Raw) -> Iterator[str]:
    for key in _map(spec, "nodeSelector"):
        if key in _NODE_LABELS:
            yield f"spec.nodeSelector[{key}]: {_NODE_LABELS[key]}"
    for index, spread in enumerate(_list(spec, "topologySpreadConstraints")):
        at, topology = f"spec.topologySpreadConstraints[{index}]", spread.get("topologyKey")
        if topology in _NODE_LABELS:
            yield f"{at}.topologyKey: {topology} is {_NODE_LABELS[topology]}"
        if spread.get("labelSelector") is None:
            yield f"{at}.{_NO_SELECTOR}"
    yield from _affinity(_map(spec, "affinity"))


def _affinity(affinity: Raw) -> Iterator[str]:
    for kind in ("podAffinity", "podAntiAffinity"):
        held = _map(affinity, kind)
        for index, term in enumerate(_list(held, _REQUIRED)):
            if term.get("labelSelector") is None:
                yield f"spec.affinity.{kind}.{_REQUIRED}[{index}].{_NO_SELECTOR}"
        for index, weighted in enumerate(_list(held, _PREFERRED)):
            if _map(weighted, "podAffinityTerm").get("labelSelector") is None:
                yield f"spec.affinity.{kind}.{_PREFERRED}[{index}].podAffinityTerm.{_NO_SELECTOR}"
    nodes, path = _map(affinity, "nodeAffinity"), "spec.affinity.nodeAffinity"
    for index, term in enumerate(_list(_map(nodes, _REQUIRED), "nodeSelectorTerms")):
        yield from _terms(term, f"{path}.{_REQUIRED}.nodeSelectorTerms[{index}]")
    for index, weighted in enumerate(_list(nodes, _PREFERRED)):
        yield from _terms(_map(weighted, "preference"), f"{path}.{_PREFERRED}[{index}].preference")


def _terms(term: Raw, path: str) -> Iterator[str]:
    for index, expression in enumerate(_list(term, "matchExpressions")):
        key = expression.get("key")
        if key in _NODE_LABELS:
            yield f"{path}.matchExpressions[{index}].key: {key} is {_NODE_LABELS[key]}"


def _repeated(spec: Raw, field: str, name: str) -> Iterator[str]:
    seen: set[Any] = set()
    for index, item in enumerate(_list(spec, field)):
        value = str(item.get(name) or "")
        if value in seen:
            yield f'spec.{field}[{index}].{name}: duplicate {name} "{value}"'
        seen.add(value)


def _volumes(spec: Raw) -> Iterator[str]:
    for index, volume in enumerate(_list(spec, "volumes")):
        at = f"spec.volumes[{index}]"
        yield from (f"{at}.{kind}: {text}" for kind, text in _VOLUMES.items() if volume.get(kind) is not None)
        template = _map(_map(volume, "ephemeral"), "volumeClaimTemplate")
        resources = _map(_map(template, "spec"), "resources")
        for side in ("limits", "requests"):
            storage = parse_list(_map(resources, side), at).get("storage")
            if storage is not None:
                yield from fraction(f"{at}.ephemeral.volumeClaimTemplate.spec.resources.{side}[storage]", storage)


def _ports(spec: Raw) -> Iterator[str]:
    """Ports that several containers, or one twice, say they listen on, and names that stand for several."""
    seen: dict[tuple[Any, str], list[tuple[str, str, Any]]] = {}
    names: dict[str, str] = {}
    for at, port in _listed_ports(spec):
        number, protocol = port.get("containerPort"), str(port.get("protocol") or "TCP")
        name, ip, host = str(port.get("name") or ""), str(port.get("hostIP") or ""), port.get("hostPort") or 0
        if ip and not host:
            shown = f"Name:{name} HostPort:0 ContainerPort:{number} Protocol:{protocol} HostIP:{ip}"
            yield f"{at}: hostIP set without hostPort: {{{shown}}}"
        for other, other_ip, other_host in seen.get((number, protocol), ()):
            if (ip, host) == (other_ip, other_host):
                yield f"{at}: duplicate port definition with {other}"
            elif not host or not other_host:
                yield f"{at}: overlapping port definition with {other}"
            elif host == other_host and (not ip) != (not other_ip):
                yield f"{at}: dangerously ambiguous port definition with {other}"
        seen.setdefault((number, protocol), []).append((at, ip, host))
        if name and names.setdefault(name, at) != at:
            first = names[name]
            use = f"services and probes that select ports by name will use {first}"
            yield f'{at}: duplicate port name "{name}" with {first}, {use}'


def _listed_ports(spec: Raw) -> Iterator[tuple[str, Raw]]:
    for key in _KEYS:
        for place, container in enumerate(_list(spec, key)):
            for index, port in enumerate(_list(container, "ports")):
                yield f"spec.{key}[{place}].ports[{index}]", port


def _map(raw: Raw, key: str) -> Raw:
    held = raw.get(key)
    return held if isinstance(held, Mapping) else {}


def _list(raw: Raw, key: str) -> list[Raw]:
    """The maps in a list; where something else stands among them, positions would be wrong: none."""
    held = raw.get(key)
    return held if isinstance(held, list) and all(isinstance(item, Mapping) for item in held) else []
