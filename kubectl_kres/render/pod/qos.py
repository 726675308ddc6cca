"""The QoS class of one pod as text, of many as lines, and the sums of namespaces as a table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from kubectl_kres.render.pod.cgroups import amount, tree
from kubectl_kres.render.text.line import Line, Tone, clipped, draw, padded, size, toned, wrapped
from kubectl_kres.render.text.remarks import remarks
from kubectl_kres.render.verdict.words import partly
from kubectl_kres.reports.common.manifest_edits import FieldEdit
from kubectl_kres.reports.qos.qos_reach import CLASSES, Reach
from kubectl_kres.reports.qos.qos_report import Culprit, Quality, Score
from kubectl_kres.reports.qos.qos_sums import NamespaceSums

#: What an empty stanza of the pod level does.
_EMPTY_LEVEL = (
    "a quirk of the API server and no advice: the containers keep their requests and limits, the class only no longer "
    "counts them; else all of them have to go, and the LimitRange defaults that would fill them in"
)
_TONES: Mapping[str, Tone] = {"Guaranteed": "good", "BestEffort": "warn"}
_NAME = 36


def lines(found: Quality, *, color: bool = False, width: int = 80) -> Iterator[str]:
    """Every line. Lines of ours keep to ``width``; the server's own sentences are not cut."""
    for line in quality_lines(found, width):
        yield draw(line, color=color)


def quality_lines(found: Quality, width: int) -> Iterator[Line]:
    """The same, not drawn yet."""
    yield from _class(found, width)
    if found.live_class:
        yield from _live(found, width)
    if found.refused:
        yield [("bad", f"refused{partly(found.refused, found.unseen)}"), ("", f": {found.refused}")]
    for place, culprit in enumerate(found.culprits):
        if place == 0:
            yield [("", "")]
            yield [("strong", "not Guaranteed, because")]
        yield from toned("", wrapped(_because(culprit, found), width, first="  ", rest="    "))
    for one in found.reach:
        yield from _reach(one, width, live=found.live)
    yield from _scores(found, width)
    if found.cgroups is not None:
        yield from tree(found.cgroups, width)
    yield from remarks((), found.assumptions, found.unseen, width)


def _class(found: Quality, width: int) -> Iterator[Line]:
    where = f"{found.subject.namespace}/" if found.subject.namespace else ""
    name = " or ".join([found.qos.name, *found.alternatives])
    order = ", depending on the order of LimitRanges" if found.alternatives else ""
    said = f"{where}{found.subject}, {found.qos.because}{order}"
    first, *rest = wrapped(said, width, first=f"{name}: ", rest="  ")
    yield [(_TONES.get(found.qos.name, ""), name), ("", first.removeprefix(name))]
    yield from toned("", rest)
    if found.start:
        yield from toned("quiet", wrapped(f"from {found.start}", width, first="  ", rest="  "))


def _live(found: Quality, width: int) -> Iterator[Line]:
    if found.differs:
        text = f"the live pod is {found.live_class}: the class is kept from its creation"
        yield from toned("warn", wrapped(text, width, first="  ", rest="  "))
    else:
        yield [("", f"  the live pod is {found.live_class}")]


def _because(one: Culprit, found: Quality) -> str:
    who = f"container {one.container}" if one.container else "the pod level"
    if found.qos.name == "BestEffort" and not one.request:
        return f"{who} has no {one.resource} request and no {one.resource} limit"
    if one.limit is None:
        return f"{who} has no {one.resource} limit"
    return f"{who} requests {one.resource} {one.request or '0'}, not its limit {one.limit}"


def _reach(one: Reach, width: int, *, live: bool) -> Iterator[Line]:
    yield [("", "")]
    next_one = " (the next pod; a live one keeps its class)" if live else ""
    if not one.edits:
        yield from toned(
            "", wrapped(f"to be {one.name}{next_one}: no edit of the manifest leads there", width, rest="  ")
        )
        return
    yield [("strong", f"to be {one.name}"), ("quiet", next_one)]
    for edit in one.edits:
        yield from toned("", wrapped(_edit(edit), width, first="  ", rest="    "))
    if any(edit.path == "spec.resources" and edit.after == "{}" for edit in one.edits):
        yield from toned("warn", wrapped(_EMPTY_LEVEL, width, first="  ", rest="    "))
    if one.gate:
        yield from toned("quiet", wrapped(f"this needs the feature gate {one.gate}", width, first="  ", rest="    "))
    if one.refused:
        yield from toned("warn", wrapped(f"which would be refused: {one.refused}", width, first="  ", rest="    "))


def _edit(edit: FieldEdit) -> str:
    if edit.after is None:
        return f"remove {edit.path}" if edit.before == "{...}" else f"remove {edit.path}, {edit.before}"
    change = f"change {edit.path} from {edit.before} to" if edit.before is not None else f"set {edit.path} to"
    return f"{change} {edit.after}{', for example' if edit.free else ''}"


def _scores(found: Quality, width: int) -> Iterator[Line]:
    if not found.scores:
        return
    yield [("", "")]
    where = f" on {found.node} with {amount(found.memory)}" if found.node and found.memory else ""
    yield [("strong", f"oom_score_adj{where}"), ("quiet", "  lower lives longer")]
    label = max(size(one.container) for one in found.scores)
    for one in found.scores:
        yield [("", f"  {padded(one.container, label)}  {_score(one)}")]
    if any(one.value is None for one in found.scores):
        node = f"the memory of {found.node}, which is not known" if found.node else "the memory of the node"
        text = f"1000 - 1000 * request / M, from 3 to 999; M is {node}"
        yield from toned("quiet", wrapped(text, width, first="  ", rest="  "))


def _score(one: Score) -> str:
    return f"{padded('depends' if one.value is None else str(one.value), 7)}  {one.of}"


def summary(found: Quality, *, color: bool = False, width: int = 80) -> str:
    """One line for one of many objects: class, name, and the first culprit, or what is the matter."""
    name = found.subject.full
    head = f"{padded(found.qos.name, 10)}  {padded(name, _NAME)}  "
    said = short(found)
    tone: Tone = "bad" if found.refused else "warn" if found.differs else ""
    return draw(
        [(_TONES.get(found.qos.name, ""), head), (tone, clipped(said, max(12, width - size(head))))], color=color
    )


def short(found: Quality) -> str:
    """What decides the class, or what is the matter, in a few words."""
    if found.refused:
        return f"refused{partly(found.refused, found.unseen)}: {found.refused}"
    if found.differs:
        return f"live: {found.live_class}"
    if not found.culprits or found.qos.name == "BestEffort":
        return ""
    first = found.culprits[0]
    who = first.container or "pod level"
    more = f" (+{len(found.culprits) - 1})" if len(found.culprits) > 1 else ""
    if first.limit is None:
        return f"{who}: no {first.resource} limit{more}"
    return f"{who}: {first.resource} {first.request or 0} of {first.limit}{more}"


def counts(classes: Mapping[str, int], refused: int, differing: int) -> str:
    """The last line over many objects."""
    shown = ", ".join(f"{classes[name]} {name}" for name in CLASSES if classes.get(name))
    no = f"; {refused} would be refused" if refused else ""
    other = f"; {differing} live with another class" if differing else ""
    return f"{(count := sum(classes.values()))} object{'s' * (count != 1)}: {shown}{no}{other}"


def table(found: Iterable[NamespaceSums], *, color: bool = False, width: int = 80) -> Iterator[str]:
    """A row for each namespace and one for all; names are cut so that a row keeps to ``width``."""
    sums = tuple(found)
    heads = ("NAMESPACE", "PODS", "GUAR", "BURST", "BEST", "CPU REQ", "CPU LIM", "MEM REQ", "MEM LIM")
    rows = [_row(one) for one in sums]
    widths = [max(size(cell) for cell in column) for column in zip(heads, *rows, strict=True)]
    room = max(9, width - sum(widths[1:]) - 2 * (len(widths) - 1))
    widths[0] = min(widths[0], room)
    for place, row in enumerate((heads, *rows)):
        tone: Tone = "strong" if place in {0, len(rows)} else ""
        yield draw([(tone, _cells(row, widths))], color=color)
    finished = sum(one.finished for one in sums if one.total)
    if finished:
        yield (
            f"{finished} finished pods count in nothing here"
            if finished > 1
            else "1 finished pod counts in nothing here"
        )


def _cells(row: Sequence[str], widths: Sequence[int]) -> str:
    name, *numbers = row
    shown = [text.rjust(width) for text, width in zip(numbers, widths[1:], strict=True)]
    return "  ".join([padded(clipped(name, widths[0]), widths[0]), *shown])


def _row(one: NamespaceSums) -> tuple[str, ...]:
    name = f"all {one.namespaces}" if one.total else one.namespace
    amounts = [values.get(resource, "0") for resource in ("cpu", "memory") for values in (one.requests, one.limits)]
    return (name, str(one.pods), *(str(one.classes.get(quality, 0)) for quality in CLASSES), *amounts)
