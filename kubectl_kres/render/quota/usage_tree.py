"""Who uses what, down to single values: a tree for each name, in which pods that are alike are one line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from msgspec import Struct

from kubectl_kres.provenance.journal import is_own_rule
from kubectl_kres.quantity import parse
from kubectl_kres.render.text.line import Line, clipped, padded, size, toned, wrapped
from kubectl_kres.reports.quota.usage_tree import SetBy, UsageNode

_ROLES = {"init": "init container", "pod": "pod level", "overhead": "overhead of the RuntimeClass"}
#: Cells of a name at the least and of an amount at the most.
_LABEL, _CELL = 16, 20
_INDENT = 2


class TreeRow(Struct, frozen=True):
    """A line: how deep it stands, who it is, what that uses and its share, and what else there is to say of it."""

    depth: int
    label: str
    amount: str
    percent: int | None
    more: str


def tree_lines(nodes: Sequence[UsageNode], names: Sequence[str], width: int) -> Iterator[Line]:
    """A tree for each name that anyone uses."""
    if not any(node.usage for node in nodes):
        yield [("", "")]
        yield [("quiet", "nothing that could be read uses any of it")]
    for name in names:
        rows = list(tree_rows(nodes, name))
        if not rows:
            continue
        yield [("", "")]
        yield [("strong", f"  {name}"), ("quiet", " by value")]
        amount = max(size(row.amount) for row in rows)
        label = max(size(row.label) + _INDENT * row.depth for row in rows)
        label = min(label, max(_LABEL, width - amount - 40))
        for row in rows:
            yield from _drawn(row, label, amount, width)


def _drawn(row: TreeRow, label: int, amount: int, width: int) -> Iterator[Line]:
    indent = " " * (_INDENT * row.depth)
    who = padded(clipped(row.label, label - len(indent)), label - len(indent))
    share = f"{row.percent:>3}%" if row.percent is not None else ""
    head = f"    {indent}{who}  {padded(row.amount, amount)}  {share:>4}"
    if size(head) + 2 + size(row.more) <= width:
        yield [("", head), ("quiet", f"  {row.more}" if row.more else "")]
        return
    yield [("", head)]
    below = f"      {indent}"
    yield from toned("quiet", wrapped(row.more, width, first=below, rest=f"{below}  "))


def tree_rows(nodes: Sequence[UsageNode], name: str, depth: int = 0) -> Iterator[TreeRow]:
    """The nodes that use a name, the largest first, each with what is in it."""
    usage_nodes = sorted(
        (node for node in nodes if name in node.usage), key=lambda node: (-_nano(node, name), node.who)
    )
    for _, group in groupby(usage_nodes, key=lambda node: _likeness(node, name)):
        alike = list(group)
        node = alike[0]
        more = f"and {len(alike) - 1} more like it, each" if len(alike) > 1 else more_of(node, name)
        yield TreeRow(depth, label_of(node), node.usage[name], node.percents.get(name), more)
        # What has no values, as a count of pods, is told by workload.
        if any(_has_values(usage_node, name) for usage_node in node.inside):
            yield from tree_rows(node.inside, name, depth + 1)


def _nano(node: UsageNode, name: str) -> int:
    return parse(node.usage[name]).nano


def _likeness(node: UsageNode, name: str) -> object:
    """Equal for neighbours that are told as one: pods of a workload with the same values, set by the same."""
    if node.subject is None or node.subject.kind != "Pod" or not node.inside:
        return id(node)
    return node.usage[name], tuple(
        (usage_node.role, usage_node.who, usage_node.usage.get(name), usage_node.set_by.get(name))
        for usage_node in node.inside
    )


def _has_values(node: UsageNode, name: str) -> bool:
    return name in node.set_by or any(_has_values(usage_node, name) for usage_node in node.inside)


def label_of(node: UsageNode) -> str:
    """Who it is; of a container its role before the name."""
    if not node.role:
        return node.who
    return f"{_ROLES.get(node.role, node.role)} {node.who}".rstrip()


def more_of(node: UsageNode, name: str) -> str:
    """What set a value; of what a quota allows whose claims that are; else how many pods there are."""
    if name in node.set_by:
        return setter_words(node.set_by[name])
    if name in node.hard:
        claims = f", by claim{'s' * (len(node.claims) > 1)} {', '.join(node.claims)}" if node.claims else ""
        return f"of {node.hard[name]}{claims}"
    many = node.pods and (node.subject is None or node.subject.kind != "Pod")
    return f"{node.pods} pod{'s' * (node.pods != 1)}" if many else ""


def setter_words(set_by: SetBy) -> str:
    """The rule, and the object that it looked at unless that is the manifest itself."""
    if set_by.note:
        return f"differs from what would be set today: {set_by.note}"
    if not set_by.rule:
        return "not known by whom"
    source = set_by.source
    return set_by.rule if source is None or is_own_rule(set_by.rule) else f"{set_by.rule} of {source.ref}"
