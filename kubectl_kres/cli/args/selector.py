"""Label and field selectors where no server applies them: on snapshots and manifests."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from kubectl_kres.errors import UsageError

ObjectLabels = Mapping[str, str]
Test = Callable[[ObjectLabels], bool]

_KEY = r"(?P<key>[A-Za-z0-9](?:[A-Za-z0-9_./-]*[A-Za-z0-9])?)"
_FORMS = tuple(
    re.compile(form)
    for form in (
        rf"(?P<op>!)\s*{_KEY}",
        rf"{_KEY}(?P<op>)",
        rf"{_KEY}\s+(?P<op>in|notin)\s*\((?P<value>[^()]*)\)",
        rf"{_KEY}\s*(?P<op>==|!=|=)\s*(?P<value>[A-Za-z0-9_.-]*)",
        rf"{_KEY}\s*(?P<op><|>)\s*(?P<value>[0-9]+)",
    )
)
_PART = re.compile(r"(?:[^,(]|\([^)]*\)?)+")
_FIELD = re.compile(r"\s*([A-Za-z.]+)\s*(==|!=|=)\s*([^,\s]*)\s*")

#: Fields that the API server can select by, and where our structs have them. Source: registry/core GetSelectableFields.
_EVERYWHERE: Mapping[str, Callable[[Any], str]] = {
    "metadata.name": lambda item: str(item.metadata.name),
    "metadata.namespace": lambda item: str(item.metadata.namespace),
}
_FIELDS: Mapping[str, Mapping[str, Callable[[Any], str]]] = {
    "Pod": {
        "spec.nodeName": lambda pod: str(pod.spec.node_name),
        "spec.restartPolicy": lambda pod: str(pod.spec.restart_policy),
        "status.phase": lambda pod: str(pod.status.phase),
    },
    "Event": {
        "type": lambda event: str(event.type),
        "reason": lambda event: str(event.reason),
        "involvedObject.kind": lambda event: str(event.involved_object.kind),
        "involvedObject.name": lambda event: str(event.involved_object.name),
    },
}


def labels_match(selector: str) -> Test:
    """Whether labels fit a selector such as ``app=web,tier in (a,b),!old``; an empty one fits all.

    Raises UsageError for a text that is none. Source: apimachinery labels.Parse, Requirement.Matches.
    """
    tests = tuple(_requirement(part, selector) for part in _parts(selector))
    return lambda labels: all(test(labels) for test in tests)


def fields_match(selector: str, kind: str) -> Callable[[Any], bool]:
    """Whether an object of a kind fits a selector such as ``status.phase=Running,metadata.name!=a``.

    Raises UsageError for a text that is none and for a field that the API server does not select by.
    """
    fields = {**_EVERYWHERE, **_FIELDS.get(kind, {})}
    tests: list[tuple[Callable[[Any], str], bool, str]] = []
    for part in _parts(selector):
        match = _FIELD.fullmatch(part)
        if match is None:
            raise UsageError(f"invalid field selector \"{selector}\": can't understand '{part.strip()}'")
        name, operator, value = match.groups()
        if name not in fields:
            raise UsageError(f"field label not supported: {name}", hint=f"known for {kind}: {', '.join(fields)}")
        tests.append((fields[name], operator != "!=", value))
    return lambda item: all((read(item) == value) == wanted for read, wanted, value in tests)


def _parts(selector: str) -> Iterator[str]:
    """The requirements, split at the commas outside of parentheses."""
    if not selector.strip():
        return
    parts = [part.strip() for part in _PART.findall(selector)]
    if selector.strip().startswith(",") or selector.strip().endswith(",") or "" in parts or ",," in selector:
        raise UsageError(f'invalid selector "{selector}": a requirement is empty')
    yield from parts


def _requirement(part: str, selector: str) -> Test:
    for form in _FORMS:
        match = form.fullmatch(part)
        if match is not None:
            named = match.groupdict()
            return _test(named["key"], named["op"], named.get("value") or "")
    raise UsageError(f"invalid selector \"{selector}\": unable to parse requirement '{part}'")


def _test(key: str, operator: str, value: str) -> Test:
    values = {part.strip() for part in value.split(",")}
    match operator:
        case "":
            return lambda labels: key in labels
        case "!":
            return lambda labels: key not in labels
        case "=" | "==":
            return lambda labels: labels.get(key) == value
        case "!=":
            return lambda labels: labels.get(key) != value
        case "in":
            return lambda labels: labels.get(key) in values
        case "notin":
            return lambda labels: labels.get(key) not in values
    return lambda labels: _compares(labels.get(key, ""), operator, int(value))


def _compares(text: str, operator: str, bound: int) -> bool:
    if not re.fullmatch(r"[+-]?[0-9]+", text):
        return False
    return int(text) > bound if operator == ">" else int(text) < bound
