"""The least rights that the commands need: which kinds each one reads, and what an answer lacks without them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from msgspec import structs

from kubectl_kres.errors import UsageError
from kubectl_kres.model.kinds import BY_KIND
from kubectl_kres.model.workload_kinds import POD_MAKERS, RETRIED, WORKLOADS
from kubectl_kres.reports.common.system import ReadRight, systems

#: The name of the roles.
NAME = "kubectl-kres"


_GET, _LIST, _BOTH = ("get",), ("list",), ("get", "list")
_POLICIES = (ReadRight("LimitRange", _LIST), ReadRight("ResourceQuota", _LIST))
_NAMED_POLICIES = (ReadRight("LimitRange", _BOTH), ReadRight("ResourceQuota", _BOTH))
_WORKLOADS = tuple(ReadRight(kind, _BOTH) for kind in ("Pod", *WORKLOADS))
_BESIDE = (
    ReadRight("Event", _LIST, "why pods were not created"),
    ReadRight("ControllerRevision", _BOTH, "the template of a StatefulSet's or DaemonSet's pod"),
    ReadRight("PersistentVolumeClaim", _LIST, "which claims of a StatefulSet are there"),
    ReadRight("ResourceClaimTemplate", _GET),
    ReadRight("ClusterResourceQuota", _GET, "what a quota of OpenShift has left that refused pods"),
)
_AUTOSCALERS = ReadRight(
    "HorizontalPodAutoscaler", _LIST, "whether there is room for all that an autoscaler may ask for"
)
_CLASSES = (ReadRight("PriorityClass", _LIST), ReadRight("RuntimeClass", _BOTH), ReadRight("StorageClass", _LIST))
_NAMESPACE = (ReadRight("Namespace", _BOTH, "whether a namespace exists, and its labels"),)
_PODS = (*_POLICIES, *_WORKLOADS, *_BESIDE, *_CLASSES, *_NAMESPACE)


def _rights_of_systems(command: str) -> tuple[ReadRight, ...]:
    """Return the rights of systems for a command, or for whatever explains pods."""
    return tuple(right for system in systems() for right in system.rights.get(command, ()))


def _over_pods(command: str) -> Iterator[ReadRight]:
    """Yield a system's rights for a command, and those for pods where the command looks at them, too."""
    for purpose in filter(None, (system.over_pods.get(command) for system in systems())):
        yield from (structs.replace(right, adds=purpose) for right in (*_ANY_POD, *_DEVICES))


_ANY_POD = (*_PODS, *_rights_of_systems("pods"))
#: What counts where a quota limits devices.
_DEVICES = (ReadRight("ResourceClaim", _LIST), ReadRight("DeviceClass", _LIST))
_OF_PODS = ("explain", "quota", "diff", "qos")
#: Commands that read what others do, and more.
_OVER_OTHERS = ("migrate", "check")
_OWN_COMMANDS = dict.fromkeys(
    name for system in systems() for name in system.rights if name not in {"pods", *_OF_PODS, *_OVER_OTHERS}
)

#: What decides beside nodes and pods: namespaces for affinity, volumes, devices.
_FOR_NODES = (
    "Namespace",
    "PersistentVolume.of/scheduler",
    "StorageClass",
    "CSINode.of/scheduler",
    "CSIDriver.of/scheduler",
    "CSIStorageCapacity.of/scheduler",
    "VolumeAttachment.of/scheduler",
    "ResourceClaim.of/scheduler",
    "DeviceClass.of/scheduler",
)


def _nodes(adds: str) -> tuple[ReadRight, ...]:
    return tuple(ReadRight(kind, _LIST, adds) for kind in _FOR_NODES)


#: Each command with what it reads.
COMMANDS: dict[str, tuple[ReadRight, ...]] = {
    "explain": (
        *_ANY_POD,
        *_NAMED_POLICIES,
        *_rights_of_systems("explain"),
        ReadRight("PersistentVolumeClaim", _BOTH),
        ReadRight("Service", _GET),
        _AUTOSCALERS,
        ReadRight("Node", _BOTH, "which nodes can take a pod that waits for one, and --resize"),
        *_nodes("which nodes can take a pod that waits for one"),
    ),
    "quota": (
        *_ANY_POD,
        *_NAMED_POLICIES,
        *_rights_of_systems("quota"),
        ReadRight("Service", _LIST),
        *_DEVICES,
        _AUTOSCALERS,
        ReadRight("Node", _LIST, "which nodes can take pods that fit (--fit)"),
        *_nodes("which nodes can take pods that fit (--fit)"),
    ),
    **{name: (*_rights_of_systems(name), *_over_pods(name)) for name in _OWN_COMMANDS},
    "diff": _ANY_POD,
    "qos": (*_ANY_POD, ReadRight("Node", _BOTH, "oom_score_adj on the node of a pod")),
}
COMMANDS["simulate"] = (
    *_POLICIES,
    *(ReadRight(kind, _LIST) for kind in ("Pod", *POD_MAKERS)),
    *(ReadRight(kind, _LIST, "what a change does to them") for kind in ("PersistentVolumeClaim", "Service")),
    *(
        ReadRight(kind, _LIST, "what a new pod gets of its class")
        for kind in ("PriorityClass", "RuntimeClass", "StorageClass", "ResourceClaimTemplate")
    ),
    _AUTOSCALERS,
    ReadRight("Node", _LIST, "which nodes can take new pods"),
    *_nodes("which nodes can take new pods"),
    *_rights_of_systems("pods"),
    ReadRight("Namespace", _BOTH, "which pools, policies and standards of Pod Security apply"),
    *(right for name in _OWN_COMMANDS for right in _rights_of_systems(name)),
)
COMMANDS["migrate"] = (*COMMANDS["simulate"], *_rights_of_systems("migrate"))
COMMANDS["check"] = (
    *COMMANDS["quota"],
    *(right for name in _OWN_COMMANDS for right in _rights_of_systems(name)),
    *_rights_of_systems("check"),
)
COMMANDS["overview"] = (
    *(
        structs.replace(right, verbs=_GET if right.names else _LIST)
        for name in ("explain", "quota", *_OWN_COMMANDS)
        for right in COMMANDS[name]
        if "list" in right.verbs or right.names
    ),
    ReadRight("Pod", _GET, "which nodes can take a pod that waits for one"),
)
COMMANDS["timeline"] = (
    *(ReadRight(kind, _LIST) for kind in ("LimitRange", "ResourceQuota", "Pod", *RETRIED)),
    ReadRight("Event", _LIST, "which pods were refused, and when"),
    *(
        ReadRight(kind, _LIST, f"what happened to {BY_KIND[kind].plural}")
        for system in systems()
        for kind in dict.fromkeys((*system.kinds.get("edited", ()), *system.kinds.get("events", ())))
    ),
)
COMMANDS["snapshot"] = tuple(
    structs.replace(right, verbs=_GET if right.names else _LIST)
    for rights in list(COMMANDS.values())
    for right in rights
)
COMMANDS["tui"] = tuple(
    structs.replace(right, verbs=_GET if right.names else ("get", "list", "watch"))
    for rights in list(COMMANDS.values())
    for right in rights
)

#: Commands with ``-w``, which watches what it lists.
WATCHED = ("explain", "quota", "qos", "overview", "timeline", "pools", "claims")
COMMANDS.update(
    (
        name,
        tuple(
            structs.replace(right, verbs=(*right.verbs, "watch"))
            if "list" in right.verbs and not right.names
            else right
            for right in COMMANDS[name]
        ),
    )
    for name in WATCHED
)


def rights(commands: Sequence[str]) -> tuple[ReadRight, ...]:
    """Return what some commands read, each resource once; none: all that answer. Raises UsageError for unknown ones."""
    for name in commands:
        if name not in COMMANDS:
            known = ", ".join(COMMANDS)
            raise UsageError(f"{name} reads nothing of a cluster, or is no command; --rbac takes {known}")
    chosen = commands or [name for name in COMMANDS if name != "tui"]
    merged: dict[tuple[str, str, tuple[str, ...]], ReadRight] = {}
    for right in (right for name in chosen for right in COMMANDS[name]):
        kind = BY_KIND[right.kind]
        key = (kind.group, kind.plural, right.names)
        have = merged.get(key, right)
        verbs = tuple(verb for verb in ("get", "list", "watch") if verb in {*have.verbs, *right.verbs})
        merged[key] = structs.replace(right, verbs=verbs, adds=have.adds if right.adds else "")
    return tuple(merged.values())


def roles(commands: Sequence[str], namespaces: Sequence[str] = ()) -> list[dict[str, Any]]:
    """Return a ClusterRole; with ``namespaces`` a Role in each of them, and a ClusterRole for what stands in none."""
    result = rights(commands)
    fixed: dict[str, list[ReadRight]] = {}
    for right in result:
        if right.namespace:
            fixed.setdefault(right.namespace, []).append(right)
    spread = [right for right in result if not right.namespace and BY_KIND[right.kind].namespaced]
    above = [right for right in result if not BY_KIND[right.kind].namespaced]
    made = [_role("ClusterRole", above if namespaces else [*spread, *above])]
    made += (_role("Role", spread, namespace) for namespace in namespaces)
    made += (_role("Role", rights_, namespace) for namespace, rights_ in fixed.items())
    return [role for role in made if role["rules"]]


def _role(kind: str, rights_: Iterable[ReadRight], namespace: str = "") -> dict[str, Any]:
    namespace_field = {"namespace": namespace} if namespace else {}
    return {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": kind,
        "metadata": {"name": NAME, **namespace_field},
        "rules": [_rule(right) for right in sorted(rights_, key=_order)],
    }


def _order(right: ReadRight) -> tuple[bool, str, str]:
    kind = BY_KIND[right.kind]
    return bool(right.adds), kind.group, kind.plural


def _rule(right: ReadRight) -> dict[str, Any]:
    kind = BY_KIND[right.kind]
    named = {"resourceNames": list(right.names)} if right.names else {}
    return {"apiGroups": [kind.group], "resources": [kind.plural], **named, "verbs": list(right.verbs)}


def lines(made: Iterable[dict[str, Any]], commands: Sequence[str]) -> Iterator[str]:
    """Yield the roles as YAML, each rule with what it is for."""
    words = {(right.kind, right.names): right.adds for right in rights(commands)}
    by_resource = {(BY_KIND[kind].group, BY_KIND[kind].plural, names): text for (kind, names), text in words.items()}
    yield f"# The least that kubectl kres {', '.join(commands) or 'needs'} reads: GETs only, no Secrets."
    yield "# Without a rule marked + an answer tells less; without any other one it is partial, and says so."
    groups = " and ".join(system.group for system in systems() if system.group)
    yield f"# Rules of {groups} do nothing where those are not installed."
    if any(right.kind.endswith("AdmissionPolicy") for right in rights(commands)):
        yield "# + what policies take parameters from (paramKind), get by name, list by selector: not granted here."
    for role in made:
        meta = role["metadata"]
        yield "---"
        yield f"apiVersion: {role['apiVersion']}"
        yield f"kind: {role['kind']}"
        yield "metadata:"
        yield from (f"  {key}: {value}" for key, value in meta.items())
        yield "rules:"
        for rule in role["rules"]:
            names = tuple(rule.get("resourceNames", ()))
            adds = by_resource[rule["apiGroups"][0], rule["resources"][0], names]
            yield f'- apiGroups: ["{rule["apiGroups"][0]}"]' + (f"  # + {adds}" if adds else "")
            yield f"  resources: [{rule['resources'][0]}]"
            if names:
                yield f"  resourceNames: [{', '.join(names)}]"
            yield f"  verbs: [{', '.join(rule['verbs'])}]"
