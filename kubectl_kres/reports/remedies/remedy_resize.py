"""The remedies of a refused resize, by the rule that refused it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping

from kubectl_kres.reports.remedies.context import RemedyContext, quota_excess

_REPLACE = "make a new pod: change the template, or delete the pod and create it again"
_CLASSES = {
    "Guaranteed": "keep cpu and memory requests equal to the limits {place}: the pod stays Guaranteed",
    "Burstable": "leave at least one cpu or memory request below its limit: the pod stays Burstable",
    "BestEffort": f"{_REPLACE}; a BestEffort pod stays without cpu and memory",
}


def _kept_class(case: RemedyContext) -> Iterator[str]:
    stored = re.search(r'Invalid value: "(\w+)"', case.finding.text)
    holder_text = "at the pod level" if case.draft is not None and case.draft.pod is not None else "in every container"
    yield _CLASSES.get(stored[1] if stored else "", "keep the QoS class as it is").format(place=holder_text)


def _node_capacity_remedies(case: RemedyContext) -> Iterator[str]:
    finding = case.finding
    node = finding.source.name if finding.source is not None else "the node"
    yield f"ask for at most {finding.limit} of {finding.resource} in total, which is what {node} has, or {_REPLACE}"


def _features(case: RemedyContext) -> Iterator[str]:
    source = case.finding.source
    node = source.name if source is not None else "the node"
    yield f"resize containers and sidecars only: {node} does not declare {case.finding.observed}; or {_REPLACE}"


def _exceeded_quota_remedies(case: RemedyContext) -> Iterator[str]:
    """Yield the remedies of a full quota: a resize costs only what grows."""
    finding = case.finding
    quota = finding.source.name if finding.source is not None else ""
    result = quota_excess(finding)
    if result is None:
        yield f"raise {finding.resource} of quota {quota}"
        return
    left = result.hard - result.used
    less = f"grow by at most {left}" if left.nano > 0 else "do not grow"
    free = f"free {result.shortage} of {finding.resource} in quota {quota}"
    yield f"{free}, or raise its hard to {result.after}, or {less}"


def _build_fixed_remedy(text: str) -> Callable[[RemedyContext], Iterator[str]]:
    def word_remedy(case: RemedyContext) -> Iterator[str]:
        yield text.format(path=case.finding.path)

    return word_remedy


REMEDIES: Mapping[str, Callable[[RemedyContext], Iterator[str]]] = {
    "quota/exceeded": _exceeded_quota_remedies,
    "resize/absent": _build_fixed_remedy(
        f"{_REPLACE}; resizes in place need Kubernetes 1.33, or its gate in 1.27 and later"
    ),
    "resize/qos": _kept_class,
    "resize/removed": _build_fixed_remedy("lower the values of {path} instead of removing them"),
    "resize/immutable": _build_fixed_remedy("change cpu and memory only; for anything else make a new pod"),
    "resize/containers": _build_fixed_remedy("name the containers as they are, and in their order"),
    "resize/init": _build_fixed_remedy(
        "leave plain init containers as they are: they have run, or run with what they have"
    ),
    "resize/pod-level": _build_fixed_remedy(f"{_REPLACE}; this server resizes no pods with pod-level resources"),
    "resize/unsupported": _build_fixed_remedy(_REPLACE),
    "resize/node-features": _features,
    "resize/node-absent": _build_fixed_remedy("wait until the pod has been removed with its node"),
    "resize/node-platform": _build_fixed_remedy(_REPLACE),
    "resize/node-capacity": _node_capacity_remedies,
}
