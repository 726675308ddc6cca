"""The manifest that admission starts from: the template that made a pod if it is found, else the next best source."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from kubectl_kres.admission.limitrange import ANNOTATION
from kubectl_kres.errors import ClusterError, NotFound, UsageError
from kubectl_kres.model.objects import LAST_APPLIED, ResourceList, decode_object
from kubectl_kres.model.pod import Container, DetailedTemplate, Pod, PodTemplateSpec, ResourceRequirements, SentPod
from kubectl_kres.model.workload import ControllerRevision, Workload, template_of
from kubectl_kres.model.workload_kinds import REVISION_OWNERS, TEMPLATE_OWNERS
from kubectl_kres.provenance.journal import Assumption, LiveStart, Source
from kubectl_kres.reports.common.analysis import PodManifest
from kubectl_kres.reports.common.explanation import (
    ManifestPlace,
    Subject,
    no_template_error,
    pod_of_template,
    raw_template,
)
from kubectl_kres.reports.common.owners import controller
from kubectl_kres.reports.pod.needs import made_from, revision_name
from kubectl_kres.store.store import ReadRequest, Store

#: What holds the template that made a pod.
Maker = Workload | ControllerRevision


def find_manifest(store: Store, subject: Subject) -> PodManifest:
    """Return the manifest to start from. Raises NotFound or Forbidden if the object cannot be read, UsageError if it
    holds no template.
    """
    if subject.raw is not None:
        return _from_file(subject)
    ref = subject.ref
    result = store.get(ref.kind, ref.name, ref.namespace)
    if result is None:
        raise missing_error(store, subject)
    if isinstance(result, Pod):
        return find_live_manifest(store, result)
    if not isinstance(result, Workload):
        raise UsageError(f"{ref.kind} holds no pod template", hint="explain takes pods and what makes pods")
    path, template = template_of(result)
    if template is None or template.spec.containers is None:
        hint = "ask about what it makes or scales: its pods, or a deployment"
        raise no_template_error(ref.kind, ref.name, hint)
    source = Source(ref.kind, ref.name, ref.namespace)
    return PodManifest(pod_of_template(template, subject), source, f"{path}.", ManifestPlace("template"), owner=result)


def is_there(store: Store, subject: Subject) -> bool:
    """Return whether the object exists. A namespace exists if anything is in it."""
    ref = subject.ref
    if store.get(ref.kind, ref.name, ref.namespace) is not None:
        return True
    read = ReadRequest(ref.kind, "", ref.name, required=False)
    return ref.kind == "Namespace" and store.covered(read).state in {"denied", "unread"}


def missing_error(store: Store, subject: Subject) -> ClusterError:
    """Return why the object is not in the store: it may not be read, was not kept, or does not exist (NotFound)."""
    ref = subject.ref
    coverage = store.covered(ReadRequest(ref.kind, ref.namespace, ref.name))
    if coverage.state in {"denied", "failed", "unread"}:
        return coverage.error(f"{ref} could not be read")
    error = NotFound(f'{subject.kind.qualified_name} "{ref.name}" not found', code=404, reason="NotFound")
    if coverage.state == "absent":
        error.hint = f"the server has no {subject.kind.qualified_name} at all: what brings them is not installed"
    return error


def _from_file(subject: Subject) -> PodManifest:
    raw = subject.raw or {}
    ref = subject.ref
    source = Source(ref.kind, ref.name, ref.namespace)
    if ref.kind == "Pod":
        sent = decode_object(raw, SentPod)
        metadata = msgspec.structs.replace(sent.metadata, namespace=ref.namespace)
        place = ManifestPlace("file", file=subject.file)
        return PodManifest(msgspec.structs.replace(sent, metadata=metadata), source, "", place)
    path, template = raw_template(raw)
    pod = pod_of_template(decode_object(template, DetailedTemplate), subject)
    return PodManifest(pod, source, f"{path}.", ManifestPlace("template", file=subject.file))


def find_live_manifest(store: Store, live: Pod) -> PodManifest:
    """Return the template or revision that made a live pod, else its last applied configuration, else the pod
    itself.
    """
    manifest_of_maker = _manifest_by_maker(store, live)
    if manifest_of_maker is not None:
        return manifest_of_maker
    applied = _last_applied(live)
    source = Source("Pod", live.metadata.name, live.metadata.namespace)
    if applied is not None:
        field_source = source.at_path(f"metadata.annotations[{LAST_APPLIED}]")
        pod = msgspec.structs.replace(applied, metadata=live.metadata)
        return PodManifest(pod, field_source, "", ManifestPlace("applied"), live)
    return _strip_defaults(store, live, source)


def _pod_like(live: Pod, template: PodTemplateSpec) -> Pod:
    """Return the pod that the owner sent. Fields that a Job or DaemonSet adds (affinity, deadlines) come from the live
    pod.
    """
    spec = msgspec.structs.replace(
        template.spec,
        node_name=live.spec.node_name,
        affinity=live.spec.affinity,
        active_deadline_seconds=live.spec.active_deadline_seconds,
    )
    return Pod(live.metadata, spec)


def find_maker(store: Store, live: Pod) -> Maker | None:
    """Return the object whose template made a live pod, where it is known.

    ``find_live_manifest`` needs nothing else beside the pod.
    """
    kind, name = controller(live)
    if kind in TEMPLATE_OWNERS:
        owner = store.get(kind, name, live.metadata.namespace)
        return owner if isinstance(owner, Workload) and template_of(owner)[1] is not None else None
    if kind not in REVISION_OWNERS:
        return None
    revision = store.get("ControllerRevision", revision_name(live, kind, name), live.metadata.namespace)
    made = isinstance(revision, ControllerRevision) and revision.data.spec.template is not None
    return revision if made else None


def _manifest_by_maker(store: Store, live: Pod) -> PodManifest | None:
    maker = find_maker(store, live)
    if maker is None:
        return None
    kind, name = controller(live)
    if isinstance(maker, Workload):
        path, template = template_of(maker)
        source = Source(kind, name, live.metadata.namespace)
        prefix, place, owner = f"{path}.", ManifestPlace("template", f"{kind}/{name}"), maker
    else:
        template, revision = maker.data.spec.template, maker.metadata.name
        source = Source("ControllerRevision", revision, live.metadata.namespace)
        prefix, place = "data.spec.template.", ManifestPlace("revision", f"{kind}/{name}", revision=revision)
        owner = None
    assert template is not None
    return PodManifest(_pod_like(live, template), source, prefix, place, live, owner)


def _last_applied(live: Pod) -> Pod | None:
    text = (live.metadata.annotations or {}).get(LAST_APPLIED)
    if text is None:
        return None
    try:
        return msgspec.json.decode(text, type=Pod)
    except msgspec.MsgspecError:
        return None


def _strip_defaults(store: Store, live: Pod, source: Source) -> PodManifest:
    """Return the live pod without the values that the limit-ranger annotation names, and without a pod-level
    read-back.
    """
    filled = annotation_sets((live.metadata.annotations or {}).get(ANNOTATION, ""))
    spec = live.spec
    bare = msgspec.structs.replace(
        spec,
        containers=_strip_containers(spec.containers or (), filled, "container"),
        init_containers=_strip_containers(spec.init_containers or (), filled, "init container"),
    )
    kind, name = controller(live)
    barred = bool(kind) and any(store.covered(read).state in {"denied", "failed"} for read in made_from(live))
    start = LiveStart(f"{kind}/{name}" if kind else "", barred, bool(filled))
    assumed = Assumption("spec", "start/live", start)
    pod = Pod(live.metadata, bare)
    return PodManifest(pod, source, "", ManifestPlace("live"), live, assumed=assumed)


def annotation_sets(text: str) -> Mapping[tuple[str, str, str], frozenset[str]]:
    """Return the values that the annotation names: (container or init container, name, side) to resource names."""
    result: dict[tuple[str, str, str], frozenset[str]] = {}
    for entry in text.partition("LimitRanger plugin set: ")[2].split("; "):
        names, for_, owner = entry.partition(" for ")
        if not for_:
            continue
        listed, _, side = names.rpartition(" ")
        role, _, name = owner.rpartition(" ")
        result[role, name, f"{side}s"] = frozenset(part.strip() for part in listed.split(","))
    return result


def _strip_containers(
    containers: Sequence[Container], filled: Mapping[tuple[str, str, str], frozenset[str]], role: str
) -> tuple[Container, ...]:
    return tuple(
        msgspec.structs.replace(
            container,
            resources=ResourceRequirements(
                _drop_names(container.resources.limits, filled.get((role, container.name, "limits"))),
                _drop_names(container.resources.requests, filled.get((role, container.name, "requests"))),
                container.resources.claims,
            ),
        )
        if container.resources is not None
        else container
        for container in containers
    )


def _drop_names(values: ResourceList | None, names: frozenset[str] | None) -> ResourceList | None:
    if not values or not names:
        return values
    return {name: value for name, value in values.items() if name not in names}
