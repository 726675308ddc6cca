"""What an upgrade of Kubernetes changes, as text: the worst first, with the change of the version behind it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kubectl_kres.admission.base.versions import CHANGES
from kubectl_kres.render.text.line import Line, Tone, draw, toned, wrapped
from kubectl_kres.reports.changes.upgrade import UpgradeChange, UpgradeReport

_TONES: dict[str, Tone] = {"refused": "bad", "admitted": "good"}
_WORDS = {
    "refused": "refused then", "admitted": "admitted then", "class": "another QoS class", "values": "other values",
    "quota": "counts otherwise", "message": "another message",
}  # fmt: skip


def lines(report: UpgradeReport, *, color: bool, width: int, wide: bool = False) -> Iterator[str]:
    """The lines of the answer; ``wide``: with what changes and touches nothing here."""
    for line in _lines(report, width, wide=wide):
        yield draw(line, color=color)


def _lines(report: UpgradeReport, width: int, *, wide: bool) -> Iterator[Line]:
    parts = [
        _counted(report.workloads, "workload", "gets another answer", "get another answer"),
        _counted(report.quotas, "quota", "counts otherwise", "count otherwise"),
        _counted(report.policies, "policy", "decides otherwise", "decide otherwise", "policies"),
    ]
    summary = ", ".join(part for part in parts if part) or f"no other answer in {report.objects} objects"
    yield from toned("", wrapped(f"from Kubernetes {report.before} to {report.after}: {summary}", width, rest="  "))
    for change in (*report.workloads, *report.quotas, *report.policies):
        yield []
        yield from _change(change, width)
    yield []
    if report.elsewhere and wide:
        yield from toned("quiet", ["also changed, without an effect on what was looked at:"])
        for name in report.elsewhere:
            text = f"{CHANGES[name].area}: {CHANGES[name].text}"
            yield from toned("quiet", wrapped(text, width, first="  ", rest="    "))
    elif report.elsewhere:
        text = f"{len(report.elsewhere)} other changes touch nothing here; -o wide names them"
        yield from toned("quiet", wrapped(text, width))
    for note in report.notes:
        yield from toned("quiet", wrapped(f"assumed: {note}", width, rest="  "))


def _counted(changes: Sequence[UpgradeChange], noun: str, verb: str, verbs: str, many: str = "") -> str:
    if not changes:
        return ""
    return f"1 {noun} {verb}" if len(changes) == 1 else f"{len(changes)} {many or f'{noun}s'} {verbs}"


def _change(change: UpgradeChange, width: int) -> Iterator[Line]:
    word = _WORDS[change.effect]
    tone = _TONES.get(change.effect, "warn")
    first, *rest = wrapped(f"{word}: {change.subject.full}", width, rest="  ")
    yield [(tone, word), ("", first[len(word) :])]
    yield from toned("", rest)
    if change.before != change.after:
        for label, text in (("before", change.before), ("after", change.after)):
            yield from toned("", wrapped(f"{label}: {text}", width, first="  ", rest="    "))
    for path, old, new in change.values:
        yield from toned("", wrapped(f"{path}: {old} -> {new}", width, first="  ", rest="    "))
    for name in change.why:
        yield from toned("quiet", wrapped(f"why: {CHANGES[name].text}", width, first="  ", rest="    "))
