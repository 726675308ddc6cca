"""The objects that controllers make, as they send them: ReplicaSets, ControllerRevisions, Jobs and pods of what makes
them, and the claims of a pod that exists.

Claims of a pod go with it. A pod whose claim is refused exists and never starts.
Source: controller/volume/ephemeral/controller.go handleVolume, controller/resourceclaim/controller.go handleClaim.

Source: controller/deployment/sync.go getNewReplicaSet; controller/history/controller_history.go NewControllerRevision;
controller/cronjob/utils.go getJobFromTemplate2; controller/resourceclaim/controller.go handleClaim.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct, ValidationError, structs

from kubectl_kres.admission.base.draft import Unparsable
from kubectl_kres.admission.base.outcome import Outcome, QuotaCharge, Refusal
from kubectl_kres.admission.base.server import Server
from kubectl_kres.admission.quota import quota_admission
from kubectl_kres.admission.request.new_pod import ObjectReview, Policies
from kubectl_kres.model.objects import Metadata, decode_object, mapping, struct_as_json, to_wire
from kubectl_kres.model.pod import Pod, PodSpec, claim_template_in
from kubectl_kres.model.quota_objects import PersistentVolumeClaim, ResourceClaim

Raw = Mapping[str, Any]
#: Stands for a hash that is not known.
HASH = "xxxxx"
_HASH_LABELS = {"Deployment": "pod-template-hash", "DaemonSet": "controller-revision-hash"}
_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
_APPS = "apps/v1"


def revision_raw(workload: Raw, name: str) -> dict[str, Any]:
    """Return the ReplicaSet of a Deployment's template, or the ControllerRevision of a StatefulSet's or DaemonSet's."""
    kind, spec, template = (
        str(workload.get("kind")),
        mapping(workload, "spec"),
        mapping(mapping(workload, "spec"), "template"),
    )
    labels = dict(mapping(mapping(template, "metadata"), "labels"))
    hashed = {**labels, _HASH_LABELS[kind]: HASH} if kind in _HASH_LABELS else labels
    notes = {
        key: text for key, text in mapping(mapping(workload, "metadata"), "annotations").items() if key != _APPLIED
    }
    metadata = {**_metadata(workload, name), "labels": hashed, **({"annotations": notes} if notes else {})}
    if kind != "Deployment":
        data = {"spec": {"template": {**template, "$patch": "replace"}}}
        return {"apiVersion": _APPS, "kind": "ControllerRevision", "metadata": metadata, "data": data, "revision": 1}
    selector = mapping(spec, "selector")
    made = {
        "replicas": spec.get("replicas", 1),
        "selector": {**selector, "matchLabels": {**mapping(selector, "matchLabels"), _HASH_LABELS[kind]: HASH}},
        "template": {**template, "metadata": {**mapping(template, "metadata"), "labels": hashed}},
    }
    kept = {key: spec[key] for key in ("minReadySeconds",) if spec.get(key)}
    return {"apiVersion": _APPS, "kind": "ReplicaSet", "metadata": metadata, "spec": {**kept, **made}}


def job_raw(cron_job: Raw, name: str) -> dict[str, Any]:
    """Return the next Job of a CronJob."""
    template = mapping(mapping(cron_job, "spec"), "jobTemplate")
    template_metadata = {
        key: value for key, value in mapping(template, "metadata").items() if key in {"labels", "annotations"}
    }
    metadata = {**template_metadata, **_metadata(cron_job, name)}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": mapping(template, "spec")}


def _metadata(maker: Raw, name: str) -> dict[str, Any]:
    meta = mapping(maker, "metadata")
    owner = {
        "apiVersion": maker.get("apiVersion"), "kind": maker.get("kind"), "name": meta.get("name"),
        "uid": meta.get("uid") or "", "controller": True, "blockOwnerDeletion": True,
    }  # fmt: skip
    space = {"namespace": meta["namespace"]} if meta.get("namespace") else {}
    return {"name": name, **space, "ownerReferences": [owner]}


CLAIMS = "persistentvolumeclaims"


class EphemeralVolume(Struct, frozen=True):
    """An ephemeral volume: its place in the pod, its name, and the spec of its claim (None: not known).

    ``metadata``: labels and annotations of the claim.
    """

    path: str
    name: str
    spec: Mapping[str, Any] | None
    metadata: Mapping[str, Any] = {}


class Creation(Struct, frozen=True):
    """One object to be made. ``path``: the field that it is made from. ``request``: what quotas count it for.

    ``object``: the claim as it would be sent; None for what is only counted. ``count``: how many such there will be.
    ``review``: what policies say of it.
    """

    kind: str
    name: str
    request: quota_admission.QuotaRequest
    path: str = ""
    object: PersistentVolumeClaim | ResourceClaim | None = None
    count: int = 1
    review: ObjectReview = ObjectReview({})


def ephemeral_volumes(spec: PodSpec) -> Iterator[EphemeralVolume]:
    """Yield the volumes of a pod, or of a template, for which a claim is made."""
    for index, volume in enumerate(spec.volumes or ()):
        raw: Mapping[str, Any] = volume if isinstance(volume, Mapping) else to_wire(volume)
        if raw.get("ephemeral") is not None:
            written = mapping(mapping(mapping(raw, "ephemeral"), "volumeClaimTemplate"), "metadata")
            kept = {key: written[key] for key in ("labels", "annotations") if written.get(key)}
            yield EphemeralVolume(f"spec.volumes[{index}]", str(raw.get("name") or ""), claim_template_in(raw), kept)


def template_names(spec: PodSpec) -> Iterator[tuple[str, str]]:
    """Yield the claims on devices that are made from a template: name of the claim in the pod, name of the template."""
    for claim in spec.resource_claims or ():
        if claim.resource_claim_template_name:
            yield claim.name, claim.resource_claim_template_name


def makes_objects(spec: PodSpec) -> bool:
    """Return whether anything is made for such pods."""
    return any(True for _ in ephemeral_volumes(spec)) or bool(spec.resource_claims)


def objects_of(pod: Pod, policies: Policies, server: Server) -> tuple[Creation, ...]:
    """Return what is made for a pod, as far as it is known. Raises Unparsable."""
    if not (pod.spec.volumes or pod.spec.resource_claims):
        return ()
    return (*_volume_claims(pod, policies, server), *_device_claims(pod, policies, server))


def _volume_claims(pod: Pod, policies: Policies, server: Server) -> Iterator[Creation]:
    from kubectl_kres.admission.request.volume_claims import review_made_claim, with_default_class  # noqa: PLC0415 - few have such volumes

    for volume in ephemeral_volumes(pod.spec):
        if volume.spec is None:
            continue
        name = f"{pod.metadata.name}-{volume.name}"
        metadata = {**volume.metadata, "name": name, "namespace": pod.metadata.namespace}
        raw = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": metadata, "spec": volume.spec}
        try:
            claim, review = review_made_claim(decode_object(raw, PersistentVolumeClaim), policies, server, raw)
        except ValidationError:
            continue
        request, path = (
            quota_admission.claim_request(with_default_class(claim, policies), server),
            f"{volume.path}.ephemeral.volumeClaimTemplate",
        )
        yield Creation("PersistentVolumeClaim", name, request, path, claim, review=review)


def _device_claims(pod: Pod, policies: Policies, server: Server) -> Iterator[Creation]:
    for index, entry in enumerate(pod.spec.resource_claims or ()):
        template = (policies.claim_templates or {}).get(entry.resource_claim_template_name or "")
        if template is None:
            continue
        name = f"{pod.metadata.name}-{entry.name}"
        claim = ResourceClaim(Metadata(name=name, namespace=pod.metadata.namespace), template.spec.spec)
        review = ObjectReview({})
        if policies.reviewer is not None or policies.object_webhooks:
            review = policies.review(struct_as_json(claim, "resource.k8s.io/v1", "ResourceClaim"), server)
            claim = decode_object(review.object, ResourceClaim)
        request = quota_admission.device_request(claim, server, policies.extended)
        yield Creation("ResourceClaim", name, request, f"spec.resourceClaims[{index}]", claim, review=review)


def made_pod(pod: Pod, policies: Policies, server: Server) -> ObjectReview:
    """Return what policies say of a pod that a system builds, of which its resources are known and little else."""
    if policies.reviewer is None:
        return ObjectReview({})
    return policies.review(struct_as_json(pod, "v1", "Pod"), server, whole=False)


def object_charges(creations: Sequence[Creation], quotas: Sequence[quota_admission.Quota]) -> Iterator[QuotaCharge]:
    """Yield what objects cost each quota, one after the other."""
    for creation in creations:
        for _ in range(creation.count):
            yield from quota_admission.charges(creation.request, quotas)


def refusals_of(creations: Sequence[Creation], policies: Policies, server: Server) -> tuple[Refusal, ...]:
    """Return what refuses the first of some objects that is refused, those before it being there. Raises Unparsable."""
    quotas = policies.quotas
    for creation in creations:
        refusals = _refusals(creation, structs.replace(policies, quotas=quotas), server)
        if refusals:
            return tuple(refusals)
        quotas = quota_admission.with_used(quotas, quota_admission.charges(creation.request, quotas))
    return ()


def _refusals(creation: Creation, policies: Policies, server: Server) -> list[Refusal]:
    if isinstance(creation.object, PersistentVolumeClaim):
        from kubectl_kres.admission.request.volume_claims import admit_claim, with_review  # noqa: PLC0415 - as above

        outcomes: Sequence[Outcome] = with_review(admit_claim(creation.object, policies, server), creation.review)
        return [prefix_paths(outcome.refusal, creation.path) for outcome in outcomes if outcome.refusal is not None]
    if creation.review.refusals:
        return [prefix_paths(refusal, creation.path) for refusal in creation.review.refusals]
    if "ResourceQuota" in server.disabled_plugins:
        return []
    return list(quota_admission.evaluate(creation.request, policies.quotas, server.limited_resources).refusals)


def prefix_paths(refusal: Refusal, path: str) -> Refusal:
    """With paths that lead from the pod, or the workload, to what the claim is made from."""
    findings = tuple(
        structs.replace(finding, path=f"{path}.{finding.path}" if finding.path else path)
        for finding in refusal.findings
    )
    return structs.replace(refusal, findings=findings)


__all__ = [
    "CLAIMS", "Creation", "EphemeralVolume", "Unparsable", "ephemeral_volumes", "makes_objects",
    "object_charges", "objects_of", "prefix_paths", "refusals_of", "template_names",
]  # fmt: skip
