"""Whole answers about quotas and policies on the demo, byte for byte; KRES_GOLDEN=write rewrites them."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

import pytest
from golden.kept import compare

from kubectl_kres.cli.main import entry
from kubectl_kres.render.text.line import size

FOLDER = Path(__file__).parent / "quota"
#: File to the words behind ``kubectl kres``.
CASES = {
    "list.txt": "quota",
    "list.all.txt": "quota --all",
    "ascii.txt": "quota -n shop --ascii",
    "describe.txt": "quota -n batch -o describe",
    "recount-by-workload.txt": "quota team -n shop --recount --by workload",
    "by-priority.txt": "quota -n batch --by priority",
    "by-value.txt": "quota -n ci --by value",
    "by-value-changed.txt": "quota team -n checkout --by value",
    "by-pod.txt": "quota best-effort -n batch --by pod",
    "fit-stuck.txt": "quota --fit deploy/checkout -n checkout",
    "fit-enough.txt": "quota --fit deploy/pricing -n checkout",
    "fit-orders.txt": "quota --fit deploy/recommendations -n shop",
    "denied.txt": "quota --denied",
    "quota.json": "quota team -n checkout --recount --by workload -o json",
    "fit.json": "quota --fit deploy/pricing -n checkout -o json",
    "denied.json": "quota --denied -n batch -o json",
    "explain-quota.txt": "explain quota/team -n checkout",
    "explain-quota-all.txt": "explain quota/team -n checkout --all",
    "explain-limits.txt": "explain limits/bounds -n checkout",
    "explain-limits-all.txt": "explain limits/bounds -n checkout --all",
    "explain-namespace.txt": "explain ns/payments",
    "explain-namespace-all.txt": "explain ns/payments --all",
    "explain-orders.txt": "explain ns/shop",
    "explain-orders-all.txt": "explain ns/shop --all",
    "explain-claim.txt": "explain pvc/data-search-0",
    "explain-claim-all.txt": "explain pvc/data-search-0 --all",
    "explain-service.txt": "explain svc/search",
    "explain-namespace.json": "explain ns/checkout -o json",
}


@pytest.mark.parametrize("name", CASES)
def test_the_answer_is_the_golden_one(name: str, capsys, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["kubectl-kres"])
    assert entry([*shlex.split(CASES[name]), "--demo"]) == 0
    text = capsys.readouterr().out.replace(f"{Path(__file__).parents[2]}/", "")
    compare(FOLDER / name, text)
    if name.endswith(".txt") and "describe" not in name:
        assert [line for line in text.splitlines() if size(line) > 80] == []


def test_there_are_no_other_golden_files():
    assert {path.name for path in FOLDER.iterdir()} == set(CASES)
