"""Commands that are proposed ask the server that was asked, as the user who asked."""

from __future__ import annotations

import shlex

import pytest

from kubectl_kres.cli.args.flags import access_flags, same_source
from kubectl_kres.cli.args.options import ACCESS, CONNECTION, Options
from kubectl_kres.render.text.sentences import sentence_text
from kubectl_kres.reports.remedies.commands import add_access_flags
from kubectl_kres.reports.remedies.refusal_fixes import ByHand, MakeNamespace
from kubectl_kres.store.store import Origin

#: Flags of a connection that choose neither server nor user; of a token only that there is one is shown.
ELSEWHERE = {"namespaces", "disable_compression", "kuberc", "token"}
WHOLE = [
    (flag.opts[-1], flag.name, "" if flag.is_flag else "it's")
    for flag in (*ACCESS, *CONNECTION)
    if flag.name not in ELSEWHERE
]


@pytest.mark.parametrize(("flag", "field", "value"), WHOLE)
def test_every_flag_that_chooses_server_or_user_is_handed_on(flag: str, field: str, value: str):
    held = Options._field_defaults[field]
    options = Options(**{field: (value, "b") if isinstance(held, tuple) else value or True})
    values = [value, "b"] if isinstance(held, tuple) else [value]
    assert shlex.split(access_flags(options)) == [word for one in values for word in (flag, one) if word]
    assert same_source(options) == access_flags(options)
    assert same_source(options._replace(demo=True)) == "--demo"


def test_a_token_is_not_shown_but_called_for():
    options = Options(context="prod", token="secret", filenames=("a b", "c"), recursive=True)
    assert same_source(options) == "-f 'a b' -f c -R --context prod --token ..."


def test_commands_within_sentences_are_directed_too():
    texts = (
        MakeNamespace("shop"),
        ByHand("priority/unknown-class"),
        "write a kind that the server has (kubectl api-resources lists them)",
        "ask for less (of cpu)",
    )
    assert add_access_flags(Origin("demo"), texts) == texts
    first, class_missing, second, third = add_access_flags(Origin("cluster", flags="--context lab --as eve"), texts)
    assert "(kubectl create namespace shop --context lab --as eve), or" in sentence_text(first)
    assert "(kubectl get priorityclasses --context lab --as eve), or" in sentence_text(class_missing)
    assert second.endswith("(kubectl api-resources --context lab --as eve lists them)")
    assert third == texts[3]
