"""What the plugin's JSON says, in the shape of the server's answers."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import Any

from conformance.compare import differences

Item = dict[str, Any]

#: What the JSON says of the first refusal only, not of the other messages that are possible.
OF_FIRST = ("code", "reason", "causes")


def unordered(message: str) -> list[str]:
    """A message that compares as a set: what stands before its list, and the sorted pieces of the list."""
    found = re.fullmatch(r'(.*?" is (?:forbidden|invalid): )\[(.*)\]', message, re.DOTALL)
    return [found[1], *sorted(found[2].split(", "))] if found else [message]


def unlike(real: Item, item: Item, stored: Item, keys: Collection[str]) -> list[str]:
    """How the server's answer differs from all that the plugin holds possible; ``stored``: what it would store."""
    if "message" in real:
        real = real | {"message": unordered(real["message"])}
        if real["message"] in map(unordered, item["verdict"].get("others", ())):
            keys = [key for key in keys if key not in OF_FIRST]
    return differences(real, [*_said(item, stored)], keys)


def _said(item: Item, stored: Item) -> Iterator[Item]:
    """The answers that the plugin holds possible, in the shape of the server's."""
    verdict = item["verdict"]
    common = {"warnings": tuple(item["warnings"])} if "warnings" in item else {}
    if verdict["allowed"] is not False:
        kept = {key: value for key, value in stored.items() if key not in {"apiVersion", "kind"}}
        kept["metadata"] = {key: value for key, value in kept["metadata"].items() if key != "namespace"}
        yield {"allowed": True, "code": 201, "object": kept, **common}
    if verdict["allowed"] is not True:
        first = {"reason": "", **{key: verdict[key] for key in OF_FIRST if key in verdict}}
        yield {"allowed": False, **first, "message": unordered(verdict["message"]), **common}
        for message in verdict.get("others", ()):
            yield {"allowed": False, "message": unordered(message), **common}


def values(item: Item) -> dict[str, set[str | None]]:
    """Every request and limit by its path, with all values that an explanation holds possible; None: no value."""
    return {
        value["path"]: {value.get("value"), *(other["value"] for other in value.get("alternatives", ()))}
        for container in item.get("containers", ())
        for value in container["values"]
    }


def stored(pod: Item) -> dict[str, str]:
    """Every request and limit of a pod by its path."""
    spec = pod["spec"]
    places = [("spec", spec)]
    places += [
        (f"spec.{key}[{index}]", one)
        for key in ("containers", "initContainers")
        for index, one in enumerate(spec.get(key, ()))
    ]
    return {
        f"{path}.resources.{side}[{name}]": text
        for path, one in places
        for side in ("limits", "requests")
        for name, text in one.get("resources", {}).get(side, {}).items()
    }
