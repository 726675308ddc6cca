"""The webhook's refusals of variables that steps mention: not declared, of the wrong type, not to be used there.

It finds the variables that a text mentions as the webhook does.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from kubectl_kres.go_text import quote
from kubectl_kres.tekton.model import DeclaredResult, Step
from kubectl_kres.tekton.rules.validation.declarations import Declaration, bare_objects, parameters_of_type
from kubectl_kres.tekton.rules.validation.webhook_error import WebhookError, entry_path

#: How much of a text is shown when it is at fault: ``mask_text``, or all of it (``str``).
Shown = Callable[[str], str]

_CLOSING = {".": ")", '["': '"])', "['": "'])"}
_INDEX = re.compile(r"\[[0-9]*\*?\]")
_WHOLE = "[*]"
#: What is shown of a text that is at fault.
_SHOWN = re.compile(r"(\$\([^()\s]{1,200}\))")
_PARTS = 2
#: No name of anything is as long.
_LONGEST = 4096
_SHORT = 3


class Mention(NamedTuple):
    """One variable in a text: how it is written, what stands behind the prefix, whether a dot stands before it."""

    written: str
    name: str
    dotted: bool


def find_mentions(text: str, prefix: str) -> Iterator[Mention]:
    """Yield the variables below the prefix, a regular expression, in their order; none where it is no such expression.

    What closes one stands on its line. The text is gone through once, since scripts are long.
    Source: pkg/substitution/substitution.go braceMatchingRegex.
    """
    opening = _opening_pattern(prefix) if "$(" in text else None
    match = opening.search(text) if opening is not None else None
    closings: dict[str, int] = {}
    while opening is not None and match is not None:
        closing_bracket, start = _CLOSING[match[1]], match.end()
        if closings.get(closing_bracket, -1) < start:
            number = text.find(closing_bracket, start)
            closings[closing_bracket] = len(text) if number < 0 else number
        end = closings[closing_bracket]
        closed = end < len(text) and "\n" not in text[start : min(end, start + _LONGEST)] and end - start <= _LONGEST
        if closed:
            yield Mention(text[match.start() : end + len(closing_bracket)], text[start:end], match[1] == ".")
        match = opening.search(text, end + len(closing_bracket) if closed else match.start() + 2)


def unknown(text: str, prefix: str, known: Collection[str], show: Shown, *, named: bool = False) -> str:
    """Return what is said of the first variable that is not known; empty: all are. ``named``: it says which."""
    names, fault = _names(text, prefix, show)
    if fault:
        return fault
    for name in names:
        if name not in known and (bare := _INDEX.sub("", name)) not in known:
            return f"non-existent variable{f' `{bare}`' if named else ''} in {quote(show(text))}"
    return ""


def whole_list_fault(text: str, prefix: str, lists: Collection[str], show: Shown) -> str:
    """Return what is said of a list that is not named by index where one text is wanted; empty: nothing."""
    names, fault = _names(text, prefix, show)
    if fault:
        return fault
    return _wrong_type(text, show) if any(name.removesuffix(_WHOLE) in lists for name in names) else ""


def whole_object_fault(text: str, prefix: str, objects: Collection[str], show: Shown) -> str:
    """Return what is said of an object that is named without a key; empty: nothing."""
    result = (mention.name.removesuffix(_WHOLE) for mention in find_mentions(text, prefix))
    return _wrong_type(text, show) if any(name in objects for name in result) else ""


def not_isolated(text: str, prefix: str, lists: Collection[str], show: Shown) -> str:
    """Return what is said of a list that stands beside other text, where it could be no list; empty: nothing."""
    names, fault = _names(text, prefix, show)
    if fault:
        return fault
    if any(name.removesuffix(_WHOLE) in lists for name in names) and next(find_mentions(text, prefix)).written != text:
        return f"variable is not properly isolated in {quote(show(text))}"
    return ""


def mask_text(text: str) -> str:
    """Return the text with dots for all but what it refers to and what is too short to tell anything.

    Scripts and arguments are shown to nobody.
    """
    parts = enumerate(_SHOWN.split(text))
    return "".join(part if index % 2 or _is_short(part) else "..." for index, part in parts)


def _names(text: str, prefix: str, show: Shown) -> tuple[list[str], str]:
    """The variables' names, without the key of an object, and what is said of names with too many parts."""
    names: list[str] = []
    for name, dotted in dict.fromkeys((mention.name, mention.dotted) for mention in find_mentions(text, prefix)):
        parts = name.split(".") if dotted else [name]
        if len(parts) > _PARTS:
            words = f'Only two dot-separated components after the prefix "{prefix}" are allowed.'
            return names, f'Invalid referencing of parameters in "{show(text)}"! {words}'
        names.append(parts[0])
    return names, ""


def _wrong_type(text: str, show: Shown) -> str:
    return f"variable type invalid in {quote(show(text))}"


def _is_short(part: str) -> bool:
    return len(part) <= _SHORT and part.isascii() and part.isprintable()


@lru_cache(maxsize=4096)
def _opening_pattern(prefix: str) -> re.Pattern[str] | None:
    try:
        return re.compile(rf"\$\({prefix}(\.|\[\"|\[')")
    except re.error:
        return None


_UNDECLARED, _MISUSED = "tekton/undeclared", "tekton/variable-use"
_CONTEXT = {r"context\.taskRun": ("name", "namespace", "uid"), r"context\.task": ("name", "retry-count")}
_ARTIFACT = re.compile(r"\$\(steps\.[^.]+\.(?:inputs|outputs)\.[^.)]+\)")
_ARTIFACTS = "$(step.artifacts.path)"
_PLAIN = re.compile(r"[\w.-]*")


def texts(step: Step) -> Iterator[tuple[str, str]]:
    """Yield the texts of a step that may mention variables, by field; those of its mounts come in ``mounts``."""
    yield "name", step.name
    yield "image", step.image
    yield "workingDir", step.working_dir
    yield "script", step.script
    yield from ((f"command[{index}]", word) for index, word in enumerate(step.command or ()))
    yield from ((f"args[{index}]", word) for index, word in enumerate(step.args or ()))
    yield from ((entry_path("env", variable.name), variable.value) for variable in step.env or ())


def shown_part(field: str) -> Shown:
    """Return how much of the text of a field is shown."""
    return mask_text if field.startswith(("script", "command[", "args[", "env")) else str


def mounts(step: Step, fields: tuple[str, str, str]) -> Iterator[tuple[str, str]]:
    """Yield the texts of mounts; how their fields are called depends on who asks."""
    for index, volume_mount in enumerate(step.volume_mounts or ()):
        for field, text in zip(
            fields, (volume_mount.name, volume_mount.mount_path, volume_mount.sub_path), strict=True
        ):
            yield f"volumeMount[{index}].{field}", text


def use_faults(steps: Sequence[Step], params: Sequence[Declaration], path: str) -> Iterator[WebhookError]:
    """Lists where one text is wanted, or beside other text. Source: v1/task_validation.go validateArrayUsage."""
    lists = {declaration.name for declaration in parameters_of_type(params, "array")}
    for index, step in enumerate(steps):
        for field, text in _find_misused_lists(step, lists):
            yield WebhookError(text, f"{path}.{_nested_step_path(index, len(steps))}.{field}", _MISUSED)


def param_faults(
    steps: Sequence[Step], params: Sequence[Declaration], path: str, *, beta: bool = False
) -> Iterator[WebhookError]:
    """Parameters that nobody declares, and objects that are taken whole or by a key that they lack.

    Source: v1/task_validation.go ValidateUsageOfDeclaredParameters.
    """
    names = {param.name for param in params}
    yield from _unknown(steps, "params", names, path, beta=beta)
    objects = parameters_of_type(params, "object")
    for declaration in objects:
        keys = set(declaration.properties or ())
        yield from _unknown(steps, rf"params\.{_pattern(declaration.name)}", keys, path, beta=beta)
    whole = {declaration.name for declaration in objects}
    for index, step in enumerate(steps):
        for field, text in (*texts(step), *mounts(step, ("name", "mountPath", "subPath"))):
            if words := whole_object_fault(text, "params", whole, shown_part(field)):
                yield WebhookError(words, f"{path}.{_nested_step_path(index, len(steps))}.{field}", _MISUSED)
    yield from bare_objects(params, path)


def context_faults(steps: Sequence[Step], path: str, *, beta: bool = False) -> Iterator[WebhookError]:
    """Things of the run that there are not. Source: v1/task_validation.go validateTaskContextVariables."""
    for prefix, known in _CONTEXT.items():
        yield from _unknown(steps, prefix, known, path, beta=beta)


def result_faults(
    steps: Sequence[Step], results: Sequence[DeclaredResult] | None, path: str, *, beta: bool = False
) -> Iterator[WebhookError]:
    """Results that scripts write and nobody declares; for those of a step only where it has some.

    Source: v1/task_validation.go validateTaskResultsVariables, ValidateStepResultsVariables.
    """
    declared = {result.name for result in results or ()}
    for index, step in enumerate(steps):
        item_path = f"{path}.steps[{index}].script"
        if text := unknown(step.script, "results", declared, mask_text, named=beta):
            yield WebhookError(text, item_path, _UNDECLARED)
        own_names = {result.name for result in step.results or ()}
        if own_names and (text := unknown(step.script, "step.results", own_names, mask_text)):
            yield WebhookError(text, item_path, _UNDECLARED)


def place_faults(step: Step, path: str) -> Iterator[WebhookError]:
    """Results and artifacts of steps, in fields that are settled before any step runs.

    Source: v1/container_validation.go validateStepResultReference, validateStepArtifactsReference.
    """
    early = [("name", step.name), ("image", step.image), ("imagePullPolicy", step.image_pull_policy)]
    early.append(("workingDir", step.working_dir))
    for volume_mount in step.volume_mounts or ():
        early += [("volumeMounts.name", volume_mount.name), ("volumeMounts.mountPath", volume_mount.mount_path)]
        early.append(("volumeMounts.subPath", volume_mount.sub_path))
    for field, text in (*early, ("script", step.script)):
        if _mentions_result(text):
            words = "stepResult substitutions are only allowed in env, command and args. Found usage in"
            yield WebhookError(words, f"{path}.{field}", _MISUSED)
    for field, text in early:
        if _ARTIFACTS in text or _ARTIFACT.search(text):
            words = "stepArtifact substitutions are only allowed in env, command, args and script. Found usage in"
            yield WebhookError(words, f"{path}.{field}", _MISUSED)


def _unknown(
    steps: Sequence[Step], prefix: str, known: Collection[str], path: str, *, beta: bool
) -> Iterator[WebhookError]:
    for index, step in enumerate(steps):
        result = (*texts(step), *mounts(step, ("name", "MountPath", "SubPath")), ("onError", step.on_error))
        for field, text in result:
            if words := unknown(text, prefix, known, shown_part(field), named=beta and field == "script"):
                yield WebhookError(words, f"{path}.steps[{index}].{field}", _UNDECLARED)


def _find_misused_lists(step: Step, lists: Collection[str]) -> Iterator[tuple[str, str]]:
    for field, text in (*texts(step), *mounts(step, ("name", "mountPath", "subPath"))):
        judge = not_isolated if field.startswith(("command[", "args[")) else whole_list_fault
        if words := judge(text, "params", lists, shown_part(field)):
            yield field, words


def _nested_step_path(index: int, count: int) -> str:
    """Return the path of a step where all that was found before is put below each step that follows."""
    return ".".join(f"steps[{number}]" for number in range(count - 1, index - 1, -1))


def _pattern(name: str) -> str:
    """Return a name as it stands in the expression; one that could be more than a name is taken for what it says."""
    return name if _PLAIN.fullmatch(name) else re.escape(name)


def _mentions_result(text: str) -> bool:
    for line in text.split("\n") if "$(steps." in text else ():
        start = line.find("$(steps.")
        middle = line.find(".results.", start + 8) if start >= 0 else -1
        if middle >= 0 and line.find(")", middle + 9) >= 0:
            return True
    return False
