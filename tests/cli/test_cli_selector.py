"""Selectors where no server applies them mean what they mean to a server."""

from __future__ import annotations

import pytest

from kubectl_kres.cli.args.arguments import fields_match, labels_match
from kubectl_kres.errors import UsageError
from kubectl_kres.model.objects import Metadata
from kubectl_kres.model.pod import Pod, PodSpec, PodStatus

LABELS = {"app": "web", "tier": "front", "example.com/size": "12", "empty": ""}


@pytest.mark.parametrize(
    ("selector", "fits"),
    [
        ("", True),
        (" ", True),
        ("app", True),
        ("!app", False),
        ("! nope", True),
        ("app=web", True),
        ("app == web", True),
        ("app=db", False),
        ("nope=", False),
        ("empty=", True),
        ("app!=web", False),
        ("nope!=web", True),
        ("app=web,tier=front", True),
        ("app=web , tier=back", False),
        ("app in (web, db)", True),
        ("app in (db)", False),
        ("nope in (a)", False),
        ("app notin (web)", False),
        ("nope notin (a)", True),
        ("app in (web,db),tier notin (back),!old", True),
        ("empty in (a,)", True),
        ("example.com/size>11", True),
        ("example.com/size<12", False),
        ("app>1", False),
        ("nope<1", False),
    ],
)
def test_labels(selector: str, fits: bool):
    assert labels_match(selector)(LABELS) is fits


@pytest.mark.parametrize(
    "selector",
    [
        ",",
        "a,",
        ",a",
        "a,,b",
        "=web",
        "app=we b",
        "app in web",
        "app in (a",
        "app!",
        "a==b==c",
        "a>x",
        "(a)",
        "a in (b) c",
    ],
)
def test_texts_that_are_no_label_selectors(selector: str):
    with pytest.raises(UsageError, match="invalid selector"):
        labels_match(selector)


POD = Pod(Metadata(name="web", namespace="shop"), PodSpec(node_name="n1"), PodStatus(phase="Running"))


@pytest.mark.parametrize(
    ("selector", "fits"),
    [
        ("", True),
        ("status.phase=Running", True),
        ("status.phase!=Running", False),
        ("metadata.name==web,spec.nodeName=n1", True),
        ("metadata.name=web,metadata.namespace!=shop", False),
        ("spec.nodeName=", False),
    ],
)
def test_fields(selector: str, fits: bool):
    assert fields_match(selector, "Pod")(POD) is fits


@pytest.mark.parametrize(
    ("selector", "message"),
    [
        ("zz=1", "field label not supported: zz"),
        ("spec.replicas=1", "field label not supported: spec.replicas"),
        ("status.phase", "can't understand 'status.phase'"),
        ("a=b,", "a requirement is empty"),
    ],
)
def test_texts_that_are_no_field_selectors(selector: str, message: str):
    with pytest.raises(UsageError, match=message):
        fields_match(selector, "Pod")
