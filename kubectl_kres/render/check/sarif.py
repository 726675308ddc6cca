"""Findings as SARIF 2.1.0, which code hosts show beside the lines of a manifest.

Source: OASIS SARIF 2.1.0, sections 3.14 run, 3.27 result, 3.35 suppression, 3.49 reportingDescriptor.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any, Final
from urllib.parse import quote

from kubectl_kres import __version__
from kubectl_kres.render.text.escape import plain
from kubectl_kres.reports.check.finding import CheckFinding
from kubectl_kres.reports.check.registry import RULES

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_INDEX: Final = {rule.code: place for place, rule in enumerate(RULES)}


def document(found: Sequence[CheckFinding], *, complete: bool) -> dict[str, Any]:
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
                "results": [_result(one) for one in found],
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


def _result(one: CheckFinding) -> dict[str, Any]:
    key = hashlib.sha256("\0".join(one.key).encode("utf-8", "surrogatepass")).hexdigest()
    result: dict[str, Any] = {
        "ruleId": one.code,
        "ruleIndex": _INDEX[one.code],
        "level": one.severity,
        "message": {"text": plain(f"{one.object.full}: {one.message}; do: {one.remedy}")},
        "locations": [_location(one)],
        "partialFingerprints": {"kres/v1": key},
    }
    if one.ignored:
        result["suppressions"] = [{"kind": "inSource", "justification": plain(one.ignored)}]
    if one.known:
        result["baselineState"] = "unchanged"
    return result


def _location(one: CheckFinding) -> Mapping[str, Any]:
    found: dict[str, Any] = {
        "logicalLocations": [{"fullyQualifiedName": plain(one.object.full), "kind": "resource"}],
    }
    if one.file:
        place: dict[str, Any] = {"artifactLocation": {"uri": _uri(one.file)}}
        if one.line:
            place["region"] = {"startLine": one.line, "startColumn": one.column}
        found["physicalLocation"] = place
    return found


def _uri(path: str) -> str:
    """Source: section 3.4.3: a relative reference, with ``/`` between its parts."""
    return quote(path.replace("\\", "/").encode("utf-8", "surrogateescape"), safe="/")
