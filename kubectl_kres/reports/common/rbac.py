"""The least rights that the commands need: which kinds each one reads, and what an answer lacks without them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from kubectl_kres.errors import UsageError
from kubectl_kres.model.kinds import BY_KIND, TEKTON
from kubectl_kres.reports.policing.needs import DECIDING
from kubectl_kres.reports.tekton.config import DEFINITION
from kubectl_kres.tekton.base.config import DEFAULTS, FLAGS, INFO, NAMESPACE

#: The name of the roles.
NAME = "kubectl-kres"


class Right(NamedTuple):
    """A kind and the verbs that it is read with. ``adds``: what answers lack without it; empty: they are partial.

    ``names``: only objects of these names, in ``namespace``.
    """

    kind: str
    verbs: tuple[str, ...]
    adds: str = ""
    names: tuple[str, ...] = ()
    namespace: str = ""


_GET, _LIST, _BOTH = ("get",), ("list",), ("get", "list")
_OWN = ("Deployment", "StatefulSet", "DaemonSet", "CronJob", "ReplicationController", "PodTemplate")

_POLICIES = (Right("LimitRange", _LIST), Right("ResourceQuota", _LIST))
_NAMED_POLICIES = (Right("LimitRange", _BOTH), Right("ResourceQuota", _BOTH))
_WORKLOADS = (
    *(Right(kind, _BOTH) for kind in ("Pod", "ReplicaSet", "Job")),
    *(Right(kind, _BOTH) for kind in _OWN),
)
_BESIDE = (
    Right("Event", _LIST, "why pods were not created"),
    Right("ControllerRevision", _GET, "the template of a StatefulSet's or DaemonSet's pod"),
    Right("PersistentVolumeClaim", _LIST, "which claims of a StatefulSet are there"),
)
_CLASSES = (Right("PriorityClass", _LIST), Right("RuntimeClass", _GET), Right("StorageClass", _LIST))
_NAMESPACE = (Right("Namespace", _GET, "whether a namespace exists, and its labels"),)
_TEKTON = (
    *(Right(kind, _BOTH) for kind in ("Task", "TaskRun", "Pipeline", "PipelineRun")),
    Right("StepAction", _GET, "what runs in a step that refers to one"),
    Right("ConfigMap", _GET, "how Tekton is configured", (INFO, DEFAULTS, FLAGS), NAMESPACE),
    Right("CustomResourceDefinition", _GET, "whether Tekton is installed", (DEFINITION,)),
)
_POOLS = (
    Right("ResourcePool", _BOTH, "what a pool has left"),
    Right("ResourcePoolClaim", _BOTH, "who else claims of a pool"),
)
_SHARED = tuple(
    Right(kind, _LIST, "Capsule's quotas over several namespaces")
    for kind in ("GlobalResourceQuota", "CustomQuota", "GlobalCustomQuota")
)
_ELSEWHERE = (
    *(Right(kind, _LIST, "which webhooks and policies also decide") for kind in sorted(DECIDING)),
    Right("ServiceAccount", _GET, "whether a pod's service account is there"),
)
_PODS = (*_POLICIES, *_WORKLOADS, *_BESIDE, *_CLASSES, *_NAMESPACE, *_TEKTON, *_POOLS, *_ELSEWHERE)

#: Each command with what it reads.
COMMANDS: dict[str, tuple[Right, ...]] = {
    "explain": (
        *_PODS,
        *_NAMED_POLICIES,
        *_SHARED,
        Right("PersistentVolumeClaim", _BOTH),
        Right("Service", _GET),
        Right("Node", _BOTH, "what nodes have, for a pod that waits for one and for --resize"),
    ),
    "quota": (*_PODS, *_NAMED_POLICIES, *_SHARED, Right("Service", _LIST), Right("RuntimeClass", _BOTH)),
    "claims": (
        *(Right(kind, _BOTH) for kind in ("ResourcePool", "ResourcePoolClaim")),
        Right("ResourceQuota", _BOTH, "the quota that a pool keeps in a namespace"),
        Right("Namespace", _BOTH, "which namespaces a pool selects"),
    ),
    "pools": (
        *(Right(kind, _BOTH) for kind in ("ResourcePool", "ResourcePoolClaim")),
        Right("ResourceQuota", _LIST, "the quotas that a pool keeps"),
        Right("Namespace", _LIST, "which namespaces a pool selects"),
    ),
    "diff": _PODS,
    "qos": (*_PODS, Right("Node", _GET, "oom_score_adj on the node of a pod")),
}
COMMANDS["snapshot"] = tuple(
    right._replace(verbs=_GET if right.names else _LIST) for rights in list(COMMANDS.values()) for right in rights
)
COMMANDS["tui"] = tuple(
    right._replace(verbs=_GET if right.names else ("get", "list", "watch"))
    for rights in list(COMMANDS.values())
    for right in rights
)


def rights(commands: Sequence[str]) -> tuple[Right, ...]:
    """What some commands read, each kind once; none: all commands that answer. Raises UsageError for an unknown one."""
    for name in commands:
        if name not in COMMANDS:
            known = ", ".join(COMMANDS)
            raise UsageError(f"{name} reads nothing of a cluster, or is no command; --rbac takes {known}")
    chosen = commands or [name for name in COMMANDS if name != "tui"]
    merged: dict[tuple[str, tuple[str, ...]], Right] = {}
    for right in (right for name in chosen for right in COMMANDS[name]):
        key = (right.kind, right.names)
        have = merged.get(key, right)
        verbs = tuple(verb for verb in ("get", "list", "watch") if verb in {*have.verbs, *right.verbs})
        merged[key] = right._replace(verbs=verbs, adds=have.adds and right.adds)
    return tuple(merged.values())


def roles(commands: Sequence[str], namespaces: Sequence[str] = ()) -> list[dict[str, Any]]:
    """A ClusterRole; with ``namespaces`` a Role in each of them, and a ClusterRole for what stands in none."""
    found = rights(commands)
    fixed: dict[str, list[Right]] = {}
    for right in found:
        if right.namespace:
            fixed.setdefault(right.namespace, []).append(right)
    spread = [right for right in found if not right.namespace and BY_KIND[right.kind].namespaced]
    above = [right for right in found if not BY_KIND[right.kind].namespaced]
    made = [_role("ClusterRole", above if namespaces else [*spread, *above])]
    made += (_role("Role", spread, namespace) for namespace in namespaces)
    made += (_role("Role", rights_, namespace) for namespace, rights_ in fixed.items())
    return [role for role in made if role["rules"]]


def _role(kind: str, rights_: Iterable[Right], namespace: str = "") -> dict[str, Any]:
    place = {"namespace": namespace} if namespace else {}
    return {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": kind,
        "metadata": {"name": NAME, **place},
        "rules": [_rule(right) for right in sorted(rights_, key=_order)],
    }


def _order(right: Right) -> tuple[bool, str, str]:
    kind = BY_KIND[right.kind]
    return bool(right.adds), kind.group, kind.plural


def _rule(right: Right) -> dict[str, Any]:
    kind = BY_KIND[right.kind]
    named = {"resourceNames": list(right.names)} if right.names else {}
    return {"apiGroups": [kind.group], "resources": [kind.plural], **named, "verbs": list(right.verbs)}


def lines(made: Iterable[dict[str, Any]], commands: Sequence[str]) -> Iterator[str]:
    """The roles as YAML, each rule with what it is for."""
    words = {(right.kind, right.names): right.adds for right in rights(commands)}
    by_resource = {(BY_KIND[kind].group, BY_KIND[kind].plural, names): text for (kind, names), text in words.items()}
    yield f"# The least that kubectl kres {', '.join(commands) or 'needs'} reads: GETs only, no Secrets."
    yield "# Without a rule marked + an answer tells less; without any other one it is partial, and says so."
    yield f"# Rules of {TEKTON} and capsule.clastix.io do nothing where those are not installed."
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
