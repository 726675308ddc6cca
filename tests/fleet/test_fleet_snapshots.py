"""``fleet`` over snapshots: as single runs say it; what is damaged, newer or not whole is a row."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fleet.conftest import Fleet, documented, rows

from kubectl_kres.cli.commands import fleet as command
from kubectl_kres.snapshot import read as demo

#: Flags of a single run that asks the same.
SINGLE = {
    "qos": "qos -A --summary",
    "quota": "quota -A",
    "overview": "overview -A",
    "check": "check -A",
    "claims": "claims -A",
}


def qos(item: dict[str, Any]) -> list[Any]:
    texts = [item.get(part, {}).get(name, "0") for name in ("cpu", "memory") for part in ("requests", "limits")]
    return [] if item.get("total") else [(item["namespace"], item.get("pods", 0), item.get("finished", 0), *texts)]


def quota(item: dict[str, Any]) -> list[Any]:
    subject = item["subject"]
    return [
        (subject["namespace"], subject["name"], use["name"], use["hard"], use.get("used"), use.get("percent"))
        for use in item["uses"]
    ]


def overview(item: dict[str, Any]) -> list[Any]:
    return [
        (area["name"], area["kind"], area.get("count"), part["state"], part["count"], part.get("severity", ""))
        for area in item["areas"]
        for part in area.get("parts") or [{"state": "", "count": 0}]
    ]


def check(item: dict[str, Any]) -> list[Any]:
    subject = item["object"]
    found = (item["severity"], item["code"], subject["kind"], subject.get("namespace", ""), subject["name"])
    return [(*found, item["message"])]


def claims(item: dict[str, Any]) -> list[Any]:
    subject, lacks = item["subject"], {one["name"]: one.get("shortBy") for one in item.get("amounts", ())}
    return [
        (subject["namespace"], subject["name"], item["state"], name, text, lacks.get(name))
        for name, text in item["requested"].items()
    ]


COLUMNS = {
    "qos": "namespace pods finished requests_cpu limits_cpu requests_memory limits_memory",
    "quota": "namespace quota resource hard used percent",
    "overview": "area kind total state parts severity",
    "check": "severity code kind namespace name message",
    "claims": "namespace claim state resource requested short_by",
}


@pytest.mark.one_in(5)
@pytest.mark.parametrize("report", SINGLE)
def test_rows_are_those_of_single_runs(report: str, kres: Fleet, snapshots: Callable[..., Path], tmp_path: Path):
    snapshots("eu-1", "eu-2", "us-1")
    result = kres(f"fleet {report} --snapshots snapshots --out out -o json")
    assert result.code == 0, result.err
    single = json.loads(kres(f"{SINGLE[report]} --snapshot {demo.demo_path()} -o json").out)["items"]
    expected = [row for item in single for row in globals()[report](item)]
    assert expected
    for name in ("eu-1", "eu-2", "us-1"):
        found = rows(tmp_path / "out" / report / f"{name}.jsonl.gz")
        assert {row["cluster"] for row in found} == {name}
        assert [tuple(row[column] for column in COLUMNS[report].split()) for row in found] == expected
        assert documented(result)[name]["rows"] == len(expected)


def test_the_sums_are_those_of_the_rows(kres: Fleet, snapshots: Callable[..., Path], tmp_path: Path):
    snapshots("a", "b")
    result = kres("fleet qos --snapshots snapshots --out out")
    assert result.code == 0
    found = [row for name in ("a", "b") for row in rows(tmp_path / f"out/qos/{name}.jsonl.gz")]
    whole = next(line for line in result.out.splitlines() if line.startswith("all 2"))
    assert str(sum(row["pods"] for row in found)) in whole.split()
    assert str(sum(row["requests_cpu_millicores"] for row in found)) + "m" in whole.split()


def _spoil(folder: Path) -> None:
    """Beside good snapshots those that are none."""
    whole = demo.demo_path().read_bytes()
    (folder / "cut.kres").write_bytes(whole[: len(whole) // 2])
    (folder / "empty.kres").write_bytes(b"")
    (folder / "newer.kres").write_bytes(b'{"kres":"snapshot","format":99,"version":"9.0.0"}\n')
    (folder / "no.kres").write_bytes(b"#!/bin/sh\n")


@pytest.mark.thorough
def test_what_is_no_snapshot_is_a_row_and_costs_no_other(kres: Fleet, snapshots: Callable[..., Path], tmp_path: Path):
    _spoil(snapshots("good", "also"))
    result = kres("fleet quota --snapshots snapshots --out out")
    assert result.code == 4
    states = [line.split()[:2] for line in result.out.splitlines()[1:7]]
    assert states == [
        ["cut", "damaged"],
        ["empty", "damaged"],
        ["no", "damaged"],
        ["newer", "newer"],
        ["also", "answered"],
        ["good", "answered"],
    ]
    assert result.out.endswith("6 clusters: 3 damaged, 1 newer, 2 answered\n")
    assert sorted(path.name for path in (tmp_path / "out/quota").glob("*.gz")) == ["also.jsonl.gz", "good.jsonl.gz"]
    assert kres("fleet quota --snapshots snapshots --allow-partial").code == 0
    assert kres("fleet quota", "--snapshots", "snapshots/[cen]*.kres").code == 3


def test_exit_codes_and_words(kres: Fleet, snapshots: Callable[..., Path]):
    snapshots("a")
    for words, code, said in (
        ("fleet", 2, "fleet takes one report of qos, quota, overview, diff, check, claims"),
        ("fleet pods --snapshots snapshots", 2, 'there is no report "pods"'),
        ("fleet quota", 2, "--contexts, --snapshots and --clusterprofiles: one of them is needed"),
        ("fleet quota --snapshots snapshots --contexts x", 2, "exclude each other"),
        ("fleet quota --snapshots nowhere", 2, "--snapshots nowhere: there is no snapshot"),
        ("fleet quota --snapshots a.kres b.kres", 2, "a pattern stands in quotes"),
        ("fleet quota --snapshots snapshots --resume", 2, "--resume goes with --out DIR"),
        ("fleet quota --snapshots snapshots -o parquet", 2, "-o parquet goes with --out DIR"),
        ("fleet quota --snapshots snapshots --shard 2/2", 2, "with I from 0 to N-1"),
        ("fleet quota --snapshots snapshots --token x", 2, "--token names one server or user"),
        ("fleet claims --snapshots snapshots --exit-code", 1, ""),
    ):
        result = kres(words)
        assert (result.code, said in result.err) == (code, True), (words, result)


def test_an_output_that_cannot_be_written_to_is_told_before_work_begins(
    kres: Fleet, snapshots: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    snapshots("a")
    (tmp_path / "taken").write_text("a file")
    monkeypatch.setattr(command, "run_tasks", None)
    result = kres("fleet quota --snapshots snapshots --out taken")
    assert (result.code, result.out) == (2, "")
    assert "--out" in result.err and "cannot be written to: not a directory" in result.err


def test_resume_asks_again_for_what_has_changed_or_failed(kres: Fleet, snapshots: Callable[..., Path], tmp_path: Path):
    folder = snapshots("same", "changed", "torn")
    kres("fleet quota --snapshots snapshots --out out")
    kept = tmp_path / "out/quota"
    (folder / "changed.kres").write_bytes(demo.demo_path().read_bytes()[:100])
    (kept / "torn.status.json").write_text('{"made_by":')
    same = (kept / "same.jsonl.gz").stat().st_mtime_ns
    torn = (kept / "torn.jsonl.gz").stat().st_mtime_ns
    result = kres("fleet quota --snapshots snapshots --out out --resume")
    assert result.code == 4
    assert (kept / "same.jsonl.gz").stat().st_mtime_ns == same
    assert (kept / "torn.jsonl.gz").stat().st_mtime_ns != torn
    assert not (kept / "changed.jsonl.gz").exists()


def test_names_of_files_cannot_move_the_cursor(kres: Fleet, snapshots: Callable[..., Path], tmp_path: Path):
    snapshots("evil\x1b[2J", "Prod", "prod")
    result = kres("fleet quota --snapshots snapshots --out out")
    assert result.code == 0
    assert "\x1b" not in result.out + result.err
    names = [path.name.lower() for path in (tmp_path / "out/quota").glob("*.gz")]
    assert len(set(names)) == 3


@pytest.mark.thorough
def test_shards_together_are_the_whole(kres: Fleet, snapshots: Callable[..., Path]):
    snapshots(*(f"c{number}" for number in range(7)))
    whole = documented(kres("fleet quota --snapshots snapshots -o json"))
    parts = [documented(kres(f"fleet quota --snapshots snapshots -o json --shard {index}/3")) for index in range(3)]
    assert sum(map(len, parts)) == len(whole) == 7
    assert parts[0] | parts[1] | parts[2] == whole
