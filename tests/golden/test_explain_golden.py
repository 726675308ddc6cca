"""Whole answers to twelve situations, byte for byte; KRES_GOLDEN=write rewrites them, to be read in review."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from golden.kept import compare
from golden.situation import SITUATIONS, Situation, load

from kubectl_kres.render.pod import diff as diff_text
from kubectl_kres.render.pod import explain as explain_text
from kubectl_kres.render.text import data
from kubectl_kres.render.text.line import size
from kubectl_kres.reports.explain.difference import diff
from kubectl_kres.reports.explain.explain import explain
from kubectl_kres.reports.pod.verdict import OUTCOMES

GOLDEN = Path(__file__).parent / "explain"
#: Of the short page; everything else is drawn for the first of them.
WIDTHS = (80, 120, 200)
WIDTH = WIDTHS[0]
#: Lines of the short page at ``WIDTH``, at most.
LENGTH = 25

#: A line that may be longer: the server's own sentence, its annotation, a path with nothing to break it at.
VERDICT = re.compile("# (refused|depends)")
ANNOTATION = re.compile(r"[ +-] *kubernetes\.io/limit-ranger: ")
UNBREAKABLE = re.compile(r"[ +-]? *(#? *)\S+| *kubectl .*")


def outputs(situation: Situation) -> Iterator[tuple[str, str]]:
    """Ending of the file name, and the output."""
    store, subject, ask, steps = situation
    explanation = explain(store, subject, ask)
    yield "all.txt", ended(explain_text.lines(explanation, whole=True, now=ask.now))
    for width in WIDTHS:
        yield f"{width}.txt", ended(explain_text.lines(explanation, now=ask.now, width=width))
    if steps:
        yield "steps.txt", ended(explain_text.lines(explanation, steps=True, now=ask.now))
    difference = diff(store, subject, ask)
    yield "diff", ended(diff_text.lines(difference))
    yield "json", data.to_json(data.document("Explanation", [explanation], store.origin, complete=True)) + "\n"


def ended(lines: Iterator[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


CASES = [
    pytest.param(GOLDEN / f"{name}.{ending}", text, id=f"{name}.{ending}")
    for name in SITUATIONS
    for ending, text in outputs(load(name))
]


@pytest.mark.parametrize(("file", "text"), CASES)
def test_the_answer_is_the_golden_one(file: Path, text: str):
    compare(file, text)


def test_there_are_no_other_golden_files():
    assert {path.name for path in GOLDEN.iterdir()} == {case.values[0].name for case in CASES}


@pytest.mark.parametrize(
    ("file", "text"),
    [
        case
        for case in CASES
        if case.values[0].suffix != ".json" and "200" not in case.values[0].name and "120" not in case.values[0].name
    ],
)
def test_no_line_of_ours_is_too_wide(file: Path, text: str):
    long = [
        line
        for line in text.splitlines()
        if size(line) > WIDTH and not any(kind.match(line) for kind in (VERDICT, ANNOTATION))
    ]
    assert [line for line in long if not UNBREAKABLE.fullmatch(line)] == []


@pytest.mark.parametrize("name", SITUATIONS)
def test_the_verdict_comes_first_and_the_remedy_second(name: str):
    store, subject, ask, _ = load(name)
    explanation = explain(store, subject, ask)
    first, *lines = explain_text.lines(explanation, now=ask.now)
    assert re.match(
        rf"({'|'.join(OUTCOMES)})( as far as seen)?(, (but )?(waits|fails|starting|off))?(, \d+ reasons)?: ", first
    )
    if explanation.fixes:
        rest = [line for line in lines if line and not line.startswith("  ")]
        assert rest[0].startswith("fix ")


@pytest.mark.parametrize("name", SITUATIONS)
def test_the_short_page_fits_a_screen(name: str):
    store, subject, ask, _ = load(name)
    assert len([*explain_text.lines(explain(store, subject, ask), now=ask.now)]) <= LENGTH
