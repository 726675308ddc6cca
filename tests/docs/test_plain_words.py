"""Help, golden files and docs use plain words: phrases that readers stumbled over do not come back."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

#: Phrase to the words that are used instead; docs/glossary.md explains those.
BANNED = {
    r"pod in all\b(?! namespaces)": "pod total",
    r"\bat odds\b": "conflicts",
    r"left to chance": "depends on LimitRange order",
    r"one of several, by chance": "one of several: depends on LimitRange order",
    r"closed (by|behind) (an )?earlier claims?": "blocked by earlier claims in the queue",
    r"earlier claims want": "blocked by earlier claims for",
    r"pods? (do|does) not come": "no pods are created, new pods are refused",
    r"pods come later": "controllers retry with back-off; new pods can take minutes",
    r"but looks at it only then": "re-evaluates a claim only when its spec changes",
    r"\bmend what\b": "fix",
    r"perhaps [^.\n]* is meant": "did you mean ...?",
    r"\bin thought\b": "runs its own copy of",
    r"is no fault, nor": "is not an error",
    r"\bsupposed of\b": "assumed about",
    r"is nothing that this answer tells": "does not apply to this answer",
    r"Without it there is no answer": "kres cannot answer without it",
    r"holds still": "does not change",
    r"\bfor ever\b": "forever",
    r"would have to give way": "would have to go",
    r"what is odd": "what is wrong",
    r"whom (it|do|does) ": "which workloads",
    r"held against recordings": "compared with recordings",
    r"\blet(s|ting)? (it|one|them|each) in\b": "unblock it, get it admitted",
    r"\bno pods come\b": "no pods are created",
    r"\bin all[.,:;]": "in total, in all namespaces",
}

PAGES = [
    *sorted((ROOT / "docs").glob("*.md")),
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md")),
]
GOLDEN = [path for path in sorted((ROOT / "tests" / "golden").rglob("*")) if path.suffix in {".txt", ".md"}]


@pytest.mark.parametrize("path", [*PAGES, *GOLDEN], ids=lambda path: path.relative_to(ROOT).as_posix())
def test_no_page_has_a_phrase_that_readers_stumbled_over(path: Path):
    text = " ".join(path.read_text(encoding="utf-8").split())
    found = {phrase: plain for phrase, plain in BANNED.items() if re.search(phrase, text)}
    assert found == {}


def test_no_module_has_a_phrase_that_readers_stumbled_over():
    """Neither its sentences nor its docstrings; lines are joined, as a phrase may be cut by a line's end."""
    stumbled = [
        (path.relative_to(ROOT).as_posix(), phrase, plain)
        for path in sorted((ROOT / "kubectl_kres").rglob("*.py"))
        for text in [" ".join(path.read_text(encoding="utf-8").split())]
        for phrase, plain in BANNED.items()
        if re.search(phrase, text)
    ]
    assert stumbled == []


def test_the_glossary_is_short_and_says_each_word_once():
    rows = [line for line in (ROOT / "docs" / "glossary.md").read_text().splitlines() if line.startswith("| ")]
    words = [row.split("|")[1].strip() for row in rows[1:]]
    assert 30 <= len(words) <= 55
    assert len(words) == len(set(words))
