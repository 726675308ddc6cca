"""The webhook's refusals of names, references and declared results: given twice, bound to nothing, no names at all."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from kubectl_kres.admission.base.resource_names import qualified_faults
from kubectl_kres.go_text import quote
from kubectl_kres.tekton.model import DeclaredResult, Param, Reference
from kubectl_kres.tekton.rules.base.config import Flags
from kubectl_kres.tekton.rules.validation.declarations import TYPES, type_of
from kubectl_kres.tekton.rules.validation.webhook_error import LABEL, WebhookError, entry_path

_ADDRESS = re.compile(r"[A-Za-z0-9_-]:/")
_ONE_OF = "tekton/one-of"

_VOLUMES = ("configmap", "emptydir", "persistentvolumeclaim", "secret", "volumeclaimtemplate")
#: What a workspace can be bound to, with the field that it must have, as Tekton writes it.
_BOUND = {
    "configMap": ("name", "configmap.name"),
    "csi": ("driver", "csi.driver"),
    "emptyDir": ("", ""),
    "persistentVolumeClaim": ("claimName", "persistentvolumeclaim.claimname"),
    "projected": ("sources", "projected.sources"),
    "secret": ("secretName", "secret.secretName"),
    "volumeClaimTemplate": ("", ""),
}
_TWICE = "tekton/given-twice"


def given_faults(params: Sequence[Param] | None) -> Iterator[WebhookError]:
    """Parameters of a run that are given twice; capitals do not count. Source: v1/taskrun_validation.go."""
    seen: set[str] = set()
    for param in params or ():
        if param.name.lower() in seen:
            yield WebhookError(
                "expected exactly one, got both", f"{entry_path('spec.params', param.name)}.name", _TWICE
            )
        seen.add(param.name.lower())


def binding_faults(spec: Any, kind: str) -> Iterator[WebhookError]:
    """Yield what a run binds its workspaces to, as written: exactly one thing each, under a name of its own.

    Source: v1/workspace_validation.go, taskrun_validation.go, pipelinerun_validation.go.
    """
    workspaces = spec.get("workspaces") if isinstance(spec, Mapping) else None
    seen: dict[str, int] = {}
    for index, workspace in enumerate(workspaces if isinstance(workspaces, list | tuple) else ()):
        if not isinstance(workspace, Mapping):
            continue
        path, name = f"spec.workspaces[{index}]", str(workspace.get("name", ""))
        if name in seen:
            many = f'workspace "{name}" provided by pipelinerun more than once, at index {seen[name]} and {index}'
            text = "expected exactly one, got both" if kind == "TaskRun" else many
            yield WebhookError(text, f"{path}.name", _TWICE)
        seen.setdefault(name, index)
        yield from _workspace_binding_faults(workspace, path)


def name_faults(name: str, path: str) -> Iterator[WebhookError]:
    """Yield what is no name of an object. Source: apimachinery validation.IsQualifiedName."""
    text = ",".join(qualified_faults(name))
    if text:
        yield WebhookError(f"invalid value: {text}", path, "tekton/name")


def _workspace_binding_faults(mapping: Mapping[str, Any], path: str) -> Iterator[WebhookError]:
    if all(value is None or value == "" for value in mapping.values()):
        yield WebhookError("missing field(s)", path, "tekton/workspace-binding")
        return
    given_fields = [field for field in _BOUND if mapping.get(field) is not None]
    if len(given_fields) != 1:
        text = f"expected exactly one, got {'both' if given_fields else 'neither'}"
        yield from (WebhookError(text, f"{path}.{field}", "tekton/workspace-binding") for field in _VOLUMES)
        return
    expected, words = _BOUND[given_fields[0]]
    result = mapping[given_fields[0]]
    if expected and isinstance(result, Mapping) and not result.get(expected):
        yield WebhookError("missing field(s)", f"{path}.{words}", "tekton/workspace-binding")


def reference_faults(ref: Reference | None, path: str, flags: Flags) -> Iterator[WebhookError]:
    """A reference names an object, or a resolver. Source: v1/container_validation.go validateRef."""
    if ref is None:
        return
    if ref.bundle:
        yield WebhookError("must not set the field(s)", f"{path}.bundle", "tekton/retired-field")
    # A bundle has become a resolver by now, which nobody has written.
    resolver = "" if ref.bundle and ref.resolver == "bundles" else ref.resolver
    address = _ADDRESS.search(ref.name) is not None
    if address and not flags.concise_resolver and (resolver or not ref.params):
        text = "feature flag enable-concise-resolver-syntax should be set to true to use concise resolver syntax"
        yield WebhookError(text, path, "tekton/api-fields")
    yield from _gates(resolver, ref, flags)
    if ref.params and ref.name:
        yield from (
            WebhookError("expected exactly one, got both", f"{path}.{item}", _ONE_OF) for item in ("name", "params")
        )
    if resolver:
        if ref.name and not address:
            yield WebhookError("invalid value: invalid URI for request", f"{path}.name", "tekton/name")
    elif address or ref.params:
        yield WebhookError("missing field(s)", f"{path}.resolver", _ONE_OF)
    elif ref.name:
        yield from name_faults(ref.name, f"{path}.name")
    else:
        yield WebhookError("missing field(s)", f"{path}.name", _ONE_OF)


def _gates(resolver: str, ref: Reference, flags: Flags) -> Iterator[WebhookError]:
    for what, item in (("resolver params", ref.params), ("resolver", resolver)):
        if item and flags.api_fields == "stable":
            text = f'{what} requires "enable-api-fields" feature gate to be "alpha" or "beta" but it is "stable"'
            yield WebhookError(text, "", "tekton/api-fields")


_RULE = "tekton/result"
_FORMAT = "^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$"
_NAME = re.compile(r"([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]")
_STEP = re.compile(r"\$\(steps\.([^)\n]{0,300}?)\.results\.([^)\n]{0,300})\)")
_CONSIST = (
    "must consist of alphanumeric characters, '-', '_', and must start and end with an alphanumeric character (e.g. "
    f"'MyName',  or 'my-name',  or 'my_name', regex used for validation is '{_FORMAT}')"
)
_OF_STEP = "$(steps.<stepName>.results.<resultName>)"
_LABEL = (
    f"stepName in {_OF_STEP} must be a valid DNS Label, For more info refer to "
    "https://kubernetes.io/docs/concepts/overview/working-with-objects/names/#names"
)


def task_result_faults(results: Sequence[DeclaredResult] | None, path: str) -> Iterator[WebhookError]:
    """Yield the faults of a Task's results, which stand at ``path``. Source: v1/result_validation.go
    TaskResult.Validate.
    """
    for index, result in enumerate(results or ()):
        item_path = f"{path}[{index}]"
        if not _NAME.fullmatch(result.name):
            yield _build_name_fault(result, item_path)
            continue
        if result.type not in {"", *TYPES}:
            yield WebhookError(f"invalid value: {result.type}", f"{item_path}.type", _RULE, "type must be string")
        if result.type == "object" or (not result.type and result.properties is not None):
            yield from _object(result, item_path, "The", untyped=True)
        yield from _result_value_faults(result, item_path)


def step_result_faults(results: Sequence[DeclaredResult] | None, path: str) -> Iterator[WebhookError]:
    """Yield the faults of a step's results. Source: v1/result_validation.go StepResult.Validate."""
    for index, result in enumerate(results or ()):
        item_path = f"{path}[{index}]"
        if not _NAME.fullmatch(result.name):
            yield _build_name_fault(result, item_path)
        elif result.type not in {"", *TYPES}:
            yield WebhookError(
                f"invalid value: {result.type}", f"{item_path}.type", _RULE, f"invalid type {result.type}"
            )
        elif result.type == "object":
            yield from _object(result, item_path, "the", untyped=False)


def _build_name_fault(declared_result: DeclaredResult, path: str) -> WebhookError:
    return WebhookError(f"invalid key name {quote(declared_result.name)}", f"{path}.name", _RULE, f"Name {_CONSIST}")


def _object(declared_result: DeclaredResult, path: str, article: str, *, untyped: bool) -> Iterator[WebhookError]:
    """``untyped``: whether keys may be without a type. An empty map is gone once the object is written again."""
    if not declared_result.properties:
        yield WebhookError("missing field(s)", f"{path}.{declared_result.name}.properties", _RULE)
        return
    types = {
        key: item.get("type") if isinstance(item, Mapping) else None for key, item in declared_result.properties.items()
    }
    odd = sorted(key for key, kind in types.items() if kind != "string" and not (untyped and not kind))
    if odd:
        text = f"{article} value type specified for these keys [{' '.join(odd)}] is invalid, the type must be string"
        yield WebhookError(text, f"{path}.{declared_result.name}.properties", _RULE)


def _result_value_faults(declared_result: DeclaredResult, path: str) -> Iterator[WebhookError]:
    """Yield what is wrong with where a result is taken from."""
    if declared_result.value is None:
        return
    if (kind := type_of(declared_result.value)) != "string":
        yield WebhookError(
            f'Invalid Type. Wanted string but got: "{kind}"', f"{path}.{declared_result.name}.type", _RULE
        )
        return
    item_path, text = (
        f"{path}.{declared_result.name}.value",
        declared_result.value if isinstance(declared_result.value, str) else str(declared_result.value),
    )
    match = _STEP.search(text)
    if text and match is None:
        words = f'Could not extract step name and result name. Expected value to look like {_OF_STEP} but got "{text}"'
        yield WebhookError(words, item_path, _RULE)
    if match is None:
        return
    if not LABEL.fullmatch(match[1]):
        yield WebhookError(f"invalid extracted step name {quote(match[1])}", item_path, _RULE, _LABEL)
    if not _NAME.fullmatch(match[2]):
        detail = f"resultName in {_OF_STEP} {_CONSIST}"
        yield WebhookError(f"invalid extracted result name {quote(match[2])}", item_path, _RULE, detail)
