"""CREATE of what makes pods: its template is validated without defaults, and the object itself is counted."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from msgspec import structs

from kubectl_kres.admission.base.draft import Unparsable, draft_pod, round_up
from kubectl_kres.admission.base.field_error import FieldError, forbidden
from kubectl_kres.admission.base.outcome import Outcome, Refusal, invalid_object
from kubectl_kres.admission.base.server import Server
from kubectl_kres.admission.base.warnings import pod_warnings
from kubectl_kres.admission.decoding.gated_fields import with_known_strategy, with_known_volumes
from kubectl_kres.admission.pod.defaulting import without_unknown
from kubectl_kres.admission.pod.validation import validate_containers, validate_pod_level
from kubectl_kres.admission.quota.quota_admission import QuotaRequest, evaluate
from kubectl_kres.admission.quota.requests import count_request, resource_of
from kubectl_kres.admission.request.new_pod import Policies
from kubectl_kres.admission.request.policy_answer import answered
from kubectl_kres.admission.structure.claim_structure import claim_warnings, template_errors
from kubectl_kres.admission.structure.labels import tag_errors
from kubectl_kres.admission.structure.metadata_structure import metadata_errors, name_of
from kubectl_kres.admission.structure.pod_structure import annotation_errors
from kubectl_kres.admission.structure.pod_warnings import pod_notices, template_notices
from kubectl_kres.admission.structure.template_structure import spec_errors
from kubectl_kres.admission.structure.workload_structure import (
    checked_spec,
    skips_template,
    template_path,
    workload_errors,
    workload_warnings,
)
from kubectl_kres.model.kinds import WORKLOADS
from kubectl_kres.model.pod import Pod
from kubectl_kres.model.raw import Raw, decoded, mapping
from kubectl_kres.model.workload import template_in


def invalid_workload(raw: Raw, path: str, spec: Raw, pod: Pod, server: Server) -> Outcome | None:
    """422 of a workload whose template or name is not valid; None if it is, or no quantity parses.

    ``path`` leads to the template, ``spec`` is its pod's as sent and ``pod`` the same decoded. Of kinds that are not
    built in only the name is looked at: their template is validated when it becomes a pod.
    A template gets no request from its limit: defaults.go SetDefaults_Pod is for pods alone.
    Source: validation.go ValidatePodTemplateSpec.
    """
    kind, own = str(raw.get("kind", "")), list(metadata_errors(raw, server))
    group = str(raw.get("apiVersion", "")).rpartition("/")[0]
    called = f"{kind}.{group}" if group else kind
    if kind not in WORKLOADS:
        return _refused(invalid_object(called, name_of(raw), own, server), None) if own else None
    try:
        draft = draft_pod(without_unknown(pod, server), server)
    except Unparsable:
        return None
    round_up(draft)
    metadata = _metadata_at(raw, path)
    own += workload_errors(with_known_strategy(raw, server), path)
    errors: list[FieldError] = []
    if not skips_template(raw):
        kept = mapping(with_known_volumes({"spec": spec}, server), "spec")
        shaped = spec_errors(checked_spec(raw, kept), server)
        within = [*shaped, *validate_containers(draft, server), *validate_pod_level(draft)]
        errors = [_in_template(error) for error in within]
        tags = [*tag_errors(metadata, path), *annotation_errors(metadata, spec, f"{path}.annotations")]
        own += tags * (2 if kind == "StatefulSet" else 1)
    own += template_errors(raw, server) if kind == "StatefulSet" else ()
    if not own and not errors:
        return None
    placed = [structs.replace(error, field=f"{path}.{error.field}") for error in errors]
    refusal = invalid_object(called, name_of(raw), [*own, *placed], server)
    # What a remedy is about stands in the pod.
    findings = tuple(
        structs.replace(finding, path=error.field)
        for finding, error in zip(refusal.findings, [*own, *errors], strict=True)
    )
    return _refused(structs.replace(refusal, findings=findings), draft)


def create_workload(raw: Raw, policies: Policies, server: Server) -> tuple[Outcome, ...]:
    """Every answer to a CREATE of a built-in kind: its template, then the quotas that count it. Raises Unparsable."""
    path, template = template_in(raw) or _without_containers(raw)
    at, pod = ".".join(path), decoded(template, Pod)
    refused = invalid_workload(raw, at, mapping(template, "spec"), pod, server)
    if refused is not None:
        return (refused,)
    draft = draft_pod(pod, server)
    round_up(draft)
    seen = pod_notices(with_known_volumes(template, server), template=True)
    notices = (*pod_warnings(draft), *seen, *template_notices(template))
    warnings = [*(_placed(text, at) for text in notices), *workload_warnings(raw), *claim_warnings(raw)]
    stored = {"metadata": {"name": name_of(raw)}}
    return answered(stored, counting_request(raw), policies, server, warnings=warnings)


def _without_containers(raw: Raw) -> tuple[tuple[str, ...], Raw]:
    """Where the template of a built-in kind stands, and what of it is there."""
    path, result = template_path(str(raw.get("kind", ""))), raw
    for key in path:
        result = mapping(result, key)
    return path, result


def _placed(warning: str, path: str) -> str:
    """With each path in it as that of the template. Of files that overlap the server names no path."""
    return warning if warning.startswith('volume "') else f"{path}.{_PATH.sub(f' {path}.spec.', warning)}"


_PATH = re.compile(r" spec\.(?=(?:init)?[cC]ontainers\[)")


def _in_template(error: FieldError) -> FieldError:
    if error.field != "spec.ephemeralContainers":
        return error
    return forbidden(error.field, "ephemeral containers not allowed in pod template", error.rule)


def _metadata_at(raw: Raw, path: str) -> Raw:
    """The metadata of the template at a path."""
    result = raw
    for key in (*path.split("."), "metadata"):
        result = mapping(result, key)
    return result


def counting_request(raw: Raw) -> QuotaRequest:
    """What quotas count a workload as that does not exist yet."""
    return count_request(resource_of(str(raw.get("kind", "")), str(raw.get("apiVersion", "v1"))), name_of(raw))


def uncounted(raw: Raw, policies: Policies, server: Server) -> Sequence[Outcome]:
    """403 of each quota that has no room for one more object of the kind; none if there is."""
    if "ResourceQuota" in server.disabled_plugins:
        return ()
    verdict = evaluate(counting_request(raw), policies.quotas, server.limited_resources)
    return [_refused(refusal, None) for refusal in verdict.refusals]


def _refused(refusal: Refusal, draft: Any) -> Outcome:
    return Outcome(False, refusal.code, refusal, draft=draft)
