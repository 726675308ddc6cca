"""What of a pod template decides beside its resources: what Pod Security looks at, and most of what policies ask for.

Left out are values of variables, commands, arguments and the like: they are nobody's business here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from kubectl_kres.model.meta import Base
from kubectl_kres.model.pod import Container, PodSpec, PodTemplateSpec


class Socket(Base, frozen=True):
    """Where a probe connects to."""

    host: str = ""
    port: Any = None


class HttpGet(Socket, frozen=True):
    """What a probe asks for."""

    path: str | None = None
    scheme: str | None = None


class ExecProbe(Base, frozen=True):
    """That a probe runs a command; not which."""


class Probe(Base, frozen=True):
    """A check of a container."""

    http_get: HttpGet | None = None
    tcp_socket: Socket | None = None
    grpc: Any = None
    exec: ExecProbe | None = None
    initial_delay_seconds: int | None = None
    period_seconds: int | None = None
    timeout_seconds: int | None = None
    failure_threshold: int | None = None
    success_threshold: int | None = None


class DetailedContainer(Container, frozen=True):
    """A container of a template."""

    image_pull_policy: str | None = None
    ports: Any = None
    security_context: Any = None
    liveness_probe: Probe | None = None
    readiness_probe: Probe | None = None
    startup_probe: Probe | None = None


class DetailedSpec(PodSpec, frozen=True):
    """The spec of a template. ``volumes``: as they stand; snapshots keep their kinds alone."""

    containers: tuple[DetailedContainer, ...] | None = None
    init_containers: tuple[DetailedContainer, ...] | None = None
    security_context: Any = None
    host_network: bool | None = None
    host_pid: bool | None = msgspec.field(default=None, name="hostPID")
    host_ipc: bool | None = msgspec.field(default=None, name="hostIPC")
    host_users: bool | None = None
    volumes: tuple[Mapping[str, Any], ...] | None = None
    service_account_name: str = ""
    automount_service_account_token: bool | None = None
    node_selector: Mapping[str, str] | None = None
    tolerations: Any = None
    termination_grace_period_seconds: int | None = None
    share_process_namespace: bool | None = None
    scheduler_name: str | None = None


class DetailedTemplate(PodTemplateSpec, frozen=True):
    """The template that a workload of the cluster makes its pods from."""

    spec: DetailedSpec = DetailedSpec()


#: Fields of a container that are read of templates alone.
OF_TEMPLATES = frozenset(name.encode_name for name in msgspec.structs.fields(DetailedContainer)) - frozenset(
    name.encode_name for name in msgspec.structs.fields(Container)
)
#: Fields of a pod that no struct here holds, so that a policy that asks for one of them has no answer.
WITHHELD = frozenset({
    *("affinity", "args", "command", "dnsConfig", "dnsPolicy", "enableServiceLinks", "env", "envFrom", "exec"),
    *("ephemeralContainers", "hostAliases", "hostname", "httpHeaders", "imagePullSecrets", "lifecycle", "nodeName"),
    *("ownerReferences", "readinessGates", "schedulingGates", "setHostnameAsFQDN", "stdin", "subdomain"),
    *("topologySpreadConstraints", "tty", "volumeDevices", "volumeMounts", "workingDir", "finalizers"),
    *("terminationMessagePath", "terminationMessagePolicy", "restartPolicyRules"),
})  # fmt: skip


def unread_fields(*, whole: bool, added: bool) -> frozenset[str]:
    """Fields of a pod that policies may ask for and that were not read. ``whole``: it is as a file holds it.

    ``added``: some of its containers are those of live pods.
    """
    return (frozenset() if whole else WITHHELD) | (OF_TEMPLATES if added else frozenset())
