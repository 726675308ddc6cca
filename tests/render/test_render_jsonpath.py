"""kubectl's templates: what they print, and what cannot be read."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from cluster.kubectl import FOUND

from kubectl_kres.errors import UsageError
from kubectl_kres.render.text import jsonpath

CONFIG = {
    "apiVersion": "v1",
    "kind": "Config",
    "preferences": {},
    "current-context": "b.c",
    "clusters": [
        {"name": name, "cluster": {"server": f"https://{name}", "insecure-skip-tls-verify": name == "b.c"}}
        for name in ("a", "b.c", "d e")
    ],
    "contexts": [{"name": "b.c", "context": {"cluster": "a", "user": "u", "namespace": "shop"}}],
    "users": [],
}
DATA: dict[str, Any] = {
    "kind": "Explanation",
    "items": [
        {"subject": {"name": "web", "labels": {"app.io/name": "w"}}, "outcome": "refused", "percent": 90, "over": True},
        {"subject": {"name": "api", "labels": {"app.io/name": "a"}}, "outcome": "admitted", "percent": 10},
        {"subject": {"name": "job"}, "outcome": "refused", "uses": [{"name": "cpu"}, {"name": "memory"}]},
    ],
}


@pytest.mark.parametrize(
    ("template", "text"),
    [
        ("{.kind}", "Explanation"),
        ("{$.kind}", "Explanation"),
        ("kind: {.kind}!", "kind: Explanation!"),
        ("{.items[*].subject.name}", "web api job"),
        ("{.items[0].subject.name}", "web"),
        ("{.items[-1].subject.name}", "job"),
        ("{.items[0:2].subject.name}", "web api"),
        ("{.items[::2].subject.name}", "web job"),
        ("{.items[0,2].subject.name}", "web job"),
        ("{.items[7].subject.name}", ""),
        ("{.none.such}", ""),
        (
            '{range .items[*]}{.subject.name}{"\\t"}{.outcome}{"\\n"}{end}',
            "web\trefused\napi\tadmitted\njob\trefused\n",
        ),
        ("{range .items[*]}{$.subject.name} {end}", "web api job "),
        ('{.items[?(@.outcome=="refused")].subject.name}', "web job"),
        ("{.items[?(@.outcome!='refused')].subject.name}", "api"),
        ("{.items[?(@.percent>=90)].subject.name}", "web"),
        ("{.items[?(@.percent<90)].subject.name}", "api"),
        ("{.items[?(@.over==true)].subject.name}", "web"),
        ("{.items[?(@.uses)].subject.name}", "job"),
        ('{.items[?(@.outcome=="a]b}")].subject.name}', ""),
        ("{..uses[*].name}", "cpu memory"),
        ("{.items[0].subject.labels.app\\.io/name}", "w"),
        ("{.items[0].subject.labels['app.io/name']}", "w"),
        ("{.items[0]['subject','outcome']}", '{"labels":{"app.io/name":"w"},"name":"web"} refused'),
        ("{.items[0].percent} {.items[0].over}", "90 true"),
        ("{.items[2].uses}", '[{"name":"cpu"},{"name":"memory"}]'),
        ("", ""),
    ],
)
def test_templates(template: str, text: str):
    assert jsonpath.render_template(jsonpath.parse(template), DATA) == text


@pytest.mark.parametrize(
    ("template", "why"),
    [
        ("{.items[*", "unclosed action"),
        ("{.items[}", "unterminated array"),
        ("{.items[a b]}", "invalid array index a b"),
        ("{end}", "not in range, nothing to end"),
        ("{range .items[*]}", "unexpected end of a range"),
        ("{.items[?()]}", "invalid filter"),
        ("{a}", "unrecognized identifier a"),
        ("{.a!b}", "unrecognized character in action: '!'"),
    ],
)
def test_what_cannot_be_read(template: str, why: str):
    with pytest.raises(UsageError, match=r"^error parsing jsonpath ") as caught:
        jsonpath.parse(template)
    assert why in caught.value.message


@pytest.mark.one_in(3)
@pytest.mark.skipif(FOUND is None, reason="there is no kubectl")
@pytest.mark.parametrize(
    "template",
    [
        "{.clusters[*].name}",
        "{$.clusters[1].cluster.server} {@.kind}",
        "{.clusters[-1].name}{.clusters[0:2].name}{.clusters[::2].name}",
        "{.clusters[0,2].name}",
        '{range .clusters[*]}{.name}{"\\t"}{$.kind}{"\\n"}{end}',
        '{.clusters[?(@.name=="b.c")].cluster.server}',
        "{.clusters[?(@.name!='a')].name}",
        "{.clusters[?(@.cluster.insecure-skip-tls-verify==true)].name}",
        "{.clusters[?(@.cluster.insecure-skip-tls-verify)].name}",
        "{.contexts[0]['name']} {.contexts[0].context['cluster','user']}",
        "{.contexts[0].context}",
        "{.current-context}",
        "{..server}",
        "{.users}{.none}",
        "a {'b'} {\"c\"}",
        "{.clusters[*",
        "{.clusters[}",
        "{end}",
        "{kind}",
    ],
)
def test_as_kubectl_prints_them(template: str, tmp_path: Path):
    config = tmp_path / "config"
    config.write_text(json.dumps(CONFIG))
    words = [str(FOUND), "config", "view", f"--kubeconfig={config}"]

    def said(output: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([*words, "-o", output], capture_output=True, text=True, check=False)

    data = json.loads(said("json").stdout)
    theirs = said(f"jsonpath={template}")
    if theirs.returncode:
        with pytest.raises(UsageError):
            jsonpath.parse(template)
        return
    assert jsonpath.render_template(jsonpath.parse(template), data) == theirs.stdout


def test_columns():
    wanted = jsonpath.columns("NAME:.subject.name,HOW:{.outcome},USES:uses[*].name,FIRST:.uses[0,1].name")
    assert list(jsonpath.table(wanted, DATA["items"])) == [
        "NAME   HOW        USES          FIRST",
        "web    refused    <none>        <none>",
        "api    admitted   <none>        <none>",
        "job    refused    cpu, memory   cpu, memory",
    ]


@pytest.mark.parametrize("text", ["", "NAME", ":.a", "NAME:", "NAME:{}"])
def test_columns_that_cannot_be_read(text: str):
    with pytest.raises(UsageError):
        jsonpath.columns(text)


def test_nothing_that_a_terminal_obeys_is_printed():
    data = {"message": "a\x1b[31mb\u202ec", "list": ["\x07"]}
    assert "\x1b" not in jsonpath.render_template(jsonpath.parse("{.message}{.list}"), data)
    assert "\u202e" not in "".join(jsonpath.table(jsonpath.columns("M:.message"), [data]))
