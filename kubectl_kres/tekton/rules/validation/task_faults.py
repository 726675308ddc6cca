"""The webhook's refusals of a TaskSpec: its steps and sidecars, its declarations, volumes, mounts and workspaces."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from posixpath import normpath

from kubectl_kres import durations
from kubectl_kres.go_text import quote
from kubectl_kres.tekton.model import Named, Sidecar, Step, TaskSpec, VolumeMount, When
from kubectl_kres.tekton.rules.base import config as template_merge
from kubectl_kres.tekton.rules.base.config import Flags
from kubectl_kres.tekton.rules.resources.container_draft import step_words
from kubectl_kres.tekton.rules.validation import name_faults as result_faults
from kubectl_kres.tekton.rules.validation.declarations import declaration_faults, read_declarations, type_faults
from kubectl_kres.tekton.rules.validation.name_faults import reference_faults
from kubectl_kres.tekton.rules.validation.variable_faults import context_faults, place_faults, use_faults
from kubectl_kres.tekton.rules.validation.variable_faults import result_faults as script_faults
from kubectl_kres.tekton.rules.validation.webhook_error import LABEL, WebhookError

_VOLUME, _MOUNT, _TWICE = "tekton/volume", "tekton/mount", "tekton/given-twice"


def volume_faults(volumes: Sequence[Named] | None, path: str) -> Iterator[WebhookError]:
    """Volumes with a name that is taken. Source: v1/task_validation.go ValidateVolumes."""
    names: set[str] = set()
    for index, volume in enumerate(volumes or ()):
        if volume.name in names:
            text = f"multiple volumes with same name {quote(volume.name)}"
            yield WebhookError(text, f"{path}[{index}].name", _VOLUME)
        names.add(volume.name)


def workspace_faults(spec: TaskSpec, path: str) -> Iterator[WebhookError]:
    """Workspaces that are declared twice, or at a path that a step mounts something at.

    Source: v1/task_validation.go validateDeclaredWorkspaces.
    """
    names: set[str] = set()
    steps = (*(spec.steps or ()), spec.step_template or Step())
    mounts = {_clean(mount.mount_path) for step in steps for mount in step.volume_mounts or ()}
    for index, workspace in enumerate(spec.workspaces or ()):
        item_path, mount = f"{path}.workspaces[{index}]", _clean(workspace.mount_path or f"/workspace/{workspace.name}")
        if workspace.name in names:
            yield WebhookError(f"workspace name {quote(workspace.name)} must be unique", f"{item_path}.name", _TWICE)
        if mount in mounts:
            yield WebhookError(f"workspace mount path {quote(mount)} must be unique", f"{item_path}.mountpath", _TWICE)
        names.add(workspace.name)
        mounts.add(mount)


def usage_faults(spec: TaskSpec, path: str, flags: Flags) -> Iterator[WebhookError]:
    """Workspaces that a step or sidecar has for itself. Source: v1/task_validation.go validateWorkspaceUsages."""
    names = {workspace.name for workspace in spec.workspaces or ()}
    used = {
        "step": [step.workspaces or () for step in spec.steps or ()],
        "sidecar": [sidecar.workspaces or () for sidecar in spec.sidecars or ()],
    }
    for role, pairs in used.items():
        for index, workspaces in enumerate(pairs):
            if workspaces and flags.api_fields == "stable":
                text = f'{role} workspaces requires "enable-api-fields" feature gate to be "alpha" or "beta" but it is'
                yield WebhookError(f'{text} "stable"', "", "tekton/api-fields")
            for position, workspace in enumerate(workspaces):
                if workspace.name not in names:
                    item_path = f"{path}.{role}s[{index}].workspaces[{position}].name"
                    yield WebhookError(f"undefined workspace {quote(workspace.name)}", item_path, "tekton/undeclared")


def mount_faults(mounts: Sequence[VolumeMount] | None, path: str) -> Iterator[WebhookError]:
    """Mounts where Tekton's own are. Source: v1/container_validation.go Step.Validate."""
    for index, mount in enumerate(mounts or ()):
        item_path, clean = f"{path}.volumeMounts[{index}]", _clean(mount.mount_path)
        if clean.startswith("/tekton/") and not clean.startswith("/tekton/home"):
            text = f"(volumeMount {quote(mount.name)} mounted at {quote(mount.mount_path)})"
            text = f"volumeMount cannot be mounted under /tekton/ {text}"
            yield WebhookError(text, f"{item_path}.mountPath", _MOUNT)
        if mount.name.startswith("tekton-internal-"):
            text = f'volumeMount name {quote(mount.name)} cannot start with "tekton-internal-"'
            yield WebhookError(text, f"{item_path}.name", _MOUNT)


def _clean(path: str) -> str:
    """Return a path as Go cleans it, which keeps no second slash at its start."""
    return normpath(path).replace("//", "/", 1) if path else "."


_ARTIFACT = re.compile(r"\$\((?:(?:step\.)?artifacts\.path|(?:steps|tasks)\.[^.]+\.(?:inputs|outputs)\.[^.)]+)\)")
ON_ERROR = ("continue", "stopAndFail")
_RESERVED = "tekton-log-results"
_NAME = (
    "Task step name must be a valid DNS Label, For more info refer to "
    "https://kubernetes.io/docs/concepts/overview/working-with-objects/names/#names"
)


def task_faults(spec: TaskSpec, path: str, flags: Flags, *, beta: bool = False) -> Iterator[WebhookError]:
    """Yield the faults of the spec that stands at ``path``; ``beta``: v1beta1 looks at less, and says it otherwise.

    Steps are looked at with what the step template gives them. Source: v1/task_validation.go, container_validation.go.
    """
    if not spec.steps:
        yield WebhookError("missing field(s)", f"{path}.steps", "tekton/no-steps")
    yield from volume_faults(spec.volumes, f"{path}.volumes")
    yield from workspace_faults(spec, path)
    yield from usage_faults(spec, path, flags)
    steps = template_merge.merge_templates(spec.steps, spec.step_template, beta=beta)
    yield from _steps(steps, path, flags, beta=beta)
    yield from _sidecars(spec, path, beta=beta)
    params = read_declarations(spec.params)
    yield from type_faults(params, f"{path}.params")
    yield from declaration_faults(params, path, enum=flags.param_enum)
    yield from use_faults(steps, params, path)
    yield from context_faults(steps, path, beta=beta)
    yield from script_faults(steps, spec.results, path, beta=beta)
    yield from result_faults.task_result_faults(spec.results, f"{path}.results")


def _steps(steps: Sequence[Step], path: str, flags: Flags, *, beta: bool) -> Iterator[WebhookError]:
    names: set[str] = set()
    for index, step in enumerate(steps):
        item_path = f"{path}.steps[{index}]"
        early = not flags.artifacts and any(_ARTIFACT.search(word) for word in step_words(step))
        if not (beta and early):
            if step.name and step.name in names:
                text = f"invalid value: {step.name}" if beta else "expected exactly one, got both"
                yield WebhookError(text, f"{item_path}.name", "tekton/step-name")
            names.add(step.name)
        yield from (_artifacts(item_path),) if early else _step(step, item_path, flags)
        yield from result_faults.step_result_faults(step.results, f"{path}.steps.results[{index}]")
        yield from (
            fault
            for position, when in enumerate(step.when or ())
            for fault in when_faults(when, f"{item_path}.when[{position}]")
        )


def _sidecars(spec: TaskSpec, path: str, *, beta: bool) -> Iterator[WebhookError]:
    for sidecar in spec.sidecars or ():
        if sidecar.name == _RESERVED:
            text = f"Invalid: cannot use reserved sidecar name {_RESERVED} "
            item_path = f"{path}.sidecars" if beta else f"{path}.sidecars.name"
            yield WebhookError(text, item_path, "tekton/reserved-sidecar")
        if not beta:
            yield from sidecar_faults(sidecar, f"{path}.sidecars")


def windows_faults(script: str, flags: Flags) -> Iterator[WebhookError]:
    """Yield the fault of a script for Windows, which is an alpha feature."""
    if script.strip().startswith("#!win"):
        yield from _alpha("windows script support", flags)


def _alpha(what: str, flags: Flags) -> Iterator[WebhookError]:
    if flags.api_fields != "alpha":
        text = f'{what} requires "enable-api-fields" feature gate to be "alpha" but it is "{flags.api_fields}"'
        yield WebhookError(text, "", "tekton/api-fields")


def _artifacts(path: str) -> WebhookError:
    """Nothing else is said of such a step; v1beta1 does not even note its name."""
    text = "feature flag enable-artifacts should be set to true to use artifacts feature."
    return WebhookError(text, path, "tekton/artifacts")


def _step(step: Step, path: str, flags: Flags) -> Iterator[WebhookError]:
    length = durations.parse_or_none(step.timeout) if step.timeout is not None else None
    if length is not None and length < 0:
        # Nothing else is said of such a step.
        yield WebhookError(f"invalid value: {durations.to_text(length)}", f"{path}.negative timeout", "tekton/timeout")
        return
    if step.ref is not None:
        yield from reference_faults(step.ref, path, flags)
        yield from _step_reference_faults(step, path)
    else:
        if step.params:
            yield WebhookError("params cannot be used without Ref", f"{path}.params", "tekton/step-ref")
        yield from runs(path, "Image", step.image, script=step.script, command=step.command)
    if step.on_error and step.on_error not in ON_ERROR and not step.on_error.startswith("$(params"):
        text = 'Task step onError must be either "continue" or "stopAndFail"'
        yield WebhookError(f'invalid value: "{step.on_error}"', f"{path}.onError", "tekton/on-error", text)
    if step.name and not LABEL.fullmatch(step.name):
        yield WebhookError(f'invalid value "{step.name}"', f"{path}.name", "tekton/step-name", _NAME)
    yield from mount_faults(step.volume_mounts, path)
    yield from windows_faults(step.script, flags)
    for what, item in (("stdout", step.stdout_config), ("stderr", step.stderr_config)):
        if item is not None:
            yield from _alpha(f"step {what} stream support", flags)
    yield from place_faults(step, path)


def when_faults(when: When, path: str) -> Iterator[WebhookError]:
    """Yield the faults of conditions of a step or pipeline task; CEL is not read. Source: v1/when_validation.go."""
    if when.cel:
        return
    if when == When():
        yield WebhookError("missing field(s)", path, "tekton/when")
    elif when.operator not in {"in", "notin"}:
        text = f'operator "{when.operator}" is not recognized. valid operators: in,notin'
        yield WebhookError(f"invalid value: {text}", path, "tekton/when")
    elif not when.values:
        yield WebhookError("invalid value: expecting non-empty values field", path, "tekton/when")


def _step_reference_faults(step: Step, path: str) -> Iterator[WebhookError]:
    """Yield the faults of a step that takes a StepAction and states a field of it; the step template comes after
    both.
    """
    taken = {
        "image": ("image", step.image),
        "command": ("command", step.command),
        "args": ("args", step.args),
        "script": ("script", step.script),
        "workingDir": ("working dir", step.working_dir),
        "env": ("env", step.env),
        "volumeMounts": ("volumeMounts", step.volume_mounts),
        "results": ("results", step.results),
    }
    for field, (name, declared_results) in taken.items():
        if declared_results:
            yield WebhookError(f"{name} cannot be used with Ref", f"{path}.{field}", "tekton/step-ref")


def sidecar_faults(sidecar: Sidecar, path: str) -> Iterator[WebhookError]:
    """Yield the faults of sidecars that v1beta1 lets pass, so that they only come up when the pod is built."""
    yield from runs(path, "image", sidecar.image, script=sidecar.script, command=sidecar.command)


def runs(path: str, field: str, image: str, *, script: str, command: Sequence[str] | None) -> Iterator[WebhookError]:
    """Yield what a container runs: an image, named ``field`` in the message, and a script or a command."""
    if not image:
        yield WebhookError("missing field(s)", f"{path}.{field}", "tekton/image")
    if script and command:
        yield WebhookError("script cannot be used with command", f"{path}.script", "tekton/script")
