"""Whatever a snapshot's file is called, ``fleet`` ends, and each file has its row."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pytest
from fleet.conftest import Fleet, documented

from kubectl_kres.fleet.status import ClusterStatus, encode
from kubectl_kres.fleet.supervisor import run_tasks
from kubectl_kres.fleet.task import FleetTask, status_of, task_of
from kubectl_kres.snapshot import read as demo

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="other systems take no such names")

NAMES = (
    *(b"caf\xe9", b"\xff\xfe", b"a\nb", b"\x1b[31m", b"..%2f..", b"x" * 240, b"nul\xc3"),
    *(b"a:b", b"-o", b"*", "é".encode(), b"\xed\xa0\x80"),
)  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    result = tmp_path / "t"
    result.mkdir()
    for name in NAMES:
        shutil.copyfile(demo.demo_path(), os.fsencode(result) + b"/" + name + b".kres")
    return result


def test_every_file_has_its_row(kres: Fleet, folder: Path):
    done = kres("fleet qos --timeout 60s --snapshots", str(folder), "-o", "json")
    statuses = documented(done)
    assert done.code == 0 and len(statuses) == len(NAMES)
    assert {item["state"] for item in statuses.values()} == {"answered"}
    assert {"caf\\xe9", "é", "a\nb"} <= set(statuses)


def test_every_file_has_its_rows_in_a_folder_and_is_resumed(kres: Fleet, folder: Path, tmp_path: Path):
    words = ("fleet qos --timeout 60s --out", str(tmp_path / "out"), "--snapshots", str(folder), "-o", "json")
    done = kres(*words)
    assert done.code == 0 and len(documented(done)) == len(NAMES)
    assert len(list((tmp_path / "out" / "qos").glob("*.jsonl.gz"))) == len(NAMES)
    again = kres(*words, "--resume")
    assert documented(again) == documented(done)


def test_a_folder_of_rows_may_have_any_name(kres: Fleet, folder: Path, tmp_path: Path):
    for path in folder.iterdir():
        if path.name != "a:b.kres":
            path.unlink()
    out = os.fsdecode(os.fsencode(tmp_path) + b"/o\xe9")
    done = kres("fleet qos --timeout 60s --out", out, "--snapshots", str(folder), "-o", "json")
    assert done.code == 0 and len(os.listdir(Path(out, "qos"))) == 2  # noqa: PTH208 - its name is no text


def test_tasks_of_any_path_go_to_workers_and_back():
    task = FleetTask("c", "qos", "s", {"snapshot": "/t/caf\udce9.kres"}, "/o\udcff/f", "/o\udcff/p")
    assert task_of(encode(task)) == task
    status = ClusterStatus("c", "failed", "s", message="caf\udce9: \\ud is no escape")
    assert status_of(encode(status)) == status


def test_a_bug_of_the_supervisor_costs_one_cluster(monkeypatch: pytest.MonkeyPatch):
    """Whoever waits for the statuses gets one for each task: nothing waits forever."""

    def fail(_task: FleetTask) -> bytes:
        raise ValueError("odd")

    monkeypatch.setattr("kubectl_kres.fleet.supervisor.encode", fail)
    command = [sys.executable, "-c", "import sys; sys.stdin.read()"]
    tasks = [FleetTask(name, "qos", name) for name in "abc"]
    statuses = list(run_tasks(tasks, command, width=2))
    assert sorted((status.cluster, status.state) for status in statuses) == [(name, "failed") for name in "abc"]
    assert all("ValueError: odd" in status.message for status in statuses)
