"""A patch of the ``resize`` subresource laid over the stored pod, as ``kubectl patch --subresource resize`` does."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec
from msgspec import structs

from kubectl_kres.admission.base.field_error import invalid
from kubectl_kres.admission.base.outcome import Refusal, invalid_object
from kubectl_kres.errors import UsageError
from kubectl_kres.model.pod import Pod
from kubectl_kres.model.raw import decoded

_FORM = 'a patch looks like {"spec": {"containers": [{"name": "app", "resources": {"limits": {"cpu": "1"}}}]}}'
_LISTS = ("containers", "initContainers")
#: What a resize keeps of a container; the rest of what is sent is taken from the stored pod.
_KEPT = ("name", "resources", "resizePolicy")
#: What ``kubectl edit`` adds to say in which order a list stood.
_ORDER = "$setElementOrder/"


def patched(stored: Pod, patch: Any) -> tuple[Pod, tuple[str, ...]]:
    """The pod as it would be sent, and the paths of the patch that a resize does not look at.

    Containers merge by name, those of the patch in its order, maps merge, null removes. Raises UsageError for what is
    no patch of a pod.
    """
    if not isinstance(patch, Mapping):
        raise UsageError(f"--resize: an object is expected, not {_shown(patch)}", hint=_FORM)
    wrong = sorted(patch.keys() & {*_LISTS, "resources", "name"})
    if wrong or "spec" not in patch:
        raise UsageError(f"--resize: {wrong[0]} belongs below spec" if wrong else "--resize: no spec", hint=_FORM)
    spec = patch["spec"]
    if not isinstance(spec, Mapping):
        raise UsageError(f"--resize: spec is an object, not {_shown(spec)}", hint=_FORM)
    raw = msgspec.to_builtins(stored, enc_hook=str)  # numbers of a file are a kind of text that is not encoded
    result = dict(raw.get("spec") or {})
    for key in _LISTS:
        if spec.get(key) is not None:
            order = spec.get(f"{_ORDER}{key}")
            result[key] = _containers(result.get(key) or [], spec[key], f"spec.{key}", order)
    if "resources" in spec:
        result["resources"] = _merged(result.get("resources"), spec["resources"], "spec.resources")
    try:
        return decoded({**raw, "spec": result}, type(stored)), tuple(_ignored(patch))
    except msgspec.ValidationError as error:
        raise UsageError(f"--resize: {error}", hint=_FORM) from error


def _containers(value: list[dict[str, Any]], sent: Any, path: str, order: Any) -> list[dict[str, Any]]:
    """``order``: what ``kubectl edit`` says of how the list stood, None if nothing."""
    if not isinstance(sent, list):
        raise UsageError(f"--resize: {path} is a list, not {_shown(sent)}", hint=_FORM)
    by_name = {mapping["name"]: dict(mapping) for mapping in value if mapping.get("name")}
    for index, item in enumerate(sent):
        at = f"{path}[{index}]"
        if not isinstance(item, Mapping):
            raise UsageError(f"--resize: {at} is an object, not {_shown(item)}", hint=_FORM)
        if not isinstance(item.get("name"), str):
            raise UsageError(f"--resize: {at} has no name: containers are found by it", hint=_FORM)
        if item.get("$patch") == "delete":
            by_name.pop(item["name"], None)
            continue
        _refuse_directives(item, at)
        container = by_name.setdefault(item["name"], {"name": item["name"], "image": item.get("image") or ""})
        if "resources" in item:
            container["resources"] = _merged(container.get("resources"), item["resources"], f"{at}.resources")
        if "resizePolicy" in item:
            container["resizePolicy"] = item["resizePolicy"]
    wanted = order if isinstance(order, list) else sent
    names = [item.get("name") for item in wanted if isinstance(item, Mapping)]
    return _ordered(list(by_name.values()), names, [mapping.get("name") for mapping in value])


def _ordered(merged: list[dict[str, Any]], wanted: list[Any], stored: list[Any]) -> list[dict[str, Any]]:
    """The order of a strategic merge: that of the patch, and what it does not name before what stood behind it.

    Source: apimachinery util/strategicpatch normalizeElementOrder, mergeSortedSlice.
    """
    left = [mapping for mapping in merged if mapping["name"] not in wanted]
    right = sorted(
        (mapping for mapping in merged if mapping["name"] in wanted), key=lambda mapping: wanted.index(mapping["name"])
    )
    result: list[dict[str, Any]] = []
    while left and right:
        known = left[0]["name"] in stored and right[0]["name"] in stored
        before = known and stored.index(left[0]["name"]) < stored.index(right[0]["name"])
        result.append((left if before else right).pop(0))
    return [*result, *left, *right]


def _merged(item: Any, sent: Any, path: str) -> Any:
    """Maps key by key; whatever else is sent replaces what is there, and null removes it."""
    if not isinstance(sent, Mapping):
        return sent
    _refuse_directives(sent, path)
    result = dict(item) if isinstance(item, Mapping) else {}
    for key, value in sent.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = _merged(result.get(key), value, f"{path}.{key}")
    return result


def _refuse_directives(sent: Mapping[str, Any], path: str) -> None:
    text = next((key for key in sent if key.startswith("$")), None)
    if text is not None:
        raise UsageError(f"--resize: {path}: the directive {text} is not supported", hint="write the values instead")


def refused_patch(patch: Mapping[str, Any], refusal: Refusal) -> Refusal:
    """422 for a quantity that does not parse: the server blames the whole patch, in the form in which Go prints it.

    Source: apiserver endpoints/handlers/patch.go strategicPatchObject, which has used up lists with an order by then.
    """
    spec = patch["spec"]
    ordered = {key.removeprefix(_ORDER) for key in spec if key.startswith(_ORDER)}
    left = {key: value for key, value in spec.items() if key not in ordered and not key.startswith(_ORDER)}
    finding = refusal.findings[0]
    error = invalid("patch", _printed({**patch, "spec": left}), finding.text, finding.rule)
    result = invalid_object("", "", [error])
    return structs.replace(result, findings=(structs.replace(finding, text=str(error)),))


def _printed(value: Any) -> str:
    """As Go's %v has it."""
    match value:
        case None:
            return "<nil>"
        case bool():
            return str(value).lower()
        case Mapping():
            return f"map[{' '.join(f'{key}:{_printed(item)}' for key, item in sorted(value.items()))}]"
        case list():
            return f"[{' '.join(map(_printed, value))}]"
    return str(value)


def _ignored(patch: Mapping[str, Any]) -> Iterator[str]:
    yield from (key for key in patch if key not in {"spec", "apiVersion", "kind", "metadata"})
    spec = patch["spec"]
    for key, value in spec.items():
        if key in _LISTS:
            yield from (
                f"spec.{key}[{index}].{field}"
                for index, item in enumerate(value or ())
                for field in item
                if field not in _KEPT and not field.startswith("$")
            )
        elif key != "resources" and not key.startswith(_ORDER):
            yield f"spec.{key}"


def _shown(value: Any) -> str:
    return {list: "a list", dict: "an object", str: "text", bool: "true or false", type(None): "nothing"}.get(
        type(value), "a number"
    )
