"""A LimitRange whose own defaults break its own bounds: it has to be corrected before any pod."""

from __future__ import annotations

from collections.abc import Sequence

from kubectl_kres.provenance.journal import Source
from kubectl_kres.reports.common.explanation import ContainerValues, ResourceValue, Verdict

_BROKEN = {"limitrange/ratio": "maxLimitRequestRatio", "limitrange/max": "max", "limitrange/min": "min"}


def own_defaults(verdict: Verdict, containers: Sequence[ContainerValues]) -> str:
    """Return the sentence that a LimitRange refuses its own defaults, so that no pod without values is admitted."""
    for finding in verdict.findings:
        source = finding.source
        if source is None or source.kind != "LimitRange" or not finding.rule.startswith("limitrange/"):
            continue
        values = [
            value
            for container in containers
            if container.path == str(finding.at.holder)
            for value in container.values
            if value.resource == finding.resource and value.value
        ]
        if values and all(value.written is None and _is_from(value, source) for value in values):
            what = _BROKEN.get(finding.rule, "bounds")
            return (
                f"correct LimitRange {source.name}: its default {finding.resource} breaks its own {what}, so every pod "
                f"that states no {finding.resource} is refused"
            )
    return ""


def _is_from(value: ResourceValue, source: Source) -> bool:
    return value.source is not None and value.source.ref == source.ref
