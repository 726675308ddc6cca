"""The volumes of a TaskRun's pod by name: those that Tekton adds, the Task's, the pod template's."""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_kres.model.tekton import PodTemplate, TaskRun, TaskSpec
from kubectl_kres.model.tekton_parts import Named
from kubectl_kres.tekton.base.config import Flags
from kubectl_kres.tekton.base.template_merge import merged
from kubectl_kres.tekton.base.variables import replaced, variables_of
from kubectl_kres.tekton.resources.containers import has_scripts, stops
from kubectl_kres.tekton.validation.volume_faults import volume_faults
from kubectl_kres.tekton.validation.webhook_error import WebhookError, quote

#: How the volume of a workspace is called, with random letters behind it; a run's status has that name in its Task.
_OF_WORKSPACE = "ws-"
_IMPLICIT = ("workspace", "home", "results", "steps", "artifacts")


def doubled(run: TaskRun, spec: TaskSpec, template: PodTemplate | None, flags: Flags) -> tuple[WebhookError, ...]:
    """Volumes whose name is taken, by their place among all of the pod; volumes of workspaces have random names.

    Volumes for annotated Secrets of the service account come early, too, and are not counted: with such, the place is
    a higher one. Source: pkg/pod/pod.go Build.
    """
    own = (*(spec.volumes or ()), *((template.volumes if template is not None else None) or ()))
    if not own:
        return ()
    variables = variables_of(run.spec, spec)
    names = (*_added(run, spec, flags), *(replaced(one.name, variables) for one in own))
    return tuple(volume_faults([Named(name) for name in names], ""))


def mounted(run: TaskRun, spec: TaskSpec, template: PodTemplate | None, flags: Flags) -> tuple[str, ...]:
    """What the API server says of mounts of volumes that there are not, and of two at one path.

    Mounts are in the order of the pod: a step's own come first. What a workspace's volume is called is not known.
    Source: pkg/apis/core/validation/validation.go ValidateVolumeMounts.
    """
    variables = variables_of(run.spec, spec)
    own = (*(spec.volumes or ()), *((template.volumes if template is not None else None) or ()))
    names = {*_added(run, spec, flags), *(replaced(one.name, variables) for one in own)}
    held = [step.volume_mounts or () for step in merged(spec.steps, spec.step_template)]
    if not flags.kubernetes_sidecar:
        held += [sidecar.volume_mounts or () for sidecar in spec.sidecars or ()]
    found: list[str] = []
    for index, mounts in enumerate(held):
        paths: set[str] = set()
        for place, mount in enumerate(mounts):
            where = f"spec.containers[{index}].volumeMounts[{place}]"
            name, path = replaced(mount.name, variables), replaced(mount.mount_path, variables)
            if name not in names and "$(" not in name and not name.startswith(_OF_WORKSPACE):
                found.append(f"{where}.name: Not found: {quote(name)}")
            if path in paths:
                found.append(f"{where}.mountPath: Invalid value: {quote(path)}: must be unique")
            paths.add(path)
    return tuple(found)


def _added(run: TaskRun, spec: TaskSpec, flags: Flags) -> Iterator[str]:
    for name in _IMPLICIT:
        yield f"tekton-internal-{name}"
    debugged = stops(run.spec.debug, flags)
    if has_scripts(spec) or debugged:
        yield "tekton-internal-scripts"
    if debugged:
        yield from ("tekton-internal-debug-scripts", "tekton-internal-debug-info")
    yield "tekton-internal-bin"
    waits = flags.await_sidecars and (bool(spec.sidecars) or flags.injected_sidecars)
    if waits or flags.keep_pod:
        yield "tekton-internal-downward"
    for index in range(len(spec.steps or ())):
        if flags.creds_init:
            yield f"tekton-creds-init-home-{index}"
        yield f"tekton-internal-run-{index}"
