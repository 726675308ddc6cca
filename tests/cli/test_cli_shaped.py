"""``-o jsonpath=…`` and ``-o custom-columns=…``: the document of ``-o json`` in another form, of each command."""

from __future__ import annotations

import json

import pytest
from cli.running import Kres


def test_a_list(kres: Kres):
    found = kres(
        "explain --demo deployments -n checkout", "-o", "custom-columns=NAME:.subject.name,IS:.verdict.outcome"
    )
    lines = found.out.splitlines()
    assert (found.code, lines[0].split()) == (0, ["NAME", "IS"])
    assert ["checkout", "refused"] in [line.split() for line in lines[1:]]
    items = json.loads(kres("explain --demo deployments -n checkout -o json").out)["items"]
    assert len(lines) == 1 + len(items)


@pytest.mark.parametrize(
    ("words", "template", "text"),
    [
        ("explain --demo deploy/checkout -n checkout", "{.items[0].verdict.outcome}", "refused"),
        ("quota --demo team -n checkout", "{.items[0].uses[?(@.name=='requests.memory')].hard}", "3Gi"),
        ("claims --demo -n ml-training", '{range .items[*]}{.subject.name}{"\\n"}{end}', "sweep\nnightly\n"),
        ("qos --demo deploy/checkout -n checkout", "{.kind} {.items[*].qos.name}", "Qos Burstable"),
        ("version --client", "{.clientVersion.rules.newest}", "1.37"),
    ],
)
def test_templates(kres: Kres, words: str, template: str, text: str):
    assert kres(words, "-o", f"jsonpath={template}")[:2] == (0, text)


def test_exit_codes_stay(kres: Kres):
    words = "explain --demo deploy/checkout -n checkout --exit-code"
    assert kres(words, "-o", "jsonpath={.kind}").code == 1
    code, out, err = kres("explain --demo deploy/none -n checkout", "-o", "jsonpath={.kind}")
    assert (code, out) == (3, "") and "not found" in err


@pytest.mark.parametrize(
    ("form", "why"),
    [
        ("jsonpath={.items[*", "error parsing jsonpath {.items[*: unclosed action"),
        ("custom-columns=NAME", "unexpected custom-columns spec: NAME"),
        ("custom-columns=", "no custom columns given"),
        ("jsonpat={.a}", 'for the output format "jsonpat={.a}", allowed formats are: brief,custom-columns,'),
        ("go-template={{.a}}", "unable to match a printer"),
    ],
)
def test_what_cannot_be_read(kres: Kres, form: str, why: str):
    code, out, err = kres("explain --demo deployments", "-o", form)
    assert (code, out) == (2, "")
    assert why in err
