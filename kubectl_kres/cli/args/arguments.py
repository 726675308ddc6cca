"""What chooses objects on a command line: ``TYPE NAME…``, ``TYPE/NAME…``, ``TYPE``, and selectors where no server
applies them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct

from kubectl_kres.cli.args.options import Options
from kubectl_kres.errors import UsageError
from kubectl_kres.model.kinds import Kind

_NOTHING = "You must provide one or more resources by argument or filename."
_FORMS = """Example resource specifications include:
   '-f rsrc.yaml'
   '--filename=rsrc.json'
   '<resource> <name>'
   '<resource>'"""


class NamedObjects(Struct, frozen=True):
    """A type as it was written, and the names asked for; no names: all objects of the type."""

    type: str
    names: tuple[str, ...] = ()


def parse_named_objects(
    words: Sequence[str], *, program: str = "kubectl kres explain", listing: bool = True
) -> tuple[NamedObjects, ...]:
    """Return what the words ask for, in their order. ``listing``: a type alone is enough.

    Raises UsageError in kubectl's words. Source: cli-runtime resource/builder.go ResourceTypeOrNameArgs.
    """
    if not words:
        raise UsageError(_NOTHING, hint=_FORMS)
    slashes = sum("/" in word for word in words)
    if slashes == len(words):
        return tuple(_pair(word) for word in words)
    if slashes:
        raise UsageError(
            "there is no need to specify a resource type as a separate argument when passing arguments in "
            f"resource/name form (e.g. '{program} resource/<resource_name>' instead of "
            f"'{program} resource resource/<resource_name>')"
        )
    types, names = _types(words[0]), tuple(words[1:])
    if not names and not listing:
        raise UsageError("resource(s) were provided, but no name was specified")
    if "" in names:
        raise UsageError("resource name may not be empty")
    return tuple(NamedObjects(kind, names) for kind in types)


def _pair(word: str) -> NamedObjects:
    if word.count("/") > 1:
        raise UsageError("arguments in resource/name form may not have more than one slash")
    types, _, name = word.partition("/")
    if not types or not name or len(_types(types)) != 1:
        raise UsageError("arguments in resource/name form must have a single resource and name")
    return NamedObjects(types, (name,))


def _types(text: str) -> tuple[str, ...]:
    """Return the types in ``pods,deploy``, each once."""
    return tuple(dict.fromkeys(text.split(",")))


def refuse_selectors(options: Options, *, slashes: bool = False) -> None:
    """Raises UsageError for flags that only make sense for lists, where names are given, in kubectl's words."""
    selector = options.selector or options.field_selector
    if selector and slashes:
        raise UsageError("selectors and the all flag cannot be used when passing resource/name arguments")
    if selector:
        raise UsageError("name cannot be provided when a selector is specified")
    if options.all_namespaces:
        raise UsageError("a resource cannot be retrieved by name across all namespaces")


def name_of(kind: Kind, word: str, example: str) -> str:
    """Return the name in a word for a command that is about one kind: ``green`` and ``pool/green`` are the same.

    Raises UsageError for another type, and shows ``example``.
    """
    head, slash, name = word.partition("/")
    if not slash:
        return word
    command = kind.names[2]
    short = command.removesuffix("s")
    if head.lower().partition(".")[0] not in kind.names or not name or "/" in name:
        raise UsageError(f'"{word}" is no {short}', hint=f"name {short}s, as: kubectl kres {command} {example}")
    return name


ObjectLabels = Mapping[str, str]
Test = Callable[[ObjectLabels], bool]

_KEY = r"(?P<key>[A-Za-z0-9](?:[A-Za-z0-9_./-]*[A-Za-z0-9])?)"
_SELECTOR_FORMS = (
    rf"(?P<op>!)\s*{_KEY}",
    rf"{_KEY}(?P<op>)",
    rf"{_KEY}\s+(?P<op>in|notin)\s*\((?P<value>[^()]*)\)",
    rf"{_KEY}\s*(?P<op>==|!=|=)\s*(?P<value>[A-Za-z0-9_.-]*)",
    rf"{_KEY}\s*(?P<op><|>)\s*(?P<value>[0-9]+)",
)
_PART = r"(?:[^,(]|\([^)]*\)?)+"
_FIELD = r"\s*([A-Za-z.]+)\s*(==|!=|=)\s*([^,\s]*)\s*"

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
    """Return whether labels fit a selector such as ``app=web,tier in (a,b),!old``; an empty one fits all.

    Raises UsageError for a text that is none. Source: apimachinery labels.Parse, Requirement.Matches.
    """
    tests = tuple(_requirement(part, selector) for part in _split_requirements(selector))
    return lambda labels: all(test(labels) for test in tests)


def fields_match(selector: str, kind: str) -> Callable[[Any], bool]:
    """Return whether an object of a kind fits a selector such as ``status.phase=Running,metadata.name!=a``.

    Raises UsageError for a text that is none and for a field that the API server does not select by.
    """
    fields = {**_EVERYWHERE, **_FIELDS.get(kind, {})}
    tests: list[tuple[Callable[[Any], str], bool, str]] = []
    for part in _split_requirements(selector):
        match = re.fullmatch(_FIELD, part)
        if match is None:
            raise UsageError(f"invalid field selector \"{selector}\": can't understand '{part.strip()}'")
        name, operator, value = match.groups()
        if name not in fields:
            raise UsageError(f"field label not supported: {name}", hint=f"known for {kind}: {', '.join(fields)}")
        tests.append((fields[name], operator != "!=", value))
    return lambda item: all((read(item) == value) == wanted for read, wanted, value in tests)


def _split_requirements(selector: str) -> Iterator[str]:
    """Yield the requirements, split at the commas outside of parentheses."""
    if not selector.strip():
        return
    parts = [part.strip() for part in re.findall(_PART, selector)]
    if selector.strip().startswith(",") or selector.strip().endswith(",") or "" in parts or ",," in selector:
        raise UsageError(f'invalid selector "{selector}": a requirement is empty')
    yield from parts


def _requirement(part: str, selector: str) -> Test:
    for form in _SELECTOR_FORMS:
        match = re.fullmatch(form, part)
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
    return lambda labels: _matches_comparison(labels.get(key, ""), operator, int(value))


def _matches_comparison(text: str, operator: str, bound: int) -> bool:
    if not re.fullmatch(r"[+-]?[0-9]+", text):
        return False
    return int(text) > bound if operator == ">" else int(text) < bound
