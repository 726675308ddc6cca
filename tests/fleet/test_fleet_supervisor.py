"""Workers that are killed, stopped or end cost their own cluster, and nothing else."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from fleet.conftest import Fleet, documented, rows

from kubectl_kres.cli.commands import fleet as command
from kubectl_kres.fleet.status import ClusterStatus
from kubectl_kres.fleet.supervisor import run_tasks
from kubectl_kres.fleet.task import FleetTask
from kubectl_kres.snapshot import read as demo

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals are those of POSIX")

ODD = (sys.executable, str(Path(__file__).with_name("odd_worker.py")))
#: Longer than anything takes here.
LONG = 600.0


def task(name: str, seconds: float = LONG, **more: str) -> FleetTask:
    return FleetTask(
        name, "quota", name, {"snapshot": str(demo.demo_path()), "all_namespaces": True}, seconds=seconds, **more
    )


def statuses(*tasks: FleetTask, width: int = 2) -> dict[str, ClusterStatus]:
    return {one.cluster: one for one in run_tasks(tasks, ODD, width=width)}


@pytest.mark.parametrize("width", [1, 3])
def test_killed_stopped_and_ended_workers_cost_one_cluster_each(width: int, tmp_path: Path):
    part = tmp_path / ".killed.part"
    names = ("a", "b", "c", "d", "babbles-e")
    found = statuses(
        task("killed", part=str(part), file=str(tmp_path / "killed.jsonl.gz")),
        task("a"),
        task("stopped", seconds=1.0),
        task("b"),
        task("exits"),
        *map(task, names[2:]),
        width=width,
    )
    assert {name: one.state for name, one in found.items()} == {
        "killed": "lost",
        "stopped": "timed-out",
        "exits": "lost",
        **dict.fromkeys(names, "answered"),
    }
    assert found["killed"].ended == -signal.SIGKILL
    assert found["exits"].ended == 7
    assert found["stopped"].seconds == 1.0
    assert {name: one.figures for name, one in found.items() if one.has_answered} == dict.fromkeys(
        names, found["a"].figures
    )
    assert list(tmp_path.iterdir()) == []


def test_a_worker_of_another_version_says_so():
    found = statuses(task("old", version="0.0.1"), task("same"))
    assert (found["old"].state, found["same"].state) == ("other-version", "answered")
    assert "asked by 0.0.1" in found["old"].message


def test_workers_that_cannot_be_started_are_an_error():
    with pytest.raises(OSError, match="no/such/program"):
        list(run_tasks([task("a")], ("no/such/program",), width=1))


def test_what_is_left_when_the_run_is_given_up_is_nothing():
    running = run_tasks([task("a"), task("stopped"), task("b")], ODD, width=1)
    assert next(running).cluster == "a"
    running.close()
    assert [one for one in threading.enumerate() if one.name.endswith("(_work)")] == []


def test_ctrl_c_keeps_what_is_done_and_resume_goes_on(
    kres: Fleet, snapshots: Callable[..., Path], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    snapshots("a", "b", "stopped", "z")
    monkeypatch.setattr(command, "_command", lambda: ODD)
    words = "fleet quota --snapshots snapshots --out out --timeout 0 --workers 1 -o json"
    kept = command.Results.save_status

    def keep(self, cluster, status):
        kept(self, cluster, status)
        if cluster.name == "b":
            os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(command.Results, "save_status", keep)
    result = kres(words)
    assert result.code == 130
    assert "interrupted: 2 of 4 clusters are done; --resume goes on from here" in result.err
    states = {name: one["state"] for name, one in documented(result).items()}
    assert states == {"a": "answered", "b": "answered", "stopped": "stopped", "z": "stopped"}
    before = {path.name: path.stat().st_mtime_ns for path in (tmp_path / "out/quota").glob("*.gz")}
    assert set(before) == {"a.jsonl.gz", "b.jsonl.gz"}

    monkeypatch.undo()
    monkeypatch.chdir(tmp_path)
    result = kres(f"{words} --resume --exit-code")
    assert {one["state"] for one in documented(result).values()} == {"answered"}
    after = {path.name: path.stat().st_mtime_ns for path in (tmp_path / "out/quota").glob("*.gz")}
    assert set(after) == {"a.jsonl.gz", "b.jsonl.gz", "stopped.jsonl.gz", "z.jsonl.gz"}
    assert {name: after[name] for name in before} == before
    assert [path.name for path in (tmp_path / "out/quota").iterdir() if path.name.endswith(".part")] == []
    contents = [[row | {"cluster": ""} for row in rows(tmp_path / "out/quota" / name)] for name in after]
    assert all(one == contents[0] for one in contents)
