"""QoS as text: one pod's class and cgroups, whole or as a short page, a line for each of many, namespaces' sums."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from kubectl_kres.admission.kubelet import PERIOD, Cgroup
from kubectl_kres.render.text.line import (
    Line,
    Tone,
    clip_text,
    draw,
    labelled_lines,
    more_line,
    pad_text,
    size,
    tone_lines,
    wrap_text,
)
from kubectl_kres.render.text.remarks import remarks
from kubectl_kres.render.text.sentences import sentence_text
from kubectl_kres.render.text.unread import unseen_texts
from kubectl_kres.render.verdict.brief import Brief
from kubectl_kres.render.verdict.headline import unread_caveat
from kubectl_kres.reports.common.explanation import ManifestPlace
from kubectl_kres.reports.common.last_editor import FieldEdit
from kubectl_kres.reports.qos.qos_reach import CLASSES, ClassChange
from kubectl_kres.reports.qos.qos_report import Cgroups, Culprit, OomScore, PodQos, Shared, SmallestLimits
from kubectl_kres.reports.qos.qos_sums import NamespaceSums

_BYTES = re.compile(r"memory\.(max|limit_in_bytes)")
_BINARY, _DECIMAL = ("Ki", "Mi", "Gi", "Ti", "Pi"), ("k", "M", "G", "T", "P")


def tree(cgroups: Cgroups, width: int, *, notes: bool = True) -> Iterator[Line]:
    """Yield each cgroup on a line of its own, its files below it. ``notes``: with what the values rest on."""
    yield [("", "")]
    yield [("strong", "cgroups"), ("", f" of version {cgroups.version}, driver {cgroups.driver}")]
    shares = "cpu.weight" if cgroups.version == 2 else "cpu.shares"
    yield from _group(cgroups.root, "", 1, width, shares)
    for shared in cgroups.shared:
        yield from _shared_limit_lines(shared, width)
    if cgroups.smallest_limits:
        yield [("", "")]
        yield from tone_lines(
            "strong", wrap_text("what a program sees as its limit: the smallest on the way up", width)
        )
        yield from _cgroup_lines(cgroups)
    if notes:
        yield [("", "")]
    for note in cgroups.notes if notes else ():
        yield from tone_lines("quiet", wrap_text(sentence_text(note), width, first="note: ", rest="  "))


def _group(cgroup: Cgroup, above: str, depth: int, width: int, shares: str) -> Iterator[Line]:
    indent = "  " * depth
    title = f"  ({cgroup.name})" if cgroup.kind in {"container", "pause"} else ""
    yield [("", f"{indent}{cgroup.path.removeprefix(above)}"), ("strong", title)]
    table_rows = [(value.file, value.value, _source(value.file, value.value, value.source)) for value in cgroup.values]
    if cgroup.oom_score_adj is not None:
        table_rows.append(("oom_score_adj", str(cgroup.oom_score_adj), "of its processes"))
    elif cgroup.kind == "container":
        table_rows.append(("oom_score_adj", "depends", "on the memory of the node"))
    if cgroup.kind == "qos" and all(value.file != shares for value in cgroup.values):
        table_rows.insert(0, (shares, "depends", "on all such pods of the node"))
    heads = [max((size(row[column]) for row in table_rows), default=0) for column in (0, 1)]
    for file, value, source in table_rows:
        head = f"{indent}    {pad_text(file, heads[0])}  {pad_text(value, heads[1])}  "
        if size(head) + size(source) <= width:
            yield [("", head), ("quiet", source)]
        else:
            yield [("", head)]
            yield [("quiet", f"{indent}      {source}")]
    for child in cgroup.children:
        yield from _group(child, cgroup.path, depth + 1, width, shares)


def _source(file: str, value: str, path: str) -> str:
    shown = f"{amount(int(value))}, " if _BYTES.fullmatch(file) and value.isdigit() else ""
    is_container = path.startswith(("spec.containers", "spec.initContainers"))
    text = f"its {path.rpartition('.')[2]}" if is_container else path
    return f"{shown}{text}" if text else shown.removesuffix(", ")


def amount(number: int) -> str:
    """Bytes in the unit that says them exactly in the fewest characters: ``512Mi``, ``384M``."""
    texts = [f"{number} bytes"]
    for base, units in ((1024, _BINARY), (1000, _DECIMAL)):
        rest = number
        for unit in units:
            if not rest or rest % base:
                break
            rest //= base
            texts.append(f"{rest}{unit}")
    return min(texts, key=len)


def _shared_limit_lines(shared: Shared, width: int) -> Iterator[Line]:
    yield [("", "")]
    holders = [*shared.free, *(f"{name} (up to its own {limit})" for name, limit in shared.limited)]
    head = f"{', '.join(holders)} share the pod level's {shared.resource} limit {shared.limit}"
    if len(holders) == 1:
        head = f"{holders[0]} has the pod level's {shared.resource} limit {shared.limit} to itself"
    yield from tone_lines("", wrap_text(head, width, rest="  "))
    if shared.unreachable:
        text = f"their own limits add up to {shared.sum}: not all of them can be reached at once"
        yield from tone_lines("warn", wrap_text(text, width, first="  ", rest="  "))
    elif not shared.free and shared.sum and shared.sum != shared.limit:
        text = f"their own limits add up to {shared.sum}: the rest of {shared.limit} is out of their reach"
        yield from tone_lines("quiet", wrap_text(text, width, first="  ", rest="  "))


def _cgroup_lines(cgroups: Cgroups) -> Iterator[Line]:
    rows = [(seen.container, _memory(seen), _cpu(seen)) for seen in cgroups.smallest_limits]
    widths = [max(size(row[column]) for row in rows) for column in (0, 1)]
    for name, memory, cpu in rows:
        yield [("", f"  {pad_text(name, widths[0])}  memory {pad_text(memory, widths[1])}  cpu {cpu}")]


def _memory(seen: SmallestLimits) -> str:
    return "the node's" if seen.memory is None else f"{amount(seen.memory)}{_format_limit_owner(seen.memory_at)}"


def _cpu(seen: SmallestLimits) -> str:
    if seen.cpu is None:
        return "the node's"
    return f"{seen.cpu / PERIOD:g}{_format_limit_owner(seen.cpu_at)}"


def _format_limit_owner(path: str) -> str:
    """Return whether the limit is the pod's; the last part of a container's path is made by the runtime."""
    last = path.rpartition("/")[2]
    return "" if last in {"ID", "cri-containerd-ID.scope"} else " of the pod"


#: What the figures in a line of a list are.
SHORT_SAID = "cpu 1 of 2: the request is 1 and the limit 2, so that it is not Guaranteed; (+1): 1 more value like that"
#: What an empty stanza of the pod level does.
_EMPTY_LEVEL = (
    "possible, not advice: with an empty spec.resources the API server leaves the containers out of the class, while "
    "their requests and limits still hold; the other way is to remove all of these, and the LimitRange defaults"
)
_TONES: Mapping[str, Tone] = {"Guaranteed": "good", "BestEffort": "warn"}
_NAME = 36
#: Edits that are reported in few words.
_BRIEFLY = 3


def lines(quality: PodQos, *, color: bool = False, width: int = 80) -> Iterator[str]:
    """Yield every line. Lines of ours keep to ``width``; the server's own sentences are not cut."""
    for line in quality_lines(quality, width):
        yield draw(line, color=color)


def brief(quality: PodQos, more: str, explained: str) -> Brief:
    """In few words. ``more``: the command that gives the whole answer; ``explained``: the one that says why it is
    refused.
    """
    name = " or ".join([quality.qos.name, *quality.alternatives])
    if quality.refused:
        text = f": {quality.subject.full_name}, {name}: {quality.refused}"
        return Brief("bad", f"refused{unread_caveat(quality.refused, quality.unread)}", text, next=explained)
    texts = [f"the live pod is {quality.live_class}, which it keeps"] * quality.differs
    texts += [culprit_text(culprit, quality) for culprit in quality.culprits[:1]]
    texts += [f"and {len(quality.culprits) - 1} more"] * (len(quality.culprits) > 1)
    better = CLASSES[: CLASSES.index(quality.qos.name)]
    first, other = [*(_format_class_reach(reach, quality) for reach in quality.reach if reach.name in better), "", ""][
        :2
    ]
    tone: Tone = "warn" if quality.differs else _TONES.get(quality.qos.name, "")
    text = f": {quality.subject.full_name}: {'; '.join(texts) or quality.qos.reason}"
    return Brief(tone, name, text, remedy=first, other=other, next=more)


def _format_class_reach(reach: ClassChange, quality: PodQos) -> str:
    """Return how to reach a class, in a line; empty where nothing leads there."""
    if not reach.edits:
        return ""
    edits = [edit_text(edit) for edit in reach.edits[:_BRIEFLY]]
    edits += [f"and {len(reach.edits) - _BRIEFLY} more"] * (len(reach.edits) > _BRIEFLY)
    purpose = "for the next pod to be" if quality.live else "to be"
    refused = " (which would be refused)" if reach.refused else ""
    return f"{purpose} {reach.name}{refused}: {'; '.join(edits)}"


def quality_lines(quality: PodQos, width: int) -> Iterator[Line]:
    """Yield the same, not drawn yet."""
    yield from class_lines(quality, width)
    yield from refused_lines(quality, width)
    for index, culprit in enumerate(quality.culprits):
        if index == 0:
            yield [("", "")]
            yield [("strong", "not Guaranteed, because")]
        yield from tone_lines("", wrap_text(culprit_text(culprit, quality), width, first="  ", rest="    "))
    for reach in quality.reach:
        yield from _class_reach_lines(reach, width, live=quality.live)
    yield from score_lines(quality, width)
    if quality.cgroups is not None:
        yield from tree(quality.cgroups, width)
    yield from remarks((), quality.assumptions, quality.unread, width)


def class_lines(quality: PodQos, width: int) -> Iterator[Line]:
    """Yield class, object and reason; where the manifest is from; and the class that a live pod has."""
    namespace_prefix = f"{quality.subject.namespace}/" if quality.subject.namespace else ""
    name = " or ".join([quality.qos.name, *quality.alternatives])
    order = ", depending on the order of LimitRanges" if quality.alternatives else ""
    text = f"{namespace_prefix}{quality.subject}, {quality.qos.reason}{order}"
    first, *rest = wrap_text(text, width, first=f"{name}: ", rest="  ")
    yield [(_TONES.get(quality.qos.name, ""), name), ("", first.removeprefix(name))]
    yield from tone_lines("", rest)
    if quality.start:
        yield from tone_lines("quiet", wrap_text(f"from {sentence_text(quality.start)}", width, first="  ", rest="  "))
    if quality.live_class:
        yield from _live(quality, width)


def refused_lines(quality: PodQos, width: int, maximum: int = 10_000) -> Iterator[Line]:
    """Yield the server's words where the pod is refused. ``maximum``: cells of its sentence."""
    if quality.refused:
        word = f"refused{unread_caveat(quality.refused, quality.unread)}"
        first, *rest = wrap_text(f"{word}: {clip_text(quality.refused, maximum)}", width, rest="  ")
        yield [("bad", word), ("", first.removeprefix(word))]
        yield from tone_lines("", rest)


def _live(quality: PodQos, width: int) -> Iterator[Line]:
    if quality.differs:
        text = f"the live pod is {quality.live_class}: the class is kept from its creation"
        yield from tone_lines("warn", wrap_text(text, width, first="  ", rest="  "))
    elif quality.start != ManifestPlace("live"):
        yield [("", "  the live pod has the same class")]


def culprit_text(culprit: Culprit, quality: PodQos) -> str:
    """Return what of one resource of a container keeps the pod from a better class."""
    holder = f"container {culprit.container}" if culprit.container else "the pod level"
    if quality.qos.name == "BestEffort" and not culprit.request:
        return f"{holder} has no {culprit.resource} request and no {culprit.resource} limit"
    if culprit.limit is None:
        return f"{holder} has no {culprit.resource} limit"
    return f"{holder} requests {culprit.resource} {culprit.request or '0'}, not its limit {culprit.limit}"


def _class_reach_lines(reach: ClassChange, width: int, *, live: bool) -> Iterator[Line]:
    yield [("", "")]
    next_one = " (the next pod; a live one keeps its class)" if live else ""
    if not reach.edits:
        yield from tone_lines(
            "", wrap_text(f"to be {reach.name}{next_one}: no edit of the manifest leads there", width, rest="  ")
        )
        return
    yield [("strong", f"to be {reach.name}"), ("quiet", next_one)]
    for edit in reach.edits:
        yield from tone_lines("", wrap_text(edit_text(edit), width, first="  ", rest="    "))
    if any(edit.path == "spec.resources" and edit.after == "{}" for edit in reach.edits):
        yield from tone_lines("warn", wrap_text(_EMPTY_LEVEL, width, first="  ", rest="    "))
    if reach.gate:
        yield from tone_lines(
            "quiet", wrap_text(f"this needs the feature gate {reach.gate}", width, first="  ", rest="    ")
        )
    if reach.refused:
        yield from tone_lines(
            "warn", wrap_text(f"which would be refused: {reach.refused}", width, first="  ", rest="    ")
        )


def edit_text(edit: FieldEdit) -> str:
    """Return an edit as an instruction."""
    if edit.after is None:
        return f"remove {edit.path}" if edit.before == "{...}" else f"remove {edit.path}, {edit.before}"
    change = f"change {edit.path} from {edit.before} to" if edit.before is not None else f"set {edit.path} to"
    return f"{change} {edit.after}{', for example' if edit.free else ''}"


def score_lines(quality: PodQos, width: int, maximum: int | None = None) -> Iterator[Line]:
    """Yield the table of oom_score_adj. ``maximum``: containers that are shown."""
    if not quality.scores:
        return
    yield [("", "")]
    node_text = f" on {quality.node} with {amount(quality.memory)}" if quality.node and quality.memory else ""
    yield [("strong", f"oom_score_adj{node_text}"), ("quiet", "  the kernel kills the highest score first")]
    shown = quality.scores[:maximum]
    label = max(size(score.container) for score in shown)
    for score in shown:
        yield [("", f"  {pad_text(score.container, label)}  {_score(score)}")]
    if len(shown) < len(quality.scores):
        yield [("quiet", f"  and {len(quality.scores) - len(shown)} more")]
    if any(score.value is None for score in quality.scores):
        node = f"the memory of {quality.node}, which is not known" if quality.node else "the memory of the node"
        text = f"1000 - 1000 * request / M, from 3 to 999; M is {node}"
        yield from tone_lines("quiet", wrap_text(text, width, first="  ", rest="  "))


def _score(score: OomScore) -> str:
    value = "depends" if score.value is None else str(score.value)
    return f"{pad_text(value, 7)}  {sentence_text(score.depends_on) if score.depends_on is not None else ''}"


def summary(quality: PodQos, *, color: bool = False, width: int = 80) -> str:
    """Return one line for one of many objects: class, name, and the first culprit, or what is the matter."""
    name = quality.subject.full_name
    head = f"{pad_text(quality.qos.name, 10)}  {pad_text(name, _NAME)}  "
    text = short(quality)
    tone: Tone = "bad" if quality.refused else "warn" if quality.differs else ""
    return draw(
        [(_TONES.get(quality.qos.name, ""), head), (tone, clip_text(text, max(12, width - size(head))))], color=color
    )


def short(quality: PodQos) -> str:
    """Return what decides the class, or what is the matter, in a few words."""
    if quality.refused:
        return f"refused{unread_caveat(quality.refused, quality.unread)}: {quality.refused}"
    if quality.differs:
        return f"live: {quality.live_class}"
    if not quality.culprits or quality.qos.name == "BestEffort":
        return ""
    first = quality.culprits[0]
    holder = first.container or "pod level"
    more = f" (+{len(quality.culprits) - 1})" if len(quality.culprits) > 1 else ""
    if first.limit is None:
        return f"{holder}: no {first.resource} limit{more}"
    return f"{holder}: {first.resource} {first.request or 0} of {first.limit}{more}"


def has_figures(quality: PodQos) -> bool:
    """Return whether ``short`` has a request and a limit, which ``SHORT_SAID`` explains."""
    first = next(iter(quality.culprits), None)
    plain = not (quality.refused or quality.differs or quality.qos.name == "BestEffort")
    return plain and first is not None and first.limit is not None


def count_line(classes: Mapping[str, int], refused: int, differing: int) -> str:
    """Return the last line over many objects."""
    shown = ", ".join(f"{classes[name]} {name}" for name in CLASSES if classes.get(name))
    no = f"; {refused} would be refused" if refused else ""
    other = f"; {differing} live with another class" if differing else ""
    return f"{(count := sum(classes.values()))} object{'s' * (count != 1)}: {shown}{no}{other}"


def table(sums_of_namespaces: Iterable[NamespaceSums], *, color: bool = False, width: int = 80) -> Iterator[str]:
    """Yield a row for each namespace and one for all; names are cut so that a row keeps to ``width``."""
    sums = tuple(sums_of_namespaces)
    heads = ("NAMESPACE", "PODS", "GUAR", "BURST", "BEST", "CPU REQ", "CPU LIM", "MEM REQ", "MEM LIM")
    rows = [_row(namespace_sums) for namespace_sums in sums]
    widths = [max(size(cell) for cell in column) for column in zip(heads, *rows, strict=True)]
    room = max(9, width - sum(widths[1:]) - 2 * (len(widths) - 1))
    widths[0] = min(widths[0], room)
    for index, row in enumerate((heads, *rows)):
        tone: Tone = "strong" if index in {0, len(rows)} else ""
        yield draw([(tone, _cells(row, widths))], color=color)
    finished = sum(namespace_sums.finished for namespace_sums in sums if namespace_sums.total)
    if finished:
        yield (
            f"{finished} finished pods count in nothing here"
            if finished > 1
            else "1 finished pod counts in nothing here"
        )


def _cells(row: Sequence[str], widths: Sequence[int]) -> str:
    name, *numbers = row
    shown = [text.rjust(width) for text, width in zip(numbers, widths[1:], strict=True)]
    return "  ".join([pad_text(clip_text(name, widths[0]), widths[0]), *shown])


def _row(namespace_sums: NamespaceSums) -> tuple[str, ...]:
    name = f"all {namespace_sums.namespaces}" if namespace_sums.total else namespace_sums.namespace
    amounts = [
        values.get(resource, "0")
        for resource in ("cpu", "memory")
        for values in (namespace_sums.requests, namespace_sums.limits)
    ]
    return (
        name,
        str(namespace_sums.pods),
        *(str(namespace_sums.classes.get(quality, 0)) for quality in CLASSES),
        *amounts,
    )


#: Reasons, edits that lead to a class, and containers that are shown; the rest is counted.
_REASONS, _EDITS, _SCORES = 2, 2, 2
#: Cells of the server's sentence.
_SENTENCE = 150


def page_lines(quality: PodQos, *, color: bool = False, width: int = 80) -> Iterator[str]:
    """Yield the short page; of cgroups, which were asked for, the whole tree."""
    for line in _page(quality, width):
        yield draw(line, color=color)


def _page(quality: PodQos, width: int) -> Iterator[Line]:
    yield from class_lines(quality, width)
    yield from refused_lines(quality, width, _SENTENCE)
    if quality.cgroups is not None:
        yield from tree(quality.cgroups, width, notes=False)
    else:
        yield from _reasons(quality, width)
        for reach in _select_better_classes(quality):
            yield from _reach_lines(reach, width, live=quality.live)
        yield from score_lines(quality, width, _SCORES)
    yield [("", "")]
    for text in unseen_texts(quality.unread):
        yield from labelled_lines("unread", text, width, tone="bad")
    yield from more_line(_hidden_parts(quality), width)


def _reasons(quality: PodQos, width: int) -> Iterator[Line]:
    """Yield what else keeps it from being Guaranteed; the first line has the first reason."""
    others = [culprit_text(culprit, quality) for culprit in quality.culprits]
    others = [text for text in others if text != quality.qos.reason]
    if not others:
        return
    yield [("", "")]
    yield [
        ("strong", "not Guaranteed, also because" if len(others) < len(quality.culprits) else "not Guaranteed, because")
    ]
    for text in others[:_REASONS]:
        yield from tone_lines("", wrap_text(text, width, first="  ", rest="    "))
    if len(others) > _REASONS:
        yield [("quiet", f"  and {len(others) - _REASONS} more")]


def _select_better_classes(quality: PodQos) -> list[ClassChange]:
    """Return the ways to better classes, the best class first; of a Guaranteed pod that to the next one."""
    better = CLASSES[: CLASSES.index(quality.qos.name)]
    return [reach for reach in quality.reach if reach.name in better] or list(quality.reach[:1])


def _reach_lines(reach: ClassChange, width: int, *, live: bool) -> Iterator[Line]:
    yield [("", "")]
    if not reach.edits:
        yield [("", f"to be {reach.name}: no edit of the manifest leads there")]
        return
    remarks = ["the next pod; a live one keeps its class"] * live + ["such a pod would be refused"] * bool(
        reach.refused
    )
    tone: Tone = "warn" if reach.refused else "quiet"
    yield [("strong", f"to be {reach.name}"), (tone, f" ({'; '.join(remarks)})" * bool(remarks))]
    for edit in reach.edits[:_EDITS]:
        yield from tone_lines("", wrap_text(edit_text(edit), width, first="  ", rest="    "))
    if (count := len(reach.edits) - _EDITS) > 0:
        yield [("quiet", f"  and {count} more edit{'s' * (count != 1)}")]


def _hidden_parts(quality: PodQos) -> list[str]:
    """Return what only the whole answer shows."""
    if quality.cgroups is not None:
        notes = len(quality.cgroups.notes)
        parts = ["what leads to other classes, oom_score_adj", f"{notes} note{'s' * (notes != 1)} about the cgroups"]
    else:
        parts = ["every reason, every edit and class"]
    count = len(quality.assumptions)
    return [*parts, *([f"{count} assumption{'s' * (count != 1)}"] if count else [])]
