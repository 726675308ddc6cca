"""The chain of rules from a TaskRun and its Task to every pod that Tekton can submit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kubectl_kres.admission.base.draft import SIDES
from kubectl_kres.errors import QuantityError
from kubectl_kres.model.meta import Metadata, OwnerReference
from kubectl_kres.model.pod import Container, Pod, PodSpec, ResourceRequirements
from kubectl_kres.provenance.journal import Assume, Entry, Source
from kubectl_kres.provenance.problem import Problem
from kubectl_kres.quantity import parse
from kubectl_kres.tekton.model import PodTemplate, TaskRun, TaskSpec
from kubectl_kres.tekton.rules.base.config import TektonConfig, merged
from kubectl_kres.tekton.rules.base.duration import deadline
from kubectl_kres.tekton.rules.base.naming import pod_name
from kubectl_kres.tekton.rules.base.result import Built, Fields, ListOrder, SpecOrigin, webhook_refusal
from kubectl_kres.tekton.rules.base.variables import Variables, replaced, variables_of
from kubectl_kres.tekton.rules.controller.controller_checks import problems
from kubectl_kres.tekton.rules.controller.creation import unbuildable
from kubectl_kres.tekton.rules.resources import config_defaults, limitrange_share, step_resources, task_level
from kubectl_kres.tekton.rules.resources.container_draft import ContainerDraft, ResourceAmounts, copies, put
from kubectl_kres.tekton.rules.resources.containers import layout
from kubectl_kres.tekton.rules.resources.virtual_limitrange import Virtual

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
    virtuals: Sequence[Virtual],
    config: TektonConfig,
    version: tuple[int, int],
    *,
    fields: Fields,
    journal: bool = True,
    before: Sequence[Problem] = (),
) -> tuple[Built, ...] | tuple[Problem, ...]:
    """Every pod that can be submitted, or every way in which the controller's checks end the run.

    spec, origin: the Task as it is used and where it stands. virtuals: of the run's namespace. version: the API
    server's. fields: where the run's values stand. journal False: keep no steps. before: what ends the run after the
    checks and before its pod is built. Quantities that do not parse are a
    problem, not an error.
    """
    try:
        template = merged(run.spec.pod_template, config.pod_template)
        failed = problems(run, spec, config) or tuple(before) or unbuildable(run, spec, template, config.flags)
        return failed or tuple(_built(run, spec, origin, virtuals, config, version, fields, journal=journal))
    except QuantityError as error:
        # Such an object is not stored; it can only come from a file that no webhook has seen.
        text = f"mutation failed: cannot decode incoming new object: {error.message}"
        return (webhook_refusal("TaskRun", text, "tekton/decode"),)


def _built(
    run: TaskRun,
    spec: TaskSpec,
    origin: SpecOrigin,
    virtuals: Sequence[Virtual],
    config: TektonConfig,
    version: tuple[int, int],
    fields: Fields,
    *,
    journal: bool,
) -> Iterator[Built]:
    entries: list[Entry] | None = list(config.assumed) if journal else None
    variables = variables_of(run.spec, spec)
    inits, containers = layout(spec, run.spec.debug, config.flags, version, variables)
    places = [*inits, *containers]
    _values(run, spec, origin, fields, places, config, entries)
    result: dict[str, tuple[Built, list[ListOrder]]] = {}
    for order in config_defaults.prefix_orders(places, config.entries):
        defaulted = copies(places)
        so_far = None if entries is None else [*entries]
        config_defaults.apply(defaulted, config.entries, order, config.source, so_far)
        for virtual in virtuals:
            twins = copies(defaulted)
            steps_taken = None if so_far is None else [*so_far]
            limitrange_share.fill(twins, virtual, steps_taken)
            if steps_taken is not None and not virtual.searched:
                text = f"so many LimitRanges lack values of each other that only {len(virtuals)} results are shown"
                steps_taken.append(Assume("", "tekton/orders-not-all", text))
            pod = _pod(run, twins, config, variables)
            built = Built(pod, tuple(steps_taken or ()))
            result.setdefault(_key(twins), (built, []))[1].extend(virtual.orders)
    many = len(result) > 1
    for built, orders in result.values():
        yield Built(built.pod, built.journal, tuple(dict.fromkeys(orders)) if many else ())


def _values(
    run: TaskRun,
    spec: TaskSpec,
    origin: SpecOrigin,
    fields: Fields,
    places: Sequence[ContainerDraft],
    config: TektonConfig,
    journal: list[Entry] | None,
) -> None:
    """What Task and run say of steps and sidecars."""
    by_role = {role: [place for place in places if place.role == role] for role in ("step", "sidecar", "injected")}
    if config.version == (1, 13, 0):
        _built_in(by_role["injected"], journal)
    step_resources.write_task(places, spec, origin, journal)
    step_resources.override(by_role["step"], spec, run.spec.step_specs, fields.step_specs, journal)
    step_resources.override(by_role["sidecar"], spec, run.spec.sidecar_specs, fields.sidecar_specs, journal)
    task_level.apply(by_role["step"], run.spec.compute_resources, fields.compute_resources, journal)


def _built_in(places: Sequence[ContainerDraft], journal: list[Entry] | None) -> None:
    source = Source("Tekton", "v1.13.0")
    for place in places:
        cpu, memory = map(parse, _BUILT_IN[place.name])
        for side in SIDES:
            put(place, side, {"cpu": (cpu, source), "memory": (memory, source)}, "tekton/built-in", journal)


def _key(places: Sequence[ContainerDraft]) -> str:
    return repr([[_texts(place.side(side)) for side in SIDES] for place in places])


def _texts(values: ResourceAmounts | None) -> dict[str, str] | None:
    """Sorted, as nothing depends on the order of a map."""
    return {name: str(values[name]) for name in sorted(values)} if values else None


def _pod(run: TaskRun, places: Sequence[ContainerDraft], config: TektonConfig, variables: Variables) -> Pod:
    meta = run.metadata
    template = merged(run.spec.pod_template, config.pod_template) or PodTemplate()
    tries = len(run.status.retries_status or ())
    spec = PodSpec(
        containers=tuple(_container(place) for place in places if not place.init),
        init_containers=tuple(_container(place) for place in places if place.init),
        restart_policy="Never",
        active_deadline_seconds=deadline(run.spec.timeout, config.timeout_minutes),
        runtime_class_name=replaced(template.runtime_class_name or "", variables) or None,
        priority_class_name=replaced(template.priority_class_name or "", variables),
        affinity=template.affinity,
    )
    owner = OwnerReference(kind="TaskRun", name=meta.name, uid=meta.uid, api_version=run.api_version, controller=True)
    metadata = Metadata(
        name=pod_name(meta.name or meta.generate_name, tries),
        namespace=meta.namespace,
        labels={**(meta.labels or {}), "tekton.dev/taskRun": meta.name},
        owner_references=(owner,),
    )
    return Pod(metadata, spec)


def _container(place: ContainerDraft) -> Container:
    resources = ResourceRequirements(_texts(place.limits), _texts(place.requests), place.claims or None)
    resource_requirements = None if place.empty else resources
    return Container(name=place.name, restart_policy=place.restart or None, resources=resource_requirements)
