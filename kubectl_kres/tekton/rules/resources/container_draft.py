"""The containers of the pod that Tekton builds, with their resources on the way and the changes that rules make.

They are the steps, the sidecars, and those that Tekton adds.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from posixpath import normpath
from typing import Literal

from kubectl_kres.admission.base.draft import Side
from kubectl_kres.model.pod import ResourceClaimEntry
from kubectl_kres.provenance.journal import Entry, Set, Source
from kubectl_kres.quantity import Quantity
from kubectl_kres.tekton.model import Debug, Step, TaskSpec
from kubectl_kres.tekton.rules.base.config import Flags
from kubectl_kres.tekton.rules.base.variables import Variables, replace_variables

ResourceAmounts = dict[str, Quantity]
DraftRole = Literal["injected", "step", "sidecar"]

#: An amount with the field that it comes from.
Sourced = tuple[Quantity, Source]


class ContainerDraft:
    """One container. A resource list is None where Go has nil; two places can hold the very same list.

    ``path`` is ``spec.containers[0]``. ``init``: it stands among the init containers; ``restart``: its own
    restartPolicy. ``number``: of the step or sidecar in the Task.
    """

    __slots__ = ("claims", "init", "limits", "name", "number", "path", "requests", "restart", "role")

    def __init__(self, name: str, role: DraftRole, number: int = 0, *, init: bool = False, restart: str = "") -> None:
        self.name, self.role, self.number, self.init, self.restart = name, role, number, init, restart
        self.path = ""
        self.limits: ResourceAmounts | None = None
        self.requests: ResourceAmounts | None = None
        self.claims: tuple[ResourceClaimEntry, ...] = ()

    def amounts_of(self, side: Side) -> ResourceAmounts | None:
        return self.limits if side == "limits" else self.requests

    def put_side(self, side: Side, values: ResourceAmounts | None) -> None:
        if side == "limits":
            self.limits = values
        else:
            self.requests = values

    def path_of(self, side: Side, resource: str) -> str:
        """Return the path of one value, as the server writes it."""
        return f"{self.path}.resources.{side}[{resource}]"

    @property
    def empty(self) -> bool:
        """No requests, no limits, no claims."""
        return not self.limits and not self.requests and not self.claims


def copies(drafts: Iterable[ContainerDraft]) -> list[ContainerDraft]:
    """Return the places with lists of their own; places that shared one share its copy."""
    made: dict[int, ResourceAmounts] = {}

    def twin_of(values: ResourceAmounts | None) -> ResourceAmounts | None:
        return None if values is None else made.setdefault(id(values), dict(values))

    result = []
    for draft in drafts:
        twin = ContainerDraft(draft.name, draft.role, draft.number, init=draft.init, restart=draft.restart)
        twin.path, twin.claims = draft.path, draft.claims
        twin.limits, twin.requests = twin_of(draft.limits), twin_of(draft.requests)
        result.append(twin)
    return result


def put_values(
    draft: ContainerDraft, side: Side, values: Mapping[str, Sourced], rule: str, journal: list[Entry] | None
) -> None:
    """Give one side of a place values, name by name, into the list that it has."""
    if not values:
        return
    quantities = draft.amounts_of(side)
    if quantities is None:
        quantities = {}
        draft.put_side(side, quantities)
    for name, (quantity, source) in values.items():
        before = quantities.get(name)
        quantities[name] = quantity
        note(draft, side, name, quantity, before, rule, source, journal)


def replace(
    draft: ContainerDraft,
    side: Side,
    values: Mapping[str, Sourced] | None,
    rules: tuple[str, str],
    source: Source,
    journal: list[Entry] | None,
) -> None:
    """Give one side of a place another list as a whole. ``rules``: for its values, and for names that it lacks."""
    quantities = draft.amounts_of(side) or {}
    entries = values or {}
    default_rule, dropped = rules
    for name, before in quantities.items():
        if name not in entries and journal is not None:
            journal.append(Set(draft.path_of(side, name), dropped, before=str(before), source=source))
    draft.put_side(side, {name: quantity for name, (quantity, _) in entries.items()} or None)
    for name, (quantity, field_source) in entries.items():
        note(draft, side, name, quantity, quantities.get(name), default_rule, field_source, journal)


def note(
    draft: ContainerDraft,
    side: Side,
    name: str,
    quantity: Quantity,
    before: Quantity | None,
    rule: str,
    source: Source,
    journal: list[Entry] | None,
) -> None:
    """Record one value."""
    if journal is not None:
        was = None if before is None else str(before)
        journal.append(Set(draft.path_of(side, name), rule, str(quantity), was, source))


RESULTS = "sidecar-tekton-log-results"

#: The parameter that a step reads its artifacts through.
ARTIFACTS = "$(step.artifacts.path)"

_LONGEST = 63


def layout(
    spec: TaskSpec, debug: Debug | None, flags: Flags, version: tuple[int, int], variables: Variables
) -> tuple[list[ContainerDraft], list[ContainerDraft]]:
    """Return the init containers and the containers, in the pod's order, still without resources.

    ``version`` is the API server's; ``variables``: what names in working directories stand for.
    Source: pkg/pod/pod.go Build.
    """
    native = flags.kubernetes_sidecar and version >= (1, 29)
    sidecars = [*_sidecars(spec, flags, native=native)]
    inits = [*_injected_containers(spec, debug, flags, variables), *(sidecars if native else ())]
    containers = [*_steps(spec), *(() if native else sidecars)]
    for index, init_draft in enumerate(inits):
        init_draft.path = f"spec.initContainers[{index}]"
    for index, init_draft in enumerate(containers):
        init_draft.path = f"spec.containers[{index}]"
    return inits, containers


def step_words(step: Step) -> Iterator[str]:
    """Yield the script, the words of the command and the values of the variables of a step."""
    yield step.script
    yield from (*(step.command or ()), *(step.args or ()), *(variable.value for variable in step.env or ()))


def refers_to(step: Step, text: str) -> bool:
    """Return whether the step holds the text somewhere."""
    return any(text in word for word in step_words(step))


def needs_directory(path: str) -> bool:
    """Return whether a directory has to be made: a relative one, or one below /workspace.

    Source: pkg/pod/workingdir_init.go workingDirInit.
    """
    if not path:
        return False
    clean = normpath(path)
    return not clean.startswith("/") or f"/{clean.lstrip('/')}".startswith("/workspace/")


def has_scripts(spec: TaskSpec) -> bool:
    """Return whether a step or sidecar has a script, which has to be put in place."""
    return any(step.script for step in spec.steps or ()) or any(sidecar.script for sidecar in spec.sidecars or ())


def stops(debug: Debug | None, flags: Flags) -> bool:
    """Return whether the run asks for a breakpoint, which is an alpha feature."""
    points = debug.breakpoints if debug is not None else None
    return flags.api_fields == "alpha" and points is not None and bool(points.on_failure or points.before_steps)


def _injected_containers(
    spec: TaskSpec, debug: Debug | None, flags: Flags, variables: Variables
) -> Iterator[ContainerDraft]:
    yield ContainerDraft("prepare", "injected", init=True)
    if has_scripts(spec) or stops(debug, flags):
        yield ContainerDraft("place-scripts", "injected", init=True)
    default = spec.step_template.working_dir if spec.step_template is not None else ""
    directories = [
        replace_variables(name, variables) for name in (default, *(step.working_dir for step in spec.steps or ()))
    ]
    if any(needs_directory(directory or directories[0]) for directory in directories[1:]):
        yield ContainerDraft("working-dir-initializer", "injected", init=True)


def _steps(spec: TaskSpec) -> Iterator[ContainerDraft]:
    for index, step in enumerate(spec.steps or ()):
        yield ContainerDraft(_cut_name(f"step-{step.name or f'unnamed-{index}'}"), "step", index)


def _sidecars(spec: TaskSpec, flags: Flags, *, native: bool) -> Iterator[ContainerDraft]:
    for index, sidecar in enumerate(spec.sidecars or ()):
        restart = "Always" if native else sidecar.restart_policy
        yield ContainerDraft(_cut_name(f"sidecar-{sidecar.name}"), "sidecar", index, init=native, restart=restart)
    read = bool(spec.results) or any(refers_to(step, ARTIFACTS) for step in spec.steps or ())
    if flags.results_from == "sidecar-logs" and read:
        yield ContainerDraft(RESULTS, "injected", init=native, restart="Always" if native else "")


def _cut_name(name: str) -> str:
    """Return a name of at most 63 characters that ends with a letter or digit. Source: pkg/names RestrictLength."""
    name = name[:_LONGEST]
    while name and not (name[-1].isascii() and name[-1].isalnum()):
        name = name[:-1]
    return name
