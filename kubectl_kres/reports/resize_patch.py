"""A patch of the ``resize`` subresource laid over the stored pod, as ``kubectl patch --subresource resize`` does."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

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

    Containers merge by name and a new name is appended, maps merge, null removes. Raises UsageError for what is no
    patch of a pod.
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
    held = dict(raw.get("spec") or {})
    for key in _LISTS:
        if spec.get(key) is not None:
            held[key] = _containers(held.get(key) or [], spec[key], f"spec.{key}")
    if "resources" in spec:
        held["resources"] = _merged(held.get("resources"), spec["resources"], "spec.resources")
    try:
        return decoded({**raw, "spec": held}, type(stored)), tuple(_ignored(patch))
    except msgspec.ValidationError as error:
        raise UsageError(f"--resize: {error}", hint=_FORM) from error


def _containers(held: list[dict[str, Any]], sent: Any, path: str) -> list[dict[str, Any]]:
    if not isinstance(sent, list):
        raise UsageError(f"--resize: {path} is a list, not {_shown(sent)}", hint=_FORM)
    by_name = {one["name"]: dict(one) for one in held if one.get("name")}
    for index, one in enumerate(sent):
        at = f"{path}[{index}]"
        if not isinstance(one, Mapping):
            raise UsageError(f"--resize: {at} is an object, not {_shown(one)}", hint=_FORM)
        if not isinstance(one.get("name"), str):
            raise UsageError(f"--resize: {at} has no name: containers are found by it", hint=_FORM)
        if one.get("$patch") == "delete":
            by_name.pop(one["name"], None)
            continue
        _refuse_directives(one, at)
        container = by_name.setdefault(one["name"], {"name": one["name"]})
        if "resources" in one:
            container["resources"] = _merged(container.get("resources"), one["resources"], f"{at}.resources")
        if "resizePolicy" in one:
            container["resizePolicy"] = one["resizePolicy"]
    return list(by_name.values())


def _merged(held: Any, sent: Any, path: str) -> Any:
    """Maps key by key; whatever else is sent replaces what is there, and null removes it."""
    if not isinstance(sent, Mapping):
        return sent
    _refuse_directives(sent, path)
    found = dict(held) if isinstance(held, Mapping) else {}
    for key, value in sent.items():
        if value is None:
            found.pop(key, None)
        else:
            found[key] = _merged(found.get(key), value, f"{path}.{key}")
    return found


def _refuse_directives(sent: Mapping[str, Any], path: str) -> None:
    found = next((key for key in sent if key.startswith("$")), None)
    if found is not None:
        raise UsageError(f"--resize: {path}: the directive {found} is not supported", hint="write the values instead")


def _ignored(patch: Mapping[str, Any]) -> Iterator[str]:
    yield from (key for key in patch if key not in {"spec", "apiVersion", "kind", "metadata"})
    spec = patch["spec"]
    for key, value in spec.items():
        if key in _LISTS:
            yield from (
                f"spec.{key}[{index}].{field}"
                for index, one in enumerate(value or ())
                for field in one
                if field not in _KEPT and not field.startswith("$")
            )
        elif key != "resources" and not key.startswith(_ORDER):
            yield f"spec.{key}"


def _shown(value: Any) -> str:
    return {list: "a list", dict: "an object", str: "text", bool: "true or false", type(None): "nothing"}.get(
        type(value), "a number"
    )
