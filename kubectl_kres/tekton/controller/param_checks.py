"""What the TaskRun controller says of parameters once it has the Task: missing, of another type, beyond the list."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from kubectl_kres.model.tekton import TaskRunSpec, TaskSpec
from kubectl_kres.model.tekton_parts import Param
from kubectl_kres.tekton.validation.declarations import Declaration, declared, type_of
from kubectl_kres.tekton.validation.variable_faults import mounts, texts

_VARIABLE = re.compile(r"\$\([_a-zA-Z0-9.-]+(?:\[(?:[0-9]+|\*)\])?\)")
_INDEXED = re.compile(
    r"\$\(params(?:\.([_a-zA-Z0-9.-]{1,200})|\['([_a-zA-Z0-9./]{1,200})'\]|\[\"([_a-zA-Z0-9./]{1,200})\"\])"
    r"\[([0-9]{1,18})\]\)"
)


def unfit(run: TaskRunSpec, spec: TaskSpec, name: str) -> str:
    """A sentence of the parameters that do not fit the Task called ``name``; empty: all do.

    Source: taskrun/validate_taskrun.go validateParams, resources/validate_params.go ValidateParamArrayIndex.
    """
    wanted, given = declared(spec.params), run.params or ()
    text = _missing(given, wanted) or _mistyped(given, wanted) or _keyless(given, wanted)
    return f"invalid input params for task {name}: {text}" if text else _beyond(given, spec)


def _missing(given: Sequence[Param], wanted: Sequence[Declaration]) -> str:
    known = {one.name for one in given}
    missing = [one.name for one in wanted if not one.default and one.name not in known]
    return f"missing values for these params which have no default values: [{' '.join(missing)}]" if missing else ""


def _mistyped(given: Sequence[Param], wanted: Sequence[Declaration]) -> str:
    """A text may turn out to be a list or an object if it refers to one."""
    types = {one.name: one.type for one in wanted}
    wrong = [
        one.name
        for one in given
        if (kind := types.get(one.name, "")) and type_of(one.value) != kind and not _may_become(one, kind)
    ]
    return f"param types don't match the user-specified type: [{' '.join(wrong)}]" if wrong else ""


def _may_become(one: Param, kind: str) -> bool:
    return kind in {"array", "object"} and isinstance(one.value, str) and _VARIABLE.search(one.value) is not None


def _keyless(given: Sequence[Param], wanted: Sequence[Declaration]) -> str:
    """Keys are only looked for where the default or the run gives some."""
    needed = {one.name: one.properties or {} for one in wanted if one.type == "object"}
    held: dict[str, set[str]] = {one.name: set(one.keys) for one in wanted if one.default == "object"}
    for one in given:
        if type_of(one.value) == "object":
            held.setdefault(one.name, set()).update(one.value)
    lacking = {name: sorted(set(needed.get(name, ())) - keys) for name, keys in sorted(held.items())}
    shown = " ".join(f"{name}:[{' '.join(keys)}]" for name, keys in lacking.items() if keys)
    text = f"missing keys for these params which are required in ParamSpec's properties map[{shown}]"
    return text if shown else ""


def _beyond(given: Sequence[Param], spec: TaskSpec) -> str:
    """Entries that a list does not have."""
    lengths = {one.name: len(one.default) for one in spec.params or () if type_of(one.default) == "array"}
    lengths |= {one.name: len(one.value) for one in given if type_of(one.value) == "array"}
    found = {match[0]: match for text in _texts(spec) for match in _INDEXED.finditer(text)} if lengths else {}
    wrong = sorted(
        written
        for written, match in found.items()
        if int(match[4]) >= lengths.get((match[1] or "").split(".")[0] or match[2] or match[3], int(match[4]) + 1)
    )
    return f"non-existent param references:[{' '.join(wrong)}]" if wrong else ""


def _texts(spec: TaskSpec) -> Iterator[str]:
    for step in (*(spec.steps or ()), *((spec.step_template,) if spec.step_template is not None else ())):
        yield from (text for _, text in (*texts(step), *mounts(step, ("", "", ""))) if "$(params" in text)
    yield from (one.mount_path for one in spec.workspaces or ())
    for sidecar in spec.sidecars or ():
        yield from (sidecar.script, sidecar.image, *(sidecar.command or ()))
