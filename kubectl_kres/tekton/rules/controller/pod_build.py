"""The chain of rules from a TaskRun and its Task to every pod that Tekton can submit.

The controller's checks before it builds a pod come first.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from kubectl_kres.admission.base.draft import SIDES
from kubectl_kres.errors import QuantityError
from kubectl_kres.model.objects import Metadata, OwnerReference
from kubectl_kres.model.pod import Container, DetailedContainer, Pod, PodSpec, ResourceRequirements
from kubectl_kres.provenance.journal import Assumption, Entry, Source
from kubectl_kres.quantity import Quantity, parse
from kubectl_kres.tekton.model import Override, Param, PodTemplate, TaskRun, TaskRunSpec, TaskSpec
from kubectl_kres.tekton.rules.base.amounts import deadline, read
from kubectl_kres.tekton.rules.base.config import TektonConfig, has_change, merge_pod_templates
from kubectl_kres.tekton.rules.base.problem import Problem
from kubectl_kres.tekton.rules.base.result import BuiltPod, Fields, ListOrder, SpecOrigin, webhook_refusal
from kubectl_kres.tekton.rules.base.variables import PIPELINE_RUN, Variables, pod_name, replace_variables, variables_of
from kubectl_kres.tekton.rules.controller.creation import unbuildable
from kubectl_kres.tekton.rules.resources import config_defaults, container_draft
from kubectl_kres.tekton.rules.resources import virtual_limitrange as limitrange_share
from kubectl_kres.tekton.rules.resources.virtual_limitrange import VirtualLimitRange
from kubectl_kres.tekton.rules.validation.declarations import Declaration, read_declarations, type_of
from kubectl_kres.tekton.rules.validation.variable_faults import mounts, texts

_VARIABLE = re.compile(r"\$\([_a-zA-Z0-9.-]+(?:\[(?:[0-9]+|\*)\])?\)")
_INDEXED = re.compile(
    r"\$\(params(?:\.([_a-zA-Z0-9.-]{1,200})|\['([_a-zA-Z0-9./]{1,200})'\]|\[\"([_a-zA-Z0-9./]{1,200})\"\])"
    r"\[([0-9]{1,18})\]\)"
)


def problems(run: TaskRun, spec: TaskSpec, config: TektonConfig) -> tuple[Problem, ...]:
    """Return each answer that the checks can give, empty if they pass: the name that is met first is random.

    Only the Task's own text is looked at, with StepActions resolved and nothing merged; parameters and workspaces only
    where they have not passed already, as in a run that has its pod and in a PipelineRun's. Raises QuantityError.
    Source: taskrun/validate_taskrun.go, taskrun.go prepare.
    """
    texts = _above_limit(spec)
    if texts:
        return tuple(_build_failure(text, "tekton/request-over-limit") for text in texts)
    if PIPELINE_RUN not in (run.metadata.labels or {}) and not run.status.pod_name:
        name = run.spec.task_ref.name if run.spec.task_ref is not None else run.metadata.name
        if text := _find_param_fault(run.spec, spec, name):
            return (_build_failure(text, "tekton/params"),)
        if not config.binds_workspaces and (text := _find_unbound_workspace(run.spec, spec)):
            return (_build_failure(text, "tekton/workspaces"),)
    if config.flags.coschedule == "workspaces" and not run.status.pod_name and _claims(run.spec) > 1:
        return (_build_failure("more than one PersistentVolumeClaim is bound", "tekton/one-claim"),)
    unknown = [*_unknown(run.spec.step_specs, {step.name for step in spec.steps or ()}, "Step")]
    unknown += _unknown(run.spec.sidecar_specs, {sidecar.name for sidecar in spec.sidecars or ()}, "Sidecar")
    return (_build_failure("\n".join(unknown), "tekton/unknown-override"),) if unknown else ()


def _find_unbound_workspace(run: TaskRunSpec, spec: TaskSpec) -> str:
    """Return a sentence of the first workspace that lacks its other side; empty if there is none."""
    bound = [workspace.name for workspace in run.workspaces or ()]
    declared = [workspace.name for workspace in spec.workspaces or ()]
    for workspace in spec.workspaces or ():
        if not workspace.optional and workspace.name not in bound:
            return f'declared workspace "{workspace.name}" is required but has not been bound'
    for name in bound if run.task_spec is None else ():
        if name not in declared:
            return f'workspace binding "{name}" does not match any declared workspace'
    return ""


def _claims(run: TaskRunSpec) -> int:
    """Return how many claims there are behind the workspaces: the affinity assistant can follow one.

    Source: pkg/workspace/validate.go ValidateOnlyOnePVCIsUsed.
    """
    claim_names = {
        workspace.persistent_volume_claim.claim_name
        for workspace in run.workspaces or ()
        if workspace.persistent_volume_claim
    }
    return len(claim_names) + len(
        {workspace.name for workspace in run.workspaces or () if workspace.volume_claim_template is not None}
        - claim_names
    )


def _above_limit(spec: TaskSpec) -> list[str]:
    """Of the first step with requests above its limits, else the template's, a sentence for each name."""
    template = spec.step_template.compute_resources if spec.step_template is not None else None
    general = read(template.limits) if template is not None else None
    for step in spec.steps or ():
        own_resources = step.compute_resources
        if own_resources is None:
            continue
        requests = read(own_resources.requests) or {}
        limits: dict[str, Quantity] = {**(general or {}), **(read(own_resources.limits) or {})}
        texts = [
            f"invalid request resource value: {request} must be less or equal to limit {limits[name]}"
            for name, request in requests.items()
            if name in limits and limits[name] < request
        ]
        if texts:
            return texts
    return []


def _unknown(overrides: Sequence[Override] | None, names: set[str], kind: str) -> Iterator[str]:
    for override in overrides or ():
        if override.name not in names:
            yield f"invalid {kind}Override: No {kind} named {override.name}"


def _build_failure(text: str, rule: str) -> Problem:
    return Problem("reconcile", "TaskRun", f"[User error] {text}", rule, "TaskRunValidationFailed", "False")


def _find_param_fault(run: TaskRunSpec, spec: TaskSpec, name: str) -> str:
    """Return a sentence of the parameters that do not fit the Task called ``name``; empty: all do.

    Source: taskrun/validate_taskrun.go validateParams, resources/validate_params.go ValidateParamArrayIndex.
    """
    wanted, params = read_declarations(spec.params), run.params or ()
    text = _find_missing_params(params, wanted) or _find_mistyped_params(params, wanted) or _keyless(params, wanted)
    return f"invalid input params for task {name}: {text}" if text else _missing_entries(params, spec)


def _find_missing_params(params: Sequence[Param], wanted: Sequence[Declaration]) -> str:
    known_names = {param.name for param in params}
    missing = [
        declaration.name for declaration in wanted if not declaration.default and declaration.name not in known_names
    ]
    return f"missing values for these params which have no default values: [{' '.join(missing)}]" if missing else ""


def _find_mistyped_params(params: Sequence[Param], wanted: Sequence[Declaration]) -> str:
    """A text may turn out to be a list or an object if it refers to one."""
    types = {declaration.name: declaration.type for declaration in wanted}
    wrong = [
        param.name
        for param in params
        if (kind := types.get(param.name, "")) and type_of(param.value) != kind and not _may_become(param, kind)
    ]
    return f"param types don't match the user-specified type: [{' '.join(wrong)}]" if wrong else ""


def _may_become(param: Param, kind: str) -> bool:
    return kind in {"array", "object"} and isinstance(param.value, str) and _VARIABLE.search(param.value) is not None


def _keyless(params: Sequence[Param], wanted: Sequence[Declaration]) -> str:
    """Keys are only looked for where the default or the run gives some."""
    needed = {declaration.name: declaration.properties or {} for declaration in wanted if declaration.type == "object"}
    result: dict[str, set[str]] = {
        declaration.name: set(declaration.keys) for declaration in wanted if declaration.default == "object"
    }
    for param in params:
        if type_of(param.value) == "object":
            result.setdefault(param.name, set()).update(param.value)
    lacking = {name: sorted(set(needed.get(name, ())) - keys) for name, keys in sorted(result.items())}
    shown = " ".join(f"{name}:[{' '.join(keys)}]" for name, keys in lacking.items() if keys)
    text = f"missing keys for these params which are required in ParamSpec's properties map[{shown}]"
    return text if shown else ""


def _missing_entries(params: Sequence[Param], spec: TaskSpec) -> str:
    """Entries that a list does not have."""
    lengths = {param.name: len(param.default) for param in spec.params or () if type_of(param.default) == "array"}
    lengths |= {param.name: len(param.value) for param in params if type_of(param.value) == "array"}
    result = {match[0]: match for text in _checked_texts(spec) for match in _INDEXED.finditer(text)} if lengths else {}
    wrong = sorted(
        written
        for written, match in result.items()
        if int(match[4]) >= lengths.get((match[1] or "").split(".")[0] or match[2] or match[3], int(match[4]) + 1)
    )
    return f"non-existent param references:[{' '.join(wrong)}]" if wrong else ""


def _checked_texts(spec: TaskSpec) -> Iterator[str]:
    for step in (*(spec.steps or ()), *((spec.step_template,) if spec.step_template is not None else ())):
        yield from (text for _, text in (*texts(step), *mounts(step, ("", "", ""))) if "$(params" in text)
    yield from (workspace.mount_path for workspace in spec.workspaces or ())
    for sidecar in spec.sidecars or ():
        yield from (sidecar.script, sidecar.image, *(sidecar.command or ()))


#: v1.13.0 gave the containers that it adds values of their own (cpu, memory); no other version does.
_BUILT_IN = {
    "prepare": ("10m", "32Mi"),
    "place-scripts": ("100m", "32Mi"),
    "working-dir-initializer": ("10m", "16Mi"),
    "sidecar-tekton-log-results": ("50m", "32Mi"),
}


def pods(
    run: TaskRun,
    spec: TaskSpec,
    origin: SpecOrigin,
    virtuals: Sequence[VirtualLimitRange],
    config: TektonConfig,
    version: tuple[int, int],
    *,
    fields: Fields,
    journal: bool = True,
    before: Sequence[Problem] = (),
) -> tuple[BuiltPod, ...] | tuple[Problem, ...]:
    """Return every pod that can be submitted, or every way in which the controller's checks end the run.

    spec, origin: the Task as it is used and where it stands. virtuals: of the run's namespace. version: the API
    server's. fields: where the run's values stand. journal False: keep no steps. before: what ends the run after the
    checks and before its pod is built. Quantities that do not parse are a problem, not an error.
    """
    try:
        template = merge_pod_templates(run.spec.pod_template, config.pod_template)
        failed = problems(run, spec, config) or tuple(before) or unbuildable(run, spec, template, config.flags)
        return failed or tuple(_build_pods(run, spec, origin, virtuals, config, version, fields, journal=journal))
    except QuantityError as error:
        # Such an object is not stored; it can only come from a file that no webhook has seen.
        text = f"mutation failed: cannot decode incoming new object: {error.message}"
        return (webhook_refusal("TaskRun", text, "tekton/decode"),)


def _build_pods(
    run: TaskRun,
    spec: TaskSpec,
    origin: SpecOrigin,
    virtuals: Sequence[VirtualLimitRange],
    config: TektonConfig,
    version: tuple[int, int],
    fields: Fields,
    *,
    journal: bool,
) -> Iterator[BuiltPod]:
    entries: list[Entry] | None = list(config.assumed) if journal else None
    variables = variables_of(run.spec, spec)
    inits, containers = container_draft.layout(spec, run.spec.debug, config.flags, version, variables)
    drafts = [*inits, *containers]
    _values(run, spec, origin, fields, drafts, config, entries)
    result: dict[str, tuple[BuiltPod, list[ListOrder]]] = {}
    early = has_change("defaults-before-limits", config.version)
    for order in config_defaults.prefix_orders(drafts, config.entries):
        defaulted = container_draft.copies(drafts)
        so_far = None if entries is None else [*entries]
        if early:
            config_defaults.apply(defaulted, config.entries, order, config.source, so_far)
        for virtual in virtuals:
            twins = container_draft.copies(defaulted)
            steps_taken = None if so_far is None else [*so_far]
            limitrange_share.fill_requests(twins, virtual, steps_taken)
            if not early:
                config_defaults.apply(twins, config.entries, order, config.source, steps_taken)
            if steps_taken is not None and not virtual.searched:
                text = f"so many LimitRanges lack values of each other that only {len(virtuals)} results are shown"
                steps_taken.append(Assumption("", "tekton/orders-not-all", text))
            pod = _pod(run, twins, config, variables)
            built = BuiltPod(pod, tuple(steps_taken or ()))
            result.setdefault(_key(twins), (built, []))[1].extend(virtual.orders)
    many = len(result) > 1
    for built, orders in result.values():
        yield BuiltPod(built.pod, built.journal, tuple(dict.fromkeys(orders)) if many else ())


def _values(
    run: TaskRun,
    spec: TaskSpec,
    origin: SpecOrigin,
    fields: Fields,
    drafts: Sequence[container_draft.ContainerDraft],
    config: TektonConfig,
    journal: list[Entry] | None,
) -> None:
    """What Task and run say of steps and sidecars."""
    by_role = {role: [draft for draft in drafts if draft.role == role] for role in ("step", "sidecar", "injected")}
    if config.version is not None and has_change("built-in-values", config.version):
        _built_in(by_role["injected"], journal)
    container_draft.write_task(drafts, spec, origin, journal)
    container_draft.override(by_role["step"], spec, run.spec.step_specs, fields.step_specs, journal)
    container_draft.override(by_role["sidecar"], spec, run.spec.sidecar_specs, fields.sidecar_specs, journal)
    container_draft.apply_step_resources(
        by_role["step"],
        run.spec.compute_resources,
        fields.compute_resources,
        journal,
        whole_bytes=has_change("whole-bytes", config.version),
    )


def _built_in(drafts: Sequence[container_draft.ContainerDraft], journal: list[Entry] | None) -> None:
    source = Source("Tekton", "v1.13.0")
    for draft in drafts:
        cpu, memory = map(parse, _BUILT_IN[draft.name])
        for side in SIDES:
            container_draft.put_values(
                draft, side, {"cpu": (cpu, source), "memory": (memory, source)}, "tekton/built-in", journal
            )


def _key(drafts: Sequence[container_draft.ContainerDraft]) -> str:
    return repr([[_texts(draft.amounts_of(side)) for side in SIDES] for draft in drafts])


def _texts(values: container_draft.ResourceAmounts | None) -> dict[str, str] | None:
    """Sorted, as nothing depends on the order of a map."""
    return {name: str(values[name]) for name in sorted(values)} if values else None


def _pod(
    run: TaskRun, drafts: Sequence[container_draft.ContainerDraft], config: TektonConfig, variables: Variables
) -> Pod:
    meta = run.metadata
    template = merge_pod_templates(run.spec.pod_template, config.pod_template) or PodTemplate()
    attempts = len(run.status.retries_status or ())
    spec = PodSpec(
        containers=tuple(_container(draft) for draft in drafts if not draft.init),
        init_containers=tuple(_container(draft) for draft in drafts if draft.init),
        restart_policy="Never",
        active_deadline_seconds=deadline(run.spec.timeout, config.timeout_minutes),
        runtime_class_name=replace_variables(template.runtime_class_name or "", variables) or None,
        priority_class_name=replace_variables(template.priority_class_name or "", variables),
        affinity=template.affinity,
    )
    owner = OwnerReference(kind="TaskRun", name=meta.name, uid=meta.uid, api_version=run.api_version, controller=True)
    metadata = Metadata(
        name=pod_name(meta.name or meta.generate_name, attempts),
        namespace=meta.namespace,
        labels={**(meta.labels or {}), "tekton.dev/taskRun": meta.name},
        owner_references=(owner,),
    )
    return Pod(metadata, spec)


def _container(draft: container_draft.ContainerDraft) -> Container:
    resources = ResourceRequirements(_texts(draft.limits), _texts(draft.requests), draft.claims or None)
    resource_requirements = None if draft.empty else resources
    return DetailedContainer(
        name=draft.name,
        image=draft.image,
        restart_policy=draft.restart or None,
        resources=resource_requirements,
        image_pull_policy=draft.pulls or None,
    )
