"""Quotas as text: a block each with a bar and the drift for each name, and who uses what, down to single values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from msgspec import Struct

from kubectl_kres.admission.quota.usage_drift import Drift
from kubectl_kres.provenance.journal import is_own_rule
from kubectl_kres.quantity import parse
from kubectl_kres.render.pictures.holders import holders_lines, quota_rooms
from kubectl_kres.render.text.line import Line, Tone, clip_text, draw, gauge, pad_text, row, size, tone_lines, wrap_text
from kubectl_kres.render.text.sentences import sentence_text
from kubectl_kres.render.verdict.brief import Brief, object_command
from kubectl_kres.reports.common.resource_lists import NEARLY_FULL
from kubectl_kres.reports.common.shown import WORST
from kubectl_kres.reports.quota.fullness import QUOTA_STATES, fullest_first, quota_state
from kubectl_kres.reports.quota.quota_report import QuotaReport, QuotaUse, UsageShare
from kubectl_kres.reports.quota.uncounted_names import UncountedName
from kubectl_kres.reports.quota.usage_tree import SetBy, UsageNode
from kubectl_kres.wording import join_some

#: Of a quota none of whose names anything counts for.
LIMITS_NOTHING = "limits nothing"
_ROLES = {"init": "init container", "pod": "pod level", "overhead": "overhead of the RuntimeClass"}
#: Cells of a name at the least and of an amount at the most.
_TREE_LABEL, _TREE_CELL = 16, 20
_INDENT = 2


class TreeRow(Struct, frozen=True):
    """A line: how deep it stands, who it is, what that uses and its share, and what else there is to say of it."""

    depth: int
    label: str
    amount: str
    percent: int | None
    more: str


def tree_lines(nodes: Sequence[UsageNode], names: Sequence[str], width: int) -> Iterator[Line]:
    """Yield a tree for each name that anyone uses."""
    if not any(node.usage for node in nodes):
        yield [("", "")]
        yield [("quiet", "nothing that could be read uses any of it")]
    for name in names:
        rows = list(tree_rows(nodes, name))
        if not rows:
            continue
        yield [("", "")]
        yield [("strong", f"  {name}"), ("quiet", " by value")]
        amount = max(size(line_row.amount) for line_row in rows)
        label = max(size(line_row.label) + _INDENT * line_row.depth for line_row in rows)
        label = min(label, max(_TREE_LABEL, width - amount - 40))
        for line_row in rows:
            yield from _tree_row_lines(line_row, label, amount, width)


def _tree_row_lines(line_row: TreeRow, label: int, amount: int, width: int) -> Iterator[Line]:
    indent = " " * (_INDENT * line_row.depth)
    label_text = pad_text(clip_text(line_row.label, label - len(indent)), label - len(indent))
    share = f"{line_row.percent:>3}%" if line_row.percent is not None else ""
    head = f"    {indent}{label_text}  {pad_text(line_row.amount, amount)}  {share:>4}"
    if size(head) + 2 + size(line_row.more) <= width:
        yield [("", head), ("quiet", f"  {line_row.more}" if line_row.more else "")]
        return
    yield [("", head)]
    below = f"      {indent}"
    yield from tone_lines("quiet", wrap_text(line_row.more, width, first=below, rest=f"{below}  "))


def tree_rows(nodes: Sequence[UsageNode], name: str, depth: int = 0) -> Iterator[TreeRow]:
    """Yield the nodes that use a name, the largest first, each with what is in it."""
    usage_nodes = sorted(
        (node for node in nodes if name in node.usage), key=lambda node: (-_nano(node, name), node.name)
    )
    for _, group in groupby(usage_nodes, key=lambda node: _cache_key(node, name)):
        alike = list(group)
        node = alike[0]
        more = f"and {len(alike) - 1} more like it, each" if len(alike) > 1 else row_detail(node, name)
        yield TreeRow(depth, label_of(node), node.usage[name], node.percents.get(name), more)
        # What has no values, as a count of pods, is reported by workload.
        if any(_has_values(usage_node, name) for usage_node in node.children):
            yield from tree_rows(node.children, name, depth + 1)


def _nano(node: UsageNode, name: str) -> int:
    return parse(node.usage[name]).nano


def _cache_key(node: UsageNode, name: str) -> object:
    """Equal for neighbours that are reported as one: pods of a workload with the same values, set by the same."""
    if node.subject is None or node.subject.kind != "Pod" or not node.children:
        return id(node)
    return node.usage[name], tuple(
        (usage_node.role, usage_node.name, usage_node.usage.get(name), usage_node.set_by.get(name))
        for usage_node in node.children
    )


def _has_values(node: UsageNode, name: str) -> bool:
    return name in node.set_by or any(_has_values(usage_node, name) for usage_node in node.children)


def label_of(node: UsageNode) -> str:
    """Return who it is; of a container its role before the name."""
    if not node.role:
        return node.name
    return f"{_ROLES.get(node.role, node.role)} {node.name}".rstrip()


def row_detail(node: UsageNode, name: str) -> str:
    """Return what set a value; of what a quota allows whose claims that are; else how many pods there are."""
    if name in node.set_by:
        return setter_words(node.set_by[name])
    if name in node.hard:
        claims = f", by claim{'s' * (len(node.claims) > 1)} {', '.join(node.claims)}" if node.claims else ""
        return f"of {node.hard[name]}{claims}"
    many = node.pods and (node.subject is None or node.subject.kind != "Pod")
    return f"{node.pods} pod{'s' * (node.pods != 1)}" if many else ""


def setter_words(set_by: SetBy) -> str:
    """Return the rule, and the object that it looked at unless that is the manifest itself."""
    if set_by.note:
        return f"differs from what would be set today: {sentence_text(set_by.note)}"
    if not set_by.rule:
        return "not known by whom"
    source = set_by.source
    return set_by.rule if source is None or is_own_rule(set_by.rule) else f"{set_by.rule} of {source.ref}"


#: Widest column of names and of figures; what is wider gets a line of its own or is clipped.
_LABEL, _CELL = 32, 20
#: Cells of a share without a bar.
_SHARE = 6
#: Names that are reported in few words.
_BRIEFLY = 3
#: Percent of a hard that nothing is left of.
_FULL = 100
#: Pods named as the cause of a drift.
_NAMED = 5


def lines(report: QuotaReport, *, ascii_only: bool = False, color: bool = False, width: int = 80) -> Iterator[str]:
    """Yield every line of one quota. Lines keep to ``width`` but for a single word that is longer."""
    for line in quota_lines(report, ascii_only=ascii_only, width=width):
        yield draw(line, color=color)


def list_lines(
    reports: Sequence[QuotaReport], flags: str, *, ascii_only: bool, color: bool, width: int
) -> Iterator[str]:
    """Yield how many quotas are how full, and the fullest ones. ``flags``: with which commands look at the same
    source.
    """
    counts = Counter(map(quota_state, reports))
    parts = ", ".join(f"{counts[state]} {state}" for state in QUOTA_STATES if counts[state])
    for line in wrap_text(f"{len(reports)} quotas: {parts}", width, rest="  "):
        yield draw([("strong", line)], color=color)
    for report in fullest_first(reports)[:WORST]:
        yield ""
        yield from lines(report, ascii_only=ascii_only, color=color, width=width)
    yield ""
    yield draw([("quiet", f"{len(reports) - WORST} more: --all")], color=color)
    asked = " ".join(filter(None, ("kubectl kres quota --denied -A", flags)))
    yield draw([("quiet", f"what they refuse: {asked}")], color=color)


def brief(report: QuotaReport, flags: str) -> Brief:
    """In few words: the fullest names first. ``flags``: those with which a command of ours asks the same source."""
    uses = sorted(report.uses, key=lambda use: -(use.percent or 0))
    drifted = next((use for use in uses if use.drift is not None), None)
    fullest = uses[0].percent or 0 if uses else 0
    word, tone = _state_word(report, fullest)
    texts = [f"{use.name} {use.used or '?'} of {use.hard} ({use.percent or 0}%)" for use in uses[:_BRIEFLY]]
    texts += [f"and {len(uses) - _BRIEFLY} more"] * (len(uses) > _BRIEFLY)
    if drifted is not None and drifted.drift is not None:
        texts.append(f"{drifted.name}: {drift_words(drifted.drift)}")
    texts = [*report.faults, *texts]
    ours = report.subject.kind == "ResourceQuota" and not report.supposed
    more = (
        f"{object_command('quota', report.subject, kind=False)} --by workload{f' {flags}' if flags else ''}"
        if ours
        else ""
    )
    return Brief(tone, word, f": {report.subject.full_name}: {', '.join(texts) or 'limits nothing'}", next=more)


def _state_word(report: QuotaReport, fullest: int) -> tuple[str, Tone]:
    if report.faults:
        return "invalid", "bad"
    if any(use.is_exceeded for use in report.uses):
        return "over", "bad"
    if not report.enforced:
        return "not enforced yet", "warn"
    if report.uses and all(use.limits_nothing for use in report.uses):
        return LIMITS_NOTHING, "warn"
    if fullest >= _FULL:
        return "full", "warn"
    return ("nearly full", "warn") if fullest >= NEARLY_FULL else ("ok", "good")


def quota_lines(report: QuotaReport, *, ascii_only: bool, width: int) -> Iterator[Line]:
    """Yield the same, not drawn yet."""
    namespace_text = f" in {report.subject.namespace}" if report.subject.namespace else ""
    kind = "quota" if report.subject.kind == "ResourceQuota" else report.subject.kind
    yield [("strong", f"{kind} {report.subject.name}"), ("", namespace_text)]
    if report.shared:
        text = f"shared by {join_some(report.shared)}"
        yield from tone_lines("quiet", wrap_text(text, width, first="  ", rest="    "))
    for phrase in report.scopes:
        yield from tone_lines("quiet", wrap_text(f"counts {phrase}", width, first="  ", rest="    "))
    if report.pool:
        text = f"kept by Capsule for pool {report.pool}: its hard is what claims add up to, other edits are undone"
        yield from tone_lines("quiet", wrap_text(text, width, first="  ", rest="    "))
    if not report.enforced:
        text = "no status yet, so it enforces nothing; the quota controller may be slow or off"
        yield from tone_lines("warn", wrap_text(text, width, first="  ", rest="    "))
    if report.supposed:
        text = "from a file: taken as enforced, with nothing used yet"
        yield from tone_lines("quiet", wrap_text(text, width, first="  ", rest="    "))
    for fault in report.faults:
        failing = "the API server would not store it" if kind == "quota" else "its controller fails"
        yield from tone_lines("bad", wrap_text(f"{failing}: {fault}", width, first="  ", rest="    "))
    if not report.uses:
        yield [("quiet", "  limits nothing")]
        return
    yield from _Table(report, ascii_only=ascii_only, width=width).lines()
    if report.grouped_by:
        drawn = list(holders_lines(quota_rooms(report), width, ascii_only=ascii_only, figures=False))
        if drawn:
            yield [("", "")]
        yield from drawn
        yield from (
            tree_lines(report.tree, [use.name for use in report.uses], width) if report.tree else _shares(report, width)
        )


class _Table:
    """The rows of one quota, with their columns."""

    def __init__(self, report: QuotaReport, *, ascii_only: bool, width: int) -> None:
        self.report, self.ascii_only, self.width = report, ascii_only, width
        self.heads: tuple[str, ...] = (
            ("USED", "COUNTED", "HARD", "FREE") if report.recounted else ("USED", "HARD", "FREE")
        )
        rows = [self._cells(use) for use in report.uses]
        self.widths = [
            max(size(head), *(size(line_row[index]) for line_row in rows)) for index, head in enumerate(self.heads)
        ]
        self.label = min(_LABEL, max(12, *(size(use.name) for use in report.uses)))
        if 4 + self.label + size(row(self.heads, self.widths)) + _SHARE > width:
            # It says what the two before it do: the share must not stand on a line of its own.
            self.heads, self.widths = self.heads[:-1], self.widths[:-1]

    def lines(self) -> Iterator[Line]:
        shown = any(use.percent is not None for use in self.report.uses)
        heads = f"  {pad_text('NAME', self.label)}  {row(self.heads, self.widths)}{'  USED%' * shown}"
        yield [("quiet", heads.rstrip())]
        for use in self.report.uses:
            yield from self._use_lines(use)

    def _cells(self, use: QuotaUse) -> tuple[str, ...]:
        used, left, counted = use.used or "-", use.free or "-", use.counted or ("?" if use.unread else "-")
        shown = (used, counted, use.hard, left) if self.report.recounted else (used, use.hard, left)
        return tuple(clip_text(text, _CELL) for text in shown)[: len(self.heads)]

    def _use_lines(self, use: QuotaUse) -> Iterator[Line]:
        tone: Tone = (
            "bad"
            if use.is_exceeded or (use.percent or 0) >= 100
            else "warn"
            if (use.percent or 0) >= NEARLY_FULL
            else ""
        )
        head, shown = f"  {use.name}", f"  {row(self._cells(use), self.widths)}"
        room = self.width - self.label - 2 - size(shown)
        tail: Line = [("", shown), (tone, gauge(use.percent, room, over=use.is_exceeded, ascii_only=self.ascii_only))]
        if size(use.name) <= self.label:
            yield [("", pad_text(head, self.label + 2)), *tail]
        else:
            yield [("", head)]
            yield [("", " " * (self.label + 2)), *tail]
        for tone_, text in _remarks(use):
            yield from tone_lines(tone_, wrap_text(text, self.width, first="      ", rest="        "))


def _remarks(use: QuotaUse) -> Iterator[tuple[Tone, str]]:
    if use.spec_hard is not None:
        condition = f"says {use.spec_hard}" if use.spec_hard else "no longer names it"
        yield "warn", f"spec.hard {condition}; the quota controller has not taken that over yet"
    if use.optional:
        yield "quiet", "a pod that states no such value costs nothing here, unless a LimitRange gives it one"
    if use.limits_nothing:
        yield "warn", f"nothing counts for this name, so it limits nothing: {sentence_text(use.limits_nothing)}"
    if use.unread:
        yield "warn", f"not recounted: the {use.unread} were not read"
    if use.drift is not None:
        yield "warn", drift_words(use.drift)


def drift_words(drift: Drift) -> str:
    """Return why ``status.used`` is not what was counted, as a sentence without a point."""
    some = ", ".join(drift.pods[:_NAMED]) + (f" and {len(drift.pods) - _NAMED} more" * (len(drift.pods) > _NAMED))
    match drift.cause:
        case "pending":
            return "spec.hard names it; the quota controller has not taken that over yet"
        case "nobody":
            return "nothing counts for this name, so it limits nothing"
        case "unread":
            return "not recounted: its objects were not read"
        case "unwritable":
            return "drift: the quota controller cannot write its count: the API server refuses a sum that is too large"
        case "finished":
            part = "that is the difference" if drift.exact else "that is a part of the difference"
            return f"drift: pods that have ended are still counted ({some}); {part}"
        case "resized":
            return f"drift: pods were resized and may have been larger before ({some})"
    return "drift: nothing seen here explains it; the quota controller counts again at its next resync"


def _shares(report: QuotaReport, width: int) -> Iterator[Line]:
    """For each name who uses it, the largest first."""
    for use in report.uses:
        usage_shares = [share for share in report.shares if use.name in share.usage]
        if not usage_shares:
            continue
        usage_shares.sort(key=lambda share: (-share.percents[use.name], share.name))
        yield [("", "")]
        yield [("strong", f"  {use.name}"), ("quiet", f" by {report.grouped_by}")]
        yield from _share_rows(use, usage_shares, width)


def _share_rows(use: QuotaUse, usage_shares: Sequence[UsageShare], width: int) -> Iterator[Line]:
    amounts = [clip_text(share.usage[use.name], _CELL) for share in usage_shares]
    amount = max(map(size, amounts))
    room = max(16, width - amount - 26)
    label = min(room, max(size(share.name) for share in usage_shares))
    for share, text in zip(usage_shares, amounts, strict=True):
        pods = (
            f"  {share.pods} pod{'s' * (share.pods != 1)}" if share.pods and not share.name.startswith("Pod/") else ""
        )
        label_text = pad_text(clip_text(share.name, label), label)
        yield [("", f"    {label_text}  {pad_text(text, amount)}  {share.percents[use.name]:>3}%"), ("quiet", pods)]


def _uncounted_name(name: UncountedName) -> str:
    if name.never:
        return "the server never counts these objects"
    return f"meant may be {name.meant or 'the plural and the group of a kind that the server has'}"


WORDS: Mapping[type, Callable[[Any], str]] = {UncountedName: _uncounted_name}
