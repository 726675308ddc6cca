"""A pod pruned to what resources and quotas depend on, its values by path, and the signature that equal pods share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import structs

from kubectl_kres.admission.limitrange import ANNOTATION
from kubectl_kres.admission.request.new_pod import shown_claims, shown_policies
from kubectl_kres.errors import QuantityError
from kubectl_kres.model.content_key import content_key
from kubectl_kres.model.objects import ResourceList
from kubectl_kres.model.pod import Container, Pod, ResourceRequirements
from kubectl_kres.quantity import stored_quantity
from kubectl_kres.reports.common.analysis import PodManifest


def written_pod(pod: Pod) -> dict[str, Any]:
    """Return the counterpart of ``admission.request.new_pod.stored_pod``: the same shape, quantities as they stand."""
    metadata: dict[str, Any] = {"name": pod.metadata.name or pod.metadata.generate_name}
    annotation = (pod.metadata.annotations or {}).get(ANNOTATION)
    if annotation is not None:
        metadata["annotations"] = {ANNOTATION: annotation}
    spec: dict[str, Any] = {}
    if pod.spec.resources is not None:
        spec["resources"] = _resources(pod.spec.resources)
    if pod.spec.overhead:
        spec["overhead"] = _texts(pod.spec.overhead)
    if pod.spec.priority_class_name:
        spec["priorityClassName"] = pod.spec.priority_class_name
    for key, group in (("containers", pod.spec.containers), ("initContainers", pod.spec.init_containers)):
        if group:
            spec[key] = [_container(container) for container in group]
    result = {"metadata": metadata, "spec": spec}
    return {**result, "status": {"qosClass": pod.status.qos_class}} if pod.status.qos_class else result


def _container(container: Container) -> dict[str, Any]:
    shown: dict[str, Any] = {"name": container.name}
    if container.restart_policy:
        shown["restartPolicy"] = container.restart_policy
    resources = _resources(container.resources) if container.resources is not None else {}
    if resources:
        shown["resources"] = resources
    if container.resize_policy:
        shown["resizePolicy"] = shown_policies(container.resize_policy)
    return shown


def _resources(resources: ResourceRequirements) -> dict[str, Any]:
    sides = (("limits", resources.limits), ("requests", resources.requests))
    shown: dict[str, Any] = {side: _texts(values) for side, values in sides if values}
    if resources.claims:
        shown["claims"] = shown_claims(resources.claims)
    return shown


def _texts(values: ResourceList) -> dict[str, str]:
    return {name: "0" if value is None else str(value) for name, value in values.items()}


def values_of(pod: Mapping[str, Any]) -> dict[tuple[str, str, str, str], Any]:
    """Return every request and limit of a pruned pod: list, container, side and resource to the number behind the text.

    Containers go by name, since injectors change their positions; a text that is no quantity stands for itself.
    """
    spec = pod["spec"]
    holders = [("spec", "", spec.get("resources") or {})]
    holders += [
        (key, item.get("name", ""), item.get("resources") or {})
        for key in ("containers", "initContainers")
        for item in spec.get(key) or ()
    ]
    return {
        (key, name, side, resource): _number(text)
        for key, name, resources in holders
        for side in ("limits", "requests")
        for resource, text in (resources.get(side) or {}).items()
    }


def _number(text: str) -> Any:
    try:
        return stored_quantity(text)
    except QuantityError:
        return text


def signature(manifest: PodManifest, live: Pod) -> tuple[bytes, bytes]:
    """Return the part of a pod that admission looks at, without its name: what would be sent, on whatever node; the
    live values.
    """
    spec = live.spec
    result = (spec.containers, spec.init_containers, spec.resources)
    return content_key(structs.replace(manifest.pod.spec, node_name="")), content_key(result)


def instance_key(live: Pod) -> bytes:
    """Return the same of a pod whose template is known: the fields that do not come from it, and the live values."""
    spec = live.spec
    result = (spec.containers, spec.init_containers, spec.resources)
    return content_key((spec.affinity, spec.active_deadline_seconds, result))
