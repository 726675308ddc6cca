"""The containers of a TaskRun's pod: steps, sidecars, and those that Tekton adds."""

from __future__ import annotations

from collections.abc import Iterator
from posixpath import normpath

from kubectl_kres.tekton.model import Debug, Step, TaskSpec
from kubectl_kres.tekton.rules.base.config import Flags
from kubectl_kres.tekton.rules.base.variables import Variables, replaced
from kubectl_kres.tekton.rules.resources.container_draft import ContainerDraft

RESULTS = "sidecar-tekton-log-results"

#: The parameter that a step reads its artifacts through.
ARTIFACTS = "$(step.artifacts.path)"

_LONGEST = 63


def layout(
    spec: TaskSpec, debug: Debug | None, flags: Flags, version: tuple[int, int], variables: Variables
) -> tuple[list[ContainerDraft], list[ContainerDraft]]:
    """The init containers and the containers, in the pod's order, still without resources.

    ``version`` is the API server's; ``variables``: what names in working directories stand for.
    Source: pkg/pod/pod.go Build.
    """
    native = flags.kubernetes_sidecar and version >= (1, 29)
    sidecars = [*_sidecars(spec, flags, native=native)]
    inits = [*_injected(spec, debug, flags, variables), *(sidecars if native else ())]
    containers = [*_steps(spec), *(() if native else sidecars)]
    for index, place in enumerate(inits):
        place.path = f"spec.initContainers[{index}]"
    for index, place in enumerate(containers):
        place.path = f"spec.containers[{index}]"
    return inits, containers


def words(step: Step) -> Iterator[str]:
    """The script, the words of the command and the values of the variables of a step."""
    yield step.script
    yield from (*(step.command or ()), *(step.args or ()), *(variable.value for variable in step.env or ()))


def refers_to(step: Step, text: str) -> bool:
    """Whether the step holds the text somewhere."""
    return any(text in word for word in words(step))


def needs_directory(path: str) -> bool:
    """Whether a directory has to be made: a relative one, or one below /workspace.

    Source: pkg/pod/workingdir_init.go workingDirInit.
    """
    if not path:
        return False
    clean = normpath(path)
    return not clean.startswith("/") or f"/{clean.lstrip('/')}".startswith("/workspace/")


def has_scripts(spec: TaskSpec) -> bool:
    """Whether a step or sidecar has a script, which has to be put in place."""
    return any(step.script for step in spec.steps or ()) or any(sidecar.script for sidecar in spec.sidecars or ())


def stops(debug: Debug | None, flags: Flags) -> bool:
    """Whether the run asks for a breakpoint, which is an alpha feature."""
    points = debug.breakpoints if debug is not None else None
    return flags.api_fields == "alpha" and points is not None and bool(points.on_failure or points.before_steps)


def _injected(spec: TaskSpec, debug: Debug | None, flags: Flags, variables: Variables) -> Iterator[ContainerDraft]:
    yield ContainerDraft("prepare", "injected", init=True)
    if has_scripts(spec) or stops(debug, flags):
        yield ContainerDraft("place-scripts", "injected", init=True)
    default = spec.step_template.working_dir if spec.step_template is not None else ""
    directories = [replaced(name, variables) for name in (default, *(step.working_dir for step in spec.steps or ()))]
    if any(needs_directory(own or directories[0]) for own in directories[1:]):
        yield ContainerDraft("working-dir-initializer", "injected", init=True)


def _steps(spec: TaskSpec) -> Iterator[ContainerDraft]:
    for index, step in enumerate(spec.steps or ()):
        yield ContainerDraft(_cut(f"step-{step.name or f'unnamed-{index}'}"), "step", index)


def _sidecars(spec: TaskSpec, flags: Flags, *, native: bool) -> Iterator[ContainerDraft]:
    for index, sidecar in enumerate(spec.sidecars or ()):
        restart = "Always" if native else sidecar.restart_policy
        yield ContainerDraft(_cut(f"sidecar-{sidecar.name}"), "sidecar", index, init=native, restart=restart)
    read = bool(spec.results) or any(refers_to(step, ARTIFACTS) for step in spec.steps or ())
    if flags.results_from == "sidecar-logs" and read:
        yield ContainerDraft(RESULTS, "injected", init=native, restart="Always" if native else "")


def _cut(name: str) -> str:
    """A name of at most 63 characters that ends with a letter or digit. Source: pkg/names RestrictLength."""
    name = name[:_LONGEST]
    while name and not (name[-1].isascii() and name[-1].isalnum()):
        name = name[:-1]
    return name
