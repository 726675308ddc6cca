"""Doing what a remedy's edits say, to objects as they are on the wire."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

from kubectl_kres.admission.base.field_path import FieldPath
from kubectl_kres.reports.common.remedy import Edit

Raw = dict[str, Any]


def applied(edits: Sequence[Edit], objects: Sequence[Raw]) -> list[Raw]:
    """The objects after the edits; a quota's status is what its controller makes of its spec."""
    after = copy.deepcopy(list(objects))
    for edit in edits:
        ref = edit.object
        target = next(one for one in after if (one["kind"], one["metadata"]["name"]) == (ref.kind, ref.name))
        put(target, FieldPath.parse(edit.field), edit.to)
        if ref.kind == "ResourceQuota":
            target["status"]["hard"] = dict(target["spec"]["hard"])
    return after


def put(target: Any, path: FieldPath, value: Any) -> None:
    node = target
    for step, following in zip(path.steps, path.steps[1:], strict=False):
        if isinstance(step, int):
            node = node[step]
        else:
            node = node.setdefault(str(step), [] if isinstance(following, int) else {})
            if node is None:
                raise ValueError(path)
    node[str(path.steps[-1])] = value
