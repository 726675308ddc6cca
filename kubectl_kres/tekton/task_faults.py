"""What the webhook refuses in a TaskSpec: its steps and sidecars."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from kubectl_kres.model.tekton import Reference, Sidecar, Step, TaskSpec
from kubectl_kres.tekton.config import Flags
from kubectl_kres.tekton.containers import words
from kubectl_kres.tekton.field_error import LABEL, FieldError
from kubectl_kres.tekton.name_faults import declared_faults, workspace_faults

_ARTIFACT = re.compile(r"\$\((?:(?:step\.)?artifacts\.path|(?:steps|tasks)\.[^.]+\.(?:inputs|outputs)\.[^.)]+)\)")
ON_ERROR = ("continue", "stopAndFail")
_RESERVED = "tekton-log-results"
_NAME = (
    "Task step name must be a valid DNS Label, For more info refer to "
    "https://kubernetes.io/docs/concepts/overview/working-with-objects/names/#names"
)


def task_faults(spec: TaskSpec, path: str, flags: Flags, *, beta: bool = False) -> Iterator[FieldError]:
    """The faults of the spec that stands at ``path``; ``beta``: v1beta1 looks at less, and says it otherwise.

    Fields that say nothing of containers and resources are not looked at. Source: v1/task_validation.go,
    container_validation.go.
    """
    if not spec.steps:
        yield FieldError("missing field(s)", f"{path}.steps", "tekton/no-steps")
    yield from declared_faults(spec.params, path)
    yield from workspace_faults(spec.workspaces, path)
    template = spec.step_template or Step()
    names: set[str] = set()
    for index, step in enumerate(spec.steps or ()):
        where = f"{path}.steps[{index}]"
        if step.name and step.name in names:
            text = f"invalid value: {step.name}" if beta else "expected exactly one, got both"
            yield FieldError(text, f"{where}.name", "tekton/step-name")
        names.add(step.name)
        yield from _step(step, template, where, flags)
    for sidecar in spec.sidecars or ():
        if sidecar.name == _RESERVED:
            text = f"Invalid: cannot use reserved sidecar name {_RESERVED} "
            where = f"{path}.sidecars" if beta else f"{path}.sidecars.name"
            yield FieldError(text, where, "tekton/reserved-sidecar")
        if not beta:
            yield from sidecar_faults(sidecar, f"{path}.sidecars")


def action_faults(spec: Step, path: str) -> Iterator[FieldError]:
    """The faults of a StepAction. Source: v1beta1/stepaction_validation.go."""
    yield from _runs(path, "Image", spec.image, script=spec.script, command=spec.command)


def reference_faults(ref: Reference | None, path: str) -> Iterator[FieldError]:
    """A reference names an object, or a resolver. Source: v1/container_validation.go validateRef."""
    if ref is not None and not (ref.name or ref.resolver):
        field = "resolver" if ref.params is not None else "name"
        yield FieldError("missing field(s)", f"{path}.{field}", "tekton/one-of")


def _step(step: Step, template: Step, path: str, flags: Flags) -> Iterator[FieldError]:
    if not flags.artifacts and any(_ARTIFACT.search(word) for word in words(step)):
        text = "feature flag enable-artifacts should be set to true to use artifacts feature."
        yield FieldError(text, path, "tekton/artifacts")
        return
    if step.ref is not None:
        yield from _referring(step, path)
    else:
        if step.params:
            yield FieldError("params cannot be used without Ref", f"{path}.params", "tekton/step-ref")
        command = step.command or template.command
        yield from _runs(path, "Image", step.image or template.image, script=step.script, command=command)
    if step.on_error and step.on_error not in ON_ERROR and not step.on_error.startswith("$(params."):
        text = 'Task step onError must be either "continue" or "stopAndFail"'
        yield FieldError(f'invalid value: "{step.on_error}"', f"{path}.onError", "tekton/on-error", text)
    if step.name and not LABEL.fullmatch(step.name):
        yield FieldError(f'invalid value "{step.name}"', f"{path}.name", "tekton/step-name", _NAME)
    if step.script.strip().startswith("#!win") and flags.api_fields != "alpha":
        text = 'windows script support requires "enable-api-fields" feature gate to be "alpha" but it is "{}"'
        yield FieldError(text.format(flags.api_fields), "", "tekton/api-fields")


def _referring(step: Step, path: str) -> Iterator[FieldError]:
    """A step that takes a StepAction says none of what that says; the step template comes after both."""
    taken = {
        "image": ("image", step.image),
        "command": ("command", step.command),
        "args": ("args", step.args),
        "script": ("script", step.script),
        "workingDir": ("working dir", step.working_dir),
        "env": ("env", step.env),
    }
    for field, (said, held) in taken.items():
        if held:
            yield FieldError(f"{said} cannot be used with Ref", f"{path}.{field}", "tekton/step-ref")


def sidecar_faults(sidecar: Sidecar, path: str) -> Iterator[FieldError]:
    """What v1beta1 lets pass, so that it only comes up when the pod is built."""
    yield from _runs(path, "image", sidecar.image, script=sidecar.script, command=sidecar.command)


def _runs(path: str, field: str, image: str, *, script: str, command: Sequence[str] | None) -> Iterator[FieldError]:
    """What a container runs: an image, named ``field`` in the message, and a script or a command."""
    if not image:
        yield FieldError("missing field(s)", f"{path}.{field}", "tekton/image")
    if script and command:
        yield FieldError("script cannot be used with command", f"{path}.script", "tekton/script")
