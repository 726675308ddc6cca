"""The steps of a change, in the order in which they were given on the command line, and the kinds that policies take
parameters from.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Any

from msgspec import structs

from kubectl_kres.cli.args.options import Options
from kubectl_kres.cli.output.exit_codes import print_stderr
from kubectl_kres.cli.source.object_source import Input, ObjectSource
from kubectl_kres.documents import yaml_text
from kubectl_kres.errors import ClusterError, InputError, UsageError
from kubectl_kres.manifests.manifest import Manifest, first_lines
from kubectl_kres.manifests.overlay import holds_template, split_templates, workload_kind_of
from kubectl_kres.manifests.read import LISTED, raise_faults, read
from kubectl_kres.manifests.typed_manifest import decode_manifest, kind_of
from kubectl_kres.model.admission_objects import kind_name, parameter_kind
from kubectl_kres.model.kinds import BY_KIND, Kind
from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.model.pod_places import is_followed, unique_kind_name
from kubectl_kres.model.workload import template_in
from kubectl_kres.model.workload_kinds import SCALED
from kubectl_kres.reports.changes.combined_answer import Files, steps_of
from kubectl_kres.reports.changes.given_steps import GivenStep, application_order, is_helm_test, policies_of
from kubectl_kres.reports.changes.system import expanded
from kubectl_kres.simulate.change import (
    Apply,
    Delete,
    Evict,
    Patch,
    PlacedStep,
    ScaleStep,
    key_of_step,
    strategic_merge,
)
from kubectl_kres.simulate.live import raw_of
from kubectl_kres.simulate.plugins import Parameters, parameters_of
from kubectl_kres.simulate.system import evicting_kinds
from kubectl_kres.store.store import Store

_RELEASE = {"metadata": {"annotations": {"projectcapsule.dev/release": "true"}}}
_SEGMENT = re.compile(r"\.?([^.\[\]]+)|\[([^\]]*)\]")
#: Keys below which a name with dots is one key: amounts, labels, annotations.
_OPEN = frozenset({"hard", "requests", "limits", "labels", "annotations", "matchLabels", "max", "min", "default",
                   "defaultRequest", "defaults", "claim", "maxLimitRequestRatio", "overhead", "podFixed"})  # fmt: skip
_LISTS = dict.fromkeys(("containers", "initContainers", "volumes", "env", "steps", "sidecars"), "name") | dict.fromkeys(
    ("containerRecommendations", "containerPolicies"), "containerName"
)


_IDENTITY = frozenset({("kind",), ("apiVersion",), ("metadata", "name"), ("metadata", "namespace")})


def sort_by_kind(manifests: Iterable[Manifest]) -> list[Manifest]:
    """Return the objects in the order of kinds, those of one kind as they stand; what policies take parameters from
    follows the quotas, which may count it, and stands before all that is created next.
    """
    all_manifests = list(manifests)
    order = {kind: index for index, kind in enumerate(application_order())}
    parameters = dict.fromkeys(
        ("ConfigMap", *parameters_of(item.raw for item in all_manifests).versions), order["LimitRange"]
    )
    order = {**parameters, **order}
    return sorted(all_manifests, key=lambda manifest: order.get(unique_kind_name(manifest.raw), len(order)))


def given_steps(
    options: Options, flags_given: Sequence[tuple[str, str]], kind: Callable[[str], Kind], stdin: Any
) -> list[GivenStep]:
    """``flags_given``: field and value of each flag. Raises InputError, UsageError for what cannot be understood."""
    all_wanted: list[GivenStep] = []
    for field, value in flags_given:
        if field == "filenames":
            all_wanted += _steps_of_files([value], options, stdin)
        elif field == "delete":
            which, name = _object(value, "--delete", kind)
            all_wanted.append(GivenStep(Delete(which.kind, name, f"--delete {value}"), which, "", f"--delete {value}"))
        elif field == "scale":
            all_wanted.append(_read_scale_step(value, kind))
        elif field == "sets":
            all_wanted.append(_set(value, kind))
        elif field == "release":
            all_wanted.append(_release(value, kind))
        elif field == "evict":
            all_wanted.append(_evict(value, kind))
    _refuse_doubles(all_wanted)
    _refuse_two_numbers(all_wanted)
    return all_wanted


def _steps_of_files(paths: Sequence[str], options: Options, stdin: Any) -> Iterator[GivenStep]:
    notes: list[InputError] = []
    manifests = sort_by_kind(read(paths, recursive=options.recursive, stdin=stdin, notes=notes))
    for note in notes[:LISTED]:
        print_stderr(f"Warning: {note.message}")
    for manifest, line in zip(manifests, first_lines(manifests), strict=True):
        kind = kind_of(manifest)
        _decode(manifest, kind)
        label = f"{manifest.file}:{line}" if line else manifest.file
        name = manifest.ref.name
        if not name:
            raise manifest.fault("an object needs a name", ("metadata",))
        raw = {**manifest.raw, "kind": unique_kind_name(manifest.raw)}
        yield GivenStep(Apply(raw, kept=True, label=label), kind, manifest.namespace, label)


def _decode(manifest: Manifest, kind: Kind | None) -> None:
    """Raises InputError at the first field of a wrong type, also in a template of a kind that no table has."""
    if kind is not None:
        decode_manifest(manifest, kind)
    elif holds_template(manifest) or template_in(manifest.raw) is not None:
        for part in split_templates(manifest):
            decode_manifest(part, workload_kind_of(part))


def _object(text: str, flag: str, kind: Callable[[str], Kind]) -> tuple[Kind, str]:
    head, slash, name = text.partition("/")
    if not slash or not head or not name or "/" in name:
        raise UsageError(f'invalid argument "{text}" for "{flag}" flag: TYPE/NAME is expected, as deploy/web')
    return kind(head), name


def _read_scale_step(value: str, kind: Callable[[str], Kind]) -> GivenStep:
    target, equals, number = value.rpartition("=")
    label = f"--scale {value}"
    if not equals or not number.isdecimal() or not number.isascii() or len(number) > 9:
        raise UsageError(f'invalid argument "{value}" for "--scale" flag: TYPE/NAME=N is expected, as deploy/web=3')
    which, name = _object(target, "--scale", kind)
    if which.kind not in SCALED:
        raise UsageError(f"{label}: {which.qualified_name} have no replicas to scale")
    return GivenStep(ScaleStep(which.kind, name, int(number), label), which, "", label)


def _release(value: str, kind: Callable[[str], Kind]) -> GivenStep:
    label = f"--release {value}"
    which, name = _object(value if "/" in value else f"claim/{value}", "--release", kind)
    if which.kind != "ResourcePoolClaim":
        raise UsageError(f"{label}: only claims on resource pools are released, as claim/batch")
    return GivenStep(Patch(which.kind, name, _RELEASE, label), which, "", label)


def _evict(value: str, kind: Callable[[str], Kind]) -> GivenStep:
    label = f"--evict {value}"
    which, name = _object(value if "/" in value else f"vpa/{value}", "--evict", kind)
    if which.kind not in evicting_kinds():
        raise UsageError(f"{label}: only the pods of vertical autoscalers are evicted by an updater, as vpa/web")
    return GivenStep(Evict(which.kind, name, label), which, "", label)


def _set(value: str, kind: Callable[[str], Kind]) -> GivenStep:
    target, colon, rest = value.partition(":")
    path, equals, text = rest.rpartition("=")
    label = f"--set {value}"
    if not colon or not equals or not path:
        raise UsageError(
            f'invalid argument "{value}" for "--set" flag: TYPE/NAME:path=value is expected, '
            "as quota/team:spec.hard.pods=10"
        )
    which, name = _object(target, "--set", kind)
    steps = _path(path, label)
    if tuple(steps) in _IDENTITY:
        raise UsageError(f"{label}: {path} says which object it is, and is not changed")
    is_text = which.kind == "ConfigMap" and steps[0] == "data"
    try:
        scalar = yaml_text.value(text) if text and not is_text else text
    except InputError as error:
        raise UsageError(f"{label}: {error.message}") from error
    return GivenStep(Patch(which.kind, name, _patch(steps, scalar), label), which, "", label)


def _path(text: str, label: str) -> list[str]:
    """``spec.hard[requests.cpu]`` or ``spec.hard.requests.cpu``: below a map of amounts the rest is one key."""
    texts: list[str] = []
    index = 0
    while index < len(text):
        if texts and texts[-1] in _OPEN and text[index] == ".":
            return [*texts, text[index + 1 :]]
        match = _SEGMENT.match(text, index)
        if match is None or not (match[1] or match[2]):
            raise UsageError(f"{label}: the path cannot be read at column {index + 1}")
        texts.append(match[1] or match[2])
        index = match.end()
    return texts


def _patch(path: Sequence[str], value: Any) -> Any:
    """Return the patch that sets one value; in a list of containers the element is named."""
    if not path:
        return value
    head, rest = path[0], path[1:]
    if head in _LISTS and rest:
        inner = _patch(rest[1:], value)
        return {head: [{_LISTS[head]: rest[0], **(inner if isinstance(inner, dict) else {})}]}
    return {head: _patch(rest, value)}


def _refuse_doubles(all_wanted: Sequence[GivenStep]) -> None:
    """Raises for an object that stands twice in the files, and for steps that contradict each other."""
    seen: dict[tuple[str, str, str], GivenStep] = {}
    files: dict[tuple[str, str], GivenStep] = {}
    values: dict[tuple[str, str, str], GivenStep] = {}
    faults: list[InputError] = []
    for step in all_wanted:
        kind, name = key_of_step(step.step)
        before = seen.get((kind, name, step.namespace))
        if isinstance(step.step, Apply) and not (step.step.object.get("metadata") or {}).get("name"):
            continue
        seen[kind, name, step.namespace] = step
        if isinstance(step.step, Apply):
            files[kind, name] = step
        elif isinstance(step.step, Delete) and (kind, name) in files:
            other = files[kind, name]
            raise UsageError(f"{step.label} contradicts {other.label}: nothing is left of what was applied")
        if isinstance(step.step, Patch):
            key = (kind, name, step.label.rpartition("=")[0])
            other = values.setdefault(key, step)
            if other.label != step.label:
                raise UsageError(f"{step.label} contradicts {other.label}: one value is expected")
        faults += _check_repeated_step(before, step) if before is not None else ()
    raise_faults(faults)


def _check_repeated_step(before: GivenStep, step: GivenStep) -> Iterator[InputError]:
    """Yield the fault of an object that stands twice in files. Raises UsageError for a second flag that says the
    same.
    """
    kind, name = key_of_step(step.step)
    if isinstance(before.step, Apply) and isinstance(step.step, Apply):
        yield InputError(f"{kind}/{name} is given twice, first at {before.label}", file=step.label)
    elif isinstance(before.step, Delete) and isinstance(step.step, Delete):
        raise UsageError(f"{step.label} is given twice")
    elif isinstance(before.step, ScaleStep) and isinstance(step.step, ScaleStep):
        raise UsageError(f"{step.label} contradicts {before.label}: one number of replicas is expected")


def _refuse_two_numbers(all_wanted: Sequence[GivenStep]) -> None:
    """Raises where --scale and --set say how many replicas there are to be."""
    replicas: dict[tuple[str, str], GivenStep] = {}
    for step in filter(_sets_replicas, all_wanted):
        other = replicas.setdefault(key_of_step(step.step), step)
        if type(other.step) is not type(step.step):
            raise UsageError(f"{step.label} contradicts {other.label}: one number of replicas is expected")


def _sets_replicas(given_step: GivenStep) -> bool:
    step = given_step.step
    return isinstance(step, ScaleStep) or (isinstance(step, Patch) and "replicas" in _mapping(step.patch.get("spec")))


def _mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def assign_namespaces(
    steps: Sequence[GivenStep], store: Store, spaces: Sequence[str], default: str, *, everywhere: bool
) -> Iterator[PlacedStep]:
    """Yield each step with its namespace. ``everywhere``: what names none in a file is applied in each of ``spaces``.

    Raises UsageError where it is not clear which object is meant.
    """
    for item in steps:
        if item.kind is not None and not item.kind.namespaced:
            placed = expanded(item.step, store, spaces)
            yield from (PlacedStep(item.step, ""),) if placed is None else placed
        elif item.namespace:
            yield PlacedStep(item.step, item.namespace)
        elif isinstance(item.step, Apply):
            yield from (PlacedStep(item.step, space) for space in (spaces if everywhere else (default,)))
        else:
            space = _namespace_of_step(item, store, spaces, default)
            yield PlacedStep(_by_name(item.step, store, space) if isinstance(item.step, Patch) else item.step, space)


def _by_name(step: Patch, store: Store, space: str) -> Patch:
    """The patch with elements of lists by their names where it numbers them, as paths of the server do; of lists whose
    elements have no names the whole list. Raises UsageError where there is no such element.
    """
    stored = store.get(step.kind, step.name, space)
    if stored is None:
        return step
    try:
        return structs.replace(step, patch=_resolve_patch(step.patch, raw_of(stored)))
    except IndexError as error:
        raise UsageError(f"{step.label}: {error}") from error


def _resolve_patch(patch: Any, stored: Any) -> Any:
    if not isinstance(patch, dict) or not isinstance(stored, dict):
        return patch
    result = {}
    for key, value in patch.items():
        outcome = stored.get(key)
        if key in _LISTS and isinstance(value, list) and isinstance(outcome, list):
            result[key] = [_element(item, _LISTS[key], outcome) for item in value]
        elif isinstance(outcome, list) and isinstance(value, dict):
            result[key] = _patch_elements(key, value, outcome)
        else:
            result[key] = _resolve_patch(value, outcome)
    return result


def _patch_elements(key: str, patch: dict[str, Any], elements: Sequence[Any]) -> list[Any]:
    """Return all elements of a list, those that the patch numbers changed, without those that are null then.

    Raises IndexError for a number beyond them.
    """
    result = list(elements)
    for number, change in patch.items():
        if not number.isdecimal() or int(number) >= len(result):
            count = f"{len(result)} element{'s' if len(result) != 1 else ''}"
            raise IndexError(f"{key} has {count}, counted from 0, and no [{number}]")
        element = result[int(number)]
        both = isinstance(change, dict) and isinstance(element, dict)
        result[int(number)] = strategic_merge(element, _resolve_patch(change, element)) if both else change
    return [element for element in result if element is not None]


def _element(patch: Any, key: str, value: Sequence[Any]) -> Any:
    """``value``: the elements that there are. An element that has the number for its name is meant itself."""
    name = patch[key]
    element = next((item for item in value if item.get(key) == name), None)
    if element is None and name.isdecimal() and int(name) < len(value):
        element = value[int(name)]
    return {**_resolve_patch(patch, element), key: element[key]} if element is not None else patch


def _namespace_of_step(step: GivenStep, store: Store, spaces: Sequence[str], default: str) -> str:
    """Return the namespace of an object that is named without one."""
    kind, name = key_of_step(step.step)
    if kind not in BY_KIND or len(spaces) == 1:
        return default
    namespaces = [item.metadata.namespace for item in store.all(kind) if item.metadata.name == name]
    if len(namespaces) > 1:
        raise UsageError(f"{step.label}: there is one in each of {', '.join(namespaces)}; choose with -n")
    return namespaces[0] if namespaces else default


def files_of(inputs: Input, counted: Collection[ObjectRef] = ()) -> Files:
    """Return the objects that a simulation knows, in the order of kinds; one that has no name is left out.

    ``counted``: objects of other kinds that a quota counts.
    """
    return steps_of(_objects(inputs, counted))


def _objects(inputs: Input, counted: Collection[ObjectRef]) -> Iterator[tuple[Any, str, str]]:
    manifests = sort_by_kind(inputs.manifests)
    for manifest, line in zip(manifests, first_lines(manifests), strict=True):
        kind = kind_of(manifest)
        space = manifest.namespace or inputs.namespace
        known = (kind is not None and manifest.kind in application_order()) or is_followed(manifest.raw)
        known = known or ObjectRef(manifest.kind, manifest.ref.name, space) in counted
        if known and manifest.metadata.get("name") and _fits(manifest, kind) and not is_helm_test(manifest.raw):
            raw = {**manifest.raw, "kind": unique_kind_name(manifest.raw)}
            yield raw, space, f"{manifest.file}:{line}"


def _fits(manifest: Manifest, kind: Kind | None) -> bool:
    """Return whether the object can be decoded; why not is a fault of the input, said once. For what makes pods and is
    of the server's own kinds the server answers, whatever it holds.
    """
    if kind is not None and kind.api_version == manifest.api_version and holds_template(manifest):
        return True
    try:
        _decode(manifest, kind)
    except InputError:
        return False
    return True


def with_kinds(steps: Sequence[GivenStep], source: ObjectSource) -> list[GivenStep]:
    """With the kinds of parameters that no table here has, as far as it is known where their objects stand."""
    parameters = parameters_of(policies_of(steps, source.store))
    return [_with_kind(item, parameters, source) for item in steps]


def _with_kind(item: GivenStep, parameters: Parameters, source: ObjectSource) -> GivenStep:
    kind, _ = key_of_step(item.step)
    if item.kind is not None or not parameters.is_parameter_step(item.step):
        return item
    name = kind_name(parameters.versions[kind], kind)
    spaces = {stored.metadata.namespace for stored in source.store.all(name)}
    namespaced = True if item.namespace else all(spaces) if spaces else _is_namespaced(name, source)
    known_kind = parameter_kind(name)
    if namespaced is None or known_kind is None:
        return item
    return structs.replace(item, kind=structs.replace(known_kind, kind=kind, namespaced=namespaced))


def _is_namespaced(name: str, source: ObjectSource) -> bool | None:
    """None: nobody can be asked."""
    try:
        kind: Kind = source.kind(name.lower())
    except ClusterError:
        return None
    return kind.namespaced
