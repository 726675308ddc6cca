"""What tekton-kueue's webhook makes of a PipelineRun that is created: held, in a queue, with what expressions add.

Source: konflux-ci/tekton-kueue v0.3.0 internal/webhook/v1/pipelinerun_webhook.go, internal/cel/{compiler,mutator}.go.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Final

from kubectl_kres.admission.base.resource_names import qualified_faults
from kubectl_kres.admission.structure.metadata_structure import label_value_faults
from kubectl_kres.kueue.model import PRIORITY_LABEL, QUEUE_LABEL, REQUESTS
from kubectl_kres.kueue.rules.run_config import QueuedRun, RunConfig
from kubectl_kres.model.objects import mapping, text
from kubectl_kres.policies.cel.base.types import DYN, STRING, Type, map_of
from kubectl_kres.policies.cel.base.values import CompileError, EvalError, InstantiationError, NotComputed
from kubectl_kres.policies.cel.evaluation.environment import Environment, standard_functions
from kubectl_kres.policies.cel.evaluation.evaluate import CompiledExpression, compile_expression
from kubectl_kres.policies.cel.libraries.overload import overload

_EVENT_TYPES: Final = {
    "pacEventType": "pipelinesascode.tekton.dev/event-type",
    "pacTestEventType": "pac.test.appstudio.openshift.io/event-type",
}
_JSON = map_of(STRING, DYN)
#: What Go's strconv.Atoi reads.
_WHOLE: Final = re.compile(r"[+-]?[0-9]+", re.ASCII)


def parse_config(value: Any) -> RunConfig:
    """Return the configuration out of its YAML value."""
    fields = value if isinstance(value, Mapping) else {}
    queue = text(fields, "queueName")
    expressions = mapping(fields, "cel").get("expressions") or ()
    if not queue:
        return RunConfig(unusable="queueName is not set")
    if not isinstance(expressions, list | tuple) or not all(isinstance(each, str) for each in expressions):
        return RunConfig(unusable="cel.expressions is no list of texts")
    for expression in expressions:
        try:
            kind = _compiled(expression).kind
        except (CompileError, InstantiationError) as error:
            return RunConfig(unusable=f"{expression}: {error}")
        except NotComputed:
            continue
        if not _gives_changes(kind):
            return RunConfig(unusable=f"{expression}: it gives no change, nor a list of them")
    return RunConfig(queue, tuple(expressions))


def _gives_changes(kind: Type) -> bool:
    """Return whether a result is a map by names, or a list of such maps. Source: compiler.go isValidOutputType."""
    kind = kind.params[0] if kind.kind == "list" else kind
    return kind.kind == "map" and kind.params[0] == STRING


def queued_run(run: Mapping[str, Any], config: RunConfig) -> QueuedRun:
    """Return a run as the webhook stores it."""
    metadata = mapping(run, "metadata")
    labels = dict(mapping(metadata, "labels"))
    labels.setdefault(QUEUE_LABEL, config.queue)
    held = _with(run, {**metadata, "labels": labels})
    variables = _variables(held)
    changes: list[Any] = []
    for expression in config.expressions:
        try:
            value, _ = _compiled(expression).evaluate(variables)
        except EvalError as error:
            refusal = f'failed to evaluate CEL expression "{expression}": {error.message}'
            return QueuedRun(held, refused=refusal)
        except NotComputed as error:
            return QueuedRun(held, unknown=str(error))
        changes += value if isinstance(value, list | tuple) else [value]
    return _changed(held, changes)


def _with(run: Mapping[str, Any], metadata: Mapping[str, Any]) -> dict[str, Any]:
    return {**run, "metadata": metadata, "spec": {**mapping(run, "spec"), "status": "PipelineRunPending"}}


def _variables(run: Mapping[str, Any]) -> dict[str, Any]:
    """Return what expressions see: the run with its defaults as JSON, whose numbers are all doubles there."""
    metadata, spec = mapping(run, "metadata"), mapping(run, "spec")
    labels = mapping(metadata, "labels")
    spec = {
        **spec,
        "timeouts": {"pipeline": "1h0m0s", **mapping(spec, "timeouts")},
        "taskRunTemplate": {"serviceAccountName": "default", **mapping(spec, "taskRunTemplate")},
    }
    seen = _as_doubles({**run, "spec": spec, "status": mapping(run, "status")})
    events = {name: text(labels, label) for name, label in _EVENT_TYPES.items()}
    return {"pipelineRun": seen, "plrNamespace": text(metadata, "namespace"), **events}


def _as_doubles(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _as_doubles(each) for key, each in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_as_doubles(each) for each in value]
    return float(value) if isinstance(value, int) and not isinstance(value, bool) else value


def _changed(run: Mapping[str, Any], changes: Sequence[Any]) -> QueuedRun:
    metadata = mapping(run, "metadata")
    labels, annotations = dict(mapping(metadata, "labels")), dict(mapping(metadata, "annotations"))
    for change in changes:
        if not isinstance(change, _Change):
            # Of a map that an expression writes itself the webhook makes nothing.
            return QueuedRun(run, refused="expected MutationRequest-compatible map or list")
        key, value = change["key"], change["value"]
        if not value:
            return QueuedRun(run, refused="mutation value cannot be empty")
        if change["type"] == "label":
            labels[key] = value
        elif change["type"] == "annotation":
            annotations[key] = value
        else:
            before = annotations.get(key, "0")
            if not _WHOLE.fullmatch(before):
                return QueuedRun(run, refused=f'failed to parse existing resource value "{before}" for key "{key}"')
            annotations[key] = str(int(before) + int(value))
    return QueuedRun(_with(run, {**metadata, "labels": labels, "annotations": annotations}))


@lru_cache(maxsize=64)
def _compiled(expression: str) -> CompiledExpression:
    """Raises CompileError, InstantiationError, NotComputed."""
    return compile_expression(expression, _environment())


@lru_cache(maxsize=1)
def _environment() -> Environment:
    variables = {"pipelineRun": _JSON, **dict.fromkeys(("plrNamespace", *_EVENT_TYPES), STRING)}
    made = "map(string, dyn)"
    functions = standard_functions(
        overload(f"annotation(string, string) {made}", lambda key, value: _change("annotation", key, value)),
        overload(f"label(string, string) {made}", _label),
        overload(f"priority(string) {made}", lambda value: _Change(type="label", key=PRIORITY_LABEL, value=value)),
        overload(f"resource(string, int) {made}", _resource),
        overload("replace(string, string, string) string", lambda source, old, new: source.replace(old, new)),
    )
    return Environment(variables, {}, functions=functions)


class _Change(dict[str, str]):
    """What a function of tekton-kueue gives: ``type``, ``key`` and ``value``."""


def _change(kind: str, key: str, value: str) -> _Change:
    if not key:
        raise EvalError(f"{kind} key cannot be empty")
    faults = [*qualified_faults(key)]
    if faults:
        what = "resource annotation" if kind == "resource" else kind
        raise EvalError(f"{kind} key validation failed: {what} key '{key}' is invalid: {', '.join(faults)}")
    return _Change(type=kind, key=key, value=value)


def _label(key: str, value: str) -> _Change:
    change = _change("label", key, value)
    if faults := [*label_value_faults(value)]:
        raise EvalError(f"label value validation failed: label value '{value}' is invalid: {', '.join(faults)}")
    return change


def _resource(name: str, amount: int) -> _Change:
    if name and amount < 0:
        raise EvalError(f"resource value must be positive (>= 0), got {amount}")
    return _Change(_change("resource", name, str(amount)), key=f"{REQUESTS}{name}")
