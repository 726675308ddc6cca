"""Who last wrote a field, out of an object's managedFields."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from kubectl_kres.model.meta import ManagedFields
from kubectl_kres.reports.common.explanation import LastEdit

_STEP = re.compile(r"([^.\[\]]+)|\[([^\]]*)\]")


def last_edit(
    managed: Sequence[ManagedFields] | None, path: str, names: Mapping[str, str] | None = None
) -> LastEdit | None:
    """The newest manager of the field at ``path``, or of the nearest field above it that anyone manages.

    ``names`` gives the ``name`` of list items that are keyed by it (``spec.containers[0]`` to ``app``).
    """
    if not managed:
        return None
    best: tuple[int, str, ManagedFields] | None = None
    steps = list(_steps(path, names or {}))
    for entry in managed:
        depth = _depth(entry.fields_v1, steps)
        if depth and (best is None or (depth, entry.time or "") > best[:2]):
            best = depth, entry.time or "", entry
    if best is None:
        return None
    entry = best[2]
    return LastEdit(entry.manager, entry.operation, entry.time or "")


def _steps(path: str, names: Mapping[str, str]) -> Sequence[str]:
    """A field path as keys of fieldsV1. List items are keyed by their name; atomic lists end the walk before."""
    steps: list[str] = []
    walked = ""
    for match in _STEP.finditer(path):
        field, key = match.group(1), match.group(2)
        if field is not None:
            walked = f"{walked}.{field}" if walked else field
            steps.append(f"f:{field}")
        else:
            walked = f"{walked}[{key}]"
            named = names.get(walked)
            steps.append(f'k:{{"name":"{named}"}}' if named is not None else f"f:{key}")
    return steps


def _depth(tree: Any, steps: Sequence[str]) -> int:
    """How many steps of the path the manager owns; 0 if not even the first two, which every manager of a spec has."""
    depth = 0
    for step in steps:
        if not isinstance(tree, Mapping) or step not in tree:
            # A leaf or an atomic list owns everything below it; a branch without the step does not.
            return depth if isinstance(tree, Mapping) and not tree and depth > 1 else 0
        tree = tree[step]
        depth += 1
    return depth
