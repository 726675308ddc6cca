"""Comparing, altering and reading amounts, on answers made up for it; and the runner on recordings made up for it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pytest
from conformance.alter import alterations
from conformance.cases import OWN
from conformance.compare import amount, differences, faults

ANSWER = {"allowed": False, "message": "no", "causes": [{"field": "f", "message": "m"}], "quotas": {"q": {"cpu": "1"}}}
KEYS = ("allowed", "message", "causes", "quotas", "warnings")


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("500m", Fraction(1, 2)),
        ("0.5", Fraction(1, 2)),
        (".5", Fraction(1, 2)),
        ("1.", 1),
        ("1Ki", 1024),
        ("1.5Gi", 3 * 2**29),
        ("2E", 2 * 10**18),
        ("2E3", 2000),
        ("-1e-3", Fraction(-1, 1000)),
        ("7n", Fraction(7, 10**9)),
        ("3u", Fraction(3, 10**6)),
        ("1k", 1000),
        ("1K", None),
        ("x", None),
        ("", None),
        (1, None),
        (None, None),
    ],
)
def test_amount(text, number):
    assert amount(text) == number


@pytest.mark.parametrize(
    ("outcome", "different"),
    [
        (ANSWER, []),
        ({**ANSWER, "text": "not compared"}, []),
        ({**ANSWER, "causes": ({"field": "f", "message": "m"},)}, []),
        ({**ANSWER, "allowed": 0}, ["allowed: recorded False, computed 0"]),
        ({**ANSWER, "causes": []}, ["causes.0: recorded {'field': 'f', 'message': 'm'}, computed absent"]),
        ({**ANSWER, "warnings": ["w"]}, ["warnings: recorded absent, computed ['w']"]),
        ({**ANSWER, "quotas": {"q": {"cpu": "1000m"}}}, ["quotas.q.cpu: recorded '1', computed '1000m'"]),
        ({**ANSWER, "message": "no\nmore"}, ["message: recorded 'no', computed 'no\\nmore'"]),
    ],
)
def test_differences(outcome, different):
    assert differences(ANSWER, [outcome], KEYS) == different
    assert differences(ANSWER, [{}, outcome, {"allowed": True}], KEYS) == different


def test_what_may_differ_does_not_matter():
    loose = differences(ANSWER, [{**ANSWER, "quotas": {"q": {"cpu": "1000m"}}}], KEYS, loose=lambda path: "q" in path)
    other = differences(ANSWER, [{**ANSWER, "quotas": {"q": {"cpu": "1001m"}}}], KEYS, loose=lambda path: "q" in path)
    assert (loose, len(other)) == ([], 1)
    assert differences(ANSWER, [{**ANSWER, "warnings": ["w"]}], KEYS, optional=["warnings"]) == []
    assert differences({**ANSWER, "firstLine": True}, [{**ANSWER, "message": "no\nmore"}], KEYS) == []
    assert differences(ANSWER, [], KEYS)


@pytest.mark.parametrize(
    ("answers", "outcomes", "complete", "count"),
    [
        ("a", "a", True, 0),
        ("ab", "ba", True, 0),
        ("a", "ab", False, 0),
        ("a", "ab", True, 1),
        ("ab", "a", False, 1),
        ("ab", "cd", True, 4),
        ("a", "", True, 1),
    ],
)
def test_sets_of_answers(answers, outcomes, complete, count):
    sets = ([{"message": letter} for letter in letters] for letters in (answers, outcomes))
    assert len(faults(*sets, ["message"], complete=complete)) == count


def test_alterations_differ_from_the_value_and_leave_it_alone():
    value = {"text": "a", "flag": True, "number": 1, "none": None, "empty": {}, "list": [{"deep": "b"}, []]}
    before = json.dumps(value)
    altered = [json.dumps(copy) for copy in alterations(value)]
    assert json.dumps(value) == before
    assert before not in altered
    assert len(set(altered)) == len(altered) == 16
    with pytest.raises(TypeError, match="no JSON value"):
        next(alterations(1.5))


def run(vectors: Path) -> subprocess.CompletedProcess[str]:
    """Run the recorded cases of another folder."""
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/conformance/test_recorded.py"],
        cwd=OWN.parents[1],
        env={**os.environ, "KRES_VECTORS": str(vectors)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def pod(name: str, code: int, operation: str = "CREATE") -> dict:
    """A recorded case: a pod without resources."""
    spec = {"containers": [{"name": "c"}]}
    request = {
        "kind": "Pod",
        "apiVersion": "v1",
        "metadata": {"name": "p"},
        "spec": {"containers": [{"name": "c", "image": "i"}]},
    }
    stored = {"metadata": {"name": "p"}, "spec": spec, "status": {"qosClass": "BestEffort"}}
    return {
        "name": name,
        "request": {"operation": operation, "object": request},
        "expect": {"allowed": True, "code": code, "object": stored},
    }


@pytest.mark.thorough
def test_another_folder(tmp_path: Path):
    recording = {"server": {"version": "v1.36.3", "featureGates": {}}}
    recording["cases"] = [pod("right", 201), pod("wrong", 418), pod("patched", 200, "PATCH")]
    (tmp_path / "admission").mkdir()
    (tmp_path / "admission" / "mine.json").write_text(json.dumps(recording))
    result = run(tmp_path)
    assert result.returncode == 1
    assert "code: recorded 418, computed 201" in result.stdout
    assert "admission: compared are allowed, code," in result.stdout
    assert "mine       1                1       1" in result.stdout
    (tmp_path / "admission" / "mine.json").unlink()
    assert run(tmp_path).returncode == 0
    missing = run(tmp_path / "nowhere")
    assert missing.returncode != 0
    assert "is no folder" in missing.stdout
