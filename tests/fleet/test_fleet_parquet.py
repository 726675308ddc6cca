"""Parquet files hold what the lines of JSON hold, and the SQL of docs/fleet.md runs over both."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from fleet.conftest import Fleet, rows

from kubectl_kres.cli.fleet import REPORTS, summary_of
from kubectl_kres.fleet.rows import int64, open_writer
from kubectl_kres.reports.qos.qos_sums import NamespaceSums

DOCS = Path(__file__).parents[2] / "docs" / "fleet.md"
SQL = re.findall(r"```sql\n(.*?)```", DOCS.read_text(), re.DOTALL)
_EXTRA = "not installed: pip install 'kubectl-kres[fleet]' duckdb"


def test_without_pyarrow_it_is_said_before_work_begins(
    kres: Fleet, snapshots: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
):
    snapshots("a")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    result = kres("fleet quota --snapshots snapshots --out out -o parquet")
    assert (result.code, result.out) == (2, "")
    assert result.err == "error: -o parquet needs pyarrow\npip install 'kubectl-kres[fleet]'\n"


@pytest.mark.parametrize("report", REPORTS)
def test_both_forms_hold_the_same(report: str, kres: Fleet, snapshots: Callable[..., Path], tmp_path: Path):
    parquet: Any = pytest.importorskip("pyarrow.parquet", reason=_EXTRA)
    snapshots("a")
    assert kres(f"fleet {report} --snapshots snapshots --out out").code == 0
    assert kres(f"fleet {report} --snapshots snapshots --out out -o parquet").code == 0
    found = parquet.read_table(tmp_path / f"out/{report}/a.parquet")
    expected = rows(tmp_path / f"out/{report}/a.jsonl.gz")
    assert expected
    assert [
        {name: dict(v) if isinstance(v, list) else v for name, v in row.items()} for row in found.to_pylist()
    ] == expected
    assert {field.name for field in found.schema if str(field.type) == "int64"} >= {
        field.name for field in msgspec.structs.fields(summary_of(report).row) if field.type == int | None
    }


def test_what_64_bits_do_not_hold_is_null_beside_the_exact_text(tmp_path: Path):
    parquet: Any = pytest.importorskip("pyarrow.parquet", reason=_EXTRA)
    summary = summary_of("qos")("big")
    requests = {"cpu": "9223372036854776k", "memory": "8Pi", "nvidia.com/gpu": "3"}
    limits = {"memory": "100E"}
    report = msgspec.convert({"namespace": "n", "requests": requests, "limits": limits}, NamespaceSums)
    with open_writer(str(tmp_path / "big.parquet"), str(tmp_path / "part"), "parquet", summary.row) as write:
        write(summary.add(report))
    (row,) = parquet.read_table(tmp_path / "big.parquet").to_pylist()
    assert (row["requests_memory"], row["requests_memory_bytes"]) == ("8Pi", 8 * 2**50)
    assert (row["limits_memory"], row["limits_memory_bytes"]) == ("100E", None)
    assert (row["requests_cpu"], row["requests_cpu_millicores"]) == ("9223372036854776k", None)
    assert row["other_requests"] == [("nvidia.com/gpu", "3")]
    assert (int64(2**63 - 1), int64(2**63), int64(-(2**63))) == (2**63 - 1, None, -(2**63))


def test_no_file_is_left_of_rows_that_cannot_be_written(tmp_path: Path):
    pytest.importorskip("pyarrow", reason=_EXTRA)
    file, part = str(tmp_path / "a.parquet"), str(tmp_path / "part")
    with pytest.raises(RuntimeError), open_writer(file, part, "parquet", summary_of("qos").row):
        raise RuntimeError
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("query", SQL, ids=[query.partition("\n")[0].strip("- ") for query in SQL])
def test_the_sql_of_the_page_runs(
    query: str, kres: Fleet, snapshots: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    duckdb: Any = pytest.importorskip("duckdb", reason=_EXTRA)
    report, ending = re.findall(r"'report/(\w+)/\*\.(\w+)", query)[0]
    form = "parquet" if ending == "parquet" else "table"
    if form == "parquet":
        pytest.importorskip("pyarrow", reason=_EXTRA)
    snapshots("a", "b")
    assert kres(f"fleet {report} --snapshots snapshots --out report -o {form}").code == 0
    found = duckdb.connect(config={"threads": 1}).execute(query).fetchall()
    assert {row[0] for row in found} == {"a", "b"}


def test_the_page_has_sql():
    assert len(SQL) == 3
