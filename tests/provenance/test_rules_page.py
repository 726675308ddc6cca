"""docs/rules.md is what scripts/rules_doc.py makes of the catalogue, and each code can be linked to."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

from kubectl_kres.provenance.rules import RULES

ROOT = Path(__file__).parents[2]
_spec = importlib.util.spec_from_file_location("rules_doc", ROOT / "scripts" / "rules_doc.py")
rules_doc = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(rules_doc)


def test_the_page_is_up_to_date():
    assert rules_doc.PAGE.read_text() == rules_doc.page(), "run scripts/rules_doc.py"


def test_each_code_has_one_heading_with_an_anchor_of_its_own():
    headings = re.findall("^### (.*)$", rules_doc.page(), re.MULTILINE)
    assert sorted(headings) == sorted(RULES)
    assert len({rules_doc.anchor(code) for code in headings}) == len(headings)
    assert rules_doc.anchor("limitrange/default") == "limitrangedefault"
    assert rules_doc.anchor("pod-level/claims") == "pod-levelclaims"


def test_titles_are_sentences():
    assert [code for code, rule in RULES.items() if not re.fullmatch(r"[A-Z=a-z].*\.", rule.title)] == []
    assert [code for code in RULES if not re.fullmatch(r"[a-z-]+/[a-z-]+", code)] == []
