"""Where a pod's manifest is: the object itself, a workload's template, a file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from kubectl_kres.errors import UsageError
from kubectl_kres.model.kinds import WORKLOADS
from kubectl_kres.model.pod import Pod, PodTemplateSpec
from kubectl_kres.model.raw import decoded
from kubectl_kres.model.workload import Workload, template_in
from kubectl_kres.reports.common.subject import Subject


def template_of(workload: Workload) -> tuple[str, PodTemplateSpec | None]:
    """The template and its path in the workload; None if there is none."""
    spec = workload.spec
    if spec.template is not None:
        return "spec.template", spec.template
    if spec.job_template is not None and spec.job_template.spec is not None:
        return "spec.jobTemplate.spec.template", spec.job_template.spec.template
    return "template", workload.template


def raw_template(raw: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
    """The template in an object as sent, with its path; an empty one of a kind that must have one, which the API server
    refuses. Raises UsageError naming the path that is missing.
    """
    result = template_in(raw)
    if result is not None:
        return ".".join(result[0]), result[1]
    kind = raw.get("kind", "object")
    if kind in WORKLOADS:
        return "spec.jobTemplate.spec.template" if kind == "CronJob" else "spec.template", {}
    name = (raw.get("metadata") or {}).get("name", "")
    raise UsageError(
        f'{kind} "{name}" holds no pod template: there is no spec.template.spec.containers '
        "and no spec.jobTemplate.spec.template.spec.containers"
    )


def manifest_pod(subject: Subject) -> Pod | None:
    """The pod that a manifest from a file describes; None if it is no pod and holds no template or does not decode."""
    if subject.raw is None:
        return None
    try:
        if subject.ref.kind == "Pod":
            return decoded(subject.raw, Pod)
        return pod_of_template(decoded(raw_template(subject.raw)[1], PodTemplateSpec), subject)
    except (msgspec.ValidationError, UsageError):
        return None


def manifest_workload(subject: Subject) -> Workload | None:
    """What a manifest from a file says beside its template; None if it is no manifest, a pod, or does not decode."""
    if subject.raw is None or subject.kind.struct is not Workload:
        return None
    try:
        return decoded(subject.raw, Workload)
    except msgspec.ValidationError:
        return None


def pod_of_template(template: PodTemplateSpec, subject: Subject) -> Pod:
    """The pod that a controller would send; its name stands for the generated one."""
    metadata = msgspec.structs.replace(
        template.metadata, name=subject.ref.name, namespace=subject.ref.namespace, owner_references=None
    )
    return Pod(metadata, template.spec)
