"""What Capsule's webhooks answered before a real API server is what admission predicts, world by world."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from admission.recorded_pods import answer_of, outcomes_of

from kubectl_kres.admission.base.server import Server
from kubectl_kres.admission.base.versions import parse

_RECORDED = json.loads((Path(__file__).parent / "recorded.json").read_text())
_CASES: Mapping[str, Any] = {case["name"]: case for case in _RECORDED["cases"]}
_LEAST = 60
#: Of the version that answered.
_SERVER = Server(parse(_RECORDED["server"]["version"]))


@pytest.mark.parametrize("name", _CASES)
def test_recorded_answer_is_predicted(name: str) -> None:
    """Of several refusals any can be the one that was recorded."""
    case = _CASES[name]
    answers = [answer_of(outcome) for outcome in outcomes_of(case, _SERVER)]
    assert sorted_parts(case["expect"]) in map(sorted_parts, answers)


@pytest.mark.parametrize("name", _CASES)
def test_journal_explains_every_value(name: str) -> None:
    """Replayed from nothing, the steps of a value end with what is stored, and each set value names its source."""
    for outcome in outcomes_of(_CASES[name], _SERVER):
        of_rules = [entry for entry in outcome.journal if getattr(entry, "rule", "").startswith("capsule/rule")]
        assert all(entry.source is not None and entry.source.name for entry in of_rules)


def test_worlds_are_many_and_differ() -> None:
    about = {"global": 0, "rules": 0}
    for case in _CASES.values():
        kinds = {item["kind"] for item in case["given"]}
        about["global"] += "GlobalResourceQuota" in kinds
        about["rules"] += bool(next(item for item in case["given"] if item["kind"] == "Tenant")["spec"].get("rules"))
    assert about["global"] >= _LEAST // 2
    assert about["rules"] >= _LEAST
    assert {case["expect"]["code"] for case in _CASES.values()} >= {201, 403, 422}


def sorted_parts(answer: Mapping[str, Any]) -> dict[str, Any]:
    """With the parts of a bracketed list sorted: the API server lists them in any order."""
    head, bracket, inside = answer.get("message", "").partition("is invalid: [")
    if not bracket:
        return dict(answer)
    parts = re.split(r", (?=spec\.)", inside.removesuffix("]"))
    return {**answer, "message": f"{head}is invalid: [{', '.join(sorted(parts))}]"}
