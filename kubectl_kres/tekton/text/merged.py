"""What Tekton makes of the LimitRanges of a namespace."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kubectl_kres.render.text.columns import columns
from kubectl_kres.render.text.line import Line, toned, wrapped
from kubectl_kres.reports.common.system_parts import MergedLimit


def merged_lines(merged_limits: Sequence[MergedLimit], width: int) -> Iterator[Line]:
    """What Tekton makes of the LimitRanges for its steps, as a table."""
    if not merged_limits:
        return
    yield [("", "")]
    yield [("strong", "steps of Tekton get, of all LimitRanges together")]
    heads = ("RESOURCE", "REQUEST OF ALL STEPS", "AT LEAST FOR EACH", "FROM")
    rows = [
        (
            merged_limit.resource,
            merged_limit.default_request or "-",
            merged_limit.minimum or "-",
            ", ".join(
                dict.fromkeys(
                    f"{at.kind}/{at.name}" for at in (merged_limit.default_source, merged_limit.minimum_source) if at
                )
            )
            or "-",
        )
        for merged_limit in merged_limits
    ]
    for line in columns([heads, *rows]):
        yield [("", f"  {line}")]
    others = max(merged_limit.others for merged_limit in merged_limits)
    text = "the request is divided by the number of steps that state none"
    if others:
        text += f"; the order in which Tekton lists LimitRanges has {others} other result{'s' * (others > 1)}"
    yield from toned("quiet", wrapped(text, width, first="  ", rest="    "))
