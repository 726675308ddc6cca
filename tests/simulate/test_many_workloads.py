"""Thousands of workloads that come one after the other: tables of them do not grow with the square."""

from __future__ import annotations

from typing import Any

from kubectl_kres.simulate.state import Common


def test_few_tables_are_made_of_many_workloads() -> None:
    common, tables = Common(()), dict[int, Any]()
    for number in range(1000):
        item: Any = (("Deployment", f"d{number}"), None)
        common = common.with_new(item)
        assert common.index_of(("Deployment", f"d{number // 2}")) == number // 2
        assert common.index_of(("Deployment", "none")) is None
        before, length = common, 0
        while before is not None:
            length += 1
            if before.index_by_key is not None:
                tables[id(before.index_by_key)] = before.index_by_key
            before = before.before  # type: ignore[assignment]
        assert length <= 70
    assert len(tables) <= 1000 // 60
