"""Steps with what the step template gives them, as far as texts go; resources are merged in ``steps``."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from kubectl_kres.tekton.model import DeclaredResult, Step, Variable, VolumeMount


def merged(steps: Sequence[Step] | None, template: Step | None, *, beta: bool = False) -> tuple[Step, ...]:
    """Each step's own texts before the template's; one that takes a StepAction is as it was.

    Variables are merged by name, mounts by path. ``beta``: v1beta1 forgets the results of the steps.

    Source: v1/merge.go MergeStepsWithStepTemplate.
    """
    if template is None:
        return tuple(steps or ())
    return tuple(
        step if step.ref is not None else _merged(step, template, None if beta else step.results)
        for step in steps or ()
    )


def _merged(step: Step, template: Step, results: tuple[DeclaredResult, ...] | None) -> Step:
    return msgspec.structs.replace(
        step,
        results=results,
        image=step.image or template.image,
        working_dir=step.working_dir or template.working_dir,
        command=step.command or template.command,
        args=step.args or template.args,
        image_pull_policy=step.image_pull_policy or template.image_pull_policy,
        env=_variables(step.env or (), template.env or ()) or None,
        volume_mounts=_mounts(step.volume_mounts or (), template.volume_mounts or ()) or None,
    )


def _variables(own: Sequence[Variable], under: Sequence[Variable]) -> tuple[Variable, ...]:
    names = {variable.name for variable in own}
    return (*own, *(variable for variable in under if variable.name not in names))


def _mounts(own: Sequence[VolumeMount], under: Sequence[VolumeMount]) -> tuple[VolumeMount, ...]:
    paths = {volume_mount.mount_path for volume_mount in own}
    return (*own, *(volume_mount for volume_mount in under if volume_mount.mount_path not in paths))
