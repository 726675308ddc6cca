"""What the webhook refuses in declared results, of Tasks and of steps."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from kubectl_kres.tekton.model import DeclaredResult
from kubectl_kres.tekton.rules.validation.declarations import TYPES, type_of
from kubectl_kres.tekton.rules.validation.webhook_error import LABEL, WebhookError, quote

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


def of_task(results: Sequence[DeclaredResult] | None, path: str) -> Iterator[WebhookError]:
    """The faults of a Task's results, which stand at ``path``. Source: v1/result_validation.go TaskResult.Validate."""
    for index, result in enumerate(results or ()):
        where = f"{path}[{index}]"
        if not _NAME.fullmatch(result.name):
            yield _misnamed(result, where)
            continue
        if result.type not in {"", *TYPES}:
            yield WebhookError(f"invalid value: {result.type}", f"{where}.type", _RULE, "type must be string")
        if result.type == "object" or (not result.type and result.properties is not None):
            yield from _object(result, where, "The", untyped=True)
        yield from _taken(result, where)


def of_step(results: Sequence[DeclaredResult] | None, path: str) -> Iterator[WebhookError]:
    """The faults of a step's results. Source: v1/result_validation.go StepResult.Validate."""
    for index, result in enumerate(results or ()):
        where = f"{path}[{index}]"
        if not _NAME.fullmatch(result.name):
            yield _misnamed(result, where)
        elif result.type not in {"", *TYPES}:
            yield WebhookError(f"invalid value: {result.type}", f"{where}.type", _RULE, f"invalid type {result.type}")
        elif result.type == "object":
            yield from _object(result, where, "the", untyped=False)


def _misnamed(declared_result: DeclaredResult, path: str) -> WebhookError:
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


def _taken(declared_result: DeclaredResult, path: str) -> Iterator[WebhookError]:
    """What is wrong with where a result is taken from."""
    if declared_result.value is None:
        return
    if (kind := type_of(declared_result.value)) != "string":
        yield WebhookError(
            f'Invalid Type. Wanted string but got: "{kind}"', f"{path}.{declared_result.name}.type", _RULE
        )
        return
    where, text = (
        f"{path}.{declared_result.name}.value",
        declared_result.value if isinstance(declared_result.value, str) else str(declared_result.value),
    )
    match = _STEP.search(text)
    if text and match is None:
        words = f'Could not extract step name and result name. Expected value to look like {_OF_STEP} but got "{text}"'
        yield WebhookError(words, where, _RULE)
    if match is None:
        return
    if not LABEL.fullmatch(match[1]):
        yield WebhookError(f"invalid extracted step name {quote(match[1])}", where, _RULE, _LABEL)
    if not _NAME.fullmatch(match[2]):
        detail = f"resultName in {_OF_STEP} {_CONSIST}"
        yield WebhookError(f"invalid extracted result name {quote(match[2])}", where, _RULE, detail)
