"""The remedies with which a run's pod passes Pod Security: the flag for the containers that Tekton adds, contexts for
the others.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from shlex import quote

from msgspec import structs

from kubectl_kres.model.admission_objects import POD_SECURITY_LEVEL
from kubectl_kres.model.objects import Namespace
from kubectl_kres.policies.rules.compliant_context import compliant_spec, context_changes
from kubectl_kres.policies.rules.pod_security import parse_enforced_levels
from kubectl_kres.record import joined
from kubectl_kres.reports.common.explanation import Subject
from kubectl_kres.reports.common.remedy import Edit, NoCommand, Remedy
from kubectl_kres.reports.remedies.engine import RemedySearch, State
from kubectl_kres.store.store import Store
from kubectl_kres.tekton.reports.remedies.run_trials import flag_edit
from kubectl_kres.tekton.reports.remedies.run_values import RunCase
from kubectl_kres.tekton.rules.base.config import flags_of, has_change, merge_pod_templates
from kubectl_kres.tekton.rules.controller.taskrun import SecuredPod, secured_pod, violations
from kubectl_kres.wording import join_words

_UPGRADE = "upgrade Tekton to 0.49 or newer, which has the feature flag set-security-context, and set it to true"
FLAG, _CONTEXTS = "set-security-context", "contexts"
_BOTH = {FLAG: True, _CONTEXTS: True}


def security_remedies(store: Store, subject: Subject, case: RunCase) -> tuple[Remedy, ...]:
    """Return the remedies with which the pod passes, each tried on the checks of the level; none where none was found.

    What is in the Task comes before what is in Tekton's configuration; both together where both are needed.
    """
    namespace = case.world.namespace
    if namespace is None:
        return ()
    search = _SecuritySearch(store, subject, case, namespace)
    return tuple(search.remedies()) or search.other_violation_remedies()


class _SecuritySearch(RemedySearch[SecuredPod]):
    """Trials of a run's pod: with Tekton's flag, and with contexts of its own containers as the level asks for them."""

    def __init__(self, store: Store, subject: Subject, case: RunCase, namespace: Namespace) -> None:
        super().__init__(store, subject)
        self.case, self.namespace, self.version = case, namespace, case.world.server.version
        self.has_flag = has_change("security-context-flag", case.world.config.version)
        self.level = parse_enforced_levels(namespace.metadata.labels).enforce.name

    def evaluate(self, state: State) -> SecuredPod:
        """Return the pod, changed as little as possible."""
        run, config = self.case.run, self.case.world.config
        flags = flags_of(run.status.provenance, config.flags)
        changed_flags = structs.replace(flags, security_context=flags.security_context or FLAG in state)
        template = merge_pod_templates(run.spec.pod_template, config.pod_template)
        pod = secured_pod(run, self.case.task.spec, template, changed_flags, self.version)
        if _CONTEXTS not in state:
            return pod
        return structs.replace(pod, spec=compliant_spec(pod.spec, self.level, pod.added))

    def passes(self, trial: SecuredPod) -> bool:
        """Return whether the level takes the pod."""
        return not violations(trial, self.namespace, self.version[1])

    def states(self) -> Iterator[State]:
        """Yield the least that is enough."""
        tried: tuple[State, ...] = ({_CONTEXTS: True}, {FLAG: True}, _BOTH)
        yield self.find_first_passing(tried if self.has_flag else tried[:1]) or {}

    def edits(self, state: State) -> Sequence[Edit]:
        """Return the flag; contexts are said in words."""
        return [flag_edit(self.store, FLAG, "true")] if FLAG in state else []

    def compose(self, state: State, edits: Sequence[Edit]) -> Remedy:
        """Return the remedy with the contexts that are missing."""
        texts = [*_contexts(self.trial({}), self.trial(state))]
        remedy = super().compose(state, edits)
        reason = joined(remedy.no_command_reason, NoCommand("contexts") if texts else "")
        return structs.replace(remedy, text=joined(remedy.text, *texts), no_command_reason=reason)

    def other_violation_remedies(self) -> tuple[Remedy, ...]:
        """Return the violations that no context changes: volumes, ports, the host's namespaces."""
        breaches = violations(self.trial(_BOTH), self.namespace, self.version[1])
        if not breaches and not self.has_flag:
            name = quote(self.namespace.metadata.name)
            label = f"kubectl label namespace {name} --overwrite {POD_SECURITY_LEVEL}=baseline"
            return (Remedy(f"{_UPGRADE}; until then no flag does, but a lower level: {label}"),)
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
            if old.get("name", "") not in before.added and (gap := context_changes(old, new)):
                groups.setdefault(gap, []).append(old.get("name", ""))
    for gap, names in groups.items():
        yield f"in securityContext of {_format_container_names(names)} {gap}"


def _format_container_names(names: Sequence[str]) -> str:
    steps = [name.removeprefix("step-") for name in names if name.startswith("step-")]
    sidecars = [name.removeprefix("sidecar-") for name in names if name.startswith("sidecar-")]
    parts = [
        f"{word}{'s' * (len(same) > 1)} {join_words(same)}"
        for word, same in (("step", steps), ("sidecar", sidecars))
        if same
    ]
    return join_words(parts)
