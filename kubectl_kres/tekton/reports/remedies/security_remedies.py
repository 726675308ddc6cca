"""The remedies with which a run's pod passes Pod Security: the flag for the containers that Tekton adds, contexts for
the others.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import structs

from kubectl_kres.model.objects import Namespace
from kubectl_kres.policies.rules.pod_security.compliant import compliant_spec, context_changes
from kubectl_kres.policies.rules.pod_security.levels import standard_of
from kubectl_kres.reports.common.explanation import Subject
from kubectl_kres.reports.common.parts import Admits, Edit, Remedy
from kubectl_kres.reports.remedies.words import compose_remedy, join_words
from kubectl_kres.store.store import Store
from kubectl_kres.tekton.reports.remedies.config_edits import flag_edit
from kubectl_kres.tekton.reports.remedies.run_values import RunCase
from kubectl_kres.tekton.rules.base.config import flags_of, merge_pod_templates
from kubectl_kres.tekton.rules.controller.taskrun import SecuredPod, secured_pod, violations

FLAG = "set-security-context"
Raw = Mapping[str, Any]


def security_remedies(store: Store, subject: Subject, case: RunCase) -> tuple[Remedy, ...]:
    """Return the remedies with which the pod passes, each tried on the checks of the level; none where none was found.

    What is in the Task comes before what is in Tekton's configuration; both together where both are needed.
    """
    world, namespace = case.world, case.world.namespace
    if namespace is None:
        return ()
    flags = flags_of(case.run.status.provenance, world.config.flags)
    template = merge_pod_templates(case.run.spec.pod_template, world.config.pod_template)
    level, minor = standard_of(namespace.metadata.labels).enforce.name, world.server.version[1]

    def pod(*, flag: bool) -> SecuredPod:
        own = structs.replace(flags, security_context=flags.security_context or flag)
        return secured_pod(case.run, case.task.spec, template, own, world.server.version)

    edit: tuple[Edit, ...] = (flag_edit(store, FLAG, "true"),)
    tries = [
        (compliant_pod(pod(flag=False), level), ()),
        (pod(flag=True), edit),
        (compliant_pod(pod(flag=True), level), edit),
    ]
    for secured, edits in tries:
        if not violations(secured, namespace, minor):
            return (_remedy(store, subject, pod(flag=False), secured, edits),)
    return _other_violation_remedies(compliant_pod(pod(flag=True), level), namespace, minor)


def _remedy(store: Store, subject: Subject, before: SecuredPod, after: SecuredPod, edits: Sequence[Edit]) -> Remedy:
    texts = [*_contexts(before, after)]
    remedy = compose_remedy(store, subject, edits, Admits(1, 1), 0)
    text = "; ".join(filter(None, (remedy.text, *texts)))
    why = remedy.why
    if texts:
        why = "; ".join(filter(None, (why, "stepTemplate.securityContext of the Task gives it to all steps at once")))
    return structs.replace(remedy, text=text, why=why)


def _other_violation_remedies(pod: SecuredPod, namespace: Namespace, minor: int) -> tuple[Remedy, ...]:
    """Return the violations that no context changes: volumes, ports, the host's namespaces."""
    breaches = violations(pod, namespace, minor)
    text = "; ".join(f"take out what it forbids: {violation.reason} ({violation.detail})" for violation in breaches)
    return (Remedy(text),) if text else ()


def _contexts(before: SecuredPod, after: SecuredPod) -> Iterator[str]:
    """Yield the missing fields of the contexts of the pod, of steps and of sidecars, containers with the same gaps
    together.
    """
    if (gap := context_changes(before.spec, after.spec)) != "":
        yield f"in podTemplate.securityContext {gap}"
    groups: dict[str, list[str]] = {}
    for key in ("initContainers", "containers"):
        for old, new in zip(before.spec[key], after.spec[key], strict=True):
            if old["name"] not in before.added and (gap := context_changes(old, new)):
                groups.setdefault(gap, []).append(old["name"])
    for gap, names in groups.items():
        yield f"in securityContext of {_format_container_names(names)} {gap}"


def _format_container_names(names: Sequence[str]) -> str:
    steps = [name.removeprefix("step-") for name in names if name.startswith("step-")]
    sidecars = [name.removeprefix("sidecar-") for name in names if name.startswith("sidecar-")]
    parts = [
        f"{word}{'s' * (len(own) > 1)} {join_words(own)}"
        for word, own in (("step", steps), ("sidecar", sidecars))
        if own
    ]
    return join_words(parts)


def compliant_pod(pod: SecuredPod, level: str) -> SecuredPod:
    """Return the pod with contexts of its own containers as the level asks for them, changed as little as possible."""
    return structs.replace(pod, spec=compliant_spec(pod.spec, level, pod.added))
