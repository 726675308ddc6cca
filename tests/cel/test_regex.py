"""Patterns against Go. ``go_patterns.json`` was printed by Go 1.26.8: the error of Compile, or where FindAllStringIndex
finds matches, in characters.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from cli.running import Kres

from kubectl_kres.policies.cel.base.values import NotComputed
from kubectl_kres.policies.cel.libraries import regex
from kubectl_kres.policies.cel.libraries.regex import BadPattern, compile_pattern

ROWS = json.loads((Path(__file__).parent / "go_patterns.json").read_text("utf-8"))
#: Where RE2 answers otherwise than Go, so that no answer is given.
INSIDE = "a pattern with \\B and a text that is not ASCII"


def _answer(row: dict[str, Any]) -> dict[str, Any]:
    try:
        compiled = compile_pattern(row["pattern"])
    except BadPattern as error:
        return {"pattern": row["pattern"], "error": str(error)}
    matches = {text: list(_spans(compiled, text)) for text in row.get("matches", ())}
    return {"pattern": row["pattern"], "matches": matches}


def _spans(compiled: regex.Pattern, text: str) -> Iterator[list[int] | str]:
    try:
        yield from map(list, compiled.spans(text))
    except NotComputed as gap:
        yield str(gap)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["pattern"][:30])
def test_as_go_matches_and_refuses(row: dict[str, Any]) -> None:
    answer = _answer(row)
    for text, spans in answer.get("matches", {}).items():
        if spans == [INSIDE]:
            assert "\\B" in row["pattern"] and not text.isascii()
            row["matches"][text] = spans
    assert answer == row


def test_both_are_recorded() -> None:
    errors = sum("error" in row for row in ROWS)
    assert min(errors, len(ROWS) - errors) > 200


@pytest.mark.parametrize(
    ("pattern", "gap"),
    [
        (r"\p{Letter}", "a pattern with the class Letter, which not every server's Go knows"),
        (r"[a\p{greek}]", "a pattern with the class greek, which not every server's Go knows"),
        (r"\P{^Old_Italic}", "a pattern with the class Old_Italic, which not every server's Go knows"),
        ("(" * 300 + "a" + ")" * 300, "a pattern that nests too deeply"),
        (r"(\pL{1000}){1}" * 20, "a pattern that is too large"),
    ],
)
def test_what_depends_on_the_server_is_not_computed(pattern: str, gap: str) -> None:
    with pytest.raises(NotComputed) as caught:
        compile_pattern(pattern)
    assert str(caught.value) == gap


def test_half_a_pair_of_surrogates_is_the_character_that_go_reads() -> None:
    assert list(compile_pattern("\ufffd.").spans("a\ud800b")) == [(1, 3)]


def test_an_empty_match_is_none_at_the_end_of_another() -> None:
    assert list(compile_pattern("a*").spans("baac")) == [(0, 0), (1, 3), (4, 4)]


POLICY = """
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: letters}
spec:
  matchConstraints:
    resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods]}]
  validations: [{expression: "object.metadata.name.matches('^[\\\\\\\\p{L}-]+$')", message: letters only}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: letters}
spec: {policyName: letters, validationActions: [Deny]}
---
apiVersion: v1
kind: Pod
metadata: {name: NAME}
spec: {containers: [{name: c, image: i}]}
"""


@pytest.fixture
def asked(kres: Kres, tmp_path: Path) -> Any:
    """The answer about a pod of a name, under a policy with a class of Unicode."""

    def ask(name: str) -> str:
        path = tmp_path / "policy.yaml"
        path.write_text(POLICY.replace("NAME", name))
        answer = kres(f"explain -f {path} --offline")
        return " ".join(f"{answer.out} {answer.err}".split())

    return ask


def test_a_policy_with_a_class_of_unicode(asked: Any) -> None:
    """As 1.37.2 answers: 201 for the first, for the second 422 with these words."""
    assert asked("plum").startswith("admitted: default/Pod/plum")
    assert "denied request: letters only" in asked("plum9")


def test_without_the_library_the_policy_is_not_computed(asked: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    regex._re2.cache_clear()
    compile_pattern.cache_clear()
    monkeypatch.setitem(sys.modules, "re2", None)
    try:
        answer = asked("plum9")
    finally:
        regex._re2.cache_clear()
    assert "needs google-re2 (pip install google-re2)" in answer
    assert "letters only" not in answer
