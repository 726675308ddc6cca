"""A workload as sent: what its own rules refuse and warn about, before any policy is asked.

An answer asks it of the file itself and of the change that the file makes: what was found is remembered by content.
"""

from __future__ import annotations

import re
from hashlib import blake2b

from msgspec import Struct, structs

from kubectl_kres.admission.base.draft import Unparsable, draft_pod, pod_warnings, round_up
from kubectl_kres.admission.base.field_errors import FieldError, forbidden
from kubectl_kres.admission.base.outcome import Outcome, invalid_object
from kubectl_kres.admission.base.server import Server
from kubectl_kres.admission.decoding import with_known_strategy, with_known_volumes
from kubectl_kres.admission.pod.defaulting import without_unknown
from kubectl_kres.admission.pod.validation import validate_containers, validate_pod_level
from kubectl_kres.admission.request.policy_answer import undecodable
from kubectl_kres.admission.structure import workload_structure
from kubectl_kres.admission.structure.metadata_structure import metadata_errors, name_of, tag_errors
from kubectl_kres.admission.structure.pod_structure import annotation_errors, spec_errors
from kubectl_kres.admission.structure.pod_warnings import pod_notices, template_notices
from kubectl_kres.admission.structure.volume_structure import claim_warnings, template_errors
from kubectl_kres.model.content_key import content_key
from kubectl_kres.model.objects import Raw, decode_object, mapping
from kubectl_kres.model.pod import Pod
from kubectl_kres.model.workload import template_in
from kubectl_kres.model.workload_kinds import WORKLOADS

#: So many workloads are remembered; one more, and all are forgotten.
_MOST = 20_000
_found: dict[bytes, SentWorkload] = {}


class SentWorkload(Struct, frozen=True):
    """What was found. Each of the refusals None: none. Of what is not decoded nothing more is known."""

    undecodable: Outcome | None = None
    invalid: Outcome | None = None
    warnings: tuple[str, ...] = ()


def look_at_workload(raw: Raw, server: Server) -> SentWorkload:
    """Return what a server says of a workload of a built-in kind by itself."""
    key = blake2b(content_key((raw, server)), digest_size=16).digest()
    found = _found.get(key)
    if found is None:
        if len(_found) >= _MOST:
            _found.clear()
        found = _found[key] = _look_at(raw, server)
    return found


def _look_at(raw: Raw, server: Server) -> SentWorkload:
    undecoded = undecodable(raw)
    if undecoded is not None:
        return SentWorkload(undecoded)
    path, template = template_in(raw) or _without_containers(raw)
    pod = decode_object(template, Pod)
    invalid = invalid_workload(raw, ".".join(path), mapping(template, "spec"), pod, server)
    return SentWorkload(None, invalid, () if invalid is not None else tuple(workload_warnings(raw, server)))


def invalid_workload(raw: Raw, path: str, spec: Raw, pod: Pod, server: Server) -> Outcome | None:
    """422 of a workload whose template or name is not valid; None if it is, or no quantity parses.

    ``path`` leads to the template, ``spec`` is its pod's as sent and ``pod`` the same decoded. Of kinds that are not
    built in only the name is looked at: their template is validated when it becomes a pod.
    A template gets no request from its limit: defaults.go SetDefaults_Pod is for pods alone.
    Source: validation.go ValidatePodTemplateSpec.
    """
    kind, own_errors = str(raw.get("kind", "")), list(metadata_errors(raw, server))
    group = str(raw.get("apiVersion", "")).rpartition("/")[0]
    called = f"{kind}.{group}" if group else kind
    if kind not in WORKLOADS:
        refusal = invalid_object(called, name_of(raw), own_errors, server) if own_errors else None
        return None if refusal is None else Outcome(False, refusal.code, refusal)
    try:
        draft = draft_pod(without_unknown(pod, server), server)
    except Unparsable:
        return None
    round_up(draft)
    metadata = _metadata_at(raw, path)
    own_errors += workload_structure.workload_errors(with_known_strategy(raw, server), path)
    errors: list[FieldError] = []
    if not workload_structure.skips_template(raw):
        kept = mapping(with_known_volumes({"spec": spec}, server), "spec")
        shaped = spec_errors(workload_structure.checked_spec(raw, kept), server)
        within = [*shaped, *validate_containers(draft, server), *validate_pod_level(draft)]
        errors = [_in_template(error) for error in within]
        tags = [*tag_errors(metadata, path), *annotation_errors(metadata, spec, f"{path}.annotations")]
        own_errors += tags * (2 if kind == "StatefulSet" else 1)
    own_errors += template_errors(raw, server) if kind == "StatefulSet" else ()
    if not own_errors and not errors:
        return None
    placed = [structs.replace(error, field=f"{path}.{error.field}") for error in errors]
    refusal = invalid_object(called, name_of(raw), [*own_errors, *placed], server)
    # What a remedy is about stands in the pod.
    findings = tuple(
        structs.replace(finding, path=error.field)
        for finding, error in zip(refusal.findings, [*own_errors, *errors], strict=True)
    )
    return Outcome(False, refusal.code, structs.replace(refusal, findings=findings), draft=draft)


def workload_warnings(raw: Raw, server: Server) -> list[str]:
    """Return the warnings about a built-in kind and its template, which gets fewer defaults than a pod. Raises
    Unparsable.
    """
    path, template = template_in(raw) or _without_containers(raw)
    draft = draft_pod(decode_object(template, Pod), server)
    round_up(draft)
    seen = pod_notices(with_known_volumes(template, server), template=True)
    notices = (*pod_warnings(draft), *seen, *template_notices(template))
    return [
        *(_prefix_warning_paths(text, ".".join(path)) for text in notices),
        *workload_structure.workload_warnings(raw),
        *claim_warnings(raw),
    ]


def _without_containers(raw: Raw) -> tuple[tuple[str, ...], Raw]:
    """Return where the template of a built-in kind stands, and what of it is there."""
    path, result = WORKLOADS[str(raw.get("kind"))].template, raw
    for key in path:
        result = mapping(result, key)
    return path, result


def _prefix_warning_paths(warning: str, path: str) -> str:
    """With each path in it as that of the template. Of files that overlap the server names no path."""
    return warning if warning.startswith('volume "') else f"{path}.{_PATH.sub(f' {path}.spec.', warning)}"


_PATH = re.compile(r" spec\.(?=(?:init)?[cC]ontainers\[)")


def _in_template(error: FieldError) -> FieldError:
    if error.field != "spec.ephemeralContainers":
        return error
    return forbidden(error.field, "ephemeral containers not allowed in pod template", error.rule)


def _metadata_at(raw: Raw, path: str) -> Raw:
    """Return the metadata of the template at a path."""
    result = raw
    for key in (*path.split("."), "metadata"):
        result = mapping(result, key)
    return result
