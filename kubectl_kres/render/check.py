"""Findings as text, the worst first, and as SARIF 2.1.0, which code hosts show beside the lines of a manifest.

Source: OASIS SARIF 2.1.0, sections 3.14 run, 3.27 result, 3.35 suppression, 3.49 reportingDescriptor.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final
from urllib.parse import quote

from kubectl_kres import __version__
from kubectl_kres.render.text.line import Line, Tone, draw, labelled_lines, sanitize_text, tone_lines, wrap_text
from kubectl_kres.render.text.sentences import sentence_text
from kubectl_kres.render.text.unread import denied_text
from kubectl_kres.render.verdict.brief import Brief
from kubectl_kres.reports.check.check import RULES, UNREAD
from kubectl_kres.reports.check.finding import SEVERITIES, CheckFinding
from kubectl_kres.reports.common.shown import WORST

_TONES: Final[dict[str, Tone]] = {"error": "bad", "warning": "warn", "note": "quiet"}
_INDENT = "  "
_BELOW = " " * 7


def lines(
    check_findings: Sequence[CheckFinding],
    looked_at: str,
    excess: int,
    *,
    unchanged: bool = False,
    whole: bool = True,
    of_files: bool = False,
    color: bool,
    width: int,
) -> Iterator[str]:
    """How many findings there are, then each, the worst first. ``looked_at``: what was checked, in words; ``excess``:
    how many findings are left out. ``whole``: all of them, with each kind that may not be read. Else only the worst,
    or ``of_files``, in which each has its place, all.
    """
    for line in wrap_text(count_line(check_findings, looked_at, excess, unchanged=unchanged), width, rest=_INDENT):
        yield draw([("strong", line)], color=color)
    counting = [check_finding for check_finding in check_findings if check_finding.counts]
    denied = [] if whole else [check_finding for check_finding in counting if check_finding.is_denied]
    counting = [check_finding for check_finding in counting if whole or not check_finding.is_denied]
    shown = counting if whole or of_files else counting[:WORST]
    for check_finding in shown:
        yield ""
        yield from block(check_finding, color=color, width=width)
    left = len(counting) - len(shown)
    if left or any(check_finding.ignored for check_finding in check_findings):
        yield ""
    if left:
        yield draw([("quiet", f"{left} more: --all")], color=color)
    if denied:
        yield ""
        text = denied_text(check_finding.object.kind for check_finding in denied)
        yield from (draw(line, color=color) for line in labelled_lines("unread", text, width, tone="warn"))
    yield from _unread_lines(counting[len(shown) :], color=color, width=width)
    for check_finding in check_findings:
        if check_finding.ignored:
            text = f"ignored: {check_finding.code} {check_finding.object.full_name}: {check_finding.ignored}"
            yield from (draw([("quiet", line)], color=color) for line in wrap_text(text, width, rest=_INDENT))


def _unread_lines(left_out: Sequence[CheckFinding], *, color: bool, width: int) -> Iterator[str]:
    """Yield what could not be read of the findings that a short page leaves out: it makes the whole answer partial."""
    unread = [check_finding for check_finding in left_out if check_finding.code == UNREAD]
    for number, check_finding in enumerate(unread[:WORST]):
        label, text = (
            "" if number else "unread",
            f"{check_finding.object.full_name}: {sentence_text(check_finding.message)}",
        )
        yield from (draw(line, color=color) for line in labelled_lines(label, text, width, tone="warn"))
    if len(unread) > WORST:
        yield draw([("quiet", f"{_BELOW} {len(unread) - WORST} more that could not be read: --all")], color=color)


def block(check_finding: CheckFinding, *, color: bool, width: int) -> Iterator[str]:
    """Yield a finding by itself."""
    return (draw(line, color=color) for line in finding_lines(check_finding, width))


def brief(check_finding: CheckFinding) -> Brief:
    """Return a finding in few words."""
    object_text = (
        f"{check_finding.file}:{check_finding.line}: "
        if check_finding.line
        else f"{check_finding.file}: "
        if check_finding.file
        else ""
    )
    ours, theirs = _commands(check_finding)
    return Brief(
        _TONES[check_finding.severity],
        f"{check_finding.severity} {check_finding.code}",
        f": {object_text}{check_finding.object.full_name}: {sentence_text(check_finding.message)}",
        remedy=_remedy(check_finding),
        run=" && ".join(theirs),
        next=ours[0] if ours else "",
    )


def _commands(check_finding: CheckFinding) -> tuple[list[str], list[str]]:
    """Return the commands that ask more of us, and those that make the fix."""
    ours = [command for command in check_finding.commands if command.startswith("kubectl kres")]
    return ours, [command for command in check_finding.commands if command not in ours]


def _remedy(check_finding: CheckFinding) -> str:
    fix = sentence_text(check_finding.fix)
    return f"{fix[:1].lower()}{fix[1:].removesuffix('.')}"


def finding_lines(check_finding: CheckFinding, width: int) -> Iterator[Line]:
    """Yield the same, as lines of toned parts."""
    object_text = (
        f"{check_finding.file}:{check_finding.line}:{check_finding.column}: "
        if check_finding.line
        else f"{check_finding.file}: "
        if check_finding.file
        else ""
    )
    yield [
        ("", object_text),
        (_TONES[check_finding.severity], f"{check_finding.severity} {check_finding.code}"),
        ("strong", f" {check_finding.object.full_name}"),
    ]
    yield from tone_lines("", wrap_text(sentence_text(check_finding.message), width, first=_INDENT, rest=_INDENT))
    ours, theirs = _commands(check_finding)
    yield from tone_lines("", wrap_text(_remedy(check_finding), width, first="  fix  ", rest=_BELOW))
    for command in theirs:
        yield [("", _BELOW), ("command", command)]
    for command in ours:
        yield [("", "  next "), ("command", command)]


def count_line(check_findings: Sequence[CheckFinding], looked_at: str, excess: int, *, unchanged: bool = False) -> str:
    """Return the summary: how many there are of each severity. ``unchanged``: the cluster has the files as they are."""
    counting = [check_finding for check_finding in check_findings if check_finding.counts]
    counts = Counter(check_finding.severity for check_finding in counting if not check_finding.is_denied)
    denied = sum(check_finding.is_denied for check_finding in counting)
    parts = [f"{counts[name]} {name}{'s' * (counts[name] != 1)}" for name in SEVERITIES if counts[name]]
    ignored, known = (
        sum(bool(check_finding.ignored) for check_finding in check_findings),
        sum(check_finding.known for check_finding in check_findings),
    )
    parts += [f"{denied} unread"] * bool(denied)
    parts += [f"{ignored} ignored"] * bool(ignored)
    parts += [f"{known} in the baseline"] * bool(known)
    parts += [f"{excess} more that are not listed"] * bool(excess)
    same = "; nothing changes" if unchanged else ""
    return f"{', '.join(parts) or 'nothing found'} in {looked_at}{same}"


_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_INDEX: Final = {rule.code: index for index, rule in enumerate(RULES)}


def document(check_findings: Sequence[CheckFinding], *, complete: bool) -> dict[str, Any]:
    """Return one run with all rules. ``complete`` False: something could not be read."""
    return {
        "$schema": _SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {"name": "kubectl-kres", "version": __version__, "rules": [_rule(rule) for rule in RULES]}
                },
                "columnKind": "unicodeCodePoints",
                "invocations": [{"executionSuccessful": complete}],
                "results": [_result(check_finding) for check_finding in check_findings],
            }
        ],
    }


def _rule(rule: Any) -> dict[str, Any]:
    return {
        "id": rule.code,
        "name": "".join(word.capitalize() for word in rule.title.replace("-", " ").replace(".", " ").split()),
        "shortDescription": {"text": rule.title},
        "fullDescription": {"text": rule.reason},
        "help": {"text": rule.remedy},
        "defaultConfiguration": {"level": rule.severity},
    }


def _result(check_finding: CheckFinding) -> dict[str, Any]:
    key = hashlib.sha256("\0".join(check_finding.key).encode("utf-8", "surrogatepass")).hexdigest()
    message, fix = sentence_text(check_finding.message), sentence_text(check_finding.fix)
    result: dict[str, Any] = {
        "ruleId": check_finding.code,
        "ruleIndex": _INDEX[check_finding.code],
        "level": check_finding.severity,
        "message": {"text": sanitize_text(f"{check_finding.object.full_name}: {message}; fix: {fix}")},
        "locations": [_location(check_finding)],
        "partialFingerprints": {"kres/v1": key},
    }
    if check_finding.ignored:
        result["suppressions"] = [{"kind": "inSource", "justification": sanitize_text(check_finding.ignored)}]
    if check_finding.known:
        result["baselineState"] = "unchanged"
    return result


def _location(check_finding: CheckFinding) -> Mapping[str, Any]:
    result: dict[str, Any] = {
        "logicalLocations": [{"fullyQualifiedName": sanitize_text(check_finding.object.full_name), "kind": "resource"}],
    }
    if check_finding.file:
        location: dict[str, Any] = {"artifactLocation": {"uri": _uri(check_finding.file)}}
        if check_finding.line:
            location["region"] = {"startLine": check_finding.line, "startColumn": check_finding.column}
        result["physicalLocation"] = location
    return result


def _uri(path: str) -> str:
    """Source: section 3.4.3: a relative reference, with ``/`` between its parts."""
    return quote(path.replace("\\", "/").encode("utf-8", "surrogateescape"), safe="/")
