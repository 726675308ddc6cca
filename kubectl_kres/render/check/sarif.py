"""Findings as SARIF 2.1.0, which code hosts show beside the lines of a manifest.

Source: OASIS SARIF 2.1.0, sections 3.14 run, 3.27 result, 3.35 suppression, 3.49 reportingDescriptor.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any, Final
from urllib.parse import quote

from kubectl_kres import __version__
from kubectl_kres.render.text.line import plain
from kubectl_kres.reports.check.finding import CheckFinding
from kubectl_kres.reports.check.registry import RULES

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_INDEX: Final = {rule.code: place for place, rule in enumerate(RULES)}


def document(check_findings: Sequence[CheckFinding], *, complete: bool) -> dict[str, Any]:
    """One run with all rules. ``complete`` False: something could not be read."""
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
    result: dict[str, Any] = {
        "ruleId": check_finding.code,
        "ruleIndex": _INDEX[check_finding.code],
        "level": check_finding.severity,
        "message": {
            "text": plain(f"{check_finding.object.full}: {check_finding.message}; fix: {check_finding.remedy}")
        },
        "locations": [_location(check_finding)],
        "partialFingerprints": {"kres/v1": key},
    }
    if check_finding.ignored:
        result["suppressions"] = [{"kind": "inSource", "justification": plain(check_finding.ignored)}]
    if check_finding.known:
        result["baselineState"] = "unchanged"
    return result


def _location(check_finding: CheckFinding) -> Mapping[str, Any]:
    result: dict[str, Any] = {
        "logicalLocations": [{"fullyQualifiedName": plain(check_finding.object.full), "kind": "resource"}],
    }
    if check_finding.file:
        place: dict[str, Any] = {"artifactLocation": {"uri": _uri(check_finding.file)}}
        if check_finding.line:
            place["region"] = {"startLine": check_finding.line, "startColumn": check_finding.column}
        result["physicalLocation"] = place
    return result


def _uri(path: str) -> str:
    """Source: section 3.4.3: a relative reference, with ``/`` between its parts."""
    return quote(path.replace("\\", "/").encode("utf-8", "surrogateescape"), safe="/")
