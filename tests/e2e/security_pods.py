"""Pods that keep to a level of Pod Security, and each thing that a control forbids or asks for, put into them."""

from __future__ import annotations

import copy
import random
from collections.abc import Iterator
from typing import Any

Object = dict[str, Any]

HARD: Object = {
    "allowPrivilegeEscalation": False, "runAsNonRoot": True, "capabilities": {"drop": ["ALL"]},
    "seccompProfile": {"type": "RuntimeDefault"},
}  # fmt: skip
_ANNOTATION = "container.apparmor.security.beta.kubernetes.io/"

#: Of a pod's spec: a key and its values, some of which a control forbids.
POD: tuple[tuple[str, tuple[Any, ...]], ...] = (
    ("hostNetwork", (True, False)), ("hostPID", (True, False)), ("hostIPC", (True, False)),
    ("hostUsers", (True, False)),
    ("os", ({"name": "windows"}, {"name": "linux"})),
    ("volumes", (
        [{"name": "a", "hostPath": {"path": "/"}}],
        [{"name": "a", "hostPath": {"path": "/"}}, {"name": "b", "nfs": {"server": "s", "path": "/"}}],
        [{"name": "a", "emptyDir": {}}, {"name": "b", "configMap": {"name": "c"}}],
        [{"name": "a", "projected": {"sources": [{"configMap": {"name": "c"}}]}}, {"name": "b", "iscsi": {
            "targetPortal": "1.2.3.4", "iqn": "iqn.2001-04.com.example:storage", "lun": 0}}],
        [{"name": "a", "csi": {"driver": "d.example.com"}}, {"name": "b", "rbd": {"monitors": ["m"], "image": "i"}}],
    )),
)  # fmt: skip
#: Of a security context, of the pod or of a container.
CONTEXT: tuple[tuple[str, tuple[Any, ...]], ...] = (
    ("seccompProfile", ({"type": "Unconfined"}, {"type": "RuntimeDefault"},
                        {"type": "Localhost", "localhostProfile": "p"})),
    ("appArmorProfile", ({"type": "Unconfined"}, {"type": "RuntimeDefault"},
                         {"type": "Localhost", "localhostProfile": "p"})),
    ("seLinuxOptions", ({"type": "container_t"}, {"type": "spc_t"}, {"user": "u"}, {"role": "r", "type": "a_t"},
                        {"type": "container_engine_t"}, {"level": "s0"}, {"type": ""})),
    ("runAsNonRoot", (True, False)),
    ("runAsUser", (0, 1000)),
    ("windowsOptions", ({"hostProcess": True}, {"hostProcess": False}, {"runAsUserName": "u"})),
)  # fmt: skip
POD_ONLY: tuple[tuple[str, tuple[Any, ...]], ...] = (
    ("sysctls", (
        [{"name": "kernel.msgmax", "value": "1"}], [{"name": "net.ipv4.ip_local_port_range", "value": "1 2"}],
        [{"name": "net.ipv4.tcp_keepalive_time", "value": "1"}, {"name": "kernel.shm_rmid_forced", "value": "0"}],
        [{"name": "net.ipv4.tcp_rmem", "value": "1"}],
    )),
)  # fmt: skip
CONTAINER_ONLY: tuple[tuple[str, tuple[Any, ...]], ...] = (
    ("privileged", (True, False)),
    ("allowPrivilegeEscalation", (True, False)),
    ("capabilities", (
        {"add": ["NET_ADMIN"]}, {"add": ["CHOWN", "SYS_TIME"], "drop": ["ALL"]}, {"drop": ["ALL"]},
        {"add": ["NET_BIND_SERVICE"], "drop": ["ALL"]}, {"drop": ["KILL"]}, {"add": ["KILL"], "drop": ["ALL"]},
    )),
    ("procMount", ("Unmasked", "Default")),
)  # fmt: skip
#: Of a container itself.
CONTAINER: tuple[tuple[str, tuple[Any, ...]], ...] = (
    ("ports", ([{"containerPort": 80, "hostPort": 80}], [{"containerPort": 80}],
               [{"containerPort": 80, "hostPort": 8080}, {"containerPort": 81, "hostPort": 81}])),
    ("livenessProbe", ({"httpGet": {"port": 80, "host": "evil"}}, {"httpGet": {"port": 80}},
                       {"tcpSocket": {"port": 80, "host": "10.0.0.1"}})),
    ("lifecycle", ({"postStart": {"httpGet": {"port": 80, "host": "h"}}}, {"preStop": {"exec": {"command": ["a"]}}},
                   {"preStop": {"tcpSocket": {"port": 80, "host": "h2"}}})),
)  # fmt: skip
ANNOTATIONS = ("runtime/default", "unconfined", "localhost/p")


def kept_and_broken(rng: random.Random, count: int) -> Iterator[Object]:
    """Every value of every field once in each of two pods, then some at random together."""
    single = [(where, key, value) for where, key, values in _fields() for value in values]
    for index in range(count):
        pod = _pod(rng, f"s{index}", hard=index % 2 == 0)
        where, key, value = single[index // 2 % len(single)]
        _put(rng, pod, where, key, value)
        if index >= 2 * len(single):
            for where, key, value in rng.sample(single, rng.randint(0, 3)):
                _put(rng, pod, where, key, value)
        if rng.random() < 0.1:
            name = rng.choice(pod["spec"]["containers"])["name"]
            pod["metadata"]["annotations"] = {f"{_ANNOTATION}{name}": rng.choice(ANNOTATIONS)}
        yield pod


def _fields() -> Iterator[tuple[str, str, tuple[Any, ...]]]:
    for where, fields in (
        ("pod", POD), ("pod context", CONTEXT), ("context", CONTEXT), ("pod context", POD_ONLY),
        ("context", CONTAINER_ONLY), ("container", CONTAINER),
    ):  # fmt: skip
        yield from ((where, key, values) for key, values in fields)


def _pod(rng: random.Random, name: str, *, hard: bool) -> Object:
    containers = [{"name": f"c{index}", "image": "img"} for index in range(rng.choice((1, 1, 2, 3)))]
    spec: Object = {"containers": containers}
    if rng.random() < 0.4:
        spec["initContainers"] = [{"name": "i0", "image": "img"}]
    if hard:
        for one in (*containers, *spec.get("initContainers", ())):
            one["securityContext"] = copy.deepcopy(HARD)
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": spec}


def _put(rng: random.Random, pod: Object, where: str, key: str, value: Any) -> None:
    spec = pod["spec"]
    if where == "pod":
        spec[key] = copy.deepcopy(value)
        return
    if where == "pod context":
        spec.setdefault("securityContext", {})[key] = copy.deepcopy(value)
        return
    containers = [*spec["containers"], *spec.get("initContainers", ())]
    for one in rng.sample(containers, rng.randint(1, len(containers))):
        holder = one if where == "container" else one.setdefault("securityContext", {})
        holder[key] = copy.deepcopy(value)
