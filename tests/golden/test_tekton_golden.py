"""Whole answers about Tekton's runs, byte for byte; KRES_GOLDEN=write rewrites them, to be read in review."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

import pytest
import yaml
from golden.kept import compare
from golden.situation import filled

from kubectl_kres.cli.main import entry
from kubectl_kres.render.text.line import size
from kubectl_kres.snapshot.write import write

HERE = Path(__file__).parent
FOLDER = HERE / "tekton"
#: File to the words behind ``kubectl kres``.
CASES = {
    "refused.txt": "explain taskrun/release-1-build -n ci",
    "refused.json": "explain taskrun/release-1-build -n ci -o json",
    "refused-all.txt": "explain taskrun/release-1-build -n ci --all",
    "task-level.txt": "explain taskrun/whole -n ci",
    "task-level-all.txt": "explain taskrun/whole -n ci --all",
    "task-level-steps.txt": "explain taskrun/whole -n ci --steps -c step-fetch",
    "task-level.diff": "diff taskrun/whole -n ci",
    "final.txt": "explain taskrun/huge -n ci",
    "final-all.txt": "explain taskrun/huge -n ci --all",
    "two-limitranges.txt": "explain taskrun/two-1 -n both --all",
    "live.txt": "explain taskrun/live -n ci",
    "live-all.txt": "explain taskrun/live -n ci --all",
    "live-pod.txt": "explain pod/live-pod -n ci",
    "live.diff": "diff taskrun/live -n ci",
    "list.txt": "explain taskruns -n ci",
    "task.txt": "explain task/build -n ci --all",
    "pipelinerun.txt": "explain pipelinerun/release-1 -n ci",
    "pipelinerun-all.txt": "explain pipelinerun/release-1 -n ci --all",
    "pipelinerun-task.txt": "explain pipelinerun/release-1 -n ci -c notify",
    "pipelines-list.txt": "explain pipelines,pipelineruns -n ci",
    "denied.txt": "quota --denied -n ci",
    "fit.txt": "quota --fit task/build -n ci",
    "qos.txt": "qos taskrun/whole -n ci",
    "qos-list.txt": "qos taskruns -n ci",
}
#: A difference, or another list than was asked for, is no failure.
DIFFERS = 1


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The runs as a snapshot in which every kind was read."""
    path = tmp_path_factory.mktemp("runs") / "runs.kres"
    write(filled([*yaml.safe_load_all((HERE / "runs.yaml").read_text())]), str(path))
    return path


@pytest.mark.parametrize("name", CASES)
def test_the_answer_is_the_golden_one(name: str, snapshot: Path, capsys, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["kubectl-kres"])
    code = entry([*shlex.split(CASES[name]), "--snapshot", str(snapshot)])
    assert code == (DIFFERS if name.endswith(".diff") else 0)
    text = capsys.readouterr().out.replace(str(snapshot), "runs.kres")
    compare(FOLDER / name, text)


@pytest.mark.parametrize("name", [name for name in CASES if name.endswith(".txt") and "list" not in name])
def test_no_line_of_ours_is_too_wide(name: str):
    wide = [line for line in (FOLDER / name).read_text().splitlines() if size(line) > 80]
    # The server's own sentence is not broken, nor what is to be typed, and lists have a line for each object.
    assert [
        line
        for line in wide
        if not line.startswith(
            ("refused: task ", "refused  ", "full  ", "admitted  ", "        kubectl ", "next    kubectl ")
        )
    ] == []


def test_there_are_no_other_golden_files():
    assert {path.name for path in FOLDER.iterdir()} == set(CASES)
