"""The containers of a TaskRun's pod: steps, sidecars, and those that Tekton adds."""

from __future__ import annotations

from collections.abc import Iterator
from posixpath import normpath

from kubectl_kres.model.tekton import Debug, Step, TaskSpec
from kubectl_kres.tekton.config import Flags
from kubectl_kres.tekton.place import Place

RESULTS = "sidecar-tekton-log-results"

#: The parameter that a step reads its artifacts through.
ARTIFACTS = "$(step.artifacts.path)"

_LONGEST = 63


def layout(
    spec: TaskSpec, debug: Debug | None, flags: Flags, version: tuple[int, int]
) -> tuple[list[Place], list[Place]]:
    """The init containers and the containers, in the pod's order, still without resources.

    ``version`` is the API server's. Source: pkg/pod/pod.go Build.
    """
    native = flags.kubernetes_sidecar and version >= (1, 29)
    sidecars = [*_sidecars(spec, flags, native=native)]
    inits = [*_injected(spec, debug, flags), *(sidecars if native else ())]
    containers = [*_steps(spec), *(() if native else sidecars)]
    for index, place in enumerate(inits):
        place.path = f"spec.initContainers[{index}]"
    for index, place in enumerate(containers):
        place.path = f"spec.containers[{index}]"
    return inits, containers


def refers_to(step: Step, text: str) -> bool:
    """Whether a script, a word of the command or a variable of the step holds the text."""
    words = (step.script, *(step.command or ()), *(step.args or ()), *(one.value for one in step.env or ()))
    return any(text in word for word in words)


def needs_directory(path: str) -> bool:
    """Whether a directory has to be made: a relative one, or one below /workspace.

    Source: pkg/pod/workingdir_init.go workingDirInit.
    """
    if not path:
        return False
    clean = normpath(path)
    return not clean.startswith("/") or f"/{clean.lstrip('/')}".startswith("/workspace/")


def _injected(spec: TaskSpec, debug: Debug | None, flags: Flags) -> Iterator[Place]:
    yield Place("prepare", "injected", init=True)
    scripts = (*(one.script for one in spec.steps or ()), *(one.script for one in spec.sidecars or ()))
    if any(scripts) or _stops(debug, flags):
        yield Place("place-scripts", "injected", init=True)
    default = spec.step_template.working_dir if spec.step_template is not None else ""
    if any(needs_directory(step.working_dir or default) for step in spec.steps or ()):
        yield Place("working-dir-initializer", "injected", init=True)


def _stops(debug: Debug | None, flags: Flags) -> bool:
    """Whether the run asks for a breakpoint, which is an alpha feature."""
    points = debug.breakpoints if debug is not None else None
    return flags.api_fields == "alpha" and points is not None and bool(points.on_failure or points.before_steps)


def _steps(spec: TaskSpec) -> Iterator[Place]:
    for index, step in enumerate(spec.steps or ()):
        yield Place(_cut(f"step-{step.name or f'unnamed-{index}'}"), "step", index)


def _sidecars(spec: TaskSpec, flags: Flags, *, native: bool) -> Iterator[Place]:
    for index, sidecar in enumerate(spec.sidecars or ()):
        yield Place(_cut(f"sidecar-{sidecar.name}"), "sidecar", index, init=native, native=native)
    read = bool(spec.results) or any(refers_to(step, ARTIFACTS) for step in spec.steps or ())
    if flags.results_from == "sidecar-logs" and read:
        yield Place(RESULTS, "injected", init=native, native=native)


def _cut(name: str) -> str:
    """A name of at most 63 characters that ends with a letter or digit."""
    if len(name) <= _LONGEST:
        return name
    name = name[:_LONGEST]
    while name and not (name[-1].isascii() and name[-1].isalnum()):
        name = name[:-1]
    return name
