"""The requests and limits that containers lack where a policy denies the pod, tried: the policy says it in CEL."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from itertools import combinations
from typing import Any

from msgspec import structs

from kubectl_kres.policies.reports.apply import next_pod
from kubectl_kres.policies.reports.trial import refusal_of
from kubectl_kres.reports.common.analysis import Analysis
from kubectl_kres.reports.common.explanation import Subject
from kubectl_kres.reports.common.remedy import Admits, Basis, Remedy, SetValue
from kubectl_kres.reports.remedies.compose import compose_remedy
from kubectl_kres.reports.remedies.shape import STATED
from kubectl_kres.store.store import Store

_DENIED = "policy/denied"
#: What policies ask for most comes first.
_VALUES = (("limits", "memory"), ("requests", "memory"), ("requests", "cpu"), ("limits", "cpu"))
_OTHER = {"limits": "requests", "requests": "limits"}
_GROUPS = ("containers", "initContainers")

_Raw = Mapping[str, Any]


def stated_values(store: Store, subject: Subject, analysis: Analysis) -> Remedy | None:
    """Return the fewest kinds of values that containers lack with which the pod is admitted; None: none of them do."""
    findings = [finding for outcome in analysis.outcomes if outcome.refusal for finding in outcome.refusal.findings]
    if not findings or any(finding.rule != _DENIED for finding in findings):
        return None
    pod = next_pod(subject, analysis.manifest)
    if pod is None or not refusal_of(store, subject, pod, analysis):
        # The policy is about what makes the pod.
        return None
    spec: _Raw = pod.get("spec") or {}
    # Without init containers, and where some values are stated, several choices are the same edits.
    tried: list[tuple[SetValue, ...]] = [()]
    for kinds in _kinds():
        for groups in (_GROUPS[:1], _GROUPS):
            edits = tuple(_edits(subject, analysis.manifest.prefix, spec, kinds, groups))
            if edits in tried:
                continue
            tried.append(edits)
            if not refusal_of(store, subject, {**pod, "spec": _with_values(spec, edits)}, analysis):
                remedy = compose_remedy(store, subject, edits, Admits(1, 1), 0)
                return structs.replace(remedy, admits=None)
    return None


def _kinds() -> Iterator[tuple[tuple[str, str], ...]]:
    for count in (1, 2, len(_VALUES)):
        yield from combinations(_VALUES, count)


def _edits(
    subject: Subject, prefix: str, spec: _Raw, kinds: Sequence[tuple[str, str]], groups: Sequence[str]
) -> Iterator[SetValue]:
    """Yield the values that containers lack: as large as the other side of the same resource, else an example."""
    for group in groups:
        for index, container in enumerate(spec.get(group) or ()):
            resources: _Raw = container.get("resources") or {}
            for side, name in kinds:
                if name in (resources.get(side) or {}):
                    continue
                other = (resources.get(_OTHER[side]) or {}).get(name)
                basis: Basis = "unknown" if other is None else "request" if side == "limits" else "limit"
                yield SetValue(
                    subject.ref,
                    f"{prefix}spec.{group}[{index}].resources.{side}[{name}]",
                    name,
                    str(other or STATED[name]),
                    container=str(container.get("name", "")),
                    side=side,
                    role="container" if group == _GROUPS[0] else "init",
                    basis=basis,
                )


def _with_values(spec: _Raw, edits: Sequence[SetValue]) -> dict[str, Any]:
    changed = deepcopy(dict(spec))
    for edit in edits:
        group = _GROUPS[0] if edit.role == "container" else _GROUPS[1]
        container = next(each for each in changed[group] if str(each.get("name", "")) == edit.container)
        container.setdefault("resources", {}).setdefault(edit.side, {})[edit.resource] = edit.to
    return changed
