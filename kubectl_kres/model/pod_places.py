"""Paths of pod templates in kinds of other projects, beside ``spec.template``, and how many pods each makes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct

from kubectl_kres.model.kinds import OWN_NAMES, served_kind_name
from kubectl_kres.model.objects import items, mapping


class PodPlace(Struct, frozen=True):
    """Where a template stands; ``*`` is every element of a list or every value of a map.

    counts: paths of numbers that are multiplied, from the element that the last ``*`` stands for, or from the object
    if there is none; what is absent is 1. container: the place holds one container, not a template.
    """

    path: tuple[str, ...]
    counts: tuple[tuple[str, ...], ...] = ()
    container: bool = False
    less: int = 0


#: Names of fields as names of parts.
_WORDS = {
    "headGroupSpec": "head",
    "submitterPodTemplate": "submitter",
    "leaderTemplate": "leader",
    "workerTemplate": "worker",
}
_REPLICAS = (("replicas",),)
#: As a Deployment has its template.
_ALONE = (PodPlace(("spec", "template"), (("spec", "replicas"),)),)


def _ray(*before: str) -> tuple[PodPlace, ...]:
    return (
        PodPlace((*before, "headGroupSpec", "template")),
        PodPlace((*before, "workerGroupSpecs", "*", "template"), _REPLICAS),
    )


def _kubeflow(replicas: str) -> tuple[PodPlace, ...]:
    return (PodPlace(("spec", replicas, "*", "template"), _REPLICAS),)


def _argo(*before: str) -> tuple[PodPlace, ...]:
    return tuple(PodPlace((*before, "templates", "*", key), container=True) for key in ("container", "script"))


#: API group and kind to the places of its templates.
PLACES: Mapping[tuple[str, str], tuple[PodPlace, ...]] = {
    ("jobset.x-k8s.io", "JobSet"): (
        PodPlace(
            ("spec", "replicatedJobs", "*", "template", "spec", "template"),
            (("replicas",), ("template", "spec", "parallelism")),
        ),
    ),
    ("leaderworkerset.x-k8s.io", "LeaderWorkerSet"): (
        PodPlace(("spec", "leaderWorkerTemplate", "leaderTemplate"), (("spec", "replicas"),)),
        PodPlace(
            ("spec", "leaderWorkerTemplate", "workerTemplate"),
            (("spec", "replicas"), ("spec", "leaderWorkerTemplate", "size")),
            less=1,
        ),
    ),
    ("ray.io", "RayCluster"): _ray("spec"),
    ("ray.io", "RayJob"): (*_ray("spec", "rayClusterSpec"), PodPlace(("spec", "submitterPodTemplate"))),
    ("ray.io", "RayService"): _ray("spec", "rayClusterConfig"),
    ("batch.volcano.sh", "Job"): (PodPlace(("spec", "tasks", "*", "template"), _REPLICAS),),
    ("argoproj.io", "Rollout"): _ALONE,
    ("apps.kruise.io", "CloneSet"): _ALONE,
    ("apps.openshift.io", "DeploymentConfig"): _ALONE,
    **{
        ("kubeflow.org", f"{name}Job"): _kubeflow(replicas)
        for name, replicas in (
            ("PyTorch", "pytorchReplicaSpecs"),
            ("TF", "tfReplicaSpecs"),
            ("MPI", "mpiReplicaSpecs"),
            ("XGBoost", "xgbReplicaSpecs"),
            ("Paddle", "paddleReplicaSpecs"),
        )
    },
    ("argoproj.io", "Workflow"): _argo("spec"),
    ("argoproj.io", "WorkflowTemplate"): _argo("spec"),
    ("argoproj.io", "ClusterWorkflowTemplate"): _argo("spec"),
    ("argoproj.io", "CronWorkflow"): _argo("spec", "workflowSpec"),
}
#: Kinds whose templates are for others to run: they make no pods themselves, or none before their schedule says so.
_LENDING = frozenset({"WorkflowTemplate", "ClusterWorkflowTemplate", "CronWorkflow"})
#: Kinds whose steps follow each other.
_WORKFLOWS = _LENDING | {"Workflow"}
#: API groups, and kinds of theirs that make no pods; None: all of them.
_WITHOUT_PODS: Mapping[str, frozenset[str] | None] = {
    "bitnami.com": frozenset({"SealedSecret"}),
    "cert-manager.io": frozenset({"Issuer", "ClusterIssuer"}),
    "cilium.io": frozenset({"CiliumNetworkPolicy", "CiliumClusterwideNetworkPolicy"}),
    "external-secrets.io": None,
    "monitoring.coreos.com": frozenset(
        {"AlertmanagerConfig", "PodMonitor", "Probe", "PrometheusRule", "ScrapeConfig", "ServiceMonitor"}
    ),
    "networking.istio.io": None,
    "projectcalico.org": frozenset({"GlobalNetworkPolicy", "GlobalNetworkSet", "NetworkPolicy", "NetworkSet"}),
    "route.openshift.io": None,
    "secrets-store.csi.x-k8s.io": None,
    "security.istio.io": None,
    "traefik.io": None,
}
#: Fields of containers that Argo knows and pods do not.
_ARGO_ALONE = frozenset({"source", "mirrorVolumeMounts"})
KINDS = frozenset(OWN_NAMES.get(kind, kind) for _, kind in PLACES)


class PodPart(Struct, frozen=True):
    """One template of an object: the name of the part, its path, the template, and how many pods it makes.

    The name is empty of what has no other templates.
    """

    name: str
    path: tuple[str | int, ...]
    template: Mapping[str, Any]
    count: int

    def called(self, name: str) -> str:
        """Return what the part of an object of this name is called."""
        return f"{name}-{self.name}" if self.name else name


def parts_of(raw: Mapping[str, Any]) -> tuple[PodPart, ...] | None:
    """Return the templates of an object as sent; None for a kind that is not in the table."""
    pod_places = PLACES.get((_group(raw), served_kind_name(str(raw.get("kind", "")))))
    if pod_places is None:
        return None
    return tuple(part for pod_place in pod_places for part in _parts_at_path(raw, pod_place))


def unique_kind_name(raw: Mapping[str, Any]) -> str:
    """Return the kind of an object, by a name of its own where a built-in kind is called alike."""
    kind = str(raw.get("kind", ""))
    return OWN_NAMES.get(kind, kind) if has_places(_group(raw), kind) else kind


def is_followed(raw: Mapping[str, Any]) -> bool:
    """Return whether all pods of an object run side by side and their number is known.

    Not of a workflow, whose steps follow each other, of Volcano's tasks that wait for others, nor of what is suspended.
    """
    if not parts_of(raw) or is_suspended(raw) or raw.get("kind") in _WORKFLOWS:
        return False
    return not any(task.get("dependsOn") for task in items(mapping(raw, "spec"), "tasks"))


def is_suspended(raw: Mapping[str, Any]) -> bool:
    """Return whether an object with parts makes no pods before somebody resumes it."""
    spec = mapping(raw, "spec")
    return bool(parts_of(raw)) and bool(spec.get("suspend") or mapping(spec, "runPolicy").get("suspend"))


def makes_none(raw: Mapping[str, Any]) -> bool:
    """Return whether an object with parts makes no pods by itself, so that only its next ones can be evaluated."""
    return bool(parts_of(raw)) and (is_suspended(raw) or raw.get("kind") in _LENDING)


def has_places(group: str, kind: str) -> bool:
    """Return whether it is in the table where a kind of a group holds its templates."""
    return (group, served_kind_name(kind)) in PLACES


def is_of_others(group: str) -> bool:
    """Return whether an API group is not Kubernetes' own."""
    return "." in group and not group.endswith(".k8s.io")


def may_make_pods(group: str, kind: str) -> bool:
    """Return whether a kind that is in no table may make pods: one that is neither Kubernetes' own nor known to make
    none.
    """
    without = _WITHOUT_PODS.get(group, frozenset())
    return is_of_others(group) and without is not None and kind not in without


def _group(raw: Mapping[str, Any]) -> str:
    return str(raw.get("apiVersion", "")).rpartition("/")[0]


def _parts_at_path(raw: Mapping[str, Any], pod_place: PodPlace) -> Iterator[PodPart]:
    for path, nodes in _walk_path(raw, pod_place.path, (), ()):
        template = nodes[-1]
        if not isinstance(template, Mapping):
            continue
        element = _element(raw, pod_place, nodes)
        if pod_place.container:
            template = {"spec": _argo_spec(template, element if isinstance(element, Mapping) else {})}
        elif not isinstance(template.get("spec"), Mapping) or "containers" not in template["spec"]:
            continue
        yield PodPart(_name(path, element), path, template, _count(raw, element, pod_place))


def _argo_spec(main: Mapping[str, Any], template: Mapping[str, Any]) -> dict[str, Any]:
    """Return the pod of one of Argo's templates, without what its controller adds."""
    spec = {"containers": [{"name": "main", **_container_fields(main)}, *_containers(template, "sidecars")]}
    before = _containers(template, "initContainers")
    return {**spec, **({"initContainers": before} if before else {}), "restartPolicy": "Never"}


def _containers(template: Mapping[str, Any], key: str) -> list[dict[str, Any]]:
    value = template.get(key)
    return [_container_fields(item) for item in (value if isinstance(value, list) else ()) if isinstance(item, Mapping)]


def _container_fields(container: Mapping[str, Any]) -> dict[str, Any]:
    """Of a container of Argo's what a pod has, too."""
    return {
        key: value for key, value in container.items() if key not in _ARGO_ALONE and not (key == "name" and not value)
    }


def _walk_path(
    node: Any, path: tuple[str, ...], done: tuple[str | int, ...], nodes: tuple[Any, ...]
) -> Iterator[tuple[tuple[str | int, ...], tuple[Any, ...]]]:
    if not path:
        yield done, nodes
        return
    head, rest = path[0], path[1:]
    steps: list[tuple[str | int, Any]] = []
    if head == "*" and isinstance(node, list):
        steps = list(enumerate(node))
    elif head == "*" and isinstance(node, Mapping):
        steps = list(node.items())
    elif isinstance(node, Mapping) and head in node:
        steps = [(head, node[head])]
    for step, value in steps:
        yield from _walk_path(value, rest, (*done, step), (*nodes, value))


def _element(raw: Mapping[str, Any], pod_place: PodPlace, nodes: tuple[Any, ...]) -> Any:
    if "*" not in pod_place.path:
        return raw
    last = len(pod_place.path) - 1 - pod_place.path[::-1].index("*")
    return nodes[last]


def _count(raw: Mapping[str, Any], element: Any, pod_place: PodPlace) -> int:
    if not pod_place.counts:
        return 1
    numbers = [_number(element if isinstance(element, Mapping) else raw, path) for path in pod_place.counts]
    if pod_place.less:
        numbers[-1] = max(0, numbers[-1] - pod_place.less)
    total = 1
    for number in numbers:
        total *= number
    return total


def _number(node: Any, path: tuple[str, ...]) -> int:
    for key in path:
        node = node.get(key) if isinstance(node, Mapping) else None
    return node if isinstance(node, int) and not isinstance(node, bool) and node >= 0 else 1


def _name(path: tuple[str | int, ...], element: Any) -> str:
    """Return what tells the part from others: the name of its element, or the field that it stands in; empty if none
    does.
    """
    if isinstance(element, Mapping):
        for key in ("name", "groupName"):
            if isinstance(element.get(key), str) and element[key] and "metadata" not in element:
                return str(element[key]).lower()
    for step in reversed(path):
        if isinstance(step, str) and step not in {"template", "spec", "container", "script"}:
            return _WORDS.get(step, step.lower())
    return ""
