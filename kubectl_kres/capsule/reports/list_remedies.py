"""What mends a refusal by the lists of a Tenant, tried: a name that it allows in the workload, or the Tenant's edit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from msgspec import structs

from kubectl_kres.admission.base.outcome import Finding, Refusal
from kubectl_kres.admission.request.new_pod import Policies, admit
from kubectl_kres.capsule.model import AllowedList, TenantSpec
from kubectl_kres.capsule.rules.tenant_classes import ClassWebhooks, image_name
from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.model.pod import Container, Pod
from kubectl_kres.model.workload import template_of
from kubectl_kres.record import Wording
from kubectl_kres.reports.common.analysis import Analysis
from kubectl_kres.reports.common.explanation import Subject
from kubectl_kres.reports.common.remedy import NoCommand, Remedy, SetField
from kubectl_kres.reports.remedies.commands import is_patched, nest_value, patch_command
from kubectl_kres.reports.remedies.keepers import named_keeper
from kubectl_kres.store.store import Store
from kubectl_kres.wording import join_words

_IMAGE = "whether that image is there is not known"
_REGISTRY = "capsule/registry"
#: Refusals of one pod that are mended together at most.
_MOST = 8
_CLASSES = {"spec.priorityClassName": "priority_class_name", "spec.runtimeClassName": "runtime_class_name"}
_FIELDS = {
    "spec.priorityClasses": "priority_classes",
    "spec.runtimeClasses": "runtime_classes",
    "spec.containerRegistries": "container_registries",
    "spec.imagePullPolicies": "image_pull_policies",
}


#: By path in the pod: why it is refused, and what is put there.
_Changes = Mapping[str, tuple[Finding, str]]


class _Addition(NamedTuple):
    """A value that a list of the Tenant gets. ``before``: the list as it is."""

    field: str
    value: str
    before: tuple[str, ...] | None


def list_remedies(store: Store, subject: Subject, analysis: Analysis) -> tuple[Remedy, ...]:
    """Return what mends all refusals of a pod by lists of its Tenant, each way tried; nothing where others refuse."""
    policies = analysis.policies.policies
    webhook = next((hook for hook in policies.webhooks if isinstance(hook, ClassWebhooks)), None)
    finding = _finding(analysis.outcomes[0].refusal if analysis.outcomes else None)
    if webhook is None or finding is None:
        return ()
    of_object = _of_run if analysis.made_pod is not None else _of_workload
    ways = (of_object(store, subject, analysis, finding), _of_tenant(store, analysis, webhook))
    return tuple(fix for way in ways for fix in way)


def _finding(refusal: Refusal | None) -> Finding | None:
    """Return why a list refuses; None: none does."""
    finding = refusal.findings[0] if refusal is not None and refusal.findings else None
    if finding is None or finding.source is None or finding.source.field not in _FIELDS:
        return None
    return finding if finding.rule in {"capsule/class-allowed", _REGISTRY, "capsule/pull-policy"} else None


def _of_tenant(store: Store, analysis: Analysis, webhook: ClassWebhooks) -> Iterator[Remedy]:
    """Yield the edit of the Tenant after which the pod is admitted."""
    spec, additions = webhook.lists.spec, []
    pod, server = analysis.manifest.pod, analysis.server
    for _ in range(_MOST):
        policies = _with_spec(analysis.policies.policies, webhook, spec)
        refused = [outcome.refusal for outcome in admit(pod, policies, server, journal=False) if outcome.refusal]
        finding = _finding(refused[0] if refused else None)
        if finding is None:
            break
        added = _allowed(spec, finding)
        if added is None:
            return
        spec, addition = added
        additions.append(addition)
    if refused or not additions:
        return
    ref = ObjectRef("Tenant", webhook.lists.tenant)
    operations = [_operation(addition) for addition in additions]
    texts = [f"{addition.value} in {addition.field}" for addition in additions]
    edits = tuple(
        SetField(ref, addition.field, ", ".join((*(addition.before or ()), addition.value)),
                 ", ".join(addition.before or ()) or None)
        for addition in additions
    )  # fmt: skip
    yield Remedy(
        f"allow {join_words(texts)} of Tenant {ref.name}: the next pod is admitted (tried)",
        edits,
        (patch_command(store.origin, ref, operations, "json"),),
        proven=True,
    )


def _with_spec(policies: Policies, webhook: ClassWebhooks, spec: TenantSpec) -> Policies:
    changed = structs.replace(webhook, lists=structs.replace(webhook.lists, spec=spec))
    hooks = tuple(changed if hook is webhook else hook for hook in policies.webhooks)
    return structs.replace(policies, webhooks=hooks)


def _allowed(spec: TenantSpec, finding: Finding) -> tuple[TenantSpec, _Addition] | None:
    """Return the Tenant with one more name in a list; None: no name would do."""
    field = finding.source.field if finding.source is not None else ""
    held: Any = getattr(spec, _FIELDS[field])
    value = image_name(finding.observed).registry if finding.rule == _REGISTRY else finding.observed
    if not value:
        return None
    if isinstance(held, AllowedList):
        before = held.allowed
        new: Any = structs.replace(held, allowed=(*(before or ()), value))
        addition = _Addition(f"{field}.allowed", value, before)
    else:
        new, addition = (*held, value), _Addition(field, value, tuple(held))
    return structs.replace(spec, **{_FIELDS[field]: new}), addition


def _operation(addition: _Addition) -> Mapping[str, Any]:
    pointer = f"/{addition.field.replace('.', '/')}"
    if addition.before is None:
        return {"op": "add", "path": pointer, "value": [addition.value]}
    return {"op": "add", "path": f"{pointer}/-", "value": addition.value}


def _changes(analysis: Analysis, first: Finding) -> _Changes:
    """Return allowed names with which the pod is admitted; none where there are no such."""
    pod, finding, changes = analysis.manifest.pod, first, dict[str, tuple[Finding, str]]()
    for _ in range(_MOST):
        step = _next_change(pod, analysis, finding)
        if step is None:
            return {}
        changes[finding.path] = finding, step.value
        pod = step.pod
        if step.refusal is None:
            return changes
        following = _finding(step.refusal)
        if following is None or following.path in changes:
            return {}
        finding = following
    return {}


def _of_run(store: Store, subject: Subject, analysis: Analysis, first: Finding) -> Iterator[Remedy]:
    """Yield the same for the pod of a run, whose containers and template stand elsewhere under names of their own."""
    del store
    changes = _changes(analysis, first)
    if not changes:
        return
    spec = analysis.manifest.pod.spec
    places = {
        f"spec.{group}[{index}]": item.name
        for group, items in (("initContainers", spec.init_containers), ("containers", spec.containers))
        for index, item in enumerate(items or ())
    }
    texts = []
    for path, (_, wanted) in changes.items():
        holder, _, field = path.rpartition(".")
        texts.append(f"{field} of {places.get(holder, 'podTemplate')} to {wanted}")
    text = f"set {join_words(texts)} in {subject.ref}, or what it comes from: the pod of a new run is admitted (tried)"
    yield Remedy(f"{text}{_about_images(changes)}", proven=True)


def _about_images(changes: _Changes) -> str:
    """Return what is to be said of images that are named."""
    images = [found for found, _ in changes.values() if found.rule == _REGISTRY]
    bare = any(not image_name(found.observed).registry for found in images)
    text = "; an image whose name has no registry is always refused" * bare
    return text + f"; {_IMAGE}" * bool(images)


def _of_workload(store: Store, subject: Subject, analysis: Analysis, first: Finding) -> Iterator[Remedy]:
    """Yield allowed names with which the pod is admitted, and what names them in the workload."""
    changes = _changes(analysis, first)
    if not changes:
        return
    owner = analysis.manifest.owner
    steps = [*template_of(owner)[0].split("."), "spec"] if owner is not None else ["spec"]
    edits = tuple(
        SetField(subject.ref, ".".join((*steps, path.removeprefix("spec."))), wanted, found.observed)
        for path, (found, wanted) in changes.items()
    )
    command = _command(store, subject, analysis, changes, steps)
    reason = "" if command else _no_command(store, subject, analysis, changes)
    sets = join_words([f"{edit.field} to {edit.to}" for edit in edits])
    text = f"set {sets}: the next pod is admitted (tried){_about_images(changes)}"
    yield Remedy(text, edits, (command,) if command else (), reason, proven=True)


class _Step(NamedTuple):
    """A pod with one name changed, and the refusal that is left; None: none is."""

    pod: Pod
    value: str
    refusal: Refusal | None


def _next_change(pod: Pod, analysis: Analysis, finding: Finding) -> _Step | None:
    """Return the first allowed name after which the same is not refused any more; None: there is none."""
    for value in filter(None, finding.expected.split(", ")):
        changed, wanted = _changed_pod(pod, finding, value)
        outcomes = admit(changed, analysis.policies.policies, analysis.server, journal=False)
        refusals = [outcome.refusal for outcome in outcomes if outcome.refusal is not None]
        refusal = refusals[0] if refusals else None
        if refusal is None or refusal.findings[0].path != finding.path:
            return _Step(changed, wanted, refusal)
    return None


def _changed_pod(pod: Pod, finding: Finding, value: str) -> tuple[Pod, str]:
    """Return the pod with another name in place of the one that is refused, and that name."""
    if finding.path in _CLASSES:
        more = {"priority": None, "preemption_policy": None} if finding.path == "spec.priorityClassName" else {}
        spec = structs.replace(pod.spec, **{_CLASSES[finding.path]: value}, **more)
        return structs.replace(pod, spec=spec), value
    wanted = value
    if finding.rule == _REGISTRY:
        _, slash, rest = finding.observed.partition("/")
        wanted = f"{value}/{rest if slash and image_name(finding.observed).registry else finding.observed}"

    def changed(group: tuple[Container, ...] | None, path: str) -> tuple[Container, ...] | None:
        if group is None:
            return None
        return tuple(
            structs.replace(item, **{"image" if finding.rule == _REGISTRY else "image_pull_policy": wanted})
            if finding.path.startswith(f"{path}[{index}].")
            else item
            for index, item in enumerate(group)
        )

    spec = structs.replace(
        pod.spec,
        containers=changed(pod.spec.containers, "spec.containers"),
        init_containers=changed(pod.spec.init_containers, "spec.initContainers"),
    )
    return structs.replace(pod, spec=spec), wanted


def _command(store: Store, subject: Subject, analysis: Analysis, changes: _Changes, steps: list[str]) -> str:
    """Return the line that changes classes in the template; empty where there is none, as of images."""
    owner = analysis.manifest.owner
    if (
        not set(changes) <= set(_CLASSES)
        or subject.raw is not None
        or owner is None
        or not is_patched(subject.ref.kind)
    ):
        return ""
    if named_keeper(store, subject.ref, owner.metadata):
        return ""
    patch = nest_value(steps, {path.removeprefix("spec."): wanted for path, (_, wanted) in changes.items()})
    return patch_command(store.origin, subject.ref, patch, "strategic")


def _no_command(store: Store, subject: Subject, analysis: Analysis, changes: _Changes) -> Wording:
    owner = analysis.manifest.owner
    kept = named_keeper(store, subject.ref, owner.metadata) if owner is not None and subject.raw is None else ""
    if kept:
        return kept
    if subject.raw is None and any(found.rule == _REGISTRY for found, _ in changes.values()):
        return "look whether the image is there first"
    return NoCommand("manifest", str(subject.ref))
