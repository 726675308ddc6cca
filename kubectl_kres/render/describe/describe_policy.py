"""Quotas, LimitRanges and namespaces in the very lines of kubectl describe."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from kubectl_kres.model.objects import LAST_APPLIED
from kubectl_kres.render.text.line import columns
from kubectl_kres.reports.quota.describe import LimitRangeBlock, NamespaceBlock, QuotaBlock

Rows = Iterator[Sequence[str]]

#: The length from which kubectl breaks an annotation.
_LONG = 140

_HELP = {
    "Terminating": (
        "Matches all pods that have an active deadline. These pods have a limited lifespan on a node before being "
        "actively terminated by the system."
    ),
    "NotTerminating": (
        "Matches all pods that do not have an active deadline. These pods usually include long running pods whose "
        "container command is not expected to terminate."
    ),
    "BestEffort": (
        "Matches all pods that do not have resource requirements set. These pods have a best effort quality of service."
    ),
    "NotBestEffort": (
        "Matches all pods that have at least one resource requirement set. These pods have a burstable or guaranteed "
        "quality of service."
    ),
}
_LIMITS = ("Type", "Resource", "Min", "Max", "Default Request", "Default Limit", "Max Limit/Request Ratio")


def quota_lines(blocks: Iterable[QuotaBlock]) -> list[str]:
    """Return each quota aligned for itself, two empty lines between."""
    return _join_blocks(
        columns([("Name:", block.name), ("Namespace:", block.namespace), *_quota(block, "", " * ", "----")])
        for block in blocks
    )


def limit_range_lines(blocks: Iterable[LimitRangeBlock]) -> list[str]:
    return _join_blocks(columns([*_limit_range(block)]) for block in blocks)


def namespace_lines(block: NamespaceBlock) -> list[str]:
    return columns([*_namespace(block)])


def _join_blocks(texts: Iterable[list[str]]) -> list[str]:
    lines: list[str] = []
    for text in texts:
        lines += ["", "", *text] if lines else text
    return lines


def _quota(block: QuotaBlock, indent: str, bullet: str, rule: str) -> Rows:
    if block.scopes:
        yield (f"{indent}Scopes:", ", ".join(block.scopes))
        yield from ((f"{indent}{bullet}{_HELP[scope]}",) for scope in block.scopes if scope in _HELP)
    yield (f"{indent}Resource", "Used", "Hard")
    yield (f"{indent}--------", rule, rule)
    yield from ((f"{indent}{name}", used, hard) for name, used, hard in block.rows)


def _limit_range(block: LimitRangeBlock) -> Rows:
    yield ("Name:", block.name)
    yield ("Namespace:", block.namespace)
    yield _LIMITS
    yield tuple("-" * len(title) for title in _LIMITS)
    for item in block.items:
        yield from item


def _namespace(block: NamespaceBlock) -> Rows:
    yield ("Name:", block.name)
    yield from label_rows("Labels", block.labels)
    yield from annotation_rows(block.annotations)
    yield ("Status:", block.phase)
    yield ("",)
    if not block.quotas:
        yield ("No resource quota.",)
    else:
        yield ("Resource Quotas",)
        for quota in block.quotas:
            yield ("  Name:", quota.name)
            yield from _quota(quota, "  ", "* ", "---")
    yield ("",)
    if not block.limit_ranges:
        yield ("No LimitRange resource.",)
        return
    yield ("Resource Limits",)
    yield (f" {_LIMITS[0]}", *_LIMITS[1:])
    yield tuple(f"{' ' * (not index)}{'-' * len(title)}" for index, title in enumerate(_LIMITS))
    for limit_range in block.limit_ranges:
        for item in limit_range.items:
            yield from ((f" {row[0]}", *row[1:]) for row in item)


def label_rows(title: str, mapping: Mapping[str, str]) -> Rows:
    """``key=value`` line by line, sorted. Source: kubectl describe.go printLabelsMultiline."""
    texts = [f"{key}={mapping[key]}" for key in sorted(mapping)] or ["<none>"]
    yield from titled_rows(title, texts)


def annotation_rows(mapping: Mapping[str, str]) -> Rows:
    """Source: kubectl describe.go printAnnotationsMultiline."""
    texts: list[str] = []
    for key in sorted(set(mapping) - {LAST_APPLIED}):
        value = mapping[key].removesuffix("\n")
        if len(value) + len(key) + 2 > _LONG or "\n" in value:
            texts.append(f"{key}:")
            texts += [f"  {line[: _LONG - 2]}{'...' * (len(line) > _LONG - 2)}" for line in value.split("\n")]
        else:
            texts.append(f"{key}: {value}")
    yield from titled_rows("Annotations", texts or ["<none>"])


def titled_rows(title: str, texts: Sequence[str]) -> Rows:
    yield from (("" if index else f"{title}:", text) for index, text in enumerate(texts))
