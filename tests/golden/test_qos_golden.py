"""Whole answers of ``qos`` and ``explain --resize`` on the demo and on examples; KRES_GOLDEN=write rewrites them."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest
from golden.kept import compare

from kubectl_kres.cli.main import entry
from kubectl_kres.render.text.line import cells

ROOT = Path(__file__).parents[2]
GOLDEN = Path(__file__).parent / "qos"
PATCH = '{"spec": {"containers": [{"name": "index", "resources": {"limits": {"memory": "%s"}}}]}}'

#: File to the words of a command.
CASES = {
    "list.txt": "qos --demo -n payments",
    "summary.txt": "qos --demo -A --summary",
    "summary.json": "qos --demo -A --summary -o json",
    "guaranteed.txt": "qos --demo pod/debug-shell -n platform",
    "workload.txt": "qos --demo deploy/ledger -n payments",
    "refused.txt": "qos --demo deploy/cart -n shop",
    "best-effort.txt": "qos --demo job/thumbnails -n batch --cgroup v2",
    "nginx.txt": "qos -f docs/examples/nginx.yaml --offline --cgroup v2",
    "nginx.json": "qos -f docs/examples/nginx.yaml --offline --cgroup v2 -o json",
    "ide.txt": "qos -f docs/examples/ide.yaml --offline --cgroup v1 --driver cgroupfs",
    "older.txt": "qos -f docs/examples/nginx.yaml --offline --kube-version 1.31",
    "resize.txt": f"explain --demo pod/search-0 -n shop --resize {shlex.quote(PATCH % '768Mi')}",
    "resize-refused.txt": f"explain --demo pod/search-0 -n shop --resize {shlex.quote(PATCH % '9Gi')}",
}


@pytest.mark.parametrize("name", CASES)
def test_the_answer_is_the_golden_one(name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr("sys.argv", ["kubectl-kres"])
    assert entry(shlex.split(CASES[name])) == 0
    out = capsys.readouterr().out.replace(f"{ROOT}/", "")
    compare(GOLDEN / name, out)
    if name.endswith(".txt"):
        long = [line for line in out.splitlines() if cells(line) > 80 and not line.startswith("refused")]
        assert long == []


def test_there_are_no_other_golden_files():
    assert {path.name for path in GOLDEN.iterdir()} == set(CASES)
