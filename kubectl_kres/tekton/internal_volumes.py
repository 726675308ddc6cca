"""The volumes of a TaskRun's pod by name: those that Tekton adds, the Task's, the pod template's."""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_kres.model.tekton import PodTemplate, TaskRun, TaskSpec
from kubectl_kres.model.tekton_parts import Named
from kubectl_kres.tekton.config import Flags
from kubectl_kres.tekton.containers import has_scripts, stops
from kubectl_kres.tekton.field_error import FieldError
from kubectl_kres.tekton.variables import replaced, variables_of
from kubectl_kres.tekton.volume_faults import volume_faults

_IMPLICIT = ("workspace", "home", "results", "steps", "artifacts")


def doubled(run: TaskRun, spec: TaskSpec, template: PodTemplate | None, flags: Flags) -> tuple[FieldError, ...]:
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
