"""The remedies of refusals by admission plugins other than LimitRanger and ResourceQuota."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from kubectl_kres.model.objects import Metadata
from kubectl_kres.model.workload import template_of
from kubectl_kres.policies.reports.apply import next_pod
from kubectl_kres.policies.reports.trial import refusal_of
from kubectl_kres.policies.rules.compliant_context import compliant_spec, context_changes, context_patch, merged_spec
from kubectl_kres.policies.rules.pod_security import RULE, detail, parse_enforced_levels, violations
from kubectl_kres.record import Wording, joined
from kubectl_kres.reports.common.analysis import Analysis
from kubectl_kres.reports.common.explanation import Subject
from kubectl_kres.reports.common.remedy import NoCommand, Remedy
from kubectl_kres.reports.remedies.commands import is_patched, nest_value, patch_command
from kubectl_kres.reports.remedies.compose import edit_file
from kubectl_kres.reports.remedies.context import RemedyContext, RemedyTexts
from kubectl_kres.reports.remedies.keepers import named_keeper
from kubectl_kres.store.store import Store
from kubectl_kres.wording import join_words

_CONTAINERS = re.compile(r'containers? ("[^"]+"(?:, "[^"]+")*)')


def _security(case: RemedyContext) -> Iterator[str]:
    """Yield one line for each control: the container, the field, and the value that it requires."""
    for finding in case.findings:
        which = _CONTAINERS.search(finding.observed)
        names = which[1].replace('"', "") if which else ""
        containers_text = f"in container{'s' * (',' in names)} {names} " if which else ""
        if finding.expected:
            yield f"{containers_text}set {finding.path}: {finding.expected}"
        elif finding.path:
            yield f"{containers_text}take out or change {finding.path}: {finding.observed}"
        else:
            yield f"change what Pod Security names: {finding.observed}"


def _denial_remedies(case: RemedyContext) -> Iterator[str]:
    source, expression = case.finding.source, case.finding.observed
    text = f"make the pod meet what {source or 'the policy'} asks for"
    yield f"{text}: {expression}" if expression else text


def _failure_remedies(case: RemedyContext) -> Iterator[str]:
    yield f"correct {case.finding.source or 'the policy'}, which cannot be computed for this pod, or its binding"


def _no_answer(case: RemedyContext) -> Iterator[str]:
    which = case.finding.source or "the policy"
    yield f"in {which}, add an empty list, then each item at a path that ends in /-; servers from 1.37 on take the list"


def _account(case: RemedyContext) -> Iterator[str]:
    source = case.finding.source
    if source is None:
        yield "name a service account in spec.serviceAccountName"
        return
    yield f"create it (kubectl create serviceaccount {source.name} -n {source.namespace}), or name one that exists"


def _mirror(_case: RemedyContext) -> Iterator[str]:
    yield "take the annotation kubernetes.io/config.mirror out: only a kubelet makes mirror pods"


def _secret(_case: RemedyContext) -> Iterator[str]:
    yield "list the secret in the service account (kubectl edit), or take it out of the pod"


POLICING_REMEDIES: Mapping[str, RemedyTexts] = {
    "pod-security/violated": _security,
    "policy/denied": _denial_remedies,
    "policy/error": _failure_remedies,
    "policy/mutation-failed": _failure_remedies,
    "policy/no-answer": _no_answer,
    "service-account/missing": _account,
    "service-account/mirror": _mirror,
    "service-account/secret": _secret,
}


#: What kubectl cannot change in place, by kind.
_FIXED: Mapping[str, Wording] = {
    "Job": NoCommand("job"),
    "Pod": "the security contexts of a pod cannot be changed: create it anew with these values",
}
#: What the image may have against it.
_ROOT = "an image that runs as root does not start with runAsNonRoot: give it a USER, or set runAsUser"


def security_patch(store: Store, subject: Subject, analysis: Analysis) -> Remedy | None:
    """Return the patch of security contexts; None if it would not get the pod admitted."""
    findings = [finding for outcome in analysis.outcomes if outcome.refusal for finding in outcome.refusal.findings]
    namespace: Any = store.get("Namespace", subject.ref.namespace)
    pod = next_pod(subject, analysis.manifest)
    if pod is None or namespace is None or not findings or any(finding.rule != RULE for finding in findings):
        return None
    spec: Mapping[str, Any] = pod.get("spec") or {}
    if (spec.get("os") or {}).get("name") == "windows":
        return None
    level = parse_enforced_levels(namespace.metadata.labels).enforce
    patch = context_patch(spec, compliant_spec(spec, level.name))
    if not patch:
        return None
    merged = merged_spec(spec, patch)
    rest = violations(level, {**pod, "spec": merged}, analysis.server.version[1])
    if rest:
        return Remedy(f"{'; '.join(_texts(spec, merged))}; and take out what stays: {detail(rest)}", proven=False)
    stays = refusal_of(store, subject, {**pod, "spec": merged}, analysis)
    root = _ROOT if "runAsNonRoot" in json.dumps(patch) else ""
    reason = joined(_no_command(store, subject, analysis), root)
    command = "" if _no_command(store, subject, analysis) else _command(store, subject, analysis, patch)
    return Remedy(
        "; ".join(_texts(spec, merged)),
        (),
        (command,) * bool(command),
        reason,
        remaining_refusal=stays,
        proven=not stays,
    )


def _no_command(store: Store, subject: Subject, analysis: Analysis) -> Wording:
    """Return why there is no command for the patch; empty if there is one."""
    if subject.raw is not None:
        return edit_file(subject.file)
    owner = analysis.manifest.owner
    metadata: Metadata | None = owner.metadata if owner is not None else None
    kept = named_keeper(store, subject.ref, metadata) if metadata is not None else ""
    if kept or subject.ref.kind in _FIXED:
        return kept or _FIXED[subject.ref.kind]
    return "" if owner is not None and is_patched(subject.ref.kind) else NoCommand("manifest", str(subject.ref))


def _command(store: Store, subject: Subject, analysis: Analysis, patch: Mapping[str, Any]) -> str:
    owner = analysis.manifest.owner
    assert owner is not None
    steps = [*template_of(owner)[0].split("."), "spec"]
    return patch_command(store.origin, subject.ref, nest_value(steps, patch), "strategic")


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
