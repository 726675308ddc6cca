"""The values of ``$(params.x)`` and ``$(workspaces.x.path)`` in a run, for the texts that decide about containers.

It also has the names that Tekton derives from others, and the labels that say from which.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from kubectl_kres.tekton.model import Param, TaskRunSpec, TaskSpec

Variables = Mapping[str, str]

_VARIABLE = re.compile(r"\$\(([^()$]{1,500})\)")
_BRACKETS = re.compile(r"\[(?:'([^']*)'|\"([^\"]*)\")\]")


def variables_of(run: TaskRunSpec, spec: TaskSpec) -> Variables:
    """Return the texts by name, ``params.x`` and ``workspaces.x.path``: of the run, else the Task's defaults.

    Source: taskrun/resources/apply.go getTaskParameters, ApplyWorkspaces.
    """
    result = parameters(run.params, spec.params)
    bound = {workspace.name for workspace in run.workspaces or ()}
    declared = {workspace.name: workspace for workspace in spec.workspaces or ()}
    for name in bound | set(declared):
        declaration = declared.get(name)
        path = declaration.mount_path if declaration is not None and declaration.mount_path else f"/workspace/{name}"
        unbound = declaration is not None and declaration.optional and name not in bound
        result[f"workspaces.{name}.path"] = "" if unbound else path
    return result


def parameters(params: Sequence[Param] | None, declared: Sequence[Param] | None) -> dict[str, str]:
    """Return the texts of parameters, ``params.x``, ``params.list[0]`` and ``params.object.key``: as given, else
    defaults.
    """
    result: dict[str, str] = {}
    for param in declared or ():
        result.update(_texts(param.name, param.default))
    for param in params or ():
        result.update(_texts(param.name, param.value))
    return result


def replace_variables(text: str, variables: Variables) -> str:
    """Return the text with what is known in place of each variable; others stay.

    Source: pkg/substitution/substitution.go ApplyReplacements.
    """
    return (
        _VARIABLE.sub(lambda match: variables.get(_normalize_name(match[1]), match[0]), text) if "$(" in text else text
    )


def _normalize_name(name: str) -> str:
    """``params['x']`` as ``params.x``; ``inputs.params.x`` is the name of old."""
    return _BRACKETS.sub(lambda match: f".{match[1] or match[2]}", name.removeprefix("inputs."))


def _texts(name: str, value: Any) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield f"params.{name}", value
    elif isinstance(value, Mapping):
        yield from ((f"params.{name}.{key}", item) for key, item in value.items() if isinstance(item, str))
    elif isinstance(value, list | tuple):
        yield from ((f"params.{name}[{index}]", item) for index, item in enumerate(value) if isinstance(item, str))


#: The labels that a PipelineRun gives its runs and its affinity assistants.
PIPELINE, PIPELINE_RUN, PIPELINE_TASK = "tekton.dev/pipeline", "tekton.dev/pipelineRun", "tekton.dev/pipelineTask"
_LONGEST, _HEAD = 63, 31


def child_name(parent: str, suffix: str) -> str:
    """``parent`` and ``suffix``, with a hash in place of what is too long. Source: knative.dev/pkg kmeta.ChildName."""
    if len(parent) <= _LONGEST - len(suffix):
        return parent + suffix
    if _HEAD - len(suffix) <= 0:
        return parent[:_HEAD] + _md5(parent + suffix)
    return parent[: _HEAD - len(suffix)] + _md5(parent) + suffix


def pod_name(run: str, attempts: int = 0) -> str:
    """Return the pod of a TaskRun; ``attempts``: how many were before."""
    return child_name(run, f"-pod-retry{attempts}" if attempts else "-pod")


def _md5(text: str) -> str:
    return hashlib.md5(text.encode("utf-8", "surrogatepass"), usedforsecurity=False).hexdigest()
