"""Colour, width and documents on standard output."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest
import yaml
from cli.apiserver import LIMITS, deployment, pod
from cli.running import Kres

from kubectl_kres.cli.output import documents, printer
from kubectl_kres.reports.common.unread import Frame
from kubectl_kres.store.store import Origin


@pytest.mark.parametrize(
    ("choice", "terminal", "environ", "colored"),
    [
        ("auto", True, {}, True),
        ("auto", False, {}, False),
        ("auto", True, {"NO_COLOR": "1"}, False),
        ("auto", True, {"NO_COLOR": ""}, False),
        ("auto", True, {"TERM": "dumb"}, False),
        ("always", False, {"NO_COLOR": "1", "TERM": "dumb"}, True),
        ("never", True, {}, False),
    ],
)
def test_colour(choice: str, terminal: bool, environ: dict[str, str], colored: bool, monkeypatch):
    monkeypatch.setattr(printer, "is_terminal", lambda: terminal)
    monkeypatch.setenv("TERM", "xterm")
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    assert printer.wants_color(choice) is colored


def test_colour_of_a_command(kres: Kres, file, monkeypatch):
    text = f"explain --offline -f {file(LIMITS, pod('web'))}"
    plain = kres(text).out
    assert "\x1b" not in plain and plain == kres(f"--color=never {text}").out
    monkeypatch.setenv("NO_COLOR", "")
    colored = kres(f"{text} --color always").out
    assert "\x1b[" in colored
    assert "\x1b[" in kres(f"diff {text.removeprefix('explain')} --color always").out


def test_width(monkeypatch):
    monkeypatch.setenv("COLUMNS", "132")
    monkeypatch.setattr(printer, "is_terminal", lambda: False)
    assert printer.width(wide=False) == 80
    monkeypatch.setattr(printer, "is_terminal", lambda: True)
    assert printer.width(wide=False) == 132
    assert printer.width(wide=True) > 1_000_000


def test_wide_lines_are_not_broken(kres: Kres, file, monkeypatch):
    path = Path(file(LIMITS, pod("web")))
    monkeypatch.chdir(path.parent)  # a path of any length would be a line that is not broken
    text = f"explain --offline -f {path.name}"
    narrow, wide = kres(f"{text} --all").out, kres(f"{text} -o wide").out
    assert narrow.split() == wide.split()
    assert max(map(len, narrow.splitlines())) <= 80 < max(map(len, wide.splitlines()))


ITEMS = [{"a": "x\u2028y\nz", "b": [1, 2]}, {"a": "no: 1"}, {"a": "true"}]


@pytest.mark.parametrize("many", [0, 1, 3, 3000])
@pytest.mark.parametrize("form", ["json", "yaml"])
def test_documents(many: int, form: str, capsys, monkeypatch):
    monkeypatch.setattr(documents, "_IN_MEMORY", 1 << 10)
    wanted = [ITEMS[index % 3] for index in range(many if form == "json" else min(many, 30))]
    with documents.Items(form) as items:
        for one in wanted:
            items.add(one)
        items.write("Things", Origin("cluster", "https://a", "v1.33.1", "", "lab"), Frame(complete=False))
    text = capsys.readouterr().out
    found = json.loads(text) if form == "json" else yaml.safe_load(text)
    metadata = {"source": "cluster", "name": "https://a", "context": "lab", "serverVersion": "v1.33.1"}
    assert found == {
        "apiVersion": "kres/v1alpha1",
        "kind": "Things",
        "metadata": {**metadata, "complete": False},
        "items": wanted,
    }
    assert text.endswith("\n") and not text.endswith("\n\n")
    if form == "json":
        # A line separator, which a terminal may obey, is escaped; everything else stands as it is.
        assert text == json.dumps(found, indent=2, ensure_ascii=False).replace("\u2028", "\\u2028") + "\n"


@pytest.mark.parametrize("command", ["explain", "diff"])
def test_formats_agree(kres: Kres, file, command: str):
    text = f"{command} --offline -f {file(LIMITS, pod('web'), deployment('web', '2Gi'))}"
    found = json.loads(kres(f"{text} -o json").out)
    assert found == yaml.safe_load(kres(f"{text} -o yaml").out)
    together = ["Files"] if command == "explain" else []
    assert [item["subject"]["kind"] for item in found["items"]] == ["Pod", "Deployment", *together]
    assert kres(f"{text} -o name").out == "pod/web\ndeployment.apps/web\n"


def test_text_is_utf8_whatever_the_locale(kres: Kres, file, monkeypatch):
    odd = pod("größe")
    written = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(written, encoding="ascii"))
    code, *_ = kres(f"explain --offline -f {file(odd)}")
    assert code == 0 and "größe".encode() in written.getvalue()
