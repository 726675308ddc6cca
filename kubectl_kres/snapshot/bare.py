"""What a snapshot keeps of a template beside its resources: what Pod Security looks at, and no text of people."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from msgspec import structs

from kubectl_kres.model.detail import DetailedContainer, DetailedSpec, Probe

#: Keys of a security context whose texts are chosen from a list, or are names that decide.
_DECIDING = frozenset({
    *("privileged", "allowPrivilegeEscalation", "capabilities", "procMount", "runAsNonRoot", "runAsUser"),
    *("seLinuxOptions", "appArmorProfile", "seccompProfile", "windowsOptions", "sysctls", "hostProcess"),
    *("type", "add", "drop", "name", "runAsGroup", "fsGroup", "readOnlyRootFilesystem"),
})  # fmt: skip

_PULLS = ("Always", "IfNotPresent", "Never")
_SYSCTL = re.compile(r"(kernel|net|fs|user|vm)[./]")


def bare(spec: DetailedSpec) -> dict[str, Any]:
    """The fields of the spec that are kept in another way than they stand."""
    volumes = spec.volumes
    return {
        "containers": _containers(spec.containers),
        "init_containers": _containers(spec.init_containers),
        "security_context": _kept(spec.security_context),
        "volumes": tuple(_volume(number, one) for number, one in enumerate(volumes)) if volumes is not None else None,
        "node_selector": None,
        "tolerations": None,
        "service_account_name": "",
        "scheduler_name": None,
    }


def _containers(containers: tuple[DetailedContainer, ...] | None) -> tuple[DetailedContainer, ...] | None:
    if containers is None:
        return None
    return tuple(map(_container, containers))


def _container(container: DetailedContainer) -> DetailedContainer:
    probes = ("liveness_probe", "readiness_probe", "startup_probe")
    return structs.replace(
        container,
        image_pull_policy=container.image_pull_policy if container.image_pull_policy in _PULLS else None,
        security_context=_kept(container.security_context),
        ports=[_port(one) for one in container.ports] if isinstance(container.ports, list) else None,
        **{name: _probe(getattr(container, name)) for name in probes},
    )


def _probe(probe: Probe | None) -> Probe | None:
    """That there is one, and the hosts that it names."""
    if probe is None:
        return None
    page, socket = probe.http_get, probe.tcp_socket
    return structs.replace(
        probe,
        http_get=structs.replace(page, path=None, port=None) if page is not None else None,
        tcp_socket=structs.replace(socket, port=None) if socket is not None else None,
        grpc=None if probe.grpc is None else {},
    )


def _port(port: Any) -> dict[str, Any]:
    kept = ("containerPort", "hostPort", "protocol")
    return {key: port[key] for key in kept if key in port} if isinstance(port, Mapping) else {}


def _volume(number: int, volume: Any) -> dict[str, Any]:
    """Its kind."""
    kinds = volume if isinstance(volume, Mapping) else {}
    named: dict[str, Any] = {key: {} for key, value in kinds.items() if value is not None and key != "name"}
    return {"name": f"volume-{number}", **named}


def _kept(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {
            key: _kept(inner)
            for key, inner in value.items()
            if key in _DECIDING and (key != "name" or _SYSCTL.match(str(inner)))
        }
    return [_kept(one) for one in value] if isinstance(value, list) else value
