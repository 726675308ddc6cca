"""Every rule that a journal or a refusal can name is in the catalogue."""

from __future__ import annotations

import ast
import contextlib
import functools
from collections.abc import Iterator

import pytest
from architecture.modules import trees
from conformance.cases import OWN, SYSTEMS, cases
from conformance.systems import Uncovered, system

from kubectl_kres.admission.base.outcome import Finding
from kubectl_kres.provenance.journal import Assumption, Check, Derive, Set
from kubectl_kres.provenance.rules import RULES

#: What takes the rule as its second argument.
_ENTRIES = {entry.__name__ for entry in (Set, Derive, Check, Assumption, Finding)}


def _codes(tree: ast.AST) -> Iterator[str]:
    """Literals passed as ``rule=``, or as the second argument of an entry; a class of the module's own is none."""
    entries = _ENTRIES - {node.name for node in ast.walk(tree) if isinstance(node, ast.ClassDef)}
    for call in ast.walk(tree):
        if not isinstance(call, ast.Call):
            continue
        name = call.func.id if isinstance(call.func, ast.Name) else getattr(call.func, "attr", "")
        passed = [keyword.value for keyword in call.keywords if keyword.arg == "rule"]
        passed += call.args[1:2] if name in entries else []
        for value in passed:
            constants = (part.value for part in ast.walk(value) if isinstance(part, ast.Constant))
            yield from (part for part in constants if isinstance(part, str))


@functools.cache
def _met() -> frozenset[str]:
    """The rules that the outcomes of all recorded cases name."""
    met: set[str] = set()
    for name in SYSTEMS:
        for case in cases(name, OWN) if system(name) else ():
            with contextlib.suppress(Uncovered):
                met.update(system(name).rules(case.data, case.file))
    return frozenset(met)


def test_rules_in_the_source_are_in_the_catalogue():
    used = {(name, code) for name, tree in trees().items() for code in _codes(tree)}
    assert used
    assert {(name, code) for name, code in used if code not in RULES} == set()


@pytest.mark.thorough
def test_rules_that_recorded_cases_meet_are_in_the_catalogue():
    assert _met()
    assert _met() - set(RULES) == set()


def test_the_catalogue_has_no_rule_that_nothing_names():
    literals = {
        node.value
        for name, tree in trees().items()
        if name != "kubectl_kres/provenance/rules.py" and not name.endswith("/catalogue.py")
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    assert set(RULES) - literals - _met() == set()
