"""``fleet diff``: two moments of many clusters."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from fleet.conftest import Fleet, documented, rows
from snapshot.moments import write_yesterday


@pytest.fixture
def days(snapshots: Callable[..., Path], tmp_path: Path) -> tuple[Path, Path]:
    """Snapshots of yesterday and today: a changed, b is as it was, new has none of yesterday, gone none of today."""
    today, yesterday = snapshots("a", "b", "new"), tmp_path / "yesterday"
    write_yesterday(yesterday / "a.kres")
    for name in ("b", "gone"):
        (yesterday / f"{name}.kres").write_bytes((today / "b.kres").read_bytes())
    return yesterday, today


def test_a_row_for_each_cluster_and_its_changes_in_a_file(kres: Fleet, days: tuple[Path, Path], tmp_path: Path):
    yesterday, today = days
    code, out, err = kres(f"fleet diff --from {yesterday} --snapshots {today} --out {tmp_path / 'out'} --exit-code")
    assert code == 4
    assert f"gone is only in {yesterday}: not compared\n" in err
    cells = {line.split()[0]: line.split()[1:] for line in out.splitlines()}
    assert cells["new"][0] == "failed" and f"there is no snapshot of it in {yesterday}"[:24] in out
    assert cells["a"] == ["answered", "2", "1", "1", "0", "1", "24", "staging", "Deployment", "workers", "partly"]
    assert cells["b"] == ["answered", "0", "0", "0", "0", "0", "28"]
    found = rows(tmp_path / "out" / "diff" / "a.jsonl.gz")
    assert [(row["change"], row["name"], row["before"], row["now"]) for row in found] == [
        ("new", "workers", None, "partly"),
        ("new", "best-effort", None, "full"),
        ("worse", "checkout", "waiting", "refused"),
        ("changed", "thumbnails", "blocked", "refused"),
        ("gone", "old-checkout", "waiting", None),
    ]
    assert rows(tmp_path / "out" / "diff" / "b.jsonl.gz") == []


def test_the_rows_are_those_of_the_single_command(kres: Fleet, days: tuple[Path, Path]):
    yesterday, today = days
    found = documented(kres(f"fleet diff --from {yesterday} --snapshots {today / 'a.kres'} -o json"))["a"]
    single = kres(f"diff --from {yesterday / 'a.kres'} --snapshot {today / 'a.kres'} -A -o json")
    [changes] = json.loads(single.out)["items"]
    assert found["rows"] == len(changes["changes"]) and found["figures"]["as-before"] == changes["unchanged"]


def test_resume_asks_again_where_either_snapshot_is_another(kres: Fleet, days: tuple[Path, Path], tmp_path: Path):
    yesterday, today = days
    line = f"fleet diff --from {yesterday} --snapshots {today} --out {tmp_path / 'out'} --resume"
    kres(line)
    status = tmp_path / "out" / "diff" / "b.status.json"
    first = status.stat().st_mtime_ns
    kres(line)
    assert status.stat().st_mtime_ns == first
    write_yesterday(yesterday / "b.kres")
    assert "b        answered    2" in kres(line).out
    assert status.stat().st_mtime_ns != first


@pytest.mark.parametrize("line", ["fleet diff --snapshots DIR", "fleet quota --from DIR --snapshots DIR"])
def test_from_goes_with_diff_alone(kres: Fleet, days: tuple[Path, Path], line: str):
    code, out, err = kres(line.replace("DIR", str(days[1])))
    assert (code, out) == (2, "")
    assert "error: diff is the report that goes with --from, and needs it" in err


def test_a_folder_without_snapshots_is_named_with_its_flag(kres: Fleet, days: tuple[Path, Path], tmp_path: Path):
    empty = tmp_path / "empty"
    empty.mkdir()
    code, _, err = kres(f"fleet diff --from {empty} --snapshots {days[1]}")
    assert code == 2 and f"--from {empty}: there is no snapshot" in err
