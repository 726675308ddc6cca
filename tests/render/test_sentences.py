"""Sentences are values in reports, and words everywhere else."""

from __future__ import annotations

from importlib import import_module

import pytest

from kubectl_kres.cli.commands.schema import ANSWERS, schema
from kubectl_kres.record import Sentence
from kubectl_kres.render.text import data, sentences
from kubectl_kres.render.verdict.note import brief_refusers
from kubectl_kres.reports.common.explanation import LimitedResources, Note, Refuser, SuspectFigure
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


@pytest.mark.parametrize(
    ("refuser", "forms"),
    [
        (Refuser("limitrange/max"), ("a LimitRange", "a LimitRange", "a LimitRange")),
        (Refuser("quota/exceeded", "team"), ("quota team", "quota team", "a quota")),
        (
            Refuser("quota/status-unknown", "team"),
            ("quota team, which is not counted yet", "quota team", "a quota"),
        ),
        (
            Refuser("quota/limited-resource", cause=LimitedResources(resources=("cpu",))),
            (
                "the API server, which takes such pods only under a quota that names cpu",
                "the API server",
                "the API server",
            ),
        ),
        (Refuser("webhook/denied", "a.b"), ("webhook a.b", "webhook a.b", "a webhook")),
        (
            Refuser("pod-security/violated", "baseline:latest"),
            ('Pod Security "baseline:latest"', 'Pod Security "baseline:latest"', "Pod Security"),
        ),
        (Refuser("seen/refused"), ("the API server", "the API server", "the API server")),
        (
            Refuser("seen/claim-refused"),
            (*["the refusal of its PersistentVolumeClaim"] * 2, "the refusal of its claim"),
        ),
    ],
)
def test_who_refuses_is_said_whole_in_few_words_too(refuser: Refuser, forms: tuple[str, ...]):
    assert brief_refusers(refuser) == forms
