"""The containers of the pod that Tekton builds, with their resources step by step: own values, template, overrides, the
whole Task.

They are the steps, the sidecars, and those that Tekton adds.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from posixpath import normpath
from typing import Literal

from kubectl_kres.admission.base.draft import SIDES, Side
from kubectl_kres.model.pod import ResourceClaimEntry, ResourceRequirements
from kubectl_kres.provenance.journal import Derive, Entry, Set, Source, Term
from kubectl_kres.quantity import Quantity
from kubectl_kres.tekton.model import Debug, Override, Step, TaskSpec
from kubectl_kres.tekton.rules.base.amounts import division_loss, read, share
from kubectl_kres.tekton.rules.base.config import Flags
from kubectl_kres.tekton.rules.base.result import SpecOrigin
from kubectl_kres.tekton.rules.base.variables import Variables, replace_variables

ResourceAmounts = dict[str, Quantity]
DraftRole = Literal["injected", "step", "sidecar"]

#: An amount with the field that it comes from.
Sourced = tuple[Quantity, Source]


class ContainerDraft:
    """One container. A resource list is None where Go has nil; two places can hold the very same list.

    ``path`` is ``spec.containers[0]``. ``init``: it stands among the init containers; ``restart``: its own
    restartPolicy. ``number``: of the step or sidecar in the Task. ``image`` and ``pulls``: its image, and when that is
    pulled, as far as they are known; of what Tekton adds they are not.
    """

    __slots__ = ("claims", "image", "init", "limits", "name", "number", "path", "pulls", "requests", "restart", "role")

    def __init__(self, name: str, role: DraftRole, number: int = 0, *, init: bool = False, restart: str = "") -> None:
        self.name, self.role, self.number, self.init, self.restart = name, role, number, init, restart
        self.path = self.image = self.pulls = ""
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

    def copy_amounts(values: ResourceAmounts | None) -> ResourceAmounts | None:
        return None if values is None else made.setdefault(id(values), dict(values))

    result = []
    for draft in drafts:
        twin = ContainerDraft(draft.name, draft.role, draft.number, init=draft.init, restart=draft.restart)
        twin.path, twin.claims, twin.image, twin.pulls = draft.path, draft.claims, draft.image, draft.pulls
        twin.limits, twin.requests = copy_amounts(draft.limits), copy_amounts(draft.requests)
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
    sidecars = [*_sidecars(spec, flags, variables, native=native)]
    inits = [*_injected_containers(spec, debug, flags, variables), *(sidecars if native else ())]
    containers = [*_steps(spec, variables), *(() if native else sidecars)]
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


def has_breakpoint(debug: Debug | None, flags: Flags) -> bool:
    """Return whether the run asks for a breakpoint, which is an alpha feature."""
    points = debug.breakpoints if debug is not None else None
    return flags.api_fields == "alpha" and points is not None and bool(points.on_failure or points.before_steps)


def _injected_containers(
    spec: TaskSpec, debug: Debug | None, flags: Flags, variables: Variables
) -> Iterator[ContainerDraft]:
    yield ContainerDraft("prepare", "injected", init=True)
    if has_scripts(spec) or has_breakpoint(debug, flags):
        yield ContainerDraft("place-scripts", "injected", init=True)
    default = spec.step_template.working_dir if spec.step_template is not None else ""
    directories = [
        replace_variables(name, variables) for name in (default, *(step.working_dir for step in spec.steps or ()))
    ]
    if any(needs_directory(directory or directories[0]) for directory in directories[1:]):
        yield ContainerDraft("working-dir-initializer", "injected", init=True)


def _steps(spec: TaskSpec, variables: Variables) -> Iterator[ContainerDraft]:
    template = spec.step_template
    for index, step in enumerate(spec.steps or ()):
        draft = ContainerDraft(_cut_name(f"step-{step.name or f'unnamed-{index}'}"), "step", index)
        draft.image = _known_text(step.image or (template.image if template is not None else ""), variables)
        pulls = step.image_pull_policy or (template.image_pull_policy if template is not None else "")
        draft.pulls = _known_text(pulls, variables)
        yield draft


def _known_text(text: str, variables: Variables) -> str:
    """Return a text with its variables; empty where one of them is not known."""
    replaced = replace_variables(text, variables)
    return "" if "$(" in replaced else replaced


def _sidecars(spec: TaskSpec, flags: Flags, variables: Variables, *, native: bool) -> Iterator[ContainerDraft]:
    for index, sidecar in enumerate(spec.sidecars or ()):
        restart = "Always" if native else sidecar.restart_policy
        draft = ContainerDraft(_cut_name(f"sidecar-{sidecar.name}"), "sidecar", index, init=native, restart=restart)
        draft.image = _known_text(sidecar.image, variables)
        yield draft
    read = bool(spec.results) or any(refers_to(step, ARTIFACTS) for step in spec.steps or ())
    if flags.results_from == "sidecar-logs" and read:
        yield ContainerDraft(RESULTS, "injected", init=native, restart="Always" if native else "")


def _cut_name(name: str) -> str:
    """Return a name of at most 63 characters that ends with a letter or digit. Source: pkg/names RestrictLength."""
    name = name[:_LONGEST]
    while name and not (name[-1].isascii() and name[-1].isalnum()):
        name = name[:-1]
    return name


_WRITTEN = {"step": "tekton/step", "sidecar": "tekton/sidecar"}
_OVERRIDDEN = {"step": "tekton/step-spec", "sidecar": "tekton/sidecar-spec"}


def write_task(
    drafts: Sequence[ContainerDraft], spec: TaskSpec, origin: SpecOrigin, journal: list[Entry] | None
) -> None:
    """The values that steps and sidecars have in the Task, then for steps those of the template that they lack.

    Raises QuantityError. Source: v1/merge.go MergeStepsWithStepTemplate.
    """
    template = spec.step_template.compute_resources if spec.step_template is not None else None
    for draft in drafts:
        if draft.role == "injected":
            continue
        field = f"{draft.role}s[{draft.number}]"
        steps = (spec.steps if draft.role == "step" else spec.sidecars) or ()
        _write(draft, steps[draft.number].compute_resources, origin.path_of(field), _WRITTEN[draft.role], journal)
        if draft.role == "step":
            _fill_missing_values(draft, template, origin.path_of("stepTemplate"), journal)


def override(
    drafts: Sequence[ContainerDraft],
    spec: TaskSpec,
    overrides: Sequence[Override] | None,
    source: Source,
    journal: list[Entry] | None,
) -> None:
    """Values of ``stepSpecs`` or ``sidecarSpecs`` (``source``: which) over those of the place with that name.

    The name is the Task's. Resources that are missing stay as they are. Raises QuantityError.
    Source: v1/merge.go MergeStepsWithSpecs.
    """
    by_name = {override.name: (index, override) for index, override in enumerate(overrides or ())}
    for draft in drafts:
        if draft.role == "injected":
            continue
        steps = (spec.steps if draft.role == "step" else spec.sidecars) or ()
        numbers = by_name.get(steps[draft.number].name)
        if numbers is not None:
            index, entry = numbers
            field_source = source.at_path(f"{source.field}[{index}]")
            _write(draft, entry.compute_resources, field_source, _OVERRIDDEN[draft.role], journal)


def _write(
    draft: ContainerDraft,
    resources: ResourceRequirements | None,
    source: Source,
    rule: str,
    journal: list[Entry] | None,
) -> None:
    """Values that win over what is there; a list of claims replaces the one before."""
    if resources is None:
        return
    for side in SIDES:
        values = read(resources.requests if side == "requests" else resources.limits) or {}
        sourced = {
            name: (quantity, source.at_path(f"{source.field}.computeResources.{side}[{name}]"))
            for name, quantity in values.items()
        }
        put_values(draft, side, sourced, rule, journal)
    draft.claims = resources.claims or draft.claims


def _fill_missing_values(
    draft: ContainerDraft, resources: ResourceRequirements | None, source: Source, journal: list[Entry] | None
) -> None:
    """Values for names that are missing."""
    if resources is None:
        return
    for side in SIDES:
        values = read(resources.requests if side == "requests" else resources.limits) or {}
        present = draft.amounts_of(side) or {}
        sourced = {
            name: (quantity, source.at_path(f"{source.field}.computeResources.{side}[{name}]"))
            for name, quantity in values.items()
            if name not in present
        }
        put_values(draft, side, sourced, "tekton/step-template", journal)
    draft.claims = draft.claims or resources.claims or ()


_LIMITS = ("tekton/task-level-limit", "tekton/task-level-dropped")
_REQUESTS = ("tekton/task-level-request", "tekton/task-level-dropped")
_FROM_LIMITS = ("tekton/task-level-request-from-limit", "tekton/task-level-dropped")


def apply_step_resources(
    steps: Sequence[ContainerDraft],
    whole: ResourceRequirements | None,
    source: Source,
    journal: list[Entry] | None,
    *,
    whole_bytes: bool = True,
) -> None:
    """Replace the steps' limits and requests as wholes; claims stay as they are.

    ``source`` is the field that ``whole`` stands in. ``whole_bytes`` False: memory, too, is divided into thousandths.
    Raises QuantityError.
    Source: tasklevel.go ApplyTaskLevelComputeResources.
    """
    limits = read(whole.limits) if whole is not None else None
    requests = read(whole.requests) if whole is not None else None
    if limits is None and requests is None:
        return
    for step in steps:
        if step.requests is None and requests is None:
            _divide(step, limits, len(steps), source, "limits", _FROM_LIMITS, journal, whole_bytes=whole_bytes)
        else:
            _divide(step, requests, len(steps), source, "requests", _REQUESTS, journal, whole_bytes=whole_bytes)
        replace(step, "limits", _add_limit_sources(limits, source), _LIMITS, source, journal)


def _divide(
    step: ContainerDraft,
    whole: Mapping[str, Quantity] | None,
    number: int,
    source: Source,
    side: Side,
    rules: tuple[str, str],
    journal: list[Entry] | None,
    *,
    whole_bytes: bool,
) -> None:
    parts = {
        name: (share(quantity, name if whole_bytes else "", number), source.at_path(f"{source.field}.{side}[{name}]"))
        for name, quantity in (whole or {}).items()
    }
    default_rule, _ = rules
    replace(step, "requests", parts, rules, source, journal)
    if journal is None:
        return
    for name, (part, field_source) in parts.items():
        quantity = (whole or {})[name]
        terms = (
            Term(f"{field_source.field} {quantity} / {number} steps", str(part)),
            Term("lost in the division", str(division_loss(quantity, part, number)), kept=False),
        )
        journal.append(Derive(step.path_of("requests", name), default_rule, str(part), terms, field_source))


def _add_limit_sources(limits: Mapping[str, Quantity] | None, source: Source) -> dict[str, Sourced]:
    return {
        name: (quantity, source.at_path(f"{source.field}.limits[{name}]")) for name, quantity in (limits or {}).items()
    }
