"""Redaction: the fields of an object that go into a snapshot, field managers among them.

Of metadata: annotations that answers need, managers of resource fields. Of a pod that is read in detail: what decides,
not what names images, paths and ports. The rest needs no redaction: the structs of ``model/`` have no field for values
of environment variables, data of Secrets and ConfigMaps, arguments and the like. Those of a system may have: it takes
them out itself.

Trees of field managers are two thirds of what a server sends, and hardly any of them is kept: they are read as text,
and decoded where something in it may be kept.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache, lru_cache
from typing import Any, TypeVar

import msgspec
from msgspec import MsgspecError, Raw, Struct, json, structs

from kubectl_kres.model import objects
from kubectl_kres.model.pod import DetailedContainer, DetailedSpec, Pod, PodSpec, PodVolume, Probe, claim_template_in

#: Keys of ``fieldsV1`` that resource values stand under: of pods and what was applied as such, policy, Tekton, Capsule;
#: and those that say which pool a claim is for, and which namespaces a pool.
FIELDS = frozenset(
    {
        "f:claim",
        "f:computeResources",
        "f:default",
        "f:defaultRequest",
        "f:defaults",
        "f:hard",
        "f:kubectl.kubernetes.io/last-applied-configuration",
        "f:limits",
        "f:max",
        "f:maxLimitRequestRatio",
        "f:min",
        "f:overhead",
        "f:pool",
        "f:quota",
        "f:requests",
        "f:resourceQuotas",
        "f:resources",
        "f:scopeSelector",
        "f:scopes",
        "f:selectors",
    }
)
#: What stands in the text of a tree that has one of them, unless it is written with escapes.
_ANY = re.compile(f'"f:(?:{"|".join(re.escape(key.removeprefix("f:")) for key in sorted(FIELDS))})"'.encode())
_ESCAPE = b"\\u"
_ENCODER = msgspec.json.Encoder(order="deterministic")


class ManagerText(objects.ManagedFields, frozen=True):
    """A manager whose tree is the text that was sent, empty if there is none."""

    fields_v1: Raw = Raw()


class ManagersText(objects.ManagedMetadata, frozen=True):
    """Metadata with the managers as text."""

    managed_fields: tuple[ManagerText, ...] | None = None


@cache
def with_text(struct: Any) -> Any:
    """Return the same struct with its managers as text, where it has any."""
    metadata = next((field.type for field in structs.fields(struct) if field.name == "metadata"), None)
    if metadata is not objects.ManagedMetadata:
        return struct
    own_fields = ("metadata", ManagersText, ManagersText())
    return msgspec.defstruct(struct.__name__, [own_fields], bases=(struct,), frozen=True)


def kept_fields(entry: objects.ManagedFields) -> Any:
    """Return the part of an entry's tree that a snapshot keeps; None: nothing."""
    tree = entry.fields_v1
    if isinstance(tree, Raw):
        text = bytes(tree)
        return _kept_text(text) if _ANY.search(text) or _ESCAPE in text else None
    return _resource_fields(tree) or None


@lru_cache(1000)
def _kept_text(text: bytes) -> Raw | None:
    """As text. Pods of a workload come one after the other, and their trees are equal."""
    result = _resource_fields(msgspec.json.decode(text))
    return Raw(_ENCODER.encode(result)) if result else None


def _resource_fields(tree: Any) -> dict[str, Any]:
    result: dict[str, Any] = {}
    # Most of it are leaves, which are empty.
    for key, below in tree.items() if isinstance(tree, dict) else ():
        if key in FIELDS:
            result[key] = below
        elif below and (part := _resource_fields(below)):
            result[key] = part
    return result


#: Keys of a security context whose texts are chosen from a list, or are names that decide.
_DECIDING = frozenset({
    *("privileged", "allowPrivilegeEscalation", "capabilities", "procMount", "runAsNonRoot", "runAsUser"),
    *("seLinuxOptions", "appArmorProfile", "seccompProfile", "windowsOptions", "sysctls", "hostProcess"),
    *("type", "add", "drop", "name", "runAsGroup", "fsGroup", "readOnlyRootFilesystem"),
})  # fmt: skip

#: Of the claim of an ephemeral volume.
_OF_CLAIMS = ("accessModes", "resources", "storageClassName", "volumeAttributesClassName")
_PULLS = ("Always", "IfNotPresent", "Never")
_SYSCTL = re.compile(r"(kernel|net|fs|user|vm)[./]")

#: Annotations that are kept. last-applied-configuration of a pod is kept, too, cut down to what the structs hold.
ANNOTATIONS = frozenset(
    {
        "deployment.kubernetes.io/revision",
        "kueue.x-k8s.io/pod-group-total-count",
        "kubectl.kubernetes.io/restartedAt",
        "kustomize.toolkit.fluxcd.io/reconcile",
        "kustomize.toolkit.fluxcd.io/ssa",
        "kubernetes.io/limit-ranger",
        objects.RELEASE,
        "pipeline.tekton.dev/release",
        "projectcapsule.dev/release",
        "storageclass.beta.kubernetes.io/is-default-class",
        "storageclass.kubernetes.io/is-default-class",
        "volume.beta.kubernetes.io/storage-class",
        "vpaObservedContainers",
        "vpaUpdates",
    }
)
PREFIXES = ("quota.capsule.clastix.io/",)
LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"

#: Annotations of injectors: that they are there is kept, what they say is not (Vault's hold templates).
INJECTORS = (
    "dapr.io/",
    "instrumentation.opentelemetry.io/",
    "linkerd.io/",
    "sidecar.istio.io/",
    "vault.hashicorp.com/",
)

#: Attributes on the way from an object to any metadata in it.
PARTS = ("metadata", "spec", "data", "template", "job_template", "volume_claim_templates")

T = TypeVar("T", bound=Struct)


def redact(item: T) -> T:
    """Return the object with only what a snapshot keeps of each metadata in it; the object itself if that is all
    of it.
    """
    changes: dict[str, Any] = _redact_spec(item) if isinstance(item, DetailedSpec) else {}
    if isinstance(item, PodSpec) and changes == {} and item.volumes:
        changes["volumes"] = tuple(
            PodVolume(volume.name, _volume(number, objects.to_wire(volume)).get("ephemeral"))
            for number, volume in enumerate(item.volumes)
        )
    if isinstance(item, objects.StorageClass) and item.allow_volume_expansion is None:
        # Absent in a snapshot means that it was not asked for.
        changes["allow_volume_expansion"] = False
    if isinstance(item, Pod) and item.status.nominated_node_name:
        # That a node was chosen matters, not which.
        changes["status"] = structs.replace(item.status, nominated_node_name="redacted")
    for part in _list_parts(type(item)):
        result = getattr(item, part)
        if isinstance(result, Struct):
            kept = _metadata(result) if isinstance(result, objects.Metadata) else redact(result)
            if kept is not result:
                changes[part] = kept
        elif isinstance(result, tuple):
            changes[part] = tuple(map(redact, result))
    return structs.replace(item, **changes) if changes else item


@cache
def _list_parts(struct: type[Struct]) -> tuple[str, ...]:
    return tuple(part for part in PARTS if part in struct.__struct_fields__)


def _metadata(metadata: objects.Metadata) -> objects.Metadata:
    changes: dict[str, Any] = {}
    if metadata.annotations is not None:
        kept = dict(_annotations(metadata.annotations))
        if kept != metadata.annotations:
            changes["annotations"] = kept or None
    if isinstance(metadata, objects.ManagedMetadata) and metadata.managed_fields is not None:
        changes["managed_fields"] = tuple(filter(None, map(_reduce_managed_fields, metadata.managed_fields))) or None
    return structs.replace(metadata, **changes) if changes else metadata


def _annotations(annotations: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    for key, text in annotations.items():
        if key in ANNOTATIONS or key in objects.ARGO or key.startswith(PREFIXES):
            yield key, text
        elif key.startswith(INJECTORS):
            yield key, ""
        elif key == LAST_APPLIED and (pod := _applied_pod(text)):
            yield key, pod


def _applied_pod(text: str) -> str:
    """Return the applied pod with what ``model.pod`` holds of it, so no values of variables; empty if the text is no
    pod.
    """
    try:
        pod = json.decode(text, type=Pod)
    except (MsgspecError, UnicodeError):
        return ""
    if pod.kind != "Pod":
        return ""
    return json.encode(structs.replace(pod, metadata=objects.Metadata(name=pod.metadata.name))).decode()


def _reduce_managed_fields(entry: objects.ManagedFields) -> objects.ManagedFields | None:
    """Return the entry with its resource fields; None if it owns none and is no tool's that keeps the object as
    it is.
    """
    fields = kept_fields(entry)
    if fields is None and not objects.manager_of(entry.manager):
        return None
    return objects.ManagedFields(entry.manager, entry.operation, entry.time, entry.subresource, fields)


def _redact_spec(spec: DetailedSpec) -> dict[str, Any]:
    """Return the fields of the spec that are kept in another way than they stand."""
    volumes = spec.volumes
    return {
        "containers": _containers(spec.containers),
        "init_containers": _containers(spec.init_containers),
        "security_context": deciding_parts(spec.security_context),
        "volumes": tuple(_volume(number, volume) for number, volume in enumerate(volumes))
        if volumes is not None
        else None,
        "node_selector": None,
        "tolerations": None,
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
        security_context=deciding_parts(container.security_context),
        ports=[_port(port) for port in container.ports] if isinstance(container.ports, list) else None,
        **{name: _probe(getattr(container, name)) for name in probes},
    )


def _probe(probe: Probe | None) -> Probe | None:
    """Return a probe that keeps only that there is one, and the hosts that it names."""
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
    """Its kind; of the claim that is made for the pod what decides and counts, and the name that it is called by."""
    kinds = volume if isinstance(volume, Mapping) else {}
    template = claim_template_in(kinds)
    if template is not None:
        spec = {key: template[key] for key in _OF_CLAIMS if key in template}
        return {"name": kinds.get("name", ""), "ephemeral": {"volumeClaimTemplate": {"spec": spec}}}
    named: dict[str, Any] = {key: {} for key, value in kinds.items() if value is not None and key != "name"}
    return {"name": f"volume-{number}", **named}


def deciding_parts(value: Any) -> Any:
    """Return a security context with the fields that checks look at."""
    if isinstance(value, Mapping):
        return {
            key: deciding_parts(inner)
            for key, inner in value.items()
            if key in _DECIDING and (key != "name" or _SYSCTL.match(str(inner)))
        }
    return [deciding_parts(item) for item in value] if isinstance(value, list) else value
