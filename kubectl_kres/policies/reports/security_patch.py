"""The patch with which pods pass Pod Security: the level fixes every value. Tried before it is named."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping
from typing import Any

from kubectl_kres.model.kinds import BY_KIND
from kubectl_kres.model.objects import Metadata, ObjectRef
from kubectl_kres.policies.reports.apply import next_pod
from kubectl_kres.policies.rules.pod_security.compliant import (
    compliant_spec,
    context_changes,
    context_patch,
    merged_spec,
)
from kubectl_kres.policies.rules.pod_security.levels import RULE, detail, standard_of, violations
from kubectl_kres.reports.common.analysis import Analysis
from kubectl_kres.reports.common.explanation import EvaluationOptions, Subject, template_of
from kubectl_kres.reports.common.parts import Remedy
from kubectl_kres.reports.pod.verdict import verdict_of
from kubectl_kres.reports.remedies.commands import directed_command, is_patched, keeper_of
from kubectl_kres.reports.remedies.words import join_words
from kubectl_kres.store.store import Store

#: What kubectl cannot change in place, by kind.
_FIXED = {
    "Job": "the template of a Job cannot be changed: delete the Job and create it again with these values",
    "Pod": "the security contexts of a pod cannot be changed: create it anew with these values",
}
#: What the image may have against it.
_ROOT = "an image that runs as root does not start with runAsNonRoot: give it a USER, or set runAsUser"


def security_patch(store: Store, subject: Subject, analysis: Analysis) -> Remedy | None:
    """Return the fix; None where something else refuses, too, or where contexts alone do not help."""
    findings = [finding for outcome in analysis.outcomes if outcome.refusal for finding in outcome.refusal.findings]
    namespace: Any = store.get("Namespace", subject.ref.namespace)
    pod = next_pod(subject, analysis.start)
    if pod is None or namespace is None or not findings or any(finding.rule != RULE for finding in findings):
        return None
    spec: Mapping[str, Any] = pod.get("spec") or {}
    if (spec.get("os") or {}).get("name") == "windows":
        return None
    level = standard_of(namespace.metadata.labels).enforce
    patch = context_patch(spec, compliant_spec(spec, level.name))
    if not patch:
        return None
    merged = merged_spec(spec, patch)
    rest = violations(level, {**pod, "spec": merged}, analysis.server.version[1])
    if rest:
        return Remedy(f"{'; '.join(_texts(spec, merged))}; and take out what stays: {detail(rest)}", proven=False)
    stays = _refusal(store, subject, {**pod, "spec": merged}, analysis)
    root = _ROOT if "runAsNonRoot" in json.dumps(patch) else ""
    why = "; ".join(filter(None, (_no_command(subject, analysis), root)))
    command = "" if _no_command(subject, analysis) else _command(store, subject, analysis, patch)
    return Remedy("; ".join(_texts(spec, merged)), (), (command,) * bool(command), why, stays=stays, proven=not stays)


def _refusal(store: Store, subject: Subject, pod: Mapping[str, Any], analysis: Analysis) -> str:
    """Return what refuses the patched pod; empty: nothing does."""
    from kubectl_kres.reports.explain.explain import analysis_of

    ref = ObjectRef("Pod", subject.ref.name, subject.ref.namespace)
    tried = analysis_of(store, Subject(ref, BY_KIND["Pod"], pod), EvaluationOptions(analysis.server), journal=False)
    return verdict_of(tried.outcomes).message if any(outcome.refusal for outcome in tried.outcomes) else ""


def _no_command(subject: Subject, analysis: Analysis) -> str:
    """Return why nothing can be typed; empty: a patch can."""
    if subject.raw is not None:
        return f"make the edits in {subject.file or 'the file'}"
    owner = analysis.start.owner
    metadata: Metadata | None = owner.metadata if owner is not None else None
    kept = keeper_of(subject.ref, metadata) if metadata is not None else ""
    if kept or subject.ref.kind in _FIXED:
        return kept or _FIXED[subject.ref.kind]
    return "" if owner is not None and is_patched(subject.ref.kind) else f"change the manifest of {subject.ref}"


def _command(store: Store, subject: Subject, analysis: Analysis, patch: Mapping[str, Any]) -> str:
    owner = analysis.start.owner
    assert owner is not None
    whole: Mapping[str, Any] = {"spec": patch}
    for step in reversed(template_of(owner)[0].split(".")):
        whole = {step: whole}
    ref = subject.ref
    where = f"{ref.kind.lower()} {shlex.quote(ref.name)} -n {shlex.quote(ref.namespace)}"
    text = shlex.quote(json.dumps(whole, separators=(",", ":")))
    return directed_command(store.origin, f"patch {where} --type strategic -p {text}")


def _texts(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[str]:
    """Yield what contexts lack, containers with the same gaps together."""
    if gap := context_changes(old, new):
        yield f"in the pod's securityContext {gap}"
    groups: dict[str, list[str]] = {}
    for key in ("initContainers", "containers"):
        for before, after in zip(old.get(key) or (), new.get(key) or (), strict=True):
            if gap := context_changes(before, after):
                groups.setdefault(gap, []).append(str(after.get("name", "")))
    for gap, names in groups.items():
        yield f"in securityContext of container{'s' * (len(names) > 1)} {join_words(names)} {gap}"
