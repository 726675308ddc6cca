"""What the webhook of the vertical autoscaler made of pods before a real API server is what admission predicts."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from admission.recorded_pods import answer_of, outcomes_of

from kubectl_kres.admission.base.server import Server
from kubectl_kres.admission.base.versions import parse
from kubectl_kres.provenance.journal import Assumption, Entry, Set

_RECORDED = json.loads((Path(__file__).parent / "recorded.json").read_text())
_CASES: Mapping[str, Any] = {case["name"]: case for case in _RECORDED["cases"]}
_LEAST = 300
#: Of the version that answered.
SERVER = Server(parse(_RECORDED["server"]["version"]))


@pytest.mark.parametrize("name", _CASES)
def test_recorded_answer_is_predicted(name: str) -> None:
    """Of several refusals any can be the one that was recorded."""
    case = _CASES[name]
    answers = [answer_of(outcome) for outcome in outcomes_of(case, SERVER)]
    expect = {key: value for key, value in case["expect"].items() if key != "updates"}
    assert sorted_parts(expect) in map(sorted_parts, answers)


@pytest.mark.parametrize("name", _CASES)
def test_every_set_value_names_its_source(name: str) -> None:
    """What was set has a field of the autoscaler or of a LimitRange; the webhook noted down that it set something."""
    case = _CASES[name]
    outcome = outcomes_of(case, SERVER)[0]
    sets = [entry for entry in outcome.journal if isinstance(entry, Set) and entry.rule.startswith("vpa/")]
    assert all(entry.source is not None and entry.source.field for entry in sets)
    assert not sets or case["expect"].get("updates", "not stored")


def test_worlds_are_many_and_differ() -> None:
    assert len(_CASES) >= _LEAST
    rules = Counter(
        entry.rule
        for case in _CASES.values()
        for entry in outcomes_of(case, SERVER)[0].journal
        if isinstance(entry, Set) and entry.rule.startswith("vpa/")
    )
    assert {rule: count for rule, count in rules.items() if count < 5} == {}
    assert len(rules) == 10
    faults = [entry for case in _CASES.values() for entry in outcomes_of(case, SERVER)[0].journal if _is_fault(entry)]
    assert len(faults) >= 10
    assert {case["expect"]["code"] for case in _CASES.values()} == {201, 403, 422}


def _is_fault(entry: Entry) -> bool:
    return isinstance(entry, Assumption) and entry.code == "vpa/fault"


def sorted_parts(answer: Mapping[str, Any]) -> dict[str, Any]:
    """With the parts of a bracketed list sorted: the API server lists them in any order."""
    head, bracket, inside = answer.get("message", "").partition("[")
    if not bracket:
        return dict(answer)
    parts = re.split(r", (?=[a-z]+)", inside.removesuffix("]"))
    return {**answer, "message": f"{head}[{', '.join(sorted(parts))}]"}
