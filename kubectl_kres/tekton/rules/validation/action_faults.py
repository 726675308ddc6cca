"""What the webhook refuses in a StepAction."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from kubectl_kres.tekton.model import Step
from kubectl_kres.tekton.rules.base.config import Flags
from kubectl_kres.tekton.rules.validation import result_faults
from kubectl_kres.tekton.rules.validation.declarations import (
    Declaration,
    bare_objects,
    declaration_faults,
    declared,
    of_type,
    type_faults,
)
from kubectl_kres.tekton.rules.validation.task_faults import runs, windows_faults
from kubectl_kres.tekton.rules.validation.variable_faults import shown_of
from kubectl_kres.tekton.rules.validation.variable_refs import (
    Shown,
    dimmed,
    entire,
    mentions,
    not_isolated,
    prohibited,
    unknown,
)
from kubectl_kres.tekton.rules.validation.webhook_error import WebhookError, keyed

_UNDECLARED, _MISUSED = "tekton/undeclared", "tekton/variable-use"


def action_faults(spec: Step, path: str, flags: Flags) -> Iterator[WebhookError]:
    """The faults of the spec that stands at ``path``. Source: v1beta1/stepaction_validation.go."""
    params = declared(spec.params)
    yield from runs(path, "Image", spec.image, script=spec.script, command=spec.command)
    yield from windows_faults(spec.script, flags)
    if any(True for _ in mentions(spec.script, "params")):
        text = "param substitution in scripts is not allowed."
        yield WebhookError(text, f"{path}.script", "tekton/action-script")
    yield from _param_faults(spec, params, path)
    yield from type_faults(params, f"{path}.params")
    yield from declaration_faults(params, path, enum=True)
    results = {result.name for result in spec.results or ()}
    for prefix in ("step.results", "results"):
        if words := unknown(spec.script, prefix, results, dimmed):
            yield WebhookError(words, f"{path}.script", _UNDECLARED)
    yield from result_faults.of_step(spec.results, f"{path}.results")
    yield from _mount_faults(spec, {param.name for param in params}, path)


def _texts(spec: Step) -> Iterator[tuple[str, str]]:
    yield "image", spec.image
    yield "script", spec.script
    yield from ((f"command[{index}]", word) for index, word in enumerate(spec.command or ()))
    yield from ((f"args[{index}]", word) for index, word in enumerate(spec.args or ()))
    yield from ((keyed("env", variable.name), variable.value) for variable in spec.env or ())
    yield from (
        (f"volumeMounts[{index}]", volume_mount.name) for index, volume_mount in enumerate(spec.volume_mounts or ())
    )


def _param_faults(spec: Step, params: Sequence[Declaration], path: str) -> Iterator[WebhookError]:
    names, lists = {param.name for param in params}, {declaration.name for declaration in of_type(params, "array")}
    objects = of_type(params, "object")
    whole = {declaration.name for declaration in objects}
    for field, text in _texts(spec):
        shown = shown_of(field)
        for words in _undeclared(text, names, objects, shown):
            yield WebhookError(words, f"{path}.{field}", _UNDECLARED)
        judge = not_isolated if field.startswith(("command[", "args[")) else prohibited
        for words in {entire(text, "params", whole, shown), judge(text, "params", lists, shown)} - {""}:
            yield WebhookError(words, f"{path}.{field}", _MISUSED)
    yield from bare_objects(params, path)


def _undeclared(text: str, names: Collection[str], objects: Sequence[Declaration], shown: Shown) -> Iterator[str]:
    judged = [unknown(text, "params", names, shown)]
    judged += [
        unknown(text, rf"params\.{declaration.name}", declaration.properties or (), shown) for declaration in objects
    ]
    yield from filter(None, judged)


def _mount_faults(spec: Step, names: Collection[str], path: str) -> Iterator[WebhookError]:
    """A StepAction knows no volume: it is given the name of one."""
    for index, volume_mount in enumerate(spec.volume_mounts or ()):
        where = f"{path}.volumeMounts[{index}]"
        if [mention.written for mention in mentions(volume_mount.name, "params")] != [volume_mount.name]:
            detail = "expect the Name to be a single param reference"
            yield WebhookError(f"invalid value: {volume_mount.name}", f"{where}.name", "tekton/mount", detail)
            return
        if text := unknown(volume_mount.name, "params", names, str):
            yield WebhookError(text, where, _UNDECLARED)
