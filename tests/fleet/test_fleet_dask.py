"""Workers of a Dask cluster on this machine: one is killed, one stopped, one slow, one of another version."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from cli.running import ended
from fleet.conftest import Fleet, documented, rows

from kubectl_kres import __version__
from kubectl_kres.fleet.status import ClusterStatus, encode
from kubectl_kres.fleet.task import FleetTask, status_of
from kubectl_kres.snapshot import read as demo

TESTS = Path(__file__).parents[1]
LONG = 600.0
_OTHER = "import kubectl_kres; kubectl_kres.__version__ = '0.0.1'; from distributed.cli.dask_worker import main; main()"


@pytest.fixture
def dask(tmp_path: Path) -> Iterator[Callable[..., str]]:
    """Starts a scheduler and so many workers, more of another version; the scheduler's address."""
    pytest.importorskip("distributed", reason="not installed: pip install 'kubectl-kres[dask]'")
    environment = {**os.environ, "PYTHONPATH": f"{TESTS}", "DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT": "60s"}
    file = tmp_path / "scheduler.json"
    with ExitStack() as stack:

        def start(*words: str) -> None:
            process = subprocess.Popen(
                [sys.executable, *words],
                cwd=tmp_path,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            stack.callback(process.wait)
            stack.enter_context(ended(process))

        def made(workers: int, others: int = 0) -> str:
            flags = ("--scheduler-file", str(file))
            start(
                "-m", "distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard", *flags
            )
            own = (*flags, "--nthreads", "1", "--no-nanny", "--no-dashboard", "--host", "127.0.0.1")
            for _ in range(others):
                start("-c", _OTHER, *own)
            for _ in range(workers):
                start("-m", "distributed.cli.dask_worker", *own)
            while not (file.exists() and (text := file.read_text()).endswith("}")):
                time.sleep(0.05)
            return str(json.loads(text)["address"]).removeprefix("tcp://")

        yield made


def task(name: str, seconds: float = LONG, **more: str) -> FleetTask:
    return FleetTask(
        name, "quota", name, {"snapshot": str(demo.demo_path()), "all_namespaces": True}, seconds=seconds, **more
    )


def asked(address: str, folder: Path, *tasks: FleetTask) -> dict[str, ClusterStatus]:
    """The statuses, from a process of its own: warnings of Dask's are not ours."""
    result = subprocess.run(
        [sys.executable, str(TESTS / "fleet/odd_dask.py"), address],
        input=b"".join(map(encode, tasks)),
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(TESTS)},
        capture_output=True,
        timeout=LONG,
        check=False,
    )
    assert result.returncode == 0, result.stderr.decode()
    return {one.cluster: one for one in map(status_of, result.stdout.splitlines())}


def test_killed_stopped_slow_and_other_workers(dask: Callable[..., str], tmp_path: Path):
    files = {name: {"file": str(tmp_path / f"{name}.gz"), "part": str(tmp_path / f".{name}")} for name in "abc"}
    names = [*files, "killed", "slow", "stopped"]
    tasks = [task(name, 3.0 if name == "stopped" else LONG, **files.get(name, {})) for name in names[::-1]]
    found = asked(dask(3, others=1), tmp_path, *tasks)
    assert {name: one.state for name, one in found.items()} == {
        **dict.fromkeys(names, "answered"),
        "stopped": "timed-out",
    }
    assert (tmp_path / "killed.once").exists()
    whole = [rows(tmp_path / f"{name}.gz") for name in files]
    assert [len(one) for one in whole] == [found["a"].rows] * 3
    assert found["killed"].figures == found["slow"].figures == found["a"].figures
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".a")] == []


def test_a_cluster_that_ends_each_of_its_workers_is_lost(dask: Callable[..., str], tmp_path: Path):
    found = asked(dask(4), tmp_path, task("a"), task("always"), task("b"))
    assert {name: one.state for name, one in found.items()} == {"a": "answered", "b": "answered", "always": "lost"}
    assert found["always"].message == "its worker ended, 3 times"


def test_only_workers_of_another_version_are_none(dask: Callable[..., str], tmp_path: Path):
    found = asked(dask(0, others=1), tmp_path, task("a"))
    assert found["a"].state == "lost"
    assert found["a"].message == f"the worker is kubectl-kres 0.0.1, it was asked by {__version__}"


def test_the_command_says_what_single_runs_say(
    dask: Callable[..., str], kres: Fleet, snapshots: Callable[..., Path], tmp_path: Path
):
    snapshots("a", "b", "c")
    (tmp_path / "snapshots/cut.kres").write_bytes(demo.demo_path().read_bytes()[:500])
    words = "fleet claims --snapshots snapshots -o json"
    local = documented(kres(f"{words} --out local"))
    result = subprocess.run(
        [sys.executable, "-m", "kubectl_kres", *words.split(), "--out", "far", "--engine", f"dask://{dask(2)}"],
        capture_output=True,
        text=True,
        timeout=LONG,
        check=False,
    )
    assert result.returncode == 4, result.stderr
    found: dict[str, Any] = {item["cluster"]: item for item in json.loads(result.stdout)["items"]}
    for one in (*local.values(), *found.values()):
        one.pop("file", None)
    assert found == local
    for name in ("a", "b", "c"):
        assert rows(tmp_path / f"far/claims/{name}.jsonl.gz") == rows(tmp_path / f"local/claims/{name}.jsonl.gz")


def test_a_scheduler_that_is_not_there_and_an_extra_that_is_not(
    kres: Fleet, snapshots: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
):
    snapshots("a")
    assert kres("fleet quota --snapshots snapshots --engine ray").code == 2
    assert kres("fleet quota --snapshots snapshots --engine dask://nowhere").code == 2
    monkeypatch.setitem(sys.modules, "distributed", None)
    result = kres("fleet quota --snapshots snapshots --engine dask://127.0.0.1:1")
    assert (result.code, result.out) == (2, "")
    assert result.err.endswith("pip install 'kubectl-kres[dask]'\n")
