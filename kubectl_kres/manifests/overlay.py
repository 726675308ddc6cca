"""Policy objects of an input laid over a store, and the workloads that are left."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec import structs

from kubectl_kres.admission.quota.quota_admission import resource_of
from kubectl_kres.documents.scalar import Number
from kubectl_kres.errors import InputError
from kubectl_kres.manifests.manifest import Manifest
from kubectl_kres.manifests.read import raise_faults
from kubectl_kres.manifests.typed_manifest import decode_manifest, kind_of, systems
from kubectl_kres.model import kinds
from kubectl_kres.model.admission_objects import kind_name, may_be_read, parameter_of
from kubectl_kres.model.kinds import Kind
from kubectl_kres.model.pod_places import parts_of, unique_kind_name
from kubectl_kres.model.quota_objects import CountedObject
from kubectl_kres.model.workload import Workload, template_in
from kubectl_kres.model.workload_kinds import WORKLOADS
from kubectl_kres.store.store import Store

#: Kinds of every cluster that quotas merely count.
_PLAIN = frozenset({"ConfigMap", "Secret", "ServiceAccount"})
#: Kinds of which quotas count more than the number.
_MEASURED = frozenset({"PersistentVolumeClaim", "Service", "ResourceClaim"})
#: What makes pods, and so is evaluated by policy instead of being policy.
MAKES_PODS = frozenset({"Pod", *WORKLOADS}).union(*(system.makes_pods for system in systems()))


def overlay(
    store: Store,
    manifests: Sequence[Manifest],
    *,
    namespace: str = "default",
    explicit: bool = False,
    faults: list[InputError] | None = None,
) -> list[Manifest]:
    """Return the workloads among the manifests in their order, each with its namespace; the policy objects go into the
    store.

    A policy object replaces the store's one of the same name. ``namespace`` is for objects that name none;
    ``explicit``: it was asked for with ``-n``, and an object that names another one is an error. Objects of unknown
    kinds without a pod template are left out. A policy object with ``generateName`` gets a number for a suffix. faults:
    gets what is wrong with single objects, which are left out, too; not given: InputError or InputErrors is raised.
    Source: cli-runtime resource/visitor.go RequireNamespace.
    """
    input_errors: list[InputError] = [] if faults is None else faults
    workloads: list[Manifest] = []
    for index, manifest in enumerate(manifests):
        kind = kind_of(manifest)
        makes_pods = holds_template(manifest)
        if is_left_out(manifest):
            _keep_parameter(store, manifest, namespace)
            continue
        try:
            # The configuration of a system stands in a namespace of its own, whatever is asked about.
            strict = explicit and (kind is None or kind.listed)
            placed = _set_namespace(manifest, kind, namespace, explicit=strict)
            if makes_pods:
                workloads += split_templates(placed)
            elif kind is not None:
                named = _with_name(placed, index)
                written = named.raw if any(kind.group == system.group for system in systems()) else None
                store.add(kind.kind, decode_manifest(named, kind), file=placed.file, written=written)
        except InputError as error:
            input_errors.append(error)
    if faults is None:
        raise_faults(input_errors)
    return workloads


def _keep_parameter(store: Store, manifest: Manifest, namespace: str) -> None:
    """What nothing else looks at may hold the parameters of a policy.

    Whether a kind that is not known has namespaces is not known either: what is asked for in another one is not found.
    """
    # No policy can name a kind whose name is no name, as one with an underscore.
    if not may_be_read(manifest.api_version, manifest.kind):
        return
    placed = _with_metadata(manifest, "namespace", manifest.namespace or namespace)
    store.add(kind_name(manifest.api_version, manifest.kind), parameter_of(_with_floats(placed.raw)))


def _with_floats(value: Any) -> Any:
    """With numbers as expressions see them."""
    if isinstance(value, dict):
        return {key: _with_floats(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_with_floats(inner) for inner in value]
    return float(value) if isinstance(value, Number) else value


def is_left_out(manifest: Manifest) -> bool:
    """Return whether nothing here looks at the object: it makes no pods and is no policy."""
    kind = kind_of(manifest)
    return (kind is None and not holds_template(manifest)) or _is_other_config(manifest, kind)


def is_always_counted(manifest: Manifest) -> bool:
    """Return whether every cluster has the kind, and quotas merely count its objects."""
    return manifest.kind in _PLAIN and not manifest.api_version.rpartition("/")[0]


def counted_kind(manifest: Manifest) -> Kind | None:
    """Return the kind of an object as one that a quota merely counts; None of what makes pods, of kinds whose cost is
    more than their number, and of what stands in no namespace.
    """
    kind = kind_of(manifest)
    if holds_template(manifest) or (kind is not None and (kind.kind in _MEASURED or not kind.namespaced)):
        return None
    group, _, version = manifest.api_version.rpartition("/")
    plural = resource_of(manifest.kind, manifest.api_version).partition(".")[0]
    return Kind(manifest.kind, (plural, manifest.kind.lower()), group, version, struct=CountedObject)


def _is_other_config(manifest: Manifest, kind: Kind | None) -> bool:
    """Return whether it is a ConfigMap that configures nothing here."""
    own_names = {name for system in systems() for name in system.configuration}
    return kind is not None and not kind.listed and manifest.metadata.get("name") not in own_names


def holds_template(manifest: Manifest) -> bool:
    """Return whether pods come from the object: by its kind or, for kinds that are not known, by a template in it."""
    parts = parts_of(manifest.raw)
    if parts is not None:
        return bool(parts)
    if kind_of(manifest) is not None or manifest.kind in MAKES_PODS:
        return manifest.kind in MAKES_PODS
    result = template_in(manifest.raw)
    return result is not None and isinstance(result[1]["spec"]["containers"], list)


def workload_kind_of(manifest: Manifest) -> Kind:
    """Return the kind of an object that makes pods; one that no table has is a workload, or what is called so."""
    group, _, version = manifest.api_version.rpartition("/")
    name = manifest.kind.lower()
    struct = kinds.BY_KIND[manifest.kind].struct if manifest.kind in MAKES_PODS else Workload
    return kind_of(manifest) or Kind(manifest.kind, (f"{name}s", name), group, version, struct=struct)


def split_templates(manifest: Manifest) -> list[Manifest]:
    """Return the object itself; of a kind that holds several templates elsewhere one for each, as if it were alone."""
    parts = parts_of(manifest.raw)
    if parts is None:
        return [manifest]
    name = manifest.ref.name
    return [
        structs.replace(
            manifest,
            raw={
                "apiVersion": manifest.api_version,
                "kind": unique_kind_name(manifest.raw),
                "metadata": {**manifest.metadata, "name": part.called(name)},
                "spec": {"replicas": part.count, "template": part.template},
            },
        )
        for part in parts
    ]


def _set_namespace(manifest: Manifest, kind: Kind | None, namespace: str, *, explicit: bool) -> Manifest:
    """Return the manifest in its namespace, none for kinds that have none."""
    own_namespace = manifest.namespace
    if kind is not None and not kind.namespaced:
        own_namespace = namespace = ""
    elif explicit and own_namespace and own_namespace != namespace:
        raise manifest.fault(
            f'the namespace from the provided object "{own_namespace}" does not match the namespace "{namespace}".'
            f" You must pass '--namespace={own_namespace}' to perform this operation.",
            ("metadata", "namespace"),
        )
    return _with_metadata(manifest, "namespace", own_namespace or namespace)


def _with_name(manifest: Manifest, index: int) -> Manifest:
    return (
        manifest
        if manifest.metadata.get("name")
        else _with_metadata(manifest, "name", f"{manifest.ref.name}{index:05}")
    )


def _with_metadata(manifest: Manifest, key: str, value: str) -> Manifest:
    return structs.replace(manifest, raw={**manifest.raw, "metadata": {**manifest.metadata, key: value}})
