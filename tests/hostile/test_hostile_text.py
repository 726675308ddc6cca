"""Text that means harm, in every field that takes free text: escapes, markup, bidi, wide, combining, endless."""

from __future__ import annotations

import functools
import json
import re
import unicodedata
from typing import Any

import pytest
import yaml
from reports.outlined import outline_of
from reports.stored import event, made, owned_by, store_of, subject, template

from kubectl_kres.render.pod import diff as diff_text
from kubectl_kres.render.pod import explain as explain_text
from kubectl_kres.render.text import data
from kubectl_kres.render.text.line import size
from kubectl_kres.render.verdict import object_list
from kubectl_kres.reports.common.explanation import EvaluationOptions
from kubectl_kres.reports.explain.difference import diff
from kubectl_kres.reports.explain.explain import explain
from kubectl_kres.store.store import Coverage, ReadRequest

HOSTILE = {
    "escape": "\x1b[2J\x1b[31mred\x1b[0m\x1b]0;title\x07",
    "c1": "\x9b2J\x85next\x90q\x9c",
    "controls": "a\rb\bc\x00d\x7fe\nf\tg\vh",
    "markup": "[bold red]x[/] [link=file:///etc]y [/x] [[ ]",
    "bidi": "user\u202egpj.exe\u2066\u2069\u200f\u061c",
    "separators": "one\u2028two\u2029three",
    "wide": "資源制限の名前" * 4,
    "combining": "e\u0301" * 30 + "\u0300" * 50,
    "zero width": "a\u200b\u200d\ufeffb",
    "emoji": "👩\u200d💻🚀" * 5,
    "endless": "n" * 253,
    "digits": "9" * 253,
    "huge": "word " * 600,
    "yaml": "x: {y: 1}\n- # comment\n--- &a !!python/object",
    "surrogate": "half\ud800a pair",
    "percent": "%s %d {0} {name} $HOME `id`",
}
BAD = {"Cc", "Cs", "Zl", "Zp"}
CASES = [pytest.param(text, id=name) for name, text in HOSTILE.items()]


def pod(text: str, **metadata: Any) -> dict:
    """The text as the name of containers and resources, as a quantity, as a class."""
    containers = [
        {"name": text, "resources": {"limits": {"cpu": "1", text: "1"}, "requests": {"memory": "1Gi"}}},
        {"name": "plain", "resources": {"limits": {"memory": "2Gi"}}},
    ]
    return made("Pod", "p", spec={"containers": containers, "initContainers": [{"name": text}]}, **metadata)


def policies(text: str, width=80) -> list[dict]:
    """The text in names, resources, scopes and managers of policies."""
    edits = [{"manager": text, "operation": "Update", "time": text, "fieldsV1": {"f:spec": {"f:limits": {}}}}]
    limits = [{"type": "Container", "max": {"cpu": "500m"}, "default": {"memory": "1Gi"}}]
    hard = {"pods": "1", "requests.memory": "1Gi", text: "1"}
    return [
        made("LimitRange", text, spec={"limits": limits}, managedFields=edits),
        made("LimitRange", "second", spec={"limits": [{"type": "Container", "default": {"memory": "2Gi"}}]}),
        made("ResourceQuota", text, spec={"hard": hard}, status={"hard": hard, "used": dict.fromkeys(hard, "1")}),
        made("ResourceQuota", "scoped", spec={"hard": hard, "scopes": [text]}, status={"hard": hard}),
        made("ResourceQuota", "broken", spec={"hard": {"pods": text}}, status={"hard": {"pods": text}}),
    ]


def deployment(text: str, width=80) -> dict:
    """The text in conditions and names of containers."""
    container = {"name": text, "resources": {"requests": {"cpu": "1"}}}
    stuck = {"type": "ReplicaFailure", "status": "True", "reason": text, "message": text, "lastTransitionTime": text}
    return made("Deployment", "web", spec=template(container), status={"conditions": [stuck]})


def events(text: str, width=80) -> list[dict]:
    return [
        event("Deployment/web", "FailedCreate", text, lastTimestamp=text, count=3),
        event("Pod/web-1", "Evicted", text),
    ]


def live(text: str, width=80) -> list[dict]:
    """A running pod: the text in annotations, managers, messages, states."""
    annotations = {
        "kubernetes.io/limit-ranger": f"LimitRanger plugin set: {text} request for container {text}; {text}",
        "sidecar.istio.io/status": text,
        "vpaUpdates": text,
        text: text,
    }
    edits = [{"manager": text, "operation": text, "time": text, "subresource": "resize", "fieldsV1": {"f:spec": {}}}]
    status = {
        "reason": text,
        "message": text,
        "qosClass": text,
        "conditions": [{"type": "PodScheduled", "status": "False", "reason": text, "message": text}],
        "containerStatuses": [{"name": text, "lastState": {"terminated": {"reason": "OOMKilled", "finishedAt": text}}}],
    }
    raw = pod(text, annotations=annotations, managedFields=edits, **owned_by("ReplicaSet", text))
    return [{**raw, "status": status}, made("ReplicaSet", text, spec=template({"name": "plain"}))]


def asked(text: str, width=80) -> list[tuple[Any, Any]]:
    """Stores and subjects in which the text stands everywhere that text can stand."""
    denied = store_of(deployment(text), *policies(text), unread=("Event",))
    denied.cover(ReadRequest("Event", "ns", field_selector="type=Warning"), Coverage("denied", text))
    named = pod(text)
    named["metadata"]["name"] = text
    unparsable = made("Pod", "p", spec={"containers": [{"name": text, "resources": {"limits": {"cpu": text}}}]})
    return [
        (store_of(*policies(text)), subject("Pod/p", pod(text), text)),
        (store_of(), subject("Pod/p", pod(text), text)),
        (store_of(), subject(f"Pod/{text}", named, "p.yaml")),
        (store_of(), subject("Pod/p", unparsable, text)),
        (store_of(*live(text), *policies(text)), subject("Pod/p")),
        (store_of(deployment(text), *events(text)), subject("Deployment/web")),
        (denied, subject("Deployment/web")),
    ]


@functools.cache
def printed(text: str, width: int) -> list[str]:
    """Every line of every face, drawn without colours."""
    found: list[str] = []
    ask = EvaluationOptions(assumptions=(text,), now=text)
    for store, about in asked(text):
        explanation = explain(store, about, ask)
        found += explain_text.lines(explanation, steps=True, width=width)
        found += diff_text.lines(diff(store, about, ask), width=width)
        found += object_list.PrintedTable(width=80).lines([object_list.row_of(outline_of(explanation))], str)
        for container in explanation.containers:
            found += explain_text.lines(explanation, container=container.name or "pod", width=width)
        values = [value for one in explanation.containers if one.name == "plain" for value in one.values]
        for value in values:
            question = f"plain.{value.side}.{value.resource}"
            found += explain_text.lines(explanation, question=question, width=width)
    return found


@pytest.mark.one_in(4)
@pytest.mark.parametrize("text", CASES)
def test_nothing_that_a_terminal_obeys_is_printed(text):
    for line in printed(text, 80):
        assert not {unicodedata.category(character) for character in line} & BAD, ascii(line)
        assert not re.search("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]", line), ascii(line)


@pytest.mark.parametrize("text", CASES)
def test_colours_are_ours_alone(text):
    store, about = asked(text)[4]
    drawn = [
        *explain_text.lines(explain(store, about, EvaluationOptions()), color=True, steps=True),
        *diff_text.lines(diff(store, about, EvaluationOptions()), color=True),
    ]
    for line in drawn:
        assert re.sub("\x1b\\[(0|1|2|31|32|33)m", "", line).isprintable() or "\u200b" in line or "\u200d" in line


#: A line of ours is cut at blanks, so what is longer holds a word that is too long, or the server's own sentence.
EXEMPT = re.compile(
    r"server: |# (refused|depends)\b|(---|\+\+\+) |[ +-] *(\"?kubernetes\.io/limit-ranger|- name: |\"|\w+: )"
)


@pytest.mark.parametrize("text", CASES)
def test_widths_hold(text):
    wide = [line for line in printed(text, 80) if size(line) > 80 and not EXEMPT.match(line)]
    free = ("server: ", "next    kubectl ", "        kubectl ")
    ours = [line for line in wide if not line.startswith(free)]
    assert [line for line in ours if max(map(size, line.split())) <= 30] == []


@pytest.mark.parametrize("text", CASES)
def test_no_line_is_endless(text):
    assert max(map(len, printed(text, 80))) < 9000


@pytest.mark.parametrize("text", CASES)
def test_columns_stay_where_they_are(text):
    """The values of all containers stand in the same cell below their heads, whatever the names are."""
    store, about = asked(text)[1]
    lines = list(explain_text.lines(explain(store, about, EvaluationOptions()), whole=True))
    heads = {cell(line, "SPEC") for line in lines if line.endswith("SET BY")}
    assert len(heads) == 1
    [row] = [line for line in lines if line.strip().startswith("memory request") and " 2Gi" in line and " - " in line]
    assert cell(row, "-") == heads.pop()


def cell(line: str, word: str, width=80) -> int:
    return size(line[: re.search(rf"(?<=\s){re.escape(word)}(?=\s)", line).start()])


@pytest.mark.one_in(4)
@pytest.mark.parametrize("text", CASES)
def test_documents_hold_it_unharmed(text):
    """JSON and YAML have escapes of their own, so that what they hold is what was read."""
    for store, about in asked(text):
        explanation = explain(store, about, EvaluationOptions())
        document = data.document("Explanation", [explanation], store.origin, complete=True)
        for shown in (data.to_json(document), data.to_yaml(document)):
            assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", shown)
            assert shown.encode()
        assert json.loads(data.to_json(document)) == yaml.load(data.to_yaml(document), yaml.CSafeLoader)
