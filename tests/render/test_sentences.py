"""Sentences are values in reports, and words everywhere else."""

from __future__ import annotations

from importlib import import_module

import pytest

from kubectl_kres.cli.commands.schema import ANSWERS, schema
from kubectl_kres.record import Sentence
from kubectl_kres.render.text import data, sentences
from kubectl_kres.reports.common.explanation import Note, SuspectFigure
from kubectl_kres.reports.common.replicas import IdleReason

SUSPECT = SuspectFigure(("requests.cpu",), "container app", "100", 100, "CPU", "100m")
DOUBT = "look at requests.cpu of container app: 100 is 100 CPUs; did you mean 100m?"


def kinds(base: type[Sentence] = Sentence) -> set[type[Sentence]]:
    return {kind for one in base.__subclasses__() for kind in (one, *kinds(one))}


@pytest.mark.parametrize("command", ANSWERS)
def test_a_schema_has_texts_for_sentences(command: str):
    text = str(schema(command))
    assert "**" not in text and "SuspectFigure" not in text


def test_each_kind_has_words():
    for name in sentences.worded_modules():
        import_module(name)
    said = {kind for kind in kinds() if not kind.__subclasses__()}
    assert len(said) > 80
    for kind in said:
        assert kind in sentences.words_of(kind.__module__), kind


@pytest.mark.parametrize(
    ("note", "text"),
    [
        (Note(nothing=True), "nothing to change"),
        (Note(nothing=True, idle=IdleReason("none-wanted")), "nothing to change: it wants no pods at present"),
        (
            Note(nothing=True, suspects=(SUSPECT,)),
            f"nothing to change for admission, but {DOUBT}",
        ),
        (Note(idle=IdleReason("complete"), next="b"), "the job is complete and makes no more pods; b"),
    ],
)
def test_a_document_has_the_words(note: Note, text: str):
    assert data.to_plain({"note": note}) == {"note": text}
    assert data.to_json_bytes([note]) == f'["{text}"]'.encode()
